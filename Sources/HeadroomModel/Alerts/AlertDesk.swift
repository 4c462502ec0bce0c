/// Where people look at alerts, acknowledge and mute them. Both acts are durable and in the audit log before the call
/// returns.
package protocol AlertDesk: Sendable {
    /// Newest first, at most `limit`; `nil` states is all.
    func alerts(in states: Set<AlertState>?, limit: Int) async throws(SteeringError) -> [Alert]
    /// - Throws: `.notFound` without one, `.conflict` once it is closed.
    func acknowledge(_ id: Int64, as authorship: Authorship) async throws(SteeringError) -> Alert
    /// Nobody is notified of this alert, nor of one with the same key, until the authorship ends.
    func mute(_ id: Int64, as authorship: Authorship) async throws(SteeringError) -> Alert
}

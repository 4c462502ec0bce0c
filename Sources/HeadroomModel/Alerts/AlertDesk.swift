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

/// Where the watch keeps alerts across restarts.
package protocol AlertRecords: Sendable {
    /// Those that are open; ascending by id.
    func openAlerts() async throws -> [Alert]
    /// Enters, updates or closes each by its key, in one transaction. Returns them as stored: with their ids, and with what
    /// people said of them.
    func save(_ alerts: [Alert]) async throws -> [Alert]
}

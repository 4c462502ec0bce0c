/// How a webhook knows an alert: as the last message that it took said.
package struct AlertDelivery: Equatable, Sendable {
    /// The alert's number.
    package var alert: Int64
    package var severity: AlertSeverity
    package var memberCount: Int
    /// It was told the end, or will not take it: nothing more is to be told.
    package var isOver: Bool

    package init(alert: Int64, severity: AlertSeverity, memberCount: Int, isOver: Bool = false) {
        self.alert = alert
        self.severity = severity
        self.memberCount = memberCount
        self.isOver = isOver
    }

    /// As a message about `alert` says.
    package init(_ alert: Alert) {
        self.init(
            alert: alert.id, severity: alert.severity, memberCount: alert.memberCount, isOver: alert.closedAt != nil)
    }

    /// Graver, or twice as many: other changes of numbers are no news.
    package func isNews(_ alert: Alert) -> Bool {
        alert.severity > severity || alert.memberCount / 2 >= max(1, memberCount)
    }
}

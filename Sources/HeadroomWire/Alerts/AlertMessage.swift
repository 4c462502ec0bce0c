import HeadroomJSON
import HeadroomModel

/// The body of a webhook's request for an alert, in the form that its receiver understands.
package enum AlertMessage {
    /// Alertmanager resolves what it has not heard of for so long: several reminders.
    package static let alertmanagerSeconds = 300.0
    /// PagerDuty cuts a summary there.
    private static let maxSummary = 1024

    /// - Parameters:
    ///   - event: `opened`, `updated` or `closed`.
    ///   - secret: PagerDuty's routing key; other formats do not hold it.
    package static func body(
        _ format: AlertSinkPolicy.Format, _ alert: Alert, event: String, secret: String?, at now: Timestamp
    ) -> [UInt8] {
        var writer = JSONWriter(capacity: 1024)
        switch format {
        case .json: writer.message(alert, event)
        case .slack: writer.slack(alert)
        case .alertmanager: writer.alertmanager(alert, at: now)
        case .pagerduty: writer.pagerDuty(alert, routingKey: secret ?? "", maxSummary: maxSummary)
        }
        return writer.bytes
    }

    /// The newest row of the audit log, for a place that is out of reach for a person who can write the database.
    ///
    /// - Parameter head: as `headroom audit verify --head` takes it, `17 9f31…`.
    package static func auditHead(_ format: AlertSinkPolicy.Format, _ head: String, at instant: Timestamp) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        switch format {
        case .json:
            writer.field("version", 1)
            writer.field("event", "audit_head")
            writer.field("head", head)
            writer.field("at", instant)
        // The policy lets no head go to the other two.
        case .slack, .alertmanager, .pagerduty: writer.field("text", "Head of Headroom's audit log: `\(head)`")
        }
        writer.endObject()
        return writer.bytes
    }
}

extension JSONWriter {
    fileprivate mutating func message(_ alert: Alert, _ event: String) {
        beginObject()
        field("version", 1)
        field("event", event)
        key("alert")
        self.alert(alert)
        endObject()
    }

    fileprivate mutating func slack(_ alert: Alert) {
        var lines: [String]
        if alert.closedAt == nil {
            let sign =
                switch alert.severity {
                case .critical: ":red_circle:"
                case .warning: ":large_orange_circle:"
                case .info: ":large_blue_circle:"
                }
            lines = ["\(sign) *\(alert.severity.name)* \(alert.key.kind.rawValue), alert \(alert.id)", alert.sentence]
            if let advice = alert.advice { lines.append("_\(advice)_") }
        } else {
            lines = [
                ":white_check_mark: *over* \(alert.key.kind.rawValue), alert \(alert.id)\(alert.lasted)",
                alert.outcome ?? "It was: \(alert.sentence)",
            ]
        }
        beginObject()
        // Slack reads these three characters as markup.
        field(
            "text",
            lines.joined(separator: "\n").replacing("&", with: "&amp;").replacing("<", with: "&lt;")
                .replacing(">", with: "&gt;"))
        endObject()
    }

    fileprivate mutating func alertmanager(_ alert: Alert, at now: Timestamp) {
        beginArray()
        beginObject()
        key("labels")
        beginObject()
        field("alertname", "Headroom_\(alert.key.kind.rawValue)")
        field("kind", alert.key.kind.rawValue)
        if let pool = alert.key.pool { field("pool", pool.text) }
        if !alert.key.reason.isEmpty { field("reason", alert.key.reason) }
        endObject()
        key("annotations")
        beginObject()
        field("summary", alert.sentence)
        // A label would make it another alert when it changes.
        field("severity", alert.severity.name)
        if let advice = alert.advice { field("recommendation", advice) }
        if let outcome = alert.outcome { field("outcome", outcome) }
        endObject()
        field("startsAt", alert.since)
        field("endsAt", alert.closedAt ?? now.adding(seconds: AlertMessage.alertmanagerSeconds))
        endObject()
        endArray()
    }

    fileprivate mutating func pagerDuty(_ alert: Alert, routingKey: String, maxSummary: Int) {
        beginObject()
        field("routing_key", routingKey)
        field("event_action", alert.closedAt == nil ? "trigger" : "resolve")
        field("dedup_key", "headroom/\(alert.key.kind.rawValue)/\(alert.key.pool?.text ?? "")/\(alert.key.reason)")
        key("payload")
        beginObject()
        field("summary", String((alert.outcome ?? alert.sentence).prefix(maxSummary)))
        field("source", "headroom")
        field("severity", alert.severity.name)
        field("timestamp", alert.openedAt)
        if let pool = alert.key.pool { field("component", pool.text) }
        field("class", alert.key.kind.rawValue)
        key("custom_details")
        self.alert(alert)
        endObject()
        endObject()
    }
}

extension Alert {
    /// `, after 7 min`, once it is closed.
    fileprivate var lasted: String {
        closedAt.map { ", after \(GroupedNumber.duration(seconds: max(0, $0.seconds(since: since))))" } ?? ""
    }

    /// The step that a person may take, where its gravest member has a recommendation.
    fileprivate var advice: String? {
        guard let recommendation = members.first?.recommendation else { return nil }
        let call = AlertCall(recommendation, of: self) == nil ? "" : " (headroom alerts apply \(id))"
        return recommendation.sentence + call
    }
}

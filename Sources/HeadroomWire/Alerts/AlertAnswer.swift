import HeadroomJSON
import HeadroomModel

/// Alerts as answers and webhooks show them.
package enum AlertAnswer {
    package static func list(_ alerts: some Sequence<Alert>) -> [UInt8] {
        var writer = JSONWriter(capacity: 1024)
        writer.beginObject()
        writer.field("alerts", each: alerts) { $0.alert($1) }
        writer.endObject()
        return writer.bytes
    }

    package static func one(_ alert: Alert) -> [UInt8] {
        var writer = JSONWriter()
        writer.alert(alert)
        return writer.bytes
    }
}

extension JSONWriter {
    package mutating func alert(_ alert: Alert) {
        beginObject()
        field("id", alert.id)
        field("kind", alert.key.kind.rawValue)
        field("reason", alert.key.reason.isEmpty ? nil : alert.key.reason)
        field("pool", alert.key.pool?.text)
        field("severity", alert.severity.name)
        field("state", alert.state.rawValue)
        field("sentence", alert.sentence)
        field("since", alert.since)
        field("opened_at", alert.openedAt)
        field("updated_at", alert.updatedAt)
        field("closed_at", alert.closedAt)
        field("outcome", alert.outcome)
        field("count", alert.memberCount)
        field("members", each: alert.members) { $0.member($1, of: alert) }
        key("acknowledged")
        if let acknowledgement = alert.acknowledgement {
            beginObject()
            field("author", acknowledgement.author)
            field("reason", acknowledgement.reason)
            field("at", acknowledgement.at)
            endObject()
        } else {
            null()
        }
        key("muted")
        if let mute = alert.mute {
            beginObject()
            authorship(mute)
            endObject()
        } else {
            null()
        }
        endObject()
    }

    private mutating func member(_ member: Alert.Member, of alert: Alert) {
        beginObject()
        field("name", member.name)
        field("tenant", member.tenant?.text)
        field("since", member.since)
        field("severity", member.severity.name)
        field("sentence", member.sentence)
        key("recommendation")
        if let recommendation = member.recommendation {
            beginObject()
            field("sentence", recommendation.sentence)
            key("call")
            if let call = AlertCall(recommendation, of: alert) {
                beginObject()
                field("method", call.method)
                field("path", call.path)
                key("body")
                if let body = call.body { raw(body) } else { null() }
                endObject()
            } else {
                null()
            }
            endObject()
        } else {
            null()
        }
        endObject()
    }
}

/// The call of this service that does what an alert recommends.
package struct AlertCall: Equatable, Sendable {
    package var method: String
    package var path: String
    /// JSON; `nil` for a call without a body.
    package var body: [UInt8]?

    /// `nil` when no call does it.
    init?(_ recommendation: AlertRecommendation, of alert: Alert) {
        let reason = "alert \(alert.id): \(alert.key.kind.rawValue)"
        switch recommendation.action {
        case nil: return nil
        case .override(let tenant, let pool, let tier, let weight, let seconds):
            method = "POST"
            path = "/v1/overrides"
            body = OverrideRequest(
                tenant: tenant, pool: pool, tier: tier, weight: weight, reason: reason, expiresInSeconds: seconds
            ).encoded()
        case .approve(let id, let tenant, let revision, let isRecommendation):
            method = "POST"
            path = isRecommendation ? "/v1/recommendations/\(id)/apply" : "/v1/approvals/\(id)/approve"
            body = DecisionRequest(reason: reason, revision: revision, tenants: [tenant]).encoded()
        case .releaseGateway(let gateway):
            method = "DELETE"
            path = "/v1/gateways/\(gateway)"
        }
    }
}

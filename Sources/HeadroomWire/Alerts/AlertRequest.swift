import HeadroomJSON
import HeadroomModel

/// The body of `POST /v1/alerts/{id}/acknowledge`, and with an end of `…/mute`.
package struct AlertRequest: Equatable, Sendable {
    package var reason: String
    /// `nil` in an acknowledgement, which ends with the alert.
    package var expiresInSeconds: Double?

    package init(reason: String, expiresInSeconds: Double? = nil) {
        self.reason = reason
        self.expiresInSeconds = expiresInSeconds
    }

    package static func decode(_ bytes: [UInt8], isMute: Bool) throws(BodyError) -> AlertRequest {
        var body = try StrictObject(document: bytes)
        let (reason, seconds): (String?, Double?) =
            isMute
            ? body.reasonAndEnd()
            : (body.text("reason", most: SteeringLimits.maxReasonCharacters, isRequired: true), nil)
        body.end()
        try body.check()
        guard let reason else { throw BodyError.unreadable }
        return AlertRequest(reason: reason, expiresInSeconds: seconds)
    }

    package func encoded() -> [UInt8] {
        DecisionRequest(reason: reason, expiresInSeconds: expiresInSeconds).encoded()
    }
}

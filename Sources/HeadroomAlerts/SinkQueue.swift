import HeadroomModel

/// The alerts that are still to be sent to a webhook, and when it is tried again.
///
/// Of each alert only the newest state waits, so a receiver that is away for an hour gets what is open then and not
/// everything that has been. Bounded: beyond ``maxWaiting`` the oldest goes and is counted.
package struct SinkQueue: Sendable {
    package enum Event: String, Sendable {
        case opened, updated, closed
    }

    package struct Notification: Equatable, Sendable {
        package var alert: Alert
        package var event: Event
    }

    package enum Outcome: Equatable, Sendable {
        case delivered
        /// The receiver will never take this one.
        case refused(String)
        /// It may be taken later: after as many seconds as the receiver says, if it does.
        case failed(String, afterSeconds: Double?)
    }

    package static let maxWaiting = 200
    /// The first pause; each further one is twice as long.
    private static let firstPauseSeconds = 1.0
    private static let longestPauseSeconds = 300.0

    private var waiting: [Notification] = []
    /// How alerts stood that it got as open. Without an alert's beginning a receiver does not get its end either.
    private var known: [Int64: AlertDelivery] = [:]
    /// The message on its way.
    private var inFlight: Notification?
    private var failures = 0
    private var nextAt: Timestamp?

    package private(set) var delivered = 0
    package private(set) var failed = 0
    /// Given up: refused, or out of room.
    package private(set) var dropped = 0
    /// Why the last one was not taken; `nil` once one is.
    package private(set) var failure: String?

    /// - Parameter known: what the process before has sent.
    package init(known: [AlertDelivery] = []) {
        self.known = Dictionary(known.map { ($0.alert, $0) }, uniquingKeysWith: { $1 })
    }

    /// - Parameter isReminder: say it again although nothing is new: Alertmanager forgets what is not repeated.
    package mutating func add(_ alert: Alert, isReminder: Bool = false) {
        let place = waiting.firstIndex { $0.alert.id == alert.id }
        if alert.closedAt != nil {
            if let place { waiting.remove(at: place) }
            guard known[alert.id] != nil || inFlight?.alert.id == alert.id else { return }
            append(Notification(alert: alert, event: .closed))
        } else if alert.mute == nil {
            // Muted while it waits: what was said before the mute is not sent after it.
            let isKnown = known[alert.id] != nil || inFlight?.alert.id == alert.id
            if let place {
                waiting[place].alert = alert
            } else if !isKnown || isReminder
                || (known[alert.id] ?? inFlight.map { AlertDelivery($0.alert) })?.isNews(alert) == true
            {
                append(Notification(alert: alert, event: isKnown ? .updated : .opened))
            }
        } else if let place {
            waiting.remove(at: place)
        }
    }

    private mutating func append(_ notification: Notification) {
        if waiting.count >= Self.maxWaiting {
            waiting.removeFirst()
            dropped += 1
        }
        waiting.append(notification)
    }

    /// The next message; `nil` while one is on its way, or it is too early.
    package mutating func next(at now: Timestamp) -> Notification? {
        guard inFlight == nil, !waiting.isEmpty, nextAt.map({ now >= $0 }) ?? true else { return nil }
        inFlight = waiting.removeFirst()
        return inFlight
    }

    /// Notes the outcome of the message that ``next(at:)`` gave.
    /// - Parameter jitter: 0 to 1: many webhooks that fail together do not come back together.
    /// - Returns: how the receiver knows the alert from here on; `nil` when that is unchanged.
    @discardableResult
    package mutating func note(_ outcome: Outcome, jitter: Double, at now: Timestamp) -> AlertDelivery? {
        guard let sent = inFlight else { return nil }
        inFlight = nil
        switch outcome {
        case .delivered:
            delivered += 1
            failure = nil
            failures = 0
            nextAt = nil
            let delivery = AlertDelivery(sent.alert)
            known[sent.alert.id] = delivery.isOver ? nil : delivery
            return delivery
        case .refused(let reason):
            dropped += 1
            failure = reason
            failures = 0
            nextAt = nil
            guard sent.event == .closed else { return nil }
            known[sent.alert.id] = nil
            return AlertDelivery(sent.alert)
        case .failed(let reason, let seconds):
            failed += 1
            failure = reason
            failures += 1
            let pause = min(Self.longestPauseSeconds, Self.firstPauseSeconds * Double(1 << min(failures - 1, 20)))
            nextAt = now.adding(seconds: min(Self.longestPauseSeconds, max(seconds ?? 0, pause * (0.5 + jitter / 2))))
            // A newer state of the same alert says all that this one would have said.
            if !waiting.contains(where: { $0.alert.id == sent.alert.id }) { waiting.insert(sent, at: 0) }
            return nil
        }
    }

    package var waitingCount: Int { waiting.count + (inFlight == nil ? 0 : 1) }
}

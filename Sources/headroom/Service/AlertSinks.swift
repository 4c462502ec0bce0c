import Foundation
import HeadroomAlerts
import HeadroomHTTP
import HeadroomModel
import HeadroomWire

/// The webhooks of the policy: each has a queue of its own, and at most one message on its way.
actor AlertSinks {
    private struct Sink {
        var policy: AlertSinkPolicy
        var queue: SinkQueue
    }

    /// Open alerts are sent to Alertmanager again so often.
    private static let reminderSeconds = 60.0
    private static let lookSeconds = 0.5

    private let sender: WebhookSender
    private let time: TimeSource
    private let metrics: SinkMetrics
    private var sinks: [String: Sink] = [:]
    private var addresses = AddressRules()
    private var remindedAt: Timestamp?

    init(sender: WebhookSender, time: TimeSource, metrics: SinkMetrics) {
        self.sender = sender
        self.time = time
        self.metrics = metrics
    }

    /// Until the task is cancelled, which also gives up what is being sent.
    func run() async {
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                let now = time.now()
                for name in sinks.keys.sorted() {
                    guard let notification = sinks[name]?.queue.next(at: now) else { continue }
                    group.addTask { await self.send(notification, to: name) }
                }
                // Throws when the service stops; the loop's condition says so.
                try? await Task.sleep(for: .seconds(Self.lookSeconds))
            }
        }
    }

    /// - Parameter open: open alerts; a webhook that is new to this process got them from the one before.
    func follow(_ policy: AlertPolicy, open: [Alert]) {
        addresses = policy.addresses
        let names = Set(policy.sinks.map(\.name))
        sinks = sinks.filter { names.contains($0.key) }
        for sink in policy.sinks {
            sinks[sink.name, default: Sink(policy: sink, queue: SinkQueue(known: open.filter(sink.wants)))].policy =
                sink
        }
    }

    func note(_ alerts: [Alert]) {
        for name in sinks.keys.sorted() {
            for alert in alerts where alert.closedAt != nil || sinks[name]?.policy.wants(alert) == true {
                sinks[name]?.queue.add(alert)
            }
        }
        show()
    }

    /// True when the receivers that forget are due to be sent them again: ``remind(_:)``.
    var needsReminder: Bool {
        let isDue = remindedAt.map { time.now().seconds(since: $0) >= Self.reminderSeconds } ?? true
        return isDue && sinks.values.contains { $0.policy.format == .alertmanager }
    }

    func remind(_ open: [Alert]) {
        remindedAt = time.now()
        for name in sinks.keys.sorted() where sinks[name]?.policy.format == .alertmanager {
            for alert in open where sinks[name]?.policy.wants(alert) == true {
                sinks[name]?.queue.add(alert, isReminder: true)
            }
        }
    }

    /// Webhooks whose last message was not taken.
    var troubles: [AlertObservation.Trouble] {
        sinks.keys.sorted().compactMap { name in
            sinks[name]?.queue.failure.map { reason in
                AlertObservation.Trouble(
                    name: name,
                    sentence: "The webhook \(name) does not take alerts: \(reason); "
                        + "\(sinks[name]?.queue.waitingCount ?? 0) wait.")
            }
        }
    }

    private func send(_ notification: SinkQueue.Notification, to name: String) async {
        guard let policy = sinks[name]?.policy else { return }
        let now = time.now()
        let outcome = await sender.send(to: policy, under: addresses, at: time.wall()) { secret in
            AlertMessage.body(
                policy.format, notification.alert, event: notification.event.rawValue, secret: secret, at: now)
        }
        sinks[name]?.queue.note(outcome, jitter: Double.random(in: 0...1), at: time.now())
        show()
    }

    private func show() {
        metrics.set(
            sinks.keys.sorted().compactMap { name in
                sinks[name].map { sink in
                    SinkMetrics.Row(
                        sink: name, delivered: sink.queue.delivered, failed: sink.queue.failed,
                        dropped: sink.queue.dropped, waiting: sink.queue.waitingCount)
                }
            })
    }
}

import Foundation
import HeadroomAlerts
import HeadroomHTTP
import HeadroomModel
import HeadroomStorage
import HeadroomWire

/// The webhooks of the policy: each has a queue of its own, and at most one alert on its way.
actor AlertSinks {
    private struct Sink {
        var policy: AlertSinkPolicy
        var queue: SinkQueue
        /// The head of the audit log that is still to be sent; only the newest one counts.
        var head: AuditHeadNote?
        /// `nil`: at once.
        var headAt: Timestamp?
        var isSendingHead = false
        var headFailure: String?
    }

    private struct AuditHeadNote {
        let head: String
        let at: Timestamp
    }

    /// Open alerts are sent to Alertmanager again so often.
    private static let reminderSeconds = 60.0
    private static let lookSeconds = 0.5
    /// A head that was not taken is sent again so often until the next one takes its place.
    private static let headPauseSeconds = 60.0

    private let sender: WebhookSender
    private let time: TimeSource
    private let metrics: SinkMetrics
    private let store: AlertStore
    /// Not stored yet; of each webhook and alert the newest.
    private var unsaved: [String: [Int64: AlertDelivery]] = [:]
    private var sinks: [String: Sink] = [:]
    private var addresses = AddressRules()
    private var remindedAt: Timestamp?
    private var newestHead: AuditHeadNote?

    init(sender: WebhookSender, store: AlertStore, time: TimeSource, metrics: SinkMetrics) {
        self.sender = sender
        self.store = store
        self.time = time
        self.metrics = metrics
    }

    /// Until the task is cancelled. What is on its way then is waited for, for two seconds: a receiver that took it is not
    /// sent it again after the start.
    func run() async {
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                await save()
                let now = time.now()
                for name in sinks.keys.sorted() {
                    if let notification = sinks[name]?.queue.next(at: now) {
                        group.addTask { await self.send(notification, to: name) }
                    }
                    if let head = nextHead(for: name, at: now) {
                        group.addTask { await self.send(head, to: name) }
                    }
                }
                // Throws when the service stops; the loop's condition says so.
                try? await Task.sleep(for: .seconds(Self.lookSeconds))
            }
        }
        await save()
    }

    /// A webhook that is new to this process gets what it was not told before.
    func follow(_ policy: AlertPolicy) async throws(StorageError) {
        addresses = policy.addresses
        let names = Set(policy.sinks.map(\.name))
        sinks = sinks.filter { names.contains($0.key) }
        for sink in policy.sinks {
            if sinks[sink.name] == nil {
                await save()
                let standing = try await store.standing(of: sink.name)
                var queue = SinkQueue(known: standing.known)
                for alert in standing.alerts where alert.closedAt != nil || sink.wants(alert) { queue.add(alert) }
                sinks[sink.name] = Sink(policy: sink, queue: queue, head: newestHead)
            }
            sinks[sink.name]?.policy = sink
        }
        show()
    }

    /// What cannot be stored is kept for the next try; of an alert and a webhook there is one state.
    private func save() async {
        let deliveries = unsaved.keys.sorted().flatMap { sink in
            (unsaved[sink] ?? [:]).values.sorted { $0.alert < $1.alert }.map { (sink: sink, delivery: $0) }
        }
        guard !deliveries.isEmpty, (try? await store.note(deliveries)) != nil else { return }
        for (sink, delivery) in deliveries where unsaved[sink]?[delivery.alert] == delivery {
            unsaved[sink]?[delivery.alert] = nil
        }
    }

    /// For every webhook that takes it, as soon as it answers.
    func noteAuditHead(_ head: String) {
        let note = AuditHeadNote(head: head, at: time.now())
        newestHead = note
        for name in sinks.keys {
            sinks[name]?.head = note
            sinks[name]?.headAt = nil
        }
    }

    private func nextHead(for name: String, at now: Timestamp) -> AuditHeadNote? {
        guard let sink = sinks[name], sink.policy.takesAuditHead, !sink.isSendingHead, let head = sink.head,
            sink.headAt.map({ now >= $0 }) ?? true
        else { return nil }
        sinks[name]?.isSendingHead = true
        return head
    }

    private func send(_ head: AuditHeadNote, to name: String) async {
        guard let policy = sinks[name]?.policy else { return }
        let outcome = await sender.send(to: policy, under: addresses, at: time.wall()) { _ in
            AlertMessage.auditHead(policy.format, head.head, at: head.at)
        }
        sinks[name]?.isSendingHead = false
        let isNewest = sinks[name]?.head?.at == head.at
        switch outcome {
        case .delivered:
            sinks[name]?.headFailure = nil
            if isNewest { sinks[name]?.head = nil }
        case .refused(let reason):
            sinks[name]?.headFailure = reason
            if isNewest { sinks[name]?.head = nil }
        case .failed(let reason, let seconds):
            sinks[name]?.headFailure = reason
            sinks[name]?.headAt = time.now().adding(seconds: max(Self.headPauseSeconds, seconds ?? 0))
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
            if let reason = sinks[name]?.queue.failure {
                let count = sinks[name]?.queue.waitingCount ?? 0
                return AlertObservation.Trouble(
                    name: name, sentence: "The webhook \(name) does not take alerts: \(reason); \(count) wait.")
            }
            return sinks[name]?.headFailure.map { reason in
                AlertObservation.Trouble(
                    name: name, sentence: "The webhook \(name) does not take the audit log's head: \(reason).")
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
        let delivery = sinks[name]?.queue.note(outcome, jitter: Double.random(in: 0...1), at: time.now())
        if let delivery {
            unsaved[name, default: [:]][delivery.alert] = delivery
            await save()
        }
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

import HeadroomAlerts
import HeadroomModel
import Testing

@Suite struct SinkQueueTests {
    private func alert(
        _ id: Int64 = 1, severity: AlertSeverity = .warning, count: Int = 1, closed: Bool = false, muted: Bool = false
    ) -> Alert {
        Alert(
            id: id, key: AlertKey(.latency, pool: PoolID(unchecked: "p\(id)")), openedAt: start, updatedAt: start,
            closedAt: closed ? start : nil,
            members: [Alert.Member(since: start, severity: severity, sentence: "slow")], memberCount: count,
            mute: muted ? Authorship(author: "sam", reason: "known", at: start, until: start) : nil)
    }

    /// Sends all that is due, and says what it was.
    private func drain(_ queue: inout SinkQueue, at now: Timestamp = start) -> [String] {
        var sent: [String] = []
        while let next = queue.next(at: now) {
            sent.append("\(next.event.rawValue) \(next.alert.id)")
            queue.note(.delivered, jitter: 0, at: now)
        }
        return sent
    }

    @Test func `a webhook is told of the beginning, of what is graver, and of the end`() {
        var queue = SinkQueue()
        queue.add(alert())
        #expect(drain(&queue) == ["opened 1"])
        queue.add(alert())
        queue.add(alert(count: 1))
        #expect(drain(&queue).isEmpty)
        queue.add(alert(count: 2))
        #expect(drain(&queue) == ["updated 1"])
        queue.add(alert(severity: .critical, count: 2))
        #expect(drain(&queue) == ["updated 1"])
        queue.add(alert(), isReminder: true)
        #expect(drain(&queue) == ["updated 1"])
        queue.add(alert(closed: true))
        #expect(drain(&queue) == ["closed 1"])
        #expect(queue.delivered == 5)
    }

    @Test func `what is over before it was told is not told, and neither is what is muted`() {
        var queue = SinkQueue()
        queue.add(alert())
        queue.add(alert(closed: true))
        queue.add(alert(2, muted: true))
        queue.add(alert(3))
        queue.add(alert(3, muted: true))
        #expect(drain(&queue).isEmpty)
        // Muted after it was told: the end is told.
        queue.add(alert(4))
        #expect(drain(&queue) == ["opened 4"])
        queue.add(alert(4, closed: true, muted: true))
        #expect(drain(&queue) == ["closed 4"])
    }

    @Test func `a restart tells the end of what the process before told`() {
        var queue = SinkQueue(known: [AlertDelivery(alert())])
        queue.add(alert())
        #expect(drain(&queue).isEmpty)
        queue.add(alert(closed: true))
        #expect(drain(&queue) == ["closed 1"])
        // What has become graver meanwhile is told as well, and what was never told, from its beginning.
        queue = SinkQueue(known: [AlertDelivery(alert(2))])
        queue.add(alert(2, severity: .critical))
        queue.add(alert(3))
        #expect(drain(&queue) == ["updated 2", "opened 3"])
    }

    @Test func `each outcome says how the receiver knows the alert from then on`() {
        var queue = SinkQueue()
        func send(_ alert: Alert, _ outcome: SinkQueue.Outcome) -> AlertDelivery? {
            queue.add(alert)
            _ = queue.next(at: start.adding(seconds: 1_000))
            return queue.note(outcome, jitter: 0, at: start)
        }
        #expect(send(alert(), .failed("it answers 503", afterSeconds: nil)) == nil)
        #expect(send(alert(), .delivered) == AlertDelivery(alert: 1, severity: .warning, memberCount: 1))
        #expect(
            send(alert(severity: .critical, count: 3), .delivered)
                == AlertDelivery(alert: 1, severity: .critical, memberCount: 3))
        #expect(send(alert(severity: .critical, count: 9), .refused("it answers 404")) == nil)
        let end = send(alert(severity: .critical, count: 9, closed: true), .refused("it answers 404"))
        #expect(end?.isOver == true && end?.alert == 1)
        queue.add(alert(2))
        #expect(drain(&queue) == ["opened 2"])
    }

    @Test func `a receiver that fails is tried again, later each time, with the newest state`() {
        var queue = SinkQueue()
        queue.add(alert())
        var now = start
        var pauses: [Double] = []
        for _ in 0..<12 {
            #expect(queue.next(at: now)?.event == .opened)
            #expect(queue.next(at: now) == nil, "one at a time")
            queue.note(.failed("it answers 500", afterSeconds: nil), jitter: 1, at: now)
            let failed = now
            // A copy, so that looking sends nothing.
            var copy = queue
            while copy.next(at: now) == nil { now = now.adding(seconds: 0.5) }
            pauses.append(now.seconds(since: failed))
        }
        #expect(pauses == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300])
        #expect(queue.failure == "it answers 500" && queue.failed == 12)
        queue.add(alert(severity: .critical))
        #expect(queue.next(at: now)?.alert.severity == .critical)
        queue.note(.delivered, jitter: 0, at: now)
        #expect(queue.failure == nil && queue.waitingCount == 0)
    }

    @Test func `a receiver says how long to wait, and what it refuses is not sent again`() {
        var queue = SinkQueue()
        queue.add(alert())
        _ = queue.next(at: start)
        queue.note(.failed("it answers 429", afterSeconds: 40), jitter: 0, at: start)
        #expect(queue.next(at: start.adding(seconds: 39)) == nil)
        #expect(queue.next(at: start.adding(seconds: 40)) != nil)
        queue.note(.refused("it answers 404"), jitter: 0, at: start)
        #expect(queue.next(at: start.adding(seconds: 400)) == nil && queue.dropped == 1)
        #expect(queue.failure == "it answers 404")
    }

    @Test func `the queue is bounded, and of each alert only the newest state waits`() {
        var queue = SinkQueue()
        for id in 1...300 as ClosedRange<Int64> {
            queue.add(alert(id))
            queue.add(alert(id, severity: .critical))
        }
        #expect(queue.waitingCount == SinkQueue.maxWaiting && queue.dropped == 100)
        #expect(drain(&queue).first == "opened 101")
    }
}

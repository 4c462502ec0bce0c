import HeadroomEnforcement
import HeadroomModel
import HeadroomWire

private let start = Timestamp(milliseconds: 1_793_000_000_000)

extension FuzzTarget {
    /// Answers to `GET /v1/allocations` and `POST /v1/draw`, one a line, as a gateway takes them: decoded, put together, held,
    /// loaded and used.
    static let snapshots = FuzzTarget(name: "snapshots") { bytes in
        var now = start
        var holder = SnapshotHolder()
        var gate = PoolGate(pool: "p", gateway: "gw-1", at: now)
        var calls = 0
        for line in bytes.lines(most: 16) {
            now = now.adding(seconds: 0.5)
            if let answer = try? DrawAnswer.decode(line) {
                check(answer)
                for dispatch in gate.receive(answer, at: now) { gate.withdraw(dispatch.call.id, at: now) }
            }
            guard let message = try? SnapshotDecoder.decode(line) else { continue }
            let received: Snapshot?
            switch message {
            case .whole(let snapshot):
                check(snapshot, after: holder.snapshot)
                received = snapshot
            case .delta(let delta):
                let written = SnapshotEncoder.encode(delta)
                guard case .delta(let again)? = try? SnapshotDecoder.decode(written) else {
                    fatalError("written, and cannot be read: \(written.text)")
                }
                require(SnapshotEncoder.encode(again) == written, "reads back as another delta: \(written.text)")
                received = holder.snapshot?.applying(delta)
            }
            guard let received, holder.accept(received, at: now) != .ignored else { continue }
            require(holder.nextPoll(jitter: 0.5, at: now) >= now, "a poll in the past")
            gate.load(
                received.pools.first { $0.pool == "p" }, leaseUntil: holder.lease.until ?? now, at: now)
            use(&gate, &calls, at: now)
        }
        use(&gate, &calls, at: now.adding(seconds: 3600))
    }

    private static func check(_ answer: DrawAnswer) {
        let written = answer.encoded()
        require((try? DrawAnswer.decode(written)) == answer, "reads back as another answer: \(written.text)")
    }

    private static func check(_ snapshot: Snapshot, after old: Snapshot?) {
        let written = SnapshotEncoder.encode(snapshot)
        guard case .whole(let again)? = try? SnapshotDecoder.decode(written) else {
            fatalError("written, and cannot be read: \(written.text)")
        }
        require(SnapshotEncoder.encode(again) == written, "reads back as another snapshot: \(written.text)")
        guard let old else { return }
        let delta = SnapshotDelta(from: old, to: snapshot)
        guard let sum = old.applying(delta) else { fatalError("a delta that cannot be applied") }
        require(SnapshotEncoder.encode(sum) == written, "the delta leads elsewhere: \(written.text)")
    }

    /// A gateway's work for a moment: calls of two tenants come, go, wait, end and are refused.
    private static func use(_ gate: inout PoolGate, _ calls: inout Int, at now: Timestamp) {
        var now = now
        gate.startDrawing(boot: "b", at: now)
        for tenant in ["a", "stranger"] as [TenantID] {
            calls += 1
            let waiting = WaitingCall(
                id: calls, tenant: tenant, criticality: .interactive,
                estimate: Work(requests: 1, tokens: 100, inputTokens: 60, outputTokens: 40), arrival: now,
                eligibleAt: now, deadline: now.adding(seconds: 10), model: "m")
            if gate.admit(waiting, at: now) == nil { _ = gate.enqueue(waiting, at: now) }
            _ = gate.forecast(of: calls, tenant: tenant, criticality: .interactive, at: now)
        }
        now = now.adding(seconds: 0.1)
        for dispatch in gate.dispatch(at: now) {
            gate.settle(dispatch.call.id, actual: Work(requests: 1, tokens: 120), at: now)
        }
        if let request = gate.nextDraw(epoch: 1, at: now) {
            let written = request.encoded()
            require((try? DrawRequest.decode(written)) != nil, "a draw that nobody can read: \(written.text)")
        }
        _ = gate.expire(at: now)
        _ = gate.nextWake(after: now)
        for queue in gate.queues(at: now) { require(queue.depth >= 0 && queue.tokens >= 0, "\(queue)") }
    }
}

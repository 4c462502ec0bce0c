import HeadroomEnforcement
import HeadroomJSON
import HeadroomModel
import HeadroomWire

/// Plays a story on a gate, and writes down each step with what came of it.
struct VectorPlayer {
    /// Milliseconds since the gate began.
    var now: Int64 = 0
    private(set) var lines: [UInt8]
    /// Ids of calls that went and have not ended, ascending.
    private(set) var onTheirWay: [Int] = []
    private var gate = PoolGate(pool: "pool", gateway: "gw-1", at: Timestamp(milliseconds: 0))
    private var kinds = TaskKindHold()
    private var calls = 0
    private var generation: Int64 = 0

    private static let leaseSeconds = 5.0
    private static let epoch: Int64 = 1

    init(story: String) {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("story", story)
        writer.endObject()
        lines = writer.bytes + [UInt8(ascii: "\n")]
    }

    private var instant: Timestamp { Timestamp(milliseconds: now) }
    private var leaseUntil: Timestamp { instant.adding(seconds: VectorPlayer.leaseSeconds) }

    private mutating func note(_ step: StaticString, _ write: (inout JSONWriter) -> Void) {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("at", now)
        writer.key("do")
        writer.string("\(step)")
        write(&writer)
        writer.endObject()
        lines += writer.bytes
        lines.append(UInt8(ascii: "\n"))
    }

    // MARK: The control plane

    mutating func load(_ allocation: PoolAllocation) {
        generation += 1
        let snapshot = Snapshot(
            version: SnapshotVersion(epoch: VectorPlayer.epoch, generation: generation), issuedAt: instant,
            leaseSeconds: VectorPlayer.leaseSeconds, policy: "vectors", pools: [allocation])
        let leaseUntil = leaseUntil
        gate.load(allocation, leaseUntil: leaseUntil, at: instant)
        kinds.load(allocation.enforce ? allocation.taskKinds : [], at: instant)
        note("load") { writer in
            writer.field("lease_until", leaseUntil.milliseconds)
            writer.key("snapshot")
            writer.raw(SnapshotEncoder.encode(snapshot))
        }
    }

    mutating func renew() {
        let leaseUntil = leaseUntil
        gate.renew(leaseUntil: leaseUntil, at: instant)
        note("renew") { $0.field("lease_until", leaseUntil.milliseconds) }
    }

    mutating func tell(clocks: [(tenant: TenantID, clock: Double)]) {
        gate.update(
            serviceClocks: Dictionary(uniqueKeysWithValues: clocks.map { ($0.tenant, $0.clock) }), at: instant)
        note("clocks") { writer in
            writer.key("service_clocks")
            writer.beginObject()
            for told in clocks {
                writer.key(told.tenant.text)
                writer.number(told.clock)
            }
            writer.endObject()
        }
    }

    // MARK: Calls

    mutating func enqueue(tenant: TenantID, criticality: Criticality, estimate: Work, patienceMilliseconds: Int64) {
        calls += 1
        let call = WaitingCall(
            id: calls, tenant: tenant, criticality: criticality, estimate: estimate, arrival: instant,
            deadline: Timestamp(milliseconds: now + patienceMilliseconds))
        let isTaken = gate.enqueue(call, at: instant)
        note("enqueue") { writer in
            writer.key("call")
            writer.beginObject()
            writer.field("id", call.id)
            writer.field("tenant", tenant.text)
            writer.field("criticality", criticality.name)
            writer.field("estimate", estimate)
            writer.field("deadline", call.deadline.milliseconds)
            writer.endObject()
            writer.field("expect", isTaken)
        }
    }

    mutating func ask(kind: String, patience: Double) {
        let wait: Double? =
            switch kinds.ask(kind, patience: patience, at: instant) {
            case .goes(let seconds): seconds
            case .held(let seconds): seconds
            }
        note("kind") { writer in
            writer.field("kind", kind)
            writer.field("patience", patience)
            writer.field("expect", finite: wait)
        }
    }

    mutating func dispatch() {
        let sent = gate.dispatch(at: instant)
        note("dispatch") { $0.field("expect", sent) }
        send(sent)
    }

    private mutating func send(_ sent: [Dispatch]) {
        onTheirWay = (onTheirWay + sent.map(\.call.id)).sorted()
    }

    mutating func expire() {
        let denied = gate.expire(at: instant)
        note("expire") { $0.field("expect", each: denied.map(\.id)) { $0.integer($1) } }
    }

    mutating func divert() {
        let diverted = gate.divert(at: instant)
        note("divert") { $0.field("expect", each: diverted.map(\.id)) { $0.integer($1) } }
    }

    mutating func settle(_ id: Int, actual: Work) {
        onTheirWay.removeAll { $0 == id }
        gate.settle(id, actual: actual, at: instant)
        note("settle") { writer in
            writer.field("id", id)
            writer.field("actual", actual)
        }
    }

    mutating func refused(_ id: Int, resetSeconds: Double?, jitter: Double) {
        onTheirWay.removeAll { $0 == id }
        var until: Int64?
        if case .waits(let instant) = gate.refused(id, resetSeconds: resetSeconds, jitter: jitter, at: instant) {
            until = instant.milliseconds
        }
        note("refused") { writer in
            writer.field("id", id)
            writer.field("reset_seconds", finite: resetSeconds)
            writer.field("jitter", jitter)
            writer.field("expect", until)
        }
    }

    mutating func observe(_ signal: ProviderSignal) {
        gate.observe(signal, at: instant)
        note("observe") { writer in
            writer.field("kind", signal.kind.name)
            writer.field("retry_after_ms", finite: signal.retryAfterMilliseconds)
            writer.field("windows", each: signal.windows) { writer, window in
                writer.beginObject()
                writer.field("resource", window.resource.name)
                writer.field("limit", finite: window.limit)
                writer.field("remaining", finite: window.remaining)
                writer.field("reset_ms", finite: window.resetMilliseconds)
                writer.field("window_s", finite: window.windowSeconds)
                writer.endObject()
            }
        }
    }

    mutating func queues() {
        let queues = gate.queues(at: instant)
        note("queues") { writer in
            writer.field("expect", each: queues) { writer, queue in
                writer.beginObject()
                writer.field("tenant", queue.tenant.text)
                writer.field("criticality", queue.criticality.name)
                writer.field("depth", queue.depth)
                writer.field("tokens", queue.tokens)
                writer.endObject()
            }
        }
    }

    // MARK: Draws

    mutating func startDrawing() {
        gate.startDrawing(boot: "boot", at: instant)
        note("start_drawing") { $0.field("boot", "boot") }
    }

    mutating func nextDraw() -> DrawRequest? {
        let request = gate.nextDraw(epoch: VectorPlayer.epoch, at: instant)
        note("draw") { writer in
            writer.field("epoch", VectorPlayer.epoch)
            writer.key("expect")
            if let request { writer.append(request) } else { writer.null() }
        }
        return request
    }

    mutating func receive(_ answer: DrawAnswer) {
        let sent = gate.receive(answer, at: instant)
        note("answer") { writer in
            writer.field("sequence", answer.sequence)
            writer.key("granted")
            writer.beginObject()
            for granted in answer.granted {
                writer.key(granted.tenant.text)
                writer.integer(granted.calls)
            }
            writer.endObject()
            writer.key("service_clocks")
            writer.beginObject()
            for clock in answer.serviceClocks {
                writer.key(clock.tenant.text)
                writer.number(clock.serviceClock)
            }
            writer.endObject()
            writer.field("wait_ms", answer.waitMilliseconds)
            if answer.isAmple { writer.field("ample", true) }
            writer.field("expect", sent)
        }
        send(sent)
    }
}

extension JSONWriter {
    fileprivate mutating func field(_ key: StaticString, _ work: Work) {
        self.key(key)
        beginObject()
        for resource in Resource.allCases where work[resource] != 0 {
            self.key(resource.name)
            number(work[resource])
        }
        endObject()
    }

    fileprivate mutating func field(_ key: StaticString, _ sent: [Dispatch]) {
        field(key, each: sent) { writer, dispatch in
            writer.beginObject()
            writer.field("id", dispatch.call.id)
            writer.field("grant", "\(dispatch.grant)")
            writer.endObject()
        }
    }

    fileprivate mutating func append(_ request: DrawRequest) {
        beginObject()
        field("sequence", request.sequence)
        field("returned", request.totals.returned)
        field("granted_used", request.totals.grantedUsed)
        key("spent")
        beginObject()
        for spent in request.totals.spent {
            key(spent.tenant.text)
            number(spent.work[.requests])
        }
        endObject()
        key("waiting")
        beginObject()
        for queue in request.waiting {
            key(queue.tenant.text)
            beginArray()
            for head in queue.heads { number(head.estimate[.inputTokens]) }
            endArray()
        }
        endObject()
        endObject()
    }
}

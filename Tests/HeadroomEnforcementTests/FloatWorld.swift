import HeadroomEnforcement
import HeadroomModel

/// Gateways that draw, a float, and a network between them that loses, repeats and delays.
struct FloatWorld {
    struct Network {
        var lost = 0.0
        var repeated = 0.0
        /// Seconds each way, at most.
        var lag = 0.05
    }

    private(set) var ledger: FloatLedger
    private(set) var gates: [PoolGate]
    private var boots: [Int]
    private var epoch: Int64 = 1
    private var whole: PoolAllocation
    private var shares: [Double]
    private var requests: [(at: Timestamp, request: DrawRequest)] = []
    private var answers: [(at: Timestamp, gate: Int, boot: Int, answer: DrawAnswer)] = []
    private var onTheirWay: [(at: Timestamp, gate: Int, boot: Int, id: Int, actual: Work)] = []
    private var ids = 0
    private var random: SplitMix64
    var network: Network
    /// Requests leave out every optional field.
    var isBare = false
    private(set) var now = start
    /// Estimates of all calls that went, with what they really cost where that is known.
    private(set) var admitted = Work.zero
    private(set) var largest = Work.zero
    /// What the pool could have given.
    private(set) var granted = Work.zero
    /// What processes that began since brought with them, and rates that rose.
    private(set) var begun = Work.zero

    init(
        rates: Rates, shares: [Double], tenants: [TenantAllocation], floatShare: Double = 0,
        network: Network = Network(),
        seed: Int
    ) {
        let total = shares.reduce(0, +)
        self.shares = shares.map { $0 / total }
        self.network = network
        random = SplitMix64(seed: seed)
        whole = allocation(tenants: tenants)
        ledger = FloatLedger(pool: "pool", epoch: 1, at: start)
        gates = []
        boots = shares.map { _ in 0 }
        for index in shares.indices { gates.append(gate(index)) }
        publish(rates, floatShare: floatShare)
        begun = .zero
    }

    private func gate(_ index: Int) -> PoolGate {
        var gate = PoolGate(pool: "pool", gateway: GatewayID(unchecked: "gw-\(index)"), at: now)
        gate.startDrawing(boot: String(boots[index]), at: now)
        return gate
    }

    mutating func publish(_ rates: Rates, floatShare: Double = 0) {
        whole.capacity = rates
        whole.float = rates * floatShare
        whole.budget = rates * (1 - floatShare)
        ledger.follow(whole, budgets: shares.indices.map { (gates[$0].gateway, part($0).budget) }, at: now)
        for index in gates.indices { load(index) }
    }

    private func part(_ index: Int) -> PoolAllocation {
        var part = whole
        part.budget = whole.budget * shares[index]
        for entry in part.tenants.indices { part.tenants[entry].assured = part.tenants[entry].assured * shares[index] }
        return part
    }

    private mutating func load(_ index: Int) {
        let before = gates[index].allocation?.budget ?? part(index).budget * 0
        let gain = part(index).budget.perMinute - before.perMinute
        begun.amounts += pointwiseMax(gain, .zero) / 60
        gates[index].load(part(index), leaseUntil: never, at: now)
    }

    /// A new process, that knows nothing; what the old one sent may still arrive.
    mutating func restartGate(_ index: Int) {
        boots[index] += 1
        gates[index] = gate(index)
        load(index)
    }

    /// A new term, that knows nothing.
    mutating func restartControlPlane() {
        epoch += 1
        ledger = FloatLedger(pool: "pool", epoch: epoch, at: now)
        ledger.follow(whole, budgets: shares.indices.map { (gates[$0].gateway, part($0).budget) }, at: now)
    }

    mutating func enqueue(_ tenant: TenantID, at gate: Int, tokens: Double, _ criticality: Criticality = .interactive) {
        ids += 1
        let waiting = call(ids, of: tenant, tokens: tokens, criticality, at: now, deadline: now.adding(seconds: 20))
        largest.amounts = pointwiseMax(largest.amounts, waiting.estimate.amounts)
        precondition(gates[gate].enqueue(waiting, at: now))
    }

    /// Returns what went, by gate.
    mutating func step(seconds: Double) -> [(gate: Int, dispatch: Dispatch)] {
        now = now.adding(seconds: seconds)
        granted += whole.capacity.work(overSeconds: seconds)
        var went: [(gate: Int, dispatch: Dispatch)] = []
        deliver()
        for answer in FloatWorld.take(&answers, until: now, at: \.at) where answer.boot == boots[answer.gate] {
            for dispatch in gates[answer.gate].receive(answer.answer, at: now) { went.append((answer.gate, dispatch)) }
        }
        for call in FloatWorld.take(&onTheirWay, until: now, at: \.at) where call.boot == boots[call.gate] {
            gates[call.gate].settle(call.id, actual: call.actual, at: now)
        }
        for index in gates.indices {
            _ = gates[index].expire(at: now)
            for dispatch in gates[index].dispatch(at: now) { went.append((index, dispatch)) }
            guard var request = gates[index].nextDraw(epoch: epoch, at: now) else { continue }
            if isBare { request.leaveOutOptionalFields() }
            for _ in 0..<(happens(network.repeated) ? 2 : 1) where !happens(network.lost) {
                requests.append((now.adding(seconds: lag), request))
            }
        }
        for (gate, dispatch) in went {
            let estimate = dispatch.call.estimate
            admitted += estimate
            let actual = Work(
                requests: 1, tokens: estimate[.tokens] * Double.random(in: 0.5...1, using: &random))
            admitted += actual - estimate
            onTheirWay.append(
                (
                    now.adding(seconds: Double.random(in: 0.1...3, using: &random)), gate, boots[gate],
                    dispatch.call.id, actual
                ))
        }
        return went
    }

    private mutating func deliver() {
        for (_, request) in FloatWorld.take(&requests, until: now, at: \.at) {
            guard let answer = try? ledger.draw(request, at: now), !happens(network.lost) else { continue }
            guard let gate = gates.firstIndex(where: { $0.gateway == request.gateway }), let boot = Int(request.boot)
            else { continue }
            answers.append((now.adding(seconds: lag), gate, boot, answer))
        }
    }

    private static func take<Item>(
        _ items: inout [Item], until now: Timestamp, at: KeyPath<Item, Timestamp>
    ) -> [Item] {
        let due = items.filter { $0[keyPath: at] <= now }
        items.removeAll { $0[keyPath: at] <= now }
        return due
    }

    private mutating func happens(_ share: Double) -> Bool {
        share > 0 && Double.random(in: 0..<1, using: &random) < share
    }

    private var lag: Double { mutating get { Double.random(in: 0.01...max(0.011, network.lag), using: &random) } }
}

extension DrawRequest {
    fileprivate mutating func leaveOutOptionalFields() {
        holds = nil
        for queue in waiting.indices {
            waiting[queue].heads = waiting[queue].heads.map { Head(estimate: $0.estimate) }
        }
    }
}

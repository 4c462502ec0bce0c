import HeadroomEnforcement
import HeadroomModel
import Testing

/// Model §5.3 over random histories, judged by what gateways really have in force and not by what the room takes to be.
@Suite struct RoomPropertyTests {
    @Test func `budgets that may be in effect fit into capacity at every instant`() {
        for seed in 1...24 {
            var history = RoomHistory(seed: seed)
            let fault = history.play(ticks: 200)
            #expect(fault == nil, "seed \(seed), tick \(history.tick): \(fault ?? "")")
        }
    }

    @Test func `when all have acknowledged and the gone are forgotten the whole budget is given out`() {
        for seed in 1...8 {
            var history = RoomHistory(seed: seed)
            _ = history.play(ticks: 100)
            history.calm()
            #expect(history.given == history.whole.budget, "seed \(seed)")
        }
    }
}

/// Gateways that come, go, restart and are cut off, a control plane that is killed, and a capacity that steps.
struct RoomHistory {
    private struct Gateway {
        let id: GatewayID
        var isUp = true
        var isCutOff = false
        let acknowledges: Bool
        var part: (version: SnapshotVersion, budget: GatewayBudget, wholeFallback: Rates)?
        var leaseUntil = start
    }

    private struct Published {
        var version: SnapshotVersion
        var at: Timestamp
        /// Less the float.
        var capacity: Rates
        var fallback: Rates
        var parts: [GatewayBudget]
    }

    private var policy = LoopPolicy(safeSeconds: 120)
    private var random: SplitMix64
    private var now = start
    private(set) var tick = 0
    private(set) var whole = allocation(rpm: 1000, tpm: 1_000_000, fallback: Rates(rpm: 950, tpm: 950_000))
    private var gateways: [Gateway] = []
    private var named = 0

    private var room: Room? = Room()
    private var epoch: Int64 = 1
    private var generation: Int64 = 0
    private var presences: [GatewayID: GatewayPresence] = [:]
    private var ledger: [SentBudget] = []
    /// Those that were in force within lease and grace, oldest first.
    private var published: [Published] = []
    /// `nil` after a restart of the control plane, before its first publication.
    private var current: Published?
    private var isCalm = false

    init(seed: Int) {
        random = SplitMix64(seed: seed)
        policy.expectedGateways = Int.random(in: 1...5, using: &random)
        for _ in 0..<Int.random(in: 1...5, using: &random) { join() }
    }

    /// What is wrong, and when nothing is, `nil`.
    mutating func play(ticks: Int) -> String? {
        for _ in 0..<ticks {
            tick += 1
            disturb()
            publish()
            if let fault { return fault }
            for _ in 0..<4 {
                now = now.adding(seconds: 0.5)
                for index in gateways.indices where happens(0.4) {
                    poll(index)
                    if let fault { return fault }
                }
                if let fault { return fault }
            }
        }
        return nil
    }

    /// Nothing happens for long enough that whoever is silent is forgotten, and everyone polls.
    mutating func calm() {
        isCalm = true
        for index in gateways.indices { gateways[index].isCutOff = false }
        if !gateways.contains(where: \.isUp) { gateways[0].isUp = true }
        if room == nil { startAgain() }
        _ = play(ticks: 90)
    }

    var given: Rates {
        whole.budget.map { resource, _ in (current?.parts ?? []).reduce(0) { $0 + ($1.budget[resource] ?? 0) } }
    }

    // MARK: What happens

    private mutating func happens(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }

    private mutating func join() {
        named += 1
        let id = GatewayID(unchecked: "gw-\(named % 12)")
        gateways.removeAll { $0.id == id }
        gateways.append(Gateway(id: id, acknowledges: happens(0.8)))
    }

    private mutating func disturb() {
        guard !isCalm else { return }
        if happens(0.03) { join() }
        for index in gateways.indices {
            if happens(0.01) { gateways[index].isUp.toggle() }
            if !gateways[index].isUp { gateways[index].part = nil }
            if happens(0.01) { gateways[index].part = nil }
            if gateways[index].isUp, room != nil, happens(0.01) {
                gateways[index].isUp = false
                gateways[index].part = nil
                presences[gateways[index].id] = GatewayPresence(
                    gateway: gateways[index].id, lastSeen: now, applied: nil, sent: nil, hasLeft: true)
            }
            if happens(gateways[index].isCutOff ? 0.05 : 0.01) { gateways[index].isCutOff.toggle() }
        }
        if happens(0.05) {
            let factor = Double.random(in: 0.1...1, using: &random)
            let capacity = Rates(rpm: 1000, tpm: 1_000_000).map { ($1 * factor).rounded(.down) }
            whole.capacity = capacity
            whole.float = capacity.map { ($1 * 0.1).rounded(.down) }
            whole.budget = capacity.map { $1 - (whole.float[$0] ?? 0) }
            whole.fallback = capacity.map { ($1 * 0.95).rounded(.down) }
        }
        if room == nil {
            if happens(0.2) { startAgain() }
        } else if happens(0.01) {
            room = nil
            current = nil
        }
    }

    private mutating func startAgain() {
        room = Room(
            remembering: ledger, leaseSeconds: policy.leaseSeconds, graceSeconds: policy.graceSeconds, at: now)
        presences = [:]
        epoch += 1
    }

    private mutating func publish() {
        guard var room else { return }
        let known = presences.values.sorted { $0.gateway < $1.gateway }
        room.observe(known, under: policy, at: now)
        let oldest = now.adding(seconds: -policy.leaseSeconds - policy.graceSeconds)
        let living = known.filter { !$0.hasLeft && $0.lastSeen >= oldest }.map(\.gateway)
        let weights = living.map { _ in
            isCalm ? 1 : happens(0.2) ? 0 : Double.random(in: 0...10, using: &random)
        }
        let fallbackWeights = living.map { _ in Double.random(in: 0...10, using: &random) }
        let traffic = PoolTraffic(
            gateways: living, budgetWeights: weights, fallbackWeights: fallbackWeights, tenants: [], demand: [])
        let parts = room.fit(
            Parts().budgets(of: whole, over: traffic), of: whole, expectedGateways: policy.expectedGateways)

        generation += 1
        let version = SnapshotVersion(epoch: epoch, generation: generation)
        for index in ledger.indices where ledger[index].supersededAt == nil { ledger[index].supersededAt = now }
        let remembered = now.adding(seconds: -2 * seconds)
        ledger.removeAll { sent in
            parts.contains { $0.gateway == sent.gateway } && sent.supersededAt.map { $0 < remembered } ?? false
        }
        ledger += parts.map {
            SentBudget(
                version: version, gateway: $0.gateway, pool: whole.pool, budget: $0.budget, fallback: $0.fallback,
                publishedAt: now)
        }
        room.publish(version, parts, of: whole, leaseSeconds: policy.leaseSeconds, at: now)
        current = Published(
            version: version, at: now, capacity: whole.capacity.map { $1 - (whole.float[$0] ?? 0) },
            fallback: whole.fallback, parts: parts)
        published.append(current!)
        while published.count > 1, published[1].at <= now.adding(seconds: -seconds) { published.removeFirst() }
        self.room = room
    }

    /// A gateway asks; the answer may be lost, and what it says of itself is what it had when it asked.
    private mutating func poll(_ index: Int) {
        let gateway = gateways[index]
        guard room != nil, gateway.isUp, !gateway.isCutOff else { return }
        let part = current?.parts.first { $0.gateway == gateway.id }
        let before = presences[gateway.id]
        presences[gateway.id] = GatewayPresence(
            gateway: gateway.id, lastSeen: now, applied: gateway.acknowledges ? gateway.part?.version : nil,
            sent: part != nil ? current?.version : before?.hasLeft == true ? nil : before?.sent)
        guard let part, let current, isCalm || !happens(0.2) else { return }
        gateways[index].part = (current.version, part, whole.fallback)
        gateways[index].leaseUntil = now.adding(seconds: policy.leaseSeconds)
    }

    // MARK: What must hold

    private var seconds: Double { policy.leaseSeconds + policy.graceSeconds }

    /// Those that use a budget, or a fallback since less than `safe_seconds` after lease and grace.
    private var holders: [Gateway] {
        gateways.filter {
            $0.part != nil && now < $0.leaseUntil.adding(seconds: policy.graceSeconds + policy.safeSeconds)
        }
    }

    private var fault: String? {
        for resource in [Resource.requests, .tokens] {
            var live = 0.0
            var expired: [(rate: Double, wholeFallback: Double)] = []
            var fallbacks = 0.0
            var maxFallback = 0.0
            for gateway in holders {
                guard let part = gateway.part else { continue }
                let budget = part.budget.budget[resource] ?? 0
                let fallback = part.budget.fallback[resource] ?? 0
                let wholeFallback = part.wholeFallback[resource] ?? 0
                fallbacks += fallback
                maxFallback = max(maxFallback, wholeFallback)
                if now < gateway.leaseUntil {
                    live += budget
                } else {
                    // Others have so long to come down for a fallback above the budget.
                    let isSettled = now >= gateway.leaseUntil.adding(seconds: seconds)
                    expired.append((isSettled ? fallback : min(budget, fallback), wholeFallback))
                }
            }
            let most =
                published.map { published in
                    expired.reduce(published.capacity[resource] ?? 0) { left, expired in
                        left - expired.rate * min(1, (published.fallback[resource] ?? 0) / expired.wholeFallback)
                    }
                }.max() ?? 0
            if live > max(0, most) + 1e-6 {
                return "\(resource.name): \(live) and fallbacks of \(expired) in force, \(most) left"
            }
            if fallbacks > maxFallback {
                return "\(resource.name): fallbacks of \(fallbacks), whole \(maxFallback)"
            }
        }
        return nil
    }
}

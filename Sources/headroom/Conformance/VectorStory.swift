import HeadroomEnforcement
import HeadroomModel

/// A seeded story of a gate: what happens is drawn, what comes of it is the gate's own.
struct VectorStory {
    let name: String
    private let happens: Set<Happening>
    private let steps: Int
    private let resources: ResourceSet
    private var chance: SplitMix64

    enum Happening {
        /// Snapshots with other rates come often, and the same flap.
        case changes
        /// Tenants come into the snapshot and leave it.
        case entries
        /// The control plane falls silent for longer than its lease.
        case silence
        /// The provider refuses, and its headers state limits.
        case answers
        case breaker
        case draws
        /// The pool is observed only, or not in the snapshot.
        case observed
        /// The cost breaker holds kinds of tasks. Nothing else happens.
        case kinds
    }

    /// What a gateway is asked for: whoever writes one passes the first before the next.
    enum Profile: String, CaseIterable {
        /// Buckets, order of service, settlement, refusals, the lease. Nothing of breakers, kinds of tasks, or draws.
        case lending
        /// The float besides.
        case drawing
        case all
    }

    /// Of a profile, in the order in which they are played.
    static func stories(of profile: Profile) -> [VectorStory] {
        switch profile {
        case .lending: all.filter { $0.happens.isDisjoint(with: [.draws, .breaker, .kinds]) }
        case .drawing: all.filter { $0.happens.isDisjoint(with: [.breaker, .kinds]) }
        case .all: all
        }
    }

    static let all = [
        VectorStory("lends what is left", seed: 1, [.changes]),
        VectorStory("tenants come and go", seed: 2, [.changes, .entries]),
        VectorStory("the lease ends", seed: 3, [.changes, .silence]),
        VectorStory("the provider answers", seed: 4, [.changes, .answers]),
        VectorStory("input and output have limits of their own", seed: 5, [.changes, .answers], limited: [0, 2, 3]),
        VectorStory("the breaker keeps work back", seed: 6, [.changes, .breaker]),
        VectorStory("draws from the float", seed: 7, [.changes, .draws]),
        VectorStory("draws through a silence", seed: 8, [.draws, .silence, .answers]),
        VectorStory("nothing is enforced", seed: 9, [.observed, .entries]),
        VectorStory("kinds of tasks are held", seed: 10, [.kinds]),
    ]

    private init(_ name: String, seed: UInt64, _ happens: Set<Happening>, limited lanes: [UInt8] = [0, 1]) {
        self.name = name
        self.happens = happens
        steps = 60
        resources = ResourceSet(rawValue: lanes.reduce(0) { $0 | 1 << $1 })
        chance = SplitMix64(seed: seed)
    }

    /// The lines, each with its end.
    func played() -> [UInt8] {
        var story = self
        return story.play()
    }

    private mutating func play() -> [UInt8] {
        var player = VectorPlayer(story: name)
        var silentUntil: Int64 = 0
        load(&player)
        if happens.contains(.draws) { player.startDrawing() }
        for _ in 0..<steps {
            player.now += Int64(draw(1...260))
            if happens.contains(.silence), player.now > silentUntil, happensOnce(in: 40) {
                silentUntil = player.now + 20_000
                player.now += 6_000
            }
            let isHeard = player.now >= silentUntil
            if happens.contains(.kinds) {
                ask(&player)
                continue
            }
            if isHeard { control(&player) }
            for _ in 0..<draw(0...4) { arrive(&player) }
            player.expire()
            player.dispatch()
            if happens.contains(.breaker) { player.divert() }
            if happens.contains(.draws) { ask(&player, isHeard: isHeard) }
            end(&player)
            if happensOnce(in: 12) { player.queues() }
        }
        return player.lines
    }

    // MARK: What happens

    private mutating func control(_ player: inout VectorPlayer) {
        if happens.contains(.changes) || happens.contains(.entries), happensOnce(in: 9) {
            load(&player)
        } else if happensOnce(in: 4) {
            player.renew()
        } else if happensOnce(in: 6) {
            var clocks: [(TenantID, Double)] = []
            for name in VectorStory.names where happensOnce(in: 2) { clocks.append((name, Double(draw(0...40)))) }
            player.tell(clocks: clocks)
        }
    }

    private mutating func ask(_ player: inout VectorPlayer) {
        player.now += Int64(draw(0...4000))
        if happensOnce(in: 12) { load(&player) }
        for _ in 0..<draw(1...3) {
            player.ask(kind: VectorStory.kinds[draw(0...3)], patience: Double(draw(0...40)) / 4)
        }
    }

    private static let kinds = ["code-review", "deep-research", "paused", "free"]

    private static let names: [TenantID] = ["acme", "beta", "delta", "gamma"]

    private mutating func load(_ player: inout VectorPlayer) {
        let scale = Double(draw(1...4))
        let capacity = rates(requests: 120 * scale, tokens: 60_000 * scale)
        let names =
            happens.contains(.entries) ? VectorStory.names.filter { _ in !happensOnce(in: 3) } : VectorStory.names
        let tenants = names.map { name in
            TenantAllocation(
                tenant: name, assured: part(of: capacity, 1, in: 8), ceiling: part(of: capacity, draw(3...9), in: 10),
                safe: part(of: capacity, 1, in: 10), weight: Double(draw(1...4)), serviceClock: Double(draw(0...30)),
                retryOffsetMilliseconds: Int64(draw(0...300)))
        }
        let isObserved = happens.contains(.observed) && happensOnce(in: 2)
        let isOpen = happens.contains(.breaker) && happensOnce(in: 3)
        let state: PoolState = isOpen ? (happensOnce(in: 2) ? .open : .halfOpen) : .healthy
        var allocation = PoolAllocation(
            pool: "pool", state: state, enforce: !isObserved, capacity: capacity, nominal: capacity,
            budget: part(of: capacity, draw(7...10), in: 10), fallback: part(of: capacity, 6, in: 10),
            burstSeconds: Double(draw(2...6)), failover: happens.contains(.breaker) ? ["other"] : [],
            breaker: BreakerPolicy(probesPerSecond: happens.contains(.breaker) ? 2 : 1),
            retry: PoolAllocation.Retry(afterMilliseconds: Int64(draw(100...900)), jitterMilliseconds: 400),
            tenants: tenants, unlisted: part(of: capacity, 1, in: 20))
        if happens.contains(.kinds) {
            allocation.taskKinds = VectorStory.kinds.dropLast().filter { _ in !happensOnce(in: 4) }.map { kind in
                PoolAllocation.TaskKind(kind: kind, requestsPerMinute: kind == "paused" ? 0 : Double(draw(2...24)) / 2)
            }
        }
        player.load(allocation)
    }

    private mutating func arrive(_ player: inout VectorPlayer) {
        let all = VectorStory.names + ["stranger", "visitor"]
        let input = Double(draw(20...3000))
        let output = Double(draw(1...900))
        player.enqueue(
            tenant: all[draw(0...all.count - 1)], criticality: Criticality(rawValue: draw(0...2)) ?? .batch,
            estimate: Work(requests: 1, tokens: input + output, inputTokens: input, outputTokens: output),
            patienceMilliseconds: Int64(draw(150...9000)))
    }

    /// Calls on their way end, most of them well.
    private mutating func end(_ player: inout VectorPlayer) {
        for id in player.onTheirWay where happensOnce(in: 3) {
            if happens.contains(.answers), happensOnce(in: 6) {
                refuse(id, &player)
            } else {
                let input = Double(draw(20...3000))
                let output = Double(draw(1...900))
                player.settle(
                    id, actual: Work(requests: 1, tokens: input + output, inputTokens: input, outputTokens: output))
            }
        }
    }

    private mutating func refuse(_ id: Int, _ player: inout VectorPlayer) {
        var windows: [QuotaWindow] = []
        for resource in resources.members where !happensOnce(in: 3) {
            windows.append(
                QuotaWindow(
                    resource: resource, limit: Double(draw(50...400)),
                    remaining: happensOnce(in: 2) ? 0 : Double(draw(1...90)),
                    resetMilliseconds: Double(draw(10...3000)), windowSeconds: happensOnce(in: 4) ? 86400 : 60))
        }
        player.observe(
            ProviderSignal(
                kind: happensOnce(in: 3) ? .overload : .quota, windows: windows,
                retryAfterMilliseconds: happensOnce(in: 2) ? Double(draw(100...1500)) : nil))
        player.refused(
            id, resetSeconds: happensOnce(in: 2) ? Double(draw(0...4)) / 2 : nil, jitter: Double(draw(0...3)) / 4)
    }

    /// The float grants some of what is asked for, late or never at times.
    private mutating func ask(_ player: inout VectorPlayer, isHeard: Bool) {
        guard let request = player.nextDraw(), isHeard, !happensOnce(in: 8) else { return }
        player.now += Int64(draw(1...40))
        var answer = DrawAnswer(
            sequence: request.sequence, waitMilliseconds: Int64(draw(40...250)), isAmple: happensOnce(in: 4))
        for queue in request.waiting {
            let calls = draw(0...queue.heads.count)
            if calls > 0 { answer.granted.append(DrawAnswer.Granted(tenant: queue.tenant, calls: calls)) }
            answer.serviceClocks.append(DrawAnswer.Clock(tenant: queue.tenant, serviceClock: Double(draw(0...50))))
        }
        player.receive(answer)
    }

    // MARK: Chance

    private mutating func draw(_ range: ClosedRange<Int>) -> Int {
        range.lowerBound + Int(chance.next() % UInt64(range.count))
    }

    private mutating func happensOnce(in times: Int) -> Bool { draw(1...times) == 1 }

    private func rates(requests: Double, tokens: Double) -> Rates {
        Rates(rpm: requests, tpm: tokens, itpm: tokens, otpm: tokens / 4).limited(to: resources)
    }

    private func part(of rates: Rates, _ parts: Int, in all: Int) -> Rates {
        rates.map { _, rate in (rate * Double(parts) / Double(all)).rounded(.down) }
    }
}

import Glibc
import HeadroomDecision
import HeadroomModel

/// A whole decision: what is counted of demand, target and nominal fill, intervals, the fill inside them, whole numbers,
/// explanations, bursts. Room over gateways comes after it. A tenth of the tenants changes its demand between two ticks,
/// and the pools have lost a tenth of their capacity, so that the nominal fill is no shortcut. On one core, by its processor
/// time, and then on all cores, by the clock.
enum DecisionBenchmark {
    static func run(smoke: Bool) {
        let shapes: [(pools: Int, tenants: Int)] = smoke ? [(2, 500)] : [(10, 1_000), (10, 10_000), (1, 100_000)]
        print("decision: pools x tenants; goal for 10 x 10,000: 60 ms on one core, 35 ms on two")
        print(
            "  pools | tenants | first ms | median ms | most ms | ns a tenant | chains a tick | all cores, median ms | most ms"
        )
        for shape in shapes { row(pools: shape.pools, tenants: shape.tenants, ticks: smoke ? 5 : 60) }
    }

    private static func row(pools: Int, tenants: Int, ticks: Int) {
        let one = run(pools: pools, tenants: tenants, ticks: ticks, onAllCores: false)
        let all = run(pools: pools, tenants: tenants, ticks: ticks, onAllCores: true)
        precondition(
            one.sum > 0 && one.sum == all.sum && one.chains == all.chains, "one core decides otherwise than all")
        let median = one.times[one.times.count / 2]
        func milliseconds(_ seconds: Double) -> String { "\((seconds * 1e5).rounded() / 100)" }
        print(
            "  "
                + [
                    "\(pools)", "\(tenants)", milliseconds(one.first), milliseconds(median),
                    milliseconds(one.times.last!),
                    "\(Int(median * 1e9 / Double(pools * tenants)))", "\(one.chains / (ticks - 1))",
                    milliseconds(all.times[all.times.count / 2]), milliseconds(all.times.last!),
                ].joined(separator: " | "))
    }

    private struct Run {
        var first = 0.0
        /// Ascending, without the first.
        var times: [Double] = []
        var chains = 0
        var sum = 0.0
    }

    private static func run(pools: Int, tenants: Int, ticks: Int, onAllCores: Bool) -> Run {
        var random = SplitMix64(seed: 20_261_122)
        var now = Timestamp(milliseconds: 1_793_000_000_000)
        var workloads = (0..<pools).map { PoolWorkload(number: $0, tenants: tenants, using: &random) }
        let policy = Policy(pools: workloads.map(\.pool))
        let contracts = workloads.flatMap(\.contracts)
        // A tenant has one contract, with terms in every pool.
        let rules = Rules(
            policy: policy,
            contracts: Dictionary(contracts.map { ($0.tenant, $0) }) { first, next in
                var both = first
                both.terms += next.terms
                return both
            })
        var allocators = PoolTable<PoolAllocator>()
        allocators.follow(workloads.map(\.pool.pool)) { PoolAllocator(pool: $0, at: now) }
        let places = workloads.map { allocators.place(of: $0.pool.pool)! }

        var run = Run()
        for tick in 0..<ticks {
            now = now.adding(seconds: 2)
            if tick > 0 {
                for index in workloads.indices { workloads[index].change(tenth: tick % 10, using: &random) }
            }
            let (rules, tickAt) = (rules.holding(at: now), now)
            var byPlace = workloads
            for (place, workload) in zip(places, workloads) { byPlace[place] = workload }
            let work: @Sendable (Int, inout PoolAllocator) -> PoolDecision = { [byPlace] place, allocator in
                let workload = byPlace[place]
                return allocator.decide(
                    workload.pool, capacity: workload.capacity, demand: workload.demand, under: rules, at: tickAt)
            }
            let (clock, begun) = (ContinuousClock.now, processorSeconds())
            let decisions =
                onAllCores
                ? allocators.map(weights: Array(repeating: tenants, count: pools), work)
                : allocators.indices.map { work($0, &allocators[$0]) }
            run.times.append(
                onAllCores ? clock.duration(to: .now) / .seconds(1) : processorSeconds() - begun)
            for decision in decisions {
                run.chains += tick == 0 ? 0 : decision.changes.count
                run.sum += decision.allocation.level
            }
        }
        run.first = run.times.removeFirst()
        run.times.sort()
        return run
    }
}

/// This thread's use of its core: others on the machine do not count.
private func processorSeconds() -> Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// One pool's tenants: demand skewed by its cube, a third with a floor, all tiers.
private struct PoolWorkload {
    let pool: PoolPolicy
    let capacity: PoolCapacity
    private(set) var demand: PoolDemand
    private(set) var contracts: [Contract] = []

    init(number: Int, tenants: Int, using random: inout SplitMix64) {
        let id = PoolID(unchecked: "provider:model-\(number)")
        demand = PoolDemand(pool: id)
        var total = SIMD2<Double>.zero
        for index in 0..<tenants {
            let tenant = TenantID(unchecked: "tenant-\(1_000_000 + index)")
            let shape = Double.random(in: 200...8_000, using: &random)
            demand.tenants.append(Self.demand(of: tenant, shape: shape, using: &random))
            let wanted = demand.tenants[index].total
            total += SIMD2(wanted[.requests]!, wanted[.tokens]!)
            let floor = index.isMultiple(of: 3) ? wanted * 0.3 : .none
            contracts.append(
                Contract(
                    tenant: tenant, tier: ["critical", "premium", "standard", "free"][index % 4],
                    terms: [Contract.Terms(pool: id, floor: floor)]))
        }
        let nominal = Rates(rpm: total.x * 0.8, tpm: total.y * 0.8)
        pool = PoolPolicy(pool: id, nominal: nominal)
        capacity = PoolCapacity(pool: id, capacity: nominal * 0.9, nominal: nominal)
    }

    mutating func change(tenth: Int, using random: inout SplitMix64) {
        for index in stride(from: tenth, to: demand.tenants.count, by: 10) {
            let old = demand.tenants[index]
            demand.tenants[index] = Self.demand(of: old.tenant, shape: old.shape![.tokens], using: &random)
        }
    }

    private static func demand(
        of tenant: TenantID, shape: Double, using random: inout SplitMix64
    ) -> TenantDemand {
        let skew = Double.random(in: 0...1, using: &random)
        let rate = 1 + 500 * skew * skew * skew
        func rates(_ part: Double) -> Rates { Rates(rpm: rate * part, tpm: rate * part * shape) }
        return TenantDemand(
            tenant: tenant,
            demand: PerCriticality(interactive: rates(0.6), nearRealTime: rates(0.1), batch: rates(0.3)),
            shape: Work(requests: 1, tokens: shape), consumed: rates(0.7))
    }
}

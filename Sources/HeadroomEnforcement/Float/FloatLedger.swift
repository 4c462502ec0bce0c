import HeadroomModel

/// The float of one pool: budget that no gateway has work for now, and who may have some of it. (Not the snapshot
/// ledger in SQLite: this one is in memory only, and starts empty with each term.)
///
/// It is fed by a part Φ of capacity and by what gateways return, and emptied by grants. Conservation:
/// - what flows in was some gateway's budget before, or Φ · capacity that no gateway was given: local budgets and float
///   grow by at most the capacity together;
/// - float, grants that are not yet known to be used, and all that gateways may hold locally are at most the pool's
///   burst: what one of them cannot hold is lost;
/// - a grant is taken from the float when it is made. What the gateway's next totals do not show as used flows back;
///   nothing else does.
///
/// A gateway's first request in a term only sets what later ones are measured against: after a start the float is empty
/// until gateways have reported, and nothing of the term before counts twice.
public struct FloatLedger: Sendable {
    public let pool: PoolID
    public let epoch: Int64
    /// May be in debt by one call, as every bucket here. Only limited resources mean something.
    public private(set) var level = Work.zero
    public private(set) var counts = Counts()

    /// Since the start.
    public struct Counts: Equatable, Sendable {
        public var draws = 0
        public var repeated = 0
        public var refused = 0
        public var granted = 0
        public var returned = Work.zero
        public var grantedWork = Work.zero
        public var unused = Work.zero
    }

    private(set) var capacity = Rates.none
    private var inflow = Rates.none
    private var burstSeconds = 0.0
    /// The part of the float that is reserved for interactive work and floors.
    private(set) var reserve = Work.zero
    /// By gateway, as published last.
    private var budgets: [(gateway: GatewayID, budget: Rates)] = []
    /// Most that the float and open grants may hold.
    private var most = Work.zero
    /// Σ over boots of what was granted and is not yet known to be used.
    private var open = Work.zero
    /// When an answer last left a call waiting.
    private var leftWaitingAt: Timestamp?
    private var filledAt: Timestamp
    private var sweptAt: Timestamp

    /// Ascending by tenant.
    var accounts: [FloatAccount] = []
    private var indices: [TenantID: Int] = [:]
    /// Of the term before, until the first publication is followed.
    var past: (time: VirtualTime, accounts: [TenantID: FloatAccount.Past])?
    /// Those with a tenant's heads, or that had some a second ago; in the order in which they began to wait.
    var backlogged: [Int] = []
    private(set) var time = VirtualTime()
    private var fadedAt: Timestamp

    private struct BootName: Hashable {
        let gateway: GatewayID
        let boot: String
    }

    private struct Boot {
        let number: Int
        var heardAt: Timestamp
        /// It may hold its budget, as the last answer allowed.
        var holds = false
        var totals: DrawRequest.Totals
        var spent: [TenantID: Work] = [:]
        /// Of the last answer.
        var open = Work.zero
        var openByTenant: [DrawRequest.TenantWork] = []
        /// Those of which it told that they wait.
        var waiting: [TenantID] = []
        var granted = Work.zero
        var answer: DrawAnswer
    }

    private var boots: [BootName: Boot] = [:]
    /// By gateway, not by boot: one that wastes grants is not excused by a restart.
    private var tallies: [GatewayID: GrantTally] = [:]
    private var lastBoot = 0
    private let maxBoots: Int

    /// A gateway that has not been heard of for this long may hold the pool's whole burst again, as one that does not
    /// draw, and is forgotten. One that draws tells of itself each second.
    private static let forgetSeconds = 3.0

    public init(pool: PoolID, epoch: Int64, maxBoots: Int = 10_000, at now: Timestamp) {
        self.pool = pool
        self.epoch = epoch
        self.maxBoots = maxBoots
        filledAt = now
        fadedAt = now
        sweptAt = now
    }

    /// About what its accounts, and what gateways drew, take.
    public var memoryBytes: Int {
        boots.values.reduce(
            accounts.capacity * MemoryLayout<FloatAccount>.stride + boots.capacity * MemoryLayout<Boot>.stride
        ) { $0 + $1.spent.capacity * (MemoryLayout<TenantID>.stride + MemoryLayout<Work>.stride) }
    }

    // MARK: What is published

    /// Another generation, or the same divided anew.
    /// - Parameter budgets: of every gateway that may use the pool, each once.
    public mutating func follow(
        _ whole: PoolAllocation, budgets: [(gateway: GatewayID, budget: Rates)], at now: Timestamp
    ) {
        fill(at: now)
        capacity = whole.budget.map { resource, rate in rate + (whole.float[resource] ?? 0) }
        inflow = whole.float
        burstSeconds = whole.burstSeconds
        self.budgets = budgets
        if accounts.isEmpty { time = past?.time ?? VirtualTime(whole.tenants.map(\.serviceClock).min() ?? 0) }
        if !isOf(whole.tenants) { makeAccounts(for: whole.tenants, at: now) }
        past = nil
        let part = partOfFloors(whole.tenants)
        for index in accounts.indices {
            accounts[index].follow(
                whole.tenants[index], promised: FloatLedger.promised(whole.tenants[index], part), at: now)
        }
        reserve = capacity.work(overSeconds: ServiceOrder.reserveSeconds(burstSeconds: burstSeconds))
        bound()
    }

    /// The present tick's least shares: they move with demand, and not only with a generation.
    public mutating func follow(leastShares whole: PoolAllocation, at now: Timestamp) {
        guard isOf(whole.tenants) else { return }
        let part = partOfFloors(whole.tenants)
        for index in accounts.indices {
            accounts[index].follow(promised: FloatLedger.promised(whole.tenants[index], part))
        }
    }

    /// What fills a tenant's account: its floor, as far as there is capacity for it, or its least share where that is more.
    private static func promised(_ entry: TenantAllocation, _ partOfFloors: SIMD4<Double>) -> Rates {
        let own = entry.leastShare
        return Rates(
            perMinute: pointwiseMax(entry.floor.perMinute * partOfFloors, own.perMinute),
            resources: own.isEmpty ? entry.floor.resources : own.resources)
    }

    /// So much of each floor there is capacity for, by resource.
    private func partOfFloors(_ entries: [TenantAllocation]) -> SIMD4<Double> {
        var sum = SIMD4<Double>.zero
        for index in entries.indices { sum += entries[index].floor.perMinute }
        return pointwiseMin(SIMD4(repeating: 1), capacity.perMinute / pointwiseMax(sum, SIMD4(repeating: 1e-9)))
    }

    /// Nearly always the same tenants have entries as before.
    private func isOf(_ entries: [TenantAllocation]) -> Bool {
        entries.count == accounts.count && entries.indices.allSatisfy { accounts[$0].tenant == entries[$0].tenant }
    }

    private mutating func makeAccounts(for entries: [TenantAllocation], at now: Timestamp) {
        let waited = backlogged.map { accounts[$0].tenant }
        let known = accounts
        accounts = entries.map { entry in
            if let index = indices[entry.tenant] { return known[index] }
            // The clocks of newcomers are the published ones; from then on they are kept here.
            return FloatAccount(entry, past?.accounts[entry.tenant], at: now)
        }
        indices = Dictionary(uniqueKeysWithValues: accounts.indices.map { (accounts[$0].tenant, $0) })
        backlogged = waited.compactMap { indices[$0] }
    }

    /// Service at gateways that do not draw, as telemetry reported it.
    public mutating func charge(_ served: Work, of tenant: TenantID, at now: Timestamp) {
        guard let index = indices[tenant] else { return }
        accounts[index].standing.charge(served, capacity: capacity, at: now)
    }

    /// Those heard of in the last seconds.
    public func drawingGateways(at now: Timestamp) -> Set<GatewayID> {
        let oldest = now.adding(seconds: -FloatLedger.forgetSeconds)
        return Set(boots.filter { $0.value.heardAt > oldest }.keys.map(\.gateway))
    }

    /// The bound follows; `boot` is on its way into the table.
    private mutating func note(_ boot: inout Boot, _ name: BootName, holds: Bool) {
        boot.holds = holds
        boots[name] = boot
        bound()
        boots[name] = nil
    }

    /// What gateways have made of their grants lately; ascending by gateway.
    public func grantUses(at now: Timestamp) -> [GrantUse] {
        tallies.map { gateway, tally in
            let sum = tally.sum(at: now)
            return GrantUse(pool: pool, gateway: gateway, granted: sum.granted, unused: sum.unused)
        }
        .filter { $0.granted > 0 }.sorted { $0.gateway < $1.gateway }
    }

    private mutating func tally(_ granted: Double, used: Double, at gateway: GatewayID, _ now: Timestamp) {
        guard granted > 0 else { return }
        tallies[gateway, default: GrantTally(at: now)].add(
            granted: granted, unused: min(granted, max(0, granted - used)), at: now)
    }

    private mutating func bound() {
        var held = SIMD4<Double>.zero
        var holds: [GatewayID: Bool] = [:]
        for (name, boot) in boots { holds[name.gateway] = boot.holds || holds[name.gateway] ?? false }
        for part in budgets {
            let seconds =
                switch holds[part.gateway] {
                case false: DrawRequest.localBurstSeconds(of: burstSeconds)
                case true: DrawRequest.heldSeconds(of: burstSeconds)
                case nil: burstSeconds
                }
            held += part.budget.work(overSeconds: seconds).amounts
        }
        most.amounts = pointwiseMax(capacity.work(overSeconds: burstSeconds).amounts - held, .zero)
        clamp()
    }

    // MARK: Draws

    public mutating func draw(_ request: DrawRequest, at now: Timestamp) throws(DrawRefusal) -> DrawAnswer {
        do throws(DrawRefusal) {
            return try answer(request, at: now)
        } catch {
            counts.refused += 1
            throw error
        }
    }

    private mutating func answer(_ request: DrawRequest, at now: Timestamp) throws(DrawRefusal) -> DrawAnswer {
        guard request.pool == pool else { throw .unknownPool }
        guard request.epoch == epoch else { throw .otherEpoch(epoch) }
        if let fault = request.fault { throw .invalid(fault) }
        let name = BootName(gateway: request.gateway, boot: request.boot)
        if let known = boots.index(forKey: name), request.sequence <= boots.values[known].answer.sequence {
            guard request.sequence == boots.values[known].answer.sequence else { throw .overtaken }
            counts.repeated += 1
            return boots.values[known].answer
        }
        counts.draws += 1
        fill(at: now)
        sweep(at: now)
        var boot = boots.removeValue(forKey: name) ?? newBoot(request, at: now)
        if boot.holds != (request.holds ?? false) { note(&boot, name, holds: !boot.holds) }
        tally(
            boot.open[.requests], used: request.totals.grantedUsed[.requests] - boot.totals.grantedUsed[.requests],
            at: request.gateway, now)
        take(request.totals, of: &boot, at: now)
        note(request.waiting, of: &boot, at: now)

        var answer = DrawAnswer(sequence: request.sequence, waitMilliseconds: FloatLedger.scarceMilliseconds)
        answer.serviceClocks = places(in: request).map {
            DrawAnswer.Clock(tenant: accounts[$0].tenant, serviceClock: accounts[$0].standing.clock)
        }
        // Nearly always what is left does not cover the call whose turn it is.
        var next = nextCall(at: now)
        if covers(next, with: level) {
            let wanted = request.waiting.reduce(0) { $0 + min($1.heads.count, DrawRequest.maxHeads) }
            let grants = grants(to: boot.number, wanted: wanted, at: now)
            for grant in grants { give(grant, to: &boot, at: now) }
            answer.granted = grants.map { DrawAnswer.Granted(tenant: accounts[$0.account].tenant, calls: $0.calls) }
            next = nextCall(at: now)
        }
        answer.grantedTotal = boot.granted
        if next == nil ? FloatLedger.admits(level, in: capacity.resources) : covers(next, with: level) {
            answer.waitMilliseconds = FloatLedger.batchMilliseconds
        }
        if next != nil { leftWaitingAt = now }
        let isAmple = leftWaitingAt.map { now.seconds(since: $0) >= FloatLedger.ampleSeconds } ?? true
        if isAmple, request.holds != nil {
            answer.isAmple = true
            answer.waitMilliseconds = FloatLedger.ampleMilliseconds
            if !boot.holds { note(&boot, name, holds: true) }
        }
        boot.answer = answer
        boots[name] = boot
        return answer
    }

    /// Draws of all gateways within so long compete with one another; what is left of the float is for those first in
    /// the one order, who may ask a little later.
    private static let batchMilliseconds: Int64 = 100
    /// While there is not enough for the call whose turn it is there is less to gain by asking. After 300 ms in place of
    /// 200, what is left unused in between passes for other consumers' use where a provider counts by a sliding minute.
    private static let scarceMilliseconds: Int64 = 200

    /// A pool is ample when no answer has left a call waiting for so long. After two seconds in place of five gateways begin to lend
    /// by their own order in the gaps of a shortage.
    private static let ampleSeconds = 5.0
    /// Nobody competes: what waits at one gateway may ask again at once.
    private static let ampleMilliseconds: Int64 = 20

    /// Its totals are what later ones are measured against.
    private mutating func newBoot(_ request: DrawRequest, at now: Timestamp) -> Boot {
        if boots.count >= maxBoots { forget(olderThan: boots.values.map(\.heardAt).min() ?? now, at: now) }
        lastBoot += 1
        var boot = Boot(
            number: lastBoot, heardAt: now, totals: request.totals,
            answer: DrawAnswer(sequence: request.sequence, waitMilliseconds: 0))
        for entry in request.totals.spent where indices[entry.tenant] != nil { boot.spent[entry.tenant] = entry.work }
        return boot
    }

    private mutating func take(_ totals: DrawRequest.Totals, of boot: inout Boot, at now: Timestamp) {
        // A gateway can return no more than the pool can have given it; a larger claim is not believed.
        let seconds = now.seconds(since: boot.heardAt) + burstSeconds
        let plausible = capacity.work(overSeconds: seconds).amounts
        let returned = pointwiseMin(
            pointwiseMax((totals.returned - boot.totals.returned).amounts, .zero), plausible)
        // Calls may cost more than was granted for them, but not more than the pool gives in a minute besides.
        let overrun = capacity.work(overSeconds: seconds + FloatLedger.overrunSeconds)
        let used = pointwiseMin(
            (totals.grantedUsed - boot.totals.grantedUsed).amounts, (boot.open + overrun).amounts)
        let unused = boot.open - Work(amounts: used)
        open -= boot.open
        level.amounts += returned
        level += unused
        counts.returned.amounts += returned
        counts.unused += unused
        clamp()
        boot.heardAt = now
        boot.totals.returned = totals.returned
        boot.totals.grantedUsed = totals.grantedUsed
        boot.open = .zero

        for entry in totals.spent {
            guard let index = indices[entry.tenant] else { continue }
            var change = entry.work - (boot.spent.updateValue(entry.work, forKey: entry.tenant) ?? .zero)
            // Granted work was charged when it was granted.
            var least = SIMD4<Double>.zero - plausible
            if let index = boot.openByTenant.firstIndex(where: { $0.tenant == entry.tenant }) {
                let granted = boot.openByTenant.remove(at: index).work
                change -= granted
                least -= granted.amounts
            }
            // Nor can a tenant have been served more than the pool had, nor be given back more than it was charged.
            change.amounts = pointwiseMax(pointwiseMin(change.amounts, plausible), least)
            if change != .zero { accounts[index].standing.charge(change, capacity: capacity, at: now) }
        }
        for entry in boot.openByTenant {
            guard let index = indices[entry.tenant] else { continue }
            accounts[index].standing.charge(.zero - entry.work, capacity: capacity, at: now)
        }
        boot.openByTenant = []
    }

    private static let overrunSeconds = 60.0

    private mutating func note(_ waiting: [DrawRequest.Queue], of boot: inout Boot, at now: Timestamp) {
        var previous: [Int: FloatAccount.GatewayQueue] = [:]
        for tenant in boot.waiting {
            guard let index = indices[tenant], let lane = accounts[index].removeLane(of: boot.number) else { continue }
            if lane.isUntimed { previous[index] = lane }
        }
        boot.waiting.removeAll(keepingCapacity: true)
        // Draws of one millisecond are settled together: nothing fades between them.
        if now != fadedAt { settleBacklog(at: now) }
        for queue in waiting {
            guard let index = indices[queue.tenant], !queue.heads.isEmpty else { continue }
            boot.waiting.append(queue.tenant)
            accounts[index].add(
                FloatAccount.GatewayQueue(
                    boot: boot.number, bounded(queue.heads), toldAt: now, after: previous.removeValue(forKey: index)))
            let isNew = accounts[index].waitedAt == nil
            if isNew { backlogged.append(index) }
            accounts[index].waitedAt = now
            guard let criticality = accounts[index].mostUrgent, isNew || criticality != accounts[index].waitingAs
            else { continue }
            accounts[index].waitingAs = criticality
            time.enter(as: criticality, weight: accounts[index].standing.weight)
            accounts[index].lift(clockTo: time.entry(as: criticality))
        }
    }

    /// No call costs more than a minute of the pool: a provider takes none that is larger, and the float would owe for
    /// as long as a gateway cares to say.
    private func bounded(_ heads: [DrawRequest.Head]) -> [DrawRequest.Head] {
        let most = capacity.work(overSeconds: 60).amounts
        let limited = capacity.resources.lanes
        guard heads.contains(where: { any(limited .& ($0.estimate.amounts .> most)) }) else { return heads }
        return heads.map { head in
            var head = head
            let estimate = head.estimate.amounts
            head.estimate = Work(amounts: estimate.replacing(with: most, where: limited .& (estimate .> most)))
            return head
        }
    }

    private mutating func removeLanes(of boot: Boot) {
        for tenant in boot.waiting {
            if let index = indices[tenant] { accounts[index].removeLane(of: boot.number) }
        }
    }

    /// A tenant that has not waited anywhere for a second is idle.
    private mutating func settleBacklog(at now: Timestamp) {
        backlogged.removeAll { index in
            let waits = accounts[index].waitedAt.map { now.seconds(since: $0) < FloatLedger.idleSeconds } ?? false
            if !waits {
                accounts[index].waitedAt = nil
                accounts[index].removeLanes()
            }
            return !waits
        }
        let fading = VirtualTime.fading(over: now.seconds(since: fadedAt))
        fadedAt = now
        var waiting = VirtualTime.Waiting()
        for index in backlogged {
            waiting.add(
                accounts[index].standing.clock, weight: accounts[index].standing.weight,
                as: accounts[index].waitingAs)
        }
        time.settle(waiting)
        for index in backlogged {
            let clock = accounts[index].standing.clock
            accounts[index].move(clockTo: time.faded(clock, as: accounts[index].waitingAs, by: fading))
        }
    }

    private static let idleSeconds = 1.0

    private mutating func give(_ grant: Grants, to boot: inout Boot, at now: Timestamp) {
        let index = grant.account
        accounts[index].removeFirst(grant.calls, of: boot.number)
        accounts[index].standing.charge(grant.work, capacity: capacity, at: now)
        level -= grant.work
        open += grant.work
        boot.open += grant.work
        boot.granted += grant.work
        boot.openByTenant.append(DrawRequest.TenantWork(tenant: accounts[index].tenant, work: grant.work))
        counts.granted += grant.calls
        counts.grantedWork += grant.work
    }

    /// Of the tenants that it names, ascending, each once.
    private func places(in request: DrawRequest) -> [Int] {
        var places: [Int] = []
        places.reserveCapacity(request.waiting.count + request.totals.spent.count)
        for queue in request.waiting { if let place = indices[queue.tenant] { places.append(place) } }
        for entry in request.totals.spent { if let place = indices[entry.tenant] { places.append(place) } }
        places.sort()
        var last = -1
        places.removeAll { place in
            defer { last = place }
            return place == last
        }
        return places
    }

    // MARK: The level

    /// A call that is larger than the float can ever be goes when it is full.
    func covers(_ next: NextCall?, with left: Work) -> Bool {
        guard let next else { return false }
        let left = next.leavesReserve ? left - reserve : left
        guard FloatLedger.admits(left, in: capacity.resources) else { return false }
        return capacity.resources.members.allSatisfy { resource in
            let most = most[resource] - open[resource] - (next.leavesReserve ? reserve[resource] : 0)
            return left[resource] >= min(next.estimate[resource], most)
        }
    }

    /// Above 0 in every limited resource, as in ``Bucket``.
    static func admits(_ level: Work, in resources: ResourceSet) -> Bool {
        !resources.isEmpty && resources.members.allSatisfy { level[$0] > 0 }
    }

    private mutating func fill(at now: Timestamp) {
        let elapsed = now.seconds(since: filledAt)
        guard elapsed > 0 else { return }
        filledAt = now
        level += inflow.work(overSeconds: elapsed)
        clamp()
    }

    private mutating func clamp() {
        level.amounts = pointwiseMin(level.amounts, pointwiseMax(most.amounts - open.amounts, .zero))
    }

    /// Once a second: boots that fell silent are forgotten. What they were granted counts as used.
    private mutating func sweep(at now: Timestamp) {
        guard now.seconds(since: sweptAt) >= 1 else { return }
        sweptAt = now
        forget(olderThan: now.adding(seconds: -FloatLedger.forgetSeconds), at: now)
        tallies = tallies.filter { !$0.value.isOver(at: now) }
        bound()
    }

    private mutating func forget(olderThan: Timestamp, at now: Timestamp) {
        // Amounts are taken off one by one, in an order of their own: sums of them must not depend on a dictionary's.
        let silent = boots.filter { $0.value.heardAt <= olderThan }.sorted { $0.value.number < $1.value.number }
        for (name, boot) in silent {
            boots[name] = nil
            open -= boot.open
            tally(boot.open[.requests], used: 0, at: name.gateway, now)
            removeLanes(of: boot)
        }
    }
}

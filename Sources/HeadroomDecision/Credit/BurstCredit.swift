import HeadroomModel

/// One pool's burst credit: what tenants leave unused of what they are assured, saved up, and drawn by bursts in the
/// middle of a task (Model §5.6; newcomers as in Karma, OSDI'23, weighted).
///
/// Amounts are whole tokens; in a pool that limits no tokens, whole requests. What rounding leaves is carried to the
/// next tick, so that the ledger loses nothing: balance = accrued − spent − expired − aboveCap, always.
public struct BurstCredit: Sendable {
    /// One tenant at one tick. Amounts are in the unit of credit, a minute.
    public struct Claim: Sendable {
        public var tenant: TenantID
        public var weight: Double
        /// In force since the last tick, without its burst.
        public var assured: Double
        public var consumed: Double
        /// It wants more than ``assured``.
        public var isShort: Bool
        /// The amount that its tasks in progress still need; `nil` without one.
        public var needed: Double?
        /// 0 to 1.
        public var repayment: Double

        public init(
            tenant: TenantID, weight: Double = 1, assured: Rates, consumed: Rates = .none, isShort: Bool = false,
            midTask: Work? = nil, repayment: Double = 1
        ) {
            let unit = BurstCredit.unit(of: assured.resources)
            self.init(
                tenant: tenant, weight: weight, assured: (assured.perMinute * unit).sum(),
                consumed: (consumed.perMinute * unit).sum(), isShort: isShort,
                needed: midTask.map { ($0.amounts * unit).sum() }, repayment: repayment)
        }

        init(
            tenant: TenantID, weight: Double, assured: Double, consumed: Double = 0, isShort: Bool,
            needed: Double? = nil, repayment: Double = 0
        ) {
            self.tenant = tenant
            self.weight = weight
            self.assured = assured
            self.consumed = consumed
            self.isShort = isShort
            self.needed = needed
            self.repayment = repayment
        }
    }

    /// A lease on more than the assured rate: it ends with the task or the clock.
    public struct GrantedBurst: Equatable, Sendable {
        public var tenant: TenantID
        /// In the unit of credit.
        public var perMinute: Double
        public var until: Timestamp

        public init(tenant: TenantID, perMinute: Double, until: Timestamp) {
            self.tenant = tenant
            self.perMinute = perMinute
            self.until = until
        }
    }

    fileprivate struct Account: Sendable {
        var balance: CreditBalance
        /// Earned and expired, and not yet a whole token.
        var accruing = 0.0
        var expiring = 0.0
        var spending = 0.0
        var grant: GrantedBurst?
        /// No other grant before: a burst is followed by at least as long without one.
        var cooldownUntil: Timestamp?
        var lastSeen: Timestamp
        /// Since it was taken last by ``BurstCredit/takeChanges(at:)``.
        var hasChanged = false
        var hasSpent = false
    }

    /// Tenants not seen for this long lose their account, and with it their credit.
    private static let keptSeconds = 30.0 * 86_400
    /// Ten thousand tenants earn something in every tick: that is no reason to write ten thousand rows in each.
    private static let storingSeconds = 60.0

    let pool: PoolID
    /// Ascending by tenant, as claims are: the two lists are merged, and nobody is looked up.
    private var accounts: [Account]
    /// Where the account of each claim stands.
    private var places: [Int] = []
    private var settledAt: Timestamp?
    /// When all that had changed was taken.
    private var takenAt: Timestamp?
    /// When balances were restored. What was granted before is forgotten, so nobody bursts until it would have ended.
    private var restoredAt: Timestamp?

    /// - Parameter balances: as stored, for a start.
    public init(pool: PoolID, balances: [CreditBalance] = [], at now: Timestamp) {
        self.pool = pool
        accounts = balances.filter { $0.pool == pool }.sorted { $0.tenant < $1.tenant }
            .map { Account(balance: $0, lastSeen: now) }
        restoredAt = accounts.isEmpty ? nil : now
    }

    /// Counts the time since the last tick, ends what is over, and grants.
    /// - Parameters:
    ///   - claims: ascending by tenant.
    ///   - budget: what all grants together take part of.
    /// - Returns: the grants in force, ascending by tenant.
    public mutating func decide(
        _ claims: [Claim], budget: Rates, policy: CreditPolicy, at now: Timestamp
    ) -> [GrantedBurst] {
        let elapsed = max(0, settledAt.map { now.seconds(since: $0) } ?? 0)
        settledAt = now
        find(claims, at: now)
        let faded = 1 - decay(elapsed, halfLife: policy.halfLifeHours * 3600)
        for (place, claim) in zip(places, claims) {
            accounts[place].count(claim, seconds: elapsed, faded: faded, policy: policy, at: now)
        }
        let isGranting = grant(
            claims, most: BurstCredit.amount(budget) * policy.shareTotal, policy: policy, at: now)
        let grants = isGranting ? places.compactMap { accounts[$0].grant } : []
        if accounts.count > claims.count {
            accounts.removeAll { now.seconds(since: $0.lastSeen) > BurstCredit.keptSeconds }
        }
        return grants
    }

    /// The fill had less room than was granted: only what it gave is paid for.
    public mutating func lower(_ tenant: TenantID, toPerMinute most: Double) {
        guard let place = place(of: tenant), let grant = accounts[place].grant, grant.perMinute > most else { return }
        accounts[place].grant?.perMinute = max(0, most)
    }

    /// Balances to be stored, ascending by tenant: those that paid since the last call at once, all that moved once a
    /// minute. So a crash forgets nothing that was spent, and of what was earned or faded at most a minute.
    public mutating func takeChanges(at now: Timestamp) -> [CreditBalance] {
        let isDue = takenAt.map { now.seconds(since: $0) >= Self.storingSeconds } ?? true
        if isDue { takenAt = now }
        var changes: [CreditBalance] = []
        for place in accounts.indices where accounts[place].hasSpent || (isDue && accounts[place].hasChanged) {
            (accounts[place].hasChanged, accounts[place].hasSpent) = (false, false)
            changes.append(accounts[place].balance)
        }
        return changes
    }

    /// The balances of those that have any, ascending by tenant.
    public var balances: [CreditBalance] { accounts.lazy.map(\.balance).filter { $0.balance > 0 } }

    public func balance(of tenant: TenantID) -> CreditBalance? { place(of: tenant).map { accounts[$0].balance } }

    // MARK: Accounts

    /// Notes where each claim's account stands, and opens the missing ones. A new account starts from the mean of the
    /// others, per weight; the first ones from nothing.
    private mutating func find(_ claims: [Claim], at now: Timestamp) {
        guard !locate(claims) else { return }
        var (credit, weight) = (0.0, 0.0)
        for (place, claim) in zip(places, claims) where place >= 0 {
            credit += Double(accounts[place].balance.balance)
            weight += claim.weight
        }
        for (place, claim) in zip(places, claims) where place < 0 {
            let start = weight > 0 ? Int64((credit / weight * claim.weight).rounded(.down)) : 0
            accounts.append(
                Account(
                    balance: CreditBalance(tenant: claim.tenant, pool: pool, accrued: start), lastSeen: now,
                    hasChanged: start > 0))
        }
        accounts.sort { $0.balance.tenant < $1.balance.tenant }
        _ = locate(claims)
    }

    /// Returns whether everyone has an account; -1 stands for none.
    private mutating func locate(_ claims: [Claim]) -> Bool {
        if isLocated(claims) { return true }
        places.removeAll(keepingCapacity: true)
        var (place, isComplete) = (0, true)
        for index in claims.indices {
            var isHere = place < accounts.count && accounts[place].balance.tenant == claims[index].tenant
            while !isHere, place < accounts.count, accounts[place].balance.tenant < claims[index].tenant {
                place += 1
                isHere = place < accounts.count && accounts[place].balance.tenant == claims[index].tenant
            }
            places.append(isHere ? place : -1)
            if isHere { place += 1 } else { isComplete = false }
        }
        return isComplete
    }

    /// True when the claims are those of the same tenants as last time.
    private func isLocated(_ claims: [Claim]) -> Bool {
        guard places.count == claims.count else { return false }
        let (claims, accounts) = (claims.span, accounts.span)
        for index in places.indices {
            let place = places[index]
            guard accounts.indices.contains(place) else { return false }
            if accounts[place].balance.tenant != claims[index].tenant { return false }
        }
        return true
    }

    private func place(of tenant: TenantID) -> Int? {
        var (low, high) = (0, accounts.count)
        while low < high {
            let middle = (low + high) / 2
            if accounts[middle].balance.tenant < tenant { low = middle + 1 } else { high = middle }
        }
        return low < accounts.count && accounts[low].balance.tenant == tenant ? low : nil
    }

    // MARK: Grants

    /// Ends those that are over, then grants new ones while there is room: most credit for its weight first (Karma).
    /// Returns true when any is in force.
    private mutating func grant(_ claims: [Claim], most: Double, policy: CreditPolicy, at now: Timestamp) -> Bool {
        let rests = restoredAt.map { now.seconds(since: $0) < policy.grantSeconds } ?? false
        var granted = 0.0
        var candidates: [(index: Int, claimable: Double)] = []
        for index in claims.indices {
            let place = places[index]
            if let grant = accounts[place].grant {
                if now >= grant.until || claims[index].needed == nil || accounts[place].balance.balance <= 0 {
                    accounts[place].grant = nil
                    accounts[place].cooldownUntil = now.adding(seconds: policy.grantSeconds)
                } else {
                    granted += grant.perMinute
                }
            } else if !rests, let needed = claims[index].needed, claims[index].isShort,
                claims[index].repayment >= policy.leastRepayment, accounts[place].balance.balance > 0,
                accounts[place].cooldownUntil.map({ $0 <= now }) ?? true
            {
                candidates.append((index, min(needed, Double(accounts[place].balance.balance))))
            }
        }
        // Claims ascend by tenant: ties go by id.
        candidates.sort { left, right in
            let first = left.claimable / claims[left.index].weight
            let second = right.claimable / claims[right.index].weight
            return first != second ? first > second : left.index < right.index
        }
        for (index, claimable) in candidates where granted < most {
            let perMinute = min(claimable * 60 / policy.grantSeconds, most - granted)
            guard perMinute >= 1 else { continue }
            granted += perMinute
            accounts[places[index]].grant = GrantedBurst(
                tenant: claims[index].tenant, perMinute: perMinute,
                until: now.adding(seconds: policy.grantSeconds))
        }
        return granted > 0
    }

    static func amount(_ rates: Rates) -> Double { (rates.perMinute * unit(of: rates.resources)).sum() }

    /// The weights by which an amount is counted: tokens, both kinds where they are limited apart, or requests where no
    /// tokens are.
    static func unit(of resources: ResourceSet) -> SIMD4<Double> {
        if resources.contains(.tokens) { return SIMD4(0, 1, 0, 0) }
        let split = resources.contains(.inputTokens) || resources.contains(.outputTokens)
        return split ? SIMD4(0, 0, 1, 1) : SIMD4(1, 0, 0, 0)
    }
}

extension BurstCredit.Account {
    /// Books the gain, cost and decay of `seconds`. Spent first: nobody pays with what the same time earned.
    fileprivate mutating func count(
        _ claim: BurstCredit.Claim, seconds: Double, faded: Double, policy: CreditPolicy, at now: Timestamp
    ) {
        let (accrued, spent, expired) = (balance.accrued, balance.spent, balance.expired)
        lastSeen = now
        if let grant { spend(grant.perMinute * seconds / 60) }
        expire(part: faded)
        let unused = max(0, claim.assured - claim.consumed)
        accrue(unused * seconds / 60 * policy.accrualShare, cap: claim.assured / 60 * policy.capSeconds)
        if balance.spent != spent { hasSpent = true }
        if balance.accrued != accrued || balance.spent != spent || balance.expired != expired { hasChanged = true }
    }

    fileprivate mutating func spend(_ amount: Double) {
        spending += amount
        let whole = min(Int64(spending.rounded(.down)), balance.balance)
        spending = min(1, spending - Double(whole))
        balance.spent += whole
    }

    fileprivate mutating func expire(part: Double) {
        expiring += Double(balance.balance) * part
        let whole = min(Int64(expiring.rounded(.down)), balance.balance)
        expiring -= Double(whole)
        balance.expired += whole
    }

    fileprivate mutating func accrue(_ amount: Double, cap: Double) {
        accruing += amount
        let whole = Int64(accruing.rounded(.down))
        accruing -= Double(whole)
        balance.accrued += whole
        // A cap that fell takes nothing back; what comes on top of it is lost.
        balance.aboveCap += max(0, min(whole, balance.balance - Int64(cap.rounded(.down))))
    }
}

import HeadroomModel

/// One pool's burst credit: what tenants leave unused of what they are assured, saved up, and drawn by bursts in the
/// middle of a task (DESIGN §5.6; newcomers as in Karma, OSDI'23, weighted).
///
/// Amounts are whole tokens; in a pool that limits no tokens, whole requests. What rounding leaves is carried to the
/// next tick, so that the ledger loses nothing: balance = accrued − spent − expired − aboveCap, always.
package struct BurstCredit: Sendable {
    /// One tenant at one tick.
    package struct Claim: Sendable {
        package var tenant: TenantID
        package var weight: Double
        /// In force since the last tick, without its burst.
        package var assured: Rates
        package var consumed: Rates
        /// It wants more than ``assured``.
        package var isShort: Bool
        /// What its tasks in progress still need; `nil` without one.
        package var midTask: Work?
        /// 0 to 1.
        package var repayment: Double

        package init(
            tenant: TenantID, weight: Double = 1, assured: Rates, consumed: Rates = .none, isShort: Bool = false,
            midTask: Work? = nil, repayment: Double = 1
        ) {
            self.tenant = tenant
            self.weight = weight
            self.assured = assured
            self.consumed = consumed
            self.isShort = isShort
            self.midTask = midTask
            self.repayment = repayment
        }
    }

    /// A lease on more than the assured rate: it ends with the task or the clock.
    package struct Grant: Equatable, Sendable {
        package var tenant: TenantID
        /// In the unit of credit.
        package var perMinute: Double
        package var until: Timestamp

        package init(tenant: TenantID, perMinute: Double, until: Timestamp) {
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
        var grant: Grant?
        /// No other grant before: a burst is followed by at least as long without one, else it is no burst.
        var restsUntil: Timestamp?
        var lastSeen: Timestamp
    }

    /// Tenants not seen for this long lose their account, and with it their credit.
    private static let keptSeconds = 30.0 * 86_400

    let pool: PoolID
    private var accounts: [TenantID: Account]
    private var settledAt: Timestamp?
    private var changed: Set<TenantID> = []

    /// - Parameter balances: as stored, for a start.
    package init(pool: PoolID, balances: [CreditBalance] = [], at now: Timestamp) {
        self.pool = pool
        accounts = Dictionary(
            uniqueKeysWithValues: balances.filter { $0.pool == pool }
                .map { ($0.tenant, Account(balance: $0, lastSeen: now)) })
    }

    /// Counts the time since the last tick, ends what is over, and grants.
    /// - Parameters:
    ///   - claims: ascending by tenant.
    ///   - budget: what all grants together take part of.
    /// - Returns: the grants in force, ascending by tenant.
    package mutating func decide(
        _ claims: [Claim], budget: Rates, policy: CreditPolicy, at now: Timestamp
    ) -> [Grant] {
        let elapsed = max(0, settledAt.map { now.seconds(since: $0) } ?? 0)
        settledAt = now
        let newcomer = averagePerWeight(claims)
        for claim in claims {
            open(claim, startingWith: newcomer, at: now)
            account(claim, seconds: elapsed, policy: policy, at: now)
        }
        grant(claims, most: BurstCredit.amount(budget) * policy.shareTotal, policy: policy, at: now)
        forget(at: now, afterSeconds: BurstCredit.keptSeconds)
        return claims.compactMap { accounts[$0.tenant]?.grant }
    }

    /// The fill had less room than was granted: only what it gave is paid for.
    package mutating func lower(_ tenant: TenantID, toPerMinute most: Double) {
        guard let grant = accounts[tenant]?.grant, grant.perMinute > most else { return }
        accounts[tenant]?.grant?.perMinute = max(0, most)
    }

    /// Those that moved since the last call, ascending by tenant.
    package mutating func takeChanges() -> [CreditBalance] {
        defer { changed = [] }
        return changed.sorted().compactMap { accounts[$0]?.balance }
    }

    package func balance(of tenant: TenantID) -> CreditBalance? { accounts[tenant]?.balance }

    // MARK: The ledger

    /// Whoever comes later starts from what the others have by now, per weight; the first ones from nothing.
    private func averagePerWeight(_ claims: [Claim]) -> Double {
        var credit = 0.0
        var weight = 0.0
        for claim in claims {
            guard let account = accounts[claim.tenant] else { continue }
            credit += Double(account.balance.balance)
            weight += claim.weight
        }
        return weight > 0 ? credit / weight : 0
    }

    private mutating func open(_ claim: Claim, startingWith perWeight: Double, at now: Timestamp) {
        guard accounts[claim.tenant] == nil else { return }
        let start = Int64((perWeight * claim.weight).rounded(.down))
        accounts[claim.tenant] = Account(
            balance: CreditBalance(tenant: claim.tenant, pool: pool, accrued: start), lastSeen: now)
        if start > 0 { changed.insert(claim.tenant) }
    }

    /// What `seconds` earned, cost and let fade. Spent first: nobody pays with what the same time earned.
    private mutating func account(_ claim: Claim, seconds: Double, policy: CreditPolicy, at now: Timestamp) {
        guard var account = accounts[claim.tenant] else { return }
        let before = account.balance
        account.lastSeen = now
        if let grant = account.grant { account.spend(grant.perMinute * seconds / 60) }
        account.expire(part: 1 - decay(seconds, halfLife: policy.halfLifeHours * 3600))

        let assured = BurstCredit.amount(claim.assured)
        let unused = max(0, assured - BurstCredit.amount(claim.consumed))
        account.accrue(unused * seconds / 60 * policy.accrualShare, cap: assured / 60 * policy.capSeconds)
        if account.balance != before { changed.insert(claim.tenant) }
        accounts[claim.tenant] = account
    }

    private mutating func forget(at now: Timestamp, afterSeconds seconds: Double) {
        guard accounts.contains(where: { now.seconds(since: $0.value.lastSeen) > seconds }) else { return }
        accounts = accounts.filter { now.seconds(since: $0.value.lastSeen) <= seconds }
    }

    // MARK: Grants

    /// Ends those that are over, then grants new ones while there is room: most credit for its weight first (Karma).
    private mutating func grant(_ claims: [Claim], most: Double, policy: CreditPolicy, at now: Timestamp) {
        var granted = 0.0
        var candidates: [(claim: Claim, claimable: Double)] = []
        for claim in claims {
            guard var account = accounts[claim.tenant] else { continue }
            if let grant = account.grant {
                let isOver = now >= grant.until || claim.midTask == nil || account.balance.balance <= 0
                if isOver {
                    account.grant = nil
                    account.restsUntil = now.adding(seconds: policy.grantSeconds)
                    accounts[claim.tenant] = account
                } else {
                    granted += grant.perMinute
                }
            } else if let midTask = claim.midTask, claim.isShort, claim.repayment >= policy.leastRepayment,
                account.balance.balance > 0, account.restsUntil.map({ $0 <= now }) ?? true
            {
                let needed = BurstCredit.amount(midTask.rates(overSeconds: 60, of: claim.assured.resources))
                candidates.append((claim, min(needed, Double(account.balance.balance))))
            }
        }
        candidates.sort { left, right in
            let first = left.claimable / left.claim.weight
            let second = right.claimable / right.claim.weight
            return first != second ? first > second : left.claim.tenant < right.claim.tenant
        }
        for (claim, claimable) in candidates where granted < most {
            let perMinute = min(claimable * 60 / policy.grantSeconds, most - granted)
            guard perMinute >= 1 else { continue }
            granted += perMinute
            accounts[claim.tenant]?.grant = Grant(
                tenant: claim.tenant, perMinute: perMinute, until: now.adding(seconds: policy.grantSeconds))
        }
    }

    /// Tokens, both kinds where they are limited apart, or requests where no tokens are.
    static func amount(_ rates: Rates) -> Double {
        if let tokens = rates[.tokens] { return tokens }
        let split = (rates[.inputTokens] ?? 0) + (rates[.outputTokens] ?? 0)
        return split > 0 ? split : rates[.requests] ?? 0
    }
}

extension BurstCredit.Account {
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

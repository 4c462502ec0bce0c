import HeadroomModel

/// Who is starved: for longer than the policy's seconds throughput has been under a share of min(demand,
/// entitlement). Both are compared in seconds of the pool's nominal capacity, so that a tenant is not starved for
/// want of a resource that it hardly uses.
package struct StarvationWatch: Sendable {
    private struct Spell: Sendable {
        var since: Timestamp
        var lastSeen: Timestamp
    }

    /// One tenant's standing at a tick.
    package struct Verdict: Equatable, Sendable {
        /// 0 when it is not underserved.
        package var underservedSeconds: Double
        package var starvation: Starvation?

        package init(underservedSeconds: Double, starvation: Starvation?) {
            self.underservedSeconds = underservedSeconds
            self.starvation = starvation
        }
    }

    private let settings: StarvationPolicy
    private var spells: [TenantID: Spell] = [:]

    package init(settings: StarvationPolicy) {
        self.settings = settings
    }

    /// Judges one tenant at one tick. `hasLostCapacity` says that the pool grants less than its contract.
    package mutating func judge(
        _ tenant: TenantDemand, entitlement: Rates, nominal: Rates, hasLostCapacity: Bool, at now: Timestamp
    ) -> Verdict {
        let due = min(cost(tenant.total, nominal), cost(entitlement, nominal))
        let got = cost(tenant.consumed, nominal)
        guard due > 0, got < settings.share * due else {
            spells[tenant.tenant] = nil
            return Verdict(underservedSeconds: 0, starvation: nil)
        }
        let since = spells[tenant.tenant]?.since ?? now
        spells[tenant.tenant] = Spell(since: since, lastSeen: now)
        let seconds = now.seconds(since: since)
        let starvation: Starvation? = seconds > settings.seconds ? (hasLostCapacity ? .shortage : .delivery) : nil
        return Verdict(underservedSeconds: seconds, starvation: starvation)
    }

    /// Forgets tenants that were not judged at `now`.
    package mutating func forgetOthers(at now: Timestamp) {
        spells = spells.filter { $0.value.lastSeen == now }
    }

    private func cost(_ rates: Rates, _ nominal: Rates) -> Double {
        rates.work(overSeconds: 60).seconds(of: nominal)
    }
}

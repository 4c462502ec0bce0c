import HeadroomModel

// What is wrong with an upstream, or with how its pool is divided.
extension ConditionFinder {
    mutating func findPool(_ pool: PoolReport, _ seen: AlertObservation, _ found: inout FoundConditions) {
        findCapacity(pool, seen, &found)
        findBreaker(pool, seen, &found)
        findRefusals(pool, seen, &found)
        findLatency(pool, seen, &found)
        findReversals(pool, seen, &found)
    }

    /// Lost until nine tenths of what had to be lost are back.
    private func findCapacity(_ pool: PoolReport, _ seen: AlertObservation, _ found: inout FoundConditions) {
        // A person who pins a capacity knows of it.
        guard pool.capacityReason != .manual else { return }
        let worst = pool.nominal.resources.members.map { resource in
            (resource: resource, share: (pool.estimated[resource] ?? 0) / max(1, pool.nominal[resource] ?? 0))
        }.min { $0.share < $1.share }
        let least = seen.policy.capacityShare
        guard let worst, worst.share < 0.9 * least + 0.1 else { return }
        found.add(AlertKey(.capacityLost, pool: pool.pool), isFiring: worst.share < least) {
            let now = GroupedNumber.whole(pool.estimated[worst.resource] ?? 0)
            let contract = RateText.sentence(pool.nominal[worst.resource] ?? 0, worst.resource)
            return seen.member(
                worst.share < 0.5 * least ? .critical : .warning,
                "The provider grants \(pool.pool) \(now) of the \(contract) of its "
                    + "contract (\(GroupedNumber.percent(worst.share))), by \(pool.capacityReason.evidence).",
                AlertRecommendation(
                    "Ask the provider. If you know the limit better, pin it: headroom capacity pin \(pool.pool)."))
        }
    }

    private func findBreaker(_ pool: PoolReport, _ seen: AlertObservation, _ found: inout FoundConditions) {
        let key = AlertKey(.breakerOpen, pool: pool.pool)
        let failover = seen.rules.policy.pool(pool.pool)?.failover ?? []
        let way = failover.isEmpty ? "there is no pool to fail over to" : "its work goes to \(failover[0])"
        if pool.state == .open || pool.state == .halfOpen {
            found.add(key, isFiring: pool.state == .open) {
                seen.member(
                    .critical, "The provider fails for \(pool.pool): its breaker is \(pool.state.words), and \(way).")
            }
        }
        var told: Set<String> = []
        for channel in pool.upstream.channels where channel.state == .open || channel.state == .halfOpen {
            guard let model = channel.model, told.insert(model).inserted else { continue }
            found.add(key, isFiring: channel.state == .open) {
                seen.member(
                    named: model, .critical,
                    "The provider fails for \(model) in \(pool.pool): its breaker is "
                        + "\(channel.state.words), and \(way).")
            }
        }
    }

    private func findRefusals(_ pool: PoolReport, _ seen: AlertObservation, _ found: inout FoundConditions) {
        if let since = pool.upstream.billingFailureSince {
            found.add(AlertKey(.providerBilling, pool: pool.pool)) {
                seen.member(
                    since: since, .critical,
                    "The provider has refused \(pool.pool) for want of money since \(since.sentence); "
                        + "no retry helps.",
                    AlertRecommendation("Pay, or raise the limit, on the provider's billing page."))
            }
        }
        let refused = pool.upstream.whole[.auth]
        // One can be a gateway with an old key; a tenth of all calls is the key that most of them use.
        if refused > 0 {
            let share = pool.upstream.whole.share(of: .auth) ?? 0
            found.add(AlertKey(.providerKey, pool: pool.pool), isFiring: refused >= 3 && share >= 0.01) {
                seen.member(
                    share >= 0.1 ? .critical : .warning,
                    "The provider refused the key of \(refused) of \(pool.upstream.whole.attempts) calls to "
                        + "\(pool.pool) in the last minute.",
                    AlertRecommendation("Put a valid key into the gateways; see which of them report outcome auth."))
            }
        }
    }

    /// Only before refusals: once there are some, the capacity's own alert says more.
    private func findLatency(_ pool: PoolReport, _ seen: AlertObservation, _ found: inout FoundConditions) {
        guard let latency = pool.upstream.whole.latency, latency.baselineP95Milliseconds > 0,
            pool.upstream.whole[.quota] == 0
        else { return }
        let factor = latency.p95Milliseconds / latency.baselineP95Milliseconds
        let least = seen.policy.latencyFactor
        guard factor >= (1 + least) / 2 else { return }
        found.add(AlertKey(.latency, pool: pool.pool), isFiring: factor >= least) {
            seen.member(
                .warning,
                "Calls to \(pool.pool) take \(GroupedNumber.plain((factor * 10).rounded() / 10)) times as long as usual "
                    + "(p95 \(GroupedNumber.whole(latency.p95Milliseconds)) ms, usually "
                    + "\(GroupedNumber.whole(latency.baselineP95Milliseconds)) ms), and nothing is refused yet.")
        }
    }

    private mutating func findReversals(
        _ pool: PoolReport, _ seen: AlertObservation, _ found: inout FoundConditions
    ) {
        var samples = reversals[pool.pool] ?? []
        // A restart counts from 0 again.
        if let last = samples.last, pool.reversals < last.count { samples = [] }
        samples.append((seen.at, pool.reversals))
        samples.removeAll { seen.at.seconds(since: $0.at) > Self.reversalSeconds }
        reversals[pool.pool] = samples
        guard let first = samples.first, !pool.tenants.isEmpty else { return }
        let seconds = seen.at.seconds(since: first.at)
        // Shorter spans would take a coincidence for a habit.
        guard seconds >= Self.reversalSeconds / 2 else { return }
        let rate = Double(pool.reversals - first.count) / Double(pool.tenants.count) * 3600 / seconds
        guard rate >= 0.7 * seen.policy.reversalsPerHour else { return }
        found.add(AlertKey(.limitsReversing, pool: pool.pool), isFiring: rate >= seen.policy.reversalsPerHour) {
            seen.member(
                .warning,
                "Limits in \(pool.pool) turn back and forth: \(GroupedNumber.whole(rate)) times an hour for each tenant "
                    + "over the last \(GroupedNumber.duration(seconds: seconds)).",
                AlertRecommendation(
                    "Freeze the pool while you look (headroom freeze \(pool.pool)), or raise "
                        + "dampening.observation_seconds."))
        }
    }

    /// Gateways that poll and no report of a pool that had some: an exporter that died looks like a quiet night.
    mutating func findTraffic(_ report: LoopReport, _ seen: AlertObservation, _ found: inout FoundConditions) {
        let vanished = seen.rules.policy.loop.vanishedSeconds
        let polling = seen.gateways.filter { gateway in
            !gateway.presence.hasLeft && seen.at.seconds(since: gateway.presence.lastSeen) < vanished
        }
        for pool in report.pools {
            let calls = pool.calls.values.reduce(0, +)
            let known = traffic[pool.pool]
            // Work that waits is a report too.
            if known == nil || known?.calls != calls || pool.queue.depth > 0 || polling.isEmpty {
                traffic[pool.pool] = (seen.at, calls)
                continue
            }
            guard let known, calls > 0 else { continue }
            let seconds = seen.at.seconds(since: known.at)
            guard seconds >= seen.policy.silentSeconds else { continue }
            found.add(AlertKey(.telemetrySilent, pool: pool.pool)) {
                let who = polling.count == 1 ? "1 gateway polls" : "\(polling.count) gateways poll"
                return seen.member(
                    since: known.at, .warning,
                    "Nothing has been reported of \(pool.pool) since \(known.at.sentence), while "
                        + "\(who): there is no traffic, or telemetry does not arrive.")
            }
        }
    }
}

extension CapacityReason {
    /// Behind `by`.
    fileprivate var evidence: String {
        switch self {
        case .contract: "its contract"
        case .headers: "the limits in its answers"
        case .throttled: "what it refuses"
        case .probing: "what it has granted so far on the way back"
        case .latency: "how slowly it answers"
        case .overload: "its overload answers"
        case .manual: "an SRE's word"
        }
    }
}

extension PoolState {
    fileprivate var words: String { self == .halfOpen ? "half open" : name }
}

import HeadroomModel

extension DemandEstimator {
    /// The demand at `now`, of tenants that were heard of within the policy's idle time.
    /// - Parameter entitlements: of the last decision, ascending by tenant: claims are compared with them.
    public mutating func estimate(at now: Timestamp, entitlements: [Entitlement] = []) -> PoolDemand {
        if order.isEmpty {
            order = places.values.sorted { profiles[Int($0)].tenant < profiles[Int($1)].tenant }
        }
        endSilentTasks(at: now)
        let waves = storm.waves(through: now.second)
        storm.review(waves, tenants: waves.map { retrying(in: $0, at: now) } ?? [], at: now)
        var result = PoolDemand(
            pool: pool.pool, untracked: untracked, retryStorm: storm.storm, retry: storm.retry)
        result.tenants.reserveCapacity(order.count)
        let terms = TenantProfile.EstimateTerms(
            now: now, windowSeconds: observedSeconds(at: now), pool: pool, settings: settings, gaming: gaming,
            gateways: gateways, storm: storm)
        var sums = TenantProfile.Sums(gateways: gateways.count)
        var entitled = TenantWalk(entitlements)
        estimated.removeAll(keepingCapacity: true)
        for place in order {
            profiles[Int(place)].estimate(terms, entitlements, &entitled, into: &result.tenants, &sums)
            if result.tenants.count > estimated.count { estimated.append(place) }
        }
        requests.release(at: now.second)
        denials.release(at: now)
        controls.release(at: now)
        pieces.release(at: now)
        result.consumed = sums.consumed.rates(overSeconds: Double(terms.windowSeconds), of: pool.nominal.resources)
        result.gateways = gatewayLoads(backlog: sums.backlog, at: now)
        result.hourlyGateways = hourlyTraffic(at: now)
        return result
    }

    /// A tick's addition to the roll-ups: rates × the time since the last one, for tenants that want something.
    /// - Parameters:
    ///   - demand: The last estimate.
    ///   - allocations: Of the decision in force, ascending by tenant.
    public mutating func accumulate(
        _ demand: PoolDemand, allocations: [TenantAllocation],
        starvation: [TenantID: StarvationWatch.Finding], seconds: Double, at now: Timestamp
    ) {
        guard seconds > 0 else { return }
        var assured = TenantWalk(allocations)
        for index in demand.tenants.indices {
            // Most tenants of a large table are idle, and each is a large struct to take out.
            let wanted = demand.tenants[index].wanted.perMinute
            let interactive = demand.tenants[index].demand.interactive.perMinute
            let nearRealTime = demand.tenants[index].demand.nearRealTime.perMinute
            let batch = demand.tenants[index].demand.batch.perMinute
            guard wanted != .zero || interactive != .zero || nearRealTime != .zero || batch != .zero else { continue }
            let tenant = demand.tenants[index].tenant
            let row = assured.place(of: tenant)
            let finding = starvation.isEmpty ? nil : starvation[tenant]
            var isFirst = true
            for criticality in Criticality.allCases {
                let wanted = demand.tenants[index].demand[criticality].perMinute
                guard wanted != .zero else { continue }
                let given = row.map { allocations[$0].criticality[criticality].work(overSeconds: seconds) } ?? .zero
                let most = isFirst ? row.map { allocations[$0].ceiling.work(overSeconds: seconds) } ?? .zero : .zero
                rollups.add(to: now.minute, tenant: estimated[index], criticality) { sums in
                    sums.assuredTokens += given.tokensInAll
                    sums.assuredRequests += given[.requests]
                    // The ceiling is the tenant's, and so is the time: each is counted once, with its most urgent work.
                    sums.ceilingTokens += most.tokensInAll
                    sums.ceilingRequests += most[.requests]
                    if isFirst {
                        sums.activeSeconds += seconds
                        if finding != nil { sums.missedSeconds += seconds }
                    }
                    // As is its starvation.
                    if isFirst, let finding, !finding.isFirst { sums.starve(for: seconds, by: finding.starvation) }
                }
                if isFirst, let finding, finding.isFirst {
                    starve(estimated[index], criticality, finding, until: now)
                }
                isFirst = false
            }
        }
    }

    /// A spell that has just become starvation, in the minutes that it has lasted.
    private mutating func starve(
        _ tenant: Int32, _ criticality: Criticality, _ finding: StarvationWatch.Finding, until now: Timestamp
    ) {
        var start = now.adding(seconds: -finding.underservedSeconds)
        while start < now {
            let end = min(now, Timestamp(milliseconds: (start.minute + 1) * 60_000))
            rollups.add(to: start.minute, tenant: tenant, criticality) { sums in
                sums.starve(for: end.seconds(since: start), by: finding.starvation)
            }
            start = end
        }
    }

    /// Since they were last stored; ascending by start, tenant, criticality.
    public func unstoredRollups() -> [Rollup] {
        rollups.rollups(of: pool.pool) { profiles[Int($0)].tenant }
    }

    /// What of their use names a model or a kind of task.
    public func unstoredUses() -> [ModelUse] {
        uses.uses(of: pool.pool) { profiles[Int($0)].tenant }
    }

    /// They are stored, roll-ups and uses.
    public mutating func forgetRollups() {
        rollups.removeAll()
        uses.removeAll()
    }

    /// While the estimator is younger than the window, it divides by its age; otherwise all tenants would look small.
    private func observedSeconds(at now: Timestamp) -> Int {
        max(2, min(Int(settings.demand.windowSeconds), Int(now.seconds(since: begun).rounded(.up))))
    }

    private mutating func endSilentTasks(at now: Timestamp) {
        for silenced in tasks.sweep(at: now) {
            let index = Int(silenced.place)
            tasks.end(silenced, in: &profiles[index].tasks)
            // A task that waits for want of room has a reason to be silent.
            if silenced.hasClaimed, profiles[index].watch.isGranted {
                profiles[index].watch.note(TaskBook.ClaimOutcome(broken: 1))
            }
        }
    }

    /// Tenants that tried again lately and with the waves, most often first.
    private func retrying(in waves: RetryStormWatch.Waves, at now: Timestamp) -> [TenantID] {
        order.filter { waves.hold(profiles[Int($0)].retrySeconds) }
            .map { (profiles[Int($0)].tenant, profiles[Int($0)].retried.value(at: now, halfLife: Self.retryHalfLife)) }
            .filter { $0.1 >= 2 }
            .sorted { ($1.1, $0.0) < ($0.1, $1.0) }
            .map(\.0)
    }

    /// Arrivals and a fifth of the backlog, both in seconds of the pool (ControlLaw, rule 4).
    private func gatewayLoads(backlog: [SIMD4<Double>], at now: Timestamp) -> [GatewayLoad] {
        gateways.indices.compactMap { index -> GatewayLoad? in
            guard now.seconds(since: gatewayArrivals[index].lately.at) < 600 || backlog[index].max() > 0 else {
                return nil
            }
            let arrived = gatewayArrivals[index].lately.value(at: now, halfLife: Self.poolHalfLife)
            return GatewayLoad(
                gateway: gateways[index], seconds: SIMD4<Double>(arrived) + backlog[index] * Self.backlogShare)
        }
        .sorted { $0.gateway < $1.gateway }
    }

    private mutating func hourlyTraffic(at now: Timestamp) -> [GatewayTraffic] {
        if now.minute != hourlyMeansMinute || gateways.count != hourlyMeans.count {
            hourlyMeans = GatewayArrivals.hourlyMeans(of: gatewayArrivals, at: now)
            hourlyMeansMinute = now.minute
        }
        return zip(gateways, hourlyMeans).map { GatewayTraffic(gateway: $0, weight: $1) }
            .sorted { $0.gateway < $1.gateway }
    }
}

extension Work {
    /// Of rates: a pool that limits input and output apart has no rate of tokens.
    fileprivate var tokensInAll: Double {
        self[.tokens] > 0 ? self[.tokens] : self[.inputTokens] + self[.outputTokens]
    }
}

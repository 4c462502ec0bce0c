import HeadroomModel

/// A profile's estimate at one moment.
extension TenantProfile {
    /// The terms that the estimates of all tenants of a pool have in common.
    struct EstimateTerms {
        var now: Timestamp
        var windowSeconds: Int
        var pool: PoolPolicy
        var settings: DemandEstimator.Settings
        var gaming: GamingWatch.Settings
        var gateways: [GatewayID]
        var storm: RetryStormWatch
        /// No rate of any of the pool's resources.
        let nothing: PerCriticality<Rates>

        init(
            now: Timestamp, windowSeconds: Int, pool: PoolPolicy, settings: DemandEstimator.Settings,
            gaming: GamingWatch.Settings, gateways: [GatewayID], storm: RetryStormWatch
        ) {
            self.now = now
            self.windowSeconds = windowSeconds
            self.pool = pool
            self.settings = settings
            self.gaming = gaming
            self.gateways = gateways
            self.storm = storm
            nothing = PerCriticality(repeating: Work.zero.rates(overSeconds: 60, of: pool.nominal.resources))
        }
    }

    /// Over all tenants of a pool.
    struct Sums {
        var consumed = Work.zero
        /// The waiting work at each gateway, in seconds of the pool, by resource.
        var backlog: [SIMD4<Double>]

        init(gateways: Int) {
            backlog = [SIMD4<Double>](repeating: .zero, count: gateways)
        }
    }

    /// True while the tenant has work, or had some not long ago.
    func isActive(at now: Timestamp) -> Bool {
        !queues.isEmpty || flows.contains { $0.wanted != nil || $0.served != nil || $0.demand != .zero }
            || !watch.flags.isEmpty || now.minute <= newestMinute
    }

    /// Adds what there is of it to what there is of others; nothing if it was silent for the policy's idle time.
    /// - Parameter entitlements: What the last decision entitles tenants to, and the walk through them.
    mutating func estimate(
        _ terms: EstimateTerms, _ entitlements: [Entitlement],
        _ walk: inout TenantWalk<Entitlement>,
        into tenants: inout [TenantDemand], _ sums: inout Sums
    ) {
        guard terms.now.seconds(since: lastSeen) <= terms.settings.demand.idleSeconds else {
            return release(at: terms.now)
        }
        guard isActive(at: terms.now) else {
            release(at: terms.now)
            tenants.append(TenantDemand(tenant: tenant, demand: terms.nothing, consumed: terms.nothing.interactive))
            describeIdle(&tenants[tenants.count - 1], terms)
            return
        }
        let entitlement = walk.place(of: tenant).map { entitlements[$0].rates }
        // Filled in its place: it is large.
        tenants.append(TenantDemand(tenant: tenant, demand: terms.nothing))
        describeActive(&tenants[tenants.count - 1], terms, entitlement: entitlement, &sums)
    }

    /// A tick.
    private static let leastFastMinutes = 1 / 30.0

    private mutating func describeActive(
        _ result: inout TenantDemand, _ terms: EstimateTerms, entitlement: Rates?, _ sums: inout Sums
    ) {
        let now = terms.now
        advance(to: now.minute)
        let waiting = waiting(terms, in: &result, backlog: &sums.backlog)
        let resources = terms.pool.nominal.resources
        let faded = decay(now.seconds(since: demandAt), halfLife: terms.settings.demand.halfLifeSeconds)
        demandAt = max(demandAt, now)
        // A queue may be all that there is of a flow.
        for criticality in Criticality.allCases where waiting[criticality] != .zero { _ = flow(criticality) }
        var consumed = Work.zero
        var wanted = Work.zero
        var arrivals = Work.zero
        for index in flows.indices {
            let criticality = flows[index].criticality
            let served = flows[index].served?.sum(ofSeconds: terms.windowSeconds, endingAt: now.second) ?? .zero
            let arrived = flows[index].wanted?.sum(ofSeconds: terms.windowSeconds, endingAt: now.second) ?? .zero
            let present =
                arrived * (60 / Double(terms.windowSeconds))
                + waiting[criticality] * (60 / terms.settings.demand.backlogSeconds)
            // Below a request an hour it is noise: an idle tenant's demand reaches 0.
            let held = flows[index].demand * faded
            flows[index].demand = Work(
                amounts: pointwiseMax(
                    (present * terms.settings.demand.margin).amounts,
                    held[.requests] > 1.0 / 60 ? held.amounts : .zero))
            result.demand[criticality] = flows[index].demand.rates(overSeconds: 60, of: resources)
            result.retries[criticality] = Int(flows[index].retries)
            result.tokens[criticality] = flows[index].tokens
            consumed += served
            wanted += present
            let came = fastSum(flows[index])
            arrivals += work(requests: came.x, tokens: came.y) + waiting[criticality]
        }
        result.wanted = wanted.rates(overSeconds: 60, of: resources)
        result.waiting = waiting.interactive + waiting.nearRealTime + waiting.batch
        result.asked = lately.work(at: now, windowSeconds: terms.settings.askedSeconds)
            .rates(overSeconds: Double(terms.windowSeconds), of: resources)
        // Of one that is new, over as long as it is known.
        let minutes = max(fastMinutes(at: now), Self.leastFastMinutes)
        result.arrivals = (arrivals * (1 / minutes)).rates(overSeconds: 60, of: resources)
        result.consumed = consumed.rates(overSeconds: Double(terms.windowSeconds), of: resources)
        result.served = servedLately
        servedLately = .zero
        result.gateways = traffic(terms)
        judge(wanted: result.wanted, entitlement: entitlement, terms)
        // Lines are a few seconds late.
        repayment.advance(to: now.second - 10)
        describe(&result, terms)
        releaseSilentRings(terms)
        sums.consumed += consumed
    }

    /// Where its work arrives, and where it waits: a queue at one gateway draws the assured rate there that idles at another.
    /// The backlog has the same weight beside the arrivals of a minute as budgets give it beside those of ten seconds.
    private func traffic(_ terms: EstimateTerms) -> [GatewayTraffic] {
        var traffic = arrivals.map { arrival in
            GatewayTraffic(
                gateway: terms.gateways[Int(arrival.gateway)],
                weight: Double(arrival.amount.value(at: terms.now, halfLife: DemandEstimator.tenantHalfLife)))
        }
        guard !queues.isEmpty else { return traffic }
        let share = DemandEstimator.backlogShare * DemandEstimator.tenantHalfLife / DemandEstimator.poolHalfLife
        let factor = Double(correction.factor(served: Float(shape.mean[.tokens])))
        for queue in queues {
            let gateway = terms.gateways[Int(queue.gateway)]
            let weight = share * work(in: queue, factor: factor).seconds(of: terms.pool.nominal)
            let place = traffic.firstIndex { $0.gateway >= gateway } ?? traffic.count
            if place < traffic.count, traffic[place].gateway == gateway {
                traffic[place].weight += weight
            } else {
                traffic.insert(GatewayTraffic(gateway: gateway, weight: weight), at: place)
            }
        }
        return traffic
    }

    private func work(in queue: Queue, factor: Double) -> Work {
        var work = split(tokens: Double(queue.tokens) * factor)
        work[.requests] = Double(queue.depth)
        return work
    }

    /// No work, no arithmetic: what is kept of it.
    private func describeIdle(_ result: inout TenantDemand, _ terms: EstimateTerms) {
        for flow in flows {
            result.retries[flow.criticality] = Int(flow.retries)
            result.tokens[flow.criticality] = flow.tokens
        }
        describe(&result, terms)
    }

    /// The waiting work, at the cost that such work turned out to have.
    private mutating func waiting(
        _ terms: EstimateTerms, in result: inout TenantDemand, backlog: inout [SIMD4<Double>]
    ) -> PerCriticality<Work> {
        var waiting = PerCriticality<Work>(repeating: .zero)
        guard !queues.isEmpty else { return waiting }
        queues.removeAll { terms.now.seconds(since: $0.at) > DemandEstimator.queueSeconds }
        let factor = Double(correction.factor(served: Float(shape.mean[.tokens])))
        for queue in queues {
            let work = work(in: queue, factor: factor)
            waiting[queue.criticality] += work
            backlog[Int(queue.gateway)] += work.secondsByResource(of: terms.pool.nominal)
            result.queue[queue.criticality].depth += queue.depth
            result.queue[queue.criticality].oldestSeconds = max(
                result.queue[queue.criticality].oldestSeconds, Double(queue.oldestSeconds))
        }
        return waiting
    }

    private mutating func judge(wanted: Rates, entitlement: Rates?, _ terms: EstimateTerms) {
        watch.isGranted =
            entitlement.map { entitlement in
                wanted.resources.members.allSatisfy { (entitlement[$0] ?? .infinity) >= wanted.perMinute[$0.rawValue] }
            } ?? false
        var mix = GamingWatch.Mix(interactive: 0, rest: 0)
        var usual = GamingWatch.Mix(interactive: 0, rest: 0)
        var hasPast = false
        for flow in flows {
            let lately = fast(flow, at: terms.now).x
            let before = slow(flow)?.x ?? 0
            hasPast = hasPast || before > 0
            if flow.criticality == .interactive {
                mix.interactive += lately
                usual.interactive += before
            } else {
                mix.rest += lately
                usual.rest += before
            }
        }
        // A tenant that has only ever done one kind of work has not renamed any.
        let mayHaveRenamed = hasPast && usual.rest > 0 && mix.interactive > 0
        watch.review(mix: mix, usualMix: mayHaveRenamed ? usual : nil, terms.gaming, at: terms.now)
    }

    private func describe(_ result: inout TenantDemand, _ terms: EstimateTerms) {
        let now = terms.now
        result.shape = shape.isKnown ? shape.mean : nil
        let evidence = Double(evidence.value(at: now, halfLife: DemandEstimator.evidenceHalfLife))
        let half = terms.settings.trust.halfConfidenceCalls
        // Without a least number of calls a tenant is known before its first.
        result.confidence = half > 0 ? evidence / (evidence + half) : 1
        result.repayment = repayment.score
        if tasks.remainingRequests > 0 || tasks.remainingTokens > 0 { result.midTask = stillNeeded }
        result.flags = watch.flags.map(\.kind.rawValue)
        result.isDiscounted = !watch.flags.isEmpty
        result.retryOffsetMilliseconds = terms.storm.offset(of: tenant)
        result.profile = report(result, terms)
    }

    private var stillNeeded: Work {
        let mean = shape.mean
        // Those that name one of the two mean the other by the tenant's shape.
        let requests = Double(tasks.remainingRequests)
        let tokens = Double(tasks.remainingTokens)
        let perRequest = mean[.tokens]
        var work = split(tokens: tokens > 0 ? tokens : requests * perRequest)
        work[.requests] = requests > 0 ? requests : (perRequest > 0 ? tokens / perRequest : 1)
        return work * tasks.trust
    }

    private func report(_ result: TenantDemand, _ terms: EstimateTerms) -> TenantProfileReport {
        let now = terms.now
        let resources = terms.pool.nominal.resources
        let isIdle = now.seconds(since: lastSeen) > terms.settings.demand.idleSeconds || !shape.isKnown
        var perMinute = 0.0
        let flows = flows.map { flow in
            let fast = fast(flow, at: now)
            let slow = slow(flow)
            let usual = usual(flow, at: now)
            perMinute += Double(max(fast.x, slow?.x ?? 0))
            return TenantProfileReport.Flow(
                criticality: flow.criticality, demand: result.demand[flow.criticality],
                burnFast: work(requests: fast.z, tokens: fast.w).rates(overSeconds: 60, of: resources),
                burnSlow: work(requests: slow?.z ?? 0, tokens: slow?.w ?? 0).rates(overSeconds: 60, of: resources),
                usualDemand: work(requests: usual.x, tokens: usual.y).rates(overSeconds: 60, of: resources),
                trend: trend(from: slow, to: fast), shape: flow.shape.isKnown ? flow.shape.mean : nil)
        }
        return TenantProfileReport(
            flows: flows,
            shapeClass: isIdle ? .idle : ShapeClass(shape: result.shape, requestsPerMinute: perMinute),
            confidence: result.confidence, burstiness: burstiness.report(weight: closedWeight, at: now.minute),
            tasks: tasks.cost, tokenCorrection: correction.reported(served: Float(shape.mean[.tokens])),
            repayment: result.repayment, flags: watch.flags)
    }

    private func work(requests: Float, tokens: Float) -> Work {
        var work = split(tokens: Double(tokens))
        work[.requests] = Double(requests)
        return work
    }

    private func trend(from slow: MinuteSeries.Amounts?, to fast: MinuteSeries.Amounts) -> Double {
        guard let slow else { return 0 }
        let before = max(slow.w, slow.z)
        guard before > 0 else { return 0 }
        return Double(min(100, max(fast.w, fast.z) / before - 1))
    }

    /// Rings in which nothing is left to sum make room.
    private mutating func releaseSilentRings(_ terms: EstimateTerms) {
        for index in flows.indices {
            let oldest = terms.now.second - Int64(terms.windowSeconds) - 1
            if let ring = flows[index].wanted, ring.newest < oldest { flows[index].wanted = nil }
            if let ring = flows[index].served, ring.newest < oldest { flows[index].served = nil }
        }
    }
}

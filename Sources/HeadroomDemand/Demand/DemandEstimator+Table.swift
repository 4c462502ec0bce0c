import HeadroomModel

/// The tables of tenants and gateways. Both are bounded: when one is full, the entry that was silent for longest is
/// removed.
extension DemandEstimator {
    /// The place of a tenant's profile, made if there is room for it. A tenant without one shares `unlisted`, and its line
    /// is counted.
    mutating func place(
        of tenant: TenantID, from gateway: GatewayID, at instant: Timestamp, readAt now: Timestamp
    ) -> Int32? {
        if let known = places[tenant] { return known }
        let number = number(of: gateway, at: instant) ?? UInt16(Self.maxGateways)
        let isContracted = contracts[tenant] != nil
        if let bound = bound(on: number, isContracted: isContracted) {
            evictIdle(broughtBy: bound == .gateway ? number : nil, at: now)
        }
        if let bound = bound(on: number, isContracted: isContracted) {
            untracked.lines += 1
            untracked.last = (bound, gateway, now)
            return nil
        }
        var profile = TenantProfile(tenant, at: instant)
        if !isContracted {
            if roomLeft < .max { roomLeft -= 1 }
            profile.broughtBy = number
            broughtCounts[Int(number)] += 1
        }
        let place: Int32
        if let free = vacant.popLast() {
            profiles[Int(free)] = profile
            place = free
        } else {
            // Grow by an eighth, not by doubling: profiles take half a kilobyte each, too much to reserve in advance.
            if profiles.count == profiles.capacity {
                profiles.reserveCapacity(profiles.count + max(16, profiles.count / 8))
            }
            profiles.append(profile)
            place = Int32(profiles.count - 1)
        }
        places[tenant] = place
        order = []
        return place
    }

    /// The bound that keeps another tenant out; `nil` where there is room. Gateways beyond ``maxGateways`` share one count.
    private func bound(on gateway: UInt16, isContracted: Bool) -> UntrackedTenants.Bound? {
        if places.count >= settings.maxTenants { return .pool }
        if isContracted { return nil }
        if roomLeft <= 0 { return .total }
        return Int(broughtCounts[Int(gateway)]) >= settings.maxNewTenantsPerGateway ? .gateway : nil
    }

    /// The tenant no longer counts against the gateway that brought it.
    private mutating func release(_ place: Int32) {
        let number = profiles[Int(place)].broughtBy
        if number != TenantProfile.nobody { broughtCounts[Int(number)] -= 1 }
        profiles[Int(place)].broughtBy = TenantProfile.nobody
    }

    /// Removes up to a tenth of the table: the tenants that have been idle for longest, if that is longer than
    /// ``DemandPolicy/idleSeconds``.
    /// - Parameter gateway: only tenants that it brought leave; `nil` for all.
    private mutating func evictIdle(broughtBy gateway: UInt16?, at now: Timestamp) {
        // A table full of busy tenants is not searched for each line.
        if let evictedAt, now.seconds(since: evictedAt) < 10 { return }
        evictedAt = now
        let idle = places.values
            .filter { gateway == nil || profiles[Int($0)].broughtBy == gateway }
            .filter { now.seconds(since: profiles[Int($0)].lastSeen) > settings.demand.idleSeconds }
            .map { (place: $0, lastSeen: profiles[Int($0)].lastSeen, tenant: profiles[Int($0)].tenant) }
            .sorted { ($0.lastSeen, $0.tenant) < ($1.lastSeen, $1.tenant) }
            .map(\.place)
            .prefix(max(1, settings.maxTenants / 10))
        let leaving = Set(idle)
        let names = profiles.map(\.tenant)
        rollups.settle(leaving, of: pool.pool) { names[Int($0)] }
        uses.settle(leaving, of: pool.pool) { names[Int($0)] }
        tasks.remove(leaving)
        for place in idle {
            release(place)
            if roomLeft < .max { roomLeft += 1 }
            places[profiles[Int(place)].tenant] = nil
            // The smallest profile there is.
            profiles[Int(place)] = TenantProfile(profiles[Int(place)].tenant, at: now)
        }
        vacant += idle.reversed()
        order = []
    }

    /// Forgets the tenants with one of these names, and all that is not stored of them yet. A tenant that comes under such
    /// a name from now on is a newcomer.
    /// - Returns: the tenants that were known.
    public mutating func erase(_ fingerprints: Set<UInt64>, at now: Timestamp) -> [TenantID] {
        let erased = places.values.filter { fingerprints.contains(profiles[Int($0)].fingerprint) }.sorted()
        let names = erased.map { profiles[Int($0)].tenant }
        for (place, name) in zip(erased, names) {
            release(place)
            places[name] = nil
            rollups.erase(place, name)
            uses.erase(place, name)
            profiles[Int(place)] = TenantProfile(TenantID(unchecked: ""), at: now)
        }
        tasks.remove(Set(erased))
        vacant += erased
        if !erased.isEmpty { order = [] }
        return names
    }

    /// A gateway's number; `nil` when there are too many.
    mutating func number(of gateway: GatewayID, at now: Timestamp) -> UInt16? {
        if let known = gatewayNumbers[gateway] { return known }
        var number = UInt16(gateways.count)
        if gateways.count < Self.maxGateways {
            gateways.append(gateway)
            gatewayArrivals.append(GatewayArrivals(at: now))
        } else {
            // Gateways come and go: one without arrivals for ten minutes is replaced.
            let silent = gatewayArrivals.firstIndex { now.seconds(since: $0.lately.at) > 600 }
            guard let silent else { return nil }
            number = UInt16(silent)
            for index in profiles.indices { profiles[index].forget(gateway: number) }
            broughtCounts[silent] = 0
            gatewayNumbers[gateways[silent]] = nil
            gateways[silent] = gateway
            gatewayArrivals[silent] = GatewayArrivals(at: now)
            hourlyMeansMinute = .min
        }
        gatewayNumbers[gateway] = number
        return number
    }

    mutating func noteArrivals(_ work: Work, of index: Int, from gateway: GatewayID, at now: Timestamp) {
        let seconds = SIMD4<Float>(work.secondsByResource(of: pool.nominal))
        guard seconds.max() > 0, let number = number(of: gateway, at: now) else { return }
        gatewayArrivals[Int(number)].add(seconds, at: now, latelyHalfLife: Self.poolHalfLife)
        profiles[index].noteArrivals(seconds.max(), from: number, names: gateways, at: now)
    }
}

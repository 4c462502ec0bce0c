import HeadroomModel

/// The tables of tenants and gateways: bounded, and the longest silent make room.
extension DemandEstimator {
    /// Of a tenant's profile, made if there is room for it.
    mutating func place(of tenant: TenantID, at instant: Timestamp) -> Int32? {
        if let known = places[tenant] { return known }
        if vacant.isEmpty, profiles.count >= settings.maxTenants { evictIdle(at: instant) }
        let place: Int32
        if let free = vacant.popLast() {
            profiles[Int(free)] = TenantProfile(tenant, at: instant)
            place = free
        } else if profiles.count < settings.maxTenants {
            // By an eighth, and not by doubling: half a kilobyte each is too much to hold in advance.
            if profiles.count == profiles.capacity {
                profiles.reserveCapacity(profiles.count + max(16, profiles.count / 8))
            }
            profiles.append(TenantProfile(tenant, at: instant))
            place = Int32(profiles.count - 1)
        } else {
            untracked += 1
            return nil
        }
        places[tenant] = place
        order = []
        return place
    }

    /// Makes room for up to a tenth of the table: those idle for longest leave, if they are idle for long.
    private mutating func evictIdle(at now: Timestamp) {
        // A table full of busy tenants is not searched for each line.
        if let evictedAt, now.seconds(since: evictedAt) < 10 { return }
        evictedAt = now
        let idle = places.values
            .filter { now.seconds(since: profiles[Int($0)].lastSeen) > settings.demand.idleSeconds }
            .map { (place: $0, lastSeen: profiles[Int($0)].lastSeen, tenant: profiles[Int($0)].tenant) }
            .sorted { ($0.lastSeen, $0.tenant) < ($1.lastSeen, $1.tenant) }
            .map(\.place)
            .prefix(max(1, settings.maxTenants / 10))
        let leaving = Set(idle)
        let names = profiles.map(\.tenant)
        rollups.settle(leaving, of: pool.pool) { names[Int($0)] }
        tasks.remove(leaving)
        for place in idle {
            places[profiles[Int(place)].tenant] = nil
            // The smallest profile there is.
            profiles[Int(place)] = TenantProfile(profiles[Int(place)].tenant, at: now)
        }
        vacant = idle.reversed()
        order = []
    }

    /// Forgets whoever has one of these names, and all that is not stored of it yet; returns who that was. Whoever comes
    /// under such a name from now on is a newcomer.
    public mutating func erase(_ fingerprints: Set<UInt64>, at now: Timestamp) -> [TenantID] {
        let erased = places.values.filter { fingerprints.contains(profiles[Int($0)].fingerprint) }.sorted()
        let names = erased.map { profiles[Int($0)].tenant }
        for (place, name) in zip(erased, names) {
            places[name] = nil
            rollups.erase(place, name)
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
            // Gateways come and go; one that brought nothing for ten minutes gives way.
            let silent = gatewayArrivals.firstIndex { now.seconds(since: $0.lately.at) > 600 }
            guard let silent else { return nil }
            number = UInt16(silent)
            for index in profiles.indices { profiles[index].forget(gateway: number) }
            gatewayNumbers[gateways[silent]] = nil
            gateways[silent] = gateway
            gatewayArrivals[silent] = GatewayArrivals(at: now)
            hourlyMeansMinute = .min
        }
        gatewayNumbers[gateway] = number
        return number
    }

    mutating func noteArrivals(_ cost: Double, of index: Int, from gateway: GatewayID, at now: Timestamp) {
        guard cost > 0, let number = number(of: gateway, at: now) else { return }
        gatewayArrivals[Int(number)].add(Float(cost), at: now, latelyHalfLife: Self.poolHalfLife)
        profiles[index].noteArrivals(Float(cost), from: number, names: gateways, at: now)
    }
}

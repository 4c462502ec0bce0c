import HeadroomModel

/// The roll-ups of one pool's tenants by minute, since they were last stored.
///
/// A late line adds to the minute where it belongs, also when no live window reaches back to it: two roll-ups of the
/// same minute add up.
struct RollupBook: Sendable {
    /// Minutes × tenants × criticalities that are held while they cannot be stored: some 300 MB.
    private static let most = 1_000_000

    private struct Key: Hashable {
        /// Minute and tenant and criticality in one number: hashed for each record.
        var bits: UInt64

        init(minute: Int64, tenant: Int32, criticality: Criticality) {
            bits =
                UInt64(bitPattern: minute) << 34 | UInt64(UInt32(bitPattern: tenant)) << 2
                | UInt64(criticality.rawValue)
        }

        var minute: Int64 { Int64(bits >> 34) }
        var tenant: Int32 { Int32(truncatingIfNeeded: bits >> 2 & 0xFFFF_FFFF) }
        var criticality: Criticality { Criticality(rawValue: Int(bits & 3)) ?? .batch }
    }

    private var sums: [Key: RollupSums] = [:]
    /// Of tenants that left the table.
    private var settled: [Rollup] = []

    var memoryBytes: Int {
        sums.capacity * (MemoryLayout<Key>.stride + MemoryLayout<RollupSums>.stride)
            + settled.capacity * MemoryLayout<Rollup>.stride
    }

    mutating func add(
        to minute: Int64, tenant: Int32, _ criticality: Criticality, _ change: (inout RollupSums) -> Void
    ) {
        let key = Key(minute: max(0, minute), tenant: tenant, criticality: criticality)
        if sums.count >= RollupBook.most, sums[key] == nil { return }
        change(&sums[key, default: RollupSums()])
    }

    /// Ascending by start, tenant, criticality.
    func rollups(of pool: PoolID, tenants: (Int32) -> TenantID) -> [Rollup] {
        let open = sums.map {
            Rollup($0.value, start: $0.key.minute, tenant: tenants($0.key.tenant), pool, $0.key.criticality)
        }
        return (settled + open).sorted {
            ($0.start, $0.tenant, $0.criticality) < ($1.start, $1.tenant, $1.criticality)
        }
    }

    /// They are stored.
    mutating func removeAll() {
        // As much room as the last minutes took: a burst is not kept for ever.
        sums.removeAll(keepingCapacity: sums.count >= sums.capacity / 4)
        settled.removeAll()
    }

    /// The part that was not stored yet never is.
    mutating func erase(_ place: Int32, _ tenant: TenantID) {
        sums = sums.filter { $0.key.tenant != place }
        settled.removeAll { $0.tenant == tenant }
    }

    /// Their numbers in the table go to others.
    mutating func settle(_ leaving: Set<Int32>, of pool: PoolID, tenants: (Int32) -> TenantID) {
        for (key, value) in sums where leaving.contains(key.tenant) {
            settled.append(Rollup(value, start: key.minute, tenant: tenants(key.tenant), pool, key.criticality))
            sums[key] = nil
        }
    }
}

extension Rollup {
    fileprivate init(
        _ sums: RollupSums, start minute: Int64, tenant: TenantID, _ pool: PoolID, _ criticality: Criticality
    ) {
        self.init(
            start: Timestamp(milliseconds: minute * 60_000), tenant: tenant, pool: pool, criticality: criticality,
            sums: sums)
    }
}

extension RollupSums {
    mutating func starve(for seconds: Double, by starvation: Starvation?) {
        switch starvation {
        case .delivery: starvedForDeliverySeconds += seconds
        case .shortage: starvedForShortageSeconds += seconds
        case nil: break
        }
    }

    /// - Parameter worth: of a call that was not served, what it would have cost.
    mutating func count(_ call: CallRecord, worth: AskedWork) {
        switch call.outcome {
        case .ok:
            ok.addSaturating(1)
            inputTokens.addSaturating(call.inputTokens ?? 0)
            outputTokens.addSaturating(call.outputTokens ?? 0)
            cachedInputTokens.addSaturating(min(call.cachedInputTokens ?? 0, call.inputTokens ?? 0))
            countedTokens.addSaturating(call.tokens)
            if let wait = call.queuedMilliseconds {
                waits.addSaturating(1)
                waitedSeconds += wait / 1000
            }
        case .quota: quota.addSaturating(1)
        case .overload: overload.addSaturating(1)
        case .denied:
            denied.addSaturating(1)
            deniedTokens.addSaturating(worth.tokens)
        case .ramp:
            ramp.addSaturating(1)
            error.addSaturating(1)
        case .billing:
            billing.addSaturating(1)
            error.addSaturating(1)
        case .auth, .client, .server, .error: error.addSaturating(1)
        case .cached: return  // It never reached the upstream.
        }
        if call.attempt > 1 { retries.addSaturating(1) }
    }

    /// - Parameter deniedTokens: what the denied work would have cost.
    mutating func count(_ window: WindowRecord, deniedTokens: Int64) {
        ok.addSaturating(window.ok)
        quota.addSaturating(window.quota)
        overload.addSaturating(window.overload)
        error.addSaturating(window.error)
        retries.addSaturating(window.retries)
        denied.addSaturating(window.denied)
        self.deniedTokens.addSaturating(deniedTokens)
        inputTokens.addSaturating(window.inputTokens)
        outputTokens.addSaturating(window.outputTokens)
        countedTokens.addSaturating(window.inputTokens)
        countedTokens.addSaturating(window.outputTokens)
    }
}

extension CallRecord {
    /// As counted, in whole tokens; a number that no provider would charge is cut.
    fileprivate var tokens: Int64 { Int64(min(max(0, work[.tokens]), 1e15)) }
}

import HeadroomModel

/// Decreases before increases, for one pool: what its gateways may be spending under all generations that may still be
/// in effect somewhere, and how far new budgets may rise beside that (Model §5.3).
///
/// For each gateway g, E_g is the largest budget that it may use just now (``RoomHolder``). New budgets satisfy
/// Σ max(E_g, new_g) + float ≤ capacity; lower ones are never held back. When capacity has fallen below Σ E_g nothing
/// rises until Σ E_g fits again. Fallbacks have the same room of their own, within the whole's fallback, since all
/// gateways may lose Headroom at once.
public struct Room: Sendable {
    /// Ascending by gateway; each holds at least one grant.
    private var holders: [RoomHolder] = []
    /// Of the publication in force, which may be handed out at any moment.
    private var newest: SnapshotVersion?
    /// The epoch of this control plane's term, once it has published.
    private var term: Int64?
    /// Capacity less float, of the publication in force.
    @Halved private var limit = SIMD4<Double>.zero
    /// Σ E_g above ``limit``, in tokens a minute, since ``measuredAt``.
    private var excess = 0.0
    private var measuredAt: Timestamp?
    /// Tokens by which Σ E_g with the float exceeded capacity, over the time that it did.
    public private(set) var overcommittedTokens = 0.0

    public init() {}

    /// Restores the publications of an earlier control plane: all of it counts as in effect.
    /// - Parameter sent: of this pool, ascending by version.
    public init(remembering sent: [SentBudget], leaseSeconds: Double, graceSeconds: Double, at now: Timestamp) {
        var allFallbacks: [SnapshotVersion: SIMD4<Double>] = [:]
        for part in sent { allFallbacks[part.version, default: .zero] += part.fallback.perMinute }
        for part in sent {
            let index = place(of: part.gateway)
            if index == holders.count || holders[index].gateway != part.gateway {
                holders.insert(RoomHolder(gateway: part.gateway, lastSeen: now, isUnheard: true), at: index)
            }
            holders[index].add(
                SentPart(
                    version: part.version, budget: part.budget.perMinute, fallback: part.fallback.perMinute,
                    fallbackPart: Room.part(part.fallback.perMinute, of: allFallbacks[part.version] ?? .zero),
                    leaseSeconds: leaseSeconds,
                    until: part.supersededAt?.adding(seconds: leaseSeconds + graceSeconds)))
            // Its last answer came before something newer was there to be handed out.
            holders[index].lastSeen = min(now, part.supersededAt ?? now)
            newest = max(newest ?? part.version, part.version)
        }
    }

    /// Takes in who was handed what, who has acknowledged, who has left, and what time has ended.
    /// - Parameter presences: all that the board remembers, ascending by gateway.
    public mutating func observe(_ presences: [GatewayPresence], under policy: LoopPolicy, at now: Timestamp) {
        var next = 0
        for index in holders.indices {
            while next < presences.count, presences[next].gateway < holders[index].gateway { next += 1 }
            if next < presences.count, presences[next].gateway == holders[index].gateway {
                if presences[next].hasLeft {
                    holders[index].release()
                    continue
                }
                holders[index].hear(presences[next], newest: newest, term: term, graceSeconds: policy.graceSeconds)
            }
            holders[index].settle(newest: newest, under: policy, at: now)
        }
        holders.removeAll { $0.isForgotten }
        measure(at: now)
    }

    /// The wanted budgets and fallbacks, each as far as there is room for it now.
    ///
    /// Room that several want goes first to gateways that have been given nothing yet, each its even part of the budget
    /// at most, counted over `expected` gateways if those are more; then to the others, in proportion to what they ask.
    /// Newcomers' wishes beyond that wait for the next publication while more gateways are expected.
    /// - Parameter wanted: those of living gateways, ascending by gateway, in whole numbers.
    public func fit(_ wanted: [GatewayBudget], of whole: PoolAllocation, expectedGateways expected: Int)
        -> [GatewayBudget]
    {
        let evenPart = whole.budget.perMinute / Double(max(wanted.count, expected, 1))
        var budgets: [RoomClaim] = []
        var fallbacks: [RoomClaim] = []
        budgets.reserveCapacity(wanted.count)
        fallbacks.reserveCapacity(wanted.count)
        var elsewhere = (held: SIMD4<Double>.zero, kept: SIMD4<Double>.zero, fallback: SIMD4<Double>.zero)
        var next = 0
        func pass(_ holder: RoomHolder) {
            let claim = holder.claim(on: whole.fallback.perMinute)
            elsewhere.held += claim.held
            elsewhere.kept += claim.kept
            elsewhere.fallback += claim.fallback
        }
        for want in wanted {
            while next < holders.count, holders[next].gateway < want.gateway {
                pass(holders[next])
                next += 1
            }
            let isKnown = next < holders.count && holders[next].gateway == want.gateway
            let holder = isKnown ? holders[next] : nil
            let claim = holder?.claim(on: whole.fallback.perMinute)
            if isKnown { next += 1 }
            budgets.append(
                RoomClaim(
                    wanted: want.budget.perMinute, held: claim?.held ?? .zero, kept: claim?.kept ?? .zero,
                    least: holder?.leastBudget ?? .zero,
                    first: isKnown ? nil : evenPart))
            fallbacks.append(
                RoomClaim(
                    wanted: want.fallback.perMinute, held: claim?.fallback ?? .zero,
                    kept: holder?.isSilent == true ? claim?.fallback ?? .zero : .zero,
                    least: holder?.newest?.fallback ?? .zero))
        }
        while next < holders.count {
            pass(holders[next])
            next += 1
        }
        let fittedBudgets = RoomClaim.fit(
            budgets, heldElsewhere: elsewhere.held, keptElsewhere: elsewhere.kept, within: whole.budgetLimit,
            isComplete: wanted.count >= expected)
        let fittedFallbacks = RoomClaim.fit(
            fallbacks, heldElsewhere: elsewhere.fallback, keptElsewhere: elsewhere.fallback,
            within: whole.fallback.perMinute, isComplete: true)
        return wanted.indices.map { index in
            GatewayBudget(
                gateway: wanted[index].gateway,
                budget: Rates(perMinute: fittedBudgets[index], resources: wanted[index].budget.resources),
                fallback: Rates(perMinute: fittedFallbacks[index], resources: wanted[index].fallback.resources))
        }
    }

    /// These are published now. A pool that is published no longer has no parts.
    /// - Parameter parts: ascending by gateway.
    public mutating func publish(
        _ version: SnapshotVersion, _ parts: [GatewayBudget], of whole: PoolAllocation?, leaseSeconds: Double,
        at now: Timestamp
    ) {
        measure(at: now)
        newest = version
        term = version.epoch
        for part in parts {
            let index = place(of: part.gateway)
            if index == holders.count || holders[index].gateway != part.gateway {
                holders.insert(RoomHolder(gateway: part.gateway, lastSeen: now), at: index)
            }
            holders[index].add(
                SentPart(
                    version: version, budget: part.budget.perMinute, fallback: part.fallback.perMinute,
                    fallbackPart: Room.part(part.fallback.perMinute, of: whole?.fallback.perMinute ?? .zero),
                    leaseSeconds: leaseSeconds))
        }
        limit = whole?.budgetLimit ?? SIMD4(repeating: .infinity)
        excess = tokensInExcess
    }

    /// True of a gateway that has been given nothing yet, as far as Headroom knows.
    public func isNew(_ gateway: GatewayID) -> Bool {
        let index = place(of: gateway)
        return index == holders.count || holders[index].gateway != gateway
    }

    /// E_g; zero for a gateway that holds nothing.
    public func inEffect(at gateway: GatewayID) -> SIMD4<Double> {
        isNew(gateway) ? .zero : holders[place(of: gateway)].held
    }

    /// Σ E_g.
    public var inEffect: SIMD4<Double> { holders.reduce(.zero) { $0 + $1.held } }

    /// Budgets that gateways outside `living` may still be using, each with the time from which on it is not withheld any
    /// more.
    /// - Parameters:
    ///   - living: ascending.
    ///   - whole: the pool's allocation in force: of a vanished gateway only its part of what there is now counts.
    /// - Returns: ascending by gateway.
    public func withheld(
        besides living: [GatewayID], of whole: PoolAllocation, under policy: LoopPolicy
    ) -> [(gateway: GatewayID, rates: Rates, until: Timestamp)] {
        var next = 0
        return holders.compactMap { holder in
            while next < living.count, living[next] < holder.gateway { next += 1 }
            if next < living.count, living[next] == holder.gateway { return nil }
            let held = holder.claim(on: whole.fallback.perMinute).held
            guard any(held .> 0) else { return nil }
            return (
                holder.gateway, Rates(perMinute: held, resources: whole.budget.resources),
                holder.forgottenAt(under: policy)
            )
        }
    }

    /// The largest fallbacks that gateways may hold, together.
    public var fallbacks: SIMD4<Double> { holders.reduce(.zero) { $0 + $1.fallback } }

    /// True when nothing is in effect any more.
    public var isEmpty: Bool { holders.isEmpty }

    private func place(of gateway: GatewayID) -> Int {
        var low = 0
        var high = holders.count
        while low < high {
            let middle = (low + high) / 2
            if holders[middle].gateway < gateway { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private static func part(_ rates: SIMD4<Double>, of whole: SIMD4<Double>) -> SIMD4<Double> {
        (rates / whole).replacing(with: 0, where: whole .<= 0)
    }

    // MARK: Over-commit

    /// Between two looks the excess is taken to have changed evenly.
    private mutating func measure(at now: Timestamp) {
        let before = excess
        excess = tokensInExcess
        if let measuredAt, measuredAt < now {
            overcommittedTokens += (before + excess) / 2 * now.seconds(since: measuredAt) / 60
        }
        measuredAt = now
    }

    private var tokensInExcess: Double {
        let above = pointwiseMax(inEffect - limit, .zero)
        let split = above[Resource.inputTokens.rawValue] + above[Resource.outputTokens.rawValue]
        return max(above[Resource.tokens.rawValue], split)
    }
}

extension PoolAllocation {
    /// The upper bound of the sum of budgets.
    fileprivate var budgetLimit: SIMD4<Double> {
        pointwiseMax(capacity.perMinute - float.perMinute, .zero)
    }
}

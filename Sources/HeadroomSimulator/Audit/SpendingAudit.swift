import HeadroomEnforcement
import HeadroomModel

/// The amount that one gateway may still spend, by Model §8 and WireFormat: a bucket in every limited resource that refills
/// by the budget (the fallback's once the lease has run out), holds so many seconds of it and at least one mean request,
/// keeps its level in proportion when the budget changes, and lets one call more pass as long as it is above 0.
///
/// A gateway that draws gives up what its bucket cannot hold, and says so: instead of a bucket that is full, it has what
/// came in less what it returned. What its bucket holds is so little that a mean request need not fit: it grows with the
/// budget, however small that is. Drawn calls go on what was granted for them, until its next request.
///
/// A gateway may be stricter at any time, since the provider's own headers bound it too; so the bucket here is an upper
/// bound. Without an allocation, or with one that does not enforce, everything passes.
struct SpendingAudit: Sendable {
    /// A draw that was sent.
    private struct Draw: Equatable {
        let boot: String
        let sequence: Int64
        let returned: Work

        init(_ request: DrawRequest) {
            boot = request.boot
            sequence = request.sequence
            returned = request.totals.returned
        }
    }

    /// The terms of the part that is in force.
    private struct Terms {
        let pool: PoolID
        let enforce: Bool
        let budget: Rates
        let fallback: Rates
        let burstSeconds: Double

        init(_ pool: PoolAllocation) {
            self.pool = pool.pool
            enforce = pool.enforce
            budget = pool.budget
            fallback = pool.fallback
            burstSeconds = pool.burstSeconds
        }
    }

    private(set) var applied: SnapshotVersion?
    private var terms: Terms?
    private var leaseUntil = Timestamp(milliseconds: .min)
    private var isOnFallback = false
    private var rates = Rates.none
    /// By the lanes of ``Resource``.
    @Halved private var level = SIMD4<Double>.zero
    @Halved private var burst = SIMD4<Double>.zero
    private var filledAt = Timestamp(milliseconds: 0)
    private var charged: [Int: Work] = [:]
    private var isDrawing = false
    /// The last of a gateway that draws.
    private var draw: Draw?
    private var isAnswered = false
    /// The unused rest of its answer's grants.
    private var granted = Work.zero
    /// Calls that went on what was granted and have not ended, and what all of them have cost.
    private var drawn: [Int: Work] = [:]
    private var used = Work.zero
    /// The mean over about the last fifty calls, and the largest of all.
    private var meanRequest: Work?
    private var largest = Work.zero

    private static let rounding = 1e-6

    mutating func enqueue(_ estimate: Work) {
        meanRequest = meanRequest.map { $0 * 0.98 + estimate * 0.02 } ?? estimate
        largest.amounts = pointwiseMax(largest.amounts, estimate.amounts)
    }

    mutating func apply(_ part: Snapshot, leaseUntil until: Timestamp, at now: Timestamp) {
        if part.version == applied {
            leaseUntil = max(leaseUntil, until)
            fill(to: now)
            if isOnFallback, now < leaseUntil { change(to: terms?.budget, isFallback: false) }
        } else {
            fill(to: now)
            applied = part.version
            terms = part.pools.first.map(Terms.init)
            leaseUntil = until
            change(to: terms?.budget, isFallback: false)
        }
    }

    /// Returns what is wrong with it.
    mutating func dispatch(_ call: Int, _ estimate: Work, at now: Timestamp) -> String? {
        guard terms?.enforce == true else { return nil }
        fill(to: now)
        if let resource = resourceSpent(among: rates.resources.lanes) {
            return "\(resource.name) \(level[resource.rawValue]) of a burst of \(burst[resource.rawValue]), rate "
                + "\(rates[resource] ?? 0), largest call \(largest[resource])"
        }
        charged[call] = estimate
        add(.zero - estimate)
        return nil
    }

    /// Returns what is wrong with it.
    mutating func note(_ request: DrawRequest, at now: Timestamp) -> String? {
        if Draw(request) == draw { return nil }  // Sent again, as it was.
        isAnswered = false
        fill(to: now)
        let returned = request.totals.returned - (draw?.returned ?? .zero)
        draw = Draw(request)
        if !isDrawing {
            isDrawing = true
            burst = size(of: rates, isFallback: isOnFallback)
        }
        granted = .zero
        let unreported = (request.totals.grantedUsed - used).amounts
        if any((unreported .> 1e-3) .| (unreported .< -1e-3)) {
            return "tells of \(request.totals.grantedUsed.amounts) used of what it drew, and it is \(used.amounts)"
        }
        let isBack = rates.resources.lanes .& (returned.amounts .> 0)
        level -= SIMD4.zero.replacing(with: returned.amounts, where: isBack)
        if let resource = resourceSpent(among: isBack) {
            return "returns \(returned[resource]) \(resource.name), which it has not got"
        }
        return nil
    }

    /// A resource of which more than all is spent. A header that bounded the gateway for a while may have left it a
    /// call's worth better off (see ``change(to:isFallback:)``).
    private func resourceSpent(among lanes: SIMDMask<SIMD4<Int64>>) -> Resource? {
        let isSpent = lanes .& (level + largest.amounts .<= -SpendingAudit.rounding)
        guard any(isSpent) else { return nil }
        return rates.resources.members.first { isSpent[$0.rawValue] }
    }

    mutating func grant(_ answer: DrawAnswer, to request: DrawRequest) {
        guard Draw(request) == draw, !isAnswered else { return }
        isAnswered = true
        for entry in answer.granted {
            let heads = request.waiting.first { $0.tenant == entry.tenant }?.heads ?? []
            for head in heads.prefix(entry.calls) { granted += head.estimate }
        }
    }

    /// A call goes on what was granted. Returns what is wrong with it.
    mutating func draw(_ call: Int, _ estimate: Work) -> String? {
        drawn[call] = estimate
        used += estimate
        granted -= estimate
        guard terms?.enforce == true else { return nil }
        let resource = rates.resources.members.first { granted[$0] <= -1e-3 }
        return resource.map { "draws \(estimate[$0]) \($0.name) more than granted" }
    }

    mutating func settle(_ call: Int, cost: Work?, at now: Timestamp) {
        if let estimate = drawn.removeValue(forKey: call), let cost { used += cost - estimate }
        guard let estimate = charged.removeValue(forKey: call), let cost else { return }
        fill(to: now)
        // Overflow from before a call turned out to be that large is returned after it.
        largest.amounts = pointwiseMax(largest.amounts, cost.amounts)
        add(estimate - cost)
    }

    /// Its budget of `resource` per minute; 0 while it is not bounded.
    func inForce(_ resource: Resource, of id: PoolID, at now: Timestamp) -> Double {
        guard let terms, terms.pool == id, terms.enforce else { return 0 }
        return (now < leaseUntil ? terms.budget : terms.fallback)[resource] ?? 0
    }

    private mutating func fill(to now: Timestamp) {
        if !isOnFallback, now >= leaseUntil, let fallback = terms?.fallback {
            refill(to: leaseUntil)
            change(to: fallback, isFallback: true)
        }
        refill(to: now)
    }

    private mutating func refill(to now: Timestamp) {
        let minutes = max(0, now.seconds(since: filledAt)) / 60
        filledAt = max(filledAt, now)
        level = pointwiseMin(most, level + minutes * rates.perMinute)
    }

    private mutating func change(to new: Rates?, isFallback: Bool) {
        // Its level goes on from one size to the other, as far as it fits.
        let isReturning = isDrawing && isOnFallback && !isFallback
        isOnFallback = isFallback
        let new = new ?? .none
        let sizes = size(of: new, isFallback: isFallback)
        for lane in 0..<4 {
            let size = sizes[lane]
            if !rates.resources.lanes[lane] {
                level[lane] = size
            } else if isDrawing {
                level[lane] += max(0, size - burst[lane])
                if isFallback || isReturning { level[lane] = min(level[lane], size) }
            } else if level[lane] > 0 {
                level[lane] *= size / burst[lane]
            }
        }
        burst = sizes
        rates = new
    }

    /// The size of a bucket.
    private func size(of rates: Rates, isFallback: Bool) -> SIMD4<Double> {
        let size = rates.perMinute * ((terms?.burstSeconds ?? 0) / 60)
        guard !isDrawing || isFallback else { return size }
        let least = (meanRequest ?? Work(requests: 1)).amounts
        return pointwiseMax(size, least).replacing(with: 0, where: rates.perMinute .<= 0)
    }

    private mutating func add(_ work: Work) { level = pointwiseMin(most, level + work.amounts) }

    /// Nothing flows over unsaid where it is returned.
    private var most: SIMD4<Double> { isDrawing && !isOnFallback ? SIMD4(repeating: .infinity) : burst }
}

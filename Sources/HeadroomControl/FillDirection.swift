import HeadroomModel

/// A tenant's work as a direction: what one unit of activity costs in each resource. With its shape as direction, the
/// activity is its requests per minute.
///
/// The direction is the shape if it names a resource of the pool, else the summed demand if that names every resource
/// of the pool, else one request of 1,000 tokens, of which 800 are input and 200 output: about what public traces
/// of conversations show, and any split is better than none. A component of 0 counts as a millionth of that, so that no
/// work is free in any resource.
package struct FillDirection: Sendable {
    private static var fallback: SIMD4<Double> { SIMD4(1, 1000, 800, 200) }
    private static var leastComponent: SIMD4<Double> { fallback * 1e-6 }

    /// Cost of one unit of activity. Lanes in the order of ``Resource``, all above 0; those that the pool does not
    /// limit mean nothing.
    let cost: SIMD4<Double>
    /// The part of the pool's capacity that one unit of activity takes where it takes most.
    package let dominantCost: Double
    /// Cost of one unit of activity as parts of the capacity; 0 in what the pool does not limit.
    let capacityParts: SIMD4<Double>
    private let limited: UInt8

    package init(of tenant: FillTenant, in capacity: Rates) {
        self.init(of: FillNeed([tenant], 0), in: FillCapacity(capacity))
    }

    @inline(__always)
    init(of need: FillNeed, in capacity: FillCapacity) {
        let demand = need.demand(through: nil)
        let stated =
            if need.shape.named & capacity.limited != 0 {
                need.shape.perMinute
            } else if demand.named & capacity.limited == capacity.limited {
                demand.perMinute
            } else {
                FillDirection.fallback
            }
        cost = stated.replacing(with: FillDirection.leastComponent, where: stated .<= 0)
        capacityParts = cost / capacity.perMinute
        dominantCost = capacityParts.largest
        limited = capacity.limited
    }

    /// The most activity that stays within `box`: the least ratio over the resources that it names; infinite where it
    /// names none.
    package func activity(within box: Rates) -> Double { activity(within: FillBox(box)) }

    @inline(__always)
    private func activity(within box: FillBox) -> Double {
        let infinite = SIMD4(repeating: Double.infinity)
        return infinite.replacing(with: box.perMinute / cost, where: lanes(box.named & limited)).least
    }

    /// As above, but nothing where the box names nothing: an absent floor or demand is 0.
    @inline(__always)
    func activity(upTo box: FillBox) -> Double {
        let activity = activity(within: box)
        return activity == .infinity ? 0 : activity
    }

    /// How far `bound` raises the tenant whose direction this is, its ceiling aside.
    @inline(__always)
    func activity(upTo bound: FillBand.Bound, through criticality: Criticality?, _ need: FillNeed) -> Double {
        switch bound {
        case .least: need.least
        case .floor: activity(upTo: need.floor)
        case .floorInDemand: min(activity(upTo: need.floor), activity(upTo: need.demand(through: criticality)))
        case .start: need.start
        case .demand: activity(upTo: need.demand(through: criticality))
        case .burst: need.burst
        case .ceiling: .infinity
        }
    }

    /// The most that the tenant may have, whatever the band.
    @inline(__always)
    func ceiling(_ need: FillNeed) -> Double { min(activity(within: need.ceiling), need.most) }
}

/// A pool's capacity in the form that divides: a resource that is not limited holds infinity.
struct FillCapacity {
    let perMinute: SIMD4<Double>
    /// One bit per resource.
    let limited: UInt8

    init(_ capacity: Rates) {
        limited = capacity.resources.rawValue
        perMinute = SIMD4(repeating: .infinity).replacing(with: capacity.perMinute, where: lanes(limited))
    }

    /// `box` as parts of this capacity; 2 where absent or more than that.
    @inline(__always)
    func parts(of box: FillBox) -> SIMD4<Double> {
        let two = SIMD4(repeating: 2.0)
        let parts = two.replacing(with: box.perMinute / perMinute, where: lanes(box.named))
        return parts.replacing(with: two, where: parts .> two)
    }
}

/// True in the lanes of the resources named.
@inline(__always)
private func lanes(_ named: UInt8) -> SIMDMask<SIMD4<Int64>> {
    (SIMD4(repeating: Int64(named)) & SIMD4(1, 2, 4, 8)) .!= 0
}

extension SIMD4<Double> {
    @inline(__always)
    fileprivate var least: Double { Swift.min(Swift.min(self[0], self[1]), Swift.min(self[2], self[3])) }

    @inline(__always)
    var largest: Double { Swift.max(Swift.max(self[0], self[1]), Swift.max(self[2], self[3])) }
}

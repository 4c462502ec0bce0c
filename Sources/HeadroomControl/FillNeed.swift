import HeadroomModel

/// A tenant's numbers without its names, for the loops over all tenants: bare lanes and bits, nothing that counts
/// references. (A ``FillTenant`` is half a kilobyte that is copied where it is passed, and the set algebra of
/// ``ResourceSet`` is the standard library's generic one: either costs more than all the arithmetic.)
struct FillNeed {
    let weight: Double
    let shape: FillBox
    let floor: FillBox
    let ceiling: FillBox
    /// Summed up to and including each criticality.
    private let interactive: FillBox
    private let nearRealTime: FillBox
    private let batch: FillBox
    let start: Double
    let burst: Double
    let least: Double
    let most: Double

    @inline(__always)
    init(_ tenants: [FillTenant], _ index: Int) { self.init(tenants, index, within: tenants[index].interval) }

    /// As if the tenant had another interval.
    @inline(__always)
    init(_ tenants: [FillTenant], _ index: Int, within interval: FillInterval) {
        weight = tenants[index].weight
        shape = FillBox(tenants[index].shape)
        floor = FillBox(tenants[index].floor)
        ceiling = FillBox(tenants[index].ceiling)
        interactive = FillBox(tenants[index].demand.interactive)
        nearRealTime = interactive + FillBox(tenants[index].demand.nearRealTime)
        batch = nearRealTime + FillBox(tenants[index].demand.batch)
        start = tenants[index].start
        burst = tenants[index].burst
        least = interval.least
        most = interval.most
    }

    /// All demand for `nil`.
    @inline(__always)
    func demand(through criticality: Criticality?) -> FillBox {
        switch criticality {
        case .interactive: interactive
        case .nearRealTime: nearRealTime
        case .batch, nil: batch
        }
    }
}

/// Rates as bare lanes.
struct FillBox {
    /// 0 where not named.
    var perMinute: SIMD4<Double>
    /// One bit per resource.
    var named: UInt8

    @inline(__always)
    init(_ rates: Rates) {
        perMinute = rates.perMinute
        named = rates.resources.rawValue
    }

    /// The sum names what either names.
    @inline(__always)
    static func + (left: FillBox, right: FillBox) -> FillBox {
        var sum = left
        sum.perMinute += right.perMinute
        sum.named |= right.named
        return sum
    }
}

import HeadroomModel

/// A tenant's work as a direction: what one unit of activity costs in each resource. With its shape as direction, the
/// activity is its requests per minute.
///
/// The direction is the shape if it names a resource of the pool, else the summed demand if that names every resource
/// of the pool, else one request of 1,000 tokens, of which 800 are input and 200 output: about what public traces
/// of conversations show, and any split is better than none. A component of 0 counts as a millionth of that, so that no
/// work is free in any resource.
public struct FillDirection: Sendable {
    private static var fallback: SIMD4<Double> { SIMD4(1, 1000, 800, 200) }
    /// A request of which nothing is known.
    static var defaultRequest: Work { Work(amounts: fallback) }
    private static var leastComponent: SIMD4<Double> { fallback * 1e-6 }

    /// Cost of one unit of activity. Lanes in the order of ``Resource``, all above 0; those that the pool does not
    /// limit mean nothing.
    let cost: SIMD4<Double>
    /// The part of the pool's capacity that one unit of activity takes where it takes most.
    public let dominantCost: Double
    private let limited: ResourceSet

    public init(of tenant: FillTenant, in capacity: Rates) {
        self.init(shape: tenant.shape, demand: tenant.demand.total, in: FillCapacity(capacity))
    }

    init(shape: Rates, demand: Rates = .none, in capacity: FillCapacity) {
        limited = capacity.limited
        let stated =
            if shape.resources.rawValue & limited.rawValue != 0 {
                shape.perMinute
            } else if demand.resources.rawValue & limited.rawValue == limited.rawValue {
                demand.perMinute
            } else {
                FillDirection.fallback
            }
        cost = stated.replacing(with: FillDirection.leastComponent, where: stated .<= 0)
        dominantCost = capacity.dominantCost(of: cost)
    }

    /// The most activity that stays within `box`: the least ratio over the resources that it names; infinite where it
    /// names none.
    public func activity(within box: Rates) -> Double {
        let infinite = SIMD4(repeating: Double.infinity)
        let named = ResourceSet(rawValue: box.resources.rawValue & limited.rawValue).lanes
        return infinite.replacing(with: box.perMinute / cost, where: named).least
    }

    /// As above, but nothing where the box names nothing: an absent floor or demand is 0.
    func activity(upTo box: Rates) -> Double {
        let activity = activity(within: box)
        return activity == .infinity ? 0 : activity
    }
}

/// A pool's capacity in the form that divides: a resource that is not limited holds infinity.
struct FillCapacity: Sendable {
    @Halved private(set) var perMinute: SIMD4<Double>
    let limited: ResourceSet

    init(_ capacity: Rates) {
        limited = capacity.resources
        _perMinute = Halved(
            wrappedValue: SIMD4(repeating: .infinity).replacing(with: capacity.perMinute, where: limited.lanes))
    }

    /// The part of this capacity that `cost` takes where it takes most.
    @inline(__always)
    func dominantCost(of cost: SIMD4<Double>) -> Double { (cost / perMinute).largest }
}

extension SIMD4<Double> {
    @inline(__always)
    var least: Double { Swift.min(Swift.min(self[0], self[1]), Swift.min(self[2], self[3])) }

    @inline(__always)
    var largest: Double { Swift.max(Swift.max(self[0], self[1]), Swift.max(self[2], self[3])) }

    // These two are for finite numbers only: the library's own takes care of NaN and of negative numbers, lane by lane,
    // and calls a function for each.

    @inline(__always)
    func lowered(to most: Self) -> Self { replacing(with: most, where: most .< self) }

    @inline(__always)
    func raised(to least: Self) -> Self { replacing(with: least, where: self .< least) }

    /// Of numbers that are not negative.
    @inline(__always)
    var roundedDown: Self {
        let near = nearestEven
        return near - Self.zero.replacing(with: 1, where: self .< near)
    }

    @inline(__always)
    var roundedUp: Self {
        let near = nearestEven
        return near + Self.zero.replacing(with: 1, where: near .< self)
    }

    /// Halves go up.
    @inline(__always)
    var roundedToNearest: Self {
        let down = roundedDown
        return down + Self.zero.replacing(with: 1, where: self - down .>= 0.5)
    }

    /// From 2^52 on every double is whole, and below it adding so much leaves no room for a fraction.
    @inline(__always)
    private var nearestEven: Self {
        let whole = Self(repeating: 0x1p52)
        return replacing(with: (self + whole) - whole, where: self .< whole)
    }
}

import Dispatch

/// One element for each pool that an actor watches, ascending by pool.
///
/// Elements are large structs that own arrays. Swift copies such a struct when it is bound to a name, read through an
/// optional chain, or walked by `for … in`; and an array that is shared with a copy is copied as a whole by the next
/// change. So elements are read and changed where they lie, by ``subscript(_:)`` at their place. The rule holds for
/// every table of large rows here: look at `table[place].field`, and do not take the row out.
public struct PoolTable<Element> {
    /// Ascending; an element's place is its pool's index.
    public private(set) var pools: [PoolID] = []
    private var elements: [Element] = []
    private var places: [PoolID: Int] = [:]

    public init() {}

    public var indices: Range<Int> { elements.indices }

    public func place(of pool: PoolID) -> Int? { places[pool] }

    public subscript(_ place: Int) -> Element {
        _read { yield elements[place] }
        _modify { yield &elements[place] }
    }

    /// Keeps the elements of `wanted`, makes those that are not there yet, and returns the others, ascending by pool.
    /// Places change.
    @discardableResult
    public mutating func follow(
        _ wanted: some Sequence<PoolID>, make: (PoolID) -> Element
    ) -> [(pool: PoolID, element: Element)] {
        let wanted = Set(wanted).sorted()
        guard wanted != pools else { return [] }
        var known: [PoolID: Element] = [:]
        for (pool, element) in zip(pools, elements) { known[pool] = element }
        elements = wanted.map { known.removeValue(forKey: $0) ?? make($0) }
        pools = wanted
        places = Dictionary(uniqueKeysWithValues: zip(wanted, wanted.indices))
        return known.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}

extension PoolTable: Sendable where Element: Sendable {}

extension PoolTable where Element: Sendable {
    /// Below this weight in all the other cores cost more than they save.
    private static var leastWeight: Int { 2_000 }

    /// What `work` makes of each element, in the order of places. Elements are worked on side by side, on all cores: as no
    /// one sees another, the results are those of one after the other, to the bit.
    /// - Parameter weights: how much work each place is, in tenants; the heavy ones begin.
    public mutating func map<Result: Sendable>(
        weights: [Int], _ work: @Sendable (_ place: Int, _ element: inout Element) -> Result
    ) -> [Result] {
        guard elements.count > 1, weights.reduce(0, +) >= Self.leastWeight else {
            return elements.indices.map { work($0, &elements[$0]) }
        }
        let order = elements.indices.sorted { (weights[$1], $0) < (weights[$0], $1) }
        var results = [Result?](repeating: nil, count: elements.count)
        unsafe elements.withUnsafeMutableBufferPointer { elements in
            unsafe results.withUnsafeMutableBufferPointer { results in
                // Each place is one iteration's alone.
                nonisolated(unsafe) let (elements, results) = unsafe (elements, results)
                DispatchQueue.concurrentPerform(iterations: order.count) { index in
                    let place = order[index]
                    unsafe results[place] = work(place, &elements[place])
                }
            }
        }
        return results.map { $0! }
    }
}

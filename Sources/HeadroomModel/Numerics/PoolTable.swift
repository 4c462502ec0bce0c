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

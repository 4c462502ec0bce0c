/// A pool's calls by their ids.
///
/// An id holds the entry's place and a number that no other call has had, so an entry is found without a hash.
struct EntryTable {
    private var entries: [PoolBudget.Entry?] = []
    private var ids: [Int] = []
    private var free: [Int] = []
    private var lastNumber = 0

    private static let placeBits = 22
    static let maxCount = 1 << placeBits

    var count: Int { entries.count - free.count }

    /// Of the next entry. Ids ascend.
    var nextID: Int { (lastNumber + 1) << EntryTable.placeBits | (free.last ?? entries.count) }

    /// As ``nextID``.
    mutating func insert(_ entry: consuming PoolBudget.Entry) {
        let id = nextID
        lastNumber += 1
        if let place = free.popLast() {
            entries[place] = entry
            ids[place] = id
        } else {
            entries.append(entry)
            ids.append(id)
        }
    }

    subscript(id: Int) -> PoolBudget.Entry? {
        _read {
            if let place = place(of: id) { yield entries[place] } else { yield nil }
        }
        _modify {
            if let place = place(of: id) {
                yield &entries[place]
            } else {
                var none: PoolBudget.Entry?
                yield &none
            }
        }
    }

    /// Whether the call has had its turn; `nil` when there is none.
    func isSent(_ id: Int) -> Bool? {
        guard let place = place(of: id) else { return nil }
        return entries[place]?.isSent
    }

    @discardableResult
    mutating func remove(_ id: Int) -> PoolBudget.Entry? {
        guard let place = place(of: id) else { return nil }
        ids[place] = 0
        free.append(place)
        return entries[place].take()
    }

    /// Of the entries that are so, ascending.
    func ids(where isSo: (PoolBudget.Entry) -> Bool) -> [Int] {
        entries.indices.filter { entries[$0].map(isSo) ?? false }.map { ids[$0] }.sorted()
    }

    private func place(of id: Int) -> Int? {
        let place = id & (EntryTable.maxCount - 1)
        return place < ids.count && ids[place] == id ? place : nil
    }
}

import HeadroomClient
import HeadroomEnforcement
import HeadroomModel
import Synchronization

/// The slots that are out, and the places that wait for callers who come back. Both are bounded, and end by themselves.
final class SlotTable: Sendable {
    struct Slot: Sendable {
        let budget: PoolBudget
        /// In the budget.
        let id: Int
        /// Where the place is found again if the provider refuses the call.
        let placeKey: String
        let heldSeconds: Double
    }

    struct Place: Sendable {
        let budget: PoolBudget
        let id: Int
        let until: Timestamp
    }

    private struct Expiry: Comparable {
        let at: Timestamp
        let number: Int

        static func < (left: Expiry, right: Expiry) -> Bool { (left.at, left.number) < (right.at, right.number) }
    }

    private struct State {
        var slots: [Int: Slot] = [:]
        var expiries = Heap<Expiry>()
        var nextNumber = 0
        /// Oldest first under each key.
        var places: [String: [Place]] = [:]
        var placeExpiries = Heap<PlaceExpiry>()
        var placeCount = 0
    }

    private struct PlaceExpiry: Comparable {
        let at: Timestamp
        let key: String

        static func < (left: PlaceExpiry, right: PlaceExpiry) -> Bool { left.at < right.at }
    }

    /// Slots beyond that end the oldest ones, at what was estimated.
    private let maxSlots: Int
    private let maxPlaces: Int
    private let state = Mutex(State())

    init(maxSlots: Int = 100_000, maxPlaces: Int = 50_000) {
        self.maxSlots = maxSlots
        self.maxPlaces = maxPlaces
    }

    var count: Int { state.withLock { $0.slots.count } }

    func add(_ slot: Slot, seconds: Double, at now: Timestamp) -> Int {
        let (number, ended) = state.withLock { state in
            state.nextNumber += 1
            let number = state.nextNumber
            state.slots[number] = slot
            state.expiries.push(Expiry(at: now.adding(seconds: seconds), number: number))
            var ended = Self.takeExpired(&state, at: now)
            while state.slots.count > maxSlots, let oldest = state.expiries.popLeast() {
                if let slot = state.slots.removeValue(forKey: oldest.number) { ended.append(slot) }
            }
            if state.expiries.count > 2 * state.slots.count + 64 {
                let slots = state.slots
                state.expiries.removeAll { slots[$0.number] == nil }
            }
            return (number, ended)
        }
        for slot in ended { slot.budget.abandon(slot.id) }
        return number
    }

    func take(_ number: Int) -> Slot? { state.withLock { $0.slots.removeValue(forKey: number) } }

    /// Ends the slots that nobody has ended in time: they cost what was estimated.
    func expire(at now: Timestamp) {
        let ended = state.withLock { state in
            while let least = state.placeExpiries.least, least.at <= now {
                _ = state.placeExpiries.popLeast()
                // The budget gives places up by itself: here only the entry is left.
                if let first = state.places[least.key]?.first, first.until <= now {
                    Self.removeFirst(least.key, &state)
                }
            }
            return Self.takeExpired(&state, at: now)
        }
        for slot in ended { slot.budget.abandon(slot.id) }
    }

    private static func takeExpired(_ state: inout State, at now: Timestamp) -> [Slot] {
        var ended: [Slot] = []
        while let least = state.expiries.least, least.at <= now {
            _ = state.expiries.popLeast()
            if let slot = state.slots.removeValue(forKey: least.number) { ended.append(slot) }
        }
        return ended
    }

    // MARK: Places

    func hold(_ place: Place, under key: String) {
        state.withLock { state in
            guard state.placeCount < maxPlaces else { return }
            state.places[key, default: []].append(place)
            state.placeCount += 1
            state.placeExpiries.push(PlaceExpiry(at: place.until, key: key))
        }
    }

    func takePlace(under key: String) -> Place? { state.withLock { Self.removeFirst(key, &$0) } }

    @discardableResult
    private static func removeFirst(_ key: String, _ state: inout State) -> Place? {
        guard var places = state.places[key], !places.isEmpty else { return nil }
        let first = places.removeFirst()
        state.places[key] = places.isEmpty ? nil : places
        state.placeCount -= 1
        return first
    }
}

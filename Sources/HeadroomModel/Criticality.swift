/// How urgent a piece of work is; the raw value is its order of service.
package enum Criticality: CaseIterable, Sendable, Hashable, Comparable, RawRepresentable {
    case interactive, nearRealTime, batch

    // Written out to be inlinable: every queue is ordered by it.
    @inlinable
    package init?(rawValue: Int) {
        switch rawValue {
        case 0: self = .interactive
        case 1: self = .nearRealTime
        case 2: self = .batch
        default: return nil
        }
    }

    @inlinable
    package var rawValue: Int {
        switch self {
        case .interactive: 0
        case .nearRealTime: 1
        case .batch: 2
        }
    }

    package var name: String {
        switch self {
        case .interactive: "interactive"
        case .nearRealTime: "near_real_time"
        case .batch: "batch"
        }
    }

    package init?(name: String) {
        guard let found = Criticality.allCases.first(where: { $0.name == name }) else { return nil }
        self = found
    }

    @inlinable
    package static func == (left: Criticality, right: Criticality) -> Bool { left.rawValue == right.rawValue }

    @inlinable
    package static func < (left: Criticality, right: Criticality) -> Bool { left.rawValue < right.rawValue }
}

/// One value for each criticality.
package struct PerCriticality<Value> {
    package var interactive: Value
    package var nearRealTime: Value
    package var batch: Value

    // Inlinable, since every tick makes some of each tenant: unspecialized they cost more than what fills them.
    @inlinable @inline(__always)
    package init(interactive: Value, nearRealTime: Value, batch: Value) {
        self.interactive = interactive
        self.nearRealTime = nearRealTime
        self.batch = batch
    }

    @inlinable @inline(__always)
    package init(repeating value: Value) {
        self.init(interactive: value, nearRealTime: value, batch: value)
    }

    @inlinable
    package subscript(criticality: Criticality) -> Value {
        get {
            switch criticality {
            case .interactive: interactive
            case .nearRealTime: nearRealTime
            case .batch: batch
            }
        }
        set {
            switch criticality {
            case .interactive: interactive = newValue
            case .nearRealTime: nearRealTime = newValue
            case .batch: batch = newValue
            }
        }
    }
}

extension PerCriticality: Sendable where Value: Sendable {}
extension PerCriticality: Equatable where Value: Equatable {}

extension PerCriticality<Rates> {
    /// Over all criticalities; it names what any of them names.
    package var total: Rates {
        var resources = interactive.resources
        resources.formUnion(nearRealTime.resources)
        resources.formUnion(batch.resources)
        return Rates(
            perMinute: interactive.perMinute + nearRealTime.perMinute + batch.perMinute, resources: resources)
    }
}

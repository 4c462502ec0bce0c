/// How urgent a piece of work is; the raw value is its order of service.
public enum Criticality: Int, CaseIterable, Sendable, Comparable {
    case interactive, nearRealTime, batch

    public var name: String {
        switch self {
        case .interactive: "interactive"
        case .nearRealTime: "near_real_time"
        case .batch: "batch"
        }
    }

    public init?(name: String) {
        guard let found = Criticality.allCases.first(where: { $0.name == name }) else { return nil }
        self = found
    }

    public static func < (left: Criticality, right: Criticality) -> Bool { left.rawValue < right.rawValue }
}

/// One value for each criticality.
public struct PerCriticality<Value> {
    public var interactive: Value
    public var nearRealTime: Value
    public var batch: Value

    public init(interactive: Value, nearRealTime: Value, batch: Value) {
        self.interactive = interactive
        self.nearRealTime = nearRealTime
        self.batch = batch
    }

    public init(repeating value: Value) {
        self.init(interactive: value, nearRealTime: value, batch: value)
    }

    public subscript(criticality: Criticality) -> Value {
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
    public var total: Rates {
        var resources = interactive.resources
        resources.formUnion(nearRealTime.resources)
        resources.formUnion(batch.resources)
        return Rates(
            perMinute: interactive.perMinute + nearRealTime.perMinute + batch.perMinute, resources: resources)
    }
}

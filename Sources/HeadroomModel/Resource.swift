/// A resource that a pool limits. The raw value is the lane of ``Rates`` and ``Work``.
public enum Resource: Int, CaseIterable, Sendable, Comparable {
    case requests, tokens, inputTokens, outputTokens

    /// The name of an amount: `requests`, `tokens`, `input_tokens`, `output_tokens`.
    public var name: String {
        switch self {
        case .requests: "requests"
        case .tokens: "tokens"
        case .inputTokens: "input_tokens"
        case .outputTokens: "output_tokens"
        }
    }

    /// The name of a rate per minute: `rpm`, `tpm`, `itpm`, `otpm`.
    public var rateName: String {
        switch self {
        case .requests: "rpm"
        case .tokens: "tpm"
        case .inputTokens: "itpm"
        case .outputTokens: "otpm"
        }
    }

    public init?(rateName: String) {
        guard let found = Resource.allCases.first(where: { $0.rateName == rateName }) else { return nil }
        self = found
    }

    public static func < (left: Resource, right: Resource) -> Bool { left.rawValue < right.rawValue }
}

/// A set of resources, one bit each.
public struct ResourceSet: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    public init(_ resource: Resource) {
        rawValue = 1 << UInt8(resource.rawValue)
    }

    public func contains(_ resource: Resource) -> Bool { rawValue & 1 << UInt8(resource.rawValue) != 0 }

    /// Its members in the order of ``Resource``.
    public var members: Members { Members(of: self) }

    /// True in the lanes of its members.
    public var lanes: SIMDMask<SIMD4<Int64>> {
        (SIMD4(repeating: Int64(rawValue)) & SIMD4(1, 2, 4, 8)) .!= 0
    }

    /// One after the other, without a list of them.
    public struct Members: Sequence, IteratorProtocol, Sendable {
        private var left: UInt8

        init(of set: ResourceSet) {
            left = set.rawValue & 15
        }

        public var first: Resource? { Resource(rawValue: left.trailingZeroBitCount) }

        public mutating func next() -> Resource? {
            guard left != 0 else { return nil }
            defer { left &= left &- 1 }
            return Resource(rawValue: left.trailingZeroBitCount)
        }
    }
}

/// Rates per minute, one per resource. An absent rate means "not limited in this resource" (a capacity, a ceiling)
/// or "not stated" (a floor, a demand).
public struct Rates: Equatable, Sendable {
    private var halves: Halved
    private var present: ResourceSet

    /// Lanes in the order of ``Resource``; a lane that is absent holds 0.
    public var perMinute: SIMD4<Double> { halves.wrappedValue }
    public var resources: ResourceSet { present }

    /// No resource limited.
    public static var none: Rates { Rates(perMinute: .zero, resources: []) }

    public init(rpm: Double? = nil, tpm: Double? = nil, itpm: Double? = nil, otpm: Double? = nil) {
        self.init(perMinute: .zero, resources: [])
        self[.requests] = rpm
        self[.tokens] = tpm
        self[.inputTokens] = itpm
        self[.outputTokens] = otpm
    }

    /// The lanes of `resources`; the others are absent.
    public init(perMinute: SIMD4<Double>, resources: ResourceSet) {
        halves = Halved(wrappedValue: SIMD4.zero.replacing(with: perMinute, where: resources.lanes))
        present = resources
    }

    public subscript(resource: Resource) -> Double? {
        get { present.contains(resource) ? halves.wrappedValue[resource.rawValue] : nil }
        set {
            halves.wrappedValue[resource.rawValue] = newValue ?? 0
            if newValue == nil {
                present.remove(ResourceSet(resource))
            } else {
                present.insert(ResourceSet(resource))
            }
        }
    }

    public static func == (left: Rates, right: Rates) -> Bool {
        left.halves == right.halves && left.present == right.present
    }

    // Written out, as the standard library's asks a table which `==` it is.
    public static func != (left: Rates, right: Rates) -> Bool { !(left == right) }

    public var isEmpty: Bool { resources.isEmpty }

    /// Each present rate transformed; absent ones stay absent.
    public func map(_ transform: (Resource, Double) -> Double) -> Rates {
        var result = perMinute
        for resource in resources.members {
            result[resource.rawValue] = transform(resource, result[resource.rawValue])
        }
        return Rates(perMinute: result, resources: resources)
    }

    /// Only the resources in `kept`.
    public func limited(to kept: ResourceSet) -> Rates {
        Rates(perMinute: perMinute, resources: resources.intersection(kept))
    }

    /// The work that these rates allow in `seconds`; 0 where absent.
    public func work(overSeconds seconds: Double) -> Work { Work(amounts: perMinute * (seconds / 60)) }

    public static func * (rates: Rates, factor: Double) -> Rates {
        Rates(perMinute: rates.perMinute * factor, resources: rates.resources)
    }

    /// The lower of two limits in each resource; absent in both stays absent.
    public static func least(_ left: Rates, _ right: Rates) -> Rates {
        let unlimited = SIMD4(repeating: Double.infinity)
        let first = unlimited.replacing(with: left.perMinute, where: left.resources.lanes)
        let second = unlimited.replacing(with: right.perMinute, where: right.resources.lanes)
        return Rates(perMinute: pointwiseMin(first, second), resources: left.resources.union(right.resources))
    }
}

/// An amount of work: so many requests and tokens. Every resource has a number.
public struct Work: Equatable, Sendable {
    private var halves: Halved

    /// Lanes in the order of ``Resource``.
    public var amounts: SIMD4<Double> {
        get { halves.wrappedValue }
        set { halves.wrappedValue = newValue }
    }

    public static var zero: Work { Work(amounts: .zero) }

    public init(amounts: SIMD4<Double>) {
        halves = Halved(wrappedValue: amounts)
    }

    public init(requests: Double = 0, tokens: Double = 0, inputTokens: Double = 0, outputTokens: Double = 0) {
        self.init(amounts: SIMD4(requests, tokens, inputTokens, outputTokens))
    }

    public subscript(resource: Resource) -> Double {
        get { amounts[resource.rawValue] }
        set { amounts[resource.rawValue] = newValue }
    }

    public static func == (left: Work, right: Work) -> Bool { left.halves == right.halves }

    // As of ``Rates``.
    public static func != (left: Work, right: Work) -> Bool { !(left == right) }

    /// This work done every `seconds`, as rates of `resources`.
    public func rates(overSeconds seconds: Double, of resources: ResourceSet) -> Rates {
        Rates(perMinute: amounts * (60 / seconds), resources: resources)
    }

    public static func + (left: Work, right: Work) -> Work { Work(amounts: left.amounts + right.amounts) }
    public static func - (left: Work, right: Work) -> Work { Work(amounts: left.amounts - right.amounts) }
    public static func * (work: Work, factor: Double) -> Work { Work(amounts: work.amounts * factor) }
    public static func += (left: inout Work, right: Work) { left.amounts += right.amounts }
    public static func -= (left: inout Work, right: Work) { left.amounts -= right.amounts }

    /// Seconds of a pool of this capacity that the work takes: the largest over the resources that it limits.
    public func seconds(of capacity: Rates) -> Double { secondsByResource(of: capacity).max() }

    /// The same in each resource; 0 in those that are not limited. Lanes in the order of ``Resource``.
    public func secondsByResource(of capacity: Rates) -> SIMD4<Double> {
        let isLimited = capacity.resources.lanes .& (capacity.perMinute .> 0)
        return SIMD4.zero.replacing(with: amounts * 60 / capacity.perMinute, where: isLimited)
    }
}

/// What a pool limits. The raw value is the lane of ``Rates`` and ``Work``.
///
/// What is said of lanes, sets, rates and work is inlinable: it is the arithmetic of every hot path.
package enum Resource: CaseIterable, Sendable, Hashable, Comparable, RawRepresentable {
    case requests, tokens, inputTokens, outputTokens

    @inlinable
    package init?(rawValue: Int) {
        switch rawValue {
        case 0: self = .requests
        case 1: self = .tokens
        case 2: self = .inputTokens
        case 3: self = .outputTokens
        default: return nil
        }
    }

    @inlinable
    package var rawValue: Int {
        switch self {
        case .requests: 0
        case .tokens: 1
        case .inputTokens: 2
        case .outputTokens: 3
        }
    }

    /// The name of an amount: `requests`, `tokens`, `input_tokens`, `output_tokens`.
    package var name: String {
        switch self {
        case .requests: "requests"
        case .tokens: "tokens"
        case .inputTokens: "input_tokens"
        case .outputTokens: "output_tokens"
        }
    }

    /// The name of a rate per minute: `rpm`, `tpm`, `itpm`, `otpm`.
    package var rateName: String {
        switch self {
        case .requests: "rpm"
        case .tokens: "tpm"
        case .inputTokens: "itpm"
        case .outputTokens: "otpm"
        }
    }

    package init?(rateName: String) {
        guard let found = Resource.allCases.first(where: { $0.rateName == rateName }) else { return nil }
        self = found
    }

    @inlinable
    package static func == (left: Resource, right: Resource) -> Bool { left.rawValue == right.rawValue }

    @inlinable
    package static func < (left: Resource, right: Resource) -> Bool { left.rawValue < right.rawValue }
}

/// A set of resources, one bit each.
package struct ResourceSet: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    @inlinable
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    @inlinable
    package init(_ resource: Resource) {
        rawValue = 1 << UInt8(resource.rawValue)
    }

    @inlinable
    package static func == (left: ResourceSet, right: ResourceSet) -> Bool { left.rawValue == right.rawValue }

    @inlinable
    package func contains(_ resource: Resource) -> Bool { rawValue & 1 << UInt8(resource.rawValue) != 0 }

    /// Its members in the order of ``Resource``.
    @inlinable
    package var members: Members { Members(of: self) }

    /// True in the lanes of its members.
    @inlinable @inline(__always)
    package var lanes: SIMDMask<SIMD4<Int64>> {
        (SIMD4(repeating: Int64(rawValue)) & SIMD4(1, 2, 4, 8)) .!= 0
    }

    /// One after the other, without a list of them.
    package struct Members: Sequence, IteratorProtocol, Sendable {
        @usableFromInline var left: UInt8

        @inlinable
        init(of set: ResourceSet) {
            left = set.rawValue & 15
        }

        @inlinable
        package var first: Resource? { Resource(rawValue: left.trailingZeroBitCount) }

        @inlinable
        package mutating func next() -> Resource? {
            guard left != 0 else { return nil }
            defer { left &= left &- 1 }
            return Resource(rawValue: left.trailingZeroBitCount)
        }
    }
}

/// Rates per minute, one per resource. An absent rate means "not limited in this resource" (a capacity, a ceiling)
/// or "not stated" (a floor, a demand).
package struct Rates: Equatable, Sendable {
    @usableFromInline var halves: Halved
    @usableFromInline var present: ResourceSet

    /// Lanes in the order of ``Resource``; a lane that is absent holds 0.
    @inlinable @inline(__always)
    package var perMinute: SIMD4<Double> { halves.wrappedValue }
    @inlinable
    package var resources: ResourceSet { present }

    /// No resource limited.
    @inlinable
    package static var none: Rates { Rates(perMinute: .zero, resources: []) }

    package init(rpm: Double? = nil, tpm: Double? = nil, itpm: Double? = nil, otpm: Double? = nil) {
        self.init(perMinute: .zero, resources: [])
        self[.requests] = rpm
        self[.tokens] = tpm
        self[.inputTokens] = itpm
        self[.outputTokens] = otpm
    }

    /// The lanes of `resources`; the others are absent.
    @inlinable @inline(__always)
    package init(perMinute: SIMD4<Double>, resources: ResourceSet) {
        halves = Halved(wrappedValue: SIMD4.zero.replacing(with: perMinute, where: resources.lanes))
        present = resources
    }

    @inlinable
    package subscript(resource: Resource) -> Double? {
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

    @inlinable
    package static func == (left: Rates, right: Rates) -> Bool {
        left.halves == right.halves && left.present == right.present
    }

    // Written out, as the standard library's asks a table which `==` it is.
    @inlinable
    package static func != (left: Rates, right: Rates) -> Bool { !(left == right) }

    @inlinable
    package var isEmpty: Bool { resources.isEmpty }

    /// Each present rate transformed; absent ones stay absent.
    @inlinable
    package func map(_ transform: (Resource, Double) -> Double) -> Rates {
        var result = perMinute
        for resource in resources.members {
            result[resource.rawValue] = transform(resource, result[resource.rawValue])
        }
        return Rates(perMinute: result, resources: resources)
    }

    /// Only the resources in `kept`.
    @inlinable
    package func limited(to kept: ResourceSet) -> Rates {
        Rates(perMinute: perMinute, resources: resources.intersection(kept))
    }

    /// The work that these rates allow in `seconds`; 0 where absent.
    @inlinable
    package func work(overSeconds seconds: Double) -> Work { Work(amounts: perMinute * (seconds / 60)) }

    @inlinable
    package static func * (rates: Rates, factor: Double) -> Rates {
        Rates(perMinute: rates.perMinute * factor, resources: rates.resources)
    }

    /// The lower of two limits in each resource; absent in both stays absent.
    @inlinable
    package static func least(_ left: Rates, _ right: Rates) -> Rates {
        let unlimited = SIMD4(repeating: Double.infinity)
        let first = unlimited.replacing(with: left.perMinute, where: left.resources.lanes)
        let second = unlimited.replacing(with: right.perMinute, where: right.resources.lanes)
        return Rates(perMinute: pointwiseMin(first, second), resources: left.resources.union(right.resources))
    }
}

/// An amount of work: so many requests and tokens. Every resource has a number.
package struct Work: Equatable, Sendable {
    @usableFromInline var halves: Halved

    /// Lanes in the order of ``Resource``.
    @inlinable
    package var amounts: SIMD4<Double> {
        get { halves.wrappedValue }
        set { halves.wrappedValue = newValue }
    }

    @inlinable
    package static var zero: Work { Work(amounts: .zero) }

    @inlinable
    package init(amounts: SIMD4<Double>) {
        halves = Halved(wrappedValue: amounts)
    }

    @inlinable
    package init(requests: Double = 0, tokens: Double = 0, inputTokens: Double = 0, outputTokens: Double = 0) {
        self.init(amounts: SIMD4(requests, tokens, inputTokens, outputTokens))
    }

    @inlinable
    package subscript(resource: Resource) -> Double {
        get { amounts[resource.rawValue] }
        set { amounts[resource.rawValue] = newValue }
    }

    @inlinable
    package static func == (left: Work, right: Work) -> Bool { left.halves == right.halves }

    // As of ``Rates``.
    @inlinable
    package static func != (left: Work, right: Work) -> Bool { !(left == right) }

    /// This work done every `seconds`, as rates of `resources`.
    @inlinable
    package func rates(overSeconds seconds: Double, of resources: ResourceSet) -> Rates {
        Rates(perMinute: amounts * (60 / seconds), resources: resources)
    }

    @inlinable
    package static func + (left: Work, right: Work) -> Work { Work(amounts: left.amounts + right.amounts) }
    @inlinable
    package static func - (left: Work, right: Work) -> Work { Work(amounts: left.amounts - right.amounts) }
    @inlinable
    package static func * (work: Work, factor: Double) -> Work { Work(amounts: work.amounts * factor) }
    @inlinable
    package static func += (left: inout Work, right: Work) { left.amounts += right.amounts }
    @inlinable
    package static func -= (left: inout Work, right: Work) { left.amounts -= right.amounts }

    /// Seconds of a pool of this capacity that the work takes: the largest over the resources that it limits.
    @inlinable
    package func seconds(of capacity: Rates) -> Double {
        let isLimited = capacity.resources.lanes .& (capacity.perMinute .> 0)
        return SIMD4.zero.replacing(with: amounts * 60 / capacity.perMinute, where: isLimited).max()
    }
}

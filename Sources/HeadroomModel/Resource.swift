/// What a pool limits. The raw value is the lane of ``Rates`` and ``Work``.
package enum Resource: Int, CaseIterable, Sendable, Hashable, Comparable {
    case requests, tokens, inputTokens, outputTokens

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

    package static func < (left: Resource, right: Resource) -> Bool { left.rawValue < right.rawValue }
}

/// A set of resources, one bit each.
package struct ResourceSet: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    package init(_ resource: Resource) {
        rawValue = 1 << UInt8(resource.rawValue)
    }

    package func contains(_ resource: Resource) -> Bool { contains(ResourceSet(resource)) }

    /// Its members in the order of ``Resource``.
    package var members: [Resource] { ResourceSet.membersByRawValue[Int(rawValue & 15)] }

    /// True in the lanes of its members.
    package var lanes: SIMDMask<SIMD4<Int64>> {
        (SIMD4(repeating: Int64(rawValue)) & SIMD4(1, 2, 4, 8)) .!= 0
    }

    /// All sixteen sets: looked up, since rates are on every hot path and a list made anew costs an allocation.
    private static let membersByRawValue: [[Resource]] = (0..<16).map { bits in
        Resource.allCases.filter { bits & (1 << $0.rawValue) != 0 }
    }
}

/// Rates per minute, one per resource. An absent rate means "not limited in this resource" (a capacity, a ceiling)
/// or "not stated" (a floor, a demand).
package struct Rates: Equatable, Sendable {
    /// Lanes in the order of ``Resource``; a lane that is absent holds 0.
    @Halved package private(set) var perMinute: SIMD4<Double> = .zero
    package private(set) var resources: ResourceSet = []

    /// No resource limited.
    package static let none = Rates()

    package init(rpm: Double? = nil, tpm: Double? = nil, itpm: Double? = nil, otpm: Double? = nil) {
        self[.requests] = rpm
        self[.tokens] = tpm
        self[.inputTokens] = itpm
        self[.outputTokens] = otpm
    }

    /// The lanes of `resources`; the others are absent.
    package init(perMinute: SIMD4<Double>, resources: ResourceSet) {
        self.perMinute = SIMD4.zero.replacing(with: perMinute, where: resources.lanes)
        self.resources = resources
    }

    package subscript(resource: Resource) -> Double? {
        get { resources.contains(resource) ? perMinute[resource.rawValue] : nil }
        set {
            perMinute[resource.rawValue] = newValue ?? 0
            if newValue == nil {
                resources.remove(ResourceSet(resource))
            } else {
                resources.insert(ResourceSet(resource))
            }
        }
    }

    package var isEmpty: Bool { resources.isEmpty }

    /// Each present rate transformed; absent ones stay absent.
    package func map(_ transform: (Resource, Double) -> Double) -> Rates {
        var result = Rates()
        for resource in resources.members { result[resource] = transform(resource, perMinute[resource.rawValue]) }
        return result
    }

    /// Only the resources in `kept`.
    package func limited(to kept: ResourceSet) -> Rates {
        Rates(perMinute: perMinute, resources: resources.intersection(kept))
    }

    /// The work that these rates allow in `seconds`; 0 where absent.
    package func work(overSeconds seconds: Double) -> Work { Work(amounts: perMinute * (seconds / 60)) }

    package static func * (rates: Rates, factor: Double) -> Rates {
        Rates(perMinute: rates.perMinute * factor, resources: rates.resources)
    }

    /// The lower of two limits in each resource; absent in both stays absent.
    package static func least(_ left: Rates, _ right: Rates) -> Rates {
        let unlimited = SIMD4(repeating: Double.infinity)
        let first = unlimited.replacing(with: left.perMinute, where: left.resources.lanes)
        let second = unlimited.replacing(with: right.perMinute, where: right.resources.lanes)
        return Rates(perMinute: pointwiseMin(first, second), resources: left.resources.union(right.resources))
    }
}

/// An amount of work: so many requests and tokens. Every resource has a number.
package struct Work: Equatable, Sendable {
    /// Lanes in the order of ``Resource``.
    @Halved package var amounts: SIMD4<Double>

    package static let zero = Work(amounts: .zero)

    package init(amounts: SIMD4<Double>) {
        self.amounts = amounts
    }

    package init(requests: Double = 0, tokens: Double = 0, inputTokens: Double = 0, outputTokens: Double = 0) {
        amounts = SIMD4(requests, tokens, inputTokens, outputTokens)
    }

    package subscript(resource: Resource) -> Double {
        get { amounts[resource.rawValue] }
        set { amounts[resource.rawValue] = newValue }
    }

    /// This work done every `seconds`, as rates of `resources`.
    package func rates(overSeconds seconds: Double, of resources: ResourceSet) -> Rates {
        Rates(perMinute: amounts * (60 / seconds), resources: resources)
    }

    package static func + (left: Work, right: Work) -> Work { Work(amounts: left.amounts + right.amounts) }
    package static func - (left: Work, right: Work) -> Work { Work(amounts: left.amounts - right.amounts) }
    package static func * (work: Work, factor: Double) -> Work { Work(amounts: work.amounts * factor) }
    package static func += (left: inout Work, right: Work) { left.amounts += right.amounts }
    package static func -= (left: inout Work, right: Work) { left.amounts -= right.amounts }

    /// Seconds of a pool of this capacity that the work takes: the largest over the resources that it limits.
    package func seconds(of capacity: Rates) -> Double {
        let isLimited = capacity.resources.lanes .& (capacity.perMinute .> 0)
        return SIMD4.zero.replacing(with: amounts * 60 / capacity.perMinute, where: isLimited).max()
    }
}

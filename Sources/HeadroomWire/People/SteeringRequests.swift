import HeadroomJSON
import HeadroomModel

/// The body of `PUT /v1/pools/{id}/capacity`: a capacity that a person vouches for.
package struct PinRequest: Equatable, Sendable {
    package var capacity: Rates
    package var reason: String
    package var expiresInSeconds: Double

    package init(capacity: Rates, reason: String, expiresInSeconds: Double) {
        self.capacity = capacity
        self.reason = reason
        self.expiresInSeconds = expiresInSeconds
    }

    package static func decode(_ bytes: [UInt8], pool: PoolPolicy) throws(BodyError) -> PinRequest {
        var body = try StrictObject(document: bytes)
        let capacity = body.rates("capacity", isRequired: true)
        let limited = pool.nominal.resources
        if let capacity, capacity.isEmpty || !capacity.resources.isSubset(of: limited) {
            let names = limited.members.map(\.rateName).joined(separator: ", ")
            body.report("capacity", "must name some of what the pool limits: \(names)")
        }
        let (reason, seconds) = body.reasonAndEnd()
        body.end()
        try body.check()
        guard let capacity, let reason, let seconds else { throw BodyError.unreadable }
        return PinRequest(capacity: capacity, reason: reason, expiresInSeconds: seconds)
    }

    package func encoded() -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("capacity", capacity)
        writer.reasonAndEnd(reason, expiresInSeconds)
        writer.endObject()
        return writer.bytes
    }
}

/// The body of `POST /v1/freeze` and, with a generation, of `POST /v1/rollback`.
package struct FreezeRequest: Equatable, Sendable {
    /// `nil`: all pools.
    package var pool: PoolID?
    /// The generation to go back to; `nil` keeps the numbers in force.
    package var generation: Int64?
    package var reason: String
    package var expiresInSeconds: Double

    package init(pool: PoolID? = nil, generation: Int64? = nil, reason: String, expiresInSeconds: Double) {
        self.pool = pool
        self.generation = generation
        self.reason = reason
        self.expiresInSeconds = expiresInSeconds
    }

    package static func decode(
        _ bytes: [UInt8], policy: Policy, isRollback: Bool
    ) throws(BodyError) -> FreezeRequest {
        var body = try StrictObject(document: bytes)
        var generation: Int64?
        if isRollback {
            // A `Double` holds whole numbers exactly up to 2^53.
            generation = body.number(
                "generation", in: 1...9_007_199_254_740_992, "an old generation", isRequired: true, isWhole: true
            ).map { Int64($0) }
        }
        let pool = body.pool(of: policy)
        let (reason, seconds) = body.reasonAndEnd()
        body.end()
        try body.check()
        guard let reason, let seconds else { throw BodyError.unreadable }
        return FreezeRequest(pool: pool, generation: generation, reason: reason, expiresInSeconds: seconds)
    }

    package func encoded() -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        if let generation {
            writer.field("generation", generation)
        }
        writer.field("pool", pool?.text)
        writer.reasonAndEnd(reason, expiresInSeconds)
        writer.endObject()
        return writer.bytes
    }
}

// MARK: Parts of bodies

extension BodyError {
    /// Every field is there once ``StrictObject/check()`` has passed; this stands where the compiler cannot know it.
    static let unreadable = BodyError(faults: [.init(.path(""), "cannot be read")])
}

extension StrictObject {
    mutating func reasonAndEnd(isEndRequired: Bool = true) -> (reason: String?, seconds: Double?) {
        let reason = text("reason", most: SteeringLimits.maxReasonCharacters, isRequired: true)
        let seconds = number(
            "expires_in_seconds", in: 1...SteeringLimits.maxSeconds, "seconds until it ends by itself",
            isRequired: isEndRequired)
        return (reason, seconds)
    }

    /// One of the policy's, by the field `pool`.
    mutating func pool(of policy: Policy) -> PoolID? {
        guard let pool: PoolID = identifier("pool") else { return nil }
        if policy.pool(pool) == nil {
            let names = policy.pools.prefix(20).map(\.pool.text).joined(separator: ", ")
            let question = NearestName.question(pool.text, among: policy.pools.map(\.pool.text))
            let more = policy.pools.count > 20 ? ", …" : ""
            report("pool", "the policy has no such pool; it has \(names)\(more)\(question)")
        }
        return pool
    }
}

extension JSONWriter {
    mutating func reasonAndEnd(_ reason: String, _ seconds: Double?) {
        field("reason", reason)
        guard let seconds else { return }
        field("expires_in_seconds", seconds)
    }
}

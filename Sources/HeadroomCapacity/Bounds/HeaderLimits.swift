import HeadroomModel

/// What a provider's headers say of its limits per minute. One below the contract is believed at once, one above it
/// when it has held for a minute and the policy allows it.
struct HeaderLimits: Equatable, Sendable {
    private static let holdSeconds = 60.0

    private struct Limit: Equatable, Sendable {
        var rate: Double
        /// Since when it has been the same.
        var heldSince: Timestamp
        var seenAt: Timestamp
    }

    /// Lanes in the order of ``Resource``.
    private var limits = [Limit?](repeating: nil, count: Resource.allCases.count)

    /// A provider may report several windows of a minute or less, its project's beside its organisation's: the least
    /// binds.
    mutating func note(_ response: ResponseRecord, of resources: ResourceSet) {
        for resource in resources.members {
            let rates = response.signal.windows.compactMap { window -> Double? in
                let seconds = window.windowSeconds ?? 60
                guard window.resource == resource, seconds > 0, seconds <= 60, let limit = window.limit else {
                    return nil
                }
                let rate = limit * 60 / seconds
                // 10^12 is the most that a contract can say.
                return rate >= 1 && rate <= 1e12 ? rate : nil
            }
            guard let least = rates.min() else { continue }
            note(least, of: resource, at: response.at)
        }
    }

    private mutating func note(_ rate: Double, of resource: Resource, at: Timestamp) {
        guard let known = limits[resource.rawValue] else {
            limits[resource.rawValue] = Limit(rate: rate, heldSince: at, seenAt: at)
            return
        }
        guard known.seenAt <= at else { return }
        limits[resource.rawValue] = Limit(
            rate: rate, heldSince: known.rate == rate ? known.heldSince : at, seenAt: at)
    }

    /// Forgets what has not been said again for so long.
    mutating func forget(after seconds: Double, at now: Timestamp) {
        for lane in limits.indices {
            if let limit = limits[lane], now.seconds(since: limit.seenAt) > seconds { limits[lane] = nil }
        }
    }

    /// The known limits: the contract's, or the provider's own word.
    func applied(to nominal: Rates, acceptsAbove: Bool) -> Rates {
        nominal.map { resource, contract in
            guard let limit = limits[resource.rawValue] else { return contract }
            let hasHeld = limit.seenAt.seconds(since: limit.heldSince) >= HeaderLimits.holdSeconds
            return limit.rate <= contract || (acceptsAbove && hasHeld) ? limit.rate : contract
        }
    }

    var isEmpty: Bool { limits.allSatisfy { $0 == nil } }
}

extension HeaderLimits {
    func write(to writer: inout ByteWriter) {
        for limit in limits {
            writer.write(limit) { writer, limit in
                writer.write(limit.rate)
                writer.write(limit.heldSince)
                writer.write(limit.seenAt)
            }
        }
    }

    init(from reader: inout ByteReader) throws(ByteCodingError) {
        for lane in limits.indices {
            limits[lane] = try reader.readOptional { reader in
                let rate = try reader.readAmount()
                guard rate >= 1, rate <= 1e12 else { throw ByteCodingError.outOfRange }
                return Limit(rate: rate, heldSince: try reader.readTimestamp(), seenAt: try reader.readTimestamp())
            }
        }
    }
}

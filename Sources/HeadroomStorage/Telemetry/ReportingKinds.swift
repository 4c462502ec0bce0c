import HeadroomModel

/// Whether a gateway reports a tenant × pool call by call or in windows. Both at once would count its work twice, so
/// that the first kind keeps the pair until it has been silent for ten minutes.
struct ReportingKinds {
    enum Kind: Sendable {
        case calls, windows

        var name: String {
            switch self {
            case .calls: "calls"
            case .windows: "windows"
            }
        }
    }

    /// Numbers of the table `name`.
    struct Pair: Hashable {
        var gateway: Int64
        var tenant: Int64
        var pool: Int64
    }

    private struct Claim {
        var kind: Kind
        var lastSeen: Timestamp
    }

    static let silenceSeconds = 600.0
    /// Pairs remembered, some 80 MB. Further ones pass unchecked until some have been silent for long enough. Gateways that come
    /// under new names leave theirs behind, so the silent ones go once a minute.
    private static let maxPairs = 1_000_000

    private var claims: [Pair: Claim] = [:]
    /// The claims that the present transaction replaced.
    private var replaced: [(pair: Pair, claim: Claim?)] = []
    private var lastSweep = Timestamp(milliseconds: .min)

    /// `nil` when `pair` may be reported by `kind`, else the kind that it is reported by.
    mutating func claim(_ pair: Pair, by kind: Kind, at now: Timestamp) -> Kind? {
        if let claim = claims[pair] {
            if claim.kind == kind {
                if claim.lastSeen < now { claims[pair]?.lastSeen = now }
                return nil
            }
            if now.seconds(since: claim.lastSeen) < ReportingKinds.silenceSeconds { return claim.kind }
            replaced.append((pair, claim))
        } else {
            dropSilent(at: now)
            if claims.count >= ReportingKinds.maxPairs { return nil }
            replaced.append((pair, nil))
        }
        claims[pair] = Claim(kind: kind, lastSeen: now)
        return nil
    }

    mutating func keepReplaced() {
        replaced.removeAll(keepingCapacity: true)
    }

    /// The transaction was rolled back: lines that were not stored claim nothing.
    mutating func restoreReplaced() {
        for (pair, claim) in replaced.reversed() { claims[pair] = claim }
        replaced.removeAll()
    }

    /// About what the table takes, in bytes.
    var memoryBytes: Int { claims.capacity * (MemoryLayout<Pair>.stride + MemoryLayout<Claim>.stride) }

    /// At most once a minute, and in place: a copy would take as much again.
    private mutating func dropSilent(at now: Timestamp) {
        guard lastSweep.milliseconds < now.milliseconds - 60_000 else { return }
        lastSweep = now
        let silent = claims.filter { now.seconds(since: $0.value.lastSeen) >= ReportingKinds.silenceSeconds }
        for pair in silent.keys { claims[pair] = nil }
    }
}

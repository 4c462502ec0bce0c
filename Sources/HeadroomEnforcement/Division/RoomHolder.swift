import HeadroomModel

/// The budget that one gateway may have in force of one pool.
///
/// It may use any part since the last one that it acknowledged: until lease and grace have passed since its last answer
/// on it the part's budget, and from then on the part's fallback. Headroom allows for the fallback a grace before the
/// lease can have run out, so that others have come down by then.
struct RoomHolder: Sendable {
    let gateway: GatewayID
    var lastSeen: Timestamp
    /// Known from the ledger only: whether it is on its budget or its fallback, nobody knows.
    private var isUnheard: Bool
    /// The beginning of its answers without a silence as long as a lease.
    private var answeredSince: Timestamp
    /// Ascending by version.
    private var grants: [SentPart] = []

    /// The largest budget that it may be using, as of the last look.
    @Halved private var used = SIMD4<Double>.zero
    /// The largest fallback that it may fall back to.
    @Halved private(set) var fallback = SIMD4<Double>.zero
    /// The fallback, when it has not answered for so long that it may be on it.
    @Halved private var kept = SIMD4<Double>.zero
    /// The largest part that its fallbacks were of all fallbacks.
    @Halved private var keptPart = SIMD4<Double>.zero
    /// No answer for so long that it may be on its fallback soon, or it has just come back from there.
    private(set) var isSilent = false
    /// The version that it may have fallen back from.
    private var silentThrough: SnapshotVersion?

    /// Its last grant.
    var newest: SentPart? { grants.last }

    /// Parts that are kept one by one. More are sent within lease and grace only where many gateways join at once; the
    /// oldest are then taken together, as the largest of both.
    private static let maxGrants = 32

    init(gateway: GatewayID, lastSeen: Timestamp, isUnheard: Bool = false) {
        self.gateway = gateway
        self.lastSeen = lastSeen
        answeredSince = lastSeen
        self.isUnheard = isUnheard
    }

    mutating func add(_ grant: SentPart) {
        grants.append(grant)
        if grants.count > RoomHolder.maxGrants {
            grants.replaceSubrange(0..<2, with: [grants[0].joined(to: grants[1])])
        }
        used = pointwiseMax(used, grant.budget)
        fallback = pointwiseMax(fallback, grant.fallback)
    }

    /// E_g: what it may be using.
    var held: SIMD4<Double> { pointwiseMax(used, kept) }

    /// Its last budget, or less while it may be on an earlier fallback: with that much it has no more than now,
    /// wherever it is.
    var leastBudget: SIMD4<Double> {
        grantsBeforeSilence.reduce(newest?.budget ?? .zero) { pointwiseMin($0, $1.fallback) }
    }

    /// The part of that which counts beside new budgets, where all fallbacks together are `whole` now.
    ///
    /// One that does not answer cannot learn that capacity fell. It goes on counting with its part of what there is
    /// and not with what it was given: most gateways that fall silent are gone, and those that live would have nothing
    /// until it is forgotten.
    func claim(on whole: SIMD4<Double>) -> (held: SIMD4<Double>, kept: SIMD4<Double>, fallback: SIMD4<Double>) {
        let part = (keptPart * whole).rounded(.up)
        let kept = pointwiseMin(kept, part)
        return (pointwiseMax(used, kept), kept, isSilent ? pointwiseMin(fallback, part) : fallback)
    }

    /// - Parameters:
    ///   - newest: the publication in force: it may be handed out between this look and the next publication.
    ///   - term: the epoch in which the presence was noted: of earlier ones the board does not know what was sent.
    mutating func hear(
        _ presence: GatewayPresence, newest: SnapshotVersion?, term: Int64?, graceSeconds: Double
    ) {
        let lease = grants.last?.leaseSeconds ?? 0
        if presence.lastSeen > lastSeen.adding(seconds: lease) { answeredSince = presence.lastSeen }
        // It may have been on its fallback since before this term.
        if isUnheard { silentThrough = grants.last?.version }
        lastSeen = max(lastSeen, presence.lastSeen)
        isUnheard = false
        // A version that nobody published was not applied. A version that the ledger of an earlier term never had is no
        // more than the grant before it.
        if let applied = presence.applied, let newest, applied <= newest,
            let known = grants.last(where: { $0.version <= applied })?.version
        {
            grants.removeAll { $0.version < known }
        }
        // A grant that is not in force any more and was not handed out never will be.
        grants.removeAll { grant in
            grant.version.epoch == term && grant.version != newest
                && presence.sent.map { grant.version > $0 } ?? true
        }
        guard let sent = presence.sent else { return }
        for index in grants.indices where grants[index].version < sent {
            grants[index].end(by: lastSeen, graceSeconds: graceSeconds)
        }
        // A gateway that never says what it has applied, and has been answered for lease and grace since, has something
        // newer by now.
        if presence.applied == nil {
            let answered = answeredSince.adding(seconds: lease + graceSeconds)
            grants.removeAll { grant in
                grant.version < sent && (grant.until.map { max($0, answered) < lastSeen } ?? false)
            }
        }
    }

    mutating func settle(newest: SnapshotVersion?, under policy: LoopPolicy, at now: Timestamp) {
        used = .zero
        fallback = .zero
        for index in grants.indices {
            let isNewest = grants[index].version == newest
            let lapse = lastSeen.adding(seconds: grants[index].leaseSeconds + policy.graceSeconds)
            if !isNewest {
                // Answers hand out something newer by now and renew it no longer: neither the next ones, nor, when it
                // has lapsed, those after a silence.
                grants[index].end(by: now < lapse ? now : lastSeen, graceSeconds: policy.graceSeconds)
            }
            let grant = grants[index]
            if isNewest || now < min(lapse, grant.until ?? lapse) { used = pointwiseMax(used, grant.budget) }
            fallback = pointwiseMax(fallback, grant.fallback)
        }
        let lease = grants.last?.leaseSeconds ?? 0
        if isUnheard || now >= lastSeen.adding(seconds: lease - policy.graceSeconds) {
            silentThrough = grants.last?.version
        }
        let before = grantsBeforeSilence
        isSilent = !before.isEmpty
        kept = before.reduce(.zero) { pointwiseMax($0, $1.fallback) }
        keptPart = grants.reduce(.zero) { pointwiseMax($0, $1.fallbackPart) }
        let isNewest = grants.last?.version == newest
        if !isNewest, now >= forgottenAt(under: policy) { grants = [] }
    }

    /// From then on nothing is withheld for it, if it is not heard of before.
    func forgottenAt(under policy: LoopPolicy) -> Timestamp {
        let lease = max(policy.leaseSeconds, grants.last?.leaseSeconds ?? 0)
        return lastSeen.adding(seconds: lease + policy.graceSeconds + policy.safeSeconds)
    }

    /// It said goodbye: it uses nothing any more.
    mutating func release() { grants = [] }

    /// One that comes back is on its fallback until it has something newer.
    private var grantsBeforeSilence: ArraySlice<SentPart> {
        grants.prefix { grant in silentThrough.map { grant.version <= $0 } ?? false }
    }

    /// It holds nothing, or has been silent for longer than its fallback is kept.
    var isForgotten: Bool { grants.isEmpty }
}

/// A part of a pool that a gateway was given, or may have been.
struct SentPart: Sendable {
    var version: SnapshotVersion
    @Halved var budget: SIMD4<Double>
    @Halved var fallback: SIMD4<Double>
    /// Of all gateways' then, 0 to 1.
    @Halved var fallbackPart: SIMD4<Double>
    var leaseSeconds: Double
    /// When its lease has run out for certain, however late the gateway answers: set once something newer is there to be
    /// handed out. Before that it follows the gateway's last answer, and a gateway that was silent for longer has it no
    /// more.
    var until: Timestamp?

    /// No answer after `last` has renewed its lease.
    mutating func end(by last: Timestamp, graceSeconds: Double) {
        let end = last.adding(seconds: leaseSeconds + graceSeconds)
        until = min(until ?? end, end)
    }

    /// Both at once: what frees the later one frees them.
    func joined(to later: SentPart) -> SentPart {
        SentPart(
            version: later.version, budget: pointwiseMax(budget, later.budget),
            fallback: pointwiseMax(fallback, later.fallback),
            fallbackPart: pointwiseMax(fallbackPart, later.fallbackPart),
            leaseSeconds: max(leaseSeconds, later.leaseSeconds),
            until: later.until)
    }
}

/// One gateway's request, beside what it may have. Lanes in the order of ``Resource``, whole numbers.
struct RoomClaim {
    var wanted: SIMD4<Double>
    /// Its own in any case: up to here nothing is taken from the room.
    var held: SIMD4<Double>
    /// The budget it goes on holding while it does not answer; nothing of one that does.
    var kept: SIMD4<Double>
    /// In times of excess nothing rises above this, though it may hold more.
    var least: SIMD4<Double>
    /// It has been given nothing yet: so much of what it wants goes before what the others want.
    var first: SIMD4<Double>?

    /// - Parameter isComplete: Nobody else is expected, for whom room would have to be left.
    /// - Returns: for each claim at most what it wants. Together with what is held beyond that they fit into `limit`,
    ///   or nothing rises.
    static func fit(
        _ claims: [RoomClaim], heldElsewhere: SIMD4<Double>, keptElsewhere: SIMD4<Double>, within limit: SIMD4<Double>,
        isComplete: Bool
    ) -> [SIMD4<Double>] {
        let share = share(of: claims, within: limit - keptElsewhere)
        let held = claims.reduce(heldElsewhere) { $0 + $1.held }
        var wanted = claims.map { ($0.wanted * share).rounded(.down) }
        let isExceeded = held .> limit
        for (index, claim) in claims.enumerated() {
            wanted[index].replace(with: pointwiseMin(wanted[index], claim.least), where: isExceeded)
        }

        var free = pointwiseMax(limit - held, .zero)
        var fitted = claims.indices.map { pointwiseMin(wanted[$0], claims[$0].held) }
        func rise(_ rising: [Int], to most: (Int) -> SIMD4<Double>) {
            let rises = rising.map { pointwiseMax(most($0) - fitted[$0], .zero) }
            let share = part(of: free, for: rises.reduce(.zero, +))
            for (index, rise) in zip(rising, rises) {
                let rise = (rise * share).rounded(.down)
                fitted[index] += rise
                free -= rise
            }
        }
        let newcomers = claims.indices.filter { claims[$0].first != nil }
        rise(newcomers) { pointwiseMin(wanted[$0], claims[$0].first ?? .zero) }
        rise(claims.indices.filter { claims[$0].first == nil }) { wanted[$0] }
        if isComplete { rise(newcomers) { wanted[$0] } }
        return fitted
    }

    /// The share of each gateway's wish that fits once the others have made room: together with what silent ones keep
    /// beyond it that is at most `limit`.
    private static func share(of claims: [RoomClaim], within limit: SIMD4<Double>) -> SIMD4<Double> {
        var share = SIMD4<Double>(repeating: 1)
        var isSettled = false
        while !isSettled {
            var asked = SIMD4<Double>.zero
            var left = limit
            for claim in claims {
                let keepsMore = claim.kept .> claim.wanted * share
                asked += claim.wanted.replacing(with: 0, where: keepsMore)
                left -= SIMD4.zero.replacing(with: claim.kept, where: keepsMore)
            }
            // The smaller the share, the more of them keep more.
            let next = pointwiseMin(share, part(of: left, for: asked))
            isSettled = next == share
            share = next
        }
        return share
    }

    /// 0 to 1: how much of what is asked for there is.
    private static func part(of available: SIMD4<Double>, for asked: SIMD4<Double>) -> SIMD4<Double> {
        let part = (available / asked).replacing(with: 1, where: asked .<= 0)
        return pointwiseMax(.zero, pointwiseMin(part, SIMD4(repeating: 1)))
    }
}

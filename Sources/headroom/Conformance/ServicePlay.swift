import HeadroomModel
import HeadroomWire

/// Headroom as a gateway meets it: each poll is answered with the next scene, and the poll after it shows what the gateway
/// made of that. What is found is a list of rules (the articles WireFormat and GatewayRules), each kept, broken or not seen.
///
/// A pure value: times are the caller's, in milliseconds.
struct ServicePlay {
    enum Rule: String, CaseIterable {
        case names = "Poll: each names the process, by gateway= and by a boot= that stays"
        case acknowledges = "Poll: the first answer is a reader's; it is acknowledged at once with applied="
        case applies = "Poll: a snapshot is in force at once, and applied= says so"
        case waits = "Poll: it waits for news with wait=, and is made again within the lease"
        case mergesDeltas = "Deltas: one for the version in force is merged, and applied= names the new one"
        case passesOver = "Fields that are not known are passed over"
        case ignoresOld = "An older generation is not loaded"
        case ignoresForeign = "Deltas: one for another version than the one in force is not loaded"
        case backsOff = "Poll: after a failure it comes again after 0.5 s, doubled each time up to 5 s"
        case followsTerm = "A higher epoch is loaded, although its generation is lower"
        case givesUp = "Poll: one that nobody answers is given up, and made again"
        case reports = "Reports: each line can be read, and is the gateway's own"
        case repeats = "Reports: a batch that was not taken comes again, the same under the same number"
        case draws = "Drawing: requests ascend, and name the boot and the epoch of the polls"
        case saysGoodbye = "Goodbye: a gateway that stops says so (DELETE /v1/gateways/NAME)"
    }

    enum Verdict: Equatable {
        case kept
        case broken(String)
        /// Nothing showed whether it is kept; why.
        case unseen(String)
    }

    /// What a poll says. Absent or unreadable: `nil`.
    struct Poll {
        var gateway: String?
        var boot: String?
        var applied: SnapshotVersion?
        var since: SnapshotVersion?
        var wait: Double?
        var hasTag = false
    }

    struct Answer {
        var status = 200
        /// Not before so many seconds.
        var afterSeconds = 0.0
        var version = SnapshotVersion(epoch: 0, generation: 0)
        var body: [UInt8] = []
    }

    /// Each is the answer to one poll; `failing` to three.
    private enum Scene: Int {
        case nothing, reader, part, waiting, delta, additions, older, foreignDelta, failing, term, silence, over
    }

    /// The pool that the gateway is sent. Its tenants are `a` and `b`.
    let pool: PoolID
    let leaseSeconds: Double
    private(set) var gateway: String?
    private(set) var boot: String?
    private(set) var verdicts: [Rule: Verdict] = [:]
    private(set) var version = SnapshotVersion(epoch: 1000, generation: 0)
    private var scene = Scene.nothing
    /// Of the scene, when its answer was or will be sent.
    private var answeredAt: Int64
    /// What the gateway says is in force.
    private var inForce: SnapshotVersion?
    /// The newest that it was sent and had to load.
    private var loaded: Snapshot?
    private var heldSince: SnapshotVersion?
    private var failures = 0
    private var lastFailureAt: Int64 = 0
    var reported = Reported()
    var drawn = Drawn()

    /// A gateway asks again at once within that; an answer and a poll take their time, too.
    private static let atOnceMilliseconds: Int64 = 1500
    private static let maxFailures = 3
    /// So long a poll is left without an answer: longer than the wait, a client's five seconds of grace, and what it takes besides.
    private static let silenceSeconds = 20.0
    /// Without a poll for so long, the gateway has ended.
    private static let patienceMilliseconds: Int64 = 15_000
    private static let ratePerMinute = 6000.0

    init(pool: PoolID, leaseSeconds: Double, at now: Int64) {
        self.pool = pool
        self.leaseSeconds = leaseSeconds
        answeredAt = now
    }

    /// Every scene has been played.
    var isOver: Bool { scene == .over }

    // MARK: Polls

    /// The answer to one poll.
    mutating func poll(_ poll: Poll, at now: Int64) -> Answer {
        noteName(of: poll)
        judge(poll, at: now)
        inForce = poll.applied ?? inForce
        if scene == .failing, failures < Self.maxFailures {
            return fail(at: now)
        }
        if scene != .over, let next = Scene(rawValue: scene.rawValue + 1) { scene = next }
        let answer = play(poll, at: now)
        answeredAt = now + Int64(answer.afterSeconds * 1000)
        return answer
    }

    /// Nothing has come for a while: the gateway has ended, or waits for something that it is not sent.
    mutating func look(at now: Int64) {
        guard scene != .over, now - answeredAt > Self.patienceMilliseconds else { return }
        let seconds = Self.patienceMilliseconds / 1000
        find(Self.rule(of: scene) ?? .names, .broken("no poll within \(seconds) s of that"))
        scene = .over
    }

    private mutating func noteName(of poll: Poll) {
        guard let gateway = poll.gateway else {
            return find(.names, .broken("a poll names no gateway=: that is a reader's, and gets no part"))
        }
        guard let boot = poll.boot else {
            return find(.names, .broken("a poll names no boot=: two processes under one name cannot be told apart"))
        }
        if let known = self.gateway, known != gateway {
            find(.names, .broken("gateway=\(known) became gateway=\(gateway): one process at a time is played to"))
        } else if let known = self.boot, known != boot {
            find(.names, .broken("boot=\(known) became boot=\(boot): it is new at each start, and stays until the end"))
        } else {
            find(.names, .kept)
        }
        (self.gateway, self.boot) = (gateway, boot)
    }

    private static func rule(of scene: Scene) -> Rule? {
        switch scene {
        case .nothing, .over: nil
        case .reader: .acknowledges
        case .part: .applies
        case .waiting: .waits
        case .delta: .mergesDeltas
        case .additions: .passesOver
        case .older: .ignoresOld
        case .foreignDelta: .ignoresForeign
        case .failing: .backsOff
        case .term: .followsTerm
        case .silence: .givesUp
        }
    }

    /// What the poll shows of the scene before it.
    private mutating func judge(_ poll: Poll, at now: Int64) {
        guard let rule = Self.rule(of: scene) else { return }
        let applied = poll.applied.map { "applied=\($0)" } ?? "no applied="
        let late = now - answeredAt
        switch scene {
        case .reader, .part, .delta, .additions, .term:
            if poll.applied != version {
                find(rule, .broken("\(applied) follows \(version)"))
            } else if late > Self.atOnceMilliseconds {
                find(rule, .broken("applied=\(version) came \(late) ms after the answer: must come at once"))
            } else if scene == .delta, heldSince == nil {
                find(rule, .unseen("its polls name no since=, so it is sent whole snapshots"))
            } else {
                find(rule, .kept)
            }
        case .waiting:
            if late > Int64(leaseSeconds * 1000) {
                find(
                    rule, .broken("the next poll came \(late) ms after the answer, and the lease is \(leaseSeconds) s"))
            } else if poll.applied != version {
                find(rule, .broken("\(applied) follows an answer that changed nothing of \(version)"))
            } else if poll.wait == nil {
                find(rule, .broken("without wait= each change waits for the next poll: name half the lease"))
            } else {
                find(rule, .kept)
            }
        case .older:
            find(rule, poll.applied == inForce ? .kept : .broken("\(applied), where \(text(inForce)) was in force"))
        case .foreignDelta:
            if heldSince == nil {
                find(rule, .unseen("its polls name no since=, so it is sent no deltas"))
            } else {
                find(rule, poll.applied == inForce ? .kept : .broken("\(applied), where \(text(inForce)) was in force"))
            }
        case .failing:
            // Half a second, doubled, up to a third of the lease; less up to a third by chance, and a tick of the clock.
            let least = min(leaseSeconds / 3, 0.5 * Double(1 << (failures - 1))) * 2000 / 3 - 50
            let waited = now - lastFailureAt
            if Double(waited) < least {
                find(
                    rule,
                    .broken("it came again \(waited) ms after failure \(failures): must be \(Int(least)) at least"))
            } else {
                find(rule, .kept)
            }
        case .silence:
            find(
                rule,
                now < answeredAt
                    ? .kept : .broken("it waited \(Int(Self.silenceSeconds)) s for one answer, longer than its lease"))
        case .nothing, .over: break
        }
    }

    private func text(_ version: SnapshotVersion?) -> String { version.map { "\($0)" } ?? "nothing" }

    /// What was found first stands, but for what is worse.
    mutating func find(_ rule: Rule, _ verdict: Verdict) {
        switch (verdicts[rule], verdict) {
        case (.broken, _): return
        case (.kept, .unseen): return
        default: verdicts[rule] = verdict
        }
    }

    // MARK: Answers

    private mutating func play(_ poll: Poll, at now: Int64) -> Answer {
        switch scene {
        case .nothing, .reader: return whole(at: now, isEnforced: false)
        case .part: return whole(at: now)
        case .waiting:
            let wait = min(poll.wait ?? 0, leaseSeconds / 2)
            if poll.hasTag { return Answer(status: 304, afterSeconds: wait, version: version) }
            guard poll.since != nil, let loaded else {
                return Answer(afterSeconds: wait, version: version, body: loaded.map(SnapshotEncoder.encode) ?? [])
            }
            return Answer(
                afterSeconds: wait, version: version,
                body: SnapshotEncoder.encode(SnapshotDelta(from: loaded, to: loaded)))
        case .delta: return change(poll, at: now)
        case .additions:
            var answer = whole(at: now)
            answer.body = Self.withUnknownFields(answer.body)
            return answer
        case .older:
            var old = snapshot(isEnforced: true, at: now)
            old.version.generation -= 1
            return Answer(version: old.version, body: SnapshotEncoder.encode(old))
        case .foreignDelta:
            guard poll.since != nil, let loaded else { return whole(at: now) }
            var base = loaded
            base.version.generation -= 1
            version.generation += 1
            heldSince = base.version
            return Answer(
                version: version,
                body: SnapshotEncoder.encode(SnapshotDelta(from: base, to: snapshot(isEnforced: true, at: now))))
        case .failing: return fail(at: now)
        case .term:
            version = SnapshotVersion(epoch: version.epoch + 1, generation: 0)
            return whole(at: now)
        case .silence: return Answer(status: 503, afterSeconds: Self.silenceSeconds, version: version)
        case .over: return Answer(status: 304, afterSeconds: min(poll.wait ?? 0, leaseSeconds / 2), version: version)
        }
    }

    private mutating func whole(at now: Int64, isEnforced: Bool = true) -> Answer {
        version.generation += 1
        let snapshot = snapshot(isEnforced: isEnforced, at: now)
        loaded = snapshot
        return Answer(version: version, body: SnapshotEncoder.encode(snapshot))
    }

    /// Another rate for one of the tenants, as a delta for who asks for one.
    private mutating func change(_ poll: Poll, at now: Int64) -> Answer {
        heldSince = poll.since
        guard let before = loaded, poll.since == before.version else { return whole(at: now) }
        version.generation += 1
        let after = snapshot(isEnforced: true, at: now)
        loaded = after
        return Answer(version: version, body: SnapshotEncoder.encode(SnapshotDelta(from: before, to: after)))
    }

    private mutating func fail(at now: Int64) -> Answer {
        failures += 1
        lastFailureAt = now
        return Answer(status: 503, version: version)
    }

    private func snapshot(isEnforced: Bool, at now: Int64) -> Snapshot {
        let all = Rates(rpm: Self.ratePerMinute, tpm: Self.ratePerMinute * 1000)
        let share = Rates(rpm: Self.ratePerMinute / 2, tpm: Self.ratePerMinute * 500)
        var changed = share
        changed[.requests] = Self.ratePerMinute / 2 - Double(version.generation)
        var pool = PoolAllocation(
            pool: pool, capacity: all, nominal: all, budget: all, burstSeconds: 5,
            retry: PoolAllocation.Retry(afterMilliseconds: 1000, jitterMilliseconds: 1000),
            tenants: [
                TenantAllocation(tenant: "a", assured: changed), TenantAllocation(tenant: "b", assured: share),
            ], unlisted: Rates(rpm: 0, tpm: 0))
        pool.enforce = isEnforced
        return Snapshot(
            version: version, issuedAt: Timestamp(milliseconds: now), leaseSeconds: leaseSeconds,
            policy: "conformance", pools: [pool])
    }

    /// At the beginning of the snapshot, of each pool and of each tenant.
    private static func withUnknownFields(_ body: [UInt8]) -> [UInt8] {
        let added = #""of_a_later_version":{"list":[1,{"x":null}],"text":"}"},"#
        var text = "{" + added + String(decoding: body, as: UTF8.self).dropFirst()
        for key in [#""state":"#, #""rpm":3000,"tpm""#] {
            guard let place = text.range(of: "{" + key) else { continue }
            text.replaceSubrange(place, with: "{" + added + key)
        }
        return Array(text.utf8)
    }
}

import Foundation
import HeadroomEnforcement
import HeadroomModel
import HeadroomWire
import Synchronization

/// The snapshots of one gateway, as they come: a long poll, kept open.
///
/// Each poll says what is in force here (`applied`), and from where on changes are wanted (`since`). Older generations
/// and older epochs are ignored, whichever address they come from (``SnapshotHolder``).
final class AllocationFeed: Sendable {
    struct Change: Sendable {
        /// `nil`: the one in force goes on.
        var snapshot: Snapshot?
        var leaseUntil: Timestamp
    }

    private struct State {
        var holder = SnapshotHolder()
        var etag: String?
        var generator: SplitMix64
    }

    private let gateway: GatewayID
    private let boot: String
    /// `nil` without a directory.
    private let claim: ProcessClaim?
    private let link: HeadroomLink
    private let time: TimeSource
    private let state: Mutex<State>

    /// An answer that took so much longer than the wait that was asked for renews no lease: Headroom counts the lease as
    /// over by then.
    private static let graceSeconds = 5.0
    /// Without an answer for so long after the wait that was asked for, another address is asked beside: early enough in a
    /// lease, of which the wait is half.
    private static let lateSeconds = 1.0
    /// So long Headroom lets a gateway wait for which it has to make room first.
    private static let joinSeconds = 3.0
    /// Half of the usual lease, before there is one. Headroom cuts it anyway.
    private static let firstWaitSeconds = 7.5
    /// Between two answers that bring nothing, if Headroom does not wait.
    private static let leastPauseSeconds = 0.2

    init(
        gateway: GatewayID, boot: String, claim: ProcessClaim?, seed: UInt64, link: HeadroomLink, time: TimeSource
    ) {
        self.gateway = gateway
        self.boot = boot
        self.claim = claim
        self.link = link
        self.time = time
        state = Mutex(State(generator: SplitMix64(seed: seed)))
    }

    var version: SnapshotVersion? { state.withLock { $0.holder.applied } }
    var lease: Lease { state.withLock { $0.holder.lease } }
    var snapshot: Snapshot? { state.withLock { $0.holder.snapshot } }

    /// Until the task is cancelled.
    func run(_ apply: (Change) -> Void) async {
        while !Task.isCancelled {
            let asked = time.now()
            let change = await poll()
            if let change { apply(change) }
            let now = time.now()
            let next = state.withLock { state in
                change == nil
                    ? state.holder.nextPoll(jitter: Double.random(in: 0..<1, using: &state.generator), at: now)
                    : asked.adding(seconds: change?.snapshot == nil ? Self.leastPauseSeconds : 0)
            }
            if next > now { try? await Task.sleep(for: .seconds(next.seconds(since: now))) }
        }
    }

    /// `nil` when nothing came that counts.
    func poll() async -> Change? {
        let (query, etag, base, wait) = request()
        var headers = ["Accept": "application/json"]
        if let etag { headers["If-None-Match"] = etag }
        let waiting = wait > 0 ? [URLQueryItem(name: "wait", value: String(format: "%.2f", wait))] : []
        let answer = await link.exchange(
            "GET", "v1/allocations", query: query + waiting, headers: headers,
            withinSeconds: wait + Self.graceSeconds + 1,
            // There nothing is waited for: any answer is better than none.
            elsewhere: HeadroomLink.Elsewhere(
                afterSeconds: max(wait, Self.joinSeconds) + Self.lateSeconds, query: query))
        let now = time.now()
        let isLate =
            answer.map { answer in
                now.seconds(since: answer.askedAt) > (answer.isFromElsewhere ? 0 : wait) + Self.graceSeconds
            } ?? true
        let change = state.withLock { state -> Change? in
            var acceptance = SnapshotHolder.Acceptance.ignored
            switch answer.flatMap({ Self.read($0, onto: base) }) {
            case .whole(let snapshot, let etag):
                acceptance = state.holder.accept(snapshot, isLate: isLate, at: now)
                if acceptance != .ignored { state.etag = etag }
            case .unchanged(let version):
                acceptance = state.holder.notModified(version, isLate: isLate, at: now)
            case nil:
                state.holder.noteFailure(at: now)
            }
            guard acceptance != .ignored, let until = state.holder.lease.until else { return nil }
            return Change(snapshot: acceptance == .applied ? state.holder.snapshot : nil, leaseUntil: until)
        }
        if change != nil, base == nil { claim?.note() }
        return change
    }

    private func request() -> (query: [URLQueryItem], etag: String?, base: Snapshot?, wait: Double) {
        state.withLock { state in
            var query = [
                URLQueryItem(name: "gateway", value: gateway.text), URLQueryItem(name: "boot", value: boot),
            ]
            guard let snapshot = state.holder.snapshot else {
                if let dead = claim?.predecessor { query.append(URLQueryItem(name: "succeeds", value: dead)) }
                return (query, nil, nil, 0)
            }
            // Gateways that started together drift apart.
            let jitter = Double.random(in: 0..<0.2, using: &state.generator)
            let wait = min(30, snapshot.leaseSeconds / 2) * (1 - jitter)
            query.append(URLQueryItem(name: "applied", value: snapshot.version.description))
            query.append(URLQueryItem(name: "since", value: snapshot.version.description))
            return (query, state.etag, snapshot, wait)
        }
    }

    private enum Reading {
        case whole(Snapshot, etag: String?)
        case unchanged(SnapshotVersion)
    }

    private static func read(_ answer: HeadroomLink.Answer, onto base: Snapshot?) -> Reading? {
        switch answer.status {
        case 200:
            switch try? SnapshotDecoder.decode(answer.body) {
            case .whole(let snapshot): return .whole(snapshot, etag: answer.header("ETag"))
            case .delta(let delta):
                return base?.applying(delta).map { .whole($0, etag: answer.header("ETag")) }
            case nil: return nil
            }
        case 304:
            guard let epoch = answer.header("Headroom-Epoch"), let generation = answer.header("Headroom-Generation")
            else { return nil }
            return SnapshotVersion(epoch + "." + generation).map { .unchanged($0) }
        default:
            return nil
        }
    }
}

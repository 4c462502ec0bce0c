import HeadroomModel
import HeadroomWire
import Synchronization

/// One generation as the board serves it: each body is encoded when it is first asked for, and then once.
final class PublishedGeneration: Sendable {
    let version: SnapshotVersion
    let leaseSeconds: Double
    private let publication: Publication
    private let partIndex: [GatewayID: Int]
    private let bodies = Mutex(Bodies())
    private let maxBodyBytes: Int

    private struct Key: Hashable {
        let view: SnapshotView
        /// The generation from which the body leads here; `nil`: a full snapshot.
        let since: SnapshotVersion?
    }

    private struct Bodies {
        var cells: [Key: BodyCell] = [:]
        var byteCount = 0
    }

    /// - Parameter maxBodyBytes: the most that kept bodies may take; past it they are encoded again when asked for.
    init(_ publication: Publication, maxBodyBytes: Int) {
        self.publication = publication
        self.maxBodyBytes = maxBodyBytes
        version = publication.whole.version
        leaseSeconds = publication.whole.leaseSeconds
        var index: [GatewayID: Int] = [:]
        for (offset, part) in publication.parts.enumerated() { index[part.gateway] = offset }
        partIndex = index
    }

    /// Not divided over gateways.
    var whole: Snapshot { publication.whole }

    /// About what it takes, without its bodies.
    var memoryBytes: Int { publication.parts.reduce(publication.whole.memoryBytes) { $0 + $1.snapshot.memoryBytes } }

    var bodyBytes: Int { bodies.withLock { $0.byteCount } }

    /// `nil` without a part.
    func part(of gateway: GatewayID) -> Snapshot? { partIndex[gateway].map { publication.parts[$0].snapshot } }

    /// What a gateway has of each pool, ascending by pool; empty without a part.
    func parts(of gateway: GatewayID) -> [GatewayAnswer.Part] {
        (part(of: gateway)?.pools ?? []).map { pool in
            GatewayAnswer.Part(pool: pool.pool, budget: pool.budget, fallback: pool.fallback)
        }
    }

    /// The part of each gateway in a pool's budget, ascending by gateway.
    func budgets(of pool: PoolID, _ resource: Resource) -> [(gateway: GatewayID, budget: Double)] {
        guard let place = publication.whole.pools.firstIndex(where: { $0.pool == pool }) else { return [] }
        return publication.parts.compactMap { part in
            guard part.snapshot.pools.indices.contains(place), part.snapshot.pools[place].pool == pool else {
                return nil
            }
            return part.snapshot.pools[place].budget[resource].map { (part.gateway, $0) }
        }
    }

    /// The gateways' sum of a tenant's assured rate, and the whole of it, where some await room; `nil` where
    /// none does.
    func awaitingRoom(_ tenant: TenantID, in pool: PoolID) -> (given: Rates, assured: Rates)? {
        func entry(in snapshot: Snapshot) -> TenantAllocation? {
            snapshot.pools.first { $0.pool == pool }?.tenants.first { $0.tenant == tenant }
        }
        let parts = publication.parts.compactMap { entry(in: $0.snapshot) }
        guard parts.contains(where: { $0.constraint == .awaitingRoom }), let whole = entry(in: publication.whole) else {
            return nil
        }
        let given = parts.reduce(SIMD4<Double>.zero) { $0 + $1.assured.perMinute }
        return (Rates(perMinute: given, resources: whole.assured.resources), whole.assured)
    }

    /// False when no part was made for the view's gateway. Without pools there is nothing to divide.
    func has(_ view: SnapshotView) -> Bool {
        guard case .of(let gateway) = view.part else { return true }
        return has(gateway)
    }

    func has(_ gateway: GatewayID) -> Bool { partIndex[gateway] != nil || publication.whole.pools.isEmpty }

    /// Of the view in full, before it is compressed. Answers that hold what changed have it, too: a tag names what a client
    /// has when it has taken the answer in.
    /// - Parameter variant: the view's (``SnapshotView/variant``).
    func tag(ofVariant variant: String) -> String { "\"\(version).\(variant)\"" }

    /// The view in full, or what changed in it since `base`. There is a part for its gateway.
    func body(for view: SnapshotView, since base: Snapshot? = nil) -> EncodedBody {
        precondition(has(view), "no part was made for the view's gateway")
        let cell = bodies.withLock { bodies in
            let key = Key(view: view, since: base?.version)
            if let cell = bodies.cells[key] { return cell }
            if bodies.byteCount > maxBodyBytes { bodies = Bodies() }
            let cell = BodyCell()
            bodies.cells[key] = cell
            return cell
        }
        // Outside the lock: a request for another body does not wait for this one.
        return cell.body {
            let body = encode(view, since: base)
            // Compressed it takes a fraction more.
            bodies.withLock { $0.byteCount += body.byteCount }
            return body
        }
    }

    /// What the view is a view of, before its pools and tenants are chosen. There is a part for its gateway.
    func snapshot(for view: SnapshotView) -> Snapshot {
        guard case .of(let gateway) = view.part else { return publication.whole }
        return part(of: gateway) ?? publication.whole
    }

    private func encode(_ view: SnapshotView, since base: Snapshot?) -> EncodedBody {
        let snapshot = view.filter(snapshot(for: view))
        let body =
            base.map { SnapshotEncoder.encode(SnapshotDelta(from: view.filter($0), to: snapshot)) }
            ?? SnapshotEncoder.encode(snapshot)
        return EncodedBody(
            tag: tag(ofVariant: view.variant),
            headers: [
                (name: "Headroom-Epoch", value: "\(version.epoch)"),
                (name: "Headroom-Generation", value: "\(version.generation)"),
                (name: "Headroom-Lease-Seconds", value: shortest(leaseSeconds)),
            ], body: body)
    }

    /// Whole seconds without a fraction.
    private func shortest(_ seconds: Double) -> String {
        Int64(exactly: seconds).map(String.init) ?? String(seconds)
    }
}

/// A body that is encoded by the first who asks; others who ask meanwhile wait for that.
private final class BodyCell: Sendable {
    private let encoded = Mutex<EncodedBody?>(nil)

    func body(_ encode: () -> EncodedBody) -> EncodedBody {
        encoded.withLock { encoded in
            if let encoded { return encoded }
            let body = encode()
            encoded = body
            return body
        }
    }
}

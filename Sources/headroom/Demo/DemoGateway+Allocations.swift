import Foundation
import FoundationNetworking
import HeadroomEnforcement
import HeadroomModel
import HeadroomWire

/// Allocations in: a long poll, kept open.
extension DemoGateway {
    /// Half of the usual lease; Headroom cuts it to that anyway.
    private static let waitSeconds = 7
    private static let retrySeconds = 0.25

    /// True once the gateway has its own part: the first answer is for readers, and is acknowledged to take part. False
    /// when it has none within `seconds`.
    func connect(withinSeconds seconds: Double) async -> Bool {
        let end = time.now().adding(seconds: seconds)
        while !hasPart, time.now() < end { await poll(waiting: 0) }
        return hasPart
    }

    private var hasPart: Bool {
        holder.snapshot?.pools.first { $0.pool == DemoPlan.pool }?.enforce ?? false
    }

    func keepPolling() async {
        while !Task.isCancelled { await poll(waiting: DemoGateway.waitSeconds) }
    }

    private func poll(waiting seconds: Int) async {
        let answer = await links.allocations(gateway: id, applied: holder.applied, etag: etag, waitSeconds: seconds)
        let now = time.now()
        var acceptance = SnapshotHolder.Acceptance.ignored
        switch answer {
        case .snapshot(let snapshot, let etag):
            acceptance = holder.accept(snapshot, at: now)
            if acceptance == .applied { self.etag = etag }
        case .notModified(let version):
            acceptance = holder.notModified(version, at: now)
        case .nothing:
            holder.noteFailure(at: now)
        }
        guard let until = holder.lease.until, acceptance != .ignored else {
            try? await Task.sleep(for: .seconds(DemoGateway.retrySeconds))
            return
        }
        if acceptance == .applied {
            load(leaseUntil: until, at: now)
        } else {
            gate.renew(leaseUntil: until, at: now)
        }
    }

    private func load(leaseUntil: Timestamp, at now: Timestamp) {
        guard let snapshot = holder.snapshot else { return }
        let allocation = snapshot.pools.first { $0.pool == DemoPlan.pool }
        gate.load(allocation, leaseUntil: leaseUntil, at: now)
        // A first poll gets the whole, which is not enforced: it is nobody's part.
        if let allocation, allocation.enforce {
            tally.parts[snapshot.version] = DemoTally.Part(budget: allocation.budget, capacity: allocation.capacity)
        }
    }
}

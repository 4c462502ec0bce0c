import HeadroomEnforcement
import HeadroomModel
import Testing

@Suite struct LeaseTests {
    private func snapshot(_ epoch: Int64, _ generation: Int64, lease: Double = 15) -> Snapshot {
        Snapshot(
            version: SnapshotVersion(epoch: epoch, generation: generation), issuedAt: start, leaseSeconds: lease,
            policy: "default@0", pools: [])
    }

    @Test func `a lease is none, then live, then expired, then live again`() {
        var lease = Lease()
        #expect(lease.state(at: start) == .none)
        lease.renew(seconds: 15, at: start)
        #expect(lease.state(at: after(14.999)) == .live(until: after(15)))
        #expect(lease.state(at: after(15)) == .expired(since: after(15)))
        lease.renew(seconds: 15, at: after(100))
        #expect(lease.state(at: after(101)) == .live(until: after(115)))
    }

    @Test func `older generations and older terms are ignored, and renew nothing`() {
        var holder = SnapshotHolder()
        #expect(holder.accept(snapshot(7, 3), at: start) == .applied)
        #expect(holder.accept(snapshot(7, 2), at: after(10)) == .ignored)
        #expect(holder.accept(snapshot(6, 900), at: after(10)) == .ignored)
        #expect(holder.notModified(SnapshotVersion(epoch: 6, generation: 900), at: after(10)) == .ignored)
        #expect(holder.applied == SnapshotVersion(epoch: 7, generation: 3))
        #expect(holder.lease.state(at: after(15)) == .expired(since: after(15)))
        #expect(holder.accept(snapshot(8, 1), at: after(16)) == .applied)
        #expect(holder.applied == SnapshotVersion(epoch: 8, generation: 1))
    }

    @Test func `the same generation again and a 304 renew the lease`() {
        var holder = SnapshotHolder()
        #expect(holder.notModified(SnapshotVersion(epoch: 7, generation: 3), at: start) == .ignored)
        #expect(holder.accept(snapshot(7, 3), at: start) == .applied)
        #expect(holder.accept(snapshot(7, 3), at: after(10)) == .renewed)
        #expect(holder.notModified(SnapshotVersion(epoch: 7, generation: 3), at: after(20)) == .renewed)
        #expect(holder.lease.until == after(35))
    }

    @Test func `polls come three times a lease, and sooner after a failure`() {
        var holder = SnapshotHolder()
        #expect(holder.nextPoll(jitter: 0, at: start) == start)
        holder.noteFailure(at: start)
        #expect(holder.nextPoll(jitter: 0, at: start) == after(0.5))
        _ = holder.accept(snapshot(7, 3), at: after(1))
        #expect(holder.nextPoll(jitter: 0, at: after(1)) == after(6))
        #expect(holder.nextPoll(jitter: 0.999, at: after(1)) < after(4.4))
        for (failures, interval) in [(1, 0.5), (2, 1), (3, 2), (4, 4), (5, 5), (100, 5)] {
            var failing = holder
            for _ in 0..<failures { failing.noteFailure(at: after(10)) }
            #expect(failing.nextPoll(jitter: 0, at: after(10)) == after(10 + interval))
        }
    }

    @Test func `when the lease runs out the fallback and the safe rates are in force, and then the snapshot again`() {
        let entries = [tenant("a", rpm: 0, tpm: 0, safe: Rates(rpm: 300, tpm: 300_000)), tenant("b")]
        let leased = allocation(fallback: Rates(rpm: 300, tpm: 300_000), tenants: entries)
        var gate = gate(leased, leaseUntil: after(30))
        var ids = 0
        let before = gate.run(seconds: 30, busy: ["a", "b"], ids: &ids)
        #expect((299...352).contains(before.count))
        #expect(before.count(.assured) == 0)
        let expired = gate.run(from: 30, seconds: 60, busy: ["a", "b"], ids: &ids)
        #expect((298...304).contains(expired.count), "\(expired.count)")
        #expect(expired.count(.assured) >= 298)
        gate.renew(leaseUntil: after(1000), at: after(90))
        let again = gate.run(from: 90, seconds: 30, busy: ["a", "b"], ids: &ids)
        #expect((298...304).contains(again.count), "\(again.count)")
        #expect(again.count(.assured) <= 26)
    }

    @Test func `without a fallback the budget stays in force`() {
        var gate = gate(allocation(tenants: [tenant("a")]), leaseUntil: start)
        var ids = 0
        #expect((599...651).contains(gate.run(seconds: 60, busy: ["a"], ids: &ids).count))
    }

    @Test func `after the lease lending goes on by the last known clocks and keeps the ceilings`() {
        let entries = [tenant("ahead", weight: 1, clock: 100), tenant("behind", ceiling: Rates(rpm: 120), clock: 90)]
        var gate = gate(allocation(tenants: entries), leaseUntil: start)
        var ids = 0
        let served = gate.run(from: 1, seconds: 60, busy: ["ahead", "behind"], ids: &ids)
        #expect((118...132).contains(served.count(of: "behind")))
    }
}

import HeadroomHTTP
import HeadroomModel
import Testing

@Suite struct GatewayRegisterTests {
    private let start = Timestamp(milliseconds: 0)

    private func version(_ generation: Int64) -> SnapshotVersion { SnapshotVersion(epoch: 1, generation: generation) }

    @Test func `a group has applied what each member seen within the lease has`() {
        var register = GatewayRegister(limit: 10)
        _ = register.note(.init(gateway: "g", member: "a"), at: start, applied: version(5), sent: version(9))
        _ = register.note(.init(gateway: "g", member: "b"), at: start, applied: version(7), sent: version(8))
        func presence(at seconds: Double) -> GatewayPresence? {
            register.presences(since: start, now: start.adding(seconds: seconds), leaseSeconds: 15).first
        }
        #expect(presence(at: 1)?.applied == version(5))
        #expect(presence(at: 1)?.sent == version(9))
        _ = register.note(.init(gateway: "g", member: "b"), at: start.adding(seconds: 16), applied: nil, sent: nil)
        #expect(presence(at: 16)?.applied == version(7), "a is gone")
        _ = register.note(
            .init(gateway: "g", member: "c"), at: start.adding(seconds: 17), applied: nil, sent: version(9))
        #expect(presence(at: 17)?.applied == nil, "c has not acknowledged")
        #expect(presence(at: 17)?.lastSeen == start.adding(seconds: 17))
    }

    @Test func `what was never sent to a gateway cannot be in force there`() {
        var register = GatewayRegister(limit: 10)
        let key = GatewayRegister.Key(gateway: "g")
        _ = register.note(key, at: start, applied: nil, sent: version(7))
        _ = register.note(key, at: start, applied: version(8), sent: version(7))
        func applied() -> SnapshotVersion? {
            register.presences(since: start, now: start, leaseSeconds: 15).first?.applied
        }
        #expect(applied() == nil)
        _ = register.note(key, at: start, applied: version(7), sent: version(8))
        #expect(applied() == version(7))
    }

    @Test func `a full register takes no newcomer, and forgets the long gone`() {
        var register = GatewayRegister(limit: 2)
        func note(_ gateway: GatewayID, at seconds: Double) -> Bool {
            register.note(.init(gateway: gateway), at: start.adding(seconds: seconds), applied: nil, sent: nil)
        }
        let notes = [note("a", at: 0), note("b", at: 3000), note("c", at: 3000), note("b", at: 0)]
        #expect(notes == [true, true, false, true], "b is known")
        register.forget(before: start.adding(seconds: 4000))
        let isTaken = note("c", at: 0)
        #expect(isTaken)
        func gateways(since seconds: Double) -> [GatewayID] {
            register.presences(since: start.adding(seconds: seconds), now: start, leaseSeconds: 15).map(\.gateway)
        }
        #expect(gateways(since: 0) == ["b", "c"])
        #expect(gateways(since: 1) == ["b"])
    }

    @Test func `drift counts from the first publication that is missing`() {
        var history = PublicationHistory()
        #expect(history.drift(of: version(1), at: start) == 0)
        for generation in 1...5000 as ClosedRange<Int64> {
            history.add(version(generation * 2), at: start.adding(seconds: Double(generation)))
        }
        let now = start.adding(seconds: 6000)
        let cases: [(generation: Int64, seconds: Double)] = [
            (10000, 0), (10001, 0), (9999, 1000), (9998, 1000), (9996, 1001), (8000, 1999),
        ]
        for (generation, seconds) in cases {
            #expect(history.drift(of: version(generation), at: now) == seconds, "\(generation)")
        }
        #expect(history.drift(of: version(1), at: now) > 2000, "older than what is remembered: at least as long")
    }
}

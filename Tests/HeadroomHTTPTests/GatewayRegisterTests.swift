import HeadroomHTTP
import HeadroomModel
import Testing

@Suite struct GatewayRegisterTests {
    private let start = Timestamp(milliseconds: 0)

    private func version(_ generation: Int64) -> SnapshotVersion { SnapshotVersion(epoch: 1, generation: generation) }

    private func after(_ seconds: Double) -> Timestamp { start.adding(seconds: seconds) }

    private func key(_ gateway: GatewayID, _ member: String? = nil) -> GatewayRegister.Key {
        GatewayRegister.Key(gateway: gateway, member: member)
    }

    @Test func `a name takes part once it has acknowledged or reported, and a poll alone leaves no trace`() {
        var register = GatewayRegister()
        func poll(_ gateway: GatewayID, applied: SnapshotVersion? = nil) -> GatewayRegister.Standing {
            register.note(
                .init(key: key(gateway), applied: applied), part: nil, newest: version(3), at: start)
        }
        #expect(poll("a") == .reader && poll("b") == .reader)
        #expect(register.presences(since: start, now: start).isEmpty)
        #expect(poll("a", applied: version(3)) == .takesPart(isFirst: true))
        register.noteReports(of: ["b"], at: start)
        #expect(poll("b") == .takesPart(isFirst: true))
        #expect(register.presences(since: start, now: start).map(\.gateway) == ["a", "b"])
    }

    @Test func `a group has applied what each member seen within the lease has`() {
        var register = GatewayRegister()
        func note(_ member: String, applied: Int64?, sent: Int64?, at seconds: Double) {
            _ = register.note(
                .init(key: key("g", member), applied: applied.map(version)), part: sent.map(version),
                newest: version(9), at: after(seconds))
        }
        note("a", applied: 5, sent: 9, at: 0)
        note("b", applied: 7, sent: 8, at: 0)
        func presence(at seconds: Double) -> GatewayPresence? {
            register.presences(since: start, now: after(seconds)).first
        }
        #expect(presence(at: 1)?.applied == version(5))
        #expect(presence(at: 1)?.sent == version(9))
        note("b", applied: nil, sent: nil, at: 16)
        #expect(presence(at: 16)?.applied == version(7), "a is gone")
        note("c", applied: nil, sent: 9, at: 17)
        #expect(presence(at: 17)?.applied == nil, "c has not acknowledged")
        #expect(presence(at: 17)?.lastSeen == after(17))
    }

    @Test func `what was never sent to a gateway cannot be in force there`() {
        var register = GatewayRegister()
        func poll(applied: Int64, sent: Int64) {
            _ = register.note(
                .init(key: key("g"), applied: version(applied)), part: version(sent), newest: version(sent), at: start)
        }
        func applied() -> SnapshotVersion? { register.presences(since: start, now: start).first?.applied }
        poll(applied: 7, sent: 7)
        poll(applied: 8, sent: 7)
        #expect(applied() == version(7))
        poll(applied: 7, sent: 8)
        #expect(applied() == version(7))
    }

    @Test func `ten thousand invented members of one name shut nobody out`() {
        var register = GatewayRegister()
        var refused = 0
        for index in 0..<10_000 {
            let standing = register.note(
                .init(key: key("g", "m\(index)"), applied: version(1), owner: "token"), part: nil, newest: version(1),
                at: start)
            if standing == .tooManyMembers { refused += 1 }
        }
        #expect(refused == 10_000 - 4096)
        let newcomer = register.note(
            .init(key: key("new"), applied: version(1), owner: "other"), part: nil, newest: version(1), at: start)
        #expect(newcomer == .takesPart(isFirst: true))
        // Two leases later none of them is kept but the last.
        register.forget(at: after(31))
        let honest = register.note(
            .init(key: key("g", "honest"), applied: version(1), owner: "token"), part: nil, newest: version(1),
            at: after(31))
        #expect(honest == .takesPart(isFirst: true))
    }

    @Test func `ten thousand invented names of one token shut nobody out`() {
        var register = GatewayRegister()
        func note(_ gateway: GatewayID, _ owner: String?, at seconds: Double = 0) -> GatewayRegister.Standing {
            register.note(
                .init(key: key(gateway), applied: version(1), owner: owner), part: nil, newest: version(1),
                at: after(seconds))
        }
        let standings = (0..<10_000).map { note(GatewayID(unchecked: "g.\($0)"), "token") }
        #expect(standings.count { $0 == .tooManyNames } == 10_000 - 1024)
        #expect(note("new", "other") == .takesPart(isFirst: true))
        #expect(note("local", nil) == .takesPart(isFirst: true))
        // A minute after lease and grace they are gone.
        register.forget(at: after(81))
        #expect(note("g.late", "token", at: 81) == .takesPart(isFirst: true))
    }

    @Test func `a name is remembered for as long as something may be withheld for it`() {
        var register = GatewayRegister()
        _ = register.note(
            .init(key: key("a"), applied: version(1)), part: version(1), newest: version(1), at: start)
        register.forget(at: after(80))
        let known = register.presences(since: start, now: after(80))
        #expect(known.map(\.gateway) == ["a"] && known.first?.sent == version(1))
        register.forget(at: after(81))
        #expect(register.presences(since: start, now: after(81)).isEmpty)
        let standing = register.note(.init(key: key("a")), part: nil, newest: version(2), at: after(81))
        #expect(standing == .reader)
    }

    @Test func `a second process under one name is refused while the first is alive`() {
        var register = GatewayRegister()
        func poll(_ boot: String?, _ member: String? = nil, at seconds: Double) -> GatewayRegister.Standing {
            register.note(
                .init(key: key("g", member), applied: version(1), boot: boot), part: version(1), newest: version(1),
                at: after(seconds))
        }
        #expect(poll("one", at: 0) == .takesPart(isFirst: true))
        #expect(poll("two", at: 5) == .otherProcess(seconds: 10))
        #expect(poll("two", "b", at: 5) == .takesPart(isFirst: true), "a member is a process of its own")
        #expect(poll("one", at: 6) == .takesPart(isFirst: false))
        #expect(poll("two", at: 21) == .takesPart(isFirst: true), "the first one's lease is over")
        #expect(poll("one", at: 22) == .otherProcess(seconds: 14))
    }

    @Test func `a process is not waited for by one that knows its boot and that it is dead`() {
        var register = GatewayRegister()
        func poll(_ boot: String, succeeds: String? = nil, at seconds: Double) -> GatewayRegister.Standing {
            register.note(
                .init(key: key("g"), applied: version(1), boot: boot, succeeds: succeeds), part: version(1),
                newest: version(1), at: after(seconds))
        }
        #expect(poll("one", at: 0) == .takesPart(isFirst: true))
        #expect(poll("two", succeeds: "zero", at: 1) == .otherProcess(seconds: 14), "that one is not here")
        #expect(poll("two", succeeds: "one", at: 1) == .takesPart(isFirst: true))
        #expect(poll("two", succeeds: "one", at: 2) == .takesPart(isFirst: false))
        #expect(poll("one", at: 3) == .otherProcess(seconds: 14), "it was not dead, and has to go")
    }

    @Test func `one that has left counts as such, until it comes anew`() {
        var register = GatewayRegister()
        func poll(newest: Int64, hasWaited: Bool = false, at seconds: Double) -> GatewayRegister.Standing {
            register.note(
                .init(key: key("g"), applied: version(1), hasWaited: hasWaited), part: nil, newest: version(newest),
                at: after(seconds))
        }
        _ = poll(newest: 1, at: 0)
        register.leave("g", part: version(1), at: after(1))
        let left = GatewayPresence(gateway: "g", lastSeen: after(1), applied: nil, sent: nil, hasLeft: true)
        #expect(register.presences(since: start, now: after(1)) == [left])
        #expect(poll(newest: 1, at: 2) == .reader, "what it left behind is not handed out again")
        #expect(poll(newest: 2, hasWaited: true, at: 3) == .reader, "a poll from before the goodbye")
        #expect(register.presences(since: start, now: after(3)) == [left])
        #expect(poll(newest: 2, at: 4) == .takesPart(isFirst: true))
        #expect(register.presences(since: start, now: after(4)).map(\.hasLeft) == [false])
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

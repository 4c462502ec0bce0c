import HeadroomModel
import HeadroomStorage
import Testing

@Suite struct AlertStoreTests {
    private let database: TemporaryDatabase
    private let time = SettableTime()
    private let store: AlertStore
    private let key = AlertKey(.starvation, pool: "openai:gpt-4o", reason: "delivery")

    init() throws {
        database = try TemporaryDatabase()
        store = AlertStore(connection: database.writer, time: time.source)
    }

    private func member(_ tenant: TenantID, _ action: AlertRecommendation.Action? = nil) -> Alert.Member {
        Alert.Member(
            name: tenant.text, tenant: tenant, since: start.adding(seconds: -300), severity: .critical,
            sentence: "\(tenant) is starved.", recommendation: AlertRecommendation("Do it.", action))
    }

    private func alert(_ members: [Alert.Member], count: Int? = nil, closed: Timestamp? = nil) -> Alert {
        Alert(
            key: key, openedAt: start, updatedAt: closed ?? start, closedAt: closed, members: members,
            memberCount: count ?? members.count)
    }

    @Test func `an alert is one row while it is open, and comes back as it was`() async throws {
        let members = [
            member("acme", .override("acme", pool: "openai:gpt-4o", tier: "premium", weight: nil, seconds: 3600)),
            member("beta", .override("beta", pool: "openai:gpt-4o", tier: nil, weight: 4, seconds: 60)),
            member("gamma", .approve(9, tenant: "gamma", revision: 3, isRecommendation: true)),
            member("delta", .releaseGateway("gw-1")),
            member("omega"),
        ]
        var expected = alert(members, count: 12)
        expected.id = 1
        #expect(try await store.save([expected]) == [expected])
        #expect(try await store.openAlerts() == [expected])
        let fewer = alert([members[0]])
        #expect(try await store.save([fewer]).map(\.id) == [1])
        #expect(try await store.openAlerts().map(\.members) == [[members[0]]])
        var closing = alert([members[0]], closed: start.adding(seconds: 60))
        closing.outcome = "acme is served."
        let closed = try await store.save([closing])
        #expect(closed.first?.state == .closed && closed.first?.outcome == "acme is served.")
        #expect(try await store.openAlerts().isEmpty)
        // The next one is another.
        #expect(try await store.save([alert([members[1]])]).map(\.id) == [2])
        #expect(try await store.alerts(in: nil, limit: 10).map(\.id) == [2, 1])
        #expect(try await store.alerts(in: [.closed], limit: 10).map(\.id) == [1])
        #expect(try await store.alerts(in: [.open], limit: 10).map(\.id) == [2])
    }

    @Test func `an acknowledgement and a mute are kept, and in the audit log`() async throws {
        _ = try await store.save([alert([member("acme")])])
        let seen = try await store.acknowledge(1, as: authorship(by: "sam", reason: "on it"))
        #expect(seen.state == .acknowledged && seen.acknowledgement?.author == "sam")
        let muted = try await store.mute(1, as: authorship(by: "sam", reason: "known", seconds: 600))
        #expect(muted.mute == authorship(by: "sam", reason: "known", seconds: 600))
        #expect(try await store.alerts(in: [.open], limit: 10).isEmpty)
        #expect(try await store.alerts(in: [.acknowledged], limit: 10).map(\.id) == [1])

        // A mute holds for the next alert of the same name, until it ends; an acknowledgement does not.
        _ = try await store.save([alert([member("acme")], closed: start.adding(seconds: 60))])
        let next = try await store.save([alert([member("beta")])])
        #expect(next.first?.acknowledgement == nil && next.first?.mute?.author == "sam")
        time.set(start.adding(seconds: 600))
        #expect(try await store.openAlerts().map(\.mute) == [nil])

        let desk = SteeringStore(connection: database.writer, coding: .unused, time: time.source)
        let log = try await desk.audit(after: 0, limit: 10)
        #expect(log.map(\.action) == ["alert.acknowledge", "alert.mute"])
        #expect(
            log[1].detail
                == #"{"id":1,"kind":"starvation","pool":"openai:gpt-4o","reason":"known","until_ms":1793000600000}"#)
    }

    @Test func `what is closed or not there, and a bad reason, are refused and leave nothing`() async throws {
        _ = try await store.save([alert([member("acme")], closed: start.adding(seconds: 60))])
        func code(_ work: () async throws -> Void) async -> SteeringError.Code? {
            await (#expect(throws: SteeringError.self) { try await work() })?.code
        }
        #expect(await code { _ = try await store.acknowledge(1, as: authorship()) } == .conflict)
        #expect(await code { _ = try await store.mute(2, as: authorship()) } == .notFound)
        #expect(await code { _ = try await store.mute(1, as: authorship(reason: " ")) } == .invalid)
        let desk = SteeringStore(connection: database.writer, coding: .unused, time: time.source)
        #expect(try await desk.audit(after: 0, limit: 10).isEmpty)
    }

    @Test func `alerts that closed long ago go, with their members and with mutes that ended`() async throws {
        _ = try await store.save([alert([member("acme")])])
        _ = try await store.mute(1, as: authorship(seconds: 60))
        _ = try await store.save([alert([member("acme")], closed: start.adding(seconds: 60))])
        _ = try await store.save([alert([member("beta")])])
        #expect(try await store.prune(before: start.adding(seconds: 60)) == 0)
        #expect(try await store.prune(before: start.adding(seconds: 61)) == 3)
        #expect(try await store.alerts(in: nil, limit: 10).map(\.id) == [2])
        #expect(try database.number("SELECT count(*) FROM alert_member") == 1)
    }

    @Test func `of each webhook it is kept how it knows an alert, until it was told the end`() async throws {
        _ = try await store.save([alert([member("acme")])])
        func known(_ sink: String) async throws -> [AlertDelivery] { try await store.standing(of: sink).known }
        let told = AlertDelivery(alert: 1, severity: .warning, memberCount: 2)
        try await store.note([("ops", told)])
        #expect(try await known("ops") == [told])
        #expect(try await known("new").isEmpty)
        #expect(try await store.standing(of: "new").alerts.map(\.id) == [1])
        let graver = AlertDelivery(alert: 1, severity: .critical, memberCount: 9)
        try await store.note([("ops", graver)])
        #expect(try await known("ops") == [graver])

        // Its end is still to be told to the webhook that knows it, and to no other.
        _ = try await store.save([alert([member("acme")], closed: start.adding(seconds: 60))])
        #expect(try await store.standing(of: "ops").alerts.map(\.state) == [.closed])
        #expect(try await store.standing(of: "new").alerts.isEmpty)
        try await store.note([("ops", AlertDelivery(alert: 1, severity: .critical, memberCount: 9, isOver: true))])
        #expect(try await store.standing(of: "ops").alerts.isEmpty)

        try await store.note([("ops", told)])
        while try await store.prune(before: start.adding(seconds: 3_600)) > 0 {}
        #expect(try database.number("SELECT count(*) FROM alert_delivery") == 0)
    }

    @Test func `an erased tenant is in no alert`() async throws {
        _ = try await store.save([alert([member("acme"), member("beta")])])
        try await ContractStore(connection: database.writer).erase("acme", by: "dpo", at: start)
        #expect(try await store.openAlerts().first?.members.map(\.name) == ["beta"])
    }
}

import HeadroomAlerts
import HeadroomModel
import Testing

@Suite struct LevelAlertTests {
    /// Minutes missed of the last five, and parts of the last hour and day; every second was looked at.
    private static func windows(recent: Double, hour: Double, day: Double) -> LevelWindows {
        var windows = LevelWindows()
        windows[.recent] = LevelSums(observedSeconds: 300, missedSeconds: 60 * recent)
        windows[.hour] = LevelSums(observedSeconds: 3600, missedSeconds: 3600 * hour)
        windows[.day] = LevelSums(observedSeconds: 86_400, missedSeconds: 86_400 * day)
        return windows
    }

    @Test func `the hour's burn is critical, the day's a warning, and what is over or too little is none`() {
        // At 95 %, a fast burn is 72 % of the hour, a slow one 15 % of the day.
        let cases: [(LevelWindows, AlertSeverity?)] = [
            (Self.windows(recent: 5, hour: 0.73, day: 0.03), .critical),
            (Self.windows(recent: 5, hour: 0.71, day: 0.03), nil),
            (Self.windows(recent: 0, hour: 0.73, day: 0.03), nil),
            (Self.windows(recent: 1, hour: 0.2, day: 0.16), .warning),
            (Self.windows(recent: 0, hour: 0.1, day: 0.16), nil),
            (Self.windows(recent: 0, hour: 0.2, day: 0.14), nil),
        ]
        for (index, (windows, severity)) in cases.enumerated() {
            var finder = ConditionFinder()
            let seen = AlertObservation.well { seen in
                seen.levels.tenants = [TenantLevel(tenant: "acme", pool: "p", windows: windows)]
                seen.tenant.underservedSeconds = 30
            }
            let members = finder.find(in: seen)[AlertKey(.sloBurn, pool: "p")].members
            #expect(members.filter(\.isFiring).map(\.member.severity) == (severity.map { [$0] } ?? []), "case \(index)")
        }
        var few = LevelWindows()
        for window in LevelWindow.allCases { few[window] = LevelSums(observedSeconds: 59, missedSeconds: 59) }
        var finder = ConditionFinder()
        let seen = AlertObservation.well { $0.levels.tenants = [TenantLevel(tenant: "acme", pool: "p", windows: few)] }
        #expect(finder.find(in: seen)[AlertKey(.sloBurn, pool: "p")].members.map(\.isFiring) == [false])
    }

    @Test func `a starved tenant has one alert, and its end opens no other`() {
        var finder = ConditionFinder()
        func isFiring(_ tenant: TenantReport) -> (starvation: Bool, burn: Bool) {
            let found = finder.find(
                in: .well { seen in
                    seen.levels.tenants = [
                        TenantLevel(
                            tenant: "acme", pool: "p", windows: Self.windows(recent: 5, hour: 0.8, day: 0.1))
                    ]
                    seen.tenant = tenant
                })
            let starved = AlertKey(.starvation, pool: "p", reason: "delivery")
            return (
                !found[starved].members.isEmpty, found[AlertKey(.sloBurn, pool: "p")].members.contains { $0.isFiring }
            )
        }
        #expect(isFiring(.starved("acme")) == (true, false))
        #expect(isFiring(.sample("acme")) == (false, false))
        var short = TenantReport.sample("acme")
        short.underservedSeconds = 20
        #expect(isFiring(short) == (false, true))
    }

    @Test func `Headroom's own levels are looked at from outside, so that a loop that hangs misses them`() {
        var book = OwnLevelBook()
        var report = LoopReport(at: start)
        (report.decidedAt, report.confirmedAt, report.caughtUpAt) = (start, start, nil)
        let policy = Policy(pools: [.sample])
        // Looked at every five seconds for a minute; the last decision stays the one of the start.
        for look in 0...12 { book.note(report, under: policy, at: start.adding(seconds: 5 * Double(look))) }
        var missed: [OwnLevel: Double] = [:]
        var observed: [OwnLevel: Double] = [:]
        for minute in book.minutes {
            missed[minute.level, default: 0] += minute.missedSeconds
            observed[minute.level, default: 0] += minute.observedSeconds
        }
        // Up to 10 s is well: the looks at 5 and 10 s. Telemetry was never read, so nothing is known of it.
        #expect(observed == [.published: 60, .decision: 60] && missed == [.published: 50, .decision: 50])
        book.removeAll()
        report.confirmedAt = start.adding(seconds: 100)
        book.note(report, under: policy, at: start.adding(seconds: 105))
        #expect(book.minutes.map(\.missedSeconds) == [45, 0] && book.minutes.map(\.level) == [.decision, .published])
    }

    @Test func `its own burn is an alert of the service`() {
        var finder = ConditionFinder()
        let seen = AlertObservation.well { seen in
            seen.levels.own = [.decision: Self.windows(recent: 5, hour: 0.1, day: 0.01)]
        }
        let members = finder.find(in: seen)[AlertKey(.sloBurn)].members
        #expect(
            members.map(\.member.sentence) == [
                "The last decision was at most 10 s old for 90 % of the last hour; it should be for 100 %. It burns 100 "
                    + "times as fast as it may."
            ])
    }
}

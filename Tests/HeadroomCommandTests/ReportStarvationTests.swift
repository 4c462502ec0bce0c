import Foundation
import HeadroomJSON
import HeadroomModel
import HeadroomStorage
import Testing

@Suite struct ReportStarvationTests {
    /// A database in which acme was starved for delivery and beta for longer for shortage, two hours and forty days ago.
    private func house() async throws -> House {
        let house = try House()
        let now = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        let database = try Database(path: house.database, use: .command, coding: .unread, time: TimeSource { now })
        func rollup(_ tenant: TenantID, ago minutes: Int, delivery: Double = 0, shortage: Double = 0) -> Rollup {
            Rollup(
                start: now.adding(seconds: -Double(minutes) * 60), tenant: tenant, pool: "test:model",
                criticality: .interactive,
                sums: RollupSums {
                    $0.countedTokens = 300
                    $0.asked.tokens = 1_000
                    $0.starvedForDeliverySeconds = delivery
                    $0.starvedForShortageSeconds = shortage
                    $0.oldestQueuedSeconds = 480
                })
        }
        var rollups: [Rollup] = []
        for minute in 120..<130 { rollups.append(rollup("acme", ago: minute, delivery: 60)) }
        for minute in 100..<130 { rollups.append(rollup("beta", ago: minute, shortage: 60)) }
        for minute in 0..<90 { rollups.append(rollup("longago", ago: 40 * 1_440 + minute, shortage: 60)) }
        try await database.checkpoints.save(
            Checkpoint(at: now, cursor: .start, observer: [], classifier: []), rollups: rollups)
        return house
    }

    @Test func `the report names who was starved, the longest first, and looks back as far as it is told`() async throws
    {
        let house = try await house()
        let report = try await HeadroomProgram.run("report", "starvation", "--database", house.database)
        #expect(report.code == 0 && report.errors == "")
        let lines = report.output.split(separator: "\n")
        #expect(lines.count == 3, "\(report.output)")
        #expect(lines[0].hasPrefix("TENANT"))
        for (line, words) in [
            (lines[1], ["beta", "test:model", "30 min", "shortage", "480 s", "30 %"]),
            (lines[2], ["acme", "test:model", "10 min", "delivery", "480 s", "30 %"]),
        ] {
            for word in words { #expect(line.contains(word), "\(word) in \(line)") }
        }
        let all = try await HeadroomProgram.run("report", "starvation", "--days", "60", "--database", house.database)
        #expect(all.output.split(separator: "\n").dropFirst().first?.hasPrefix("longago") == true)
        let none = try await HeadroomProgram.run("report", "starvation", "--days", "0.01", "--database", house.database)
        #expect(none.code == 0 && none.output.hasPrefix("Nobody was starved from "))
    }

    @Test func `a running service reports the same as its file, and status goes on watching it`() async throws {
        let house = try await house()
        func report(_ options: [String]) async throws -> JSONNode {
            let report = try await HeadroomProgram.run(["report", "starvation", "--json"] + options)
            #expect(report.code == 0, "\(report.errors)")
            return try JSONNode.parse(Array(report.output.utf8))
        }
        let file = try await report(["--database", house.database])
        try await RunningService.run(house) { service in
            let url = ["--url", "http://127.0.0.1:\(service.client.port)"]
            let asked = try await report(url)
            #expect(asked["tenants"]?.array?.count == 2 && asked["tenants"] == file["tenants"])
            let watched = try await HeadroomProgram.run(["status", "--watch", "--times", "2"] + url)
            #expect(watched.output.components(separatedBy: "POOL  ").count == 3, "\(watched.output)")
        }
        let both = try await HeadroomProgram.run(
            ["report", "starvation", "--url", "http://127.0.0.1:1", "--database", house.database])
        #expect(both.code == 2)
    }

    @Test func `who has been starved for weeks is found after housekeeping, though its calls are long gone`()
        async throws
    {
        let house = try House()
        let now = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        let database = try Database(path: house.database, use: .command, coding: .unread, time: TimeSource { now })
        // Half an hour of each of the last forty days, well inside them: the report's days end when it runs.
        let rollups = (1...40).flatMap { day in
            (0..<30).map { minute in
                Rollup(
                    start: now.adding(seconds: -Double(day) * 86_400 + 3_600 + Double(minute) * 60), tenant: "weeks",
                    pool: "test:model", criticality: .batch,
                    sums: RollupSums {
                        $0.countedTokens = 500
                        $0.asked.tokens = 1_000
                        $0.starvedForShortageSeconds = 60
                    })
            }
        }
        try await database.checkpoints.save(
            Checkpoint(at: now, cursor: .start, observer: [], classifier: []), rollups: rollups)
        while try await database.prune(TelemetryPolicy(), at: now) > 0 {}
        for (days, minutes, spells) in [("30", "900 min", " 30 "), ("60", "1,200 min", " 40 ")] {
            let report = try await HeadroomProgram.run(
                "report", "starvation", "--days", days, "--database", house.database)
            let line = report.output.split(separator: "\n").dropFirst().first ?? ""
            #expect(line.hasPrefix("weeks"))
            for words in [minutes, spells, "shortage", "50 %"] { #expect(line.contains(words), "\(words) in \(line)") }
        }
    }

    @Test func `a program reads each spell`() async throws {
        let house = try await house()
        let report = try await HeadroomProgram.run("report", "starvation", "--json", "--database", house.database)
        let json = try JSONNode.parse(Array(report.output.utf8))
        #expect(json["tenants"]?.array?.map { $0["tenant"]?.string } == ["beta", "acme"])
        let acme = json["tenants"]?.array?.last
        #expect(acme?["reason"]?.string == "delivery" && acme?["starved_seconds"]?.number == 600)
        let spells = acme?["spells"]?.array
        #expect(spells?.count == 1)
        #expect(spells?.first?["delivery_seconds"]?.number == 600)
        #expect(spells?.first?["counted_tokens"]?.number == 3_000)
    }

    @Test func `wrong usage and a missing database are told apart`() async throws {
        let usage = try await HeadroomProgram.run("report", "starvation", "--days", "soon")
        #expect(usage.code == 2 && usage.errors.contains(#"--days "soon": must be a number from 0.01 to 3660"#))
        let missing = try await HeadroomProgram.run("report", "starvation")
        #expect(missing.code == 1 && missing.errors.contains("no such database"))
    }
}

extension SnapshotStore.Coding {
    /// For a database whose snapshots nobody looks at.
    fileprivate static let unread = SnapshotStore.Coding(
        encode: { _ in [] }, decode: { _ in throw StorageError(code: .misuse, message: "no snapshots here") })
}

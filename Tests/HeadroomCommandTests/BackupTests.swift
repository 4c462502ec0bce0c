import Foundation
import HeadroomJSON
import HeadroomModel
import Testing

/// `headroom backup` and `headroom restore`, and the copies that a service makes by itself.
@Suite struct BackupTests {
    @Test func `a copy is made beside a running service, and what is started on it outranks the service`() async throws
    {
        let house = try House()
        let copy = house.directory.file("copy.sqlite")
        var epoch = 0.0
        try await RunningService.run(house) { service in
            _ = try await service.client.post([ServingTests.call("a")])
            let published = try await service.client.poll("/readyz") { $0.json["epoch"]?.number ?? 0 > 0 }
            epoch = published.json["epoch"]?.number ?? 0
            let made = try await HeadroomProgram.run("backup", copy, "--database", house.database)
            #expect(made.code == 0 && made.output.hasPrefix("\(copy): "), "\(made.errors)")
            #expect(made.output.contains("0 entries of the audit log as they were written"))
            _ = try await service.client.post([ServingTests.call("b")])
            let again = try await HeadroomProgram.run("backup", copy, "--database", house.database)
            #expect(again.code == 1 && again.errors.contains("is there already"))
            let refused = try await HeadroomProgram.run("restore", copy, "--database", house.database)
            #expect(refused.code == 1 && refused.errors.contains("another Headroom serves this database"))
        }
        let restored = try await HeadroomProgram.run("restore", copy, "--database", house.database)
        #expect(restored.code == 0 && restored.output.contains("the database that was there is"), "\(restored.errors)")
        try await RunningService.run(house) { service in
            let published = try await service.client.poll("/readyz") { $0.json["epoch"]?.number ?? 0 > 0 }
            #expect(published.json["epoch"]?.number ?? 0 > epoch)
        }
        #expect(try await house.storedRecords().count == 1)
    }

    @Test func `a service copies its database by itself, keeps the newest and deletes only files of its own`()
        async throws
    {
        let house = try House()
        let kept = ["headroom-mine.sqlite", "notes.txt"]
        let old = (1...3).map { "headroom-2020010\($0)T000000Z.sqlite" }
        for name in kept + old + ["headroom-20200104T000000Z.sqlite.partial"] {
            _ = try house.directory.write("", to: "backups/\(name)")
        }
        let backups = house.directory.file("backups")
        try await RunningService.run(house, "--backup-directory", backups, "--backup-keep", "2") { service in
            // The newest one of before is empty.
            let age = try await service.client.poll("/metrics") {
                $0.text.contains("headroom_backup_bytes") && !$0.text.contains("headroom_backup_bytes 0\n")
            }
            #expect(age.text.contains("headroom_backup_age_seconds"))
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: backups).sorted()
        #expect(names.filter { kept.contains($0) } == kept)
        let copies = names.filter { !kept.contains($0) }
        #expect(copies.count == 2 && copies.first == old.last, "\(names)")
    }

    @Test func `while the database cannot be backed up there is a warning and an alert`() async throws {
        let house = try House()
        let token = try await HeadroomProgram.run(
            "token", "create", "--name", "a", "--role", "viewer", "--database", house.database)
        try house.tamper("UPDATE audit SET author = 'nobody' WHERE sequence = 1")
        let backups = house.directory.file("backups")
        try FileManager.default.createDirectory(atPath: backups, withIntermediateDirectories: true)
        try await RunningService.run(house, "--backup-directory", backups) { service in
            let ready = try await service.client.poll("/readyz") { $0.text.contains("is not backed up") }
            #expect(ready.text.contains("the database is not backed up: "), "\(ready.text)")
            let secret = token.output.trimmingCharacters(in: .whitespacesAndNewlines)
            let alerts = try await service.client.poll(
                "/v1/alerts?kind=service", headers: ["Authorization: Bearer \(secret)"]
            ) { $0.text.contains("is not backed up") }
            #expect(alerts.text.contains("the database is not backed up: "), "\(alerts.text)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: backups).isEmpty)
    }

    @Test(arguments: [
        (["--backup-every", "1h"], "go with --backup-directory"),
        (["--backup-directory", "nowhere"], "must be a directory"),
    ])
    func `wrong options say what would be right`(options: [String], words: String) async throws {
        let house = try House()
        let refused = try await HeadroomProgram.run(["serve"] + house.options + options)
        #expect(refused.code == 2 && refused.errors.contains(words), "\(refused.errors)")
    }
}

import HeadroomModel
import HeadroomStorage
import Testing

@Suite struct AuditTests {
    /// A log of three rows, the second about acme.
    private func log() async throws -> TemporaryDatabase {
        let database = try TemporaryDatabase()
        let contracts = ContractStore(connection: database.writer)
        try await contracts.replaceAll(with: [], by: "sync \"x\"\n", at: start)
        try await contracts.put(Contract(tenant: "acme", tier: "gold"))
        try await contracts.put(Contract(tenant: "beta"), at: start.adding(seconds: 1))
        return database
    }

    @Test func `rows come back in order, as many as asked for, each with its hash`() async throws {
        let audit = try await log().auditReader()
        let entries = try await audit.entries(after: 0, limit: 10)
        #expect(entries.map(\.sequence) == [1, 2, 3])
        #expect(entries[0].author == "sync \"x\"\n")
        #expect(Set(entries.map(\.hash)).count == 3 && entries.allSatisfy { $0.hash.count == 64 })
        #expect(try await audit.entries(after: 1, limit: 1) == [entries[1]])
        #expect(try await audit.verify(at: start).fault == nil)
    }

    @Test func `a row that was changed, taken out, put in or moved is found`() async throws {
        let tampers: [(StaticString, Int64)] = [
            ("UPDATE audit SET author = 'eve' WHERE sequence = 2", 2),
            ("UPDATE audit SET action = 'contract.get' WHERE sequence = 1", 1),
            ("UPDATE audit SET at_ms = at_ms + 1 WHERE sequence = 3", 3),
            ("UPDATE audit SET detail = replace(detail, 'gold', 'free') WHERE sequence = 2", 2),
            ("UPDATE audit SET detail = NULL WHERE sequence = 2", 2),
            ("UPDATE audit SET detail = NULL WHERE sequence = 1", 1),
            ("UPDATE audit SET tenant_sha256 = NULL WHERE sequence = 2", 2),
            ("DELETE FROM audit WHERE sequence = 1", 1),
            ("DELETE FROM audit WHERE sequence = 2", 2),
            ("DELETE FROM audit WHERE sequence = 3", 3),
            ("DELETE FROM audit", 1),
            (
                """
                INSERT INTO audit (sequence, at_ms, author, action, detail, detail_sha256, sha256)
                SELECT 4, at_ms, author, action, detail, detail_sha256, sha256 FROM audit WHERE sequence = 1
                """, 4
            ),
            ("UPDATE audit SET sequence = 9 WHERE sequence = 3", 3),
        ]
        for (sql, sequence) in tampers {
            let database = try await log()
            try database.execute(sql)
            let fault = try #require(try await database.auditReader().verify(at: start).fault, "\(sql)")
            #expect(fault.sequence == sequence, "\(sql)")
            #expect(fault.detail.contains("row \(sequence)") && fault.detail.contains("expected"), "\(fault.detail)")
        }
    }

    @Test(.enabled(if: TestEngine.isSQLite)) func `a row's detail is written as SQLite's json_quote writes it`()
        async throws
    {
        let database = try TemporaryDatabase()
        let steering = SteeringStore(connection: database.writer, coding: .unused, time: TimeSource { start })
        let rates = [
            1, 0.1, 2.5, 1.0 / 3, 90_000, 1e15, 999_999_999_999_999, 1.25e16, 1e20, 1e-4, 1e-5, 1.5e-7, 6.02e123,
        ]
        let reason = "\u{1}\u{1F}\u{7F}\t\n\r\u{8}\u{C}\"\\/é€𝄞"
        for rate in rates {
            try await steering.pin(
                CapacityPin(
                    pool: "a:b", capacity: Rates(rpm: rate),
                    authorship: Authorship(author: "ops", reason: reason, at: start, until: start.adding(seconds: 60))))
            let isSame = try database.writer.executor.performAndWait {
                try database.writer.statement(
                    """
                    SELECT json_valid(detail) AND instr(detail, '"rpm":' || json_quote(:rate) || '}') > 0
                        AND instr(detail, '"reason":' || json_quote(:reason)) > 0
                    FROM audit ORDER BY sequence DESC LIMIT 1
                    """
                ).bind(":rate", rate).bind(":reason", reason).first { $0.integer(0) == 1 }
            }
            #expect(isSame == true, "\(rate)")
        }
    }

    @Test func `rows cut off the end are missed though nothing else tells of them, and a new row does not hide it`()
        async throws
    {
        let database = try await log()
        try database.execute("DELETE FROM audit WHERE sequence = 3")
        if TestEngine.isSQLite { try database.execute("UPDATE sqlite_sequence SET seq = 2 WHERE name = 'audit'") }
        let audit = try database.auditReader()
        #expect(try await audit.verify(at: start).fault?.sequence == 3)
        try await ContractStore(connection: database.writer).put(Contract(tenant: "gamma"))
        let found = try await audit.verify(at: start)
        #expect(found.fault?.sequence == 3 && found.sequence == 2)
    }

    @Test func `a log that is whole is verified up to its head, and the reader remembers that`() async throws {
        let audit = try await log().auditReader()
        #expect(await audit.lastVerification == nil)
        let found = try await audit.verify(at: start)
        #expect(found.sequence == 3 && found.fault == nil)
        #expect(found.hash == (try await audit.entries(after: 2, limit: 1)[0].hash))
        #expect(await audit.lastVerification == found)
    }

    @Test func `a head that was noted finds every cut, and a log that was written anew`() async throws {
        let database = try await log()
        let audit = try database.auditReader()
        let head = try #require(try await audit.head())
        #expect(head.sequence == 3 && AuditHead(head.description) == head)
        #expect(try await audit.verify(at: start, noted: head).fault == nil)
        #expect(try await audit.verify(at: start, noted: AuditHead(head.hash)).fault == nil)
        // Rows that follow change nothing.
        try await ContractStore(connection: database.writer).put(Contract(tenant: "gamma"))
        #expect(try await audit.verify(at: start, noted: head).fault == nil)

        // Cut by somebody who knows all of Headroom's tables.
        for rows in [3, 2, 1] as [Int64] {
            try database.execute("DELETE FROM audit WHERE sequence > (SELECT max(sequence) - 1 FROM audit)")
            if TestEngine.isSQLite {
                try database.execute(
                    "UPDATE sqlite_sequence SET seq = (SELECT max(sequence) FROM audit) WHERE name = 'audit'")
            }
            try database.execute(
                "UPDATE audit_head SET (sequence, sha256) = (SELECT sequence, sha256 FROM audit ORDER BY sequence DESC LIMIT 1)"
            )
            #expect(try await audit.verify(at: start).fault == nil)
            #expect(try await audit.head()?.sequence == rows)
            let fault = try await audit.verify(at: start, noted: head).fault
            #expect((fault == nil) == (rows == 3), "\(rows)")
            if rows < 3 { #expect(fault?.sequence == 3 && fault?.detail.contains("cut off") == true) }
        }

        let anew = try await log()
        try await ContractStore(connection: anew.writer).put(Contract(tenant: "delta"))
        #expect(try await anew.auditReader().verify(at: start).fault == nil)
        let other = try TemporaryDatabase()
        for tenant in ["x", "y", "z"] as [TenantID] {
            try await ContractStore(connection: other.writer).put(Contract(tenant: tenant))
        }
        #expect(try await other.auditReader().verify(at: start, noted: head).fault?.sequence == 3)
    }

    @Test func `a head is read as it was printed`() {
        let hash = String(repeating: "9f", count: 32)
        for text in ["17 \(hash)", "17:\(hash)", "17,\(hash.uppercased())"] {
            #expect(AuditHead(text)?.description == "17 \(hash)", "\(text)")
        }
        #expect(AuditHead(hash)?.description == hash)
        for text in ["", "17", "17 9f", "x \(hash)", "0 \(hash)", "1 2 \(hash)", "\(hash)0"] {
            #expect(AuditHead(text) == nil, "\(text)")
        }
    }

    @Test func `an empty log is whole`() async throws {
        let found = try await TemporaryDatabase().auditReader().verify(at: start)
        #expect(found.sequence == 0 && found.fault == nil)
    }

    @Test func `the chain still holds when a tenant was erased, and only that tenant's details may be missing`()
        async throws
    {
        let database = try await log()
        let contracts = ContractStore(connection: database.writer)
        try await contracts.erase("acme", by: "ops", at: start)
        let audit = try database.auditReader()
        #expect(try await audit.verify(at: start).fault == nil)
        let entries = try await audit.entries(after: 0, limit: 10)
        #expect(
            entries.map(\.action) == [
                "contracts.import", "contract.put", "contract.put", "contract.removed", "tenant.erase",
            ])
        let digest = SHA256.hexadecimalDigest(of: Array("acme".utf8))
        #expect(entries[1].detail == "{\"tenant_sha256\":\"\(digest)\",\"erased\":true}")
        #expect(entries[3].detail == entries[1].detail && entries[4].detail == entries[1].detail)
        #expect(!entries.map(\.detail).joined().contains("acme"))

        try await contracts.put(Contract(tenant: "acme"))
        try database.execute("UPDATE audit SET detail = NULL WHERE sequence = 6")
        #expect(try await audit.verify(at: start).fault?.sequence == 6)
        try database.execute("UPDATE audit SET detail = NULL WHERE sequence = 3")
        #expect(try await audit.verify(at: start).fault?.sequence == 3)
    }

    private static let key = AuditKey(Array("a key of some length".utf8))!

    /// ``log()``, signed from its first row on; read on the connection that writes.
    private func signedLog() async throws -> (database: TemporaryDatabase, audit: AuditReader) {
        let database = try TemporaryDatabase()
        database.writer.auditKey = Self.key
        try await AuditReader(connection: database.writer).signIfNew()
        let contracts = ContractStore(connection: database.writer)
        try await contracts.put(Contract(tenant: "acme", tier: "gold"))
        try await contracts.put(Contract(tenant: "beta"), at: start.adding(seconds: 1))
        return (database, AuditReader(connection: database.writer))
    }

    @Test(.enabled(if: TestEngine.isSQLite)) func `each single bit that is changed in a signed log is found`()
        async throws
    {
        let (database, audit) = try await signedLog()
        let columns: [(read: StaticString, write: StaticString)] = [
            (
                "SELECT CAST(author AS BLOB) FROM audit WHERE sequence = :row",
                "UPDATE audit SET author = CAST(:value AS TEXT) WHERE sequence = :row"
            ),
            (
                "SELECT CAST(action AS BLOB) FROM audit WHERE sequence = :row",
                "UPDATE audit SET action = CAST(:value AS TEXT) WHERE sequence = :row"
            ),
            (
                "SELECT CAST(detail AS BLOB) FROM audit WHERE sequence = :row",
                "UPDATE audit SET detail = CAST(:value AS TEXT) WHERE sequence = :row"
            ),
            (
                "SELECT tenant_sha256 FROM audit WHERE sequence = :row",
                "UPDATE audit SET tenant_sha256 = :value WHERE sequence = :row"
            ),
            (
                "SELECT detail_sha256 FROM audit WHERE sequence = :row",
                "UPDATE audit SET detail_sha256 = :value WHERE sequence = :row"
            ),
            (
                "SELECT sha256 FROM audit WHERE sequence = :row",
                "UPDATE audit SET sha256 = :value WHERE sequence = :row"
            ),
            // A number's digits; those that make no number are another value still.
            (
                "SELECT CAST(CAST(at_ms AS TEXT) AS BLOB) FROM audit WHERE sequence = :row",
                "UPDATE audit SET at_ms = CAST(CAST(:value AS TEXT) AS INTEGER) WHERE sequence = :row"
            ),
            ("SELECT sha256 FROM audit_head WHERE :row = 1", "UPDATE audit_head SET sha256 = :value WHERE :row = 1"),
            ("SELECT mac FROM audit_head WHERE :row = 1", "UPDATE audit_head SET mac = :value WHERE :row = 1"),
            (
                "SELECT CAST(CAST(sequence AS TEXT) AS BLOB) FROM audit_head WHERE :row = 1",
                "UPDATE audit_head SET sequence = CAST(CAST(:value AS TEXT) AS INTEGER) WHERE :row = 1"
            ),
        ]
        func write(_ sql: StaticString, _ value: [UInt8], _ row: Int64) throws {
            try database.writer.executor.performAndWait {
                try database.writer.statement(sql).bind(":value", value).bind(":row", row).run()
            }
        }
        #expect(try await audit.verify(at: start).fault == nil)
        try database.execute("PRAGMA synchronous = OFF")
        var bits = 0
        var missed: [String] = []
        for row in [1, 2] as [Int64] {
            for (read, update) in columns {
                let value = try database.writer.executor.performAndWait {
                    try database.writer.statement(read).bind(":row", row).first { $0.bytes(0) } ?? []
                }
                for bit in 0..<(8 * value.count) {
                    var changed = value
                    changed[bit / 8] ^= 1 << (bit % 8)
                    try write(update, changed, row)
                    if try await audit.verify(at: start).fault == nil {
                        missed.append("\(update) row \(row) bit \(bit)")
                    }
                    bits += 1
                }
                try write(update, value, row)
            }
        }
        #expect(missed.isEmpty, "\(missed.prefix(5))")
        #expect(bits > 2000)
        #expect(try await audit.verify(at: start).fault == nil, "all is as it was")
    }

    @Test(.enabled(if: TestEngine.isSQLite))
    func `a log that is written anew or cut without the key is found, and no later act hides it`() async throws {
        // By somebody who knows all of Headroom's tables, and has kept the newest signature.
        let attacks: [(name: String, statements: [StaticString])] = [
            (
                "cut",
                [
                    "DELETE FROM audit WHERE sequence = 2", "UPDATE sqlite_sequence SET seq = 1 WHERE name = 'audit'",
                    "UPDATE audit_head SET (sequence, sha256) = (SELECT sequence, sha256 FROM audit WHERE sequence = 1)",
                ]
            ),
            ("unsigned", ["UPDATE audit_head SET mac = NULL"]),
            (
                "emptied",
                [
                    "DELETE FROM audit", "DELETE FROM sqlite_sequence WHERE name = 'audit'",
                    "UPDATE audit_head SET sequence = 0, sha256 = zeroblob(32), mac = NULL",
                ]
            ),
        ]
        for (name, statements) in attacks {
            let (database, audit) = try await signedLog()
            for sql in statements { try database.execute(sql) }
            #expect(try await audit.verify(at: start).fault != nil, "\(name)")
            try await ContractStore(connection: database.writer).put(Contract(tenant: "gamma"))
            #expect(try await audit.verify(at: start).fault != nil, "\(name), after another act")
        }
        // Written anew by a Headroom without the key, or with another one.
        for other in [nil, AuditKey(Array("another key, as long".utf8))] {
            let anew = try TemporaryDatabase()
            anew.writer.auditKey = other
            try await ContractStore(connection: anew.writer).put(Contract(tenant: "acme"))
            anew.writer.auditKey = Self.key
            #expect(try await AuditReader(connection: anew.writer).verify(at: start).fault?.sequence == 1)
        }
    }

    @Test func `a log is signed once and whole, and then no act is written without the key`() async throws {
        let database = try await log()
        database.writer.auditKey = Self.key
        let signer = AuditReader(connection: database.writer)
        #expect(try await signer.verify(at: start).fault?.detail.contains("found no signature") == true)
        try database.execute("UPDATE audit SET author = 'eve' WHERE sequence = 2")
        #expect(try await signer.sign(at: start).fault?.sequence == 2, "a log that is not whole is not signed")
        #expect(try await !signer.isSigned)
        let whole = try await log()
        whole.writer.auditKey = Self.key
        let audit = AuditReader(connection: whole.writer)
        let signed = try await audit.sign(at: start)
        #expect(signed.fault == nil && signed.sequence == 4)
        #expect(try await audit.sign(at: start).sequence == 4, "once")
        whole.writer.auditKey = nil
        await #expect(throws: (any Error).self) {
            try await ContractStore(connection: whole.writer).put(Contract(tenant: "gamma"))
        }
        #expect(try await audit.verify(at: start).fault == nil, "the chain can be verified without the key")
        whole.writer.auditKey = Self.key
        try await ContractStore(connection: whole.writer).put(Contract(tenant: "gamma"))
        #expect(try await audit.verify(at: start).fault == nil)
        #expect(AuditKey(Array("too short".utf8)) == nil)
    }
}

import Foundation
import HeadroomModel
import HeadroomSimulator
import Testing

@Suite struct TraceTests {
    private static let header = TraceReader.header + "\n"

    private func read(_ rows: String, seed: UInt64 = 1) throws -> Trace {
        try TraceReader.read(Array((TraceTests.header + rows).utf8), seed: seed)
    }

    @Test func `rows are sorted by time and keep their clients as tenants`() throws {
        let trace = try read("1500,b,m,10,1\r\n0,a,m,20,2\n\n1500,m/c7,,30,3")
        #expect(trace.tenants == ["b", "a", "m:c7"])
        #expect(
            trace.rows == [
                Trace.Row(seconds: 0, tenant: 1, inputTokens: 20, outputTokens: 2),
                Trace.Row(seconds: 1.5, tenant: 0, inputTokens: 10, outputTokens: 1),
                Trace.Row(seconds: 1.5, tenant: 2, inputTokens: 30, outputTokens: 3),
            ])
        #expect(!trace.hasSyntheticTenants && !trace.hasDrawnLengths)
    }

    @Test func `a client's name becomes a valid tenant whatever it holds`() throws {
        for (client, tenant) in [
            ("a b", "a:b"), ("/x", "c:x"), ("é", "c::"), (String(repeating: "x", count: 500), nil),
        ] {
            let trace = try read("0,\(client),m,1,1\n")
            #expect(TenantID(trace.tenants[0].text) != nil, "\(client)")
            if let tenant { #expect(trace.tenants[0].text == tenant) }
        }
    }

    @Test func `every fault is named by line with what would be right`() {
        let table: [(text: String, faults: [(Int, String)])] = [
            ("", [(1, "must be the header")]),
            ("offset,client\n0,a\n", [(1, "must be the header")]),
            (TraceTests.header, [(2, "no requests")]),
            (
                TraceTests.header + "0,a,m,1,1\n-1,a,m,1,1\n5,a,m,x,1\n6,a,m,1,1.5\n7,a,m\n",
                [
                    (3, "offset_ms: must be a whole number"), (4, "input_tokens: must be blank or a whole number"),
                    (5, "output_tokens: must be blank"), (6, "has 3 fields: must be the 5"),
                ]
            ),
            (TraceTests.header + "0,a,m,1,99999999999999\n", [(2, "output_tokens")]),
            (TraceTests.header + "0,a,m,,5\n", [(2, "no request has both")]),
        ]
        for (text, faults) in table {
            let error = #expect(throws: TraceError.self) { try TraceReader.read(Array(text.utf8), seed: 1) }
            #expect(error?.faults.map(\.line) == faults.map(\.0), "\(text)")
            for (found, expected) in zip(error?.faults ?? [], faults) { #expect(found.detail.contains(expected.1)) }
        }
    }

    @Test func `many faults are counted and the first twenty told`() {
        let error = #expect(throws: TraceError.self) { try read(String(repeating: "x,a,m,1,1\n", count: 50)) }
        #expect(error?.faults.count == 20)
        #expect(error?.message.hasSuffix("and 30 more") == true)
    }

    @Test func `rows without a client are split over synthetic tenants by Zipf and seed`() throws {
        let rows = (0..<5000).map { "\($0 * 100),,m,1,1\n" }.joined()
        let trace = try read(rows)
        #expect(trace.hasSyntheticTenants)
        #expect(trace.tenants.allSatisfy { $0.text.hasPrefix("synthetic-t0") } && trace.tenants.count == 20)
        #expect(try read(rows) == trace)
        #expect(try read(rows, seed: 2) != trace)
        let totals = trace.totals.map { $0[.requests] / 5000 }
        let zipf = ZipfDistribution(count: 20, exponent: 1.1)
        for index in 0..<20 { #expect(abs(totals[index] - zipf.share(of: index)) < 0.06, "tenant \(index)") }
        let sticky = zip(trace.rows, trace.rows.dropFirst()).count { $0.tenant == $1.tenant }
        // One half by the rule, and of the rest Σ shares² by chance.
        let chance = (0..<20).reduce(0) { $0 + zipf.share(of: $1) * zipf.share(of: $1) }
        #expect(abs(Double(sticky) / 5000 - (0.5 + 0.5 * chance)) < 0.04)
    }

    @Test func `named clients stay beside synthetic tenants`() throws {
        let trace = try read("0,acme,m,1,1\n1,,m,1,1\n")
        #expect(trace.tenants[trace.rows[0].tenant] == "acme")
        #expect(trace.tenants[trace.rows[1].tenant].text.hasPrefix("synthetic-t"))
    }

    @Test func `rows without lengths take those of other rows`() throws {
        let trace = try read("0,a,m,7,70\n1,a,m,9,90\n2,a,m,,\n3,a,m,5,\n")
        #expect(trace.hasDrawnLengths)
        let drawn = trace.rows[2]
        #expect([[7, 70], [9, 90]].contains([drawn.inputTokens, drawn.outputTokens]))
        #expect(trace.rows[3].inputTokens == 5 && [70, 90].contains(trace.rows[3].outputTokens))
    }

    @Test func `playing compresses arrivals and leaves out tenants that do not appear`() throws {
        let trace = try read("0,a,m,1,1\n10000,b,m,2,2\n20000,a,m,3,3\n90000,c,m,4,4\n")
        let played = trace.played(seconds: 3, speed: 10)
        #expect(played.tenants == ["a", "b"])
        #expect(played.rows.map(\.seconds) == [0, 1, 2])
        #expect(played.total == Work(requests: 3, tokens: 12, inputTokens: 6, outputTokens: 6))
    }

    @Test func `the speed for a rate plays that many rows or all of them`() throws {
        let trace = try read((0..<1000).map { "\($0 * 500),a,m,1,1\n" }.joined())
        for (rate, seconds, rows) in [(4.0, 100.0, 400), (2.0, 10.0, 20), (60.0, 100.0, 1000), (10.0, 100.0, 1000)] {
            let speed = trace.speed(forRate: rate, seconds: seconds)
            #expect(trace.played(seconds: seconds, speed: speed).rows.count == rows, "\(rate) × \(seconds)")
        }
        #expect(try read("0,a,m,1,1\n").speed(forRate: 60, seconds: 90) == 1)
    }

    @Test func `folding keeps the largest tenants and all of the work`() throws {
        let trace = try read("0,a,m,1,1\n1,b,m,1,1\n2,b,m,1,1\n3,c,m,1,1\n4,c,m,1,1\n5,d,m,1,1\n")
        let folded = trace.folded(toLargest: 3)
        #expect(folded.tenants == ["b", "c", "others"])
        #expect(folded.total == trace.total)
        #expect(folded.totals.map { $0[.requests] } == [2, 2, 2])
        #expect(trace.folded(toLargest: 4) == trace)
    }

    @Test(.enabled(if: RecordedTraces.areThere))
    func `public traces are read whole`() throws {
        let table = [
            ("azure-llm-2023-code", 8819, 20), ("azure-llm-2023-conv-a", 9732, 20),
            ("mooncake-fast25-conversation-a", 5606, 20), ("lmsys-arena-vtc-a", 713, 22),
        ]
        for (name, rows, tenants) in table {
            let trace = try #require(try RecordedTraces.read("traces/" + name))
            #expect(trace.rows.count == rows && trace.tenants.count == tenants, "\(name)")
        }
    }
}

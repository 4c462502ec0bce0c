import HeadroomJSON
import HeadroomModel
import HeadroomWire
import Testing

@Suite struct TelemetryEncoderTests {
    @Test func `what was encoded decodes to the same records`() throws {
        let decoder = TelemetryDecoder { _ in ProviderSignal(kind: .quota) }
        for seed in UInt64(0)..<100 {
            var generator = SplitMix64(seed: seed)
            let records = (0..<20).map { _ in RandomWire.record(&generator) }
            var encoder = TelemetryEncoder()
            for record in records { encoder.append(record, headers: [("retry-after", "1")], body: "é\n") }
            #expect(encoder.lines == 20)
            let result = try decoder.decode(
                encoder.bytes, as: .lines, arrival: .init(received: Timestamp(milliseconds: RandomWire.now)))
            #expect(result.faults == [], "seed \(seed)")
            for (line, record) in zip(result.lines, records) { #expect(line.record == record, "seed \(seed)") }
        }
    }

    @Test func `names are never mixed up, however many a request has`() throws {
        let decoder = TelemetryDecoder { _ in ProviderSignal(kind: .ok) }
        var generator = SplitMix64(seed: 3)
        var encoder = TelemetryEncoder()
        var names: [String] = []
        for _ in 0..<4000 {
            let name = "tenant-\(Int.random(in: 0..<1500, using: &generator))"
            names.append(name)
            encoder.append(
                .call(
                    CallRecord(
                        at: Timestamp(milliseconds: 1), gateway: GatewayID(unchecked: "g-" + name),
                        tenant: TenantID(unchecked: name), pool: PoolID(unchecked: name + ":pool"),
                        model: "model of " + name, outcome: .ok)))
        }
        let result = try decoder.decode(
            encoder.bytes, as: .lines, arrival: .init(received: Timestamp(milliseconds: 1)))
        #expect(result.lines.map(\.record.tenant?.text) == names)
        #expect(result.lines.map(\.record.pool.text) == names.map { $0 + ":pool" })
        let models = result.lines.map { line -> String? in
            if case .call(let call) = line.record { return call.model }
            return nil
        }
        #expect(models == names.map { "model of " + $0 })
    }

    @Test func `an id goes with every kind of line`() throws {
        var encoder = TelemetryEncoder()
        encoder.append(
            .queue(
                QueueRecord(
                    at: Timestamp(milliseconds: 1), gateway: "g", tenant: "t", pool: "p", depth: 0, tokens: 0)),
            id: "q-1")
        #expect(
            String(decoding: encoder.bytes, as: UTF8.self)
                == #"{"type":"queue","id":"q-1","at":1,"gateway":"g","tenant":"t","pool":"p","criticality":"interactive","#
                + #""depth":0,"tokens":0,"oldest_age_ms":0}"# + "\n")
        let decoder = TelemetryDecoder { _ in ProviderSignal(kind: .ok) }
        let result = try decoder.decode(
            encoder.bytes, as: .lines, arrival: .init(received: Timestamp(milliseconds: 1)))
        #expect(result.lines.first?.id == "q-1")
    }

    @Test func `answers read back as they were written`() throws {
        let answer = TelemetryAnswer(
            receipt: TelemetryReceipt(
                accepted: 2, duplicate: 1, late: 3, rejected: [.init(line: 3, detail: "type is \"missing\"")]),
            serviceClocks: ["openai:gpt-4o": ["acme": 1831.25, "aa": 0], "a": ["z": 1]])
        let text = String(decoding: answer.encoded(), as: UTF8.self)
        #expect(
            text == #"{"accepted":2,"duplicate":1,"late":3,"rejected":[{"line":3,"detail":"type is \"missing\""}],"#
                + #""service_clocks":{"a":{"z":1},"openai:gpt-4o":{"aa":0,"acme":1831.25}}}"#)
        #expect(try TelemetryAnswer.decode(Array(text.utf8)) == answer)
        for bad in ["", "[]", #"{"service_clocks":{"p":{"t":"1"}}}"#, #"{"service_clocks":{"-":{}}}"#] {
            #expect(throws: WireError.self, "\(bad)") { try TelemetryAnswer.decode(Array(bad.utf8)) }
        }
    }

    @Test func `a problem names every fault with its place`() {
        let problem = ProblemDocument(
            title: "Bad problem", status: 400, detail: "2 faults",
            errors: [.init(.path("tenants.0.weight"), "must be positive"), .init(.line(7), "not JSON")])
        #expect(
            String(decoding: problem.encoded(), as: UTF8.self)
                == #"{"type":"about:blank","title":"Bad problem","status":400,"detail":"2 faults","#
                + #""errors":[{"path":"tenants.0.weight","detail":"must be positive"},{"line":7,"detail":"not JSON"}]}"#
        )
        let short = ProblemDocument(type: ProblemDocument.quotaExceeded, title: "Slow down", status: 429)
        #expect(
            String(decoding: short.encoded(), as: UTF8.self)
                == #"{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Slow down","status":429}"#
        )
    }
}

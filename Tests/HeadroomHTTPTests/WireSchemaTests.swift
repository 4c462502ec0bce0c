import HeadroomHTTP
import HeadroomJSON
import HeadroomModel
import HeadroomWire
import Testing

/// What the encoders write is what the OpenAPI document says, in both directions.
@Suite struct WireSchemaTests {
    private static let check = SchemaCheck.openAPI

    /// The names of all members that the values have at any depth, as the schemas name them.
    private func names(in value: JSONNode, _ seen: inout Set<String>) {
        for member in value.members ?? [] {
            seen.insert(member.key)
            names(in: member.value, &seen)
        }
        for element in value.array ?? [] { names(in: element, &seen) }
    }

    private func described(_ schemas: [String]) -> Set<String> {
        func visit(_ node: JSONNode, _ names: inout Set<String>) {
            for property in node["properties"]?.members ?? [] { names.insert(property.key) }
            for member in node.members ?? [] { visit(member.value, &names) }
            for element in node.array ?? [] { visit(element, &names) }
        }
        var names: Set<String> = []
        for schema in schemas { visit(Self.check.schema(schema), &names) }
        return names
    }

    private static let rates: Rates = {
        var rates = Rates(rpm: 10, tpm: 1000)
        rates[.inputTokens] = 600
        rates[.outputTokens] = 400
        return rates
    }()

    /// Every state and reason, and every field.
    private static func snapshot(generation: Int64 = 7) -> Snapshot {
        let tenants = Constraint.allCases.enumerated().map { index, constraint in
            var tenant = TenantAllocation(
                tenant: TenantID(unchecked: "t\(index + 10)"), assured: rates, ceiling: rates, plain: rates,
                safe: rates,
                weight: 2, serviceClock: 1.5, tier: "premium", constraint: constraint, flags: ["cold_start"],
                retryOffsetMilliseconds: 300,
                criticality: PerCriticality(interactive: rates, nearRealTime: rates, batch: rates))
            (tenant.hasSoftCeiling, tenant.isQuiet) = (true, true)
            return tenant
        }
        let pools = PoolState.allCases.enumerated().map { index, state in
            var pool = PoolAllocation(
                pool: PoolID(unchecked: "p\(index)"), state: state, models: [.init(model: "m", state: state)],
                mode: PoolMode.allCases[index % PoolMode.allCases.count], enforce: index > 0, level: 0.1,
                capacity: rates,
                nominal: rates, capacityReason: CapacityReason.allCases[index], budget: rates, float: rates,
                fallback: rates, failover: ["other"], tenants: tenants, unlisted: rates)
            pool.breaker.openSeconds = 30
            pool.taskKinds = [PoolAllocation.TaskKind(kind: "k", requestsPerMinute: 1.5)]
            pool.gateways = 3
            pool.meanOutputTokens = 210
            pool.closedAfterSeconds = 300
            pool.tasks = TaskTerms(
                requiresTask: true,
                budgets: [
                    TaskBudget(
                        taskKind: "k", tenant: "t10", tier: "free",
                        limits: TaskLimits(calls: 1, iterations: 2, tokens: 3, fanOut: 4, seconds: 5))
                ],
                held: TaskHold.allCases.map {
                    TaskTerms.Held(
                        TaskName($0.name, of: "t10"), $0, ownHold: .all, isCost: true, isFull: true, isLifted: true)
                })
            return pool
        }
        return Snapshot(
            version: SnapshotVersion(epoch: 1_793_000_000, generation: generation),
            issuedAt: Timestamp(milliseconds: 1_793_000_000_000), leaseSeconds: 15, policy: "default@9f31", pools: pools
        )
    }

    private func answer(_ bytes: [UInt8]) throws -> (faults: [String], value: JSONNode) {
        let schema = try #require(
            Self.check.document["paths"]?["/v1/allocations"]?["get"]?["responses"]?["200"]?["content"]?[
                "application/json"]?["schema"])
        let value = try JSONNode.parse(bytes)
        return (Self.check.faults(of: value, against: schema, at: ""), value)
    }

    @Test func `a snapshot and a delta have what the document says, and nothing else`() throws {
        let old = Self.snapshot()
        var new = Self.snapshot(generation: 8)
        new.pools[0].tenants.removeFirst()
        new.pools[0].tenants[0].assured = .none
        new.pools[0].tenants[1].serviceClock += 1
        new.pools.removeLast()
        let whole = try answer(SnapshotEncoder.encode(old))
        #expect(whole.faults == [])
        let delta = try answer(SnapshotEncoder.encode(SnapshotDelta(from: old, to: new)))
        #expect(delta.faults == [])
        #expect(delta.value["removed"]?["p0"]?.array?.count == 1 && delta.value["removed_pools"]?.array?.count == 1)
        var seen: Set<String> = []
        names(in: whole.value, &seen)
        names(in: delta.value, &seen)
        let names = described(["SnapshotHead", "SnapshotDelta", "LimitRates", "PoolAllocation", "TenantAllocation"])
        #expect(names.subtracting(seen) == [], "described, and written by nobody")
    }

    @Test func `an answer that the document does not describe is found out`() throws {
        let cases: [(String, String)] = [
            (#""lease_seconds":15"#, #""lease_seconds":15,"leese":1"#), (#""tier":"premium""#, #""tier":7"#),
            (#""state":"healthy""#, #""state":"well""#), (#""weight":2,"#, ""), (#""rpm":10"#, #""rpm":-1"#),
        ]
        let good = String(decoding: SnapshotEncoder.encode(Self.snapshot()), as: UTF8.self)
        for (from, to) in cases {
            let bad = good.replacing(from, with: to)
            let faults = try answer(Array(bad.utf8)).faults
            #expect(bad != good && !faults.isEmpty, "\(to)")
        }
    }

    @Test func `a draw and its answer have what the document says, and nothing else`() throws {
        let work = Work(requests: 1, tokens: 2, inputTokens: 1, outputTokens: 1)
        let draw = DrawRequest(
            gateway: "g", member: "m", boot: "7f3a", sequence: 1, pool: "p", epoch: 2,
            totals: DrawRequest.Totals(returned: work, grantedUsed: work, spent: [.init(tenant: "t", work: work)]),
            waiting: [
                DrawRequest.Queue(
                    tenant: "t",
                    heads: Criticality.allCases.map {
                        DrawRequest.Head(
                            estimate: work * 2, criticality: $0, waitedSeconds: 1, patienceSeconds: 2)
                    })
            ], holds: true)
        let answer = DrawAnswer(
            sequence: 1, granted: [.init(tenant: "t", calls: 2)], grantedTotal: work,
            serviceClocks: [.init(tenant: "t", serviceClock: 1.5)], waitMilliseconds: 100, isAmple: true)
        var seen: Set<String> = []
        for (schema, bytes) in [("Draw", draw.encoded()), ("DrawAnswer", answer.encoded())] {
            let value = try JSONNode.parse(bytes)
            #expect(Self.check.faults(of: value, against: Self.check.schema(schema), at: "") == [])
            names(in: value, &seen)
        }
        #expect(described(["Draw", "Work", "WaitingCall", "DrawAnswer"]).subtracting(seen) == [])
    }

    private static let lines: [TelemetryRecord] = {
        let at = Timestamp(milliseconds: 1_793_000_000_000)
        let calls = Outcome.allCases.map { outcome in
            var call = CallRecord(
                id: "i", request: "r", at: at, gateway: "g", tenant: "t", pool: "p", model: "m", endpoint: "e",
                criticality: .batch, task: "k", parent: "q", attempt: 2, outcome: outcome, status: 200,
                latencyMilliseconds: 1.5, queuedMilliseconds: 2, inputTokens: 3, outputTokens: 4,
                cachedInputTokens: 1, maxTokens: 9, countedTokens: 6, taskKind: "review")
            call.isToolWork = outcome == .ok
            return TelemetryRecord.call(call)
        }
        let tasks = TaskRecord.State.allCases.map { state in
            TelemetryRecord.task(
                TaskRecord(
                    at: at, gateway: "g", tenant: "t", pool: "p", criticality: .interactive, task: "k", parent: "q",
                    state: state, progress: 0.5, remainingRequests: 1, remainingTokens: 2))
        }
        return calls + tasks + [
            .window(
                WindowRecord(
                    id: "i", start: at, seconds: 10, gateway: "g", tenant: "t", pool: "p", criticality: .nearRealTime,
                    requests: 4, ok: 1, quota: 1, overload: 1, error: 1, retries: 1, denied: 2, deniedTokens: 3,
                    inputTokens: 4, outputTokens: 5,
                    latency: .init(count: 1, p50Milliseconds: 1, p95Milliseconds: 2, p99Milliseconds: 3))),
            .queue(
                QueueRecord(
                    at: at, gateway: "g", tenant: "t", pool: "p", criticality: .batch, depth: 1, tokens: 2,
                    oldestAgeMilliseconds: 3)),
            .response(
                ResponseRecord(
                    at: at, request: "r", gateway: "g", pool: "p", model: "m", endpoint: "e", provider: "openai",
                    status: 429, signal: ProviderSignal(kind: .quota))),
            .model(ModelRecord(at: at, gateway: "g", pool: "p", model: "m", version: "v")),
        ]
    }()

    @Test func `every telemetry line has what the document says, and nothing else`() throws {
        var seen: Set<String> = []
        for record in Self.lines {
            var encoder = TelemetryEncoder()
            encoder.append(record, id: "i", headers: [("retry-after", "1")], body: "b")
            let line = try JSONNode.parse(encoder.bytes)
            let faults = Self.check.faults(of: line, against: Self.check.schema("TelemetryLine"), at: "")
            #expect(faults == [], "\(line.encoded())")
            names(in: line, &seen)
        }
        let kinds = ["CallLine", "WindowLine", "QueueLine", "ResponseLine", "TaskLine", "ModelLine"]
        #expect(described(kinds).subtracting(seen) == [], "described, and sent by nobody")
        #expect(TelemetryKind.allCases.count == kinds.count)
    }

    /// A gateway that follows the document is understood: the fields that it calls required are enough.
    @Test func `a line of the required fields alone is taken`() throws {
        let words: [String: String] = [
            "tenant": #""t""#, "pool": #""p""#, "outcome": #""ok""#, "start": "1793000000000", "seconds": "1",
            "requests": "0", "depth": "1", "status": "200", "task": #""k""#, "state": #""started""#, "model": #""m""#,
            "version": #""v""#,
        ]
        let arrival = TelemetryDecoder.Arrival(received: Timestamp(milliseconds: 1_793_000_001_000), gateway: "g")
        let decoder = TelemetryDecoder { _ in ProviderSignal(kind: .ok) }
        for kind in TelemetryKind.allCases {
            let name = kind.rawValue.prefix(1).uppercased() + kind.rawValue.dropFirst() + "Line"
            let fields = (Self.check.schema(name)["required"]?.array ?? []).compactMap(\.string).map { field in
                "\"\(field)\":" + (field == "type" ? "\"\(kind.rawValue)\"" : words[field] ?? "null")
            }
            let line = "{" + fields.joined(separator: ",") + "}"
            let batch = try decoder.decode(Array(line.utf8), as: .lines, arrival: arrival)
            #expect(batch.lines.count == 1 && batch.faults.isEmpty, "\(line): \(batch.faults)")
            // And each of them is required.
            for left in fields.indices where !fields[left].hasPrefix("\"type\"") {
                let less = "{" + (fields[..<left] + fields[(left + 1)...]).joined(separator: ",") + "}"
                #expect(try decoder.decode(Array(less.utf8), as: .lines, arrival: arrival).faults.count == 1, "\(less)")
            }
        }
    }
}

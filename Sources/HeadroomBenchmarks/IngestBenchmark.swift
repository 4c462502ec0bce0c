import Foundation
import HeadroomModel
import HeadroomStorage
import HeadroomWire

/// Telemetry into SQLite, every commit on the disk (FULL), batches of 1,000 `call` lines with ascending ids from 1,000
/// tenants in 4 pools: from the bytes of a request to the committed row, next to what a bare INSERT of eleven integers
/// costs.
enum IngestBenchmark {
    private static let linesPerBatch = 1_000

    /// A run's use of the clock and of the processor, all threads.
    private struct Cost {
        var seconds = 0.0
        var cpuSeconds = 0.0

        mutating func add(_ work: () async throws -> Void) async rethrows {
            let (clock, cpu) = (ContinuousClock(), ownProcessorSeconds())
            let begin = clock.now
            try await work()
            seconds += begin.duration(to: clock.now) / .seconds(1)
            cpuSeconds += ownProcessorSeconds() - cpu
        }
    }

    static func run(smoke: Bool) throws {
        try waitFor { try await measure(smoke: smoke) }
    }

    private static func measure(smoke: Bool) async throws {
        let batches = smoke ? 10 : 400
        print("ingest: \(batches) batches of \(linesPerBatch) call lines, synchronous FULL")
        print("  stage                                lines/CPU-s      lines/s    us CPU/line")
        for round in 0..<(smoke ? 1 : 3) {
            if round > 0 { print("  round \(round + 1)") }
            report("bare INSERT of 11 integers", batches, try await bareInsert(batches))
            report("store", batches, try await ingest(batches, from: .records))
            report("decode", batches, try await ingest(batches, from: .bytesUnstored))
            report("decode and store", batches, try await ingest(batches, from: .bytes))
        }
    }

    private enum Source {
        case records, bytes, bytesUnstored
    }

    private static func ingest(_ batches: Int, from source: Source) async throws -> Cost {
        let directory = try BenchmarkDirectory()
        let coding = SnapshotStore.Coding(encode: { _ in [] }, decode: { _ in throw CancellationError() })
        let database = try Database(
            path: directory.path + "/headroom.db", use: .service, coding: coding, time: TimeSource { start })
        let decoder = TelemetryDecoder { _ in ProviderSignal(kind: .ok) }
        var cost = Cost()
        for number in 0..<batches {
            // The ids of 90 batches lie within the horizon: most of the run also forgets as many as it remembers.
            let received = start.adding(seconds: Double(number) * 10)
            let body = request(number, received)
            let arrival = TelemetryDecoder.Arrival(received: received, gateway: "gw-1")
            switch source {
            case .records:
                let lines = try decoder.decode(body, as: .lines, arrival: arrival).lines
                let batch = TelemetryBatch(gateway: "gw-1", received: received, lines: lines)
                try await cost.add { try check(try await database.telemetry.append(batch)) }
            case .bytes:
                try await cost.add {
                    let lines = try decoder.decode(body, as: .lines, arrival: arrival).lines
                    let batch = TelemetryBatch(gateway: "gw-1", received: received, lines: lines)
                    try check(try await database.telemetry.append(batch))
                }
            case .bytesUnstored:
                try await cost.add {
                    let count = try decoder.decode(body, as: .lines, arrival: arrival).lines.count
                    precondition(count == linesPerBatch)
                }
            }
        }
        return cost
    }

    private static func check(_ receipt: TelemetryReceipt) throws {
        precondition(receipt.accepted == linesPerBatch, "only \(receipt.accepted) lines of a batch were accepted")
    }

    /// The least that storing a row can cost: no names, no ids, no texts, nothing asked twice.
    private static func bareInsert(_ batches: Int) async throws -> Cost {
        let directory = try BenchmarkDirectory()
        let connection = try SQLiteConnection(
            path: directory.path + "/bare.db", access: .readWrite, executor: DiskExecutor(label: "bare"))
        var cost = Cost()
        try connection.executor.performAndWait {
            try connection.execute(
                """
                CREATE TABLE bare (
                    id INTEGER PRIMARY KEY, a INT, b INT, c INT, d INT, e INT, f INT, g INT, h INT, i INT, j INT, k INT)
                """)
        }
        for batch in 0..<batches {
            await cost.add {
                do {
                    try connection.executor.performAndWait {
                        try insertBare(batch, connection)
                    }
                } catch { preconditionFailure("\(error)") }
            }
            // Checkpoints on the same thread: their cost belongs to the rows.
            if batch % 20 == 19 {
                try await cost.add {
                    try connection.executor.performAndWait { try connection.checkpoint() }
                }
            }
        }
        return cost
    }

    private static func insertBare(_ batch: Int, _ connection: SQLiteConnection) throws(StorageError) {
        try connection.transaction {
            let insert = try connection.statement(
                """
                INSERT INTO bare (a, b, c, d, e, f, g, h, i, j, k)
                VALUES (:a, :b, :c, :d, :e, :f, :g, :h, :i, :j, :k)
                """)
            let parameters = [
                insert.parameter(":a"), insert.parameter(":b"), insert.parameter(":c"), insert.parameter(":d"),
                insert.parameter(":e"), insert.parameter(":f"), insert.parameter(":g"), insert.parameter(":h"),
                insert.parameter(":i"), insert.parameter(":j"), insert.parameter(":k"),
            ]
            for line in 0..<linesPerBatch {
                let number = Int64(batch * linesPerBatch + line)
                insert.bind(parameters[0], start.milliseconds + number / 10)
                for lane in 1..<11 { insert.bind(parameters[lane], (number * Int64(lane * 7 + 1)) % 1_000) }
                try insert.run()
            }
        }
    }

    /// The body of a request with `linesPerBatch` lines.
    private static func request(_ number: Int, _ received: Timestamp) -> [UInt8] {
        var encoder = TelemetryEncoder(capacity: linesPerBatch * 320)
        for line in 0..<linesPerBatch {
            let serial = number * linesPerBatch + line
            // A product of two pseudo-uniform numbers: few tenants send most of the lines, as in life.
            let tenant = (serial * 7_919 % 1_000) * (serial * 104_729 % 1_000) / 1_000
            let text = String(100_000_000 + serial)
            let call = CallRecord(
                request: "r-" + text, at: received.adding(seconds: -Double(line % 100) / 1000), gateway: "gw-1",
                tenant: tenants[tenant], pool: pools[serial % 4], model: "gpt-4o-2024-11-20", endpoint: "chat",
                outcome: serial % 20 == 0 ? .quota : .ok, status: serial % 20 == 0 ? 429 : 200,
                latencyMilliseconds: 812.5 + Double(serial % 1_000), queuedMilliseconds: Double(serial % 30),
                inputTokens: Int64(serial % 5_000), outputTokens: Int64(serial % 700), maxTokens: 4_096)
            encoder.append(.call(call), id: "gw-1:" + text)
        }
        return encoder.bytes
    }

    private static let start = Timestamp(milliseconds: 1_793_000_000_000)
    private static let tenants = (0..<1_000).map { TenantID(unchecked: "tenant-\($0)") }
    private static let pools: [PoolID] = ["openai:gpt-4o", "azure:gpt-4o", "anthropic:sonnet", "openai:gpt-4o-mini"]

    private static func report(_ stage: String, _ batches: Int, _ cost: Cost) {
        let lines = Double(batches * linesPerBatch)
        func column(_ text: String, _ width: Int) -> String {
            String(repeating: " ", count: max(1, width - text.count)) + text
        }
        let perLine = (cost.cpuSeconds * 1e6 / lines * 100).rounded() / 100
        print(
            "  " + stage + column("\(Int(lines / cost.cpuSeconds))", 48 - stage.count)
                + column("\(Int(lines / cost.seconds))", 13) + column("\(perLine)", 15))
    }
}

import HeadroomModel
import HeadroomStorage
import Testing

/// Through the store: a batch of one line without an id is accepted exactly when its number is new.
@Suite struct BatchNumberTests {
    @Test(arguments: 0..<10 as Range<UInt64>)
    func `whatever the order and the repetitions, each number is stored once`(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let database = try TemporaryDatabase()
        let store = try database.telemetry()
        var seen: Set<Int64> = []
        for _ in 0..<300 {
            let number = Int64.random(in: 0..<150, using: &random)
            let receipt = try await store.append(batch([call()], number: number))
            let isRemembered = seen.contains(number)
            // An answer that is not kept any more calls all lines duplicates.
            let answer = [receipt.accepted, receipt.duplicate]
            #expect(answer == [1, 0] || (isRemembered && answer == [0, 1]), "seed \(seed), number \(number)")
            seen.insert(number)
            #expect(
                try database.number("SELECT max(id) FROM call") == Int64(seen.count), "seed \(seed), number \(number)")
        }
        let gaps = (0...seen.max()!).reduce(into: 0) { count, number in
            if !seen.contains(number) && (number == 0 || seen.contains(number - 1)) { count += 1 }
        }
        #expect(try database.number("SELECT count(*) FROM batch_gap") == Int64(gaps), "seed \(seed)")
        #expect(try database.number("SELECT count(*) FROM batch_receipt") <= 64)
    }

    @Test func `a number that comes again with other content is a conflict, and stores nothing`() async throws {
        let database = try TemporaryDatabase()
        let store = try database.telemetry()
        func send(_ content: [UInt8]?, lines: Int) async throws(TelemetryError) -> TelemetryReceipt {
            var sent = batch((0..<lines).map { _ in call() }, number: 7)
            sent.contentDigest = content
            return try await store.append(sent)
        }
        let first = try await send([1, 2, 3], lines: 2)
        #expect(first.accepted == 2)
        #expect(try await send([1, 2, 3], lines: 2) == first)
        let refused = await #expect(throws: TelemetryError.self) { _ = try await send([3, 2, 1], lines: 1) }
        #expect(refused?.code == .conflict)
        #expect(refused?.message.contains("batch 7 of gateway gw-1") == true)
        // Without a digest there is nothing to compare.
        #expect(try await send(nil, lines: 1) == first)
        #expect(try database.number("SELECT count(*) FROM call") == 2)
    }

    @Test func `numbers that leave gaps stay bounded, and one from a forgotten gap is refused by line`() async throws {
        let database = try TemporaryDatabase()
        let store = try database.telemetry()
        for number in 1...1_100 as ClosedRange<Int64> {
            _ = try await store.append(batch([call()], number: number * 10))
        }
        #expect(try database.number("SELECT count(*) FROM batch_gap") == 1_024)
        let old = try await store.append(batch([call(), call()], number: 5))
        #expect(old.accepted == 0 && old.duplicate == 0)
        #expect(old.rejected.map(\.line) == [1, 2])
        #expect(old.rejected[0].detail.contains("new, ascending number"))
        #expect(try await store.append(batch([call()], number: 10_985)).accepted == 1)
        #expect(try await store.append(batch([call()], number: 10_000)).duplicate == 1)
    }
}

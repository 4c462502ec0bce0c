import Foundation
import Glibc
import HeadroomModel
import Synchronization
import Testing

/// How a service ends, and what the next one finds.
@Suite struct EndTests {
    @Test func `a stop answers those who wait and gives back unused generations`() async throws {
        let house = try House()
        let last = try await RunningService.run(house) { service in
            let version = try #require(ServingTests.version(try await service.client.get("/v1/allocations").json))
            async let waiting = service.client.get("/v1/allocations?since=\(version)&wait=7")
            _ = try await service.client.poll("/metrics") { $0.text.contains("\nheadroom_long_polls 1\n") }
            #expect(await service.stop(by: SIGTERM) == 0)
            let answer = try await waiting
            #expect(answer.status == 200)
            #expect(answer.headers["connection"]?.lowercased() == "close")
            #expect(service.errors.hasSuffix("headroom stopped"))
            return version
        }
        try await RunningService.run(house) { service in
            let version = try #require(ServingTests.version(try await service.client.get("/v1/allocations").json))
            #expect(version.epoch > last.epoch)
            #expect(version.generation == last.generation + 1)
        }
    }

    @Test func `after a clean end the log beside the database is empty`() async throws {
        let house = try House()
        try await RunningService.run(house) { service in
            let posted = try await service.client.post([ServingTests.call("a")])
            #expect(posted.status == 200)
            #expect(await service.stop(by: SIGTERM) == 0)
        }
        let log = try? FileManager.default.attributesOfItem(atPath: house.database + "-wal")
        #expect(log?[.size] as? Int ?? 0 == 0)
    }

    @Test func `SIGINT ends it as well`() async throws {
        try await RunningService.run(try House()) { service in
            #expect(await service.stop(by: SIGINT) == 0)
        }
    }

    @Test(arguments: [SIGKILL, SIGTERM])
    func `nothing acknowledged is lost, however it ends`(signal: Int32) async throws {
        let house = try House()
        let acknowledged = Numbers()
        var version = SnapshotVersion(epoch: 0, generation: 0)
        for round in 0..<3 {
            version = try await RunningService.run(house) { service in
                let next = try #require(ServingTests.version(try await service.client.get("/v1/allocations").json))
                #expect(next.epoch > version.epoch && next.generation > version.generation)
                let code = try await stop(
                    service, by: signal, whilePostingFrom: round * 1_000_000, into: acknowledged)
                #expect(code == (signal == SIGTERM ? 0 : signal))
                return next
            }
        }
        let stored = try await house.storedRecords().compactMap { record -> Int? in
            guard case .call(let call) = record else { return nil }
            return call.inputTokens.map { Int($0) }
        }
        #expect(Set(stored).isSuperset(of: acknowledged.all), "\(acknowledged.all.subtracting(stored).sorted())")
        #expect(stored.count == Set(stored).count, "nothing is stored twice")
    }

    /// Posts lines, numbered by their input tokens, from four connections until the service is gone.
    private func stop(
        _ service: RunningService, by signal: Int32, whilePostingFrom start: Int, into acknowledged: Numbers
    ) async throws -> Int32 {
        let target = acknowledged.all.count + 200
        return try await withThrowingTaskGroup(of: Void.self) { group in
            for poster in 0..<4 {
                group.addTask {
                    try await Self.post(to: service.client, from: start + poster * 100_000, into: acknowledged)
                }
            }
            let reply = try await service.client.poll("/healthz") { _ in acknowledged.all.count >= target }
            #expect(reply.status == 200 && acknowledged.all.count >= target)
            let code = await service.stop(by: signal)
            try await group.waitForAll()
            return code
        }
    }

    private static func post(to client: ServiceClient, from start: Int, into acknowledged: Numbers) async throws {
        for batch in 0... {
            let numbers = (0..<10).map { start + batch * 10 + $0 }
            let lines = numbers.map { ServingTests.call("n-\($0)", #""input_tokens":\#($0)"#) }
            // No answer, or a refusal of what was not stored: the service has gone, or goes.
            guard let reply = try? await client.post(lines), reply.status != 503 else { return }
            guard reply.status == 200 else { throw RunningService.Failure(text: reply.text) }
            acknowledged.add(numbers)
        }
    }

    private final class Numbers: Sendable {
        private let numbers = Mutex<Set<Int>>([])

        var all: Set<Int> { numbers.withLock { $0 } }

        func add(_ more: [Int]) { numbers.withLock { $0.formUnion(more) } }
    }
}

import Foundation
import HeadroomClient
import HeadroomModel
import Testing

/// Gateways of both kinds against the service.
@Suite struct GatewayTests {
    @Test func `a gateway that links the client has a budget, and its calls are counted once`() async throws {
        let house = try House()
        try await RunningService.run(house) { service in
            let address = try #require(URL(string: "http://127.0.0.1:\(service.client.port)"))
            let manager = try BudgetManager(
                BudgetManager.Settings(
                    gateway: "gw-swift", addresses: [try #require(URL(string: "http://127.0.0.1:1")), address]))
            let pool = try #require(PoolID(House.pool))
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await manager.run() }
                // The first answer is a reader's; the second is this gateway's part.
                while manager.poolStates.first?.status.allocation?.enforce != true {
                    _ = try await service.client.get("/readyz")
                }
                for _ in 0..<20 {
                    let slot = try await manager.slot(for: Call(tenant: "acme", pool: pool, inputTokens: 100))
                    slot.finish(.answer(status: 200, inputTokens: 100, outputTokens: 10))
                }
                await manager.stop()
                try await group.waitForAll()
            }
            #expect(manager.state.reported >= 20)
            #expect(manager.state.rejected == 0)
            let calls = try await house.storedRecords().filter { $0.kind == .call }
            #expect(calls.count == 20)
            #expect(calls.allSatisfy { $0.gateway == "gw-swift" && $0.tenant == "acme" })
        }
    }
}

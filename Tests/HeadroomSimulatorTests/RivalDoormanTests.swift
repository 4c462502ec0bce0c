import HeadroomModel
import HeadroomSimulator
import Testing

@Suite struct RivalDoormanTests {
    private typealias Client = (wants: Double, subclients: Double)

    /// A server that knows what everyone wants and has granted nothing yet.
    private func server(
        _ algorithm: DoormanServer.Algorithm, _ clients: [Client], of capacity: Double
    ) -> DoormanServer {
        var server = DoormanServer(algorithm, leaseSeconds: 300)
        for (index, client) in clients.enumerated() {
            let request = DoormanServer.Request(client: index, wants: client.wants, subclients: client.subclients)
            // Of no capacity there is nothing to grant.
            _ = server.decide(request, of: 0, at: 0)
        }
        return server
    }

    private func grants(
        _ algorithm: DoormanServer.Algorithm, _ clients: [Client], of capacity: Double, isKnown: Bool = true
    ) -> [Double] {
        var server = isKnown ? server(algorithm, clients, of: capacity) : DoormanServer(algorithm, leaseSeconds: 300)
        return clients.enumerated().map { index, client in
            let request = DoormanServer.Request(client: index, wants: client.wants, subclients: client.subclients)
            return server.decide(request, of: capacity, at: 1).has
        }
    }

    private func expect(_ found: [Double], _ expected: [Double], within error: Double = 1e-9, _ input: String) {
        #expect(
            found.count == expected.count && zip(found, expected).allSatisfy { abs($0 - $1) <= error },
            """
            \(input): \(found), expected \(expected)
            """)
    }

    @Test func `grants are those of the original's own tests`() {
        let cases: [(DoormanServer.Algorithm, [Client], Double, isKnown: Bool, [Double])] = [
            (.fairShare, [(1000, 1), (60, 1), (10, 1)], 120, true, [55, 55, 10]),
            (.fairShare, [(1000, 1), (50, 1), (10, 1)], 120, true, [60, 50, 10]),
            (.fairShare, [(1000, 6), (500, 4), (200, 2)], 120, true, [60, 40, 20]),
            (.fairShare, [(2000, 10), (500, 10), (700, 30)], 1000, true, [200, 200, 600]),
            (.proportionalShare, [(60, 1), (60, 1), (10, 1)], 120, true, [55, 55, 10]),
            (.proportionalShare, [(60, 1), (75, 1), (10, 1)], 120, false, [60, 60, 0]),
            (.proportionalShare, [(65, 3), (45, 2), (20, 1)], 120, true, [60, 40, 20]),
            (.proportionalShare, [(65, 3), (45, 2), (20, 1)], 120, false, [65, 45, 10]),
        ]
        for (algorithm, clients, capacity, isKnown, expected) in cases {
            expect(
                grants(algorithm, clients, of: capacity, isKnown: isKnown), expected,
                "\(algorithm) \(clients) known \(isKnown)")
        }
    }

    @Test func `fair share redistributes twice and so grants a client more than it wants`() {
        let clients: [Client] = [(0, 1), (31, 1), (42, 1), (1000, 1)]
        expect(grants(.fairShare, clients, of: 120), [0, 31, 44.5, 44.5], "max-min would be 0, 31, 42, 47")
    }

    @Test func `unequal subclients entitle one client to more than there is and whoever asks first keeps it`() {
        let clients: [Client] = [(50, 1), (120, 3), (5, 2)]
        let server = server(.fairShare, clients, of: 120)
        let entitlements = clients.enumerated().map { index, client in
            server.entitlement(
                of: DoormanServer.Request(client: index, wants: client.wants, subclients: client.subclients), 120)
        }
        expect(entitlements, [28.75, 122.5, 5], "before the clamp")
        expect(grants(.fairShare, clients, of: 120), [28.75, 91.25, 0], "in order")

        var second = server
        let request = DoormanServer.Request(client: 1, wants: 120, subclients: 3)
        #expect(second.decide(request, of: 120, at: 1).has == 120)
        #expect(second.decide(DoormanServer.Request(client: 0, wants: 50), of: 120, at: 1).has == 0)
    }

    @Test func `proportional share pays whoever overstates its wants`() {
        let others: [Client] = [(10, 1), (1000, 1)]
        let honest = grants(.proportionalShare, [(50, 1)] + others, of: 120)
        let boasting = grants(.proportionalShare, [(1000, 1)] + others, of: 120)
        expect([honest[0], boasting[0]], [40.3, 55.0], within: 0.05, "50 and 1000 stated")
    }

    @Test func `grants never exceed the capacity and settle while wants stay`() {
        for seed in 0..<200 as Range<UInt64> {
            var random = SeededGenerator(seed: seed, stream: "doorman")
            for algorithm in [DoormanServer.Algorithm.fairShare, .proportionalShare] {
                var server = DoormanServer(algorithm, leaseSeconds: 15)
                let wants = (0..<8).map { _ in random.drawUniform() * 60 }
                var rounds: [[Double]] = []
                for round in 0..<4 {
                    rounds.append(
                        wants.enumerated().map { index, wants in
                            let request = DoormanServer.Request(client: index, wants: wants)
                            return server.decide(request, of: 120, at: Double(round) * 5).has
                        })
                    let held = wants.indices.reduce(0) { $0 + (server.lease(of: $1)?.has ?? 0) }
                    #expect(held <= 120 + 1e-9, "seed \(seed) \(algorithm) round \(round): \(held)")
                }
                expect(rounds[3], rounds[2], within: 1e-6, "seed \(seed) \(algorithm) \(wants)")
            }
        }
    }

    @Test func `a lease that is not refreshed runs out and its share is free`() {
        var server = DoormanServer(.fairShare, leaseSeconds: 15)
        #expect(server.decide(DoormanServer.Request(client: 0, wants: 100), of: 100, at: 0).has == 100)
        #expect(server.decide(DoormanServer.Request(client: 1, wants: 100), of: 100, at: 10).has == 0)
        let late = server.decide(DoormanServer.Request(client: 1, wants: 100), of: 100, at: 16)
        #expect(late.has == 100 && late.expiresAt == 31)
        #expect(server.lease(of: 0) == nil)
    }

    @Test func `in learning mode clients keep what they say they have and yield it afterwards`() {
        var server = DoormanServer(.fairShare, leaseSeconds: 15, learnsUntil: 15)
        func refresh(_ claims: [Double], at now: Double) -> [Double] {
            claims.enumerated().map { index, has in
                server.decide(DoormanServer.Request(client: index, has: has, wants: 100), of: 100, at: now).has
            }
        }
        expect(refresh([80, 120], at: 10), [80, 120], "more is out than there is")
        expect(refresh([80, 120], at: 15), [0, 50], "the second still held all of it when the first asked")
        expect(refresh([0, 50], at: 20), [50, 50], "one refresh later")
    }

    @Test func `the allocator shares each resource by itself and starts from the safe capacity`() {
        var doorman = Doorman(.fairShare)
        let capacity = Rates(rpm: 120, tpm: 1200)
        func observation(_ demands: [Rates]) -> PoolObservation {
            let tenants = demands.enumerated().map { index, demand in
                PoolObservation.Tenant(
                    tenant: TenantID(unchecked: "t\(index)"), weight: Double(index + 1), demand: demand)
            }
            return PoolObservation(capacity: capacity, periodSeconds: 5, tenants: tenants)
        }
        let idle = Array(repeating: Rates(rpm: 0, tpm: 0), count: 3)
        #expect(doorman.allocate(observation(idle)) == Array(repeating: Rates(rpm: 40, tpm: 400), count: 3))

        let busy = [Rates(rpm: 1000, tpm: 100), Rates(rpm: 60, tpm: 5000), Rates(rpm: 10, tpm: 5000)]
        var rates: [Rates] = []
        for _ in 0..<3 { rates = doorman.allocate(observation(busy)) }
        // Weights do not count.
        expect(rates.map { $0[.requests] ?? -1 }, [55, 55, 10], "requests")
        expect(rates.map { $0[.tokens] ?? -1 }, [100, 550, 550], "tokens")
    }
}

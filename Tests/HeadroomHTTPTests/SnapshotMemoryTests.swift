import HeadroomHTTP
import HeadroomModel
import HeadroomWire
import Testing

/// What the board keeps of generations that were replaced.
@Suite struct SnapshotMemoryTests {
    private static let version = "\(Publication.epoch)"
    private static let gateways: [GatewayID] = (10..<40).map { GatewayID(unchecked: "gw-\($0)") }

    /// Two tenants in each of two pools.
    private static let entryBytes =
        2 * MemoryLayout<PoolAllocation>.stride + 4 * MemoryLayout<TenantAllocation>.stride

    private func bytes(_ owner: String, _ fixture: ServiceFixture) -> Int {
        fixture.board.memory.first { $0.owner == owner }?.bytes ?? -1
    }

    private func part(_ generation: Int64) throws -> Snapshot {
        try #require(Publication.sample(generation, gateways: ["gw-10"]).parts.first).snapshot
    }

    @Test func `a gateway that acknowledges is sent what changed, and one or two of its parts are kept`() async throws {
        try await ServiceFixture.run { fixture in
            let client = try fixture.client()
            fixture.publish(1, gateways: Self.gateways)
            var seen: Int64 = 1
            _ = try await client.get("/v1/allocations?gateway=gw-10&applied=\(Self.version).1")
            for generation in 2...40 as ClosedRange<Int64> {
                fixture.publish(generation, gateways: Self.gateways)
                let answer = try await client.get(
                    "/v1/allocations?gateway=gw-10&applied=\(Self.version).\(seen)&since=\(Self.version).\(seen)")
                let delta = SnapshotDelta(from: try part(seen), to: try part(generation))
                #expect(answer.body == SnapshotEncoder.encode(delta))
                seen = generation
                // Of thirty gateways one polls; of the whole thirty-two generations are kept.
                let past = bytes("past_snapshots", fixture)
                #expect(past <= (min(Int(generation), 32) + 2) * Self.entryBytes, "generation \(generation)")
            }
            #expect(bytes("snapshot", fixture) == 31 * Self.entryBytes)
        }
    }

    @Test func `a gateway may name any generation since the one that all its members have in force`() async throws {
        try await ServiceFixture.run { fixture in
            let clients = try (0..<2).map { _ in try fixture.client() }
            func poll(_ member: Int, applied: Int64, since: Int64) async throws -> RawClient.Reply {
                try await clients[member].get(
                    "/v1/allocations?gateway=gw-10&member=m\(member)&applied=\(Self.version).\(applied)"
                        + "&since=\(Self.version).\(since)")
            }
            fixture.publish(1, gateways: Self.gateways)
            for member in 0..<2 { _ = try await poll(member, applied: 1, since: 1) }
            for generation in 2...6 as ClosedRange<Int64> {
                fixture.publish(generation, gateways: Self.gateways)
                _ = try await poll(0, applied: generation - 1, since: generation - 1)
            }
            // The other member has been busy since the first generation.
            let behind = try await poll(1, applied: 1, since: 1)
            #expect(behind.body == SnapshotEncoder.encode(SnapshotDelta(from: try part(1), to: try part(6))))
            fixture.publish(7, gateways: Self.gateways)
            _ = try await poll(0, applied: 6, since: 6)
            _ = try await poll(1, applied: 6, since: 6)
            fixture.publish(8, gateways: Self.gateways)
            // What both have left behind is gone, and is answered in full.
            let old = try await poll(1, applied: 7, since: 5)
            #expect(old.body == SnapshotEncoder.encode(try part(8)))
            let next = try await poll(1, applied: 7, since: 7)
            #expect(next.body == SnapshotEncoder.encode(SnapshotDelta(from: try part(7), to: try part(8))))
        }
    }

    @Test func `nothing is kept for a gateway that has left`() async throws {
        try await ServiceFixture.run { fixture in
            let client = try fixture.client()
            fixture.publish(1, gateways: Self.gateways)
            _ = try await client.get("/v1/allocations?gateway=gw-10&applied=\(Self.version).1")
            fixture.publish(2, gateways: Self.gateways)
            #expect(bytes("past_snapshots", fixture) == 2 * Self.entryBytes)
            #expect(try await client.call("DELETE", "/v1/gateways/gw-10").status == 204)
            fixture.publish(3, gateways: Self.gateways)
            #expect(bytes("past_snapshots", fixture) == 2 * Self.entryBytes, "two wholes")
        }
    }

    @Test func `past the bound the oldest go, and what names them is answered in full`()
        async throws
    {
        // Half of it is for past generations: three snapshots.
        try await ServiceFixture.run(snapshotBytes: 6 * Self.entryBytes + 2) { fixture in
            let client = try fixture.client()
            fixture.publish(1, gateways: Self.gateways)
            for generation in 1...6 as ClosedRange<Int64> {
                if generation > 1 { fixture.publish(generation, gateways: Self.gateways) }
                // It never says what it has in force: all of its parts may be named.
                _ = try await client.call(
                    "POST", "/v1/telemetry", headers: ["Content-Type: application/x-ndjson"],
                    body: Array(
                        #"{"type":"queue","gateway":"gw-10","tenant":"acme","pool":"openai:gpt-4o","depth":1}"#.utf8))
                _ = try await client.get("/v1/allocations?gateway=gw-10")
                #expect(bytes("past_snapshots", fixture) <= 3 * Self.entryBytes)
            }
            let reader = try await client.get("/v1/allocations?since=\(Self.version).5")
            #expect(reader.body == SnapshotEncoder.encode(Publication.sample(6).whole))
            let kept = try await client.get("/v1/allocations?gateway=gw-10&since=\(Self.version).3")
            #expect(kept.body == SnapshotEncoder.encode(SnapshotDelta(from: try part(3), to: try part(6))))
            let gone = try await client.get("/v1/allocations?gateway=gw-10&since=\(Self.version).2")
            #expect(gone.body == SnapshotEncoder.encode(try part(6)))
        }
    }

    @Test func `memory is told by owner`() {
        let text = Metrics(
            loop: LoopSummary(), memory: [MemoryShare(owner: "snapshot", bytes: 512)], residentBytes: 4096,
            now: Timestamp(milliseconds: 0)
        ).render()
        #expect(text.contains("headroom_memory_bytes{owner=\"snapshot\"} 512\n"))
        #expect(text.contains("process_resident_memory_bytes 4096\n"))
    }
}

import Foundation
import HeadroomClient
import Testing

@Suite struct ProcessClaimTests {
    @Test func `who finds the lock free succeeds the process that Headroom knew there, under the same name alone`()
        throws
    {
        let directory = try TemporaryDirectory()
        func claim(_ boot: String, as gateway: String = "gw-1") throws -> ProcessClaim {
            try ProcessClaim(directory: directory.url, gateway: .init(gateway)!, boot: boot)
        }
        var first: ProcessClaim? = try claim("one")
        #expect(first?.predecessor == nil)
        first?.note()
        #expect(try claim("two").predecessor == nil, "the first one lives")
        first = nil
        // Headroom never came to know it.
        #expect(try claim("three").predecessor == "one")
        #expect(try claim("four", as: "gw-2").predecessor == nil, "its part is another one")
        do {
            let fifth = try claim("five")
            #expect(fifth.predecessor == "one")
            fifth.note()
        }
        #expect(try claim("six").predecessor == "five")
    }

    @Test func `a file that cannot be read is no predecessor`() throws {
        let directory = try TemporaryDirectory()
        for text in ["", "\n", "gw-1", "gw-1 a b", "\u{FFFD}\u{0}", String(repeating: "x", count: 1 << 16)] {
            try Data(text.utf8).write(to: directory.url.appending(path: "process"))
            #expect(try ProcessClaim(directory: directory.url, gateway: "gw-1", boot: "b").predecessor == nil)
        }
    }

    @Test func `the first poll of a process names the one that it succeeds`() async throws {
        let directory = try TemporaryDirectory()
        try Data("gw-1 dead\n".utf8).write(to: directory.url.appending(path: "process"))
        let server = try ScriptedServer(answers: ["503 Service Unavailable"])
        defer { server.stop() }
        let fixture = try Fixture(directory: directory.url) { $0.addresses = [server.url] }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await fixture.manager.run() }
            while server.asked.isEmpty { await Task.yield() }
            group.cancelAll()
        }
        #expect(server.asked.first == "/v1/allocations?gateway=gw-1&boot=b1&succeeds=dead")
    }
}

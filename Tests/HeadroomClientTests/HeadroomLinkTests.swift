import Foundation
import FoundationNetworking
import HeadroomClient
import HeadroomModel
import Testing

@Suite struct HeadroomLinkTests {
    private func link(_ servers: ScriptedServer...) -> HeadroomLink {
        HeadroomLink(addresses: servers.map(\.url), token: nil, time: TimeSource { start })
    }

    /// Of a poll that waits.
    private let elsewhere = HeadroomLink.Elsewhere(
        afterSeconds: 0.05, query: [URLQueryItem(name: "gateway", value: "g")])
    private let query = [URLQueryItem(name: "gateway", value: "g"), URLQueryItem(name: "wait", value: "7")]

    @Test func `a request ends at its deadline, although the server never answers`() async throws {
        let silent = try ScriptedServer()
        defer { silent.stop() }
        let link = link(silent)
        let began = ContinuousClock.now
        let answer = await link.exchange("GET", "v1/allocations", withinSeconds: 0.2)
        // Without a deadline of its own it ends after the session's minute.
        #expect(began.duration(to: .now) < .seconds(30))
        #expect(answer == nil)
        #expect(link.problem == "\(silent.url): no answer within 0.2 s")
    }

    /// Foundation's own call hangs for good when both happen at once.
    @Test(.timeLimit(.minutes(2))) func `a request that is cancelled while its answer comes in ends`() async throws {
        let server = try ScriptedServer(answers: ["200 OK"])
        defer { server.stop() }
        let session = URLSession(configuration: .ephemeral)
        let request = URLRequest(url: server.url)
        var answered = 0
        for round in 0..<1_500 {
            let call = Task { try await session.data(for: request, withinSeconds: 60) }
            for _ in 0..<(round % 300) { await Task.yield() }
            call.cancel()
            if case .success = await call.result { answered += 1 }
        }
        #expect(answered < 1_500)
    }

    @Test func `while one address is late the next is asked beside it, without the wait, and first from then on`()
        async throws
    {
        let (silent, second) = (try ScriptedServer(), try ScriptedServer(answers: ["200 OK"]))
        defer { for server in [silent, second] { server.stop() } }
        let link = link(silent, second)
        let moved = await link.exchange("GET", "v1/x", query: query, withinSeconds: 50, elsewhere: elsewhere)
        #expect(moved?.status == 200 && moved?.isFromElsewhere == true)
        #expect(second.asked == ["/v1/x?gateway=g"])
        let late = HeadroomLink.Elsewhere(afterSeconds: 50, query: [])
        let next = await link.exchange("GET", "v1/x", query: query, withinSeconds: 60, elsewhere: late)
        #expect(next?.status == 200 && next?.isFromElsewhere == false)
        #expect(second.asked.last == "/v1/x?gateway=g&wait=7")
        #expect(silent.asked == ["/v1/x?gateway=g&wait=7"])
        #expect(link.problem == nil)
    }

    @Test func `an address that refuses is asked again for as long as the first is late`() async throws {
        let (silent, second) = (try ScriptedServer(), try ScriptedServer(answers: ["401 Unauthorized", "200 OK"]))
        defer { for server in [silent, second] { server.stop() } }
        let answer = await link(silent, second).exchange(
            "GET", "v1/x", query: query, withinSeconds: 50, elsewhere: elsewhere)
        #expect(answer?.status == 200)
        #expect(second.asked.count == 2)
    }

    @Test func `an answer in time is the only one, and a failure is told at once`() async throws {
        let (first, second) = (
            try ScriptedServer(answers: ["200 OK", "503 Service Unavailable"]), try ScriptedServer(answers: ["200 OK"])
        )
        defer { for server in [first, second] { server.stop() } }
        let link = link(first, second)
        let late = HeadroomLink.Elsewhere(afterSeconds: 50, query: [])
        #expect(await link.exchange("GET", "v1/x", withinSeconds: 60, elsewhere: late)?.status == 200)
        #expect(await link.exchange("GET", "v1/x", withinSeconds: 60, elsewhere: late)?.status == 503)
        #expect(second.asked == [])
        // The next address has the next request.
        #expect(await link.exchange("GET", "v1/x", withinSeconds: 60, elsewhere: late)?.status == 200)
        #expect(second.asked.count == 1)
    }

    @Test func `a request that may not be made twice goes to one address`() async throws {
        let (silent, second) = (try ScriptedServer(), try ScriptedServer(answers: ["200 OK"]))
        defer { for server in [silent, second] { server.stop() } }
        let link = link(silent, second)
        #expect(await link.exchange("POST", "v1/x", withinSeconds: 0.1) == nil)
        #expect(second.asked == [])
        #expect(await link.exchange("POST", "v1/x", withinSeconds: 50)?.status == 200)
    }
}

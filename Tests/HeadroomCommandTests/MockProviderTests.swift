import Foundation
import Glibc
import HeadroomJSON
import Testing

/// `headroom mock-provider`, called as a gateway calls a provider.
@Suite struct MockProviderTests {
    private static let prompt = #"{"model":"gpt-4o","messages":[{"role":"user","content":"12345678"}]"#

    private func chat(_ client: ServiceClient, _ more: String = "") async throws -> ServiceClient.Reply {
        try await client.call(
            "POST", "/v1/chat/completions", headers: ["Content-Type: application/json"],
            body: Array((Self.prompt + more + "}").utf8))
    }

    private func message(_ client: ServiceClient, _ more: String = "") async throws -> ServiceClient.Reply {
        try await client.call(
            "POST", "/v1/messages", headers: ["Content-Type: application/json", "anthropic-version: 2023-06-01"],
            body: Array((Self.prompt + #","max_tokens":30"# + more + "}").utf8))
    }

    private func fault(_ client: ServiceClient, _ text: String) async throws -> ServiceClient.Reply {
        try await client.call("POST", "/admin/faults", body: Array(text.utf8))
    }

    @Test func `a chat completion has OpenAI's body, usage and headers`() async throws {
        try await RunningMockProvider.run("--rpm", "600", "--tpm", "60000", "--output-tokens", "25") { client in
            let reply = try await chat(client)
            #expect(reply.status == 200)
            // The texts of the message, "user" and eight digits, are twelve bytes.
            #expect(reply.json["usage"]?["prompt_tokens"]?.number == 3)
            #expect(reply.json["usage"]?["completion_tokens"]?.number == 25)
            #expect(reply.json["usage"]?["total_tokens"]?.number == 28)
            #expect(reply.json["model"]?.string == "gpt-4o")
            let text = reply.json["choices"]?[0]?["message"]?["content"]?.string
            #expect(text?.split(separator: " ").count == 25)
            #expect(reply.headers["x-ratelimit-limit-requests"] == "600")
            #expect(reply.headers["x-ratelimit-limit-tokens"] == "60000")
            #expect(reply.headers["x-ratelimit-remaining-requests"] == "59")
            #expect(try await chat(client, #","max_tokens":10"#).json["usage"]?["completion_tokens"]?.number == 10)
        }
    }

    @Test func `a stream ends with what its wire ends with, and tells usage to those who ask for it`() async throws {
        try await RunningMockProvider.run("--output-tokens", "45") { client in
            let plain = try await chat(client, #","stream":true"#)
            #expect(plain.headers["content-type"] == "text/event-stream")
            #expect(plain.text.hasSuffix("data: [DONE]\n\n"))
            #expect(!plain.text.contains(#""usage""#))
            let told = try await chat(client, #","stream":true,"stream_options":{"include_usage":true}"#)
            #expect(told.text.contains(#""usage":{"prompt_tokens":3,"completion_tokens":45,"total_tokens":48}"#))
            let words = told.text.matches(of: #/word\d+ /#)
            #expect(words.count == 45 && words.last?.output == "word44 ")

            let events = try await message(client, #","stream":true"#).text
            let names = events.matches(of: #/event: ([a-z_]+)\n/#).map { String($0.output.1) }
            #expect(
                names == [
                    "message_start", "content_block_start", "content_block_delta", "content_block_delta",
                    "content_block_stop", "message_delta", "message_stop",
                ])
            #expect(events.contains(#""usage":{"output_tokens":30}"#))
        }
    }

    @Test func `a message has Anthropic's body, usage and headers`() async throws {
        try await RunningMockProvider.run("--rpm", "60", "--itpm", "1000", "--otpm", "6000") { client in
            let reply = try await message(client)
            #expect(reply.status == 200)
            #expect(reply.json["type"]?.string == "message")
            #expect(reply.json["usage"]?["input_tokens"]?.number == 3)
            #expect(reply.json["usage"]?["output_tokens"]?.number == 30)
            #expect(reply.headers["anthropic-ratelimit-input-tokens-limit"] == "1000")
            #expect(reply.headers["anthropic-ratelimit-output-tokens-limit"] == "6000")
            #expect(reply.headers["anthropic-ratelimit-requests-remaining"] == "5")
            let reset = try #require(reply.headers["anthropic-ratelimit-requests-reset"])
            #expect(RFC3339.parse(reset) != nil, "\(reset)")
        }
    }

    @Test func `what is beyond a limit gets a 429 with the time to wait, on both wires`() async throws {
        // One request at once, and the next a minute later.
        try await RunningMockProvider.run("--rpm", "1", "--burst-seconds", "60") { client in
            #expect(try await chat(client).status == 200)
            let refused = try await chat(client)
            #expect(refused.status == 429)
            #expect(refused.json["error"]?["code"]?.string == "rate_limit_exceeded")
            #expect(refused.headers["retry-after"].flatMap { Int($0) }.map { (50...60).contains($0) } == true)
            let other = try await message(client)
            #expect(other.status == 429)
            #expect(other.json["error"]?["type"]?.string == "rate_limit_error")
            #expect(other.headers["retry-after"] != nil)
            let state = try await client.get("/admin/state").json
            #expect(state["served"]?.number == 1 && state["refused"]?.number == 2)
        }
    }

    @Test func `faults come and go on command while the headers tell the contract`() async throws {
        try await RunningMockProvider.run("--rpm", "600") { client in
            let halved = try await fault(client, #"{"capacity":0.5}"#)
            #expect(halved.json["granted"]?["rpm"]?.number == 300)
            #expect(halved.json["contract"]?["rpm"]?.number == 600)
            #expect(try await chat(client).headers["x-ratelimit-limit-requests"] == "600")

            let outage = try await fault(client, #"{"outage":1,"outage_status":529}"#)
            // What is not named stays.
            #expect(outage.json["faults"]?["capacity"]?.number == 0.5)
            let failed = try await message(client)
            #expect(failed.status == 529 && failed.json["error"]?["type"]?.string == "overloaded_error")

            let restored = try await client.call("DELETE", "/admin/faults")
            #expect(restored.json["granted"]?["rpm"]?.number == 600)
            #expect(try await chat(client).status == 200)
        }
    }

    @Test func `headers tell the truth or nothing where that is asked for`() async throws {
        for (word, limit) in [("true", "300"), ("none", nil)] {
            try await RunningMockProvider.run("--rpm", "600", "--headers", word) { client in
                _ = try await fault(client, #"{"capacity":0.5}"#)
                #expect(try await chat(client).headers["x-ratelimit-limit-requests"] == limit, "\(word)")
            }
        }
    }

    @Test func `a call or a fault that is wrong is told what would be right`() async throws {
        try await RunningMockProvider.run { client in
            for (body, words) in [
                ("{", "is no JSON"), (#"{"messages":[{}]}"#, "model: must be"),
                (#"{"model":"m"}"#, "messages: must be"),
                (#"{"model":"m","messages":[{}],"max_tokens":0}"#, "max_tokens: must be a whole number from 1"),
            ] {
                let reply = try await client.call(
                    "POST", "/v1/chat/completions", headers: ["Content-Type: application/json"], body: Array(body.utf8))
                #expect(reply.status == 400 && reply.text.contains(words), "\(body): \(reply.text)")
            }
            for (body, words) in [
                ("[]", "must be an object"), (#"{"capacity":0}"#, "capacity: must be a number from 0.01 to 10"),
                (#"{"halve":true}"#, "there are capacity, outage, outage_status and slow"),
            ] {
                let reply = try await fault(client, body)
                #expect(reply.status == 400 && reply.text.contains(words), "\(body): \(reply.text)")
            }
        }
    }

    @Test func `only programs on this machine may order faults`() async throws {
        try await RunningMockProvider.run { client in
            let headers = ["X-Forwarded-For: 203.0.113.9"]
            let reply = try await client.call(
                "POST", "/admin/faults", headers: headers, body: Array(#"{"outage":1}"#.utf8))
            #expect(reply.status == 403)
            // A proxy may pass calls on.
            let call = try await client.call(
                "POST", "/v1/chat/completions", headers: headers + ["Content-Type: application/json"],
                body: Array((Self.prompt + "}").utf8))
            #expect(call.status == 200)
        }
    }
}

/// A `headroom mock-provider` on a free port of loopback.
private enum RunningMockProvider {
    static func run(_ arguments: String..., body: (ServiceClient) async throws -> Void) async throws {
        let directory = TemporaryDirectory()
        let errors = Pipe()
        let process = HeadroomProgram.makeProcess(
            ["mock-provider", "--listen", "127.0.0.1:0", "--latency-ms", "1"] + arguments, in: directory)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = errors
        let end = try HeadroomProgram.start(process)
        defer { end.send(SIGKILL) }
        let log = RunningService.Log(errors.fileHandleForReading)
        let words = "mock-provider serves on http://127.0.0.1:"
        let line = try #require(await log.line(with: words), "\(log.text)")
        let rest = line[try #require(line.range(of: words)).upperBound...]
        let port = try #require(UInt16(rest.prefix { $0.isNumber }))
        try await body(ServiceClient(port: port))
    }
}

import Foundation
import FoundationNetworking

/// A gateway's connections to the provider.
final class DemoLinks: Sendable {
    private let session: URLSession
    private let provider: URL

    init(provider port: UInt16) throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = DemoGateway.maxCallsInFlight
        configuration.timeoutIntervalForRequest = 30
        configuration.urlCache = nil
        session = URLSession(configuration: configuration)
        guard let provider = URL(string: "http://127.0.0.1:\(port)" + DemoProvider.path) else {
            throw CommandError("no URL for 127.0.0.1")
        }
        self.provider = provider
    }

    func close() { session.invalidateAndCancel() }

    // MARK: The provider

    struct Answer: Sendable {
        let status: Int
        let headers: [(name: String, value: String)]
        let body: String
    }

    private static let timeoutSeconds = 60.0

    /// One chat completion; `nil` when no answer came.
    func call(inputTokens: Int64, outputTokens: Int64) async -> Answer? {
        var request = URLRequest(url: provider)
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        let body = """
            {"model":"\(DemoPlan.model)","messages":[{"role":"user","content":"Hello."}],\
            "simulate":{"prompt_tokens":\(inputTokens),"completion_tokens":\(outputTokens)}}
            """
        request.httpBody = Data(body.utf8)
        guard let (data, response) = await exchange(request) else { return nil }
        let headers = response.allHeaderFields.map { (name: "\($0.key)".lowercased(), value: "\($0.value)") }
            .sorted { $0.name < $1.name }
        return Answer(
            status: response.statusCode, headers: headers, body: String(decoding: data, as: UTF8.self))
    }

    private func exchange(_ request: URLRequest) async -> (Data, HTTPURLResponse)? {
        guard let (data, response) = try? await session.data(for: request, withinSeconds: Self.timeoutSeconds),
            let response = response as? HTTPURLResponse
        else { return nil }
        return (data, response)
    }
}

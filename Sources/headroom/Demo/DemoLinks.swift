import Foundation
import FoundationNetworking
import HeadroomHTTP
import HeadroomModel
import HeadroomProviders
import HeadroomWire

/// A gateway's connections: to the provider for calls, to Headroom for allocations and telemetry.
final class DemoLinks: Sendable {
    private let session: URLSession
    private let headroom: URL
    private let provider: URL

    init(headroom: ListenAddress, provider port: UInt16) throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = DemoGateway.maxCallsInFlight
        configuration.timeoutIntervalForRequest = 30
        configuration.urlCache = nil
        session = URLSession(configuration: configuration)
        guard let service = URL(string: "http://127.0.0.1:\(headroom.port)"),
            let provider = URL(string: "http://127.0.0.1:\(port)" + DemoProvider.path)
        else { throw CommandError("no URL for 127.0.0.1") }
        self.headroom = service
        self.provider = provider
    }

    func close() { session.invalidateAndCancel() }

    // MARK: The provider

    struct Answer: Sendable {
        let status: Int
        let headers: [(name: String, value: String)]
        let body: String
        let signal: ProviderSignal
    }

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
        let text = String(decoding: data, as: UTF8.self)
        let signal = ProviderClassifier.classify(
            ProviderResponse(
                provider: DemoPlan.provider, status: response.statusCode, headers: headers, body: text))
        return Answer(
            status: response.statusCode, headers: headers.filter { DemoLinks.isTold($0.name) }, body: text,
            signal: signal)
    }

    /// The headers that telemetry reports: limits and waits, nothing else.
    private static func isTold(_ header: String) -> Bool {
        header.hasPrefix("x-ratelimit-") || header.hasPrefix("retry-after") || header == "date"
    }

    // MARK: Headroom

    enum Allocations: Sendable {
        case snapshot(Snapshot, etag: String?)
        case notModified(SnapshotVersion)
        /// No answer, or none that can be used.
        case nothing
    }

    func allocations(
        gateway: GatewayID, applied: SnapshotVersion?, etag: String?, waitSeconds: Int
    ) async -> Allocations {
        var query = [URLQueryItem(name: "gateway", value: gateway.text)]
        if let applied { query.append(URLQueryItem(name: "applied", value: applied.description)) }
        if waitSeconds > 0 { query.append(URLQueryItem(name: "wait", value: String(waitSeconds))) }
        var request = URLRequest(url: headroom.appending(path: "v1/allocations").appending(queryItems: query))
        if let etag { request.setValue(etag, forHTTPHeaderField: "If-None-Match") }
        guard let (data, response) = await exchange(request) else { return .nothing }
        switch response.statusCode {
        case 200:
            guard case .whole(let snapshot) = try? SnapshotDecoder.decode(Array(data)) else { return .nothing }
            return .snapshot(snapshot, etag: response.value(forHTTPHeaderField: "ETag"))
        case 304:
            guard let epoch = response.value(forHTTPHeaderField: "Headroom-Epoch"),
                let generation = response.value(forHTTPHeaderField: "Headroom-Generation"),
                let version = SnapshotVersion(epoch + "." + generation)
            else { return .nothing }
            return .notModified(version)
        default:
            return .nothing
        }
    }

    /// The gateway ends and uses nothing any more.
    func sayGoodbye(of gateway: GatewayID) async {
        var request = URLRequest(url: headroom.appending(path: "v1/gateways/\(gateway)"))
        request.httpMethod = "DELETE"
        // Where nobody hears it, what it had is withheld for a minute.
        _ = await exchange(request)
    }

    /// `nil` when the batch has to be sent again.
    func report(_ batch: DemoSpool.Batch, at now: Timestamp) async -> TelemetryAnswer? {
        var request = URLRequest(url: headroom.appending(path: "v1/telemetry"))
        request.httpMethod = "POST"
        request.setValue("application/x-ndjson", forHTTPHeaderField: "Content-Type")
        request.setValue(String(batch.number), forHTTPHeaderField: "Headroom-Batch")
        request.setValue(String(now.milliseconds), forHTTPHeaderField: "Headroom-Sent-At")
        request.httpBody = Data(batch.bytes)
        guard let (data, response) = await exchange(request), response.statusCode == 200 else { return nil }
        return try? TelemetryAnswer.decode(Array(data))
    }

    private func exchange(_ request: URLRequest) async -> (Data, HTTPURLResponse)? {
        guard let (data, response) = try? await session.data(for: request), let response = response as? HTTPURLResponse
        else { return nil }
        return (data, response)
    }
}

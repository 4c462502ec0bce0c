import Foundation
import FoundationNetworking
import HeadroomJSON

/// One service, as commands talk to it: `--url`, and the token in `HEADROOM_TOKEN`.
struct ServiceClient {
    static let option = ["--url": "URL"]

    /// Long enough for a busy service, short enough for a person who waits.
    private static let timeoutSeconds = 10.0

    let base: URL
    private let token: String?

    init(_ arguments: Arguments) throws(UsageError) {
        var text = arguments["--url"] ?? Defaults.url
        while text.hasSuffix("/") { text.removeLast() }
        guard let url = URL(string: text), ["http", "https"].contains(url.scheme), url.host?.isEmpty == false else {
            throw UsageError("--url \"\(text)\": must be as \(Defaults.url)")
        }
        base = url
        token = ProcessInfo.processInfo.environment["HEADROOM_TOKEN"].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The answer to GET `path`, whatever its status; throws ``CommandError`` when there is none, or when the service
    /// refuses the caller.
    func get(_ path: String) async throws -> (status: Int, body: [UInt8]) {
        var request = URLRequest(url: base.appendingPathComponent(path), timeoutInterval: Self.timeoutSeconds)
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        let answer: (Data, URLResponse)
        do {
            answer = try await URLSession.shared.data(for: request)
        } catch {
            throw CommandError(
                "\(base.absoluteString): no answer: \((error as NSError).localizedDescription); "
                    + "is \"headroom serve\" running there? --url names another place")
        }
        let status = (answer.1 as? HTTPURLResponse)?.statusCode ?? 0
        if status == 401 || status == 403 {
            throw CommandError(
                "\(base.absoluteString)/\(path): \(token == nil ? "asks for a token" : "refuses the token") "
                    + "(\(status)): put one with the role viewer into HEADROOM_TOKEN")
        }
        return (status, Array(answer.0))
    }
}

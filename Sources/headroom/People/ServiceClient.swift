import Foundation
import FoundationNetworking
import HeadroomClient
import HeadroomJSON

/// One service, as commands talk to it: `--url` or `HEADROOM_URL`, and the token in `HEADROOM_TOKEN`.
struct ServiceClient {
    static let option = ["--url": "URL"]
    /// The help of each command that talks to a service.
    static let help = """
          --url URL           default HEADROOM_URL, else \(Defaults.url); a token, where the service asks for
                              one, is taken from HEADROOM_TOKEN
          --json              the service's answer as it is
        """

    /// Long enough for a busy service and an import, short enough for a person who waits.
    private static let timeoutSeconds = 30.0

    struct Answer {
        let status: Int
        let body: [UInt8]

        /// Null when it is no JSON.
        var json: JSONNode { (try? JSONNode.parse(body)) ?? JSONNode(.null) }
    }

    let base: URL
    private let token: String?

    init(_ arguments: Arguments) throws(UsageError) {
        let named = arguments["--url"]
        var text = named ?? Self.setting("HEADROOM_URL") ?? Defaults.url
        while text.hasSuffix("/") { text.removeLast() }
        guard let url = URL(string: text), ["http", "https"].contains(url.scheme), url.host?.isEmpty == false else {
            throw UsageError("\(named == nil ? "HEADROOM_URL" : "--url") \"\(text)\": must be as \(Defaults.url)")
        }
        base = url
        token = Self.setting("HEADROOM_TOKEN")
    }

    /// One that asks for no token.
    init(url: URL) {
        base = url
        token = nil
    }

    /// Whether a service is named, by an option or by the environment.
    static func isNamed(_ arguments: Arguments) -> Bool {
        arguments["--url"] != nil || setting("HEADROOM_URL") != nil
    }

    /// Of the environment; empty is as if not set.
    static func setting(_ name: String) -> String? {
        ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Throws ``CommandError`` with the service's own words when it does not do what is asked.
    ///
    /// - Parameters:
    ///   - path: out of names that the service knows, which need no escapes.
    ///   - query: those without a value are left out.
    func call(
        _ method: String, _ path: String, query: [(name: String, value: String?)] = [], body: [UInt8]? = nil,
        type: String = "application/json"
    ) async throws -> Answer {
        let answer = try await send(method, path, query: query, body: body, type: type)
        guard (200..<300).contains(answer.status) else { throw CommandError(refusal(path, answer)) }
        return answer
    }

    /// The answer whatever its status; throws ``CommandError`` when there is none.
    func send(
        _ method: String, _ path: String, query: [(name: String, value: String?)] = [], body: [UInt8]? = nil,
        type: String = "application/json"
    ) async throws -> Answer {
        let parts = query.compactMap { item in item.value.map { "\(item.name)=\(Self.escaped($0))" } }
        let target = path + (parts.isEmpty ? "" : "?" + parts.joined(separator: "&"))
        guard let url = URL(string: "\(base.absoluteString)/\(target)") else {
            throw CommandError("\(base.absoluteString)/\(target) is no address")
        }
        var request = URLRequest(url: url)
        request.httpMethod = method
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        if let body {
            request.setValue(type, forHTTPHeaderField: "Content-Type")
            request.httpBody = Data(body)
        }
        let answer: (Data, URLResponse)
        do {
            answer = try await URLSession.shared.data(for: request, withinSeconds: Self.timeoutSeconds)
        } catch {
            throw CommandError(
                "\(base.absoluteString): no answer: \((error as NSError).localizedDescription); "
                    + "is \"headroom serve\" running there? --url names another place")
        }
        return Answer(status: (answer.1 as? HTTPURLResponse)?.statusCode ?? 0, body: Array(answer.0))
    }

    /// A problem document's detail and faults, one a line.
    private func refusal(_ path: String, _ answer: Answer) -> String {
        let place = "\(base.absoluteString)/\(path)"
        if answer.status == 401 {
            return "\(place): \(token == nil ? "asks for a token" : "refuses the token"): put one into HEADROOM_TOKEN"
        }
        guard let detail = answer.json["detail"]?.string else {
            return "\(place): answers \(answer.status), but not as Headroom does; is it another service?"
        }
        let faults = (answer.json["errors"]?.array ?? []).map { fault in
            let place = fault["path"]?.string ?? fault["line"]?.number.map { "line \(Int($0))" } ?? ""
            return "\n  \(place.isEmpty ? "" : "\(place): ")\(fault["detail"]?.string ?? "")"
        }
        return detail + faults.joined()
    }

    /// All but the characters that mean nothing in a query; `+` would be a space there.
    private static func escaped(_ text: String) -> String {
        let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:@"
        return text.addingPercentEncoding(withAllowedCharacters: CharacterSet(charactersIn: letters)) ?? ""
    }
}

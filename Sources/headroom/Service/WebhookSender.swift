import Foundation
import FoundationNetworking
import Glibc
import HeadroomAlerts
import HeadroomModel
import HeadroomStorage

/// Sends one message to one webhook.
///
/// The receiver's name is resolved first, and every address that it has must be one that the policy allows. Over `http` the
/// message then goes to an address that was looked at. Over `https` the certificate proves the name, so a name that points
/// elsewhere a moment later gains nothing. Redirects are not followed.
final class WebhookSender: NSObject, URLSessionTaskDelegate, Sendable {
    private static let timeoutSeconds = 10.0
    /// Beside a file's name in the policy.
    private let directory: String

    /// - Parameter directory: where the secrets of a policy lie that are named without a path.
    init(secretsIn directory: String) {
        self.directory = directory
        super.init()
    }

    /// In force for the whole process: connections are kept between messages.
    private static let session: URLSession = {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = timeoutSeconds
        configuration.timeoutIntervalForResource = 2 * timeoutSeconds
        configuration.httpCookieStorage = nil
        return URLSession(configuration: configuration)
    }()

    /// - Parameter makeBody: takes the secret, if there is one.
    func send(
        to sink: AlertSinkPolicy, under rules: AddressRules, at now: Timestamp, _ makeBody: (String?) -> [UInt8]
    ) async -> SinkQueue.Outcome {
        let secret: String?
        do { secret = try readSecret(sink) } catch { return .failed(error.message, afterSeconds: nil) }
        guard var parts = URLComponents(string: sink.url.replacing("{secret}", with: secret ?? "")),
            let host = parts.host,
            let name = parts.url?.host
        else { return .refused("the url is none, once the secret stands in it") }
        let addresses = await Self.addresses(of: name)
        guard !addresses.isEmpty else { return .failed("\(host) has no address", afterSeconds: nil) }
        if let forbidden = addresses.first(where: { text in AddressRange(text).map { !rules.allow($0) } ?? true }) {
            return .refused("\(host) is \(forbidden), where the policy does not allow webhooks to be sent")
        }
        let authority = host + (parts.port.map { ":\($0)" } ?? "")
        let body = makeBody(secret)
        var outcome = SinkQueue.Outcome.failed("no answer from \(host)", afterSeconds: nil)
        let isPinned = parts.scheme == "http"
        // Over https the system chooses among the addresses.
        for address in isPinned ? addresses : [host] {
            if isPinned { parts.host = address.contains(":") ? "[\(address)]" : address }
            guard let url = parts.url else { return .refused("the url is none, once the secret stands in it") }
            var request = URLRequest(url: url)
            request.httpMethod = "POST"
            request.httpBody = Data(body)
            request.setValue(authority, forHTTPHeaderField: "Host")
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
            request.setValue("headroom", forHTTPHeaderField: "User-Agent")
            if let secret, sink.format != .pagerduty, !sink.url.contains("{secret}") {
                request.setValue(
                    Self.signature(of: body, by: secret, at: now), forHTTPHeaderField: "Headroom-Signature")
            }
            do {
                let (_, response) = try await Self.session.data(for: request, delegate: self)
                return Self.outcome(of: response as? HTTPURLResponse)
            } catch {
                let reason = (error as NSError).localizedDescription
                outcome = .failed("no answer from \(host): \(reason)", afterSeconds: nil)
            }
        }
        return outcome
    }

    /// `t=SECONDS,v1=HEX`: HMAC-SHA-256 over the seconds since 1970, a dot and the body, so that an old message cannot be
    /// sent again as a new one.
    static func signature(of body: [UInt8], by secret: String, at now: Timestamp) -> String {
        let seconds = "\(now.milliseconds / 1000)"
        let code = SHA256.authenticationCode(of: Array((seconds + ".").utf8) + body, key: Array(secret.utf8))
        return "t=\(seconds),v1=\(SHA256.hexadecimal(code))"
    }

    private func readSecret(_ sink: AlertSinkPolicy) throws(CommandError) -> String? {
        guard let file = sink.secretFile else { return nil }
        let path = file.hasPrefix("/") ? file : directory + "/" + file
        // At each message: a new secret needs no restart.
        let bytes = try Terminal.read(path)
        let line = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        let secret = line.trimmingCharacters(in: .whitespaces)
        guard !secret.isEmpty else { throw CommandError("\(path): the first line should be the secret, and is empty") }
        return secret
    }

    private static func outcome(of response: HTTPURLResponse?) -> SinkQueue.Outcome {
        guard let response else { return .failed("no HTTP answer", afterSeconds: nil) }
        switch response.statusCode {
        case 200..<300: return .delivered
        case 408, 425, 429, 500...:
            let seconds = response.value(forHTTPHeaderField: "Retry-After").flatMap(Double.init)
            return .failed("it answers \(response.statusCode)", afterSeconds: seconds.flatMap { $0 > 0 ? $0 : nil })
        default: return .refused("it answers \(response.statusCode)")
        }
    }

    /// Those of a name, or the address that the name is; without doubles.
    private static func addresses(of host: String) async -> [String] {
        await withCheckedContinuation { continuation in
            // A resolver may wait for seconds.
            DispatchQueue.global(qos: .utility).async { continuation.resume(returning: resolve(host)) }
        }
    }

    private static func resolve(_ host: String) -> [String] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host.trimmingCharacters(in: ["[", "]"]), nil, &hints, &list) == 0 else { return [] }
        defer { unsafe freeaddrinfo(list) }
        var found: [String] = []
        var next = unsafe list
        while let entry = unsafe next {
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            let code = unsafe getnameinfo(
                entry.pointee.ai_addr, entry.pointee.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
            let name = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            if code == 0, !found.contains(name) { found.append(name) }
            unsafe next = entry.pointee.ai_next
        }
        return found
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
    ) {
        // It would lead past the look at addresses.
        completionHandler(nil)
    }
}

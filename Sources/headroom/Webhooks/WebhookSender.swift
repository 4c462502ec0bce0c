import Foundation
import HeadroomAlerts
import HeadroomModel
import HeadroomStorage

/// Sends one message to one webhook.
///
/// The receiver's name is resolved, every address that it has must be one that the policy allows, and the message goes to
/// one of these very addresses. Redirects are not followed.
final class WebhookSender: Sendable {
    /// Of a receiver; more are for balancing load.
    private static let maxAddresses = 2
    /// Beside a file's name in the policy.
    private let directory: String

    /// - Parameter directory: where the secrets of a policy lie that are named without a path.
    init(secretsIn directory: String) {
        self.directory = directory
    }

    /// - Parameter makeBody: takes the secret, if there is one.
    func send(
        to sink: AlertSinkPolicy, under rules: AddressRules, at now: Timestamp, _ makeBody: (String?) -> [UInt8]
    ) async -> SinkQueue.Outcome {
        let secret: String?
        do { secret = try readSecret(sink) } catch { return .failed(error.message, afterSeconds: nil) }
        guard let url = WebhookURL(sink.url.replacing("{secret}", with: secret ?? "")) else {
            return .refused("the url is none, once the secret stands in it")
        }
        let addresses = await blocking { WebhookAddress.all(of: url.host, port: url.port) }
        guard !addresses.isEmpty else { return .failed("\(url.host) has no address", afterSeconds: nil) }
        if let forbidden = addresses.first(where: { AddressRange($0.text).map { !rules.allow($0) } ?? true }) {
            return .refused("\(url.host) is \(forbidden.text), where the policy does not allow webhooks to be sent")
        }
        let body = makeBody(secret)
        var headers = [("Content-Type", "application/json"), ("User-Agent", "headroom")]
        if let secret, sink.format != .pagerduty, !sink.url.contains("{secret}") {
            headers.append(("Headroom-Signature", Self.signature(of: body, by: secret, at: now)))
        }
        let call = WebhookCall(host: url.host, isSecure: url.isSecure, request: url.post(body, headers))
        return await withTaskCancellationHandler {
            await blocking { Self.outcome(of: call, at: addresses.prefix(Self.maxAddresses), of: url.host) }
        } onCancel: {
            call.cancel()
        }
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

    private static func outcome(
        of call: WebhookCall, at addresses: ArraySlice<WebhookAddress>, of host: String
    ) -> SinkQueue.Outcome {
        var reasons: [String] = []
        for address in addresses {
            do throws(WebhookCall.Failure) {
                return outcome(of: try call.run(at: address))
            } catch {
                if !reasons.contains(error.message) { reasons.append(error.message) }
                if error.isSent { break }
            }
        }
        return .failed("no answer from \(host): \(reasons.joined(separator: "; "))", afterSeconds: nil)
    }

    private static func outcome(of answer: WebhookCall.Answer) -> SinkQueue.Outcome {
        switch answer.status {
        case 200..<300: .delivered
        // Nothing has taken the message; once the url is right it can be delivered.
        case 300..<400: .failed("it answers \(answer.status); redirects are not followed", afterSeconds: nil)
        case 408, 425, 429, 500...: .failed("it answers \(answer.status)", afterSeconds: answer.retryAfterSeconds)
        default: .refused("it answers \(answer.status)")
        }
    }

    /// What waits for a resolver or a receiver, on a thread of its own.
    private func blocking<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: body()) }
        }
    }
}

/// The URL of a webhook as a request needs it.
struct WebhookURL {
    let isSecure: Bool
    /// A name, or an address without brackets.
    let host: String
    let port: UInt16
    /// Path and query.
    private let target: String
    /// With the port where the URL has one.
    private let authority: String

    /// `nil` for what is no `http` or `https` URL.
    init?(_ text: String) {
        guard let parts = URLComponents(string: text), let host = parts.encodedHost, !host.isEmpty,
            parts.scheme == "http" || parts.scheme == "https", (1...65_535).contains(parts.port ?? 1)
        else { return nil }
        isSecure = parts.scheme == "https"
        self.host = host.trimmingCharacters(in: ["[", "]"])
        port = parts.port.map(UInt16.init) ?? (isSecure ? 443 : 80)
        let path = parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
        target = path + (parts.percentEncodedQuery.map { "?" + $0 } ?? "")
        authority = host + (parts.port.map { ":\($0)" } ?? "")
        // Nothing that a secret holds ends the line that it stands in.
        guard (target + authority).utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
    }

    func post(_ body: [UInt8], _ headers: [(name: String, value: String)]) -> [UInt8] {
        let all = [("Host", authority)] + headers + [("Content-Length", "\(body.count)"), ("Connection", "close")]
        let lines = ["POST \(target) HTTP/1.1"] + all.map { "\($0.0): \($0.1)" }
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
    }
}

import Foundation
import Glibc
import Synchronization

/// One HTTP/1.1 request on a connection of its own, to an address that was looked at: what is connected to is what the
/// policy allows, whatever its name resolves to a moment later.
///
/// Of the answer only the head is read, 16 KiB at most. It follows no redirect and uses no proxy of the environment: either
/// would lead past the look at addresses. Each step waits for the socket, up to one deadline.
final class WebhookCall: Sendable {
    struct Answer: Equatable, Sendable {
        var status: Int
        /// Of the header `Retry-After`, where it is a number.
        var retryAfterSeconds: Double?
    }

    struct Failure: Error {
        let message: String
        /// The receiver may have taken the request: it must not be sent to another address as well.
        var isSent = false
    }

    private let host: String
    private let isSecure: Bool
    private let request: [UInt8]
    private let isCancelled = Atomic(false)

    private static let seconds = 10.0
    /// For a message that is on its way when the service stops: its answer is worth a moment, since it is sent again without.
    private static let secondsAfterCancel = 2.0
    private static let sliceMilliseconds = 200.0
    private static let maxHeadBytes = 16 << 10

    /// - Parameters:
    ///   - host: a name, or an address without brackets, that a certificate has to be for.
    ///   - request: head and body.
    init(host: String, isSecure: Bool, request: [UInt8]) {
        self.host = host
        self.isSecure = isSecure
        self.request = request
    }

    /// Ends soon: another thread may call it.
    func cancel() { isCancelled.store(true, ordering: .relaxed) }

    /// Blocks, ``seconds`` at most.
    func run(at address: WebhookAddress) throws(Failure) -> Answer {
        let deadline = Deadline(call: self)
        let descriptor = try connect(to: address, deadline)
        defer { close(descriptor) }
        let stream = try Stream(descriptor, host: isSecure ? host : nil, deadline)
        do throws(Failure) {
            try stream.send(request)
            return try Self.answer(from: stream)
        } catch {
            throw Failure(message: error.message, isSent: true)
        }
    }

    private func connect(to address: WebhookAddress, _ deadline: Deadline) throws(Failure) -> Int32 {
        let flags = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(address.family, flags, 0)
        guard descriptor >= 0 else { throw Failure(message: Self.text(errno)) }
        do throws(Failure) {
            if unsafe address.withPointer({ unsafe Glibc.connect(descriptor, $0, $1) }) != 0 {
                guard errno == EINPROGRESS else { throw Failure(message: Self.text(errno)) }
                try deadline.wait(for: descriptor, Int16(POLLOUT))
                var fault: Int32 = 0
                var size = socklen_t(MemoryLayout<Int32>.size)
                unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &fault, &size)
                guard fault == 0 else { throw Failure(message: Self.text(fault)) }
            }
            return descriptor
        } catch {
            close(descriptor)
            throw error
        }
    }

    private static func answer(from stream: Stream) throws(Failure) -> Answer {
        var head: [UInt8] = []
        while head.count < maxHeadBytes {
            if let end = head.firstRange(of: Array("\r\n\r\n".utf8)) {
                let answer = try parse(head[..<end.lowerBound])
                // 1xx says that the answer is still to come.
                if answer.status >= 200 { return answer }
                head.removeSubrange(..<end.upperBound)
                continue
            }
            let more = try stream.receive()
            guard !more.isEmpty else { throw Failure(message: "it closed the connection without an answer") }
            head += more
        }
        throw Failure(message: "its answer has a head of more than \(maxHeadBytes >> 10) KiB")
    }

    private static func parse(_ head: ArraySlice<UInt8>) throws(Failure) -> Answer {
        let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n", omittingEmptySubsequences: false)
        let words = lines[0].split(separator: " ", maxSplits: 2)
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), words[1].utf8.count == 3, let status = UInt16(words[1]),
            (100..<600).contains(status)
        else { throw Failure(message: "its answer is not HTTP/1.1") }
        let later = lines.dropFirst().first { $0.lowercased().hasPrefix("retry-after:") }
        let seconds = later.flatMap { Double($0.drop { $0 != ":" }.dropFirst().trimmingCharacters(in: .whitespaces)) }
        return Answer(
            status: Int(status), retryAfterSeconds: seconds.flatMap { $0.isFinite && $0 > 0 ? $0 : nil })
    }

    fileprivate static func text(_ code: Int32) -> String { unsafe String(cString: strerror(code)) }

    /// When the call has to be over.
    fileprivate final class Deadline {
        private let call: WebhookCall
        private let began = ContinuousClock.now
        private var cancelledAt: ContinuousClock.Instant?

        init(call: WebhookCall) { self.call = call }

        func wait(for descriptor: Int32, _ events: Int16) throws(Failure) {
            while true {
                let now = ContinuousClock.now
                if call.isCancelled.load(ordering: .relaxed) { cancelledAt = cancelledAt ?? now }
                var left = WebhookCall.seconds - began.duration(to: now) / .seconds(1)
                if let cancelledAt {
                    left = min(left, WebhookCall.secondsAfterCancel - cancelledAt.duration(to: now) / .seconds(1))
                }
                guard left > 0 else {
                    throw Failure(message: cancelledAt == nil ? "no answer within 10 s" : "the service stops")
                }
                var wanted = pollfd(fd: descriptor, events: events, revents: 0)
                if unsafe poll(&wanted, 1, Int32(min(left * 1000, WebhookCall.sliceMilliseconds).rounded(.up))) > 0 {
                    return
                }
            }
        }
    }

    /// The bytes of the connection, through TLS where there is a host that has to prove its name.
    fileprivate final class Stream {
        private let descriptor: Int32
        private let deadline: Deadline
        private let tls: GnuTLSClient?

        init(_ descriptor: Int32, host: String?, _ deadline: Deadline) throws(Failure) {
            self.descriptor = descriptor
            self.deadline = deadline
            do throws(GnuTLSClient.Failure) {
                let authorities = ProcessInfo.processInfo.environment["SSL_CERT_FILE"]
                tls = try host.map { (host) throws(GnuTLSClient.Failure) in
                    try GnuTLSClient(descriptor, host: host, authorities: authorities)
                }
            } catch {
                throw Failure(message: error.message)
            }
            if let tls { _ = try untilDone { () throws(GnuTLSClient.Failure) in try tls.shakeHands() } }
        }

        func send(_ bytes: [UInt8]) throws(Failure) {
            var rest = bytes[...]
            while !rest.isEmpty {
                let sent = try untilDone { () throws(GnuTLSClient.Failure) in
                    if let tls { return try tls.send(rest) }
                    return try plain(forWriting: true) {
                        unsafe rest.withUnsafeBytes {
                            unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                        }
                    }
                }
                rest = rest.dropFirst(sent)
            }
        }

        /// Empty at the end.
        func receive() throws(Failure) -> ArraySlice<UInt8> {
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = try untilDone { () throws(GnuTLSClient.Failure) in
                if let tls { return try tls.receive(into: &buffer) }
                return try plain(forWriting: false) { unsafe recv(descriptor, &buffer, buffer.count, 0) }
            }
            return buffer[..<count]
        }

        private func plain(forWriting: Bool, _ call: () -> Int) throws(GnuTLSClient.Failure) -> GnuTLSClient.Progress {
            let count = call()
            if count >= 0 { return .done(count) }
            guard errno == EAGAIN || errno == EINTR else {
                throw GnuTLSClient.Failure(message: WebhookCall.text(errno))
            }
            return .waits(forWriting: forWriting)
        }

        private func untilDone(
            _ step: () throws(GnuTLSClient.Failure) -> GnuTLSClient.Progress
        ) throws(Failure) -> Int {
            while true {
                let progress: GnuTLSClient.Progress
                do throws(GnuTLSClient.Failure) {
                    progress = try step()
                } catch {
                    throw Failure(message: error.message)
                }
                switch progress {
                case .done(let count): return count
                case .waits(let forWriting):
                    try deadline.wait(for: descriptor, Int16(forWriting ? POLLOUT : POLLIN))
                }
            }
        }
    }
}

import Foundation
import Glibc

/// A `headroom serve` that listens on a free port of loopback.
final class RunningService: Sendable {
    let client: ServiceClient
    private let end: ProcessEnd
    private let log: Log

    /// Starts a service in `house`, waits until it is ready, runs `body`, and ends the service however that went.
    static func run<Value: Sendable>(
        _ house: House, _ arguments: String..., body: (RunningService) async throws -> Value
    ) async throws -> Value {
        try await run(house, arguments, body: body)
    }

    static func run<Value: Sendable>(
        _ house: House, _ arguments: [String], environment: [String: String] = [:],
        whileStarting: (Log) async throws -> Void = { _ in },
        body: (RunningService) async throws -> Value
    ) async throws -> Value {
        let service = try await RunningService(house, arguments, environment, whileStarting)
        let result: Result<Value, any Error>
        do {
            let readiness = try await service.client.poll("/readyz") { $0.status == 200 }
            guard readiness.status == 200 else { throw Failure(text: readiness.text) }
            result = .success(try await body(service))
        } catch {
            result = .failure(error)
        }
        service.end.send(SIGKILL)
        return try result.get()
    }

    struct Failure: Error { let text: String }

    private init(
        _ house: House, _ arguments: [String], _ environment: [String: String],
        _ whileStarting: (Log) async throws -> Void
    ) async throws {
        let arguments = ["serve", "--listen", "127.0.0.1:0"] + house.options + arguments
        let errors = Pipe()
        let process = HeadroomProgram.makeProcess(arguments, in: house.directory, environment: environment)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = errors
        end = try HeadroomProgram.start(process)
        log = Log(errors.fileHandleForReading)
        do { try await whileStarting(log) } catch {
            end.send(SIGKILL)
            throw error
        }
        // Behind the line's time and level.
        let isSecure = arguments.contains("--tls-certificate")
        let words = "headroom serves on \(isSecure ? "https" : "http")://127.0.0.1:"
        guard let line = await log.line(with: words), let end = line.range(of: words)?.upperBound,
            let port = UInt16(line[end...].prefix { $0.isNumber })
        else {
            self.end.send(SIGKILL)
            throw Failure(text: log.text)
        }
        client = ServiceClient(port: port, isSecure: isSecure)
    }

    /// What it has written to standard error so far.
    var errors: String { log.text }

    func send(_ signal: Int32) { end.send(signal) }

    /// Returns the exit code, or the signal that ended it.
    func stop(by signal: Int32) async -> Int32 {
        end.send(signal)
        return await blocking { [end] in end.wait(seconds: HeadroomProgram.patienceSeconds) }
    }

    /// Lines as they come, collected on a thread of its own.
    final class Log: @unchecked Sendable {
        // Sendable: everything is touched under the condition's lock.
        private let condition = NSCondition()
        private var lines: [String] = []
        private var isAtEnd = false

        init(_ handle: FileHandle) {
            Thread.detachNewThread {
                var rest = Data()
                var buffer = [UInt8](repeating: 0, count: 1 << 16)
                while true {
                    // Foundation's own call ends the process when a signal interrupts it.
                    let count = unsafe read(handle.fileDescriptor, &buffer, buffer.count)
                    if count < 0 && errno == EINTR { continue }
                    guard count > 0 else { break }
                    rest += buffer[..<count]
                    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                        self.add(String(decoding: rest[..<end], as: UTF8.self))
                        rest = Data(rest[(end + 1)...])
                    }
                }
                self.finish()
            }
        }

        var text: String { condition.withLock { lines.joined(separator: "\n") } }

        /// The first line that has `words`; `nil` when the log ends, or patience does, without one.
        func line(with words: String) async -> String? {
            await blocking {
                let end = Date(timeIntervalSinceNow: HeadroomProgram.patienceSeconds)
                return self.condition.withLock {
                    while true {
                        if let line = self.lines.first(where: { $0.contains(words) }) { return line }
                        if self.isAtEnd || !self.condition.wait(until: end) { return nil }
                    }
                }
            }
        }

        private func add(_ line: String) {
            condition.withLock {
                lines.append(line)
                condition.broadcast()
            }
        }

        private func finish() {
            condition.withLock {
                isAtEnd = true
                condition.broadcast()
            }
        }
    }
}

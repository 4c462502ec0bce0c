import Foundation

/// This program once more, as a client in a process of its own: its processor time is not the server's.
enum LoadProcess {
    struct Fault: Error, CustomStringConvertible {
        let arguments: [String]
        let output: String

        var description: String { "the client \(arguments.prefix(4)) failed and printed: \(output)" }
    }

    /// Runs to the end, and returns the numbers that the client printed.
    /// - Parameter count: of numbers; any other count is a failure of the client.
    static func numbers(_ arguments: [String], count: Int) throws -> [Double] {
        let text = try output(of: URL(fileURLWithPath: CommandLine.arguments[0]), arguments)
        let numbers = text.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
        guard numbers.count == count else { throw Fault(arguments: arguments, output: text) }
        return numbers
    }

    /// Runs `program` to the end, and returns what it printed.
    static func output(of program: URL, _ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Fault(arguments: arguments, output: text) }
        return text
    }

    /// The exit code of the process that is such a client: an error goes to standard error.
    static func exitCode(of name: String, _ run: () throws -> Void) -> Int32 {
        do {
            try run()
            return 0
        } catch {
            FileHandle.standardError.write(Data("\(name): \(error)\n".utf8))
            return 1
        }
    }
}

/// This program once more, as a client that tells how far it is, a line at a time.
final class LoadSession {
    private let client = Process()
    private let output = Pipe()
    private let arguments: [String]
    private var pending = Data()

    init(_ arguments: [String]) throws {
        self.arguments = arguments
        client.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        client.arguments = arguments
        client.standardOutput = output
        try client.run()
    }

    func expect(_ text: String) throws {
        let found = try line()
        guard found == text else { throw LoadProcess.Fault(arguments: arguments, output: found) }
    }

    /// Those of the next line.
    func numbers(count: Int) throws -> [Double] {
        let text = try line()
        let numbers = text.split(separator: " ").compactMap { Double($0) }
        guard numbers.count == count else { throw LoadProcess.Fault(arguments: arguments, output: text) }
        return numbers
    }

    /// Waits for the client to end.
    func end() throws {
        client.waitUntilExit()
        guard client.terminationStatus == 0 else { throw LoadProcess.Fault(arguments: arguments, output: "") }
    }

    private func line() throws -> String {
        while true {
            if let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
                defer { pending.removeSubrange(...end) }
                return String(decoding: pending[..<end], as: UTF8.self)
            }
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { throw LoadProcess.Fault(arguments: arguments, output: "nothing more") }
            pending += more
        }
    }
}

/// User and system time of this process so far. While a client process runs and the main thread waits, all of it is the
/// server's.
func ownProcessorSeconds() -> Double {
    var usage = rusage()
    unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) * 1e-6 }
}

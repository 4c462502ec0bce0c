import Foundation
import Glibc
import HeadroomJSON
import HeadroomModel
import HeadroomSimulator
import HeadroomWire

/// One sub-command of `headroom`.
struct Command: Sendable {
    /// One or two words, as typed.
    let name: String
    /// One line for the list in `headroom --help`.
    let summary: String
    /// Printed by `headroom NAME --help`.
    let help: String
    /// Takes the arguments behind the name; returns the exit code. Throws ``UsageError`` for wrong usage.
    let run: @Sendable ([String]) async throws -> Int32
}

/// Wrong usage; names the flag and what would be right. Exit code 2.
struct UsageError: Error {
    let message: String

    init(_ message: String) {
        self.message = message
    }
}

/// Could not be done; exit code 1.
struct CommandError: Error {
    let message: String

    init(_ message: String) {
        self.message = message
    }
}

/// The arguments behind a command's name, taken apart: `--flag`, `--option VALUE` or `--option=VALUE`, and the rest.
struct Arguments {
    private var flags: Set<String> = []
    private var values: [String: [String]] = [:]
    private(set) var positionals: [String] = []

    /// `options` maps each option to the word for its value in messages, e.g. `["--port": "PORT"]`.
    init(
        _ arguments: [String], flags knownFlags: Set<String> = [], options knownOptions: [String: String] = [:],
        maxPositionals: Int = 0
    ) throws(UsageError) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            guard argument.hasPrefix("-"), argument != "-" else {
                positionals.append(argument)
                continue
            }
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let name = parts[0]
            if knownFlags.contains(name) {
                guard parts.count == 1 else { throw UsageError("\(name) takes no value") }
                flags.insert(name)
            } else if let word = knownOptions[name] {
                guard let value = parts.count == 2 ? parts[1] : rest.popFirst() else {
                    throw UsageError("\(name) needs a value: \(name) \(word)")
                }
                values[name, default: []].append(value)
            } else {
                let known = (knownFlags.map { $0 } + knownOptions.map { "\($0.key) \($0.value)" }).sorted()
                let names = Array(knownFlags) + Array(knownOptions.keys) + ["--help"]
                throw UsageError(
                    "unknown option \(name)"
                        + (known.isEmpty
                            ? "; there are none but --help" : "; known are " + known.joined(separator: ", "))
                        + NearestName.question(name, among: names)
                )
            }
        }
        guard positionals.count <= maxPositionals else {
            throw UsageError("unexpected argument \"\(positionals[maxPositionals])\"")
        }
    }

    func has(_ flag: String) -> Bool { flags.contains(flag) }

    /// The last value given.
    subscript(option: String) -> String? { values[option]?.last }

    func all(_ option: String) -> [String] { values[option] ?? [] }

    func integer(_ option: String, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
        guard let text = self[option] else { return nil }
        guard let value = Int(text), range.contains(value) else {
            throw UsageError(
                "\(option) \"\(text)\": must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    func number(_ option: String, in range: ClosedRange<Double>) throws(UsageError) -> Double? {
        guard let text = self[option] else { return nil }
        guard let value = Double(text), range.contains(value) else {
            throw UsageError("\(option) \"\(text)\": must be a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }
}

/// The form of a service's log.
enum LogFormat: String, CaseIterable, Sendable {
    /// For people: `2026-11-21T10:00:00.000Z INFO policy default is in force`.
    case text
    /// For programs: one JSON object a line, with `at`, `level` and `message`.
    case json

    static let option = ["--log": "text|json"]

    /// The one that `--log` asks for.
    init(_ arguments: Arguments) throws(UsageError) {
        let text = arguments["--log"] ?? LogFormat.text.rawValue
        guard let format = LogFormat(rawValue: text) else {
            throw UsageError("--log \"\(text)\": must be text or json")
        }
        self = format
    }
}

/// How much a line of a service's log matters.
enum LogLevel: String, Sendable {
    case info = "INFO"
    /// The service goes on, and a person should look.
    case warning = "WARN"
    case error = "ERROR"

    fileprivate var tint: TerminalColor.Tint? {
        switch self {
        case .info: nil
        case .warning: .warning
        case .error: .bad
        }
    }
}

/// Data goes to standard output, everything else to standard error.
enum Terminal {
    static func print(_ text: String) {
        print(bytes: Array((text + "\n").utf8))
    }

    /// Ends the process with exit code 1 when it cannot be written: a part of the data must not pass for all of it. A
    /// reader that has seen enough (`headroom … | head -1`) is no error: then the process ends quietly with 0.
    static func print(bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            if count < 0 && errno == EPIPE { exit(0) }
            guard count > 0 else {
                let reason = unsafe String(cString: strerror(errno))
                Terminal.error("headroom: standard output cannot be written: \(reason)")
                exit(1)
            }
            rest = rest.dropFirst(count)
        }
    }

    static func error(_ text: String) {
        // A service goes on when the reader of its log has ended.
        try? FileHandle.standardError.write(contentsOf: Data((text + "\n").utf8))
    }

    /// Writes to the log of a service, on standard error.
    static func log(_ level: LogLevel, _ text: String, _ format: LogFormat = .text) {
        let time = RFC3339.format(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        if format == .json {
            var writer = JSONWriter()
            writer.beginObject()
            writer.field("at", time)
            writer.field("level", level.rawValue.lowercased())
            writer.field("message", text)
            writer.endObject()
            return error(String(decoding: writer.bytes, as: UTF8.self))
        }
        let word = TerminalColor.paint(level.rawValue, level.tint, on: .error)
        let lines = text.split(separator: "\n").map { "\(time) \(word) \($0)" }
        error(lines.joined(separator: "\n"))
    }

    /// Asks the person at the terminal; `nil` when nobody is there, or the input has ended.
    static func ask(_ question: String) -> String? {
        guard hasPerson else { return nil }
        try? FileHandle.standardError.write(contentsOf: Data(question.utf8))
        return readLine()?.trimmingCharacters(in: .whitespaces)
    }

    /// A person reads what is asked and can answer it.
    static var hasPerson: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }

    /// The whole of a file, or of standard input for `-`.
    static func read(_ path: String) throws(CommandError) -> [UInt8] {
        let file = try open(path)
        do { return try file.readAll() } catch { throw CommandError("\(path): \(error.message)") }
    }

    /// A whole file, in place of what stood there.
    static func write(_ text: String, to path: String) throws(CommandError) {
        do {
            try Data(text.utf8).write(to: URL(filePath: path))
        } catch {
            throw CommandError("\(path): cannot be written: name a file in a directory that you may write to")
        }
        Terminal.error("wrote \(path)")
    }

    /// A file for reading, or standard input for `-`.
    static func open(_ path: String) throws(CommandError) -> FileHandle {
        if path == "-" { return .standardInput }
        // Foundation's own errors do not say why.
        let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw CommandError("\(path): cannot be read: \(unsafe String(cString: strerror(errno)))")
        }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else {
            throw CommandError("\(path): cannot be read: it is a directory; name a file")
        }
        return file
    }
}

import Foundation
import Glibc

/// One sub-command of `headroom`.
struct Command: Sendable {
    /// One or two words, as typed.
    let name: String
    /// One line for the list in `headroom --help`.
    let summary: String
    /// What `headroom NAME --help` prints.
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
                throw UsageError(
                    "unknown option \(name)"
                        + (known.isEmpty
                            ? "; there are none but --help" : "; known are " + known.joined(separator: ", "))
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

/// Data goes to standard output, everything else to standard error.
enum Terminal {
    static func print(_ text: String) {
        print(bytes: Array((text + "\n").utf8))
    }

    /// Ends the process with exit code 1 when it cannot be written: a part of the data must not pass for all of it.
    static func print(bytes: [UInt8]) {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data(bytes))
        } catch {
            Terminal.error("headroom: standard output cannot be written: its reader has gone, or the disk is full")
            exit(1)
        }
    }

    static func error(_ text: String) {
        // A service does not end because whoever read its log has.
        try? FileHandle.standardError.write(contentsOf: Data((text + "\n").utf8))
    }

    /// The whole of a file, or of standard input for `-`.
    static func read(_ path: String) throws -> [UInt8] {
        try open(path).readAll()
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

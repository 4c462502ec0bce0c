import Foundation

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
                    "unknown option \(name)" + (known.isEmpty ? "" : "; known are " + known.joined(separator: ", ")))
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
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }

    static func print(bytes: [UInt8]) {
        FileHandle.standardOutput.write(Data(bytes))
    }

    static func error(_ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
    }

    /// The whole of a file, or of standard input for `-`.
    static func read(_ path: String) throws -> [UInt8] {
        if path == "-" { return Array(FileHandle.standardInput.readDataToEndOfFile()) }
        do {
            return Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        } catch {
            throw CommandError("\(path): cannot be read: \((error as NSError).localizedDescription)")
        }
    }
}

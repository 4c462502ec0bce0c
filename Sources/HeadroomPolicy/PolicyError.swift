/// Why policy files were not taken: every fault in them, not only the first.
package struct PolicyError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Never empty; those that lie in no file first, then ascending by file and place.
    package let faults: [PolicyFault]

    package init(_ faults: [PolicyFault]) {
        precondition(!faults.isEmpty)
        self.faults = faults
    }

    /// One fault a line.
    package var description: String { faults.map(\.description).joined(separator: "\n") }
}

/// One thing that is wrong in one file, and what would be right.
package struct PolicyFault: Equatable, Sendable, CustomStringConvertible {
    package enum Code: String, Sendable {
        /// The file, or the directory, cannot be read.
        case unreadable
        /// Not JSON5.
        case syntax
        case unknownKey
        case duplicateKey
        case missing
        case wrongType
        /// A number that is not finite or beyond its bounds, a text or a list that is too long or too short.
        case outOfRange
        /// A name of something that does not exist.
        case unknownName
        /// A name that stands for two things.
        case duplicateName
        /// Two values that are right by themselves and cannot both hold.
        case conflict
    }

    package let code: Code
    package let file: String
    /// Both from 1; `nil` where the fault is the file as a whole.
    package let line: Int?
    package let column: Int?
    /// As `loop.lease_seconds` or `bands[2].tiers[0]`; empty for the whole document.
    package let key: String
    package let message: String

    package init(
        _ code: Code, file: String, line: Int? = nil, column: Int? = nil, key: String = "", _ message: String
    ) {
        self.code = code
        self.file = file
        self.line = line
        self.column = column
        self.key = key
        self.message = message
    }

    /// `FILE:LINE:COLUMN: KEY: MESSAGE`, as compilers print it and editors jump to.
    package var description: String {
        var place = file
        if let line, let column { place += ":\(line):\(column)" }
        return key.isEmpty ? "\(place): \(message)" : "\(place): \(key): \(message)"
    }
}

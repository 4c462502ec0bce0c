/// Why a whole body is refused. A single line that is refused is a fault in the answer instead.
package struct WireError: Error, Equatable, Sendable, CustomStringConvertible {
    package enum Code: Sendable {
        /// Not JSON, or not the JSON that belongs here (400).
        case unreadable
        /// More lines than one request may bring (413).
        case tooManyLines
    }

    package let code: Code
    /// For people: what is wrong, and what would be right.
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }
}

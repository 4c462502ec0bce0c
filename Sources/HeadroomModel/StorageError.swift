/// Why something could not be stored or read.
public struct StorageError: Error, Equatable, Sendable, CustomStringConvertible {
    public enum Code: Sendable, Hashable, CaseIterable {
        /// The file is damaged.
        case corrupt
        /// The file is something else than a SQLite database.
        case notADatabase
        /// A SQLite database, but another program's.
        case notHeadroom
        /// Another process kept the database locked for longer than the time-out.
        case busy
        case full
        case readOnly
        case cannotOpen
        /// The disk failed.
        case inputOutput
        /// The database was written by a newer Headroom.
        case newerSchema
        /// A migration that has been applied reads differently now.
        case migrationEdited
        /// A migration that has been applied is not among those built in.
        case migrationMissing
        /// Another Headroom serves this database.
        case instanceRunning
        /// A row breaks a rule of the schema: a name that exists, say.
        case constraint
        case outOfMemory
        /// A fault in Headroom itself.
        case misuse
    }

    public var code: Code
    /// For people: what could not be done, with which file, and what would be right.
    public var message: String
    /// SQLite's extended result code, where SQLite was the one to refuse.
    public var extendedResultCode: Int32?

    public init(code: Code, message: String, extendedResultCode: Int32? = nil) {
        self.code = code
        self.message = message
        self.extendedResultCode = extendedResultCode
    }

    /// Swift takes a closure of several statements for one that may throw anything: those that take closures say here that
    /// it is a storage error. Another one is a fault in Headroom.
    public init(_ error: any Error) {
        self = error as? StorageError ?? StorageError(code: .misuse, message: "unexpected error: \(error)")
    }

    public var description: String { message }
}

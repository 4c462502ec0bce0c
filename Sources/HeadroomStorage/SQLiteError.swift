import CSQLite

extension StorageError {
    /// The error of SQLite's result code `extended`, with what would be right.
    init(extendedResultCode extended: Int32, detail: String, path: String) {
        let (code, advice) = StorageError.meaning(of: extended)
        let advised = advice.isEmpty ? "" : "; \(advice)"
        self.init(
            code: code, message: "\(path): \(detail) (SQLite code \(extended))\(advised)", extendedResultCode: extended)
    }

    private static func meaning(of extended: Int32) -> (Code, String) {
        // An extended code holds its primary code in the low byte.
        switch extended & 0xFF {
        case SQLITE_CORRUPT:
            (.corrupt, "the file is damaged: restore it from a backup, or move it away and start anew")
        case SQLITE_NOTADB:
            (.notADatabase, "this is not a SQLite database: name another file")
        case SQLITE_BUSY, SQLITE_LOCKED:
            (.busy, "another process holds the database: try again when it has finished")
        case SQLITE_FULL:
            (.full, "free some space on the disk; nothing was half-written")
        case SQLITE_READONLY:
            (.readOnly, "the file and its directory must be writable for the user that runs Headroom")
        case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH:
            (.cannotOpen, "the directory must exist, and it and the file must be readable and writable")
        case SQLITE_IOERR:
            // The file system may report a lack of space where SQLite asked for something else.
            (.inputOutput, "the disk failed: look at the system's log")
        case SQLITE_CONSTRAINT:
            (.constraint, "")
        case SQLITE_NOMEM:
            (.outOfMemory, "")
        default:
            (.misuse, "")
        }
    }
}

import CSQLite
import Glibc
import HeadroomModel

extension StorageError {
    /// The error that `database` had last.
    @unsafe init(database: OpaquePointer, path: String) {
        let detail = unsafe String(cString: sqlite3_errmsg(database))
        var extended = unsafe sqlite3_extended_errcode(database)
        if extended & 0xFF == SQLITE_IOERR {
            // Where SQLite extends a file or its shared memory before writing, it reports a full disk as an I/O error.
            let systemError = unsafe sqlite3_system_errno(database)
            if systemError == ENOSPC || systemError == EDQUOT { extended = SQLITE_FULL }
        }
        self.init(extendedResultCode: extended, detail: detail, path: path)
    }

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
            (.full, "free some space on the disk; the failed transaction was rolled back as a whole")
        case SQLITE_READONLY:
            (.readOnly, "the file and its directory must be writable for the user that runs Headroom")
        case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH:
            (.cannotOpen, "the directory must exist, and it and the file must be readable and writable")
        case SQLITE_IOERR:
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

import Glibc

/// The files of an open database: who may read them, and whether they are still the ones that were opened.
struct DatabaseFiles: Sendable {
    /// The database, its write-ahead log, and the memory that connections share.
    private static let suffixes = ["", "-wal", "-shm"]

    /// Without links: SQLite puts the other two beside the file itself.
    private let path: String
    private let opened: [(path: String, identity: DatabaseLock.Identity)]

    /// Makes an empty database file for its owner only; SQLite gives the others the same permissions. One that is there
    /// stays as it is.
    ///
    /// Exclusively, since a file that is there may be open in this process: see ``DatabaseLock`` on closing.
    static func create(_ path: String) {
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor >= 0 { close(descriptor) }
    }

    /// Of a database that is open, and has been written or read.
    init(path: String) {
        let resolved = unsafe realpath(path, nil)
        defer { unsafe free(resolved) }
        let path = unsafe resolved.map { unsafe String(cString: $0) } ?? path
        self.path = path
        opened = Self.suffixes.compactMap { suffix in
            DatabaseLock.Identity(path: path + suffix).map { (path + suffix, $0) }
        }
    }

    /// Takes away what others than the owner may do with the files. Somebody else's files stay as they are: only their
    /// owner can change that.
    func restrict() {
        for file in opened {
            var status = stat()
            guard unsafe stat(file.path, &status) == 0, status.st_mode & 0o077 != 0 else { continue }
            _ = unsafe chmod(file.path, status.st_mode & 0o700)
        }
    }

    /// A fault of the files under the running service; `nil` while all are in their places.
    var fault: String? {
        let missing = opened.filter { DatabaseLock.Identity(path: $0.path) != $0.identity }.map(\.path)
        guard !missing.isEmpty else { return nil }
        return
            "\(missing.joined(separator: ", ")): removed or replaced while the service runs; what it stores from now "
            + "on is lost at its end. Stop it, put the files of one copy back together, and start it again"
    }
}

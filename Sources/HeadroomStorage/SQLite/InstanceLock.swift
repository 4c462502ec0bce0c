import Glibc

/// Keeps a second service off a database, by a lock on `DATABASE.lock` that the kernel releases however the process
/// ends. Commands that only read or change a few rows work beside a running service and do not take it.
package final class InstanceLock: Sendable {
    private let descriptor: CInt

    package init(databasePath: String) throws(StorageError) {
        let path = databasePath + ".lock"
        descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw StorageError(
                code: errno == EROFS || errno == EACCES ? .readOnly : .cannotOpen,
                message: "\(path): cannot be opened: \(unsafe String(cString: strerror(errno))); "
                    + "the directory must exist and be writable for the user that runs Headroom")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw StorageError(
                code: .instanceRunning,
                message: "\(databasePath): another Headroom serves this database; "
                    + "stop it first, or name another file with --database")
        }
    }

    deinit {
        close(descriptor)
    }
}

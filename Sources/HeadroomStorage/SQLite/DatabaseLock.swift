import Glibc
import HeadroomModel
import Synchronization

/// Keeps a second service off a database, under whatever name that one reaches it. The kernel releases the lock however
/// the process ends. Commands that only read or change a few rows work beside a running service and do not take it.
///
/// It is on the database file itself, so that symbolic and hard links lead to the same lock and there is no lock file
/// that could be removed. It is an open-file-description lock on one byte far behind those that SQLite locks (which lie
/// at 1 GiB): neither sees the other.
///
/// Its descriptor is never closed. Closing any descriptor of a file drops all traditional locks that the process has on
/// that file, and SQLite's are of that kind. Releasing the lock unlocks the byte; a later lock in this process uses the
/// descriptor again.
package final class DatabaseLock: Sendable {
    /// A file, whatever it is called.
    struct Identity: Hashable {
        let device: UInt64
        let inode: UInt64

        init(_ status: stat) {
            device = UInt64(status.st_dev)
            inode = UInt64(status.st_ino)
        }

        /// `nil` when there is no file at `path`.
        init?(path: String) {
            var status = stat()
            guard unsafe stat(path, &status) == 0 else { return nil }
            self.init(status)
        }
    }

    private struct Held {
        let descriptor: CInt
        var isLocked: Bool
    }

    private static let held = Mutex<[Identity: Held]>([:])
    /// Behind every byte that SQLite reads, writes or locks.
    private static let lockedByte = 1 << 62
    /// `F_OFD_SETLK`, which Glibc's module leaves out.
    private static let setOpenFileDescriptionLock: CInt = 37

    let identity: Identity

    /// Makes the file, for its owner only, where there is none.
    package init(databasePath path: String) throws(StorageError) {
        let outcome: Result<Identity, StorageError> = Self.held.withLock { held in
            do throws(StorageError) { return .success(try Self.lock(path, &held)) } catch { return .failure(error) }
        }
        identity = try outcome.get()
    }

    deinit {
        Self.held.withLock { [identity] held in
            guard let descriptor = held[identity]?.descriptor else { return }
            _ = Self.change(descriptor, to: F_UNLCK)
            held[identity]?.isLocked = false
        }
    }

    private static func lock(_ path: String, _ held: inout [Identity: Held]) throws(StorageError) -> Identity {
        let identity: Identity
        if let known = Identity(path: path), held[known] != nil {
            identity = known
        } else {
            let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else {
                throw StorageError(
                    code: errno == EROFS || errno == EACCES ? .readOnly : .cannotOpen,
                    message: "\(path): cannot be opened: \(unsafe String(cString: strerror(errno))); "
                        + "the file and its directory must be writable for the user that runs Headroom")
            }
            var status = stat()
            guard unsafe fstat(descriptor, &status) == 0 else {
                throw StorageError(code: .inputOutput, message: "\(path): cannot be looked at")
            }
            identity = Identity(status)
            held[identity] = Held(descriptor: descriptor, isLocked: false)
        }
        guard let descriptor = held[identity]?.descriptor, held[identity]?.isLocked == false,
            change(descriptor, to: F_WRLCK)
        else {
            throw StorageError(
                code: .instanceRunning,
                message: "\(path): another Headroom serves this database; "
                    + "stop it first, or name another file with --database")
        }
        held[identity]?.isLocked = true
        return identity
    }

    /// Locks a file that is open at `descriptor` until that is closed; false when another process has it.
    static func take(_ descriptor: CInt) -> Bool { change(descriptor, to: F_WRLCK) }

    /// False when another process has it.
    private static func change(_ descriptor: CInt, to kind: CInt) -> Bool {
        var lock = flock()
        lock.l_type = Int16(kind)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = lockedByte
        lock.l_len = 1
        return unsafe fcntl(descriptor, setOpenFileDescriptionLock, &lock) == 0
    }
}

import Glibc
import HeadroomModel

/// A directory with `rules.json5` and, in `pools`, a file for each pool.
package struct PolicyDirectory: Sendable {
    /// As the user wrote it, without a slash at the end.
    package let path: String

    package init(path: String) {
        self.path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    package func load() throws(PolicyError) -> Policy {
        try PolicyLoader.load(files: try marks().map { mark throws(PolicyError) in (mark.path, try read(mark)) })
    }

    /// Each file's bytes, by its path in the directory.
    package func texts() throws(PolicyError) -> [(path: String, bytes: [UInt8])] {
        try marks().map { mark throws(PolicyError) in
            (path: String(mark.path.dropFirst(path.count + 1)), bytes: try read(mark))
        }
    }

    /// The marks by which a changed file is noticed, without reading it.
    package struct FileMark: Equatable, Sendable {
        let path: String
        let size: Int64
        let modifiedNanoseconds: Int64
        /// Of the file's own record: permissions change this one only.
        let changedNanoseconds: Int64
        let inode: UInt64
        let isRegular: Bool
    }

    /// Of every file named `*.json5` or `*.json` here and in `pools`, ascending by path. Names that begin with a dot
    /// are left out: editors' locks, and what Kubernetes puts beside mounted files. Links are followed.
    package func marks() throws(PolicyError) -> [FileMark] {
        var found = try marks(in: path)
        let pools = path + "/pools"
        var status = stat()
        // No folder is no pool, which the loader reports; a folder that cannot be read is another matter.
        let hasPools = unsafe stat(pools, &status) == 0 || errno != ENOENT
        if hasPools { found += try marks(in: pools) }
        guard found.count <= PolicyLoader.maxFileCount else {
            throw PolicyDirectory.unreadable(
                path, "has \(found.count) policy files: at most \(PolicyLoader.maxFileCount)", .outOfRange)
        }
        return found.sorted { $0.path < $1.path }
    }

    private func marks(in folder: String) throws(PolicyError) -> [FileMark] {
        guard let directory = unsafe opendir(folder) else {
            throw PolicyDirectory.unreadable(
                folder,
                "cannot be read: \(PolicyDirectory.systemMessage(errno)) (a directory with rules.json5 and pools/)")
        }
        defer { unsafe closedir(directory) }
        var found: [FileMark] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                // The kernel ends every name with a zero byte, inside the array's 256.
                unsafe tuple.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            guard !name.hasPrefix("."), name.hasSuffix(".json5") || name.hasSuffix(".json") else { continue }
            let path = "\(folder)/\(name)"
            var status = stat()
            guard unsafe stat(path, &status) == 0 else {
                // A link to nothing is a fault; a file that went between the two calls will be seen gone next time.
                throw PolicyDirectory.unreadable(path, "cannot be read: \(PolicyDirectory.systemMessage(errno))")
            }
            found.append(
                FileMark(
                    path: path, size: Int64(status.st_size),
                    modifiedNanoseconds: PolicyDirectory.nanoseconds(status.st_mtim),
                    changedNanoseconds: PolicyDirectory.nanoseconds(status.st_ctim),
                    inode: UInt64(status.st_ino), isRegular: status.st_mode & S_IFMT == S_IFREG))
        }
        return found
    }

    private func read(_ mark: FileMark) throws(PolicyError) -> [UInt8] {
        let path = mark.path
        // A pipe under such a name would block the reader.
        guard mark.isRegular else { throw PolicyDirectory.unreadable(path, "is no regular file") }
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw PolicyDirectory.unreadable(path, "cannot be read: \(PolicyDirectory.systemMessage(errno))")
        }
        defer { close(descriptor) }
        // One byte more than is allowed is enough for the loader to refuse the file.
        let limit = PolicyLoader.maxFileSize + 1
        var failure: Int32 = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            while count < limit {
                let readCount = unsafe Glibc.read(descriptor, buffer.baseAddress! + count, limit - count)
                if readCount < 0, errno == EINTR { continue }
                if readCount < 0 { failure = errno }
                if readCount <= 0 { break }
                count += readCount
            }
        }
        guard failure == 0 else {
            throw PolicyDirectory.unreadable(path, "cannot be read: \(PolicyDirectory.systemMessage(failure))")
        }
        return bytes
    }

    private static func nanoseconds(_ time: timespec) -> Int64 {
        Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }

    private static func unreadable(
        _ path: String, _ message: String, _ code: PolicyFault.Code = .unreadable
    ) -> PolicyError {
        PolicyError([PolicyFault(code, file: path, message)])
    }

    private static func systemMessage(_ code: Int32) -> String {
        unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
    }
}

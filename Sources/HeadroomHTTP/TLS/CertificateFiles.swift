import Glibc

/// The files from which the server's certificate is read; who renews it writes them anew.
package struct CertificateFiles: Sendable, Equatable {
    package let certificate: String
    package let key: String

    package init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }

    /// Much more than any chain has.
    private static let maxBytes = 1 << 20

    func load() throws(HTTPError) -> GnuTLSCertificate {
        try GnuTLSCertificate(certificate: Self.read(certificate), key: Self.read(key), files: self)
    }

    /// Differs when a file was written or replaced.
    var stamp: [Int] {
        [certificate, key].flatMap { path -> [Int] in
            var status = stat()
            guard unsafe stat(path, &status) == 0 else { return [0] }
            return [
                Int(status.st_ino), Int(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
            ]
        }
    }

    /// True when others than the owner and the group may read the key.
    var isKeyOpen: Bool {
        var status = stat()
        return unsafe stat(key, &status) == 0 && status.st_mode & S_IROTH != 0
    }

    private static func read(_ path: String) throws(HTTPError) -> [UInt8] {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable(path) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw unreadable(path) }
            if count == 0 { return bytes }
            bytes += buffer[..<count]
            guard bytes.count <= maxBytes else {
                throw HTTPError(.badCertificate, "\(path): is larger than any certificate or key")
            }
        }
    }

    private static func unreadable(_ path: String) -> HTTPError {
        HTTPError(.badCertificate, "\(path): cannot be read: \(unsafe String(cString: strerror(errno)))")
    }
}

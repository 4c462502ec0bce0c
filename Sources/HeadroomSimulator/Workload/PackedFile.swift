import Foundation
import Glibc

/// A file packed by gzip, as recorded traces are kept.
package enum PackedFile {
    /// The bytes that `path` holds, unpacked.
    package static func read(_ path: String) throws(FileReadingError) -> [UInt8] {
        let gzip = Process()
        gzip.executableURL = URL(filePath: "/usr/bin/env")
        gzip.arguments = ["gzip", "-dc", "--", path]
        let output = Pipe()
        gzip.standardOutput = output
        do { try gzip.run() } catch { throw FileReadingError("\(path): gzip cannot be run: \(error)") }
        let bytes = try output.fileHandleForReading.readAll()
        gzip.waitUntilExit()
        guard gzip.terminationStatus == 0 else { throw FileReadingError("\(path): gzip could not unpack it") }
        return bytes
    }
}

/// Why a file could not be read, for people.
package struct FileReadingError: Error {
    package let message: String

    package init(_ message: String) {
        self.message = message
    }
}

extension FileHandle {
    /// All that is left to read.
    ///
    /// Foundation's own call ends the process when a signal interrupts it, and a child process that ends sends one.
    package func readAll() throws(FileReadingError) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = unsafe Glibc.read(fileDescriptor, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else {
                throw FileReadingError("cannot be read: \(unsafe String(cString: strerror(errno)))")
            }
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
        }
    }
}

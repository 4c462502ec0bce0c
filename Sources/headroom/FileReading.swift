import Foundation
import Glibc

extension FileHandle {
    /// All that is left to read.
    ///
    /// Foundation's own call ends the process when a signal interrupts it, and a child process that ends sends one.
    func readAll() throws(CommandError) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = unsafe Glibc.read(fileDescriptor, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw CommandError("cannot be read: \(unsafe String(cString: strerror(errno)))") }
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
        }
    }
}

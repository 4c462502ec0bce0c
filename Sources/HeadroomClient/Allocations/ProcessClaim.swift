import Foundation
import HeadroomModel
import Synchronization

/// A directory's one process, and the boot under which Headroom last knew it.
///
/// The lock on the file ends with its process, however that ends. So the process that gets it knows that the one before it
/// is dead, and names that one's boot to Headroom, which then does not wait for the end of the dead one's lease.
package final class ProcessClaim: Sendable {
    /// The boot of the process that had the directory before; `nil` where there was none, it had another name at Headroom,
    /// or it lives.
    package let predecessor: String?
    private let gateway: GatewayID
    private let boot: String
    /// `nil` while another process holds the lock.
    private let file: Mutex<FileHandle?>

    package init(directory: URL, gateway: GatewayID, boot: String) throws {
        self.gateway = gateway
        self.boot = boot
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let path = directory.appending(path: "process").path
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CocoaError(.fileWriteUnknown) }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            file = Mutex(nil)
            predecessor = nil
            return
        }
        let known = (try? handle.read(upToCount: Self.maxBytes)) ?? Data()
        let words =
            String(decoding: known, as: UTF8.self).split(separator: "\n", maxSplits: 1).first?
            .split(separator: " ") ?? []
        predecessor = words.count == 2 && words[0] == gateway.text ? String(words[1]) : nil
        file = Mutex(handle)
    }

    private static let maxBytes = 1024

    /// Headroom knows this process: from now on it is the one that a later process succeeds.
    package func note() {
        file.withLock { file in
            guard let file else { return }
            // A full disk costs the next process a wait, and this one nothing.
            try? file.truncate(atOffset: 0)
            try? file.write(contentsOf: Data("\(gateway) \(boot)\n".utf8))
        }
    }
}

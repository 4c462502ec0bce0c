import Foundation
import Glibc
import HeadroomSimulator

/// Real traces, which lie beside the repository and may be absent.
enum RecordedTraces {
    static let directory = URL(filePath: #filePath).appending(path: "../../../../shared/data").standardized

    static var areThere: Bool { FileManager.default.fileExists(atPath: directory.path) }

    /// `name` is below ``directory``, without `.csv.gz`; `nil` when the file is not there.
    static func read(_ name: String, seed: UInt64 = 1) throws -> Trace? {
        let file = directory.appending(path: name + ".csv.gz")
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        let gzip = Process()
        gzip.executableURL = URL(filePath: "/usr/bin/env")
        gzip.arguments = ["gzip", "-dc", "--", file.path]
        let output = Pipe()
        gzip.standardOutput = output
        try gzip.run()
        let bytes = readAll(output.fileHandleForReading)
        gzip.waitUntilExit()
        return try TraceReader.read(bytes, seed: seed)
    }

    /// Foundation's own call ends the process when a signal interrupts it, and a child process that ends sends one.
    private static func readAll(_ file: FileHandle) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = unsafe Glibc.read(file.fileDescriptor, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
        }
    }
}

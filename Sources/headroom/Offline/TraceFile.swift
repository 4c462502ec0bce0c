import Foundation
import HeadroomSimulator

/// Traces on disk.
enum TraceFile {
    /// `-` is standard input; a name that ends in `.gz` is unpacked by gzip.
    static func read(_ path: String, seed: UInt64) throws -> Trace {
        let bytes = path.hasSuffix(".gz") ? try unzip(path) : try Terminal.read(path)
        do {
            return try TraceReader.read(bytes, seed: seed)
        } catch {
            throw CommandError("\(path) is no trace:\n\(error.message)")
        }
    }

    private static func unzip(_ path: String) throws -> [UInt8] {
        let gzip = Process()
        gzip.executableURL = URL(filePath: "/usr/bin/env")
        gzip.arguments = ["gzip", "-dc", "--", path]
        let output = Pipe()
        gzip.standardOutput = output
        try gzip.run()
        let bytes = try output.fileHandleForReading.readAll()
        gzip.waitUntilExit()
        guard gzip.terminationStatus == 0 else { throw CommandError("\(path): gzip could not unpack it") }
        return bytes
    }
}

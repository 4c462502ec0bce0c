import Foundation

/// A directory that goes with the run.
final class BenchmarkDirectory {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "headroom-benchmark-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}

import Foundation

/// Batches of telemetry on disk, a file each, for as long as Headroom is away. It is bounded in bytes.
///
/// A file is named `NUMBER-LINES.ndjson`, so that a directory's listing is all there is to know. One task uses it.
package final class Spool: Sendable {
    private let directory: URL
    private let maxBytes: Int

    package init(directory: URL, maxBytes: Int = 256 << 20) throws {
        self.directory = directory
        self.maxBytes = maxBytes
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    private struct File {
        let url: URL
        let number: Int64
        let lines: Int
        let bytes: Int
    }

    /// Ascending by number. Files that are not ours are left alone.
    private func files() -> [File] {
        let urls = try? FileManager.default.contentsOfDirectory(
            at: directory, includingPropertiesForKeys: [.fileSizeKey])
        return (urls ?? []).compactMap { url in
            let parts = url.deletingPathExtension().lastPathComponent.split(separator: "-")
            guard url.pathExtension == "ndjson", parts.count == 2, let number = Int64(parts[0]),
                let lines = Int(parts[1])
            else { return nil }
            let size = try? url.resourceValues(forKeys: [.fileSizeKey]).fileSize
            return File(url: url, number: number, lines: lines, bytes: size ?? 0)
        }
        .sorted { $0.number < $1.number }
    }

    /// - Returns: lines for which there was no room.
    func add(_ batch: Reporter.Batch) -> Int {
        var dropped = 0
        var files = files()
        var bytes = files.reduce(batch.bytes.count) { $0 + $1.bytes }
        while bytes > maxBytes, !files.isEmpty {
            let oldest = files.removeFirst()
            try? FileManager.default.removeItem(at: oldest.url)
            bytes -= oldest.bytes
            dropped += oldest.lines
        }
        let url = directory.appending(path: "\(batch.number)-\(batch.lines).ndjson")
        do { try Data(batch.bytes).write(to: url, options: .atomic) } catch { dropped += batch.lines }
        return dropped
    }

    func oldest() -> Reporter.Batch? {
        for file in files() {
            if let data = try? Data(contentsOf: file.url) {
                return Reporter.Batch(number: file.number, bytes: Array(data), lines: file.lines)
            }
        }
        return nil
    }

    func remove(_ number: Int64) {
        for file in files() where file.number == number { try? FileManager.default.removeItem(at: file.url) }
    }
}

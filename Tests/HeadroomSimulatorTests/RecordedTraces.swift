import Foundation
import HeadroomSimulator

/// Real traces, which lie beside the repository and may be absent.
enum RecordedTraces {
    static let directory = URL(filePath: #filePath).appending(path: "../../../../shared/data").standardized

    static var areThere: Bool { FileManager.default.fileExists(atPath: directory.path) }

    /// `name` is below ``directory``, without `.csv.gz`; `nil` when the file is not there.
    static func read(_ name: String, seed: UInt64 = 1) throws -> Trace? {
        let file = directory.appending(path: name + ".csv.gz")
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        let bytes = try PackedFile.read(file.path)
        return try TraceReader.read(bytes, seed: seed)
    }
}

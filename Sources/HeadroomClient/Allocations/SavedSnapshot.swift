import Foundation
import HeadroomModel
import HeadroomWire

/// The last good snapshot, on disk: a gateway that starts while Headroom is away begins with its fallback.
struct SavedSnapshot: Sendable {
    private let file: URL
    private var savedAt: Timestamp?

    /// A crash loses no more than that, and the fallback moves slowly.
    private static let periodSeconds = 10.0

    init(directory: URL) throws {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        file = directory.appending(path: "snapshot.json")
    }

    /// `nil` when there is none, or none that can be read.
    func load() -> Snapshot? {
        guard let data = try? Data(contentsOf: file),
            case .whole(let snapshot) = try? SnapshotDecoder.decode(Array(data))
        else { return nil }
        return snapshot
    }

    /// Keeps a part that is enforced; what a reader sees is nobody's. At most every ten seconds.
    mutating func save(_ snapshot: Snapshot, at now: Timestamp) {
        guard snapshot.pools.contains(where: \.enforce) else { return }
        if let savedAt, now.seconds(since: savedAt) < Self.periodSeconds { return }
        savedAt = now
        // A full disk must not end the service that this is a precaution for.
        try? Data(SnapshotEncoder.encode(snapshot)).write(to: file, options: .atomic)
    }
}

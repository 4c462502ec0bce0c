/// About how much memory one part of the service takes.
public struct MemoryShare: Equatable, Sendable {
    /// As in `headroom_memory_bytes{owner="…"}`.
    public var owner: String
    public var bytes: Int

    public init(owner: String, bytes: Int) {
        self.owner = owner
        self.bytes = bytes
    }
}

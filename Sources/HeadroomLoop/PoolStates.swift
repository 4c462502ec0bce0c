import HeadroomModel

/// The envelope of an actor's checkpoint: a version, then the name and the state of each pool. A pool's state is opaque
/// here, so that one which cannot be read costs the others nothing.
enum PoolStates {
    static func bytes(version: UInt32, _ pools: [(pool: PoolID, state: ByteWriter)]) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(version)
        writer.write(pools) { writer, entry in
            writer.write(entry.pool.text)
            writer.write(bytes: entry.state.bytes)
        }
        return writer.bytes
    }

    /// `nil` for bytes of another version, or damaged ones.
    static func read(_ bytes: [UInt8], version: UInt32) -> [PoolID: [UInt8]]? {
        try? read(bytes, version)
    }

    private static func read(_ bytes: [UInt8], _ version: UInt32) throws(ByteCodingError) -> [PoolID: [UInt8]] {
        var reader = ByteReader(bytes)
        guard try reader.read(UInt32.self) == version else { throw .otherVersion }
        var states: [PoolID: [UInt8]] = [:]
        for _ in 0..<(try reader.readCount(leastBytes: 6)) {
            let pool = try reader.readIdentifier(PoolID.self)
            states[pool] = try reader.readBytes()
        }
        return states
    }
}

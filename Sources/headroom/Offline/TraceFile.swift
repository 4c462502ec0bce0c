import HeadroomSimulator

/// Traces on disk.
enum TraceFile {
    /// `-` is standard input; a name that ends in `.gz` is unpacked by gzip.
    static func read(_ path: String, seed: UInt64) throws -> Trace {
        let bytes: [UInt8]
        if path.hasSuffix(".gz") {
            do { bytes = try PackedFile.read(path) } catch { throw CommandError(error.message) }
        } else {
            bytes = try Terminal.read(path)
        }
        do {
            return try TraceReader.read(bytes, seed: seed)
        } catch {
            throw CommandError("\(path) is no trace:\n\(error.message)")
        }
    }
}

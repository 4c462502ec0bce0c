import HeadroomEnforcement
import HeadroomModel

extension FuzzTarget {
    /// The state of a float, as a start reads it from the database. Damaged bytes are refused; what is taken can be used.
    static let checkpoints = FuzzTarget(name: "checkpoints") { bytes in
        let now = Timestamp(milliseconds: 1_793_000_000_000)
        var ledger = FloatLedger(pool: "p", epoch: 1, at: now)
        var reader = ByteReader(bytes)
        guard (try? ledger.restore(from: &reader)) != nil else { return }
        useFloat(&ledger, at: now)
        var writer = ByteWriter()
        ledger.write(to: &writer)
        var again = ByteReader(writer.bytes)
        var other = FloatLedger(pool: "p", epoch: 1, at: now)
        require((try? other.restore(from: &again)) != nil && again.isAtEnd, "written, and cannot be read")
    }
}

import HeadroomModel

/// The part of the float that survives a restart: clocks and floor accounts. Its level it does not keep: what gateways hold and have
/// returned is only known from their next draws, so the float is empty until then.
extension FloatLedger {
    public func write(to writer: inout ByteWriter) {
        time.write(to: &writer)
        writer.write(accounts) { $1.write(to: &$0) }
    }

    /// Before the first ``follow(_:budgets:at:)``, which takes over what is known of the tenants that it names.
    public mutating func restore(from reader: inout ByteReader) throws(ByteCodingError) {
        let time = try VirtualTime(from: &reader)
        let past = try reader.readArray(leastBytes: 42) { (reader) throws(ByteCodingError) in
            try FloatAccount.Past(from: &reader)
        }
        self.past = (time, Dictionary(past.map { ($0.tenant, $0) }, uniquingKeysWith: { first, _ in first }))
    }
}

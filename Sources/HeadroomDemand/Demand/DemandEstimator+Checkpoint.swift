import HeadroomModel

/// A start restores the state as it was and reads the rows since. All sums are then what they would have been; what
/// fades from tick to tick, demand above all, may differ by what the ticks between the checkpoint and the end of the
/// process would have raised it to: at most one half-life of a checkpoint's period.
extension DemandEstimator {
    private static let version: UInt16 = 7

    public func write(to writer: inout ByteWriter) {
        writer.write(DemandEstimator.version)
        writer.write(pool.pool.text)
        writer.write(begun)
        writer.write(untracked.lines)
        writer.write(gateways) { $0.write($1.text) }
        for arrivals in gatewayArrivals { arrivals.write(to: &writer) }
        writer.write(hourlyMeans) { $0.write($1) }
        writer.write(hourlyMeansMinute)
        let written = places.values.sorted { profiles[Int($0)].tenant < profiles[Int($1)].tenant }
        writer.write(written) { writer, place in profiles[Int(place)].write(to: &writer) }
        requests.write(to: &writer)
        denials.write(to: &writer)
        controls.write(to: &writer)
        pieces.write(to: &writer)
        correction.write(to: &writer)
        // Numbers are given out anew, in the order of the names.
        var numbers = [Int32](repeating: 0, count: profiles.count)
        for (number, place) in written.enumerated() { numbers[Int(place)] = Int32(number) }
        tasks.write(to: &writer, numbers: numbers)
    }

    /// Into an estimator of the same pool that has seen nothing.
    public mutating func restore(from reader: inout ByteReader) throws(ByteCodingError) {
        guard try reader.read(UInt16.self) == DemandEstimator.version else { throw .otherVersion }
        guard try reader.readString() == pool.pool.text else { throw .otherVersion }
        begun = try reader.readTimestamp()
        untracked.lines = try reader.read()
        gateways = try reader.readArray(leastBytes: 2) { try $0.readIdentifier() }
        guard gateways.count <= DemandEstimator.maxGateways else { throw .absurdCount }
        gatewayArrivals = []
        for _ in gateways { gatewayArrivals.append(try GatewayArrivals(from: &reader)) }
        hourlyMeans = try reader.readArray(leastBytes: 8) { try $0.readAmount() }
        hourlyMeansMinute = try reader.read()
        gatewayNumbers = Dictionary(
            gateways.indices.map { (gateways[$0], UInt16($0)) }, uniquingKeysWith: { first, _ in first })
        let gatewayCount = gateways.count
        let ringSeconds = ringSeconds
        profiles = try reader.readArray(leastBytes: 500) { reader in
            try TenantProfile(from: &reader, ringSeconds: ringSeconds, gateways: gatewayCount)
        }
        places = Dictionary(
            profiles.indices.map { (profiles[$0].tenant, Int32($0)) }, uniquingKeysWith: { first, _ in first })
        order = []
        for profile in profiles where profile.broughtBy != TenantProfile.nobody {
            guard profile.broughtBy < gateways.count || profile.broughtBy == DemandEstimator.maxGateways else {
                throw .outOfRange
            }
            broughtCounts[Int(profile.broughtBy)] += 1
        }
        try requests.restore(from: &reader)
        denials = try RecentContents(from: &reader)
        controls = try RecentContents(from: &reader)
        pieces = try PieceBook(from: &reader)
        correction = try TokenCorrection(from: &reader)
        tasks = try TaskBook(from: &reader, tenants: profiles.count)
    }
}

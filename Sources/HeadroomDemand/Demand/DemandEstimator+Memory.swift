import HeadroomModel

/// What the tables take, about: their elements, without the allocator's own.
extension DemandEstimator {
    public var memoryBytes: Int {
        profiles.capacity * MemoryLayout<TenantProfile>.stride + profiles.reduce(0) { $0 + $1.listBytes }
            + requests.memoryBytes + denials.memoryBytes + controls.memoryBytes + pieces.memoryBytes
            + rollups.memoryBytes
    }
}

extension TenantProfile {
    /// Of the lists that it holds.
    fileprivate var listBytes: Int {
        flows.reduce(
            flows.capacity * MemoryLayout<Flow>.stride + queues.capacity * MemoryLayout<Queue>.stride
                + arrivals.capacity * MemoryLayout<Arrivals>.stride + waiting.memoryBytes
        ) { $0 + ($1.wanted?.memoryBytes ?? 0) + ($1.served?.memoryBytes ?? 0) }
    }
}

import HeadroomModel

extension UpstreamSignals {
    func write(to writer: inout ByteWriter) {
        whole.write(to: &writer)
        rest.write(to: &writer)
        breaker.write(to: &writer)
        billing.write(to: &writer)
        writer.write(channels) { writer, channel in
            writer.write(channel.model) { $0.write($1) }
            writer.write(channel.endpoint) { $0.write($1) }
            writer.write(channel.since)
            writer.write(channel.lastSeen)
            channel.tally.write(to: &writer)
        }
        writer.write(models) { writer, model in
            writer.write(model.name)
            writer.write(model.version) { $0.write($1) }
            writer.write(model.changedAt) { $0.write($1) }
            model.breaker.write(to: &writer)
        }
    }

    init(from reader: inout ByteReader) throws(ByteCodingError) {
        self.init(at: Timestamp(milliseconds: 0))
        whole = try Tally(from: &reader)
        rest = try Tally(from: &reader)
        breaker = try CircuitBreaker(from: &reader)
        billing = try BillingWatch(from: &reader)
        channels = try reader.readArray { reader in
            Channel(
                model: try reader.readText(), endpoint: try reader.readText(), since: try reader.read(),
                lastSeen: try reader.read(), tally: try Tally(from: &reader))
        }
        models = try reader.readArray { reader in
            Model(
                name: try reader.readString(), version: try reader.readText(),
                changedAt: try reader.readOptional { try $0.readTimestamp() },
                breaker: try CircuitBreaker(from: &reader))
        }
        guard max(channels.count, models.count) <= UpstreamSignals.maxChannels else { throw .absurdCount }
    }
}

extension UpstreamSignals.Channel {
    /// In the order of the bytes.
    fileprivate init(
        model: String?, endpoint: String?, since: Int64, lastSeen: Int64, tally: UpstreamSignals.Tally
    ) {
        self.init(model: model, endpoint: endpoint, tally: tally, since: since, lastSeen: lastSeen)
    }
}

extension UpstreamSignals.Tally {
    fileprivate func write(to writer: inout ByteWriter) {
        outcomes.write(to: &writer)
        latency.write(to: &writer)
    }

    fileprivate init(from reader: inout ByteReader) throws(ByteCodingError) {
        self.init(at: Timestamp(milliseconds: 0))
        outcomes = try OutcomeRing(from: &reader)
        latency = try LatencyHistory(from: &reader)
    }
}

extension ByteReader {
    fileprivate mutating func readText() throws(ByteCodingError) -> String? {
        try readOptional { try $0.readString() }
    }
}

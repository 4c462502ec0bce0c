import HeadroomModel

/// The state as bytes. What is read back is the same to the last bit; rows that come after it are reported later than they
/// were the first time, which moves the reporting delay by the length of the pause and nothing else.
extension CapacityEstimator {
    public func write(to writer: inout ByteWriter) {
        writer.write(policy.nominal)
        writer.write(policy.providerBurstSeconds)
        limits.write(to: &writer)
        delay.write(to: &writer)
        headers.write(to: &writer)
        longWindows.write(to: &writer)
        for other in others { other.write(to: &writer) }
        ramp.write(to: &writer)
        signals.write(to: &writer)
        writer.write(judgedThrough)
        writer.write(open.sorted { $0.key < $1.key }) { writer, entry in
            writer.write(entry.key)
            entry.value.write(to: &writer)
        }
        writer.write(recent) { writer, recent in
            writer.write(recent.second)
            writer.write(Int64(recent.attempts))
            writer.write(Int64(recent.refusals))
        }
        writer.write(meanRequest)
        writer.write(lastExhausted.rawValue)
        for count in calls { writer.write(Int64(count)) }
        writer.write(UInt8(state.rawValue))
        writer.write(held) { $0.write($1) }
        writer.write(isBraked)
    }

    /// - Throws: ``ByteCodingError/otherVersion`` for a pool that has other limits now.
    public init(
        from reader: inout ByteReader, policy: PoolPolicy, settings: CapacityPolicy, breakers: BreakerPolicy,
        at now: Timestamp
    ) throws(ByteCodingError) {
        self.init(policy: policy, settings: settings, breakers: breakers, at: now)
        guard try reader.readRates() == policy.nominal, try reader.readAmount() == policy.providerBurstSeconds else {
            throw .otherVersion
        }
        try limits.read(from: &reader)
        delay = try ReportingDelay(from: &reader)
        headers = try HeaderLimits(from: &reader)
        longWindows = try LongWindowLimits(from: &reader)
        for lane in others.indices { others[lane] = try OtherConsumers(from: &reader) }
        ramp = try RampLimit(from: &reader)
        signals = try UpstreamSignals(from: &reader)
        judgedThrough = try reader.read()
        for _ in 0..<(try reader.readCount(leastBytes: 46)) {
            let second = try reader.read(Int64.self)
            open[second] = try Second(from: &reader)
        }
        recent = try reader.readArray(leastBytes: 24) { reader in
            Recent(
                second: try reader.read(), attempts: try reader.readWhole(), refusals: try reader.readWhole())
        }
        meanRequest = try reader.readWork()
        lastExhausted = ResourceSet(rawValue: try reader.read(UInt8.self) & 15)
        for index in calls.indices { calls[index] = try reader.readWhole() }
        guard let state = PoolState(rawValue: Int(try reader.read(UInt8.self))) else { throw .outOfRange }
        self.state = state
        held = try reader.readOptional { try $0.readRates() }
        guard held == nil || held?.resources == policy.nominal.resources else { throw .outOfRange }
        isBraked = try reader.readBool()
        guard abs(judgedThrough - now.second) < 1 << 40 else { throw .outOfRange }
    }
}

extension CapacityEstimator.Second {
    fileprivate func write(to writer: inout ByteWriter) {
        writer.write(moments) { $1.write(to: &$0) }
        for count in [attempts, refusals, overloads] { writer.write(Int64(count)) }
        writer.write(workWaits)
        writer.write(otherExhausted.rawValue)
        writer.write(samples.sorted { $0.key < $1.key }) { writer, entry in
            writer.write(UInt8(entry.key.rawValue))
            entry.value.write(to: &writer)
        }
    }

    fileprivate init(from reader: inout ByteReader) throws(ByteCodingError) {
        moments = try reader.readArray(leastBytes: 105) { reader in try Moment(from: &reader) }
        attempts = try reader.readWhole()
        refusals = try reader.readWhole()
        overloads = try reader.readWhole()
        workWaits = try reader.readBool()
        otherExhausted = ResourceSet(rawValue: try reader.read(UInt8.self) & 15)
        for _ in 0..<(try reader.readCount(leastBytes: 33)) {
            guard let resource = Resource(rawValue: Int(try reader.read(UInt8.self))) else { throw .outOfRange }
            samples[resource] = try OtherConsumers.Sample(from: &reader)
        }
    }
}

extension CapacityEstimator.Second.Moment {
    fileprivate func write(to writer: inout ByteWriter) {
        writer.write(UInt8(tenth))
        writer.write(delivered)
        writer.write(charged)
        writer.write(largest)
        writer.write(failures) { writer, failure in
            writer.write(failure.request)
            writer.write(failure.size)
            writer.write(UInt8(failure.outcome.rawValue))
            writer.write(failure.exhausted.rawValue)
            writer.write(failure.isAnswered)
        }
    }

    fileprivate init(from reader: inout ByteReader) throws(ByteCodingError) {
        tenth = Int(try reader.read(UInt8.self))
        guard tenth < BucketBank.tenths else { throw .outOfRange }
        delivered = try reader.readWork()
        charged = try reader.readWork()
        largest = try reader.readWork()
        failures = try reader.readArray(leastBytes: 43) { reader in
            let (request, size) = (try reader.read(UInt64.self), try reader.readWork())
            guard let outcome = Outcome(rawValue: Int(try reader.read(UInt8.self))) else {
                throw ByteCodingError.outOfRange
            }
            return CapacityEstimator.Second.Failure(
                request: request, size: size, outcome: outcome,
                exhausted: ResourceSet(rawValue: try reader.read(UInt8.self) & 15),
                isAnswered: try reader.readBool())
        }
    }
}

extension OtherConsumers.Sample {
    func write(to writer: inout ByteWriter) {
        writer.write(at)
        for amount in [limit, remaining, resetSeconds] { writer.write(amount) }
    }

    init(from reader: inout ByteReader) throws(ByteCodingError) {
        self.init(
            at: try reader.readTimestamp(), limit: try reader.readAmount(), remaining: try reader.readAmount(),
            resetSeconds: try reader.readAmount())
    }
}

extension ReportingDelay {
    fileprivate func write(to writer: inout ByteWriter) {
        writer.write(at)
        for amount in reported { writer.write(amount) }
    }

    fileprivate init(from reader: inout ByteReader) throws(ByteCodingError) {
        self.init(at: try reader.readTimestamp())
        for index in reported.indices { reported[index] = try reader.readAmount() }
    }
}

extension LimitEstimator {
    fileprivate func write(to writer: inout ByteWriter) {
        writer.write(limits)
        for weight in weights { writer.write(weight) }
        for meter in meters { meter.write(to: &writer) }
        writer.write(use)
        writer.write(waiting)
        writer.write(overloadShare)
    }

    /// The limits first, which start it over; then what is believed of them.
    fileprivate mutating func read(from reader: inout ByteReader) throws(ByteCodingError) {
        let limits = try reader.readRates()
        guard limits.resources == self.limits.resources,
            limits.resources.members.allSatisfy({ (limits[$0] ?? 0) > 0 })
        else { throw .outOfRange }
        self.limits = limits
        for index in weights.indices { weights[index] = try reader.readAmount() }
        guard abs(weights.reduce(0, +) - 1) < 1e-6 else { throw .outOfRange }
        for index in meters.indices { try meters[index].read(from: &reader) }
        use = try reader.readAmount()
        waiting = try reader.readAmount()
        overloadShare = try reader.readAmount()
        guard use <= LimitEstimator.maxUse, waiting <= 1, overloadShare <= 1 else { throw .outOfRange }
    }
}

extension MeteredLimits {
    fileprivate func write(to writer: inout ByteWriter) {
        writer.write(accounts) { $1.write(to: &$0) }
    }

    fileprivate mutating func read(from reader: inout ByteReader) throws(ByteCodingError) {
        let fresh = accounts[0]
        accounts = try reader.readArray(leastBytes: 16) { reader in
            var account = fresh
            try account.read(from: &reader)
            return account
        }
        guard (1...maxAccounts).contains(accounts.count),
            abs(accounts.reduce(0) { $0 + $1.weight } - 1) < 1e-6
        else { throw .outOfRange }
    }
}

extension LimitAccount {
    fileprivate func write(to writer: inout ByteWriter) {
        writer.write(weight)
        for lane in banks.indices {
            guard let bank = banks[lane] else { continue }
            for level in bank.levels { writer.write(level) }
            for amount in bank.delivered { writer.write(amount) }
            writer.write(bank.second) { $0.write($1) }
            for part in apart[lane].probabilities { writer.write(part) }
        }
        for part in together.probabilities { writer.write(part) }
        writer.write(weightTogether)
    }

    fileprivate mutating func read(from reader: inout ByteReader) throws(ByteCodingError) {
        weight = try reader.readAmount()
        for lane in banks.indices {
            guard var bank = banks[lane] else { continue }
            for h in bank.levels.indices {
                bank.levels[h] = try reader.readDouble()
                guard bank.levels[h].isFinite else { throw .outOfRange }
            }
            for place in bank.delivered.indices { bank.delivered[place] = try reader.readAmount() }
            bank.second = try reader.readOptional { try $0.read() }
            guard abs(bank.second ?? 0) < 1 << 40 else { throw .outOfRange }
            banks[lane] = bank
            apart[lane] = try LimitBelief(from: &reader)
        }
        together = try LimitBelief(from: &reader)
        weightTogether = try reader.readAmount()
        guard weight > 0, weightTogether > 0, weightTogether < 1 else { throw .outOfRange }
    }
}

extension LimitBelief {
    fileprivate init(from reader: inout ByteReader) throws(ByteCodingError) {
        self.init()
        for h in probabilities.indices { probabilities[h] = try reader.readAmount() }
        guard abs(probabilities.reduce(0, +) - 1) < 1e-6 else { throw .outOfRange }
    }
}

extension ByteReader {
    /// A count, stored as 64 bits; not below 0.
    fileprivate mutating func readWhole() throws(ByteCodingError) -> Int {
        let count = try read(Int64.self)
        guard count >= 0 else { throw .outOfRange }
        return Int(count)
    }
}

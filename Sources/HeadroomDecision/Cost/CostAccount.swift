import HeadroomModel

/// One subject of the cost breaker: what it spends, and how far it is held back.
struct CostAccount: Equatable, Sendable {
    var meter: SpendMeter
    /// Of a kind of task.
    var tasks: TaskMeter?
    var state = CostBreak.State.free
    var since: Timestamp
    var due: Timestamp?
    /// The ceiling when it was paused: a higher one lets it go on.
    var pausedCeiling = 0.0
    /// What it may spend in a minute while it is slowed: the same for a minute, so that limits stand still within it.
    var allowance: (minute: Int64, micros: Double)?

    init(meter: SpendMeter, tasks: TaskMeter?, since: Timestamp) {
        self.meter = meter
        self.tasks = tasks
        self.since = since
    }

    static func == (left: CostAccount, right: CostAccount) -> Bool {
        left.meter == right.meter && left.tasks == right.tasks && left.state == right.state
            && left.since == right.since && left.due == right.due && left.pausedCeiling == right.pausedCeiling
            && left.allowance?.minute == right.allowance?.minute && left.allowance?.micros == right.allowance?.micros
    }
}

extension CostAccount {
    /// Moves the state on, and says how the subject stands.
    mutating func step(
        _ subject: CostSubject, ceiling: Double, lift: Int64?, _ policy: CostBreakerPolicy, _ rules: Rules,
        at now: Timestamp
    ) -> CostBreak {
        let window = policy.window(around: now)
        if window.lowerBound > meter.windowStart {
            meter.begin(window.lowerBound)
            // Its money is there again, its appetite may be too.
            if state >= .pausing { enter(.slowed, at: now) }
        }
        let oldest = now.adding(seconds: -policy.rateSeconds)
        meter.forget(before: oldest)
        tasks?.settle(since: oldest, at: now)
        // What it spent before it was held says nothing of what it spends held.
        let measured = max(oldest, state >= .slowed ? since : oldest)
        let rate = meter.rate(since: measured, at: now)
        let fanOut = tasks?.fanOut(overSeconds: policy.rateSeconds)
        let minutesLeft = max(1, window.upperBound.seconds(since: now) / 60)
        var stands = CostBreak(
            subject: subject, since: since, currency: policy.currency, ceiling: ceiling, spent: meter.spent,
            until: window.upperBound, fanOut: fanOut?.facts, lift: lift)
        // Tasks that have begun will spend, also where they have not yet. Held back, they do not.
        stands.perMinute = max(rate.perMinute, state < .slowed ? fanOut?.microsPerMinute ?? 0 : 0)
        stands.project(rate, overMinutes: minutesLeft)
        if lift == nil {
            move(stands, isKnown: rate.isKnown, policy, at: now)
        } else if state != .free {
            enter(.free, at: now)
        }
        (stands.state, stands.since, stands.due) = (state, since, due)
        if state.isHeld { stands.limits = limits(subject, stands, overMinutes: minutesLeft, policy, rules, at: now) }
        return stands
    }

    private mutating func enter(_ new: CostBreak.State, due: Timestamp? = nil, at now: Timestamp) {
        state = new
        since = now
        self.due = due
        allowance = nil
    }

    /// - Parameter isKnown: there is evidence enough for a projection.
    private mutating func move(
        _ stands: CostBreak, isKnown: Bool, _ policy: CostBreakerPolicy, at now: Timestamp
    ) {
        let isSpent = stands.spent >= stands.ceiling
        let crosses = isSpent || (isKnown && stands.projected > stands.ceiling)
        switch state {
        case .free:
            if crosses { enter(.slowing, due: now.adding(seconds: policy.noticeSeconds), at: now) }
        case .slowing:
            if !crosses {
                enter(.free, at: now)
            } else if let due, now >= due {
                enter(.slowed, at: now)
            }
        case .slowed, .pausing:
            let hasSettled = now.seconds(since: since) >= policy.noticeSeconds
            // Held back and still sure to cross it: gateways do not hold it, or it has no money left.
            if isSpent || (isKnown && hasSettled && stands.projectedLeast > stands.ceiling) {
                if state == .slowed {
                    // It stays slowed since it was.
                    (state, due) = (.pausing, now.adding(seconds: policy.noticeSeconds))
                } else if let due, now >= due {
                    enter(.paused, at: now)
                    pausedCeiling = stands.ceiling
                }
            } else if state == .pausing {
                (state, due) = (.slowed, nil)
            } else if hasSettled, isKnown, stands.projected < policy.resumeShare * stands.ceiling {
                enter(.free, at: now)
            }
        case .paused:
            if stands.ceiling > pausedCeiling { enter(.slowed, at: now) }
        }
    }

    private mutating func limits(
        _ subject: CostSubject, _ stands: CostBreak, overMinutes minutesLeft: Double, _ policy: CostBreakerPolicy,
        _ rules: Rules, at now: Timestamp
    ) -> [CostBreak.Limit] {
        let mix = meter.requestsPerMicro
        if state == .paused {
            // Wherever it would spend.
            let contract = subject.tenant.flatMap { rules.contracts[$0]?.cost }
            let pools = rules.policy.pools.filter { pool in
                !pool.prices.isEmpty || contract?.price(in: pool.pool) != nil || mix.contains { $0.pool == pool.pool }
            }
            return pools.map { CostBreak.Limit(pool: $0.pool, requestsPerMinute: 0) }
        }
        if allowance?.minute != now.minute {
            let affordable = max(0, stands.ceiling - stands.spent) / minutesLeft
            allowance = (now.minute, policy.slowShare * affordable)
        }
        let micros = allowance?.micros ?? 0
        return mix.filter { $0.requests > 0 }.map {
            // A hundredth of a request a minute: snapshots are not published for less.
            CostBreak.Limit(pool: $0.pool, requestsPerMinute: (micros * $0.requests * 100).rounded() / 100)
        }
    }
}

extension CostBreak {
    /// Minutes go on as those that were measured: mean and interval of their sum. Without evidence nothing is added.
    fileprivate mutating func project(_ rate: SpendMeter.Rate, overMinutes minutes: Double) {
        let slices = minutes * 60 / SpendMeter.sliceSeconds
        let more = perMinute * minutes
        projected = spent + more
        guard rate.isKnown else {
            (projected, projectedLeast, projectedMost) = (spent, spent, spent)
            return
        }
        // The slices to come waver, and the mean is only as sure as it was measured.
        // Two standard deviations to either side: 19 times in 20.
        let spread = 2 * rate.deviation * (slices + slices * slices / rate.slices).squareRoot()
        projectedLeast = spent + max(0, more - spread)
        projectedMost = projected + spread
    }
}

// MARK: Checkpoint

extension CostAccount {
    func write(to writer: inout ByteWriter) {
        meter.write(to: &writer)
        writer.write(tasks) { $1.write(to: &$0) }
        writer.write(UInt8(state.rawValue))
        writer.write(since)
        writer.write(due) { $0.write($1) }
        writer.write(pausedCeiling)
        writer.write(allowance) { writer, allowance in
            writer.write(allowance.minute)
            writer.write(allowance.micros)
        }
    }

    init(from reader: inout ByteReader) throws(ByteCodingError) {
        meter = try SpendMeter(from: &reader)
        tasks = try reader.readOptional { reader in try TaskMeter(from: &reader) }
        guard let state = CostBreak.State(rawValue: Int(try reader.read(UInt8.self))) else { throw .outOfRange }
        self.state = state
        since = try reader.readTimestamp()
        due = try reader.readOptional { try $0.readTimestamp() }
        pausedCeiling = try reader.readAmount()
        allowance = try reader.readOptional { reader in
            (minute: try reader.read(Int64.self), micros: try reader.readAmount())
        }
    }
}

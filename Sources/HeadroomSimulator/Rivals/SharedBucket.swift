import HeadroomModel

/// What teams have: one bucket for everybody, filled at the contract's rates, as a limiter on Redis keeps it. A call that
/// finds too little in it is turned away, and its client tries again (``ClientRetries``).
///
/// Tokens count by the estimate when a call goes, and by its cost when it has ended. The bucket knows no tenants, and
/// nothing of what the provider really grants.
package struct SharedBucket: CallAdmitter {
    /// As much as passes at once; no more than providers let pass.
    private static let burstSeconds = 6.0

    private var bucket = Buckets(full: .none, burstSeconds: 0)
    private var filledAt: Timestamp?

    package init() {}

    package mutating func begin(capacity: Rates, tiers: [TierPolicy]) {
        bucket = Buckets(full: capacity, burstSeconds: SharedBucket.burstSeconds)
    }

    package mutating func admits(tenant: TenantID, tier: String, estimate: Work, at now: Timestamp) -> Bool {
        bucket.refill(
            max(0, now.seconds(since: filledAt ?? now)), at: bucket.rates, burstSeconds: SharedBucket.burstSeconds)
        filledAt = now
        // A call larger than the whole bucket goes when that is full.
        let isEnough = bucket.rates.resources.members.allSatisfy {
            bucket.level[$0] >= min(estimate[$0], bucket.size[$0])
        }
        if isEnough { bucket.charge(estimate) }
        return isEnough
    }

    package mutating func settle(tenant: TenantID, tier: String, estimate: Work, actual: Work, at now: Timestamp) {
        bucket.charge(actual - estimate)
    }
}

/// How a client tries again what was refused: by itself a few times, as its library does, and then from the beginning, as
/// the program around it does that wants its answer.
package struct ClientRetries: Equatable, Sendable {
    /// Of the library, after the first attempt.
    package var maxRetries: Int
    package var firstSeconds: Double
    package var mostSeconds: Double
    /// The part of a wait that is drawn.
    package var jitter: Double
    /// Between the library's error and the program's next call.
    package var pauseSeconds: Double

    /// OpenAI's Python library: two retries after half a second, doubled each time up to eight, up to a quarter less by
    /// chance, or after what the provider says when that is at most a minute (openai-python `_base_client.py`,
    /// `_calculate_retry_timeout`); Anthropic's does the same. Here the longer of the two counts: a provider that says a
    /// few milliseconds would be called thousands of times a second.
    package static let openAI = ClientRetries(
        maxRetries: 2, firstSeconds: 0.5, mostSeconds: 8, jitter: 0.25, pauseSeconds: 1)

    private static let longestTold = 60.0

    package init(
        maxRetries: Int, firstSeconds: Double, mostSeconds: Double, jitter: Double, pauseSeconds: Double
    ) {
        self.maxRetries = maxRetries
        self.firstSeconds = firstSeconds
        self.mostSeconds = mostSeconds
        self.jitter = jitter
        self.pauseSeconds = pauseSeconds
    }

    /// Until the next attempt, after so many retries of the library. `told` is what the provider said; `jitter` is drawn
    /// from 0 to 1.
    package func seconds(afterRetries retries: Int, told: Double?, jitter drawn: Double) -> Double {
        guard retries < maxRetries else { return pauseSeconds }
        var wait = firstSeconds
        for _ in 0..<retries where wait < mostSeconds { wait *= 2 }
        let backoff = min(wait, mostSeconds) * (1 - jitter * drawn)
        guard let told, told <= ClientRetries.longestTold else { return backoff }
        return max(told, backoff)
    }
}

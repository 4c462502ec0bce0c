import HeadroomModel

/// An LLM provider that enforces limits per minute and answers like OpenAI.
///
/// A call is charged when it begins, tokens as input + output where the contract limits their sum. What it really grants may
/// change without a word: ``Settings/capacity``; and others may live on the same account: ``Settings/others``.
package struct ProviderModel: Sendable {
    package struct Settings: Sendable {
        package var model: String
        /// Per minute, as the contract says.
        package var nominal: Rates
        package var metering = Metering.refill
        /// Seconds of its limit that pass at once, where it refills; windows let pass all of a minute's.
        package var burstSeconds = 6.0
        /// The granted capacity, as a part of nominal: each from its second on, ascending; 1 before the first.
        package var capacity: [(fromSecond: Double, factor: Double)] = []
        /// The other consumers' part of that account: each from its second on, ascending; 0 before
        /// the first. Nobody tells but `remaining`: the headers' limit is the account's.
        package var others: [(fromSecond: Double, share: Double)] = []
        package var headers = Headers.nominal
        /// A refused attempt costs a request.
        package var countsRefused = false
        package var overloads: [Overload] = []
        package var latency = Latency()

        package init(model: String, nominal: Rates) {
            self.model = model
            self.nominal = nominal
        }
    }

    /// How use is held against a limit per minute.
    package enum Metering: String, CaseIterable, Sendable {
        /// Token buckets that refill all the time.
        case refill
        /// Use of the clock's present minute.
        case fixedWindow = "fixed_window"
        /// Use of the last sixty seconds.
        case slidingWindow = "sliding_window"
    }

    /// The content of the rate limit headers.
    package enum Headers: Sendable {
        /// The contract's limits, whatever is really granted.
        case nominal
        case truthful
        case absent
    }

    /// For some time a part of all calls is answered with 529, whatever the quota says.
    package struct Overload: Sendable {
        package var seconds: Range<Double>
        package var share: Double

        package init(seconds: Range<Double>, share: Double) {
            self.seconds = seconds
            self.share = share
        }
    }

    /// Time to the first token, and for each; ten times as fast as real models, so that calls end within a demo.
    package struct Latency: Sendable {
        package var base = 0.15
        package var perInputToken = 0.00002
        package var perOutputToken = 0.001
        /// Longest answer of an idle provider.
        package var most = 2.0
        /// How much longer a call takes when the provider is as busy as it may get.
        package var riseWhenFull = 1.0
        /// Deviation of its logarithm.
        package var spread = 0.2

        /// Of an idle provider.
        package func idle(inputTokens: Int64, outputTokens: Int64) -> Double {
            min(most, base + perInputToken * Double(inputTokens) + perOutputToken * Double(outputTokens))
        }
    }

    /// May change while it runs: what it grants, what its headers say, and its latency. The size of its contract stays.
    package var settings: Settings
    private let start: Timestamp
    private var generator: SeededGenerator
    private var last: Timestamp
    /// The meter that decides.
    private var granted: QuotaMeter
    /// The meter behind nominal headers: as if the contract's limits were in force.
    private var advertised: QuotaMeter
    /// How busy its machines are, however it meters: empty when calls come as fast as it can serve them.
    private var machines: Buckets
    private var answers = 0

    package init(settings: Settings, start: Timestamp, generator: SeededGenerator) {
        self.settings = settings
        self.start = start
        self.generator = generator
        last = start
        granted = QuotaMeter(
            settings.metering, full: settings.nominal, burstSeconds: settings.burstSeconds, at: start)
        advertised = granted
        machines = Buckets(full: settings.nominal, burstSeconds: settings.burstSeconds)
    }

    /// The capacity granted to us, per minute: the limit less the others' part.
    package func capacity(at now: Timestamp) -> Rates { limit(at: now) * (1 - othersShare(at: now)) }

    private func limit(at now: Timestamp) -> Rates {
        let seconds = now.seconds(since: start)
        return settings.nominal * (settings.capacity.last { $0.fromSecond <= seconds }?.factor ?? 1)
    }

    private func othersShare(at now: Timestamp) -> Double {
        let seconds = now.seconds(since: start)
        return settings.others.last { $0.fromSecond <= seconds }?.share ?? 0
    }

    package mutating func answer(inputTokens: Int64, outputTokens: Int64, now: Timestamp) -> ProviderAnswer {
        refill(now)
        answers += 1
        let cost = Work(
            requests: 1, tokens: Double(inputTokens + outputTokens), inputTokens: Double(inputTokens),
            outputTokens: Double(outputTokens))
        if isOverloaded(now) { return finish(.overloaded, cost, seconds: 0.05) }
        if let short = granted.resourceShort(of: cost) {
            if settings.countsRefused { granted.chargeRefused() }
            return finish(.refused(short), cost, seconds: 0.01)
        }
        let seconds = latency(inputTokens, outputTokens)
        granted.charge(cost)
        advertised.charge(cost)
        machines.charge(cost)
        return finish(.served, cost, seconds: seconds, usage: (inputTokens, outputTokens))
    }

    /// Calls come much more often than capacity changes: the time between two counts at the present rate.
    private mutating func refill(_ now: Timestamp) {
        let seconds = max(0, now.seconds(since: last))
        last = max(last, now)
        let burst = settings.burstSeconds
        let ours = capacity(at: now)
        granted.advance(to: now, seconds: seconds, at: ours, burstSeconds: burst)
        advertised.advance(
            to: now, seconds: seconds, at: settings.nominal * (1 - othersShare(at: now)), burstSeconds: burst)
        machines.refill(seconds, at: ours, burstSeconds: burst)
    }

    private mutating func isOverloaded(_ now: Timestamp) -> Bool {
        let seconds = now.seconds(since: start)
        guard let overload = settings.overloads.first(where: { $0.seconds.contains(seconds) }) else { return false }
        return generator.drawUniform() < overload.share
    }

    private mutating func latency(_ inputTokens: Int64, _ outputTokens: Int64) -> Double {
        let latency = settings.latency
        let idle = latency.idle(inputTokens: inputTokens, outputTokens: outputTokens)
        let load = 1 + latency.riseWhenFull * (1 - machines.leastFilled)
        return idle * load * exponential(latency.spread * generator.drawNormal())
    }

    private func finish(
        _ verdict: ProviderAnswer.Verdict, _ cost: Work, seconds: Double, usage: (Int64, Int64)? = nil
    ) -> ProviderAnswer {
        let shown: (meter: QuotaMeter, limit: Rates)? =
            switch settings.headers {
            case .nominal: (advertised, settings.nominal)
            case .truthful: (granted, limit(at: last))
            case .absent: nil
            }
        return ProviderAnswer(
            verdict, model: settings.model, number: answers, at: last, latencySeconds: seconds, cost: cost,
            usage: usage, shown: shown, wait: granted.secondsUntil(cost))
    }
}

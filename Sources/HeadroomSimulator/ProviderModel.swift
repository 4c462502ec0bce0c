import HeadroomModel

/// An LLM provider that enforces RPM and TPM, each by a token bucket with continuous refill, and answers like OpenAI.
///
/// A call is charged when it begins, in counted tokens (input + output). What it really grants may change without a
/// word: ``Settings/capacity``.
package struct ProviderModel: Sendable {
    package struct Settings: Sendable {
        package var model: String
        /// Requests and tokens per minute, as the contract says.
        package var nominal: Rates
        /// Seconds of its limit that pass at once.
        package var burstSeconds = 6.0
        /// What is really granted, as a part of nominal: each from its second on, ascending; 1 before the first.
        package var capacity: [(fromSecond: Double, factor: Double)] = []
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

    /// What the rate limit headers tell.
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
        /// How much longer a call takes when the buckets are empty.
        package var riseWhenFull = 1.0
        /// Deviation of its logarithm.
        package var spread = 0.2
    }

    package let settings: Settings
    private let start: Timestamp
    private var generator: SeededGenerator
    private var last: Timestamp
    /// What decides.
    private var granted: Buckets
    /// What the nominal headers tell: as if the contract's limits were in force.
    private var advertised: Buckets
    private var answers = 0

    package init(settings: Settings, start: Timestamp, generator: SeededGenerator) {
        self.settings = settings
        self.start = start
        self.generator = generator
        last = start
        granted = Buckets(full: settings.nominal, burstSeconds: settings.burstSeconds)
        advertised = granted
    }

    /// What is really granted, per minute.
    package func capacity(at now: Timestamp) -> Rates {
        let seconds = now.seconds(since: start)
        return settings.nominal * (settings.capacity.last { $0.fromSecond <= seconds }?.factor ?? 1)
    }

    package mutating func answer(inputTokens: Int64, outputTokens: Int64, now: Timestamp) -> ProviderAnswer {
        refill(now)
        answers += 1
        let cost = Work(requests: 1, tokens: Double(inputTokens + outputTokens))
        if isOverloaded(now) { return finish(.overloaded, cost, seconds: 0.05) }
        if let short = granted.resourceShort(of: cost) {
            if settings.countsRefused { granted.chargeRefused() }
            return finish(.refused(short), cost, seconds: 0.01)
        }
        let seconds = latency(inputTokens, outputTokens)
        granted.charge(cost)
        advertised.charge(cost)
        return finish(.served, cost, seconds: seconds, usage: (inputTokens, outputTokens))
    }

    /// Calls come much more often than capacity changes: the time between two counts at the present rate.
    private mutating func refill(_ now: Timestamp) {
        let seconds = max(0, now.seconds(since: last))
        last = max(last, now)
        granted.refill(seconds, at: capacity(at: now), burstSeconds: settings.burstSeconds)
        advertised.refill(seconds, at: settings.nominal, burstSeconds: settings.burstSeconds)
    }

    private mutating func isOverloaded(_ now: Timestamp) -> Bool {
        let seconds = now.seconds(since: start)
        guard let overload = settings.overloads.first(where: { $0.seconds.contains(seconds) }) else { return false }
        return generator.drawUniform() < overload.share
    }

    private mutating func latency(_ inputTokens: Int64, _ outputTokens: Int64) -> Double {
        let latency = settings.latency
        let idle =
            latency.base + latency.perInputToken * Double(inputTokens) + latency.perOutputToken * Double(outputTokens)
        let load = 1 + latency.riseWhenFull * (1 - granted.leastFilled)
        return min(idle, latency.most) * load * exponential(latency.spread * generator.drawNormal())
    }

    private func finish(
        _ verdict: ProviderAnswer.Verdict, _ cost: Work, seconds: Double, usage: (Int64, Int64)? = nil
    ) -> ProviderAnswer {
        let shown =
            switch settings.headers {
            case .nominal: advertised
            case .truthful: granted
            case .absent: Buckets?.none
            }
        return ProviderAnswer(
            verdict, model: settings.model, number: answers, at: last, latencySeconds: seconds, cost: cost,
            usage: usage, limits: shown, wait: granted.secondsUntil(cost))
    }
}

/// One token bucket for requests, one for tokens.
struct Buckets: Sendable {
    /// Per minute.
    private(set) var rates: Rates
    private(set) var level: Work
    private var size: Work

    init(full rates: Rates, burstSeconds: Double) {
        self.rates = rates
        size = rates.work(overSeconds: burstSeconds)
        level = size
    }

    mutating func refill(_ seconds: Double, at rates: Rates, burstSeconds: Double) {
        self.rates = rates
        size = rates.work(overSeconds: burstSeconds)
        let refilled = level + rates.work(overSeconds: seconds)
        level.amounts = refilled.amounts.replacing(with: size.amounts, where: refilled.amounts .> size.amounts)
    }

    /// The resource for want of which `cost` cannot pass. A call larger than a whole bucket passes when it is full.
    func resourceShort(of cost: Work) -> Resource? {
        rates.resources.members.first { level[$0] < min(cost[$0], size[$0]) }
    }

    mutating func charge(_ cost: Work) { level -= cost }

    /// One request, down to an empty bucket's worth of debt.
    mutating func chargeRefused() {
        level[.requests] = max(level[.requests] - 1, -size[.requests])
    }

    /// Until `cost` passes if nothing else comes.
    func secondsUntil(_ cost: Work) -> Double {
        rates.resources.members.reduce(0) { longest, resource in
            let missing = min(cost[resource], size[resource]) - level[resource]
            guard let rate = rates[resource], rate > 0, missing > 0 else { return longest }
            return max(longest, missing * 60 / rate)
        }
    }

    /// Until the bucket is full.
    func secondsUntilFull(_ resource: Resource) -> Double {
        guard let rate = rates[resource], rate > 0 else { return 0 }
        return (size[resource] - level[resource]) * 60 / rate
    }

    /// How full the emptier one is, 0 to 1.
    var leastFilled: Double {
        rates.resources.members.reduce(1) { least, resource in
            size[resource] > 0 ? min(least, max(0, level[resource] / size[resource])) : least
        }
    }
}

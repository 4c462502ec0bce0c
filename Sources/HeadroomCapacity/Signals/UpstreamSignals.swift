import HeadroomModel

/// What a pool's calls say of its upstream besides its limits: outcomes, latency and breakers, of the whole and by
/// model × endpoint.
///
/// Names are interned: a call finds its channel by comparing with the one before it, so that folding it costs no
/// dictionary of strings. A channel takes up to 8 KB, at most ``maxChannels`` and the rest's are kept.
struct UpstreamSignals: Sendable {
    static let maxChannels = 16
    /// A channel not heard of for so long gives way to a new one when the table is full.
    private static let idleSeconds: Int64 = 3600
    /// A dated model name seen for the first time is news only if its family was known for so long before.
    private static let familiarSeconds: Int64 = 60

    struct Tally: Equatable, Sendable {
        var outcomes: OutcomeRing
        var latency: LatencyHistory

        init(at now: Timestamp) {
            outcomes = OutcomeRing(endingAt: now.second)
            latency = LatencyHistory(at: now)
        }

        func signals(at now: Timestamp) -> UpstreamReport.Signals {
            outcomes.sum(ofSeconds: OutcomeRing.seconds, endingAt: now.second).signals(latency: latency.report)
        }
    }

    struct Channel: Equatable, Sendable {
        let model: String?
        let endpoint: String?
        var tally: Tally
        let since: Int64
        var lastSeen: Int64
    }

    struct Model: Equatable, Sendable {
        let name: String
        var version: String?
        /// When another version than was known was stated, or noticed by a new name.
        var changedAt: Timestamp?
        var breaker: CircuitBreaker
    }

    var whole: Tally
    var breaker: CircuitBreaker
    var billing: BillingWatch
    /// In the order in which they were first seen.
    var channels: [Channel] = []
    /// Those that found no place in ``channels``.
    var rest: Tally
    /// Models of ``channels`` and of `model` lines; at most as many.
    var models: [Model] = []
    /// Where the last call's channel is; −1 is the rest.
    private var last = -1

    init(at now: Timestamp) {
        whole = Tally(at: now)
        rest = Tally(at: now)
        breaker = CircuitBreaker(at: now)
        billing = BillingWatch(at: now)
    }

    // MARK: Fold

    /// Returns whether the call bears a new version of a model that was known.
    mutating func fold(_ call: CallRecord, under policy: BreakerPolicy, at now: Timestamp) -> Bool {
        let isNewVersion = find(model: call.model, endpoint: call.endpoint, at: call.at.second)
        let second = call.at.second
        let tokens = call.outcome == .ok ? call.work[.tokens] : 0
        // A refusal's latency is that of a closed door.
        let latency = call.outcome == .ok ? call.latencyMilliseconds : nil
        update { tally in
            tally.outcomes.add(call.outcome, tokens: tokens, at: second)
            if let latency { tally.latency.add(milliseconds: latency) }
        }
        if let model = call.model, let index = models.firstIndex(where: { $0.name == model }) {
            models[index].breaker.note(call.outcome, startedAt: call.startedAt, under: policy, at: now)
        }
        breaker.note(call.outcome, startedAt: call.startedAt, under: policy, at: now)
        return isNewVersion
    }

    /// A window does not say which models: it counts for the whole and the nameless channel.
    mutating func fold(_ window: WindowRecord, under policy: BreakerPolicy, at now: Timestamp) {
        let second = window.spannedSeconds.upperBound
        _ = find(model: nil, endpoint: nil, at: second)
        let counts: [(Outcome, Int64)] = [
            (.ok, window.ok), (.quota, window.quota), (.overload, window.overload), (.error, window.error),
            (.denied, window.denied),
        ]
        update { tally in
            for (outcome, count) in counts where count > 0 {
                tally.outcomes.add(
                    outcome, count: Double(count), tokens: outcome == .ok ? window.served[.tokens] : 0, at: second)
            }
            if let latency = window.latency { tally.latency.add(latency) }
        }
        if window.overload > 0 { breaker.note(.overload, startedAt: window.start, under: policy, at: now) }
        for _ in 0..<min(window.ok, Int64(policy.closeSuccesses)) {
            breaker.note(.ok, startedAt: window.start, under: policy, at: now)
        }
    }

    /// A response's model string is news as a call's is.
    mutating func fold(_ response: ResponseRecord) -> Bool {
        guard response.model != nil else { return false }
        return find(model: response.model, endpoint: response.endpoint, at: response.at.second)
    }

    /// Returns whether the version is another than was known.
    mutating func fold(_ record: ModelRecord, at now: Timestamp) -> Bool {
        guard let index = model(record.model, at: now) else { return false }
        guard models[index].version != record.version else { return false }
        models[index].version = record.version
        models[index].changedAt = min(record.at, now)
        startOver(record.model)
        return true
    }

    /// The latency that was usual says nothing of another version.
    private mutating func startOver(_ model: String?) {
        whole.latency.startOver()
        for index in channels.indices where channels[index].model == model {
            channels[index].tally.latency.startOver()
        }
    }

    private mutating func update(_ change: (inout Tally) -> Void) {
        change(&whole)
        if last < 0 { change(&rest) } else { change(&channels[last].tally) }
    }

    // MARK: Names

    /// Sets ``last``. Returns whether the channel is new and its model the new version of one that was known.
    private mutating func find(model: String?, endpoint: String?, at second: Int64) -> Bool {
        if last >= 0, channels[last].model == model, channels[last].endpoint == endpoint {
            channels[last].lastSeen = max(channels[last].lastSeen, second)
            return false
        }
        if let known = channels.firstIndex(where: { $0.model == model && $0.endpoint == endpoint }) {
            last = known
            channels[known].lastSeen = max(channels[known].lastSeen, second)
            return false
        }
        makePlace(at: second)
        guard channels.count < UpstreamSignals.maxChannels else {
            last = -1
            return false
        }
        let isNew = model.map { isNewVersion($0, at: second) } ?? false
        let now = Timestamp(milliseconds: second * 1000)
        channels.append(
            Channel(model: model, endpoint: endpoint, tally: Tally(at: now), since: second, lastSeen: second))
        last = channels.count - 1
        let index = model.flatMap { self.model($0, at: now) }
        if isNew {
            whole.latency.startOver()
            if let index { models[index].changedAt = now }
        }
        return isNew
    }

    private mutating func makePlace(at second: Int64) {
        guard channels.count >= UpstreamSignals.maxChannels else { return }
        channels.removeAll { $0.lastSeen < second - UpstreamSignals.idleSeconds }
        let names = channels.compactMap(\.model)
        models.removeAll { !names.contains($0.name) }
        last = -1
    }

    private func isNewVersion(_ model: String, at second: Int64) -> Bool {
        guard let family = ModelFamily(of: model) else { return false }
        return !models.contains { $0.name == model }
            && channels.contains { known in
                guard let name = known.model, let other = ModelFamily(of: name) else { return false }
                return other == family && known.since <= second - UpstreamSignals.familiarSeconds
            }
    }

    private mutating func model(_ name: String, at now: Timestamp) -> Int? {
        if let known = models.firstIndex(where: { $0.name == name }) { return known }
        guard models.count < UpstreamSignals.maxChannels else { return nil }
        models.append(Model(name: name, breaker: CircuitBreaker(at: now)))
        return models.count - 1
    }

    // MARK: Estimate

    /// What time brings, to latencies and, where there is a pool to fail over to, to breakers.
    mutating func advance(to now: Timestamp, breakers policy: BreakerPolicy?) {
        whole.latency.advance(to: now)
        rest.latency.advance(to: now)
        for index in channels.indices { channels[index].tally.latency.advance(to: now) }
        let recent = whole.outcomes.sum(ofSeconds: BillingWatch.windowSeconds, endingAt: now.second)
        billing.advance(to: now, served: recent[.ok], attempts: recent.attempts)
        guard let policy else { return }
        let whole = whole
        breaker.advance(to: now, under: policy) { since in
            let counts = whole.outcomes.sum(since: since, at: now)
            return (counts.attempts, counts.failures)
        }
        for index in models.indices {
            let own = channels.filter { $0.model == models[index].name }
            models[index].breaker.advance(to: now, under: policy) { since in
                let counts = own.map { $0.tally.outcomes.sum(since: since, at: now) }
                return (counts.reduce(0) { $0 + $1.attempts }, counts.reduce(0) { $0 + $1.failures })
            }
        }
    }

    /// Ascending by name.
    var modelStates: [PoolAllocation.Model] {
        models.sorted { $0.name < $1.name }.map {
            PoolAllocation.Model(model: $0.name, state: $0.breaker.poolState ?? .healthy)
        }
    }

    /// Ascending by model and endpoint, nameless ones first; the rest last.
    func channelReports(at now: Timestamp) -> [UpstreamReport.Channel] {
        let named = channels.sorted { ($0.model ?? "", $0.endpoint ?? "") < ($1.model ?? "", $1.endpoint ?? "") }
        var reports = named.map { channel in
            let model = models.first { $0.name == channel.model }
            return UpstreamReport.Channel(
                model: channel.model, endpoint: channel.endpoint, state: model?.breaker.poolState ?? .healthy,
                version: model?.version, changedAt: model?.changedAt, signals: channel.tally.signals(at: now))
        }
        let others = rest.signals(at: now)
        if others.outcomes.contains(where: { $0 > 0 }) {
            reports.append(UpstreamReport.Channel(model: nil, endpoint: nil, signals: others))
        }
        return reports
    }
}

extension OutcomeRing {
    /// Of the seconds after the one that `since` lies in, up to `now`'s.
    fileprivate func sum(since: Timestamp, at now: Timestamp) -> OutcomeCounts {
        sum(ofSeconds: Int(max(0, min(Int64(OutcomeRing.seconds), now.second - since.second))), endingAt: now.second)
    }
}

/// A model's name without the part that dates it: `gpt-4o` of `gpt-4o-2024-11-20`, `claude-sonnet-4` of
/// `claude-sonnet-4-20250514`, `gemini-1.5-pro` of `gemini-1.5-pro-002`.
struct ModelFamily: Equatable {
    let name: String

    /// `nil` when the name is not dated, and so can be no version of another.
    init?(of model: String) {
        var parts = model.split(separator: "@", maxSplits: 1)[...].first.map { $0.split(separator: "-") } ?? []
        var isDated = model.contains("@")
        // Bedrock: `…-20241022-v2:0`.
        if let last = parts.last, last.first == "v", last.dropFirst().allSatisfy({ $0.isASCIIDigit || $0 == ":" }),
            last.count > 1
        {
            parts.removeLast()
        }
        let digits = parts.suffix(3).map { part in part.allSatisfy(\.isASCIIDigit) ? part.count : 0 }
        if digits == [4, 2, 2] {
            parts.removeLast(3)
            isDated = true
        } else if let last = digits.last, last >= 3 {
            parts.removeLast()
            isDated = true
        }
        guard isDated, !parts.isEmpty else { return nil }
        name = parts.joined(separator: "-")
    }
}

extension Character {
    fileprivate var isASCIIDigit: Bool { ("0"..."9").contains(self) }
}

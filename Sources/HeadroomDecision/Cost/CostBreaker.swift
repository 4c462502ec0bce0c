import HeadroomModel

/// Slows, and then pauses, those whose spending is projected to cross its ceiling before the window ends.
///
/// Every step is announced by an alert ``CostBreakerPolicy/noticeSeconds`` before it is taken, and nothing is taken back by the
/// effect of the step itself: a slowed subject is let go when it wants clearly less than it may. A pause ends with the window;
/// after it the subject is slowed at first. A person may lift all of it for a while. The same telemetry, policy and times give
/// the same states: a start goes on from a checkpoint and the rows since.
public struct CostBreaker: Sendable {
    /// Of the bytes of ``checkpoint()``: raised when their meaning changes.
    private static let version: UInt32 = 0x4342_0002  // "CB", 2
    /// Kinds and tenants that are followed at once.
    private static let most = 100_000
    /// Reported from this part of the ceiling on.
    private static let reportedShare = 0.5
    private static let maxReported = 1_000

    private var accounts: [CostSubject: CostAccount] = [:]
    private var windowSeconds = 0.0

    public init() {}

    // MARK: Use

    /// Counts what a record says was served, by the prices that hold.
    public mutating func fold(_ record: TelemetryRecord, under rules: Rules) {
        let policy = rules.policy.costBreaker
        guard policy.isOn else { return }
        follow(policy)
        switch record {
        case .call(let call):
            guard call.outcome == .ok else { return }
            guard let micros = rules.micros(of: call, in: policy.currency) else { return }
            add(.tenant(call.tenant), micros, 1, call.pool, call.at, nil, policy)
            if let kind = call.taskKind { add(.taskKind(kind), micros, 1, call.pool, call.at, call, policy) }
        case .window(let window):
            let sums = UseSums(
                requests: window.ok, inputTokens: window.inputTokens, outputTokens: window.outputTokens)
            let micros = rules.micros(
                of: sums, of: window.tenant, in: window.pool, model: nil, at: window.end, currency: policy.currency)
            guard let micros else { return }
            add(.tenant(window.tenant), micros, Double(window.ok), window.pool, window.end, nil, policy)
        case .queue, .response, .task, .model: return
        }
    }

    private mutating func add(
        _ subject: CostSubject, _ micros: Double, _ requests: Double, _ pool: PoolID, _ instant: Timestamp,
        _ call: CallRecord?, _ policy: CostBreakerPolicy
    ) {
        guard policy.ceiling(of: subject) != nil, accounts[subject] != nil || accounts.count < Self.most else { return }
        let start = policy.window(around: instant).lowerBound
        if accounts[subject] == nil {
            accounts[subject] = CostAccount(
                meter: SpendMeter(windowStart: start), tasks: subject.taskKind.map { _ in TaskMeter() }, since: instant)
        }
        if start > accounts[subject]!.meter.windowStart { accounts[subject]?.meter.begin(start) }
        let isInWindow = start == accounts[subject]?.meter.windowStart
        accounts[subject]?.meter.add(
            micros, requests: requests, in: pool, at: instant, isInWindow: isInWindow, rateSeconds: policy.rateSeconds)
        if let call { accounts[subject]?.tasks?.add(call, micros: micros) }
    }

    /// Another length of the windows begins all of them anew.
    private mutating func follow(_ policy: CostBreakerPolicy) {
        guard policy.windowSeconds != windowSeconds else { return }
        windowSeconds = policy.windowSeconds
        for subject in accounts.keys { accounts[subject]?.meter.begin(Timestamp(milliseconds: .min)) }
    }

    public mutating func forget(_ fingerprints: Set<UInt64>) {
        accounts = accounts.filter { entry in
            entry.key.tenant.map { !fingerprints.contains($0.text.fingerprint) } ?? true
        }
    }

    // MARK: The decision

    /// Once a tick, after its telemetry.
    /// - Returns: those that are held or announced, lifted, or past half of their ceilings; ascending by subject.
    public mutating func step(under rules: Rules, at now: Timestamp) -> [CostBreak] {
        let policy = rules.policy.costBreaker
        guard policy.isOn else {
            accounts.removeAll()
            return []
        }
        follow(policy)
        let lifts = Dictionary(
            rules.steering.costLifts.map { ($0.subject, $0.id) }, uniquingKeysWith: { first, _ in first })
        var found: [CostBreak] = []
        var gone: [CostSubject] = []
        // In place: an account holds arrays.
        for place in accounts.indices {
            let subject = accounts.keys[place]
            guard let ceiling = policy.ceiling(of: subject) else {
                gone.append(subject)
                continue
            }
            let stands = accounts.values[place].step(
                subject, ceiling: Double(ceiling), lift: lifts[subject], policy, rules, at: now)
            if stands.state == .free, accounts.values[place].meter.isIdle {
                gone.append(subject)
            } else if stands.state != .free || stands.lift != nil
                || stands.projected >= Self.reportedShare * stands.ceiling
            {
                found.append(stands)
            }
        }
        for subject in gone { accounts[subject] = nil }
        // All that are held or announced, and the nearest of the others.
        let (near, moved) = (found.filter { $0.state == .free }, found.filter { $0.state != .free })
        let nearest = near.sorted { ($1.projected, $0.subject) < ($0.projected, $1.subject) }
        return (moved + nearest.prefix(Self.maxReported)).sorted { $0.subject < $1.subject }
    }

    // MARK: Checkpoint

    public func checkpoint() -> [UInt8] {
        guard !accounts.isEmpty else { return [] }
        var writer = ByteWriter()
        writer.write(Self.version)
        writer.write(windowSeconds)
        writer.write(accounts.sorted { $0.key < $1.key }) { writer, entry in
            writer.write(entry.key.tenant != nil)
            writer.write(entry.key.name)
            entry.value.write(to: &writer)
        }
        return writer.bytes
    }

    /// Bytes of another version, or damaged ones, change nothing.
    public mutating func restore(_ bytes: [UInt8]) {
        guard !bytes.isEmpty, let restored = try? CostBreaker(bytes) else { return }
        self = restored
    }

    private init(_ bytes: [UInt8]) throws(ByteCodingError) {
        var reader = ByteReader(bytes)
        guard try reader.read(UInt32.self) == Self.version else { throw .otherVersion }
        windowSeconds = try reader.readAmount()
        for _ in 0..<(try reader.readCount(leastBytes: 40)) {
            let subject: CostSubject =
                if try reader.readBool() {
                    .tenant(try reader.readIdentifier())
                } else {
                    .taskKind(try reader.readString())
                }
            accounts[subject] = try CostAccount(from: &reader)
        }
    }
}

extension CostBreakerPolicy {
    /// The window that `instant` lies in.
    public func window(around instant: Timestamp) -> Range<Timestamp> {
        let length = max(1000, Int64(windowSeconds * 1000))
        let start = instant.milliseconds - (instant.milliseconds % length + length) % length
        return Timestamp(milliseconds: start)..<Timestamp(milliseconds: start + length)
    }
}

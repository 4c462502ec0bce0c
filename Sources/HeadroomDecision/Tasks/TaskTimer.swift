import HeadroomModel

/// Measures how long agent tasks take, over all gateways, and how much of that they wait for quota (``TaskTimes``).
///
/// A tree of tasks ends when a line says so of the task that began it, or when nothing was heard of it for ten minutes: then it
/// ended with the last thing that was heard. Bounded, since anyone can name a task: what there is no room for is not measured.
struct TaskTimer: Sendable {
    /// A tree that nothing was heard of for so long has ended. Longer than most calls wait: a call is reported at its end.
    static let silenceSeconds = 600.0
    /// Lines of other gateways may arrive after the one that says that the task ended.
    private static let graceSeconds = 30.0
    private static let blockSeconds: Int64 = 300
    private static let stepSeconds = 5.0
    /// What is measured at once, of all tenants and of one; and the kinds of tenants' tasks that are remembered.
    private static let most = 20_000
    private static let mostOfOneTenant = 2_000
    private static let maxKinds = 4_000
    /// Of one tree: refused pieces of work whose next attempt is awaited.
    private static let maxRefused = 32
    /// Of usual durations; beyond it older ones count half.
    private static let usualTasks: Int64 = 1_000
    private static let maxUnstored = 100_000
    /// Kinds that are told apart in the sums since the start.
    private static let maxCounted = 100

    private struct Running {
        var kind: String?
        var pool: PoolID
        var begunAt: Timestamp
        var lastAt: Timestamp
        var waits = WaitSpan()
        /// By request: since when.
        var refused: [UInt64: Timestamp] = [:]
        var sums = TaskTimes.Sums()
        /// Said by a line.
        var end: (at: Timestamp, isCompleted: Bool)?

        /// As if it ended at `instant`.
        func sums(until instant: Timestamp) -> TaskTimes.Sums {
            var sums = sums
            sums.tasks = 1
            sums.seconds = max(0, instant.seconds(since: begunAt))
            sums.waitedSeconds = min(waits.seconds, sums.seconds)
            return sums
        }
    }

    private struct Kind: Hashable, Comparable {
        var tenant: TenantID
        var name: String?

        static func < (left: Kind, right: Kind) -> Bool {
            (left.tenant, left.name ?? "") < (right.tenant, right.name ?? "")
        }
    }

    private struct Paces {
        var pool: PoolID
        /// Of the five minutes that run, of those before, and of all before that.
        var current = TaskTimes()
        var previous = TaskTimes()
        var usual = TaskTimes()
        var lastAt: Timestamp
    }

    private struct Minute: Hashable {
        var minute: Int64
        var kind: Kind
    }

    private var running: [TaskName: Running] = [:]
    private var counts: [TenantID: Int] = [:]
    private var kinds: [Kind: Paces] = [:]
    private var unstored: [Minute: TaskTimes] = [:]
    private var block: Int64 = 0
    private var steppedAt: Timestamp?
    private var paces: [TaskPace] = []
    /// Since the start.
    private var ended: [String: TaskTimes] = [:]

    // MARK: What is heard

    /// A call of the tree that `root` began.
    mutating func note(_ call: CallRecord, of root: TaskName) {
        let arrived = call.startedAt.adding(seconds: -(call.queuedMilliseconds ?? 0) / 1000)
        closeIfOver(root, before: arrived)
        guard var task = running[root] ?? opened(root, in: call.pool, at: arrived) else { return }
        task.begunAt = min(task.begunAt, arrived)
        task.lastAt = max(task.lastAt, call.at)
        if task.kind == nil { task.kind = call.taskKind }
        let piece = call.request?.fingerprint ?? 0
        let refusedAt = task.refused.removeValue(forKey: piece)
        let isAwaited = refusedAt.map { $0 < arrived && arrived.seconds(since: $0) < Self.silenceSeconds } ?? false
        if let refusedAt, isAwaited { task.waits.add(from: refusedAt, to: arrived) }
        if call.startedAt > arrived { task.waits.add(from: arrived, to: call.startedAt) }
        if isAwaited || call.startedAt.seconds(since: arrived) > 1 { task.pool = call.pool }
        switch call.outcome {
        case .ok, .cached: task.sums.calls += 1
        case .denied, .quota, .ramp:
            task.sums.refused += 1
            if task.refused.count < Self.maxRefused { task.refused[piece] = call.at }
        case .overload, .billing, .auth, .client, .server, .error: break
        }
        if call.attempt > 1 || refusedAt != nil { task.sums.retries += 1 }
        running[root] = task
    }

    /// A line on a task of the tree that `root` began.
    mutating func note(_ record: TaskRecord, of root: TaskName) {
        let isEnd = record.state == .completed || record.state == .failed
        closeIfOver(root, before: record.at)
        guard var task = running[root] ?? (isEnd ? nil : opened(root, in: record.pool, at: record.at)) else { return }
        task.lastAt = max(task.lastAt, record.at)
        if isEnd, record.task == root.task { task.end = (record.at, record.state == .completed) }
        running[root] = task
    }

    /// What comes under the name of a task that has ended is another task.
    private mutating func closeIfOver(_ root: TaskName, before arrived: Timestamp) {
        guard let task = running[root] else { return }
        let isOver =
            if let end = task.end { arrived > end.at } else {
                arrived.seconds(since: task.lastAt) > Self.silenceSeconds
            }
        if isOver { close(root) }
    }

    private mutating func opened(_ root: TaskName, in pool: PoolID, at instant: Timestamp) -> Running? {
        guard running.count < Self.most, counts[root.tenant, default: 0] < Self.mostOfOneTenant else { return nil }
        counts[root.tenant, default: 0] += 1
        return Running(pool: pool, begunAt: instant, lastAt: instant)
    }

    private mutating func close(_ root: TaskName) {
        guard let task = running.removeValue(forKey: root) else { return }
        counts[root.tenant, default: 1] -= 1
        if counts[root.tenant] == 0 { counts[root.tenant] = nil }
        let end = task.end?.at ?? task.lastAt
        var sums = task.sums(until: end)
        if let said = task.end {
            sums.completed = said.isCompleted ? 1 : 0
            sums.failed = said.isCompleted ? 0 : 1
        }
        let kind = Kind(tenant: root.tenant, name: task.kind)
        let minute = Minute(minute: end.minute, kind: kind)
        if unstored.count < Self.maxUnstored || unstored[minute] != nil {
            unstored[minute, default: TaskTimes()].add(task: sums)
        }
        let label = task.kind ?? ""
        ended[ended[label] != nil || ended.count < Self.maxCounted ? label : "", default: TaskTimes()].add(task: sums)
        guard var pace = kinds[kind] ?? newPaces(task.pool, at: end) else { return }
        pace.pool = task.pool
        pace.lastAt = max(pace.lastAt, end)
        pace.current.add(task: sums)
        kinds[kind] = pace
    }

    private mutating func newPaces(_ pool: PoolID, at now: Timestamp) -> Paces? {
        if kinds.count >= Self.maxKinds {
            // A tenth at once: looking for the oldest takes a walk over all.
            let oldest = kinds.sorted { ($0.value.lastAt, $0.key) < ($1.value.lastAt, $1.key) }
                .prefix(Self.maxKinds / 10)
            for (kind, _) in oldest { kinds[kind] = nil }
        }
        return Paces(pool: pool, lastAt: now)
    }

    mutating func forget(_ fingerprints: Set<UInt64>) {
        func isGone(_ tenant: TenantID) -> Bool { fingerprints.contains(tenant.text.fingerprint) }
        running = running.filter { !isGone($0.key.tenant) }
        counts = counts.filter { !isGone($0.key) }
        kinds = kinds.filter { !isGone($0.key.tenant) }
        unstored = unstored.filter { !isGone($0.key.kind.tenant) }
        paces.removeAll { isGone($0.tenant) }
    }

    // MARK: What is made of it

    /// Once a tick, after its telemetry: how kinds of tasks fare, those that are slow first, and then the ones that ended last.
    mutating func step(at now: Timestamp) -> [TaskPace] {
        if let steppedAt, now.seconds(since: steppedAt) < Self.stepSeconds { return paces }
        steppedAt = now
        closeEnded(at: now)
        turn(to: now.second / Self.blockSeconds)
        paces = currentPaces()
        return paces
    }

    /// Since the start, by kind; tasks of none, and of kinds beyond a hundred, are under the empty name.
    var endedSinceStart: [TaskReports.KindTimes] {
        ended.sorted { $0.key < $1.key }.map { TaskReports.KindTimes(kind: $0.key, times: $0.value) }
    }

    private mutating func closeEnded(at now: Timestamp) {
        let over = running.filter { _, task in
            if let end = task.end { return now.seconds(since: end.at) > Self.graceSeconds }
            return now.seconds(since: task.lastAt) > Self.silenceSeconds
        }
        for root in over.keys.sorted() { close(root) }
    }

    private mutating func turn(to next: Int64) {
        guard next > block else { return }
        let isNext = next == block + 1
        block = next
        for kind in kinds.keys {
            guard var pace = kinds[kind] else { continue }
            pace.usual.add(pace.previous)
            if !isNext { pace.usual.add(pace.current) }
            pace.previous = isNext ? pace.current : TaskTimes()
            pace.current = TaskTimes()
            if pace.usual.sums.tasks > Self.usualTasks { pace.usual.halve() }
            kinds[kind] = pace
        }
    }

    private func currentPaces() -> [TaskPace] {
        var found: [Kind: TaskPace] = [:]
        for (kind, pace) in kinds {
            var recent = pace.previous
            recent.add(pace.current)
            found[kind] = TaskPace(
                tenant: kind.tenant, kind: kind.name, pool: pace.pool, recent: recent, usual: pace.usual)
        }
        let usual = found.compactMapValues(\.usualSeconds)
        // In order, so that sums are the same to the last bit.
        for root in running.keys.sorted() {
            guard let task = running[root], task.end == nil else { continue }
            let kind = Kind(tenant: root.tenant, name: task.kind)
            found[kind, default: TaskPace(tenant: kind.tenant, kind: kind.name, pool: task.pool)].running += 1
            let sums = task.sums(until: task.lastAt)
            if let usual = usual[kind], sums.seconds >= TaskPace.slowFactor * usual {
                found[kind]?.overdue.add(sums)
                found[kind]?.pool = task.pool
            }
        }
        return found.sorted { left, right in
            let slow = (left.value.isSlow(), right.value.isSlow())
            if slow.0 != slow.1 { return slow.0 }
            let active = (left.value.isActive, right.value.isActive)
            if active.0 != active.1 { return active.0 }
            return left.key < right.key
        }.prefix(TaskReports.maxPaces).map(\.value)
    }

    /// Ascending by start, tenant, kind.
    var rollups: [TaskTimeRollup] {
        unstored.sorted { ($0.key.minute, $0.key.kind) < ($1.key.minute, $1.key.kind) }.map { minute, times in
            TaskTimeRollup(
                start: Timestamp(milliseconds: minute.minute * 60_000), tenant: minute.kind.tenant,
                kind: minute.kind.name, times: times)
        }
    }

    /// They are stored.
    mutating func forgetRollups() { unstored.removeAll() }
}

extension TaskPace {
    fileprivate var isActive: Bool { running > 0 || !recent.isEmpty }
}

/// The time that intervals cover together, where most of them come in order: one that begins before all others, or ends after
/// them, is counted by what it adds; one in a gap between two is not seen.
struct WaitSpan: Equatable, Sendable {
    private(set) var seconds = 0.0
    private var covered: Range<Timestamp>?

    mutating func add(from: Timestamp, to: Timestamp) {
        guard from < to else { return }
        guard let covered else {
            self.covered = from..<to
            seconds = to.seconds(since: from)
            return
        }
        if from < covered.lowerBound { seconds += min(to, covered.lowerBound).seconds(since: from) }
        if to > covered.upperBound { seconds += to.seconds(since: max(from, covered.upperBound)) }
        self.covered = min(from, covered.lowerBound)..<max(to, covered.upperBound)
    }
}

// MARK: Checkpoint

extension TaskTimer {
    var isEmpty: Bool { running.isEmpty && kinds.isEmpty }

    func write(to writer: inout ByteWriter) {
        writer.write(block)
        writer.write(running.sorted { $0.key < $1.key }) { writer, entry in
            let task = entry.value
            writer.write(entry.key.tenant.text)
            writer.write(entry.key.task)
            writer.write(task.kind) { $0.write($1) }
            writer.write(task.pool.text)
            writer.write(task.begunAt)
            writer.write(task.lastAt)
            task.waits.write(to: &writer)
            writer.write(task.refused.sorted { $0.key < $1.key }) { writer, entry in
                writer.write(entry.key)
                writer.write(entry.value)
            }
            writer.write(task.sums)
            writer.write(task.end?.at) { $0.write($1) }
            writer.write(task.end?.isCompleted ?? false)
        }
        writer.write(kinds.sorted { $0.key < $1.key }) { writer, entry in
            writer.write(entry.key.tenant.text)
            writer.write(entry.key.name) { $0.write($1) }
            writer.write(entry.value.pool.text)
            writer.write(entry.value.lastAt)
            writer.write(entry.value.current)
            writer.write(entry.value.previous)
            writer.write(entry.value.usual)
        }
    }

    /// In place of what there was.
    mutating func read(from reader: inout ByteReader) throws(ByteCodingError) {
        var read = TaskTimer()
        read.block = try reader.read()
        for _ in 0..<(try reader.readCount(leastBytes: 90)) {
            let tenant: TenantID = try reader.readIdentifier()
            let name = TaskName(try reader.readString(), of: tenant)
            let kind = try reader.readOptional { try $0.readString() }
            var task = Running(
                kind: kind, pool: try reader.readIdentifier(), begunAt: try reader.readTimestamp(),
                lastAt: try reader.readTimestamp())
            task.waits = try WaitSpan(from: &reader)
            for _ in 0..<(try reader.readCount(leastBytes: 16)) {
                task.refused[try reader.read()] = try reader.readTimestamp()
            }
            task.sums = try reader.readTaskSums()
            let end = try reader.readOptional { try $0.readTimestamp() }
            let isCompleted = try reader.readBool()
            task.end = end.map { ($0, isCompleted) }
            read.running[name] = task
            read.counts[tenant, default: 0] += 1
        }
        for _ in 0..<(try reader.readCount(leastBytes: 20)) {
            let kind = Kind(
                tenant: try reader.readIdentifier(), name: try reader.readOptional { try $0.readString() })
            var paces = Paces(pool: try reader.readIdentifier(), lastAt: try reader.readTimestamp())
            paces.current = try reader.readTaskTimes()
            paces.previous = try reader.readTaskTimes()
            paces.usual = try reader.readTaskTimes()
            read.kinds[kind] = paces
        }
        self = read
    }
}

extension WaitSpan {
    fileprivate func write(to writer: inout ByteWriter) {
        writer.write(seconds)
        writer.write(covered?.lowerBound) { $0.write($1) }
        writer.write(covered?.upperBound) { $0.write($1) }
    }

    fileprivate init(from reader: inout ByteReader) throws(ByteCodingError) {
        seconds = try reader.readAmount()
        let lower = try reader.readOptional { try $0.readTimestamp() }
        let upper = try reader.readOptional { try $0.readTimestamp() }
        if let lower, let upper {
            guard lower <= upper else { throw .outOfRange }
            covered = lower..<upper
        }
    }
}

extension ByteWriter {
    fileprivate mutating func write(_ sums: TaskTimes.Sums) {
        for count in [sums.tasks, sums.completed, sums.failed, sums.calls, sums.retries, sums.refused] { write(count) }
        write(sums.seconds)
        write(sums.waitedSeconds)
    }

    fileprivate mutating func write(_ times: TaskTimes) {
        write(times.steps.sorted { $0.key < $1.key }) { writer, entry in
            writer.write(entry.key)
            writer.write(entry.value)
        }
    }
}

extension ByteReader {
    fileprivate mutating func readTaskSums() throws(ByteCodingError) -> TaskTimes.Sums {
        var sums = TaskTimes.Sums()
        sums.tasks = try read()
        sums.completed = try read()
        sums.failed = try read()
        sums.calls = try read()
        sums.retries = try read()
        sums.refused = try read()
        sums.seconds = try readAmount()
        sums.waitedSeconds = try readAmount()
        return sums
    }

    fileprivate mutating func readTaskTimes() throws(ByteCodingError) -> TaskTimes {
        var times = TaskTimes()
        for _ in 0..<(try readCount(leastBytes: 65)) {
            let step: UInt8 = try read()
            times.add(try readTaskSums(), to: step)
        }
        return times
    }
}

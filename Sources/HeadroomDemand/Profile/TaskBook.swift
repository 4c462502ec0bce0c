import HeadroomModel

/// One tenant's tasks: means over the trees of tasks that ended, and sums over the tasks in progress.
struct TaskTally: Sendable {
    /// A mean over the last hundred tasks or so.
    private static let memory: Float = 100

    private var ended: Float = 0
    private var requests: Float = 0
    private var tokens: Float = 0
    private var fanOut: Float = 0
    /// Of the tasks whose course was reported, how many ended, and how many of these by completing.
    private var reported: Float = 0
    private var completed: Float = 0
    fileprivate(set) var open: Int32 = 0
    /// The remaining need by the claims of open tasks. Whole numbers, so that adding and taking away leaves nothing behind.
    fileprivate(set) var remainingRequests: Int64 = 0
    fileprivate(set) var remainingTokens: Int64 = 0

    var cost: TaskCost? {
        guard ended > 0 else { return nil }
        return TaskCost(
            requests: Double(requests), tokens: Double(tokens), fanOut: Double(fanOut),
            completion: reported > 0 ? Double(completed / reported) : nil, open: Int(open))
    }

    /// How far its claims are believed: the mean of a Beta distribution that starts from one completed task.
    var trust: Double { Double((completed + 1) / (reported + 1)) }

    /// A task that is not in progress any more.
    fileprivate mutating func close(_ task: TaskBook.Task, isCompleted: Bool) {
        if task.isTold {
            let kept: Float = reported < TaskTally.memory ? 1 : 1 - 1 / TaskTally.memory
            reported = reported * kept + 1
            completed = completed * kept + (isCompleted ? 1 : 0)
        }
        open -= 1
        remainingRequests -= task.remainingRequests
        remainingTokens -= task.remainingTokens
    }

    /// A task that no other one started, with all that the tasks below it came to.
    fileprivate mutating func count(_ tree: TaskBook.Task) {
        ended = min(TaskTally.memory, ended + 1)
        let step = 1 / ended
        requests += (tree.requests - requests) * step
        tokens += (tree.tokens - tokens) * step
        fanOut += (Float(tree.children) - fanOut) * step
    }
}

/// The agents' tasks in progress in one pool: bounded, since anyone can name a task.
///
/// A task begins with the first line that names it, as its own or as another one's parent, and ends when a line says so or
/// when nothing has named it, or a task below it, for a few minutes. The cost of a task that another one started is part of
/// that one's: only whole trees are averaged, each when the last of it has ended. A claim of what it still needs is checked against what happens: one that has had half as much again as it
/// asked for and asks for no less, or twice as much and still asks for half of it, or that nothing has come of although
/// there was room, is broken.
struct TaskBook: Sendable {
    fileprivate struct Task: Sendable {
        var tenant: Int32
        var parent: UInt64
        var last: Timestamp
        var requests: Float = 0
        var tokens: Float = 0
        var children: UInt16 = 0
        /// Of these, trees that have not ended.
        var openChildren: UInt16 = 0
        /// It has ended itself, and waits for its children.
        var isOver = false
        var isTold = false
        var remainingRequests: Int64 = 0
        var remainingTokens: Int64 = 0
        /// The claim that is being checked: what it asked for, since when, and the requests that it has had since.
        var claim: Float = 0
        var claimedAt: Timestamp
        var had: Float = 0
    }

    /// Whose a task is: a place in the table, and a fingerprint of the name that outlives it.
    struct Owner {
        var place: Int32
        var fingerprint: UInt64
    }

    /// A task that ended without a word.
    struct Silenced {
        let place: Int32
        /// It had claimed to need more.
        let hasClaimed: Bool
        fileprivate let key: UInt64
    }

    /// Claims that were found kept or broken. A task that claimed nothing, or had no call, has kept none by completing: it
    /// costs nothing to report such tasks.
    struct ClaimOutcome: Equatable {
        var kept = 0
        var broken = 0
    }

    /// A task that nothing has named for so long has ended.
    static let silenceSeconds = 180.0
    /// Of all tenants, and of one.
    private static let maxOpen = 20_000
    private static let maxOfOneTenant: Int32 = 2_000

    private var tasks: [UInt64: Task] = [:]
    private var sweptAt: Timestamp

    init(at now: Timestamp) {
        sweptAt = now
    }

    /// A call of the task `name`.
    mutating func note(
        call work: Work, task name: String, parent: String?, of tenant: Owner, at now: Timestamp,
        in tally: inout TaskTally
    ) {
        guard let key = open(name, parent: parent, of: tenant, at: now, in: &tally) else { return }
        tasks[key]!.requests += Float(work[.requests])
        tasks[key]!.tokens += Float(work[.tokens])
        tasks[key]!.had += Float(work[.requests])
    }

    /// A task's claim. `isGranted`: there was room for what the tenant wanted.
    mutating func note(
        _ record: TaskRecord, of tenant: Owner, isGranted: Bool, in tally: inout TaskTally
    ) -> ClaimOutcome {
        guard let key = open(record.task, parent: record.parent, of: tenant, at: record.at, in: &tally) else {
            return ClaimOutcome()
        }
        var task = tasks[key]!
        task.isTold = true
        if record.state == .completed || record.state == .failed {
            tasks[key] = task
            end(key, isCompleted: record.state == .completed, in: &tally)
            return ClaimOutcome(kept: record.state == .completed && task.claim > 0 && task.requests > 0 ? 1 : 0)
        }
        // At most a million calls and 10¹² tokens: a claim beyond it says nothing.
        let requests = min(max(0, record.remainingRequests ?? 0), 1_000_000)
        let tokens = min(max(0, record.remainingTokens ?? 0), 1_000_000_000_000)
        tally.remainingRequests += requests - task.remainingRequests
        tally.remainingTokens += tokens - task.remainingTokens
        let neededMore = task.remainingRequests > 0 || task.remainingTokens > 0
        task.remainingRequests = requests
        task.remainingTokens = tokens
        let isBroken = task.check(isGranted: isGranted, neededMore: neededMore, at: record.at)
        tasks[key] = task
        return ClaimOutcome(broken: isBroken ? 1 : 0)
    }

    /// Those that nothing has named for long, oldest first: ``end(_:in:)`` takes each out.
    mutating func sweep(at now: Timestamp) -> [Silenced] {
        guard now.seconds(since: sweptAt) >= 10 else { return [] }
        sweptAt = now
        return tasks.filter { !$0.value.isOver && now.seconds(since: $0.value.last) > TaskBook.silenceSeconds }
            .sorted { ($0.value.last, $0.key) < ($1.value.last, $1.key) }
            .map { Silenced(place: $0.value.tenant, hasClaimed: $0.value.claim > 0, key: $0.key) }
    }

    mutating func end(_ silenced: Silenced, in tally: inout TaskTally) {
        end(silenced.key, isCompleted: false, in: &tally)
    }

    /// Its part of the tree is complete once all tasks below it have ended; then it goes to the task above it.
    private mutating func end(_ key: UInt64, isCompleted: Bool, in tally: inout TaskTally) {
        guard tasks[key]?.isOver == false else { return }
        tally.close(tasks[key]!, isCompleted: isCompleted)
        tasks[key]!.isOver = true
        var next = key
        while let tree = tasks[next], tree.isOver, tree.openChildren == 0 {
            tasks[next] = nil
            guard tasks[tree.parent] != nil else { return tally.count(tree) }
            tasks[tree.parent]!.requests += tree.requests
            tasks[tree.parent]!.tokens += tree.tokens
            tasks[tree.parent]!.openChildren &-= 1
            next = tree.parent
        }
    }

    /// Forgets the tasks of tenants that left the table.
    mutating func remove(_ tenants: Set<Int32>) {
        tasks = tasks.filter { !tenants.contains($0.value.tenant) }
    }

    private mutating func open(
        _ name: String, parent: String?, of tenant: Owner, at now: Timestamp, in tally: inout TaskTally
    ) -> UInt64? {
        let key = TaskBook.key(name, of: tenant)
        if tasks[key] == nil {
            guard hasRoom(tally) else { return nil }
            // One that is its own parent has none.
            var parentKey = parent.map { TaskBook.key($0, of: tenant) } ?? 0
            if parentKey == key { parentKey = 0 }
            if parentKey != 0, tasks[parentKey] == nil {
                // Most agents name the task that started others only there.
                if hasRoom(tally) {
                    begin(parentKey, parent: 0, of: tenant, at: now, in: &tally)
                } else {
                    parentKey = 0
                }
            }
            if parentKey != 0, tasks[parentKey]!.openChildren < .max {
                tasks[parentKey]!.openChildren += 1
                tasks[parentKey]!.children = max(tasks[parentKey]!.children &+ 1, tasks[parentKey]!.children)
            } else {
                parentKey = 0
            }
            begin(key, parent: parentKey, of: tenant, at: now, in: &tally)
        }
        // A tree lives as long as any of it does; deeper ones than this are no agent's.
        var next = key
        for _ in 0..<16 {
            guard next != 0, tasks[next] != nil else { break }
            tasks[next]!.last = max(tasks[next]!.last, now)
            next = tasks[next]!.parent
        }
        // It goes on after it was said to have ended.
        return tasks[key]!.isOver ? nil : key
    }

    private func hasRoom(_ tally: TaskTally) -> Bool {
        tasks.count < TaskBook.maxOpen && tally.open < TaskBook.maxOfOneTenant
    }

    private mutating func begin(
        _ key: UInt64, parent: UInt64, of tenant: Owner, at now: Timestamp, in tally: inout TaskTally
    ) {
        tasks[key] = Task(tenant: tenant.place, parent: parent, last: now, claimedAt: now)
        tally.open += 1
    }

    private static func key(_ name: String, of tenant: Owner) -> UInt64 {
        RecentRequests.fingerprint(of: name.fingerprint, tenant.fingerprint)
    }
}

extension TaskBook.Task {
    /// True when the claim turns out to be broken; then the next one begins.
    /// - Parameter neededMore: by the line before.
    fileprivate mutating func check(isGranted: Bool, neededMore: Bool, at now: Timestamp) -> Bool {
        let asks = Float(remainingRequests) > 0 ? Float(remainingRequests) : min(Float(remainingTokens), 1)
        // It needs no more: the claim was kept, and stays what the task has claimed.
        if asks == 0 { return false }
        // No claim in force, or one that has gone down by half since: honest progress.
        guard neededMore, claim > 0, asks > claim / 2 else {
            begin(asks, at: now)
            return false
        }
        let hasHadEnough = had >= (asks >= claim ? 1.5 : 2) * claim && had >= 4
        let hasHadNothing =
            isGranted && had < claim / 4 && now.seconds(since: claimedAt) > TaskBook.silenceSeconds
        guard hasHadEnough || hasHadNothing else { return false }
        begin(asks, at: now)
        return true
    }

    private mutating func begin(_ asks: Float, at now: Timestamp) {
        claim = asks
        claimedAt = now
        had = 0
    }
}

extension TaskTally {
    func write(to writer: inout ByteWriter) {
        writer.write(SIMD4(ended, requests, tokens, fanOut))
        writer.write(SIMD4(reported, completed, 0, 0))
        writer.write(open)
        writer.write(remainingRequests)
        writer.write(remainingTokens)
    }

    init(from reader: inout ByteReader) throws(ByteCodingError) {
        let means = try reader.readAmounts()
        let shares = try reader.readAmounts()
        (ended, requests, tokens, fanOut) = (means.x, means.y, means.z, means.w)
        (reported, completed) = (shares.x, shares.y)
        open = try reader.read()
        remainingRequests = try reader.read()
        remainingTokens = try reader.read()
    }
}

extension TaskBook {
    /// - Parameter numbers: of the tenants from now on, by those that they have.
    func write(to writer: inout ByteWriter, numbers: [Int32]) {
        writer.write(sweptAt)
        writer.write(tasks.keys.sorted()) { writer, key in
            let task = tasks[key]!
            writer.write(key)
            writer.write(numbers[Int(task.tenant)])
            writer.write(task.parent)
            writer.write(task.last)
            writer.write(SIMD4(task.requests, task.tokens, task.claim, task.had))
            writer.write(task.children)
            writer.write(task.openChildren)
            writer.write(task.isOver)
            writer.write(task.isTold)
            writer.write(task.remainingRequests)
            writer.write(task.remainingTokens)
            writer.write(task.claimedAt)
        }
    }

    init(from reader: inout ByteReader, tenants: Int) throws(ByteCodingError) {
        self.init(at: try reader.readTimestamp())
        for _ in 0..<(try reader.readCount(leastBytes: 74)) {
            let key: UInt64 = try reader.read()
            let tenant: Int32 = try reader.read()
            let parent: UInt64 = try reader.read()
            var task = Task(
                tenant: tenant, parent: parent, last: try reader.readTimestamp(),
                claimedAt: Timestamp(milliseconds: 0))
            let sums = try reader.readAmounts()
            (task.requests, task.tokens, task.claim, task.had) = (sums.x, sums.y, sums.z, sums.w)
            task.children = try reader.read()
            task.openChildren = try reader.read()
            task.isOver = try reader.readBool()
            task.isTold = try reader.readBool()
            task.remainingRequests = try reader.read()
            task.remainingTokens = try reader.read()
            task.claimedAt = try reader.readTimestamp()
            guard (0..<tenants).contains(Int(tenant)) else { throw .outOfRange }
            tasks[key] = task
        }
    }
}

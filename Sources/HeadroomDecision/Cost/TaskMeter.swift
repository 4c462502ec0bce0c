import HeadroomModel

/// The tasks of one kind: how many begin, and what one costs with all that it starts. A rate of spending follows the number of
/// tasks with a delay; this one does not wait for it.
struct TaskMeter: Equatable, Sendable {
    /// Tasks that are followed at once; further ones count in the rate of spending only.
    private static let most = 10_000
    /// A task that has made no call for so long has ended.
    private static let idleSeconds = 60.0
    /// Fewer tasks that have ended say nothing of the next one.
    private static let leastEnded = 5.0

    private var trees = TaskTrees(most: Self.most, ofOneTenant: Self.most)
    /// Of trees, of late, ascending.
    private var starts: [Timestamp] = []
    /// Those that have ended, the last hundred counting most.
    private var ended = (tasks: 0.0, calls: 0.0, micros: 0.0)

    init() {}

    mutating func add(_ call: CallRecord, micros: Double) {
        guard let task = call.task else { return }
        let name = TaskName(task, of: call.tenant)
        let isNew = trees[name] == nil
        guard !isNew || trees.nodes.count + 2 <= Self.most else { return }
        let isKnownTree = !isNew || call.parent.map { trees[TaskName($0, of: call.tenant)] != nil } ?? false
        trees.add(
            TaskUse(calls: 1, micros: micros),
            to: trees.open(name, parent: call.parent, in: call.pool, at: call.at))
        if !isKnownTree { starts.append(call.at) }
    }

    /// Takes out tasks that have ended by `now`, and starts before `oldest`.
    mutating func settle(since oldest: Timestamp, at now: Timestamp) {
        for tree in trees.forget(before: now.adding(seconds: -Self.idleSeconds)) {
            let kept = ended.tasks < 100 ? 1 : 0.99
            ended = (
                ended.tasks * kept + 1, ended.calls * kept + tree.use[.calls], ended.micros * kept + tree.use[.micros]
            )
        }
        if starts.count > Self.most { starts.removeFirst(starts.count - Self.most) }
        starts.removeAll { $0 < oldest }
    }

    /// - Parameter seconds: the time that the starts are counted over.
    /// - Returns: `nil` while too few have ended.
    func fanOut(overSeconds seconds: Double) -> (facts: CostBreak.FanOut, microsPerMinute: Double)? {
        guard ended.tasks >= Self.leastEnded, seconds > 0 else { return nil }
        let perMinute = Double(starts.count) * 60 / seconds
        return (
            CostBreak.FanOut(tasksPerMinute: perMinute, callsPerTask: ended.calls / ended.tasks),
            perMinute * ended.micros / ended.tasks
        )
    }

    static func == (left: TaskMeter, right: TaskMeter) -> Bool {
        left.trees == right.trees && left.starts == right.starts && left.ended == right.ended
    }

    // MARK: Checkpoint

    func write(to writer: inout ByteWriter) {
        trees.write(to: &writer)
        writer.write(starts) { $0.write($1) }
        writer.write(ended.tasks)
        writer.write(ended.calls)
        writer.write(ended.micros)
    }

    init(from reader: inout ByteReader) throws(ByteCodingError) {
        try trees.read(from: &reader)
        starts = try reader.readArray(leastBytes: 8) { try $0.readTimestamp() }
        ended = (try reader.readAmount(), try reader.readAmount(), try reader.readAmount())
    }
}

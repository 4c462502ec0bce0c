import HeadroomModel

/// The tasks of one kind: how many begin, and what one costs with all that it starts. A rate of spending follows the number of
/// tasks with a delay; this one does not wait for it.
struct TaskMeter: Equatable, Sendable {
    private struct Task: Equatable, Sendable {
        var seenAt: Timestamp
        var calls = 0.0
        var micros = 0.0
    }

    private struct Root: Equatable, Sendable {
        var task: UInt64
        var seenAt: Timestamp
    }

    /// Tasks that are followed at once; further ones count in the rate of spending only.
    private static let most = 5_000
    /// A task that has made no call for so long has ended.
    private static let idleSeconds = 60.0
    /// Fewer tasks that have ended say nothing of the next one.
    private static let leastEnded = 5.0

    /// By the fingerprint of the task that began the tree.
    private var running: [UInt64: Task] = [:]
    /// Of tasks that others started.
    private var roots: [UInt64: Root] = [:]
    /// Of late, ascending.
    private var starts: [Timestamp] = []
    /// Those that have ended, the last hundred counting most.
    private var ended = (tasks: 0.0, calls: 0.0, micros: 0.0)

    init() {}

    mutating func add(_ call: CallRecord, micros: Double) {
        guard let name = call.task?.fingerprint else { return }
        var root = name
        if let parent = call.parent?.fingerprint {
            root = roots[parent]?.task ?? parent
        } else if let known = roots[name]?.task {
            root = known
        }
        if root != name, roots[name] != nil || roots.count < Self.most {
            roots[name] = Root(task: root, seenAt: call.at)
        }
        guard running[root] != nil || running.count < Self.most else { return }
        if running[root] == nil { starts.append(call.at) }
        var task = running[root] ?? Task(seenAt: call.at)
        task.calls += 1
        task.micros += micros
        task.seenAt = max(task.seenAt, call.at)
        running[root] = task
    }

    /// Takes out tasks that have ended by `now`, and starts before `oldest`.
    mutating func settle(since oldest: Timestamp, at now: Timestamp) {
        let gone = now.adding(seconds: -Self.idleSeconds)
        for (root, task) in running.filter({ $0.value.seenAt < gone }).sorted(by: { $0.key < $1.key }) {
            running[root] = nil
            let kept = ended.tasks < 100 ? 1 : 0.99
            ended = (ended.tasks * kept + 1, ended.calls * kept + task.calls, ended.micros * kept + task.micros)
        }
        roots = roots.filter { $0.value.seenAt >= gone || running[$0.value.task] != nil }
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
        left.running == right.running && left.roots == right.roots && left.starts == right.starts
            && left.ended == right.ended
    }

    // MARK: Checkpoint

    func write(to writer: inout ByteWriter) {
        writer.write(running.sorted { $0.key < $1.key }) { writer, entry in
            writer.write(entry.key)
            writer.write(entry.value.seenAt)
            writer.write(entry.value.calls)
            writer.write(entry.value.micros)
        }
        writer.write(roots.sorted { $0.key < $1.key }) { writer, entry in
            writer.write(entry.key)
            writer.write(entry.value.task)
            writer.write(entry.value.seenAt)
        }
        writer.write(starts) { $0.write($1) }
        writer.write(ended.tasks)
        writer.write(ended.calls)
        writer.write(ended.micros)
    }

    init(from reader: inout ByteReader) throws(ByteCodingError) {
        for _ in 0..<(try reader.readCount(leastBytes: 32)) {
            let root = try reader.read(UInt64.self)
            running[root] = Task(
                seenAt: try reader.readTimestamp(), calls: try reader.readAmount(), micros: try reader.readAmount())
        }
        for _ in 0..<(try reader.readCount(leastBytes: 24)) {
            let name = try reader.read(UInt64.self)
            roots[name] = Root(task: try reader.read(UInt64.self), seenAt: try reader.readTimestamp())
        }
        starts = try reader.readArray(leastBytes: 8) { try $0.readTimestamp() }
        ended = (try reader.readAmount(), try reader.readAmount(), try reader.readAmount())
    }
}

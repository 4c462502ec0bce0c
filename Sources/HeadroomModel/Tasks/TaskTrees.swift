/// Agent tasks in progress, each with what it has used together with the tasks below it.
///
/// The control plane counts tasks of all gateways by it, and a gateway those that pass through it. Bounded, since anyone can
/// name a task: where there is no room, tasks that were used longest ago are forgotten, a tenant's own first.
public struct TaskTrees: Equatable, Sendable {
    public struct Node: Equatable, Sendable {
        /// Of the same tenant; `nil`: the task began the tree.
        public internal(set) var parent: String?
        /// The first that was named.
        public internal(set) var kind: String?
        /// Where it called last.
        public internal(set) var pool: PoolID
        public internal(set) var begunAt: Timestamp
        /// When it, or a task below it, was heard of last.
        public internal(set) var seenAt: Timestamp
        /// Without the time, which follows from the two before.
        public internal(set) var use = TaskUse()
        /// Of the levels of tasks below it.
        public internal(set) var depth = 0
        /// Whose calls there were, ascending; at most ``TaskTrees/maxGateways``.
        public internal(set) var gateways: [GatewayID] = []
        /// It was said to have ended.
        public internal(set) var isOver = false
        /// It is forgotten after all others of its tenant: a flood of new names must not free a task that is held back.
        public var isKept = false

        fileprivate mutating func rise(to level: Int) { depth = max(depth, level) }
        fileprivate mutating func see(at now: Timestamp) { seenAt = max(seenAt, now) }

        /// What it has used, by its last call.
        public var used: TaskUse {
            var used = use
            used[.seconds] = max(0, seenAt.seconds(since: begunAt))
            return used
        }
    }

    /// Deeper trees are no agent's; and a loop in what callers say of parents comes to an end.
    public static let maxDepth = 16
    public static let maxGateways = 16
    /// A task that nothing was heard of for so long is forgotten, and begins anew if it comes again.
    public static let idleSeconds = 3600.0

    public private(set) var nodes: [TaskName: Node] = [:]
    private var counts: [TenantID: Int] = [:]
    private let most: Int
    private let mostOfOne: Int

    /// - Parameters:
    ///   - most: tasks that are followed at once.
    ///   - mostOfOne: of one tenant.
    public init(most: Int, ofOneTenant mostOfOne: Int) {
        self.most = max(2, most)
        self.mostOfOne = max(2, min(most, mostOfOne))
    }

    public subscript(name: TaskName) -> Node? { nodes[name] }

    /// The task and those above it, from below.
    public func lineage(of name: TaskName) -> [TaskName] {
        var lineage = [name]
        while lineage.count < Self.maxDepth, let parent = nodes[lineage[lineage.count - 1]]?.parent {
            let next = TaskName(parent, of: name.tenant)
            guard nodes[next] != nil, !lineage.contains(next) else { break }
            lineage.append(next)
        }
        return lineage
    }

    /// The kind that was named for the task, or for the nearest above it.
    public func kind(of name: TaskName) -> String? {
        for name in lineage(of: name) { if let kind = nodes[name]?.kind { return kind } }
        return nil
    }

    // MARK: Use

    /// The task is heard of, as are those above it; it begins if it is new, and counts among its parent's.
    /// - Returns: its ``lineage(of:)``.
    @discardableResult
    public mutating func open(
        _ name: TaskName, parent: String?, kind: String? = nil, in pool: PoolID, at now: Timestamp
    ) -> [TaskName] {
        if nodes[name] == nil {
            let above = parent.flatMap { $0 == name.task ? nil : TaskName($0, of: name.tenant) }
            makeRoom(for: name.tenant, at: now)
            // Most agents name the task that started others only there.
            if let above, nodes[above] == nil { begin(above, parent: nil, in: pool, at: now) }
            begin(name, parent: above?.task, in: pool, at: now)
            if let above { nodes[above]?.use[.fanOut] += 1 }
            for (level, ancestor) in lineage(of: name).enumerated() {
                nodes[ancestor]?.rise(to: level)
            }
        }
        nodes[name]?.pool = pool
        if let kind, nodes[name]?.kind == nil { nodes[name]?.kind = kind }
        let lineage = lineage(of: name)
        for ancestor in lineage {
            nodes[ancestor]?.see(at: now)
        }
        return lineage
    }

    /// Adds what the first of `lineage` has used to it and to those above; rounds of its loop are its own.
    public mutating func add(_ use: TaskUse, to lineage: [TaskName]) {
        var use = use
        for name in lineage {
            guard let node = nodes[name] else { continue }
            nodes[name]?.use = (node.use + use).notNegative
            use[.iterations] = 0
        }
    }

    public mutating func note(_ gateway: GatewayID, of lineage: [TaskName]) {
        for name in lineage {
            guard let known = nodes[name]?.gateways, known.count < Self.maxGateways, !known.contains(gateway) else {
                continue
            }
            nodes[name]?.gateways = (known + [gateway]).sorted()
        }
    }

    /// It goes on all the same if it is heard of again: an end is only a word.
    public mutating func end(_ name: TaskName) { nodes[name]?.isOver = true }

    public mutating func keep(_ names: Set<TaskName>) {
        // In place: a copy of all nodes takes longer than the walk.
        for place in nodes.indices {
            let isKept = names.contains(nodes.keys[place])
            if nodes.values[place].isKept != isKept { nodes.values[place].isKept = isKept }
        }
    }

    /// A new task takes its name back: it was not begun after all.
    public mutating func close(_ name: TaskName) {
        guard let node = nodes.removeValue(forKey: name) else { return }
        counts[name.tenant, default: 1] -= 1
        if let parent = node.parent { nodes[TaskName(parent, of: name.tenant)]?.use[.fanOut] -= 1 }
    }

    /// Forgets the tasks that were heard of last before `instant`. A task is heard of as long as any below it is.
    /// - Returns: those that began a tree, ascending by name.
    @discardableResult
    public mutating func forget(before instant: Timestamp) -> [Node] {
        let gone = nodes.filter { $0.value.seenAt < instant }
        guard !gone.isEmpty else { return [] }
        remove(gone.keys)
        return gone.filter { $0.value.parent == nil }.sorted { $0.key < $1.key }.map(\.value)
    }

    public mutating func forget(tenants isGone: (TenantID) -> Bool) {
        remove(nodes.keys.filter { isGone($0.tenant) })
    }

    private mutating func remove(_ names: some Sequence<TaskName>) {
        for name in names {
            nodes[name] = nil
            counts[name.tenant, default: 1] -= 1
            if counts[name.tenant] == 0 { counts[name.tenant] = nil }
        }
    }

    private mutating func begin(_ name: TaskName, parent: String?, in pool: PoolID, at now: Timestamp) {
        nodes[name] = Node(parent: parent, pool: pool, begunAt: now, seenAt: now)
        counts[name.tenant, default: 0] += 1
    }

    /// A tenth at once: looking for the oldest takes a walk over all.
    private mutating func makeRoom(for tenant: TenantID, at now: Timestamp) {
        if counts[tenant, default: 0] + 2 > mostOfOne {
            removeOldest(mostOfOne / 10) { $0.tenant == tenant }
        } else if nodes.count + 2 > most {
            removeOldest(most / 10) { _ in true }
        }
    }

    private mutating func removeOldest(_ count: Int, _ isAmong: (TaskName) -> Bool) {
        let names = nodes.filter { isAmong($0.key) }
            .sorted { left, right in
                if left.value.isKept != right.value.isKept { return right.value.isKept }
                return (left.value.seenAt, left.key) < (right.value.seenAt, right.key)
            }.map(\.key)
        remove(names.prefix(max(2, count)))
    }

    // MARK: Checkpoint

    public func write(to writer: inout ByteWriter) {
        writer.write(nodes.sorted { $0.key < $1.key }) { writer, entry in
            let node = entry.value
            writer.write(entry.key.tenant.text)
            writer.write(entry.key.task)
            writer.write(node.parent) { $0.write($1) }
            writer.write(node.kind) { $0.write($1) }
            writer.write(node.pool.text)
            writer.write(node.begunAt)
            writer.write(node.seenAt)
            for measure in TaskMeasure.allCases { writer.write(node.use[measure]) }
            writer.write(UInt8(clamping: node.depth))
            writer.write(node.gateways) { $0.write($1.text) }
            writer.write(node.isOver)
        }
    }

    /// In place of what there was.
    public mutating func read(from reader: inout ByteReader) throws(ByteCodingError) {
        var read: [TaskName: Node] = [:]
        for _ in 0..<(try reader.readCount(leastBytes: 84)) {
            let tenant: TenantID = try reader.readIdentifier()
            let name = TaskName(try reader.readString(), of: tenant)
            let parent = try reader.readOptional { try $0.readString() }
            let kind = try reader.readOptional { try $0.readString() }
            var node = Node(
                parent: parent, kind: kind, pool: try reader.readIdentifier(), begunAt: try reader.readTimestamp(),
                seenAt: try reader.readTimestamp())
            for measure in TaskMeasure.allCases { node.use[measure] = try reader.readFinite() }
            node.depth = Int(try reader.read(UInt8.self))
            node.gateways = try reader.readArray(leastBytes: 3) { try $0.readIdentifier() }
            node.isOver = try reader.readBool()
            read[name] = node
        }
        nodes = read
        counts = Dictionary(grouping: read.keys, by: \.tenant).mapValues(\.count)
    }
}

import HeadroomModel

/// Counts agent tasks over all gateways, and says which of them are held back: those that near the end of their budgets, those
/// that have used them up, and those that a person has stopped.
///
/// A gateway holds a task to what passes through it at once. What a tree sends through several is known here once they have
/// reported it, so that it can exceed its budget by what it sends within a call, a second of telemetry and a tick.
public struct TaskWatch: Sendable {
    /// Of the bytes of ``checkpoint()``: raised when their meaning changes.
    private static let version: UInt32 = 0x544B_0002  // "TK", 2
    /// Without how long tasks take.
    private static let versionOfTrees: UInt32 = 0x544B_0001
    private static let most = 20_000
    private static let mostOfOneTenant = 2_000

    private var trees = TaskTrees(most: Self.most, ofOneTenant: Self.mostOfOneTenant)
    /// Those that their budgets held back wholly in the last step.
    private var spent: Set<TaskName> = []
    private var stops = 0
    private var timer = TaskTimer()

    public init() {}

    // MARK: Use

    public mutating func fold(_ record: TelemetryRecord, under rules: Rules) {
        switch record {
        case .call(let call):
            guard let task = call.task else { return }
            let name = TaskName(task, of: call.tenant)
            guard call.outcome == .ok else { return timer.note(call, of: root(of: name, parent: call.parent)) }
            let lineage = trees.open(name, parent: call.parent, kind: call.taskKind, in: call.pool, at: call.at)
            timer.note(call, of: lineage.last ?? name)
            trees.note(call.gateway, of: lineage)
            trees.add(
                TaskUse(
                    calls: 1, iterations: call.isToolWork ? 0 : 1, tokens: call.work[.tokens],
                    micros: rules.micros(of: call, in: rules.policy.taskBudgets.currency) ?? 0),
                to: lineage)
        case .task(let record):
            let name = TaskName(record.task, of: record.tenant)
            let lineage = trees.open(name, parent: record.parent, in: record.pool, at: record.at)
            trees.note(record.gateway, of: lineage)
            timer.note(record, of: lineage.last ?? name)
            if record.state == .completed || record.state == .failed { trees.end(name) }
        case .window, .queue, .response, .model: return
        }
    }

    /// Of a task that may not be known: a call that was not served uses nothing, and begins none.
    private func root(of name: TaskName, parent: String?) -> TaskName {
        let known = trees[name] == nil ? parent.map { TaskName($0, of: name.tenant) } ?? name : name
        return trees.lineage(of: known).last ?? known
    }

    public mutating func forget(_ fingerprints: Set<UInt64>) {
        timer.forget(fingerprints)
        trees.forget { fingerprints.contains($0.text.fingerprint) }
        spent = spent.filter { !fingerprints.contains($0.tenant.text.fingerprint) }
    }

    // MARK: The decision

    /// What is made of one task by its own limits, or by a person.
    private struct Stand {
        /// With all tasks below it.
        var hold = TaskHold.nothing
        /// Its own calls, at least as far.
        var ownHold = TaskHold.nothing
        var measure: TaskMeasure?
        var limits = TaskLimits()
        var isFull = false
        var ruling: TaskRuling?

        init(_ ruling: TaskRuling?) {
            self.ruling = ruling
            if ruling?.verdict == .stop { (hold, ownHold) = (.all, .all) }
        }

        /// What gateways hear of.
        var isSaid: Bool { ownHold > .nothing || isFull || ruling != nil }
    }

    /// Once a tick, after its telemetry.
    public mutating func step(under rules: Rules, at now: Timestamp) -> TaskReports {
        trees.forget(before: now.adding(seconds: -TaskTrees.idleSeconds))
        let rulings = Dictionary(
            rules.steering.taskRulings.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        var stands: [TaskName: Stand] = [:]
        for (name, node) in trees.nodes {
            let stand = stand(of: name, node, ruling: rulings[name], rules)
            if stand.isSaid { stands[name] = stand }
        }
        // Also those that nothing was heard of yet.
        for (name, ruling) in rulings where stands[name] == nil {
            stands[name] = Stand(ruling)
        }
        trees.keep(Set(stands.keys))
        let nowSpent = Set(stands.lazy.filter { $0.value.ownHold == .all && $0.value.ruling == nil }.map(\.key))
        stops += nowSpent.subtracting(spent).count
        spent = nowSpent

        let children = Dictionary(
            grouping: trees.nodes.lazy.filter { $0.value.parent != nil }.map(\.key),
            by: { TaskName(trees[$0]?.parent ?? "", of: $0.tenant) })
        var reports = self.reports(stands, children, rules)
        reports.held = held(stands, children)
        reports.followed = trees.nodes.count
        reports.stops = stops
        reports.paces = timer.step(at: now)
        reports.ended = timer.endedSinceStart
        return reports
    }

    /// Of tasks that ended since they were last stored.
    public var unstoredTimes: [TaskTimeRollup] { timer.rollups }

    public mutating func forgetUnstoredTimes() { timer.forgetRollups() }

    private func stand(
        of name: TaskName, _ node: TaskTrees.Node, ruling: TaskRuling?, _ rules: Rules
    ) -> Stand {
        var stand = Stand(ruling)
        guard let limits = rules.taskLimits(of: name.tenant, kind: trees.kind(of: name), in: node.pool) else {
            return stand
        }
        stand.limits = limits
        guard ruling == nil else { return stand }
        // Before the next call, as a gateway asks.
        let next = node.used + TaskUse(calls: 1, iterations: 1)
        let (share, measure) = limits.share(of: next)
        let ownShare = limits.ownShare(of: next)
        stand.hold = TaskHold(atShare: share)
        stand.ownHold = TaskHold(atShare: max(share, ownShare))
        if stand.ownHold > .nothing { stand.measure = ownShare > share ? .iterations : measure }
        stand.isFull = limits.isFull(with: node.use)
        return stand
    }

    /// Those that are held back or lifted, and all tasks below one that is held back: a gateway may not know whose they are.
    private func held(_ stands: [TaskName: Stand], _ children: [TaskName: [TaskName]]) -> [TaskTerms.Held] {
        var held: [TaskName: TaskTerms.Held] = [:]
        // The strictest first, so that each task is walked through once.
        let first = stands.sorted { ($1.value.hold, $0.key) < ($0.value.hold, $1.key) }
        for (name, stand) in first where stand.hold > .nothing {
            var names = [name]
            while let next = names.popLast() {
                guard held[next] == nil else { continue }
                held[next] = TaskTerms.Held(next, stand.hold, isCost: stand.measure == .micros)
                names += children[next] ?? []
            }
        }
        for (name, stand) in stands where stand.ownHold > stand.hold {
            let known = held[name, default: TaskTerms.Held(name, .nothing)]
            held[name] = known
            held[name]?.ownHold = max(known.ownHold, stand.ownHold)
        }
        for (name, stand) in stands where stand.isFull {
            held[name, default: TaskTerms.Held(name, .nothing)].isFull = true
            for child in children[name] ?? [] where held[child] == nil { held[child] = TaskTerms.Held(child, .nothing) }
        }
        for (name, stand) in stands where stand.ruling?.verdict == .lift {
            held[name, default: TaskTerms.Held(name, .nothing)].isLifted = true
        }
        func goesFirst(_ left: TaskTerms.Held, _ right: TaskTerms.Held) -> Bool {
            if left.isLifted != right.isLifted { return left.isLifted }
            if left.ownHold != right.ownHold { return left.ownHold > right.ownHold }
            let seen = (trees[left.name]?.seenAt, trees[right.name]?.seenAt)
            if let own = seen.0, let other = seen.1, own != other { return own > other }
            return left.name < right.name
        }
        return held.values.sorted(by: goesFirst).prefix(TaskTerms.maxHeld).sorted { $0.name < $1.name }
    }

    private func reports(
        _ stands: [TaskName: Stand], _ children: [TaskName: [TaskName]], _ rules: Rules
    ) -> TaskReports {
        let roots = trees.nodes.lazy.filter { $0.value.parent == nil }.map(\.key).filter { stands[$0] == nil }
        let said = stands.keys.sorted { left, right in
            let holds = (stands[left]?.ownHold ?? .nothing, stands[right]?.ownHold ?? .nothing)
            return holds.0 != holds.1 ? holds.0 > holds.1 : left < right
        }
        let others = roots.map { (seenAt: trees[$0]?.seenAt ?? Timestamp(milliseconds: 0), name: $0) }
            .sorted { ($1.seenAt, $0.name) < ($0.seenAt, $1.name) }.map(\.name)
        var reports = TaskReports()
        var counts: [TenantID: Int] = [:]
        for name in said + others {
            guard reports.tasks.count < TaskReports.maxTasks,
                counts[name.tenant, default: 0] < TaskReports.maxOfOneTenant
            else {
                reports.leftOut += 1
                continue
            }
            counts[name.tenant, default: 0] += 1
            reports.tasks.append(report(of: name, stands[name], children[name] ?? [], rules))
        }
        return reports
    }

    private func report(
        of name: TaskName, _ stand: Stand?, _ children: [TaskName], _ rules: Rules
    ) -> TaskReport {
        guard let node = trees[name] else {
            let at = stand?.ruling?.authorship.at ?? Timestamp(milliseconds: 0)
            return TaskReport(
                name: name, root: name.task, begunAt: at, seenAt: at, hold: stand?.ownHold ?? .nothing,
                ruling: stand?.ruling)
        }
        let kind = trees.kind(of: name)
        let largest = children.map { TaskReport.Child(task: $0.task, use: trees[$0]?.used ?? TaskUse()) }
            .sorted { left, right in
                let tokens = (left.use[.tokens], right.use[.tokens])
                return tokens.0 != tokens.1 ? tokens.0 > tokens.1 : left.task < right.task
            }
        return TaskReport(
            name: name, parent: node.parent, root: trees.lineage(of: name).last?.task ?? name.task, kind: kind,
            begunAt: node.begunAt, seenAt: node.seenAt, use: node.used,
            limits: stand?.limits ?? rules.taskLimits(of: name.tenant, kind: kind, in: node.pool) ?? TaskLimits(),
            depth: node.depth, gateways: node.gateways, children: Array(largest.prefix(TaskReport.maxChildren)),
            hold: stand?.ownHold ?? .nothing, measure: stand?.measure, isFull: stand?.isFull ?? false,
            isOver: node.isOver, ruling: stand?.ruling)
    }

    // MARK: Checkpoint

    public func checkpoint() -> [UInt8] {
        guard !trees.nodes.isEmpty || !timer.isEmpty else { return [] }
        var writer = ByteWriter()
        writer.write(Self.version)
        trees.write(to: &writer)
        timer.write(to: &writer)
        return writer.bytes
    }

    /// Bytes of another version, or damaged ones, change nothing.
    public mutating func restore(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        var restored = self
        let version = try? reader.read(UInt32.self)
        guard version == Self.version || version == Self.versionOfTrees,
            (try? restored.trees.read(from: &reader)) != nil
        else { return }
        if version == Self.version, (try? restored.timer.read(from: &reader)) == nil { return }
        self = restored
    }
}

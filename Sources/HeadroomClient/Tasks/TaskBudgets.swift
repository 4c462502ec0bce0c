import HeadroomModel
import Synchronization

/// The agent tasks at this gateway, held to the budgets that Headroom states and to what it counts over all gateways.
///
/// A task that nears its end is slowed down before it is stopped, so that it can finish with what it has: first its tool
/// work is held back, then new branches, then all but its finishing step. What a task uses counts for the tasks above it.
/// What passes through this gateway counts at once, from before it is sent; Headroom adds what others report, and money.
final class TaskBudgets: Sendable {
    /// One pool's, by the snapshot in force.
    private struct Terms {
        var terms: TaskTerms
        var held: [String: [String: TaskTerms.Held]] = [:]

        init(_ terms: TaskTerms) {
            self.terms = terms
            for held in terms.held { self.held[held.name.tenant.text, default: [:]][held.name.task] = held }
        }

        subscript(name: TaskName) -> TaskTerms.Held? {
            held.isEmpty ? nil : held[name.tenant.text]?[name.task]
        }
    }

    private struct State {
        var trees = TaskTrees(most: TaskBudgets.maxTasks, ofOneTenant: TaskBudgets.maxTasks)
        var terms: [PoolID: Terms] = [:]
        var refused = 0
        var sweptAt: Timestamp?
    }

    private static let maxTasks = 50_000
    private static let sweepSeconds = 60.0

    private let state = Mutex(State())

    /// Calls that their tasks' budgets refused, since the start.
    var refused: Int { state.withLock { $0.refused } }

    /// - Returns: whether it forbids what the one before let go.
    func load(_ terms: TaskTerms?, of pool: PoolID) -> Bool {
        state.withLock { state in
            let before = state.terms[pool]?.terms
            guard terms != before else { return false }
            state.terms[pool] = terms.flatMap { $0.isEmpty ? nil : Terms($0) }
            return terms?.held.contains { $0.ownHold == .all } ?? false
        }
    }

    /// Takes what the call is expected to cost from the budgets of its task and of those above. A refusal says what to do.
    /// - Parameters:
    ///   - tier: of the tenant in the pool, where the snapshot names it.
    ///   - pool: where the call goes.
    func reserve(_ call: Call, _ estimate: Work, tier: String?, in pool: PoolID, at now: Timestamp) -> Refusal? {
        state.withLock { state in
            guard let task = call.task else {
                guard state.terms[pool]?.terms.requiresTask == true else { return nil }
                state.refused += 1
                return Refusal(
                    .fail,
                    "calls in \(pool) have to name their agent task: send task, and parent where another task started it"
                )
            }
            let sweptAt = state.sweptAt ?? now
            if now.seconds(since: sweptAt) >= Self.sweepSeconds {
                state.trees.forget(before: now.adding(seconds: -TaskTrees.idleSeconds))
                state.sweptAt = now
            } else {
                state.sweptAt = sweptAt
            }
            let name = TaskName(task, of: call.tenant)
            let isNew = state.trees[name] == nil
            let lineage = state.trees.open(name, parent: call.parent, kind: call.taskKind, in: pool, at: now)
            guard let terms = state.terms[pool] else {
                // Counted all the same: budgets may come.
                state.trees.add(Self.use(of: call, estimate), to: lineage)
                return nil
            }
            let isBegun = !isNew || terms[name] != nil
            guard let objection = objection(to: call, estimate, lineage, isBegun: isBegun, tier, terms, state, at: now)
            else {
                state.trees.add(Self.use(of: call, estimate), to: lineage)
                return nil
            }
            if isNew { state.trees.close(name) }
            state.refused += 1
            return Refusal(
                call.fallback == .fail ? .fail : .fallback, exhausted: objection.isCost ? .cost : .taskBudget,
                objection.text)
        }
    }

    /// What the call really cost replaces what was taken.
    func settle(_ call: Call, estimate: Work, actual: Work) {
        guard let task = call.task else { return }
        state.withLock { state in
            let lineage = state.trees.lineage(of: TaskName(task, of: call.tenant))
            state.trees.add(Self.use(of: call, actual) - Self.use(of: call, estimate), to: lineage)
        }
    }

    /// The refusal of a call that waits for its turn in a task that has been stopped meanwhile.
    func stop(of call: Call, in pool: PoolID) -> Refusal? {
        state.withLock { state in
            guard let terms = state.terms[pool], let task = call.task else { return nil }
            let names = state.trees.lineage(of: TaskName(task, of: call.tenant))
            let held = names.enumerated().lazy.compactMap { level, name -> TaskTerms.Held? in
                guard let held = terms[name] else { return nil }
                return (level == 0 ? held.ownHold : held.hold) == .all ? held : nil
            }
            guard let held = held.first else { return nil }
            state.refused += 1
            return Refusal(
                call.fallback == .fail ? .fail : .fallback, exhausted: held.isCost ? .cost : .taskBudget,
                Self.text(of: held))
        }
    }

    /// A call that was not sent was no round.
    private static func use(of call: Call, _ work: Work) -> TaskUse {
        TaskUse(
            calls: work[.requests], iterations: call.work == .model ? work[.requests] : 0, tokens: work[.tokens])
    }

    private typealias Objection = (text: String, isCost: Bool)

    /// - Parameter lineage: the call's own task first, which alone has its rounds.
    private func objection(
        to call: Call, _ estimate: Work, _ lineage: [TaskName], isBegun: Bool, _ tier: String?, _ terms: Terms,
        _ state: State, at now: Timestamp
    ) -> Objection? {
        let kinds = terms.terms.budgets
        let needsKind = kinds.contains { $0.taskKind != nil }
        let use = Self.use(of: call, estimate)
        for (level, name) in lineage.enumerated() {
            let held = terms[name]
            let hold = level == 0 ? held?.ownHold : held?.hold
            let isBranch = !isBegun && level > 0
            if let held, let hold, let reason = Self.reason(hold, call, isBranch: isBranch) {
                return (
                    hold == .all ? Self.text(of: held) : "the task \(name.task) is near its end: \(reason)",
                    held.isCost
                )
            }
            if isBranch, level == 1, held?.isFull == true { return (Self.fullText(name, nil), false) }
            guard held?.isLifted != true, let node = state.trees[name],
                let limits = kinds.limits(
                    of: name.tenant, kind: needsKind ? state.trees.kind(of: name) : nil, tier: tier)
            else { continue }
            // It is among the started ones already.
            var started = node.use
            started[.fanOut] -= 1
            if isBranch, level == 1, limits.isFull(with: started) { return (Self.fullText(name, limits), false) }
            var next = node.use + use
            next[.seconds] = max(0, now.seconds(since: node.begunAt))
            let share = max(limits.share(of: next).share, level == 0 ? limits.ownShare(of: next) : 0)
            guard let reason = Self.reason(TaskHold(atShare: share), call, isBranch: isBranch) else { continue }
            let percent = Int(min(share * 100, 1e9).rounded(.down))
            return ("the task \(name.task) has used \(percent) % of its budget: \(reason)", false)
        }
        return nil
    }

    private static func reason(_ hold: TaskHold, _ call: Call, isBranch: Bool) -> String? {
        if hold == .all { return "nothing is left; a person may lift it: headroom tasks lift" }
        if call.isFinishing { return nil }
        if hold == .steps { return "only its finishing step may go" }
        if hold >= .branches, isBranch { return "it may start no more tasks" }
        if hold >= .tools, call.work == .tool { return "its tool work is held back" }
        return nil
    }

    private static func fullText(_ name: TaskName, _ limits: TaskLimits?) -> String {
        let count = limits?[.fanOut].map { "all \($0)" } ?? "all the"
        return "the task \(name.task) has started \(count) tasks that it may start"
    }

    private static func text(of held: TaskTerms.Held) -> String {
        "the task \(held.name.task) is stopped, with all tasks below it: its budget is used up, or a person has stopped it; "
            + "headroom tasks says why, and headroom tasks lift lets it go on"
    }
}

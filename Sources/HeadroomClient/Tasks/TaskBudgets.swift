import HeadroomModel
import Synchronization

/// What one agent task may use, together with the tasks that it has started. An absent number is no limit.
public struct TaskLimits: Equatable, Sendable {
    /// Calls to models that were sent.
    public var calls: Int?
    /// Tokens of prompts and answers.
    public var tokens: Int?
    /// Rounds of one task's own loop: its calls with ``Call/work`` = `model`. Its tool work and the tasks that it starts
    /// count for none of its rounds.
    public var iterations: Int?
    /// Tasks that one task may start.
    public var fanOut: Int?
    /// Money, in the unit of the prices (``BudgetManager/Settings/prices``).
    public var cost: Double?

    public init(
        calls: Int? = nil, tokens: Int? = nil, iterations: Int? = nil, fanOut: Int? = nil, cost: Double? = nil
    ) {
        self.calls = calls
        self.tokens = tokens
        self.iterations = iterations
        self.fanOut = fanOut
        self.cost = cost
    }
}

/// What a pool's tokens cost, for each million of them.
public struct TokenPrice: Equatable, Sendable {
    public var inputPerMillion: Double
    public var outputPerMillion: Double

    public init(inputPerMillion: Double, outputPerMillion: Double) {
        self.inputPerMillion = inputPerMillion
        self.outputPerMillion = outputPerMillion
    }

    func cost(of work: Work) -> Double {
        (work[.inputTokens] * inputPerMillion + work[.outputTokens] * outputPerMillion) / 1_000_000
    }
}

/// A task has used up its budget: a person should look at it.
public struct Escalation: Equatable, Sendable, CustomStringConvertible {
    public let tenant: TenantID
    public let task: String
    /// What the task has used, and what it may.
    public let description: String
}

/// The budgets of the agent tasks at this gateway.
///
/// A task that nears its end is slowed down before it is stopped, so that it can finish with what it has: first its tool
/// work is held back, then new branches, then all but its finishing step. What a task uses counts for the tasks above it.
final class TaskBudgets: Sendable {
    private struct Key: Hashable {
        let tenant: TenantID
        let task: String
    }

    private struct Account {
        var parent: Key?
        var calls = 0.0
        var tokens = 0.0
        var iterations = 0.0
        var cost = 0.0
        var children = 0
        var usedAt: Timestamp
        var isEscalated = false
    }

    private struct State {
        var accounts: [Key: Account] = [:]
        var escalations: [Escalation] = []
    }

    /// From these shares of its budget on, a task's kinds of work are held back.
    private static let toolShare = 0.8
    private static let branchShare = 0.9
    private static let lastShare = 0.95
    /// A loop in what callers say of parents comes to an end.
    private static let maxDepth = 16
    /// Tasks that have done nothing for that long are forgotten; of more, those that were used longest ago.
    private static let idleSeconds = 3600.0
    private static let maxTasks = 50_000
    private static let maxEscalations = 100

    private let limits: TaskLimits
    private let prices: [PoolID: TokenPrice]
    private let state = Mutex(State())

    init(limits: TaskLimits, prices: [PoolID: TokenPrice] = [:]) {
        self.limits = limits
        self.prices = prices
    }

    /// The last ones, oldest first.
    var escalations: [Escalation] { state.withLock { $0.escalations } }

    /// Takes what the call is expected to cost from the budgets of its task and of those above. A refusal says what to do.
    /// - Parameter pool: where the call goes.
    func reserve(_ call: Call, _ estimate: Work, in pool: PoolID, at now: Timestamp) -> Refusal? {
        guard let key = Self.key(of: call) else { return nil }
        let cost = prices[pool]?.cost(of: estimate) ?? 0
        return state.withLock { state in
            let isNew = state.accounts[key] == nil
            if isNew { open(key, parent: call.parent, &state, at: now) }
            let lineage = Self.lineage(of: key, state)
            if isNew, let parent = lineage.dropFirst().first, let refusal = refuseBranch(of: parent, state) {
                state.accounts[key] = nil
                return refusal
            }
            for ancestor in lineage {
                let rounds = ancestor == key ? Self.rounds(of: call, estimate) : nil
                let (share, isCost) = share(of: ancestor, adding: estimate, cost, rounds: rounds, state)
                guard let reason = Self.objection(to: call, isBranch: isNew && ancestor != key, at: share) else {
                    continue
                }
                if share > 1 { escalate(ancestor, &state) }
                if isNew { state.accounts[key] = nil }
                return Refusal(
                    call.fallback == .fail ? .fail : .fallback, exhausted: isCost ? .cost : .taskBudget,
                    "the task \(ancestor.task) has used \(Int((share * 100).rounded(.down))) % of its budget: \(reason)"
                )
            }
            if isNew, let parent = lineage.dropFirst().first { state.accounts[parent]?.children += 1 }
            add(estimate, cost, of: call, to: lineage, &state, at: now)
            return nil
        }
    }

    /// What the call really cost replaces what was taken.
    func settle(_ call: Call, estimate: Work, actual: Work, in pool: PoolID, at now: Timestamp) {
        guard let key = Self.key(of: call) else { return }
        let cost = prices[pool].map { $0.cost(of: actual) - $0.cost(of: estimate) } ?? 0
        state.withLock { state in
            add(actual - estimate, cost, of: call, to: Self.lineage(of: key, state), &state, at: now)
        }
    }

    /// A call that was not sent was no round.
    private static func rounds(of call: Call, _ work: Work) -> Double { call.work == .model ? work[.requests] : 0 }

    private static func key(of call: Call) -> Key? { call.task.map { Key(tenant: call.tenant, task: $0) } }

    private static func lineage(of key: Key, _ state: State) -> [Key] {
        var lineage = [key]
        while lineage.count < maxDepth, let parent = state.accounts[lineage[lineage.count - 1]]?.parent,
            !lineage.contains(parent)
        {
            lineage.append(parent)
        }
        return lineage
    }

    private func open(_ key: Key, parent: String?, _ state: inout State, at now: Timestamp) {
        if state.accounts.count >= Self.maxTasks {
            let oldest = state.accounts.values.map(\.usedAt).sorted()[Self.maxTasks / 10]
            let limit = max(oldest, now.adding(seconds: -Self.idleSeconds))
            state.accounts = state.accounts.filter { $0.value.usedAt > limit }
        }
        let parent = parent.map { Key(tenant: key.tenant, task: $0) }
        if let parent, state.accounts[parent] == nil { state.accounts[parent] = Account(usedAt: now) }
        state.accounts[key] = Account(parent: parent == key ? nil : parent, usedAt: now)
    }

    private func refuseBranch(of parent: Key, _ state: State) -> Refusal? {
        guard let fanOut = limits.fanOut, let account = state.accounts[parent], account.children >= fanOut else {
            return nil
        }
        return Refusal(
            .fail, exhausted: .taskBudget,
            "the task \(parent.task) has started \(account.children) tasks, and may start \(fanOut)")
    }

    private static func objection(to call: Call, isBranch: Bool, at share: Double) -> String? {
        if share > 1 { return "nothing is left; raise the budget, or let a person decide" }
        if call.isFinishing { return nil }
        if share > lastShare { return "only its finishing step may go" }
        if share > branchShare, isBranch { return "it may start no more tasks" }
        if share > toolShare, call.work == .tool { return "its tool work is held back" }
        return nil
    }

    /// The largest part of a budget that would be used, and whether it is that of money.
    /// - Parameter rounds: of the task's own loop; `nil` for a task above it, whose loop stands still meanwhile.
    private func share(
        of key: Key, adding estimate: Work, _ cost: Double, rounds: Double?, _ state: State
    ) -> (share: Double, isCost: Bool) {
        guard let account = state.accounts[key] else { return (0, false) }
        let calls = limits.calls.map { (account.calls + estimate[.requests]) / Double(max(1, $0)) } ?? 0
        let tokens = limits.tokens.map { (account.tokens + estimate[.tokens]) / Double(max(1, $0)) } ?? 0
        let iterations =
            rounds.flatMap { rounds in
                limits.iterations.map { (account.iterations + rounds) / Double(max(1, $0)) }
            } ?? 0
        let work = max(calls, tokens, iterations)
        let money = limits.cost.map { $0 > 0 ? (account.cost + cost) / $0 : 2 } ?? 0
        return (max(work, money), money > work)
    }

    /// - Parameter lineage: the call's own task first, which alone has its rounds.
    private func add(
        _ work: Work, _ cost: Double, of call: Call, to lineage: [Key], _ state: inout State, at now: Timestamp
    ) {
        state.accounts[lineage[0]]?.iterations += Self.rounds(of: call, work)
        for key in lineage {
            state.accounts[key]?.calls += work[.requests]
            state.accounts[key]?.tokens += work[.tokens]
            state.accounts[key]?.cost += cost
            state.accounts[key]?.usedAt = now
        }
    }

    /// Once a task.
    private func escalate(_ key: Key, _ state: inout State) {
        guard let account = state.accounts[key], !account.isEscalated else { return }
        state.accounts[key]?.isEscalated = true
        let cost = limits.cost.map { _ in ", which cost \((account.cost * 100).rounded() / 100)" } ?? ""
        let rounds = limits.iterations.map { _ in "\(Int(account.iterations)) iterations, " } ?? ""
        let used = "\(rounds)\(Int(account.calls)) calls and \(Int(account.tokens)) tokens\(cost)"
        let may = [
            limits.calls.map { "\($0) calls" }, limits.tokens.map { "\($0) tokens" },
            limits.iterations.map { "\($0) iterations" },
            limits.cost.map { "\($0) of money" },
        ].compactMap { $0 }
        state.escalations.append(
            Escalation(
                tenant: key.tenant, task: key.task,
                description:
                    "the task \(key.task) of \(key.tenant) has used \(used), and may use \(may.joined(separator: " and "))"
            ))
        if state.escalations.count > Self.maxEscalations { state.escalations.removeFirst() }
    }
}

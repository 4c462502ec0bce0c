import HeadroomJSON
import HeadroomModel

/// The answer that a gateway gets from `GET /v1/allocations` (WireFormat §2).
package enum SnapshotMessage: Equatable, Sendable {
    case whole(Snapshot)
    case delta(SnapshotDelta)
}

/// Reads the answer to `GET /v1/allocations`. Fields that are not known are ignored, and so are names of constraints
/// and capacity reasons: they explain a number and do not change it.
package enum SnapshotDecoder {
    package static func decode(_ bytes: [UInt8]) throws(WireError) -> SnapshotMessage {
        var reader = SnapshotReader(bytes)
        do { return try reader.message() } catch let error as JSONError {
            throw WireError(.unreadable, "\(error.message) (\(JSONPosition(of: error.offset, in: bytes)))")
        } catch let error as WireError { throw error } catch { throw WireError(.unreadable, "\(error)") }
    }
}

private struct SnapshotReader {
    private var reader: JSONReader

    init(_ bytes: [UInt8]) {
        reader = JSONReader(bytes)
    }

    private enum HeadField: String, CaseIterable {
        case epoch, generation, policy, pools, since, removed
        case issuedAt = "issued_at"
        case leaseSeconds = "lease_seconds"
        case removedPools = "removed_pools"
        case serviceClocks = "service_clocks"
    }

    private static let headFields = WireFields(HeadField.self)

    mutating func message() throws -> SnapshotMessage {
        var epoch: Int64?
        var generation: Int64?
        var issuedAt: Timestamp?
        var leaseSeconds: Double?
        var policy = ""
        var pools: [PoolAllocation]?
        var since: SnapshotVersion?
        var removed: [SnapshotDelta.Removal] = []
        var removedPools: [PoolID] = []
        var clocks: [SnapshotDelta.Clocks] = []
        var cursor = FieldCursor()
        try reader.beginObject()
        let fields = SnapshotReader.headFields
        while let field = try reader.nextField(of: fields, at: &cursor) {
            switch field {
            case .epoch: epoch = try reader.readInt64()
            case .generation: generation = try reader.readInt64()
            case .issuedAt: issuedAt = try instant()
            case .leaseSeconds: leaseSeconds = try reader.readDouble()
            case .policy: policy = try reader.readString()
            case .pools: pools = try byIdentifier(\.pool) { reader, pool throws in try reader.pool(pool) }
            case .since: since = try version()
            case .removed:
                removed = try byIdentifier(\.pool) { reader, pool throws in
                    SnapshotDelta.Removal(pool: pool, tenants: try reader.identifiers())
                }
            case .removedPools: removedPools = try identifiers()
            case .serviceClocks:
                clocks = try byIdentifier(\.pool) { reader, pool throws in
                    SnapshotDelta.Clocks(
                        pool: pool,
                        clocks: try reader.byIdentifier(\.tenant) { reader, tenant throws in
                            SnapshotDelta.Clock(tenant: tenant, serviceClock: try reader.reader.readDouble())
                        })
                }
            }
        }
        try reader.endDocument()
        guard let epoch, let generation, let issuedAt, let leaseSeconds, let pools else {
            throw fault("a snapshot has epoch, generation, issued_at, lease_seconds and pools")
        }
        guard leaseSeconds > 0 else { throw fault("lease_seconds: expected more than 0, found \(leaseSeconds)") }
        let snapshot = Snapshot(
            version: SnapshotVersion(epoch: epoch, generation: generation), issuedAt: issuedAt,
            leaseSeconds: leaseSeconds, policy: policy, pools: pools)
        guard let since else { return .whole(snapshot) }
        return .delta(
            SnapshotDelta(
                since: since, changed: snapshot, removed: removed, removedPools: removedPools.sorted(),
                serviceClocks: clocks))
    }

    private enum PoolField: String, CaseIterable {
        case state, models, mode, enforce, level, capacity, nominal, budget, float, fallback, gateways, failover,
            breaker
        case retry, tenants, unlisted, tasks
        case capacityReason = "capacity_reason"
        case burstSeconds = "burst_seconds"
        case probesPerSecond = "probes_per_second"
        case taskKinds = "task_kinds"
        case meanOutputTokens = "mean_output_tokens"
        case closedAfterSeconds = "closed_after_seconds"
    }

    private static let poolFields = WireFields(PoolField.self)

    private mutating func pool(_ id: PoolID) throws -> PoolAllocation {
        var pool = PoolAllocation(pool: id, capacity: .none, nominal: .none, budget: .none)
        var hasBudget = false
        var probesPerSecond: Double?
        var cursor = FieldCursor()
        try reader.beginObject()
        let fields = SnapshotReader.poolFields
        while let field = try reader.nextField(of: fields, at: &cursor) {
            switch field {
            case .state: pool.state = try named(PoolState.allCases, \.name)
            case .models: pool.models = try models()
            case .mode: pool.mode = try named(PoolMode.allCases, \.name)
            case .enforce: pool.enforce = try reader.readBool()
            case .level: pool.level = try reader.readDouble()
            case .capacity: pool.capacity = try rates()
            case .nominal: pool.nominal = try rates()
            case .capacityReason:
                let name = try reader.readString()
                pool.capacityReason = CapacityReason.allCases.first { $0.name == name } ?? .contract
            case .budget:
                pool.budget = try rates()
                hasBudget = true
            case .float: pool.float = try rates()
            case .fallback: pool.fallback = try rates()
            case .gateways: pool.gateways = Int(exactly: try reader.readInt64())
            case .burstSeconds: pool.burstSeconds = try reader.readDouble()
            case .failover: pool.failover = try identifiers()
            case .breaker: pool.breaker = try breaker()
            case .probesPerSecond: probesPerSecond = try reader.readDouble()
            case .retry: pool.retry = try retry()
            case .taskKinds: pool.taskKinds = try taskKinds()
            case .meanOutputTokens: pool.meanOutputTokens = max(0, try reader.readDouble())
            case .closedAfterSeconds: pool.closedAfterSeconds = max(0, try reader.readDouble())
            case .tasks: pool.tasks = try tasks()
            case .tenants: pool.tenants = try byIdentifier(\.tenant) { reader, id throws in try reader.tenant(id) }
            case .unlisted: pool.unlisted = try rates()
            }
        }
        // Without one the pool would count as unlimited.
        guard hasBudget else { throw fault("pool \(id) has no budget") }
        if let probesPerSecond { pool.breaker.probesPerSecond = probesPerSecond }
        pool.breaker = pool.breaker.bounded
        return pool
    }

    private enum ModelField: String, CaseIterable {
        case state
    }

    private static let modelFields = WireFields(ModelField.self)

    private mutating func models() throws -> [PoolAllocation.Model] {
        var models: [PoolAllocation.Model] = []
        try reader.beginObject()
        while let key = try reader.nextKey() {
            var model = PoolAllocation.Model(model: reader.string(of: key), state: .healthy)
            var cursor = FieldCursor()
            try reader.beginObject()
            let fields = SnapshotReader.modelFields
            while let field = try reader.nextField(of: fields, at: &cursor) {
                switch field {
                case .state: model.state = try named(PoolState.allCases, \.name)
                }
            }
            models.append(model)
        }
        return models
    }

    private enum BreakerField: String, CaseIterable {
        case openShare = "open_share"
        case windowSeconds = "window_seconds"
        case leastAttempts = "least_attempts"
        case openSeconds = "open_seconds"
        case probesPerSecond = "probes_per_second"
        case closeSuccesses = "close_successes"
    }

    private static let breakerFields = WireFields(BreakerField.self)

    private mutating func breaker() throws -> BreakerPolicy {
        var breaker = BreakerPolicy()
        var cursor = FieldCursor()
        try reader.beginObject()
        let fields = SnapshotReader.breakerFields
        while let field = try reader.nextField(of: fields, at: &cursor) {
            switch field {
            case .openShare: breaker.openShare = try reader.readDouble()
            case .windowSeconds: breaker.windowSeconds = try reader.readDouble()
            case .leastAttempts: breaker.leastAttempts = try count()
            case .openSeconds: breaker.openSeconds = try reader.readDouble()
            case .probesPerSecond: breaker.probesPerSecond = try reader.readDouble()
            case .closeSuccesses: breaker.closeSuccesses = try count()
            }
        }
        return breaker
    }

    private mutating func count() throws -> Int { Int(clamping: try reader.readInt64()) }

    private mutating func taskKinds() throws -> [PoolAllocation.TaskKind] {
        var kinds: [PoolAllocation.TaskKind] = []
        try reader.beginObject()
        while let key = try reader.nextKey() {
            let kind = reader.string(of: key)
            let rates = try rates()
            guard let rate = rates[.requests] else { throw fault("task_kinds: \(kind) has no rpm") }
            kinds.append(PoolAllocation.TaskKind(kind: kind, requestsPerMinute: rate))
        }
        return kinds.sorted { $0.kind < $1.kind }
    }

    private enum TasksField: String, CaseIterable {
        case budgets, held
        case requireTask = "require_task"
    }

    private enum BudgetField: String, CaseIterable {
        case tenant, tier, calls, iterations, tokens, seconds
        case taskKind = "task_kind"
        case fanOut = "fan_out"
    }

    private enum HeldField: String, CaseIterable {
        case tenant, task, held, own, exhausted, full, lifted
    }

    private static let tasksFields = WireFields(TasksField.self)
    private static let budgetFields = WireFields(BudgetField.self)
    private static let heldFields = WireFields(HeldField.self)

    private mutating func tasks() throws -> TaskTerms {
        var terms = TaskTerms()
        var cursor = FieldCursor()
        try reader.beginObject()
        let fields = SnapshotReader.tasksFields
        while let field = try reader.nextField(of: fields, at: &cursor) {
            switch field {
            case .requireTask: terms.requiresTask = try reader.readBool()
            case .budgets: terms.budgets = try elements { reader throws in try reader.taskBudget() }
            case .held: terms.held = try elements { reader throws in try reader.heldTask() }
            }
        }
        return terms
    }

    private mutating func taskBudget() throws -> TaskBudget {
        var budget = TaskBudget()
        var cursor = FieldCursor()
        try reader.beginObject()
        let fields = SnapshotReader.budgetFields
        while let field = try reader.nextField(of: fields, at: &cursor) {
            switch field {
            case .tenant: budget.tenant = try identifier(try reader.readString())
            case .tier: budget.tier = try reader.readString()
            case .taskKind: budget.taskKind = try reader.readString()
            case .calls: budget.limits[.calls] = try reader.readInt64()
            case .iterations: budget.limits[.iterations] = try reader.readInt64()
            case .tokens: budget.limits[.tokens] = try reader.readInt64()
            case .fanOut: budget.limits[.fanOut] = try reader.readInt64()
            case .seconds: budget.limits[.seconds] = try reader.readInt64()
            }
        }
        return budget
    }

    private mutating func heldTask() throws -> TaskTerms.Held {
        var tenant: TenantID?
        var task: String?
        var held = TaskTerms.Held(TaskName("", of: TenantID(unchecked: "")), .nothing)
        var cursor = FieldCursor()
        try reader.beginObject()
        let fields = SnapshotReader.heldFields
        while let field = try reader.nextField(of: fields, at: &cursor) {
            switch field {
            case .tenant: tenant = try identifier(try reader.readString())
            case .task: task = try reader.readString()
            case .held: held.hold = try named(TaskHold.allCases, \.name)
            case .own: held.ownHold = try named(TaskHold.allCases, \.name)
            case .exhausted: held.isCost = try reader.readString() == "cost"
            case .full: held.isFull = try reader.readBool()
            case .lifted: held.isLifted = try reader.readBool()
            }
        }
        guard let tenant, let task else { throw fault("tasks: what is held has a tenant and a task") }
        held.name = TaskName(task, of: tenant)
        held.ownHold = max(held.ownHold, held.hold)
        return held
    }

    private enum RetryField: String, CaseIterable {
        case afterMilliseconds = "after_ms"
        case jitterMilliseconds = "jitter_ms"
    }

    private static let retryFields = WireFields(RetryField.self)

    private mutating func retry() throws -> PoolAllocation.Retry {
        var retry = PoolAllocation.Retry(afterMilliseconds: 0, jitterMilliseconds: 0)
        var cursor = FieldCursor()
        try reader.beginObject()
        let fields = SnapshotReader.retryFields
        while let field = try reader.nextField(of: fields, at: &cursor) {
            switch field {
            case .afterMilliseconds: retry.afterMilliseconds = try reader.readInt64()
            case .jitterMilliseconds: retry.jitterMilliseconds = try reader.readInt64()
            }
        }
        return retry
    }

    private enum TenantField: String, CaseIterable {
        case rpm, tpm, itpm, otpm, ceiling
        case softCeiling = "soft_ceiling"
        case quiet, plain, safe, burst, weight, tier, constraint, flags, criticality
        case serviceClock = "service_clock"
        case retryOffset = "retry_offset_ms"
    }

    private static let tenantFields = WireFields(TenantField.self)

    private mutating func tenant(_ id: TenantID) throws -> TenantAllocation {
        var tenant = TenantAllocation(tenant: id, assured: .none)
        var cursor = FieldCursor()
        try reader.beginObject()
        let fields = SnapshotReader.tenantFields
        while let field = try reader.nextField(of: fields, at: &cursor) {
            switch field {
            case .rpm: tenant.assured[.requests] = try rate()
            case .tpm: tenant.assured[.tokens] = try rate()
            case .itpm: tenant.assured[.inputTokens] = try rate()
            case .otpm: tenant.assured[.outputTokens] = try rate()
            case .ceiling: tenant.ceiling = try rates()
            case .softCeiling: tenant.hasSoftCeiling = try reader.readBool()
            case .quiet: tenant.isQuiet = try reader.readBool()
            case .plain: tenant.plain = try rates()
            case .safe: tenant.safe = try rates()
            case .burst: tenant.burst = try burst()
            case .weight: tenant.weight = try reader.readDouble()
            case .serviceClock: tenant.serviceClock = try reader.readDouble()
            case .tier: tenant.tier = try reader.readString()
            case .constraint:
                let name = try reader.readString()
                tenant.constraint = Constraint.allCases.first { $0.name == name } ?? .level
            case .flags: tenant.flags = try elements { reader throws in try reader.reader.readString() }
            case .retryOffset: tenant.retryOffsetMilliseconds = try reader.readInt64()
            case .criticality: tenant.criticality = try perCriticality()
            }
        }
        return tenant
    }

    private enum BurstField: String, CaseIterable {
        case rpm, tpm, itpm, otpm
        case secondsLeft = "seconds_left"
    }

    private static let burstFields = WireFields(BurstField.self)

    private mutating func burst() throws -> TenantAllocation.Burst {
        var burst = TenantAllocation.Burst.none
        var cursor = FieldCursor()
        try reader.beginObject()
        let fields = SnapshotReader.burstFields
        while let field = try reader.nextField(of: fields, at: &cursor) {
            switch field {
            case .rpm: burst.rates[.requests] = try rate()
            case .tpm: burst.rates[.tokens] = try rate()
            case .itpm: burst.rates[.inputTokens] = try rate()
            case .otpm: burst.rates[.outputTokens] = try rate()
            case .secondsLeft: burst.secondsLeft = try reader.readDouble()
            }
        }
        // All zeros is how "none" is written.
        return burst.secondsLeft > 0 ? burst : .none
    }

    private enum CriticalityField: String, CaseIterable {
        case interactive, batch
        case nearRealTime = "near_real_time"
    }

    private static let criticalityFields = WireFields(CriticalityField.self)

    private mutating func perCriticality() throws -> PerCriticality<Rates> {
        var result = PerCriticality(repeating: Rates.none)
        var cursor = FieldCursor()
        try reader.beginObject()
        let fields = SnapshotReader.criticalityFields
        while let field = try reader.nextField(of: fields, at: &cursor) {
            switch field {
            case .interactive: result.interactive = try rates()
            case .nearRealTime: result.nearRealTime = try rates()
            case .batch: result.batch = try rates()
            }
        }
        return result
    }

    private enum RateField: String, CaseIterable {
        case rpm, tpm, itpm, otpm
    }

    private static let rateFields = WireFields(RateField.self)

    private mutating func rates() throws -> Rates {
        var rates = Rates()
        var cursor = FieldCursor()
        try reader.beginObject()
        let fields = SnapshotReader.rateFields
        while let field = try reader.nextField(of: fields, at: &cursor) {
            let rate = try rate()
            switch field {
            case .rpm: rates[.requests] = rate
            case .tpm: rates[.tokens] = rate
            case .itpm: rates[.inputTokens] = rate
            case .otpm: rates[.outputTokens] = rate
            }
        }
        return rates
    }

    /// A policy or a contract may state 1e12, and a plain rate may be several times as much. A gateway with more would use
    /// amounts that are too large for a draw.
    private static let mostRate = 1e13

    private mutating func rate() throws -> Double {
        let rate = try reader.readDouble()
        guard 0...SnapshotReader.mostRate ~= rate else { throw fault("a rate is 0 to 1e13, found \(rate)") }
        return rate
    }

    /// An object whose keys are identifiers, as a list in ascending order.
    private mutating func byIdentifier<Element, Kind>(
        _ id: (Element) -> Identifier<Kind>, _ read: (inout SnapshotReader, Identifier<Kind>) throws -> Element
    ) throws -> [Element] {
        var elements: [Element] = []
        var isAscending = true
        try reader.beginObject()
        while let key = try reader.nextKey() {
            let element = try read(&self, try identifier(reader.string(of: key)))
            if let last = elements.last { isAscending = isAscending && id(last) < id(element) }
            elements.append(element)
        }
        guard !isAscending else { return elements }
        elements.sort { id($0) < id($1) }
        for index in elements.indices.dropFirst() where id(elements[index - 1]) == id(elements[index]) {
            throw fault("\(id(elements[index])) stands twice")
        }
        return elements
    }

    private mutating func elements<Element>(
        _ read: (inout SnapshotReader) throws -> Element
    ) throws -> [Element] {
        var elements: [Element] = []
        try reader.beginArray()
        while try reader.nextElement() { elements.append(try read(&self)) }
        return elements
    }

    private mutating func identifiers<Kind>() throws -> [Identifier<Kind>] {
        try elements { reader throws in try reader.identifier(try reader.reader.readString()) }
    }

    private func identifier<Kind>(_ text: String) throws -> Identifier<Kind> {
        guard let identifier = Identifier<Kind>(text) else {
            throw fault("\"\(text)\" is no identifier: \(Identifier<Kind>.rule)")
        }
        return identifier
    }

    private mutating func named<Case>(_ cases: [Case], _ name: (Case) -> String) throws -> Case {
        let text = try reader.readString()
        guard let found = cases.first(where: { name($0) == text }) else {
            throw fault("expected one of \(cases.map(name).joined(separator: ", ")), found \"\(text)\"")
        }
        return found
    }

    private mutating func instant() throws -> Timestamp {
        let text = try reader.readString()
        guard let milliseconds = RFC3339.parse(text) else { throw fault("\"\(text)\" is no RFC 3339 time") }
        return Timestamp(milliseconds: milliseconds)
    }

    private mutating func version() throws -> SnapshotVersion {
        let text = try reader.readString()
        guard let version = SnapshotVersion(text) else { throw fault("\"\(text)\" is no EPOCH.GENERATION") }
        return version
    }

    private func fault(_ message: String) -> WireError { WireError(.unreadable, message) }
}

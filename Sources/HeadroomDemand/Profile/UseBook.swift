import HeadroomModel

/// The served use of one pool by hour, tenant, model and kind of task, since it was last stored: of calls that name a model or
/// a kind, and of all that gateways' own caches answered; and what calls that name a kind asked for. ``RollupBook`` has the served use of all.
struct UseBook: Sendable {
    /// Hours × tenants × models × kinds that are held while they cannot be stored.
    private static let most = 200_000
    /// Different models and kinds between two checkpoints; those of further ones count as not reported.
    private static let maxLabels = 4_096

    private struct Key: Hashable {
        var hour: Int64
        var tenant: Int32
        /// Numbers of ``labels``; 0 is none.
        var model: UInt16
        var taskKind: UInt16
        var criticality: Criticality
    }

    private struct Sums {
        var served = UseSums()
        var saved = UseSums()
        var asked = AskedWork()
    }

    private var sums: [Key: Sums] = [:]
    /// Of tenants that left the table.
    private var settled: [ModelUse] = []
    private var labels = [""]
    private var numbers: [String: UInt16] = [:]
    /// The number found last: a pool has few models, and calls of one come in a row.
    private var newest: UInt16 = 0

    mutating func add(_ call: CallRecord, tenant: Int32, at instant: Timestamp) {
        let isSaved = call.outcome == .cached
        guard isSaved || call.outcome == .ok && (call.model != nil || call.taskKind != nil) else { return }
        let key = Key(
            hour: max(0, instant.minute / 60), tenant: tenant, model: number(of: call.model),
            taskKind: number(of: call.taskKind), criticality: call.criticality)
        guard isSaved || key.model != 0 || key.taskKind != 0, sums.count < Self.most || sums[key] != nil else { return }
        if isSaved {
            sums[key, default: Sums()].saved.add(UseSums(call))
        } else {
            sums[key, default: Sums()].served.add(UseSums(call))
        }
    }

    /// What calls that name their kind of task asked for, in the hour in which they began.
    mutating func ask(_ asked: AskedWork, _ call: CallRecord, tenant: Int32, at began: Timestamp) {
        guard call.taskKind != nil, !asked.isNothing else { return }
        let key = Key(
            hour: max(0, began.minute / 60), tenant: tenant, model: number(of: call.model),
            taskKind: number(of: call.taskKind), criticality: call.criticality)
        guard key.taskKind != 0, sums.count < Self.most || sums[key] != nil else { return }
        sums[key, default: Sums()].asked.add(asked)
    }

    private mutating func number(of label: String?) -> UInt16 {
        guard let label, !label.isEmpty else { return 0 }
        if labels[Int(newest)] == label { return newest }
        if let known = numbers[label] {
            newest = known
            return known
        }
        guard labels.count < Self.maxLabels else { return 0 }
        newest = UInt16(labels.count)
        labels.append(label)
        numbers[label] = newest
        return newest
    }

    /// Ascending by start, tenant, criticality, model, kind.
    func uses(of pool: PoolID, tenants: (Int32) -> TenantID) -> [ModelUse] {
        (settled + sums.map { use($0.key, $0.value, of: pool, tenants($0.key.tenant)) }).sorted {
            ($0.start, $0.tenant, $0.criticality, $0.model ?? "", $0.taskKind ?? "")
                < ($1.start, $1.tenant, $1.criticality, $1.model ?? "", $1.taskKind ?? "")
        }
    }

    /// They are stored.
    mutating func removeAll() {
        sums.removeAll(keepingCapacity: sums.count >= sums.capacity / 4)
        settled.removeAll()
        labels = [""]
        newest = 0
        numbers.removeAll(keepingCapacity: true)
    }

    /// The part that was not stored yet never is.
    mutating func erase(_ place: Int32, _ tenant: TenantID) {
        sums = sums.filter { $0.key.tenant != place }
        settled.removeAll { $0.tenant == tenant }
    }

    /// Their numbers in the table go to others.
    mutating func settle(_ leaving: Set<Int32>, of pool: PoolID, tenants: (Int32) -> TenantID) {
        for (key, value) in sums where leaving.contains(key.tenant) {
            settled.append(use(key, value, of: pool, tenants(key.tenant)))
            sums[key] = nil
        }
    }

    private func use(_ key: Key, _ sums: Sums, of pool: PoolID, _ tenant: TenantID) -> ModelUse {
        func label(_ number: UInt16) -> String? { number == 0 ? nil : labels[Int(number)] }
        return ModelUse(
            start: Timestamp(milliseconds: key.hour * 3_600_000), tenant: tenant, pool: pool,
            criticality: key.criticality, model: label(key.model), taskKind: label(key.taskKind),
            sums: sums.served, saved: sums.saved, asked: sums.asked)
    }
}

import HeadroomModel

extension ContractStore: ContractDesk {
    package func contracts() throws(SteeringError) -> [Contract] {
        try perform { .success(try all()) }
    }

    package func put<Fault: Sendable>(
        _ contract: Contract, by author: String, at now: Timestamp, within limit: ContractLimit = .none,
        checking check: @Sendable ([Contract]) -> [Fault]
    ) throws(SteeringError) -> ContractPut<Fault> {
        try perform { () throws(StorageError) -> Result<ContractPut<Fault>, SteeringError> in
            try connection.transaction { () throws(StorageError) -> Result<ContractPut<Fault>, SteeringError> in
                let old = try all()
                let new = (old.filter { $0.tenant != contract.tenant } + [contract]).sorted { $0.tenant < $1.tenant }
                let faults = check(new)
                guard faults.isEmpty else { return .success(.faulty(faults)) }
                let difference = ContractDifference(from: old, to: new)
                let approval: Int64?
                switch try permission(
                    for: difference, of: old.count, about: contract.tenant,
                    ContractStore.fingerprint(of: [contract]), "a contract", by: author, at: now, within: limit)
                {
                case .given(let id): approval = id
                case .asked(let question): return .success(.awaitsApproval(question))
                case .refused(let error): return .failure(error)
                }
                try connection.statement("DELETE FROM contract WHERE tenant = :tenant")
                    .bind(":tenant", contract.tenant.text).run()
                try insert(contract, at: now)
                var detail: [(StaticString, AuditAct.Value)] = [
                    ("tier", .text(contract.tier)), ("is_strategic", .integer(contract.isStrategic ? 1 : 0)),
                    ("pools", .integer(Int64(contract.terms.count))),
                    ("changes", .integer(Int64(difference.changed.count))),
                ]
                if let cost = contract.cost {
                    detail += [("currency", .text(cost.currency)), ("most_micros", .integer(cost.most))]
                }
                if let approval { detail.append(("approval", .integer(approval))) }
                try audit.append(AuditAct("contract.put", by: author, tenant: contract.tenant, detail), at: now)
                try ChangeCounter.contracts.raise(connection)
                return .success(.put)
            }
        }
    }

    /// The default author stands for a command that works on the database itself.
    package func replaceAll(
        with contracts: [Contract], by author: String = AuditLog.commandLine, at now: Timestamp
    ) throws(SteeringError) {
        try perform { () throws(StorageError) -> Result<Void, SteeringError> in
            try connection.transaction {
                let difference = ContractDifference(from: try all(), to: contracts)
                try replace(with: contracts, difference, by: author, at: now)
            }
            return .success(())
        }
    }

    /// Inside a transaction.
    func replace(
        with contracts: [Contract], _ difference: ContractDifference, approval: Int64? = nil, by author: String,
        at now: Timestamp
    ) throws(StorageError) {
        try connection.execute("DELETE FROM contract_price")
        try connection.execute("DELETE FROM contract_cost")
        try connection.execute("DELETE FROM contract_task_budget")
        try connection.execute("DELETE FROM commitment")
        try connection.execute("DELETE FROM contract")
        for contract in contracts { try insert(contract, at: now) }
        try note(difference, contracts, approval: approval, by: author, at: now)
        try ChangeCounter.contracts.raise(connection)
    }

    /// Tenants of one import that have rows of their own in the audit log. A row is about one tenant, so that it can be
    /// blanked when that one is erased.
    static let maxNoted = 1_000

    /// The changes of an import: how many, and who.
    private func note(
        _ difference: ContractDifference, _ contracts: [Contract], approval: Int64?, by author: String,
        at now: Timestamp
    ) throws(StorageError) {
        let approved: [(StaticString, AuditAct.Value)] = approval.map { [("approval", .integer($0))] } ?? []
        func count(_ tenants: [TenantID]) -> AuditAct.Value { .integer(Int64(tenants.count)) }
        try audit.append(
            AuditAct(
                "contracts.import", by: author,
                [
                    ("contracts", .integer(Int64(contracts.count))), ("added", count(difference.added)),
                    ("changed", count(difference.changed)), ("removed", count(difference.removed)),
                    ("unchanged", .integer(Int64(difference.unchangedCount))),
                ] + approved), at: now)
        let new = Dictionary(contracts.map { ($0.tenant, $0) }, uniquingKeysWith: { first, _ in first })
        let acts =
            difference.removed.map { ("contract.removed", $0) } + difference.changed.map { ("contract.changed", $0) }
            + difference.added.map { ("contract.added", $0) }
        for (action, tenant) in acts.prefix(ContractStore.maxNoted) {
            let terms: [(StaticString, AuditAct.Value)] =
                new[tenant].map { contract in
                    [("tier", .text(contract.tier)), ("pools", .integer(Int64(contract.terms.count)))]
                } ?? []
            try audit.append(AuditAct(action, by: author, tenant: tenant, terms + approved), at: now)
        }
    }

    /// The tenant has no name, no contract and no vote from here on; its rows in the large tables go in steps, between
    /// which telemetry is committed, and are gone when this returns. Snapshots in the ledger keep it until they go by age,
    /// and the loop forgets it at its next tick, or the first one after a start, and stores a checkpoint without it.
    @discardableResult
    package func erase(
        _ tenant: TenantID, by author: String, at now: Timestamp, within limit: ContractLimit = .none
    ) async throws(SteeringError) -> Proposal? {
        let question = try perform { () throws(StorageError) -> Result<Proposal?, SteeringError> in
            try connection.transaction { () throws(StorageError) -> Result<Proposal?, SteeringError> in
                let old = try all()
                let difference = ContractDifference(from: old, to: old.filter { $0.tenant != tenant })
                switch try permission(
                    for: difference, of: old.count, about: tenant, "erasure of \(tenant)", "an erasure", by: author,
                    at: now, within: limit)
                {
                case .given: break
                case .asked(let question): return .success(question)
                case .refused(let error): return .failure(error)
                }
                guard try TenantErasure(connection: connection).begin(tenant, at: now) else {
                    return .failure(SteeringError(.notFound, "nothing is stored of tenant \(tenant)"))
                }
                if !difference.isEmpty {
                    try audit.append(AuditAct("contract.removed", by: author, tenant: tenant), at: now)
                }
                try audit.append(AuditAct("tenant.erase", by: author, tenant: tenant), at: now)
                try audit.erase(tenant)
                return .success(nil)
            }
        }
        if let question { return question }
        while try perform({ .success(try continueErasures()) }) { await Task.yield() }
        return nil
    }

    /// Deletes a bounded part of what is left of tenants that are being erased; true while there is more. Also after a
    /// start, for erasures that were interrupted.
    package func continueErasures() throws(StorageError) -> Bool {
        try TenantErasure(connection: connection).step()
    }

    /// Runs `body`, which returns a refusal before it has written anything.
    func perform<Value>(
        _ body: () throws -> Result<Value, SteeringError>
    ) throws(SteeringError) -> Value {
        let result: Result<Value, SteeringError>
        do {
            result = try body()
        } catch {
            throw SteeringError(StorageError(error))
        }
        return try result.get()
    }
}

extension SteeringError {
    init(_ error: StorageError) {
        self.init(error.code == .constraint ? .conflict : .unavailable, error.message)
    }
}

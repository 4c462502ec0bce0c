import HeadroomModel

/// Pinned capacities, freezes and roll-backs.
extension SteeringStore {
    package func pin(_ pin: CapacityPin) throws(SteeringError) {
        try SteeringRules.check(pin)
        let authorship = pin.authorship
        try change { () throws(StorageError) -> Result<Void, SteeringError> in
            let others =
                try connection.statement(SteeringStore.countOtherPins)
                .bind(":pool", pin.pool.text).bind(":now", authorship.at.milliseconds).first { $0.integer(0) } ?? 0
            guard others < SteeringStore.maxPins else {
                return .failure(SteeringError(.conflict, "\(others) capacities are pinned, the most there may be"))
            }
            try connection.statement(SteeringStore.replacePin)
                .bind(":pool", pin.pool.text)
                .bind(":requests", pin.capacity[.requests])
                .bind(":tokens", pin.capacity[.tokens])
                .bind(":input_tokens", pin.capacity[.inputTokens])
                .bind(":output_tokens", pin.capacity[.outputTokens])
                .bind(authorship)
                .run()
            try audit.append(
                AuditAct(
                    "capacity.pin", by: authorship.author,
                    [("pool", .text(pin.pool.text)), ("capacity", .rates(pin.capacity))] + authorship.detail),
                at: authorship.at)
            return .success(())
        }
    }

    package func unpin(_ pool: PoolID, by author: String, at now: Timestamp) throws(SteeringError) {
        try change { () throws(StorageError) -> Result<Void, SteeringError> in
            try connection.statement("DELETE FROM capacity_pin WHERE pool = :pool AND until_ms > :now")
                .bind(":pool", pool.text).bind(":now", now.milliseconds).run()
            guard connection.changedRows == 1 else {
                return .failure(SteeringError(.notFound, "the capacity of \(pool) is not pinned"))
            }
            try audit.append(AuditAct("capacity.unpin", by: author, [("pool", .text(pool.text))]), at: now)
            return .success(())
        }
    }

    package func freeze(_ freeze: Freeze) throws(SteeringError) -> Freeze {
        try SteeringRules.check(freeze.authorship)
        let authorship = freeze.authorship
        return try change { () throws(StorageError) -> Result<Freeze, SteeringError> in
            let others =
                try connection.statement(SteeringStore.countFreezes)
                .bind(":now", authorship.at.milliseconds).first { $0.integer(0) } ?? 0
            guard others < SteeringStore.maxFreezes else {
                return .failure(SteeringError(.conflict, "\(others) freezes are in force, the most there may be"))
            }
            var frozen = freeze
            var snapshot: Snapshot?
            if let generation = freeze.generation {
                guard let old = try published(generation) else {
                    return .failure(
                        SteeringError(.notFound, "generation \(generation) is not in the ledger, or no longer"))
                }
                frozen.numbers = old.pools.filter { freeze.pool == nil || $0.pool == freeze.pool }
                if let pool = freeze.pool, frozen.numbers.isEmpty {
                    return .failure(SteeringError(.notFound, "generation \(generation) has no pool \(pool)"))
                }
                snapshot = old
                snapshot?.pools = frozen.numbers
            } else {
                frozen.numbers = []
            }
            frozen.id = try connection.statement(SteeringStore.insertFreeze)
                .bind(":pool", freeze.pool?.text)
                .bind(":generation", freeze.generation)
                .bind(":snapshot", try snapshot.map(encode))
                .bind(authorship)
                .runForID()
            try audit.append(
                AuditAct(
                    freeze.generation == nil ? "freeze.set" : "rollback.set", by: authorship.author,
                    [
                        ("id", .integer(frozen.id)), ("pool", .text(freeze.pool?.text)),
                        ("generation", .integer(freeze.generation)),
                    ] + authorship.detail),
                at: authorship.at)
            return .success(frozen)
        }
    }

    package func endFreeze(_ id: Int64, by author: String, at now: Timestamp) throws(SteeringError) {
        try change { () throws(StorageError) -> Result<Void, SteeringError> in
            try connection.statement(SteeringStore.endFreeze)
                .bind(":id", id).bind(":now", now.milliseconds).run()
            guard connection.changedRows == 1 else {
                return .failure(SteeringError(.notFound, "no freeze \(id) is in force"))
            }
            try audit.append(AuditAct("freeze.end", by: author, [("id", .integer(id))]), at: now)
            return .success(())
        }
    }

    /// Those in force, ascending by id.
    func freezes(at now: Timestamp) throws(StorageError) -> [Freeze] {
        var freezes: [Freeze] = []
        try connection.statement(SteeringStore.selectFreezes).bind(":now", now.milliseconds)
            .forEachRow { row in
                freezes.append(
                    Freeze(
                        id: row.integer(0), pool: row.optionalText(1).map(PoolID.init(unchecked:)),
                        generation: row.optionalInteger(2),
                        numbers: row.isNull(3) ? [] : try decode(row.bytes(3)).pools,
                        authorship: Authorship(row, firstColumn: 4)))
            }
        return freezes
    }

    /// Those in force, ascending by pool.
    func pins(at now: Timestamp) throws(StorageError) -> [CapacityPin] {
        var pins: [CapacityPin] = []
        try connection.statement(SteeringStore.selectPins).bind(":now", now.milliseconds).forEachRow { row in
            pins.append(
                CapacityPin(
                    pool: PoolID(unchecked: row.text(0)), capacity: row.rates(firstColumn: 1),
                    authorship: Authorship(row, firstColumn: 5)))
        }
        return pins
    }

    private func published(_ generation: Int64) throws(StorageError) -> Snapshot? {
        let body = try connection.statement("SELECT body FROM snapshot WHERE generation = :generation")
            .bind(":generation", generation).first { $0.bytes(0) }
        return try body.map(decode)
    }

    private func encode(_ snapshot: Snapshot) throws(StorageError) -> [UInt8] {
        do {
            return try coding.encode(snapshot)
        } catch {
            throw StorageError(code: .misuse, message: "a roll-back's numbers cannot be encoded: \(error)")
        }
    }

    private func decode(_ body: [UInt8]) throws(StorageError) -> Snapshot {
        do {
            return try coding.decode(body)
        } catch {
            throw StorageError(
                code: .corrupt, message: "\(connection.path): a stored snapshot cannot be read: \(error)")
        }
    }

    private static let countOtherPins: StaticString =
        "SELECT count(*) FROM capacity_pin WHERE pool != :pool AND until_ms > :now"
    private static let replacePin: StaticString = """
        INSERT INTO capacity_pin (pool, requests_per_minute, tokens_per_minute, input_tokens_per_minute,
            output_tokens_per_minute, author, reason, at_ms, until_ms)
        VALUES (:pool, :requests, :tokens, :input_tokens, :output_tokens, :author, :reason, :at_ms, :until_ms)
        ON CONFLICT (pool) DO UPDATE SET requests_per_minute = excluded.requests_per_minute,
            tokens_per_minute = excluded.tokens_per_minute, input_tokens_per_minute = excluded.input_tokens_per_minute,
            output_tokens_per_minute = excluded.output_tokens_per_minute, author = excluded.author,
            reason = excluded.reason, at_ms = excluded.at_ms, until_ms = excluded.until_ms
        """
    private static let selectPins: StaticString = """
        SELECT pool, requests_per_minute, tokens_per_minute, input_tokens_per_minute, output_tokens_per_minute,
            author, reason, at_ms, until_ms
        FROM capacity_pin WHERE until_ms > :now ORDER BY pool
        """
    // In quotes, since some engines have a word FREEZE of their own.
    private static let countFreezes: StaticString = """
        SELECT count(*) FROM "freeze" WHERE until_ms > :now
        """
    private static let endFreeze: StaticString = """
        UPDATE "freeze" SET until_ms = :now WHERE id = :id AND until_ms > :now
        """
    private static let insertFreeze: StaticString = """
        INSERT INTO "freeze" (pool, generation, snapshot, author, reason, at_ms, until_ms)
        VALUES (:pool, :generation, :snapshot, :author, :reason, :at_ms, :until_ms)
        RETURNING id
        """
    private static let selectFreezes: StaticString = """
        SELECT id, pool, generation, snapshot, author, reason, at_ms, until_ms FROM "freeze"
        WHERE until_ms > :now ORDER BY id
        """
}

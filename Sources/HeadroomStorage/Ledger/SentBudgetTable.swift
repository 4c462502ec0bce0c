import HeadroomModel

/// Budgets that gateways were given and may still be using, in SQLite: of each the last part and those within the
/// remembered time before it, for as long as it may live on its fallback.
struct SentBudgetTable {
    let connection: SQLConnection

    /// A policy's `safe_seconds` is a week at most.
    private static let fallbackSeconds = 7 * 86_400.0

    /// Within a transaction: the parts of a publication take the place of those before it.
    func replace(by publication: Publication, rememberingSeconds: Double) throws(StorageError) {
        let now = publication.whole.issuedAt
        try connection.statement(SentBudgetTable.closeOlder).bind(":now_ms", now.milliseconds).run()
        try insert(publication)
        try connection.statement(SentBudgetTable.deleteOver)
            .bind(":superseded_at_ms", now.adding(seconds: -rememberingSeconds).milliseconds)
            .bind(":remembered_ms", Int64(rememberingSeconds * 1000)).run()
        try connection.statement(SentBudgetTable.deleteForgotten)
            .bind(":superseded_at_ms", now.adding(seconds: -SentBudgetTable.fallbackSeconds).milliseconds).run()
    }

    private func insert(_ publication: Publication) throws(StorageError) {
        let statement = try connection.statement(SentBudgetTable.insertBudget)
        let version = publication.whole.version
        statement.bind(":generation", version.generation).bind(":epoch", version.epoch)
            .bind(":published_at_ms", publication.whole.issuedAt.milliseconds)
        let gateway = statement.parameter(":gateway")
        let pool = statement.parameter(":pool")
        let rates = SentBudgetTable.rateNames.map { statement.parameter($0) }
        for part in publication.parts {
            statement.bind(gateway, part.gateway.text)
            for allocation in part.snapshot.pools {
                statement.bind(pool, allocation.pool.text)
                for resource in Resource.allCases {
                    let lane = resource.rawValue
                    statement.bind(rates[lane], allocation.budget[resource].map { Int64($0) })
                    statement.bind(rates[lane + 4], allocation.fallback[resource].map { Int64($0) })
                }
                try statement.runLater()
            }
        }
    }

    /// Ascending by generation, gateway, pool.
    func all() throws(StorageError) -> [SentBudget] {
        var budgets: [SentBudget] = []
        try connection.statement(SentBudgetTable.selectAll).forEachRow { row in
            guard let gateway = GatewayID(row.text(2)), let pool = PoolID(row.text(3)) else {
                throw StorageError(
                    code: .corrupt, message: "\(connection.path): \(row.text(2)) or \(row.text(3)) is no name")
            }
            var budget = SentBudget(
                version: SnapshotVersion(epoch: row.integer(0), generation: row.integer(1)), gateway: gateway,
                pool: pool, budget: .none, fallback: .none, publishedAt: Timestamp(milliseconds: row.integer(4)),
                supersededAt: row.optionalInteger(5).map(Timestamp.init(milliseconds:)))
            for resource in Resource.allCases {
                let column = Int32(6 + resource.rawValue)
                budget.budget[resource] = row.optionalInteger(column).map(Double.init)
                budget.fallback[resource] = row.optionalInteger(column + 4).map(Double.init)
            }
            budgets.append(budget)
        }
        return budgets
    }

    private static let rateNames: [StaticString] = [
        ":rpm", ":tpm", ":itpm", ":otpm", ":fallback_rpm", ":fallback_tpm", ":fallback_itpm", ":fallback_otpm",
    ]

    private static let insertBudget: StaticString = """
        INSERT INTO sent_budget (
            generation, epoch, gateway, pool, rpm, tpm, itpm, otpm, fallback_rpm, fallback_tpm, fallback_itpm,
            fallback_otpm, published_at_ms)
        VALUES (
            :generation, :epoch, :gateway, :pool, :rpm, :tpm, :itpm, :otpm, :fallback_rpm, :fallback_tpm,
            :fallback_itpm, :fallback_otpm, :published_at_ms)
        """
    private static let closeOlder: StaticString = """
        UPDATE sent_budget INDEXED BY sent_budget_superseded SET superseded_at_ms = :now_ms
        WHERE superseded_at_ms IS NULL
        """
    private static let deleteOver: StaticString = """
        DELETE FROM sent_budget INDEXED BY sent_budget_superseded
        WHERE superseded_at_ms < :superseded_at_ms
            AND superseded_at_ms < (SELECT last.published_at_ms - :remembered_ms FROM sent_budget AS last
                WHERE last.gateway = sent_budget.gateway ORDER BY last.generation DESC LIMIT 1)
        """
    private static let deleteForgotten: StaticString = """
        DELETE FROM sent_budget INDEXED BY sent_budget_superseded WHERE superseded_at_ms < :superseded_at_ms
        """
    private static let selectAll: StaticString = """
        SELECT epoch, generation, gateway, pool, published_at_ms, superseded_at_ms, rpm, tpm, itpm, otpm,
            fallback_rpm, fallback_tpm, fallback_itpm, fallback_otpm
        FROM sent_budget ORDER BY generation, gateway, pool
        """
}

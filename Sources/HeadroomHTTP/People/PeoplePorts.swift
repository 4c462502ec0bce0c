import HeadroomModel

/// Replays the last hours of telemetry under other rules and under those in force, and tells the difference as JSON.
package typealias PlanReplaying =
    @Sendable (_ candidate: Rules, _ present: Rules, _ hours: Double) async throws -> [UInt8]

/// Enters a viewer's token that is limited to one tenant, and to `pools` where there are some. It ends with its author's token
/// at the latest.
package typealias TenantSharing =
    @Sendable (
        _ tenant: TenantID, _ pools: Set<PoolID>?, _ author: String, _ until: Timestamp
    ) async throws -> (name: String, secret: String, until: Timestamp)

/// The ports behind the calls of people (WireFormat §3).
package struct PeoplePorts: Sendable {
    package var steering: any SteeringDesk
    package var contracts: any ContractDesk
    package var records: any RecordReading
    package var alerts: any AlertDesk
    /// The policy in force.
    package var rules: any RuleSource

    /// The result of the last walk along the audit log; `nil` before it has ended.
    package var auditVerification: @Sendable () async -> AuditVerification?
    package var preview: OverridePreviewing
    /// `nil`: nothing is recorded here.
    package var plan: PlanReplaying?
    /// `nil`: no tokens are kept here.
    package var share: TenantSharing?
    /// The policy's files as they are written, by their path in the directory.
    package var policyFiles: @Sendable () async throws -> [(path: String, text: String)]

    package init(
        steering: any SteeringDesk, contracts: any ContractDesk, records: any RecordReading, alerts: any AlertDesk,
        rules: any RuleSource, preview: @escaping OverridePreviewing,
        auditVerification: @escaping @Sendable () async -> AuditVerification? = { nil },
        plan: PlanReplaying? = nil, share: TenantSharing? = nil,
        policyFiles: @escaping @Sendable () async throws -> [(path: String, text: String)] = { [] }
    ) {
        self.steering = steering
        self.contracts = contracts
        self.records = records
        self.alerts = alerts
        self.rules = rules
        self.preview = preview
        self.auditVerification = auditVerification
        self.plan = plan
        self.share = share
        self.policyFiles = policyFiles
    }
}

extension Route {
    /// The routes for people.
    static func people(_ ports: PeoplePorts, _ board: SnapshotBoard) -> [Route] {
        OverrideRoutes(board: board, steering: ports.steering, rules: ports.rules, preview: ports.preview).all
            + ProposalRoutes(steering: ports.steering, rules: ports.rules, time: board.time).all
            + PoolSteeringRoutes(steering: ports.steering, rules: ports.rules, time: board.time).all
            + PoolRoutes(board: board, steering: ports.steering).all
            + GenerationRoutes(records: ports.records, time: board.time).all
            + LevelRoutes(records: ports.records, rules: ports.rules, board: board).all
            + CostRoutes(records: ports.records, rules: ports.rules, time: board.time).all
            + CostBreakerRoutes(steering: ports.steering, rules: ports.rules, board: board).all
            + TaskRoutes(records: ports.records, steering: ports.steering, rules: ports.rules, board: board).all
            + TenantRoutes(board: board, contracts: ports.contracts).all
            + ContractRoutes(contracts: ports.contracts, rules: ports.rules, time: board.time).all
            + RecordRoutes(
                records: ports.records, steering: ports.steering, rules: ports.rules,
                auditVerification: ports.auditVerification, board: board
            ).all
            + HistoryRoutes(records: ports.records, time: board.time).all
            + AlertRoutes(alerts: ports.alerts, time: board.time).all
            + PolicyRoutes(rules: ports.rules, files: ports.policyFiles).all
            + PlanRoutes(rules: ports.rules, replay: ports.plan).all
            + ShareRoutes(share: ports.share, time: board.time).all
            + GatewayRoutes(board: board, steering: ports.steering).all
    }
}

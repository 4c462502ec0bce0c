import HeadroomModel

/// A number in a policy file: its key, its bounds, its unit, and the field that it sets.
struct PolicyField<Section>: Sendable {
    let key: String
    let range: ClosedRange<Double>
    let unit: String
    let isWhole: Bool
    let get: @Sendable (Section) -> Double
    let set: @Sendable (inout Section, Double) -> Void

    init(
        _ key: String, _ field: WritableKeyPath<Section, Double> & Sendable, _ range: ClosedRange<Double>,
        _ unit: String
    ) {
        self.key = key
        self.range = range
        self.unit = unit
        isWhole = false
        get = { $0[keyPath: field] }
        set = { $0[keyPath: field] = $1 }
    }

    init(
        _ key: String, whole field: WritableKeyPath<Section, some BinaryInteger & SendableMetatype> & Sendable,
        _ range: ClosedRange<Double>, _ unit: String
    ) {
        self.key = key
        self.range = range
        self.unit = unit
        isWhole = true
        get = { Double($0[keyPath: field]) }
        set = { $0[keyPath: field] = .init($1) }
    }
}

extension CheckedObject {
    /// Reads `fields`, all that this object has, into `target`.
    mutating func read<Section>(_ fields: [PolicyField<Section>], into target: inout Section) {
        for field in fields {
            if let number = number(field.key, in: field.range, unit: field.unit, isWhole: field.isWhole) {
                field.set(&target, number)
            }
        }
        end()
    }
}

extension StartPolicy {
    static let fields: [PolicyField<StartPolicy>] = [
        PolicyField("share_each", \.shareEach, 0...0.1, "part of capacity"),
        PolicyField("share_total", \.shareTotal, 0...0.5, "part of capacity"),
    ]
}

extension LoopPolicy {
    static let fields: [PolicyField<LoopPolicy>] = [
        PolicyField("period_seconds", \.periodSeconds, 0.1...60, "seconds"),
        PolicyField("lease_seconds", \.leaseSeconds, 1...3600, "seconds"),
        PolicyField("grace_seconds", \.graceSeconds, 0...600, "seconds"),
        PolicyField("fallback_share", \.fallbackShare, 0...1, "part of capacity"),
        PolicyField("max_tenants", whole: \.maxTenants, 1...1_000_000, "tenants per pool"),
        PolicyField("max_tenants_total", whole: \.maxTenantsTotal, 1...10_000_000, "tenants over all pools"),
        PolicyField(
            "max_new_tenants_per_gateway", whole: \.maxNewTenantsPerGateway, 1...1_000_000, "tenants per pool"),
        PolicyField("unlisted_share", \.unlistedShare, 0...0.5, "part of the budget"),
        PolicyField("max_parts", whole: \.maxParts, 1...1024, "parts per pool"),
        PolicyField("expected_gateways", whole: \.expectedGateways, 1...10_000, "gateways"),
        PolicyField("learning_seconds", \.learningSeconds, 0...3600, "seconds"),
        PolicyField("float_share", \.floatShare, 0...0.5, "part of the budget"),
        PolicyField("safe_seconds", \.safeSeconds, 0...604_800, "seconds"),
    ]
}

extension DemandPolicy {
    static let fields: [PolicyField<DemandPolicy>] = [
        PolicyField("window_seconds", \.windowSeconds, 1...600, "seconds"),
        PolicyField("backlog_seconds", \.backlogSeconds, 1...600, "seconds"),
        PolicyField("half_life_seconds", \.halfLifeSeconds, 1...86_400, "seconds"),
        PolicyField("margin", \.margin, 1...2, "factor"),
        PolicyField("idle_seconds", \.idleSeconds, 60...2_592_000, "seconds"),
    ]
}

extension CapacityPolicy {
    static let fields: [PolicyField<CapacityPolicy>] = [
        PolicyField("evidence_gain", \.evidenceGain, 0.1...20, "factor"),
        // Without forgetting a pool that recovers would stay small for ever.
        PolicyField("forgetting_per_second", \.forgettingPerSecond, 0.001...0.5, "part of belief per second"),
        PolicyField("quantile", \.quantile, 0.05...0.99, "quantile"),
        PolicyField("header_seconds", \.headerSeconds, 1...3600, "seconds"),
    ]
}

extension StarvationPolicy {
    static let fields: [PolicyField<StarvationPolicy>] = [
        PolicyField("seconds", \.seconds, 1...86_400, "seconds"),
        PolicyField("share", \.share, 0.05...1, "part of min(demand, entitlement)"),
    ]
}

extension TelemetryPolicy {
    static let fields: [PolicyField<TelemetryPolicy>] = [
        PolicyField("dedupe_seconds", \.dedupeSeconds, 60...86_400, "seconds"),
        PolicyField("late_seconds", \.lateSeconds, 1...3600, "seconds"),
        PolicyField("max_times_nominal", \.maxTimesNominal, 1...10_000, "times what the pool's contract gives"),
        PolicyField("raw_hours", \.rawHours, 1...8760, "hours"),
        PolicyField("minute_days", \.minuteDays, 1...3660, "days"),
        PolicyField("hour_days", \.hourDays, 1...3660, "days"),
        PolicyField("checkpoint_seconds", \.checkpointSeconds, 1...3600, "seconds"),
        PolicyField("ledger_hours", \.ledgerHours, 1...8760, "hours"),
        PolicyField("ledger_bytes", whole: \.ledgerBytes, 1_000_000...1_000_000_000_000, "bytes"),
    ]
}

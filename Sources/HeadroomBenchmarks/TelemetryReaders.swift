import HeadroomLoop
import HeadroomModel

/// Both actors that read telemetry, under the rules of `pools` pools, `pool-0` and on.
func telemetryReaders(
    pools: Int, at now: Timestamp
) async -> (classifier: TenantConsumptionClassifier, observer: UpstreamCapacityObserver) {
    let policies = (0..<pools).map {
        PoolPolicy(pool: PoolID(unchecked: "pool-\($0)"), nominal: Rates(rpm: 1e6, tpm: 1e9))
    }
    let rules = Rules(policy: Policy(pools: policies))
    let classifier = TenantConsumptionClassifier()
    let observer = UpstreamCapacityObserver()
    await classifier.follow(rules, at: now)
    await observer.follow(rules, at: now)
    return (classifier, observer)
}

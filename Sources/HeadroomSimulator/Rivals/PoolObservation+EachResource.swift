import HeadroomModel

extension PoolObservation {
    /// Runs a rule that was made for one resource once for each that the pool limits.
    ///
    /// That is how such a rule is used for two limits in practice, and it costs little: with a joint rule in its place
    /// the simulated law gained 0.003 (ControlLaw, rule 11).
    /// - Parameter rule: given a resource and its capacity, one rate for each tenant.
    func ratesByResource(_ rule: (Resource, Double) -> [Double]) -> [Rates] {
        var result = Array(repeating: Rates.none, count: tenants.count)
        for resource in capacity.resources.members {
            let rates = rule(resource, capacity.perMinute[resource.rawValue])
            for (index, rate) in rates.enumerated() { result[index][resource] = rate }
        }
        return result
    }
}

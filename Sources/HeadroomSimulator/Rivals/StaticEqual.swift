import HeadroomModel

/// Everyone gets the same part of the nominal capacity, for ever.
///
/// A team does this first: limits written once into the gateway's configuration. It needs no telemetry, no control loop
/// and no trust, and nobody can take anything from anyone. It looks worst where demand differs from tenant to tenant,
/// which is every trace here.
package struct StaticEqual: RateAllocator {
    /// Any would do: nothing changes.
    package let periodSeconds = 60.0

    package init() {}

    package func allocate(_ observation: PoolObservation) -> [Rates] {
        observation.ratesByResource { _, capacity in
            Array(repeating: capacity / Double(observation.tenants.count), count: observation.tenants.count)
        }
    }
}

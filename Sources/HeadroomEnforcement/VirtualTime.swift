import HeadroomModel

/// Virtual time of a pool's waiting tenants, one for each criticality.
///
/// Clocks are compared only among calls of one criticality. Batch work waits longest and stands far behind; one time
/// for all would let a tenant that comes back with interactive work claim all that batch work still has to get.
struct VirtualTime: Equatable, Sendable {
    /// Those who wait with one criticality.
    private struct Class: Equatable, Sendable {
        /// The least clock of those who wait; it never falls, but for ``follow(clocksUpTo:)``.
        var time = 0.0
        var weight = 0.0
        var mean = 0.0
    }

    private var classes: PerCriticality<Class>

    /// Seconds. Fairness remembers half a minute and not all day: what a tenant had an hour ago is no reason to let its
    /// calls wait now. 60 s is as good (ControlLaw, rule 22).
    private static let fadingHalfLife = 20.0

    init(_ time: Double = 0) {
        classes = PerCriticality(repeating: Class(time: time))
    }

    /// Where a tenant stands at least that begins to wait: an idle one does not come back with the claim of all the
    /// time it was away.
    func entry(as criticality: Criticality) -> Double {
        let entered = classes[criticality]
        return entered.time - ServiceClocks.creditSeconds / max(entered.weight, .leastNormalMagnitude)
    }

    /// A tenant began to wait.
    mutating func enter(as criticality: Criticality, weight: Double) {
        classes[criticality].weight += weight
    }

    /// The part of the distance to the mean of its class that a clock fades by in `seconds`.
    static func fading(over seconds: Double) -> Double {
        1 - decay(seconds, halfLife: fadingHalfLife)
    }

    /// A clock after it has faded.
    func faded(_ clock: Double, as criticality: Criticality, by part: Double) -> Double {
        clock + (classes[criticality].mean - clock) * part
    }

    /// Clocks may start over: time follows them down, or the next to wait would be lifted out of everyone's reach.
    mutating func follow(clocksUpTo most: Double) {
        for criticality in Criticality.allCases {
            classes[criticality].time = min(classes[criticality].time, most)
        }
    }

    /// Sums over those who wait.
    struct Waiting {
        fileprivate var least = PerCriticality(repeating: Double.infinity)
        fileprivate var weight = PerCriticality(repeating: 0.0)
        fileprivate var weighted = PerCriticality(repeating: 0.0)

        mutating func add(_ clock: Double, weight: Double, as criticality: Criticality) {
            least[criticality] = min(least[criticality], clock)
            self.weight[criticality] += weight
            weighted[criticality] += weight * clock
        }
    }

    mutating func settle(_ waiting: Waiting) {
        for criticality in Criticality.allCases {
            let weight = waiting.weight[criticality]
            classes[criticality].weight = weight
            guard weight > 0 else { continue }
            classes[criticality].time = max(classes[criticality].time, waiting.least[criticality])
            classes[criticality].mean = waiting.weighted[criticality] / weight
        }
    }
}

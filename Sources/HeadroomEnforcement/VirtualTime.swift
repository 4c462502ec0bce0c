import HeadroomModel

/// Virtual time of a pool's waiting tenants, one for each criticality.
///
/// Clocks are compared only among calls of one criticality. Tenants with batch work wait longest, so their clocks are
/// far behind. With one time for all criticalities, a tenant that comes back with interactive work would start at those
/// clocks, and would be served before all other interactive work for a long time.
struct VirtualTime: Equatable, Sendable {
    /// Those who wait with one criticality.
    private struct Waiters: Equatable, Sendable {
        /// The least clock of those who wait; only ``follow(clocksUpTo:)`` lowers it.
        var time = 0.0
        var weight = 0.0
        var mean = 0.0
    }

    private var classes: PerCriticality<Waiters>

    /// Seconds. Fairness remembers half a minute and not all day: what a tenant had an hour ago is no reason to let its
    /// calls wait now. 60 s is as good (ControlLaw, rule 22).
    private static let fadingHalfLife = 20.0

    init(_ time: Double = 0) {
        classes = PerCriticality(repeating: Waiters(time: time))
    }

    func write(to writer: inout ByteWriter) {
        for criticality in Criticality.allCases { writer.write(classes[criticality].time) }
    }

    /// Means are known again once somebody waits.
    init(from reader: inout ByteReader) throws(ByteCodingError) {
        self.init()
        for criticality in Criticality.allCases { classes[criticality].time = try reader.readFinite() }
    }

    /// The least clock of a tenant that begins to wait. So an idle tenant has no claim on the service that it did not
    /// ask for while it was idle.
    func entry(as criticality: Criticality) -> Double {
        let entered = classes[criticality]
        return entered.time - ServiceClocks.maxHeadStartSeconds / max(entered.weight, .leastNormalMagnitude)
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

    /// When clocks start over (a new term), time is lowered with them. Otherwise the next tenant to wait would be
    /// lifted to the old time and would come last.
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

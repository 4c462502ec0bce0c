import HeadroomModel

/// A provider's memory of an account's use, to say what may pass.
enum QuotaMeter: Sendable {
    case refill(Buckets)
    case window(UseWindow)

    init(_ metering: ProviderModel.Metering, full rates: Rates, burstSeconds: Double, at now: Timestamp) {
        switch metering {
        case .refill: self = .refill(Buckets(full: rates, burstSeconds: burstSeconds))
        case .fixedWindow: self = .window(UseWindow(rates, slotSeconds: 60, at: now))
        case .slidingWindow: self = .window(UseWindow(rates, slotSeconds: 1, at: now))
        }
    }

    /// Per minute.
    var rates: Rates {
        switch self {
        case .refill(let buckets): buckets.rates
        case .window(let window): window.limit
        }
    }

    /// The amount that may pass at once; below 0 in debt.
    var remaining: Work {
        switch self {
        case .refill(let buckets): buckets.level
        case .window(let window): window.remaining
        }
    }

    /// `seconds` since it was last asked.
    mutating func advance(to now: Timestamp, seconds: Double, at rates: Rates, burstSeconds: Double) {
        switch self {
        case .refill(var buckets):
            buckets.refill(seconds, at: rates, burstSeconds: burstSeconds)
            self = .refill(buckets)
        case .window(var window):
            self = .refill(Buckets(full: .none, burstSeconds: 0))  // Lest the window's slots are copied.
            window.advance(to: now, limit: rates)
            self = .window(window)
        }
    }

    mutating func charge(_ cost: Work) {
        switch self {
        case .refill(var buckets):
            buckets.charge(cost)
            self = .refill(buckets)
        case .window(var window):
            self = .refill(Buckets(full: .none, burstSeconds: 0))
            window.charge(cost)
            self = .window(window)
        }
    }

    /// One request, down to a full bucket's worth of debt.
    mutating func chargeRefused() {
        switch self {
        case .refill(var buckets):
            buckets.chargeRefused()
            self = .refill(buckets)
        case .window: charge(Work(requests: 1))
        }
    }

    /// The resource for want of which `cost` cannot pass. A call larger than the whole limit passes when nothing is
    /// used.
    func resourceShort(of cost: Work) -> Resource? {
        let remaining = remaining
        let most = most
        return rates.resources.members.first { remaining[$0] < min(cost[$0], most[$0]) }
    }

    /// Until `cost` passes if nothing else comes.
    func secondsUntil(_ cost: Work) -> Double {
        let remaining = remaining
        let most = most
        return rates.resources.members.reduce(0) { longest, resource in
            let missing = min(cost[resource], most[resource]) - remaining[resource]
            return missing > 0 ? max(longest, secondsUntil(missing, more: resource)) : longest
        }
    }

    /// Until all of the limit may pass.
    func secondsUntilFull(_ resource: Resource) -> Double {
        let missing = most[resource] - remaining[resource]
        return missing > 0 ? secondsUntil(missing, more: resource) : 0
    }

    private var most: Work {
        switch self {
        case .refill(let buckets): buckets.size
        case .window(let window): window.limit.work(overSeconds: 60)
        }
    }

    private func secondsUntil(_ missing: Double, more resource: Resource) -> Double {
        switch self {
        case .refill(let buckets): buckets.secondsUntil(missing, more: resource)
        case .window(let window): window.secondsUntil(missing, more: resource)
        }
    }
}

/// One token bucket for each resource, with continuous refill.
struct Buckets: Sendable {
    /// Per minute.
    private(set) var rates: Rates
    private(set) var level: Work
    private(set) var size: Work

    init(full rates: Rates, burstSeconds: Double) {
        self.rates = rates
        size = rates.work(overSeconds: burstSeconds)
        level = size
    }

    mutating func refill(_ seconds: Double, at rates: Rates, burstSeconds: Double) {
        self.rates = rates
        size = rates.work(overSeconds: burstSeconds)
        let refilled = level + rates.work(overSeconds: seconds)
        level.amounts = refilled.amounts.replacing(with: size.amounts, where: refilled.amounts .> size.amounts)
    }

    mutating func charge(_ cost: Work) { level -= cost }

    mutating func chargeRefused() {
        level[.requests] = max(level[.requests] - 1, -size[.requests])
    }

    func secondsUntil(_ missing: Double, more resource: Resource) -> Double {
        guard let rate = rates[resource], rate > 0 else { return 0 }
        return missing * 60 / rate
    }

    /// How full the emptier one is, 0 to 1.
    var leastFilled: Double {
        rates.resources.members.reduce(1) { least, resource in
            size[resource] > 0 ? min(least, max(0, level[resource] / size[resource])) : least
        }
    }
}

/// The use within a minute: of a fixed one (one slot, that of the clock's minute), or of the last sixty seconds
/// (a slot each, so that use is forgotten at the age of 59 to 60 s).
struct UseWindow: Sendable {
    private static let seconds = 60.0

    /// Per minute.
    private(set) var limit: Rates
    private let slotSeconds: Double
    private var slots: [Work]
    /// Of the present moment, counted from 1970.
    private var slot: Int64
    private var millisecond: Int64
    private var used = Work.zero

    init(_ limit: Rates, slotSeconds: Double, at now: Timestamp) {
        self.limit = limit
        self.slotSeconds = slotSeconds
        slots = Array(repeating: .zero, count: Int(UseWindow.seconds / slotSeconds))
        slot = now.milliseconds / Int64(1000 * slotSeconds)
        millisecond = now.milliseconds
    }

    var remaining: Work { limit.work(overSeconds: 60) - used }

    mutating func advance(to now: Timestamp, limit: Rates) {
        self.limit = limit
        millisecond = max(millisecond, now.milliseconds)
        let present = millisecond / Int64(1000 * slotSeconds)
        guard present > slot else { return }
        if present - slot >= slots.count {
            for index in slots.indices { slots[index] = .zero }
            used = .zero
        } else {
            for next in (slot + 1)...present {
                let index = Int(next % Int64(slots.count))
                used -= slots[index]
                slots[index] = .zero
            }
        }
        slot = present
    }

    mutating func charge(_ cost: Work) {
        slots[Int(slot % Int64(slots.count))] += cost
        used += cost
    }

    /// Until the oldest slots that hold so much have left.
    func secondsUntil(_ missing: Double, more resource: Resource) -> Double {
        var freed = 0.0
        for age in (0..<Int64(slots.count)).reversed() {
            freed += slots[Int((slot - age) % Int64(slots.count))][resource]
            guard freed >= missing else { continue }
            let leaves = Double(slot - age + Int64(slots.count)) * slotSeconds
            return leaves - Double(millisecond) / 1000
        }
        return UseWindow.seconds
    }
}

import HeadroomJSON
import HeadroomModel

// Parts of the answers to people.
extension JSONWriter {
    /// Rates that were measured or estimated. One that is not finite is left out: a fault in an estimate must not end the
    /// service when somebody looks at it.
    mutating func measured(_ rates: Rates) {
        var finite = rates
        for resource in rates.resources.members where !(rates[resource] ?? 0).isFinite { finite[resource] = nil }
        self.rates(finite)
    }

    package mutating func instant(_ instant: Timestamp?) {
        if let instant { timestamp(milliseconds: instant.milliseconds) } else { null() }
    }

    package mutating func amount(_ amount: Double?) {
        if let amount, amount.isFinite { number(amount) } else { null() }
    }

    package mutating func field(_ key: StaticString, _ value: Rates) {
        self.key(key)
        rates(value)
    }

    mutating func field(_ key: StaticString, measured value: Rates) {
        self.key(key)
        measured(value)
    }

    /// Null when there is none.
    package mutating func field(_ key: StaticString, _ value: Timestamp?) {
        self.key(key)
        instant(value)
    }

    /// The members of an object that say who, why and until when.
    mutating func authorship(_ authorship: Authorship) {
        field("author", authorship.author)
        field("reason", authorship.reason)
        field("at", authorship.at)
        field("until", authorship.until)
    }
}

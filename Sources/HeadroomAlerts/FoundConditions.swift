import HeadroomModel

/// The conditions that one look at the service found, by alert.
package struct FoundConditions: Sendable {
    package struct Found: Sendable {
        /// In the order in which they were found; each name once.
        package fileprivate(set) var members: [(member: Alert.Member, isFiring: Bool)] = []
        /// Those beyond ``FoundConditions/maxMembers``, which are only counted.
        package fileprivate(set) var unnamed = 0
    }

    /// Members of one alert that are followed one by one.
    static let maxMembers = 500

    private var all: [AlertKey: Found] = [:]

    package init() {}

    /// Ascending.
    package var keys: [AlertKey] { all.keys.sorted() }

    package subscript(key: AlertKey) -> Found { all[key] ?? Found() }

    package func isEmpty(_ key: AlertKey) -> Bool { all[key] == nil }

    /// - Parameters:
    ///   - isFiring: false between the two thresholds of a condition: enough to keep an alert open, not to open one.
    ///   - member: made only where it is followed.
    package mutating func add(_ key: AlertKey, isFiring: Bool = true, _ member: () -> Alert.Member) {
        guard all[key]?.members.count ?? 0 < Self.maxMembers else {
            if isFiring { all[key]?.unnamed += 1 }
            return
        }
        all[key, default: Found()].members.append((member(), isFiring))
    }
}

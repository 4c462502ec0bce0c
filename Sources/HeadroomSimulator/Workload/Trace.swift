import HeadroomModel

/// Requests in the order of their arrival, each with its tenant and lengths.
package struct Trace: Equatable, Sendable {
    package struct Row: Equatable, Sendable {
        /// Since the trace's start.
        package var seconds: Double
        /// Of ``Trace/tenants``.
        package var tenant: Int
        package var inputTokens: Int64
        package var outputTokens: Int64

        package init(seconds: Double, tenant: Int, inputTokens: Int64, outputTokens: Int64) {
            self.seconds = seconds
            self.tenant = tenant
            self.inputTokens = inputTokens
            self.outputTokens = outputTokens
        }

        /// In counted tokens: input + output.
        package var work: Work {
            Work(
                requests: 1, tokens: Double(inputTokens + outputTokens), inputTokens: Double(inputTokens),
                outputTokens: Double(outputTokens))
        }
    }

    /// Each once, in the order of first arrival.
    package private(set) var tenants: [TenantID]
    /// Ascending by ``Row/seconds``.
    package private(set) var rows: [Row]
    /// A seeded rule invented tenants, because some rows had none.
    package let hasSyntheticTenants: Bool
    /// Some rows' lengths were drawn, because the trace had none for them.
    package let hasDrawnLengths: Bool

    /// Sorts `rows` by time; rows of the same instant keep their order.
    package init(tenants: [TenantID], rows: [Row], hasSyntheticTenants: Bool = false, hasDrawnLengths: Bool = false) {
        self.tenants = tenants
        self.rows = rows.enumerated()
            .sorted { ($0.element.seconds, $0.offset) < ($1.element.seconds, $1.offset) }
            .map(\.element)
        self.hasSyntheticTenants = hasSyntheticTenants
        self.hasDrawnLengths = hasDrawnLengths
    }

    /// The work of all rows.
    package var total: Work { rows.reduce(.zero) { $0 + $1.work } }

    /// The work of each tenant, in the order of ``tenants``.
    package var totals: [Work] {
        var sums = Array(repeating: Work.zero, count: tenants.count)
        for row in rows { sums[row.tenant] += row.work }
        return sums
    }
}

extension Trace {
    /// The speed at which `seconds` play about `rate` rows each, or all rows when there are not that many. 1 for a
    /// trace without duration.
    package func speed(forRate rate: Double, seconds: Double) -> Double {
        let wanted = Int(rate * seconds)
        guard let last = wanted < rows.count ? rows[wanted].seconds : rows.last?.seconds, last > 0 else { return 1 }
        // A little more, so that the last row still lies inside.
        return (wanted < rows.count ? last : last * 1.000001) / seconds
    }

    /// The arrivals of the first `seconds` when the trace runs `speed` times as fast. Tenants that do not appear in
    /// them are left out.
    package func played(seconds: Double, speed: Double) -> Trace {
        let part = rows.prefix { $0.seconds / speed < seconds }
        var indices = [Int?](repeating: nil, count: tenants.count)
        var present: [TenantID] = []
        let moved = part.map { row in
            var row = row
            row.seconds /= speed
            let index = indices[row.tenant] ?? present.count
            if index == present.count { present.append(tenants[row.tenant]) }
            indices[row.tenant] = index
            row.tenant = index
            return row
        }
        return Trace(
            tenants: present, rows: moved, hasSyntheticTenants: hasSyntheticTenants, hasDrawnLengths: hasDrawnLengths)
    }

    /// The same under other names, in the order of ``tenants``.
    package func named(_ names: [TenantID]) -> Trace {
        precondition(names.count == tenants.count, "\(tenants.count) tenants cannot have \(names.count) names")
        var copy = self
        copy.tenants = names
        return copy
    }

    /// The tenant that ``folded(toLargest:)`` makes out of the rest.
    package static let others: TenantID = "others"

    /// At most `count` tenants: those with the fewest requests become one, ``others``. Ties by id.
    package func folded(toLargest count: Int) -> Trace {
        guard tenants.count > count else { return self }
        var requests = Array(repeating: 0, count: tenants.count)
        for row in rows { requests[row.tenant] += 1 }
        let kept = tenants.indices
            .filter { tenants[$0] != Trace.others }
            .sorted { (-requests[$0], tenants[$0]) < (-requests[$1], tenants[$1]) }
            .prefix(count - 1)
            .sorted()
        var indices = Array(repeating: kept.count, count: tenants.count)
        for (new, old) in kept.enumerated() { indices[old] = new }
        var trace = self
        trace.tenants = kept.map { tenants[$0] } + [Trace.others]
        for index in trace.rows.indices { trace.rows[index].tenant = indices[trace.rows[index].tenant] }
        return trace
    }
}

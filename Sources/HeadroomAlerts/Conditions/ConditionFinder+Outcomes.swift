import HeadroomJSON
import HeadroomModel

// How it stands where something was wrong: what is told when an alert closes.
extension ConditionFinder {
    /// One sentence about now, without the name of any tenant but the alert's only member; `nil` where the end says all.
    package func outcome(of alert: Alert, in seen: AlertObservation) -> String? {
        if alert.key.kind == .gatewayLost { return gateways(alert, seen) }
        guard let id = alert.key.pool, let pool = seen.report?.pools.first(where: { $0.pool == id }) else { return nil }
        switch alert.key.kind {
        case .capacityLost: return capacity(pool)
        case .breakerOpen: return pool.state == .open || pool.state == .halfOpen ? nil : "Calls go to \(id) again."
        case .starvation: return starvation(alert, pool)
        case .latency: return latency(pool)
        default: return nil
        }
    }

    private func capacity(_ pool: PoolReport) -> String? {
        let worst = pool.nominal.resources.members.min { left, right in
            share(pool, left) < share(pool, right)
        }
        guard let worst else { return nil }
        return "The provider grants \(pool.pool) \(GroupedNumber.whole(pool.estimated[worst] ?? 0)) of the "
            + "\(RateText.sentence(pool.nominal[worst] ?? 0, worst)) of its contract "
            + "(\(GroupedNumber.percent(share(pool, worst))))."
    }

    private func share(_ pool: PoolReport, _ resource: Resource) -> Double {
        (pool.estimated[resource] ?? 0) / max(1, pool.nominal[resource] ?? 0)
    }

    private func starvation(_ alert: Alert, _ pool: PoolReport) -> String? {
        guard alert.memberCount == 1, let name = alert.members.first?.tenant else {
            return pool.tenants.contains { $0.starvation != nil } ? nil : "Nobody in \(pool.pool) is starved."
        }
        guard let tenant = pool.tenants.first(where: { $0.tenant == name }) else {
            return "\(name) has not been heard of in \(pool.pool) for a while."
        }
        let waiting = Criticality.allCases.reduce(0) { $0 + tenant.queue[$1].depth }
        let waits = waiting == 0 ? "nothing of it waits" : "\(GroupedNumber.whole(Double(waiting))) of its calls wait"
        if Resource.allCases.allSatisfy({ (tenant.consumed[$0] ?? 0) < 1 }) {
            return "\(name) is served nothing in \(pool.pool), and \(waits)."
        }
        return "\(name) is served \(RateText.sentence(tenant.consumed)) in \(pool.pool), and \(waits)."
    }

    private func latency(_ pool: PoolReport) -> String? {
        guard let latency = pool.upstream.whole.latency else { return nil }
        return "Calls to \(pool.pool) take \(GroupedNumber.whole(latency.p95Milliseconds)) ms at p95, usually "
            + "\(GroupedNumber.whole(latency.baselineP95Milliseconds)) ms."
    }

    private func gateways(_ alert: Alert, _ seen: AlertObservation) -> String? {
        var (heard, left): ([String], [String]) = ([], [])
        for member in alert.members {
            let gateway = seen.gateways.first { $0.presence.gateway.text == member.name }
            // One of which nobody knows any more was given up.
            if let gateway, !gateway.presence.hasLeft { heard.append(member.name) } else { left.append(member.name) }
        }
        let parts = [(heard, "heard of again"), (left, "gone for good, and nothing is withheld for")]
            .filter { !$0.0.isEmpty }
            .map { names, what in
                let verb = names.count == 1 ? "is" : "are"
                let them = what.hasSuffix("for") ? (names.count == 1 ? " it" : " them") : ""
                return "\(names.joined(separator: ", ")) \(verb) \(what)\(them)"
            }
        return parts.isEmpty ? nil : parts.joined(separator: "; ") + "."
    }
}

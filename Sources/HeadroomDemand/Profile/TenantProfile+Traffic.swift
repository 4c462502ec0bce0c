import HeadroomModel

/// The reports of gateways on a tenant besides its calls: queues and windows.
extension TenantProfile {
    private static let maxQueues = 3 * DemandEstimator.maxGateways

    /// A line of the tenant's, of this instant.
    mutating func hear(at instant: Timestamp) {
        if lastSeen < instant { lastSeen = instant }
        advance(to: instant.minute)
    }

    mutating func note(_ record: QueueRecord, gateway: UInt16, names: [GatewayID], at instant: Timestamp) {
        let name = names[Int(gateway)]
        let place = queues.firstIndex { queue in
            (names[Int(queue.gateway)], queue.criticality) >= (name, record.criticality)
        }
        let isKnown = place.map { queues[$0].gateway == gateway && queues[$0].criticality == record.criticality }
        if isKnown == true, let place {
            guard queues[place].at <= instant else { return }
            watch.noteQueue(shrankBy: max(0, queues[place].depth - record.depth))
            if record.depth <= 0 {
                queues.remove(at: place)
                return
            }
        }
        guard record.depth > 0 else { return }
        correction.learn(claimedTokens: Float(record.tokens), items: Float(record.depth))
        let queue = Queue(
            gateway: gateway, criticality: record.criticality, at: instant, depth: record.depth,
            tokens: record.tokens, oldestSeconds: Float(max(0, record.oldestAgeMilliseconds) / 1000))
        if isKnown == true, let place {
            queues[place] = queue
        } else if queues.count < Self.maxQueues {
            queues.insert(queue, at: place ?? queues.count)
        }
    }

    mutating func noteArrivals(_ cost: Float, from gateway: UInt16, names: [GatewayID], at now: Timestamp) {
        var place = arrivals.firstIndex { $0.gateway == gateway }
        if place == nil {
            // Gateways come and go under new names: what has faded makes room.
            arrivals.removeAll { now.seconds(since: $0.amount.at) > 25 * DemandEstimator.tenantHalfLife }
            place = arrivals.firstIndex { names[Int($0.gateway)] > names[Int(gateway)] } ?? arrivals.count
            arrivals.insert(Arrivals(amount: Fading(at: now), gateway: gateway), at: place!)
        }
        arrivals[place!].amount.add(cost, at: now, halfLife: DemandEstimator.tenantHalfLife)
    }

    /// The number goes to another gateway.
    mutating func forget(gateway: UInt16) {
        arrivals.removeAll { $0.gateway == gateway }
        queues.removeAll { $0.gateway == gateway }
        if broughtBy == gateway { broughtBy = Self.nobody }
    }

    /// A queue or a window reports tokens in sum; their split into input and output follows the tenant's shape.
    func split(tokens: Double) -> Work {
        let mean = shape.mean
        let whole = mean[.inputTokens] + mean[.outputTokens]
        let part = whole > 0 ? mean[.inputTokens] / whole : 0.5
        // Where the provider counts fewer tokens than there are, cached ones say, there are more of them.
        let reported = mean[.tokens] > 0 ? tokens * whole / mean[.tokens] : tokens
        return Work(tokens: tokens, inputTokens: reported * part, outputTokens: reported * (1 - part))
    }
}

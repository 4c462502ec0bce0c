import HeadroomEnforcement
import HeadroomMemoryStores
import HeadroomModel

/// Headroom and the network: polls, telemetry, the loop's ticks, and what breaks.
extension Simulation {
    mutating func tick() async {
        switch controller {
        case .headroom(let plane):
            events.plan(.tick, at: now.adding(seconds: rules.policy.loop.periodSeconds))
            guard let loop = plane.loop else { return }
            let before = plane.board.contents.publication?.whole.version
            plane.audit.note(at: now) { $0.beginTick(under: plane.rules.inForce) }
            let outcome = await loop.tick(at: now)
            record.note(outcome, at: second)
            plane.audit.note { auditor throws(AuditViolation) in try auditor.endTick(outcome) }
            notePublication(since: before, plane.board)
        case .rates, .oracle:
            events.plan(.tick, at: now.adding(seconds: decideAsRival()))
        case .admission, .nobody: break
        }
    }

    /// A new generation ends the long polls of all gateways, each after its own lag.
    private mutating func notePublication(since before: SnapshotVersion?, _ board: MemoryBoard) {
        guard let publication = board.contents.publication, publication.whole.version != before else { return }
        generations.append((publication.whole.version, now))
        record.note(limits: limits(of: publication.whole.pools), at: second)
        for gateway in gateways.indices { planPush(gateway) }
    }

    /// Over all pools, in the order of the roster.
    func limits(of pools: [PoolAllocation]) -> [Double] {
        var limits = [Double](repeating: 0, count: tenants.count)
        for pool in pools {
            for index in pool.tenants.indices {
                guard let place = places[pool.tenants[index].tenant] else { continue }
                limits[place] += pool.tenants[index].assured[.tokens] ?? 0
            }
        }
        return limits
    }

    mutating func planPush(_ gateway: Int) {
        events.plan(
            .push, gateway, at: now.adding(seconds: scenario.network.pollLagSeconds * network.drawUniform()))
    }

    /// A gateway asks for its allocation, or its long poll is answered.
    mutating func poll(_ gateway: Int, isUsual: Bool) async {
        guard case .headroom(let plane) = controller else { return takePending(gateway) }
        guard gateways[gateway].isUp else {
            if isUsual { events.plan(.poll, gateway, at: now.adding(seconds: 1)) }
            return
        }
        plane.audit.note(at: now) { _ in }
        let isLost = network.drawUniform() < scenario.network.lostPolls
        if let loop = plane.loop, !isLost {
            let presence = GatewayPresence(
                gateway: gateways[gateway].id, lastSeen: now, applied: gateways[gateway].holder.applied,
                sent: nil)
            if plane.board.note(presence), let before = plane.board.contents.publication?.whole.version {
                await loop.admitGateways(at: now)
                notePublication(since: before, plane.board)
            }
            receive(plane.board.handOut(to: gateways[gateway].id), at: gateway)
            plane.board.acknowledge(gateways[gateway].holder.applied, by: gateways[gateway].id)
        } else {
            gateways[gateway].holder.noteFailure(at: now)
        }
        if isUsual {
            let next = gateways[gateway].holder.nextPoll(jitter: network.drawUniform(), at: now)
            events.plan(.poll, gateway, at: max(next, now.adding(seconds: 0.1)))
        }
        serve(gateway)
    }

    private mutating func receive(_ publication: Publication?, at gateway: Int) {
        let id = gateways[gateway].id
        guard let part = publication?.parts.first(where: { $0.gateway == id })?.snapshot else {
            return gateways[gateway].holder.noteFailure(at: now)
        }
        let acceptance = gateways[gateway].holder.accept(part, at: now)
        guard let until = gateways[gateway].holder.lease.until else { return }
        if acceptance != .ignored {
            audit?.note(at: now) { auditor throws(AuditViolation) in
                try auditor.apply(part, at: id, leaseUntil: until)
            }
        }
        let pools = enforced(part.pools)
        for pool in workload.pools.indices {
            switch acceptance {
            case .applied:
                let place = pools.firstIndex { [id = workload.pools[pool].id] in $0.pool == id }
                gateways[gateway].gates[pool].load(place.map { pools[$0] }, leaseUntil: until, at: now)
            case .renewed: gateways[gateway].gates[pool].renew(leaseUntil: until, at: now)
            case .ignored: break
            }
        }
    }

    /// A gateway that takes one plain number knows no other: it is both what the tenant is sure of and the most it
    /// gets.
    private func enforced(_ pools: [PoolAllocation]) -> [PoolAllocation] {
        guard case .headroom(.plain) = strategy.kind else { return pools }
        var plain = pools
        for pool in plain.indices {
            for index in plain[pool].tenants.indices {
                plain[pool].tenants[index].assured = plain[pool].tenants[index].plain
                plain[pool].tenants[index].ceiling = plain[pool].tenants[index].plain
            }
        }
        return plain
    }

    // MARK: Telemetry

    /// Once a second.
    mutating func flush(_ gateway: Int) {
        guard case .headroom = controller else { return }
        events.plan(.flush, gateway, at: now.adding(seconds: 1))
        guard gateways[gateway].isUp else { return }
        draw(gateway)
        for pool in workload.pools.indices {
            for queue in gateways[gateway].gates[pool].queues(at: now) {
                gateways[gateway].reports.append(.queue(queue))
            }
        }
        guard !gateways[gateway].reports.isEmpty else { return }
        let due = now.adding(seconds: telemetryDelay)
        gateways[gateway].outbox.append((due, gateways[gateway].reports))
        gateways[gateway].reports.removeAll(keepingCapacity: true)
        events.plan(.delivery, gateway, at: due)
    }

    private var telemetryDelay: Double {
        scenario.faults.reduce(scenario.network.telemetryDelaySeconds) { delay, fault in
            guard case .telemetryLate(let seconds, let span) = fault,
                span.seconds(ofRun: workload.seconds).contains(second)
            else { return delay }
            return delay + seconds
        }
    }

    /// Stores a gateway's flushed lines, unless nobody is there to store them: then they go with the next.
    mutating func deliver(_ gateway: Int) {
        guard case .headroom(let plane) = controller, gateways[gateway].isUp, plane.loop != nil else { return }
        while let batch = gateways[gateway].outbox.first, batch.due <= now {
            plane.store(batch.records, at: now)
            gateways[gateway].outbox.removeFirst()
        }
        let clocks = plane.board.contents.serviceClocks
        for pool in workload.pools.indices {
            guard let clocks = clocks[workload.pools[pool].id] else { continue }
            gateways[gateway].gates[pool].update(serviceClocks: clocks, at: now)
        }
    }

    // MARK: Faults

    mutating func planFaults() {
        if let change = scenario.provider.versionChange {
            events.plan(.fault, -1, at: Simulation.start.adding(seconds: change.from * workload.seconds))
        }
        for (index, fault) in scenario.faults.enumerated() {
            let span = fault.span.seconds(ofRun: workload.seconds)
            events.plan(.fault, index, at: Simulation.start.adding(seconds: span.lowerBound))
            if span.upperBound > span.lowerBound {
                events.plan(.fault, index, at: Simulation.start.adding(seconds: span.upperBound))
            }
        }
    }

    /// A fault begins, or ends when it had begun. -1 is the new version of the model.
    mutating func toggle(_ index: Int) async {
        guard index >= 0 else { return reportVersionChange() }
        let plane = if case .headroom(let plane) = controller { plane } else { SimulatedControlPlane?.none }
        switch scenario.faults[index] {
        case .gatewayDown(let gateway, _, let saysGoodbye):
            let gateway = gateway % gateways.count
            if gateways[gateway].isUp {
                end(gateway)
                if saysGoodbye { await leave([gateways[gateway].id]) }
            } else {
                gateways[gateway].restart(at: now)
            }
        case .fleetReplaced(_, let saysGoodbye):
            let running = gateways.indices.filter { gateways[$0].isUp }
            for gateway in running { end(gateway) }
            if saysGoodbye { await leave(running.map { gateways[$0].id }) }
            for gateway in running {
                gateways[gateway].replace(at: now)
                events.plan(.push, gateway, at: now)
            }
        case .controlPlaneDown:
            guard case .headroom(var plane) = controller else { return }
            if plane.loop != nil { plane.kill() } else { plane.start(at: now) }
            controller = .headroom(plane)
        case .telemetryLate: break  // Asked for when reports are sent.
        case .ledgerFull: plane?.ledger.isFull.toggle()
        case .telemetryLocked: plane?.telemetry.isLocked.toggle()
        case .newRules(_, let change): plane?.rules.change { $0 = change.rules(from: rules, pool: Simulation.pool) }
        case .clockJump(let gateway, _, let seconds):
            let gateway = gateway % gateways.count
            for index in gateways[gateway].reports.indices {
                let told = gateways[gateway].reports[index].at.adding(seconds: -seconds)
                gateways[gateway].reports[index].at = min(now, told)
            }
        }
    }

    /// A gateway's process ends, and its queue is lost.
    private mutating func end(_ gateway: Int) {
        gateways[gateway].isUp = false
        audit?.note { [id = gateways[gateway].id] in $0.stop(id) }
        for queue in workload.pools.indices.flatMap({ gateways[gateway].gates[$0].queues(at: now) }) {
            record.lost += Int(queue.depth)
            guard let tenant = places[queue.tenant] else { continue }
            observed.leave(tenant, Work(requests: Double(queue.depth), tokens: Double(queue.tokens)))
        }
    }

    /// These said goodbye: what they had is divided over the others at once. Without a control plane nobody hears it.
    private mutating func leave(_ names: [GatewayID]) async {
        guard case .headroom(let plane) = controller, let loop = plane.loop else { return }
        plane.audit.note(at: now) { auditor in
            for name in names { auditor.leave(name) }
        }
        for name in names { plane.board.leave(name, at: now) }
        let before = plane.board.contents.publication?.whole.version
        await loop.admitGateways(at: now)
        notePublication(since: before, plane.board)
    }

    private mutating func reportVersionChange() {
        guard case .headroom = controller else { return }
        gateways[0].reports.append(
            .model(
                ModelRecord(
                    at: now, gateway: gateways[0].id, pool: Simulation.pool, model: "simulated-1", version: "2")))
    }
}

import HeadroomEnforcement
import HeadroomLoop
import HeadroomModel

/// Draws from the float, and the network between gateways and it.
extension Simulation {
    /// Seconds each way.
    private static let leastDrawLag = 0.01
    private static let maxDrawLag = 0.05

    /// Sends the gateway's next draw, if one is due.
    mutating func draw(_ gateway: Int) {
        guard strategy.drawsFromFloat, let epoch = gateways[gateway].holder.applied?.epoch else { return }
        for pool in workload.pools.indices {
            guard let request = gateways[gateway].gates[pool].nextDraw(epoch: epoch, at: now) else { continue }
            if pool == 0 { audit?.note(at: now) { auditor throws(AuditViolation) in try auditor.draw(request) } }
            guard !isLost else { continue }
            let due = now.adding(seconds: drawLag)
            gateways[gateway].draws.append((due, request))
            events.plan(.draw, gateway, at: due)
        }
    }

    /// A draw has arrived; while the control plane is gone nobody hears it.
    mutating func answerDraw(_ gateway: Int) {
        guard case .headroom(let plane) = controller else { return }
        while let place = gateways[gateway].draws.firstIndex(where: { [now] in $0.due <= now }) {
            let request = gateways[gateway].draws.remove(at: place).request
            guard let loop = plane.loop else { continue }
            guard let pool = workload.pools.firstIndex(where: { $0.id == request.pool }) else { continue }
            guard let answer = self.answer(request, from: loop) else { continue }
            if pool == 0 { audit?.note { $0.grant(answer, to: request) } }
            guard !isLost, request.boot == String(gateways[gateway].boot) else { continue }
            let due = now.adding(seconds: drawLag)
            gateways[gateway].drawAnswers.append(.init(due: due, pool: pool, answer: answer))
            events.plan(.grant, gateway, at: due)
        }
    }

    /// `nil`: it is refused.
    private func answer(_ request: DrawRequest, from loop: ControlLoop) -> DrawAnswer? {
        do throws(DrawRefusal) {
            let answer = try loop.draw(request, at: now)
            audit?.note(at: now) { auditor throws(AuditViolation) in try auditor.answer(answer, to: request) }
            return answer
        } catch {
            audit?.note(at: now) { auditor throws(AuditViolation) in try auditor.refuse(error, of: request) }
            return nil
        }
    }

    mutating func takeGrant(_ gateway: Int) {
        while let place = gateways[gateway].drawAnswers.firstIndex(where: { [now] in $0.due <= now }) {
            let arrived = gateways[gateway].drawAnswers.remove(at: place)
            guard gateways[gateway].isUp else { continue }
            for dispatch in gateways[gateway].gates[arrived.pool].receive(arrived.answer, at: now) {
                send(dispatch, from: gateway)
            }
        }
        serve(gateway)
    }

    private var isLost: Bool { mutating get { network.drawUniform() < scenario.network.lostPolls } }

    private var drawLag: Double {
        mutating get {
            Simulation.leastDrawLag + (Simulation.maxDrawLag - Simulation.leastDrawLag) * network.drawUniform()
        }
    }
}

extension Strategy {
    var drawsFromFloat: Bool { draws(0) }

    /// Whether the gateway of this number does.
    func draws(_ gateway: Int) -> Bool {
        switch kind {
        case .headroom(.draw): true
        case .headroom(.mixed): gateway % 2 == 0
        default: false
        }
    }
}

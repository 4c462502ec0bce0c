import HeadroomModel
import Synchronization

/// A snapshot board in memory: what the loop published, and which gateways poll.
package final class MemoryBoard: SnapshotPublishing {
    package struct Contents: Sendable {
        package var publication: Publication?
        package var serviceClocks: [PoolID: [TenantID: Double]] = [:]
        package var report: LoopReport?
        /// Those that take part, and those that have left; ascending by gateway. Gateways acknowledge what a poll brings in
        /// the same instant, so that a first poll already takes part.
        package var gateways: [GatewayPresence] = []
        /// The publication that had a part for one that left: it is not handed out to it again.
        fileprivate var leftBehind: [GatewayID: SnapshotVersion] = [:]
        /// All publications, unless the board keeps no history.
        package var history: [Publication] = []
    }

    /// A gateway that was away for longer than this counts as one that joins.
    private static let awaySeconds = 20.0

    private let state = Mutex(Contents())
    private let keepsHistory: Bool
    private let onPublish: @Sendable (Publication) -> Void

    /// - Parameters:
    ///   - keepsHistory: false keeps the newest publication only, as a long run must.
    ///   - onPublish: called with each publication.
    package init(keepsHistory: Bool = true, onPublish: @escaping @Sendable (Publication) -> Void = { _ in }) {
        self.keepsHistory = keepsHistory
        self.onPublish = onPublish
    }

    package var contents: Contents { state.withLock { $0 } }
    package var publications: [Publication] { state.withLock { $0.history } }
    package var clocks: [PoolID: [TenantID: Double]] { state.withLock { $0.serviceClocks } }

    package func publish(_ publication: Publication) {
        state.withLock { state in
            state.publication = publication
            if keepsHistory { state.history.append(publication) }
        }
        onPublish(publication)
    }

    package func update(serviceClocks: [PoolID: [TenantID: Double]]) {
        state.withLock { $0.serviceClocks = serviceClocks }
    }

    package func report(_ report: LoopReport) { state.withLock { $0.report = report } }

    package func gateways(since: Timestamp) -> [GatewayPresence] {
        state.withLock { $0.gateways.filter { $0.lastSeen >= since } }
    }

    // MARK: Gateways

    /// Gateways that poll all the time, and acknowledge nothing.
    package func join(_ gateways: [GatewayID]) {
        let always = Timestamp(milliseconds: .max / 2)
        state.withLock { state in
            state.gateways = gateways.sorted().map {
                GatewayPresence(gateway: $0, lastSeen: always, applied: nil, sent: nil)
            }
        }
    }

    /// As the board knows a gateway from a poll at `now`: it has applied and been handed these.
    package func poll(_ gateway: GatewayID, applied: SnapshotVersion?, sent: SnapshotVersion?, at now: Timestamp) {
        state.withLock {
            $0.enter(GatewayPresence(gateway: gateway, lastSeen: now, applied: applied, sent: sent))
        }
    }

    /// A poll by a gateway that keeps what it was handed before. Returns true when it was not known, has left, or was away
    /// for long.
    package func note(_ presence: GatewayPresence) -> Bool {
        state.withLock { state in
            guard let before = state.gateways.first(where: { $0.gateway == presence.gateway }) else {
                state.enter(presence)
                return true
            }
            if state.isHandedNothing(before) { return true }
            var presence = presence
            presence.sent = before.hasLeft ? nil : before.sent
            state.enter(presence)
            return before.hasLeft || presence.lastSeen.seconds(since: before.lastSeen) > Self.awaySeconds
        }
    }

    /// It says goodbye.
    package func leave(_ gateway: GatewayID, at now: Timestamp) {
        state.withLock { state in
            state.enter(GatewayPresence(gateway: gateway, lastSeen: now, applied: nil, sent: nil, hasLeft: true))
            let hasPart = state.publication?.parts.contains { $0.gateway == gateway } ?? false
            state.leftBehind[gateway] = hasPart ? state.publication?.whole.version : nil
        }
    }

    /// Hands a gateway its publication: from now on it may be in force there.
    package func handOut(to gateway: GatewayID) -> Publication? {
        state.withLock { state in
            if let index = state.gateways.firstIndex(where: { $0.gateway == gateway }) {
                if state.isHandedNothing(state.gateways[index]) { return nil }
                state.gateways[index].sent = state.publication?.whole.version
            }
            return state.publication
        }
    }

    /// A gateway that keeps a long poll open asks again at once, and says what it has.
    package func acknowledge(_ version: SnapshotVersion?, by gateway: GatewayID) {
        state.withLock { state in
            let index = state.gateways.firstIndex { $0.gateway == gateway }
            if let index { state.gateways[index].applied = version }
        }
    }

    /// As after a start: what was noted of polls is gone.
    package func forgetGateways() { state.withLock { $0.gateways = [] } }

    /// As by a kill: all is gone.
    package func forget() { state.withLock { $0 = Contents() } }
}

extension MemoryBoard.Contents {
    /// The publication that still has its part is not handed to a gateway that has left.
    fileprivate func isHandedNothing(_ gateway: GatewayPresence) -> Bool {
        gateway.hasLeft && leftBehind[gateway.gateway] == publication?.whole.version
    }

    /// In its place, or in place of what was known of the gateway.
    fileprivate mutating func enter(_ presence: GatewayPresence) {
        let index = gateways.firstIndex { $0.gateway >= presence.gateway } ?? gateways.count
        if index < gateways.count, gateways[index].gateway == presence.gateway {
            gateways[index] = presence
        } else {
            gateways.insert(presence, at: index)
        }
    }
}

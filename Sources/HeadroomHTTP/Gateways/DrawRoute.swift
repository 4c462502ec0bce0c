import HeadroomModel
import HeadroomWire
import Synchronization

extension Route {
    /// `POST /v1/draw` (WireFormat §2.1): read and answered on the server's thread, from memory.
    static func draw(_ intake: DrawIntake, _ board: SnapshotBoard) -> Route {
        Route(
            method: .post, pattern: "/v1/draw", access: .roles([.gateway]), reach: .scope,
            bodyLimit: DrawIntake.maxBytes,
            contentTypes: ["application/json"]
        ) { _, grant in
            HTTPHandler(answer: { exchange throws(HTTPError) in
                .response(try intake.answer(exchange.takeBody(), grant, board))
            })
        }
    }
}

/// Takes draws from requests to the float, and counts what becomes of them.
package final class DrawIntake: Sendable {
    package typealias Float = @Sendable (DrawRequest, Timestamp) throws(DrawRefusal) -> DrawAnswer

    /// The outcome of a draw. A repeated draw counts as often as it came.
    package enum Result: String, CaseIterable { case granted, empty, refused }

    private let float: Float
    private let results = Mutex<[PoolID: [Result: Int]]>([:])

    /// 64 heads of each of 150 tenants.
    static let maxBytes = 1 << 20

    /// - Parameter float: answers at once, on any thread.
    package init(float: @escaping Float) {
        self.float = float
    }

    fileprivate func answer(
        _ body: [UInt8], _ grant: AccessGrant, _ board: SnapshotBoard
    ) throws(HTTPError) -> HTTPResponse {
        let request: DrawRequest
        do throws(WireError) { request = try DrawRequest.decode(body) } catch {
            throw HTTPError(.badRequest, error.message, cause: error)
        }
        try check(request, grant)
        let key = GatewayRegister.Key(gateway: request.gateway, member: request.member)
        guard try board.hears(key, boot: request.boot) else {
            throw HTTPError(
                .conflict,
                "\(request.gateway) has no part of any pool: it has to poll /v1/allocations with this boot and applied, "
                    + "and draws from then on")
        }
        let answer: DrawAnswer
        do throws(DrawRefusal) { answer = try float(request, board.time.now()) } catch {
            // Names that nobody published are not counted one by one.
            if error != .unknownPool { count(.refused, request.pool) }
            throw Self.refusal(error, of: request, isPublished: board.current != nil)
        }
        count(answer.granted.isEmpty ? .empty : .granted, request.pool)
        return HTTPResponse(type: "application/json", body: answer.encoded())
    }

    private func check(_ request: DrawRequest, _ grant: AccessGrant) throws(HTTPError) {
        guard grant.maySpeak(for: request.gateway) else {
            throw HTTPError(.forbidden, "the token \"\(grant.name)\" does not speak for \(request.gateway)")
        }
        guard grant.scope.holds(request.pool) else {
            throw HTTPError(.forbidden, "the token \"\(grant.name)\" is not for the pool \(request.pool)")
        }
        guard grant.scope.tenants != nil else { return }
        let tenants = request.totals.spent.lazy.map(\.tenant) + request.waiting.lazy.map(\.tenant)
        if let other = tenants.first(where: { !grant.scope.holds($0) }) {
            throw HTTPError(.forbidden, "the token \"\(grant.name)\" is not for the tenant \(other)")
        }
    }

    private static func refusal(_ refusal: DrawRefusal, of request: DrawRequest, isPublished: Bool) -> HTTPError {
        switch refusal {
        case .unknownPool where !isPublished:
            HTTPError(.notReady, "nothing has been published yet", retryAfterSeconds: 1)
        case .unknownPool:
            HTTPError(.noSuch, "no pool \(request.pool) is published; the snapshot names those that are")
        case .otherEpoch(let epoch):
            HTTPError(
                .conflict,
                "epoch \(request.epoch) is over, or has not begun: it is \(epoch) now. Poll /v1/allocations, and draw with "
                    + "its epoch and all totals since the boot")
        case .overtaken:
            HTTPError(
                .conflict,
                "draw \(request.sequence) comes behind a later one that was answered; numbers ascend within a boot")
        case .invalid(let fault):
            HTTPError(.badRequest, fault)
        }
    }

    private func count(_ result: Result, _ pool: PoolID) {
        results.withLock { $0[pool, default: [:]][result, default: 0] += 1 }
    }

    /// Since the start; pools that were never drawn from are left out.
    var counts: [PoolID: [Result: Int]] { results.withLock { $0 } }

    /// Since the start, ascending by pool, zeros included; pools that were never drawn from are left out.
    package var all: [(pool: PoolID, result: Result, count: Int)] {
        let counts = counts
        return counts.keys.sorted().flatMap { pool in
            Result.allCases.map { (pool, $0, counts[pool]?[$0] ?? 0) }
        }
    }
}

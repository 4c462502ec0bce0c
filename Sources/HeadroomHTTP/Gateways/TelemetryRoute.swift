import HeadroomJSON
import HeadroomModel
import HeadroomWire
import Synchronization

extension Route {
    /// `POST /v1/telemetry` (WireFormat §1): read on the server's thread, committed on a task, answered after that.
    static func telemetry(_ intake: TelemetryIntake, _ board: SnapshotBoard) -> Route {
        Route(
            method: .post, pattern: "/v1/telemetry", access: .roles([.gateway]), reach: .scope,
            bodyLimit: TelemetryIntake.maxBytes, contentTypes: ["application/x-ndjson", "application/json"]
        ) { _, grant in
            HTTPHandler(answer: { exchange throws(HTTPError) in
                let batch = try intake.read(exchange.isJSON ? .document : .lines, exchange, grant, board)
                guard !batch.lines.isEmpty else { throw intake.nothingReadable(batch.faults) }
                return .later {
                    do throws(HTTPError) {
                        return intake.answer(try await intake.store(batch, board), to: batch, board)
                    } catch {
                        return HTTPResponse(error)
                    }
                }
            })
        }
    }
}

/// Takes telemetry from a request to the sink: lines, or spans that become lines.
package final class TelemetryIntake: Sendable {
    private let decoder: Mutex<TelemetryDecoder>
    private let sink: any TelemetrySink
    private let digest: @Sendable ([UInt8]) -> [UInt8]
    package let counters = TelemetryCounters()

    /// WireFormat §1.
    static let maxBytes = 8 << 20
    /// Faults that a 400 lists; the first ones tell what is wrong with the rest.
    private static let maxFaults = 100
    /// A full disk or a locked database is not over in a second.
    private static let storageRetrySeconds = 5

    /// - Parameter digest: a cryptographic hash: a batch's number belongs to what was sent with it first.
    package init(
        decoder: TelemetryDecoder, sink: any TelemetrySink, digest: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) {
        self.decoder = Mutex(decoder)
        self.sink = sink
        self.digest = digest
    }

    /// Takes new limits for lines from now on: the policy has changed.
    package func follow(_ limits: TelemetryDecoder.Limits) {
        decoder.withLock { $0.limits = limits }
    }

    enum Format {
        case lines, document
        case traces(TraceDecoder)
    }

    /// The batch may be empty: every line had a fault, or no span was a call.
    func read(
        _ format: Format, _ exchange: HTTPExchange, _ grant: AccessGrant, _ board: SnapshotBoard
    ) throws(HTTPError) -> TelemetryBatch {
        let number = try batchNumber(exchange)
        let process = try process(exchange)
        // A token that names one gateway stands for it; lines need not name it again.
        let sender = grant.gateways?.only
        let received = board.time.now()
        let arrival = TelemetryDecoder.Arrival(
            // A sender that does not say what its clock shows is taken to have the right time.
            received: received, sentAt: try sentAt(exchange) ?? board.time.wall().milliseconds, gateway: sender,
            allowed: grant.gateways, pools: grant.scope.pools, tenants: grant.scope.tenants,
            isNumberedBatch: number != nil)
        let body = exchange.takeBody()
        let decoder = decoder.withLock(\.self)
        let result: TelemetryDecoder.Result
        do throws(WireError) {
            switch format {
            case .lines: result = try decoder.decode(body, as: .lines, arrival: arrival)
            case .document: result = try decoder.decode(body, as: .document, arrival: arrival)
            case .traces(let traces): result = try traces.decode(body, with: decoder, arrival: arrival)
            }
        } catch {
            throw HTTPError(error.code == .tooManyLines ? .bodyTooLarge : .badRequest, error.message, cause: error)
        }
        counters.add(result.refusals)
        counters.noteUnknown(result.unknownPools, at: received)
        let gateway =
            if let sender { sender } else { try speaker(of: result.lines, isOne: number != nil || process.boot != nil) }
        if let gateway, let boot = process.boot {
            _ = try board.hears(GatewayRegister.Key(gateway: gateway, member: process.member), boot: boot)
        }
        return TelemetryBatch(
            gateway: gateway, number: number, contentDigest: number == nil ? nil : digest(body), received: received,
            lines: result.lines, faults: result.faults)
    }

    func store(_ batch: TelemetryBatch, _ board: SnapshotBoard) async throws(HTTPError) -> TelemetryReceipt {
        let receipt: TelemetryReceipt
        do throws(TelemetryError) {
            receipt = try await sink.append(batch)
        } catch {
            if error.code == .conflict { throw HTTPError(.conflict, error.message, cause: error) }
            counters.noteFailure(String(describing: error))
            throw HTTPError(
                .storage, "nothing of this request was stored: \(error)",
                retryAfterSeconds: Self.storageRetrySeconds, cause: error)
        }
        counters.add(batch, receipt)
        board.noteReports(of: Set(batch.lines.lazy.compactMap(\.record.gateway)))
        return receipt
    }

    fileprivate func answer(
        _ receipt: TelemetryReceipt, to batch: TelemetryBatch, _ board: SnapshotBoard
    ) -> HTTPResponse {
        var tenants: [PoolID: Set<TenantID>] = [:]
        for line in batch.lines {
            if let tenant = line.record.tenant { tenants[line.record.pool, default: []].insert(tenant) }
        }
        let answer = TelemetryAnswer(receipt: receipt, serviceClocks: board.serviceClocks(of: tenants))
        return HTTPResponse(type: "application/json", body: answer.encoded())
    }

    private func batchNumber(_ exchange: HTTPExchange) throws(HTTPError) -> Int64? {
        guard let text = exchange.header("Headroom-Batch") else { return nil }
        guard let number = Int64(text), number >= 0 else {
            throw HTTPError(.badRequest, "Headroom-Batch: \(text) is no batch number; one is 0, 1, 2, …, ascending")
        }
        return number
    }

    private func sentAt(_ exchange: HTTPExchange) throws(HTTPError) -> Int64? {
        guard let text = exchange.header("Headroom-Sent-At") else { return nil }
        guard let milliseconds = Int64(text) ?? RFC3339.parse(text) else {
            throw HTTPError(
                .badRequest, "Headroom-Sent-At: \(text) is no time; one is milliseconds since 1970 or RFC 3339")
        }
        return milliseconds
    }

    fileprivate func nothingReadable(_ faults: [TelemetryReceipt.Fault]) -> HTTPError {
        if faults.isEmpty { return HTTPError(.badRequest, "the body holds no line of telemetry") }
        let listed = faults.prefix(Self.maxFaults).map { ProblemDocument.Fault(.line($0.line), $0.detail) }
        let more = faults.count > listed.count ? "; the first \(listed.count) are listed" : ""
        return HTTPError(.badRequest, "none of the \(faults.count) lines can be taken\(more)", faults: listed)
    }

    /// Which of the processes under one name sends this.
    private func process(_ exchange: HTTPExchange) throws(HTTPError) -> (boot: String?, member: String?) {
        func word(_ name: StaticString) throws(HTTPError) -> String? {
            guard let text = exchange.header(name) else { return nil }
            // A word by the same rule as names.
            guard GatewayID(text) != nil else {
                throw HTTPError(.badRequest, "\(name): \(text) is no word; one is \(GatewayID.rule)")
            }
            return text
        }
        return (try word("Headroom-Boot"), try word("Headroom-Member"))
    }

    /// Batches are numbered per gateway, and a boot is one gateway's: the lines of such a request have to agree on theirs.
    private func speaker(of lines: [TelemetryBatch.Line], isOne: Bool) throws(HTTPError) -> GatewayID? {
        let gateways = Set(lines.compactMap(\.record.gateway))
        if gateways.count == 1 { return gateways.first }
        guard !isOne else {
            throw HTTPError(
                .badRequest,
                "a request with Headroom-Batch or Headroom-Boot bears the lines of one gateway; these name "
                    + "\(gateways.count)")
        }
        return nil
    }
}

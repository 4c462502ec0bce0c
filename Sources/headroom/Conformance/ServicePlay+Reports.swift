import HeadroomModel
import HeadroomProviders
import HeadroomWire

/// What a gateway sends while it is played to: reports, draws, and its goodbye.
extension ServicePlay {
    struct Reported {
        var lines = 0
        /// The first numbered batch is not taken, so that it has to come again.
        fileprivate var refused: (number: Int64, body: [UInt8])?
        fileprivate var hasComeAgain = false
    }

    struct Drawn {
        fileprivate var sequence: Int64 = 0
        fileprivate var granted = Work.zero
    }

    /// - Parameter isLines: whether the body is one object a line.
    mutating func report(
        _ body: [UInt8], isLines: Bool, batch: String?, sentAt: String?, at now: Int64
    ) -> (status: Int, body: [UInt8]) {
        let number = batch.flatMap { Int64($0) }
        if let batch, number == nil { find(.reports, .broken("Headroom-Batch: \(batch): must be a whole number")) }
        if let number, let answer = judgeNumber(number, body) { return answer }
        if number == nil {
            find(.repeats, .unseen("its reports have no Headroom-Batch, so one that is sent twice counts twice"))
        }
        let arrival = TelemetryDecoder.Arrival(
            received: Timestamp(milliseconds: now), sentAt: sentAt.flatMap { Int64($0) },
            gateway: gateway.flatMap { GatewayID($0) }, allowed: nil, isNumberedBatch: number != nil)
        let decoder = TelemetryDecoder(classify: ProviderClassifier.classify)
        do throws(WireError) {
            let result = try decoder.decode(body, as: isLines ? .lines : .document, arrival: arrival)
            reported.lines += result.lines.count
            if let fault = result.faults.first {
                find(.reports, .broken("line \(fault.line): \(fault.detail)"))
            } else {
                find(.reports, .kept)
            }
            let receipt = TelemetryReceipt(
                accepted: result.lines.count, duplicate: 0, late: 0, rejected: result.faults)
            return (200, TelemetryAnswer(receipt: receipt).encoded())
        } catch {
            find(.reports, .broken(error.description))
            return (400, [])
        }
    }

    /// The answer to a batch that is not taken.
    private mutating func judgeNumber(_ number: Int64, _ body: [UInt8]) -> (status: Int, body: [UInt8])? {
        guard let refused = reported.refused else {
            reported.refused = (number, body)
            find(.repeats, .unseen("batch \(number) was answered with 503, and has not come again"))
            return (503, [])
        }
        guard !reported.hasComeAgain else { return nil }
        if number > refused.number {
            find(.repeats, .broken("batch \(number) came although batch \(refused.number) was answered with 503"))
        } else if number == refused.number, body != refused.body {
            find(.repeats, .broken("batch \(number) came again with another body: that is a 409 for good"))
        } else {
            find(.repeats, .kept)
        }
        reported.hasComeAgain = true
        return nil
    }

    /// Everything that waits is granted.
    mutating func draw(_ body: [UInt8]) -> (status: Int, body: [UInt8]) {
        let request: DrawRequest
        do throws(WireError) { request = try DrawRequest.decode(body) } catch {
            find(.draws, .broken(error.description))
            return (400, [])
        }
        guard request.epoch == version.epoch else {
            // It may have been under way while the term changed.
            if request.epoch > version.epoch { find(.draws, .broken("epoch \(request.epoch) was never published")) }
            return (409, [])
        }
        if request.gateway.text != gateway || request.boot != boot {
            find(
                .draws,
                .broken(
                    "a draw is of \(request.gateway) with boot \(request.boot), "
                        + "where polls are of \(gateway ?? "nobody") with boot \(boot ?? "none")"))
        } else if request.sequence < drawn.sequence {
            find(.draws, .broken("sequence \(request.sequence) follows \(drawn.sequence)"))
        } else if request.pool != pool {
            find(.draws, .broken("a draw names the pool \(request.pool), and only \(pool) was sent"))
            return (404, [])
        } else {
            find(.draws, .kept)
        }
        let isRepeated = request.sequence == drawn.sequence
        drawn.sequence = request.sequence
        if !isRepeated {
            for queue in request.waiting { for head in queue.heads { drawn.granted += head.estimate } }
        }
        let answer = DrawAnswer(
            sequence: request.sequence,
            granted: request.waiting.filter { !$0.heads.isEmpty }.map {
                DrawAnswer.Granted(tenant: $0.tenant, calls: min($0.heads.count, DrawRequest.maxHeads))
            },
            grantedTotal: drawn.granted, waitMilliseconds: 100)
        return (200, answer.encoded())
    }

    mutating func goodbye(_ name: String) -> Int {
        guard name == gateway else {
            find(.saysGoodbye, .broken("it says goodbye as \(name), and polls as \(gateway ?? "nobody")"))
            return 404
        }
        find(.saysGoodbye, .kept)
        return 204
    }

    /// Of every rule, in their order.
    var findings: [(rule: Rule, verdict: Verdict)] {
        Rule.allCases.map { rule in
            let otherwise =
                switch rule {
                case .reports, .repeats: "no reports came: send calls through the gateway while it is played to"
                case .draws: "no draws came"
                case .saysGoodbye: "none came"
                default: "it did not come to that"
                }
            return (rule, verdicts[rule] ?? .unseen(otherwise))
        }
    }
}

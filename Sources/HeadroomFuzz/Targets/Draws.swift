import HeadroomEnforcement
import HeadroomModel
import HeadroomWire

private let start = Timestamp(milliseconds: 1_793_000_000_000)

extension FuzzTarget {
    /// A story of draws against one float: each line is the body of `POST /v1/draw`, or a number of milliseconds that pass.
    static let draws = FuzzTarget(name: "draws") { bytes in
        var now = start
        var ledger = FloatLedger(pool: "p", epoch: 1, maxBoots: 4, at: now)
        ledger.follow(published, budgets: [("gw-1", Rates(rpm: 300, tpm: 30_000))], at: now)
        for line in bytes.lines(most: 32) {
            if let milliseconds = UInt16(line.text) {
                now = now.adding(seconds: Double(milliseconds) / 1000)
                ledger.follow(published, budgets: [("gw-1", Rates(rpm: 300, tpm: 30_000))], at: now)
            } else if let request = try? DrawRequest.decode(line) {
                checkWriting(request)
                guard let answer = try? ledger.draw(request, at: now) else { continue }
                check(answer, to: request)
            }
            checkState(of: ledger)
        }
        useFloat(&ledger, at: now)
    }

    private static let published = PoolAllocation(
        pool: "p", capacity: Rates(rpm: 600, tpm: 60_000), nominal: Rates(rpm: 600, tpm: 60_000),
        budget: Rates(rpm: 300, tpm: 30_000), float: Rates(rpm: 300, tpm: 30_000),
        tenants: [
            TenantAllocation(
                tenant: "a", assured: Rates(rpm: 100, tpm: 10_000), floor: Rates(rpm: 50), ceiling: Rates(rpm: 500)),
            TenantAllocation(tenant: "b", assured: Rates(rpm: 200, tpm: 20_000), weight: 2),
        ], unlisted: Rates(rpm: 10, tpm: 1000))

    /// Milliseconds are whole on the wire, so the second writing is compared with the first.
    private static func checkWriting(_ request: DrawRequest) {
        let written = request.encoded()
        guard let again = try? DrawRequest.decode(written) else {
            fatalError("written, and cannot be read: \(written.text)")
        }
        require(again.encoded() == written, "reads back as another request: \(written.text)")
    }

    private static func check(_ answer: DrawAnswer, to request: DrawRequest) {
        require(answer.sequence == request.sequence, "another request's answer")
        require((0...1000).contains(answer.waitMilliseconds), "a wait of \(answer.waitMilliseconds) ms")
        for granted in answer.granted {
            let heads = request.waiting.first { $0.tenant == granted.tenant }?.heads.count ?? 0
            require((1...max(1, heads)).contains(granted.calls), "\(granted.calls) of \(heads) calls granted")
        }
        let written = answer.encoded()
        require((try? DrawAnswer.decode(written)) == answer, "reads back as another answer: \(written.text)")
    }

    static func checkState(of ledger: FloatLedger) {
        for work in [ledger.level, ledger.counts.returned, ledger.counts.grantedWork, ledger.counts.unused] {
            require(Resource.allCases.allSatisfy { work[$0].isFinite }, "no amounts: \(work)")
        }
        // The burst of five seconds, of all that flows in and of what gateways return.
        require(
            ledger.level[.requests] <= 50.001 && ledger.level[.tokens] <= 5000.001, "over the burst: \(ledger.level)")
        // What was granted is owed, and a minute for each draw's overruns; time passes for 35 minutes at most.
        let minutes = Double(ledger.counts.draws) + 36
        for (resource, perMinute) in [(Resource.requests, 600.0), (.tokens, 60_000)] {
            let owed = ledger.counts.grantedWork[resource] + minutes * perMinute
            require(ledger.level[resource] >= -owed, "owes more than was granted: \(ledger.level)")
        }
    }

    /// No statement of a gateway keeps the float from those that come later: once its debts are paid, somebody who has
    /// never drawn is granted a call within a minute, which brings twelve times the burst.
    static func useFloat(_ ledger: inout FloatLedger, at now: Timestamp) {
        let debt = max(0, -ledger.level[.requests] / 5, -ledger.level[.tokens] / 500)
        let end = now.adding(seconds: debt)
        let honest = DrawRequest.Queue(
            tenant: "a", heads: [DrawRequest.Head(estimate: Work(requests: 1, tokens: 10))])
        for second in 1...60 {
            let now = end.adding(seconds: Double(second))
            ledger.follow(published, budgets: [("gw-1", Rates(rpm: 300, tpm: 30_000))], at: now)
            let request = DrawRequest(
                gateway: "honest", boot: "honest.\(second)", sequence: Int64(second), pool: "p", epoch: 1,
                waiting: [honest])
            guard let answer = try? ledger.draw(request, at: now) else { fatalError("an honest draw is refused") }
            checkState(of: ledger)
            if !answer.granted.isEmpty { return }
        }
        fatalError("the float grants nothing for a minute: \(ledger.level)")
    }
}

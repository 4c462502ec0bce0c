import HeadroomEnforcement
import HeadroomModel

/// Whether a pool's float gives out only what has flowed into it (Model §5.8, WireFormat §2.1).
///
/// It goes by what gateways tell and what they are answered, in one term: in flow the published float, what gateways
/// return, and of what they were granted as much as their next totals do not show as used; out flows what is granted. A
/// gateway's first totals only set what later ones are measured against. What the float cannot hold is lost, so what
/// is counted here is the most that can be in it.
struct FloatAudit: Sendable {
    private struct BootName: Hashable {
        let gateway: GatewayID
        let boot: String
    }

    private struct Boot {
        var heardAt: Timestamp
        var totals: DrawRequest.Totals
        var sequence: Int64
        /// By the last answer, and by all.
        var granted: Work
        var grantedTotal: Work
    }

    private let epoch: Int64
    private var inflow = Rates.none
    /// Seconds of the pool, at most.
    private var most = Work.zero
    private var limited = ResourceSet()
    private var level = Work.zero
    private var filledAt: Timestamp
    private var boots: [BootName: Boot] = [:]

    /// Sums of fractions of tokens.
    private static let rounding = 1e-3
    /// A gateway that draws tells of itself each second. What is not heard of for longer may be forgotten, and what it
    /// was granted counts as used.
    private static let rememberedSeconds = 3.0

    init(epoch: Int64, at now: Timestamp) {
        self.epoch = epoch
        filledAt = now
    }

    mutating func follow(_ whole: PoolAllocation, at now: Timestamp) {
        fill(to: now)
        inflow = whole.float
        limited = whole.budget.resources
        most = whole.budget.map { $1 + (whole.float[$0] ?? 0) }.work(overSeconds: whole.burstSeconds)
        put(.zero)
    }

    /// Returns what is wrong with it.
    mutating func answer(_ answer: DrawAnswer, to request: DrawRequest, at now: Timestamp) -> String? {
        if request.epoch != epoch { return "a draw of term \(request.epoch) is answered in \(epoch)" }
        if answer.sequence != request.sequence { return "\(answer.sequence) answers \(request.sequence)" }
        fill(to: now)
        let name = BootName(gateway: request.gateway, boot: request.boot)
        let before = boots[name]
        // Sent again, and answered as the first time.
        if let before, before.sequence == answer.sequence { return nil }
        if let before { put(flow(since: before, to: request.totals, at: now)) }

        var granted = Work.zero
        var largest = Work.zero
        for entry in answer.granted {
            let waiting = request.waiting.first { $0.tenant == entry.tenant }?.heads ?? []
            if entry.calls < 1 || entry.calls > waiting.count {
                return "\(entry.tenant) is granted \(entry.calls) calls, and \(waiting.count) wait"
            }
            for head in waiting.prefix(entry.calls) {
                granted += head.estimate
                largest.amounts = pointwiseMax(largest.amounts, head.estimate.amounts)
            }
        }
        for total in [(before?.grantedTotal ?? .zero) + granted, granted] where isSame(total, answer.grantedTotal) {
            boots[name] = Boot(
                heardAt: now, totals: request.totals, sequence: request.sequence, granted: granted,
                grantedTotal: answer.grantedTotal)
            level -= granted
            // One call may be larger than all that the float can hold.
            let isShort = limited.members.first {
                granted[$0] > 0 && level[$0] + largest[$0] <= -FloatAudit.rounding
            }
            return isShort.map { "\(granted[$0]) \($0.name) are granted and \(level[$0] + granted[$0]) were there" }
        }
        return "\(answer.grantedTotal.amounts) are said to be granted so far; it is \(granted.amounts) more than "
            + "\((before?.grantedTotal ?? .zero).amounts)"
    }

    /// Returns what is wrong with it.
    func refuse(_ refusal: DrawRefusal, of request: DrawRequest) -> String? {
        let isRight =
            switch refusal {
            case .unknownPool: false
            case .otherEpoch(let told): told == epoch && request.epoch != epoch
            case .overtaken:
                boots[BootName(gateway: request.gateway, boot: request.boot)].map { $0.sequence > request.sequence }
                    ?? false
            case .invalid: false
            }
        return isRight
            ? nil : "draw \(request.sequence) of \(request.gateway), term \(request.epoch), is refused: \(refusal)"
    }

    private func flow(since before: Boot, to totals: DrawRequest.Totals, at now: Timestamp) -> Work {
        let returned = (totals.returned - before.totals.returned).amounts
        var unused = (before.granted - (totals.grantedUsed - before.totals.grantedUsed)).amounts
        let isRemembered = now.seconds(since: before.heardAt) < FloatAudit.rememberedSeconds
        if !isRemembered { unused = pointwiseMax(unused, .zero) }
        return Work(amounts: pointwiseMax(returned, .zero) + unused)
    }

    private func isSame(_ left: Work, _ right: Work) -> Bool {
        let difference = (left - right).amounts
        return all((difference .< FloatAudit.rounding) .& (difference .> -FloatAudit.rounding))
    }

    private mutating func fill(to now: Timestamp) {
        put(inflow.work(overSeconds: max(0, now.seconds(since: filledAt))))
        filledAt = max(filledAt, now)
    }

    private mutating func put(_ work: Work) { level.amounts = pointwiseMin((level + work).amounts, most.amounts) }
}

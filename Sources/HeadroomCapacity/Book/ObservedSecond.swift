import HeadroomModel

/// What the upstream did in one second, by the tenth of it in which it took the calls.
public struct ObservedSecond: Equatable, Sendable {
    /// Ascending; only those in which something is known to have happened.
    var moments: [ObservedMoment] = []
    /// Without what was overloaded.
    var attempts = 0
    var refusals = 0
    var overloads = 0
    /// Named by responses to calls that are not known.
    var otherExhausted: ResourceSet = []
    /// The last that headers said in it.
    var samples: [Resource: OtherConsumers.Sample] = [:]

    init() {}

    /// One of which only sums are known.
    public init(delivered: Work, refused: ResourceSet) {
        let last = ObservedMoment.perSecond - 1
        deliver(delivered, at: last)
        if !refused.isEmpty { with(last) { $0.note(FailedCall(exhausted: refused)) } }
        attempts = 1
        summarize(unnamed: refused)
    }

    /// `largest` is the size of the call; zero where only a sum of calls is reported.
    mutating func deliver(_ work: Work, largest: Work = .zero, at tenth: Int) {
        with(tenth) { moment in
            moment.delivered += work
            moment.largest.amounts = pointwiseMax(moment.largest.amounts, largest.amounts)
        }
    }

    /// A call that failed. It is kept with what it counts for, so that its response may correct it.
    mutating func fail(_ call: FailedCall, countsRefused: Bool, at tenth: Int) {
        count(call, countsRefused: countsRefused, sign: 1, at: tenth)
        with(tenth) { $0.note(call) }
    }

    /// Refused calls of a window, at its end: `number` attempts, of which nothing else is known.
    mutating func fail(_ number: Int, countsRefused: Bool, at tenth: Int) {
        guard number > 0 else { return }
        refusals += number
        with(tenth) { moment in
            moment.note(FailedCall())
            if countsRefused { moment.charged += Work(requests: Double(number)) }
        }
    }

    /// The response to a call that failed says why. Returns the outcome that the call had until now, or `nil` when no
    /// such call without an answer is known here.
    mutating func correct(
        _ request: UInt64, to outcome: Outcome, exhausted: ResourceSet, countsRefused: Bool
    ) -> Outcome? {
        for place in moments.indices {
            let index = moments[place].failed.firstIndex { $0.request == request && !$0.isAnswered }
            guard let index else { continue }
            var call = moments[place].failed[index]
            let tenth = moments[place].tenth
            let before = call.outcome
            count(call, countsRefused: countsRefused, sign: -1, at: tenth)
            call.outcome = outcome
            call.exhausted = outcome.isQuotaRefusal ? exhausted : []
            call.isAnswered = true
            count(call, countsRefused: countsRefused, sign: 1, at: tenth)
            moments[place].failed[index] = call
            return before
        }
        return nil
    }

    private mutating func count(_ call: FailedCall, countsRefused: Bool, sign: Int, at tenth: Int) {
        switch call.outcome {
        case .overload: overloads += sign
        // The provider looked at neither the call nor the quota.
        case .billing, .auth: break
        case .quota:
            attempts += sign
            refusals += sign
            if countsRefused { with(tenth) { $0.charged += Work(requests: Double(sign)) } }
        default:
            attempts += sign
            if call.size[.tokens] > 0 { deliver(call.size * Double(sign), largest: call.size, at: tenth) }
        }
    }

    private mutating func with(_ tenth: Int, _ change: (inout ObservedMoment) -> Void) {
        var place = moments.endIndex
        while place > 0, moments[place - 1].tenth >= tenth { place -= 1 }
        if place == moments.endIndex || moments[place].tenth > tenth {
            moments.insert(ObservedMoment(tenth: tenth), at: place)
        }
        change(&moments[place])
    }

    var delivered: Work { moments.reduce(.zero) { $0 + $1.delivered } }

    /// Resources that a refusal named.
    var exhausted: ResourceSet {
        moments.reduce(otherExhausted) { $0.union($1.exhausted(unnamed: [])) }
    }

    // MARK: To be judged

    /// Of the attempts, those that the provider had no capacity for.
    var overloadShare: Double { Double(overloads) / Double(max(1, overloads + attempts)) }

    /// Sums up what was refused, for want of `unnamed` where a refusal does not say.
    mutating func summarize(unnamed: ResourceSet) {
        for place in moments.indices { moments[place].summarize(unnamed: unnamed) }
    }

    /// Of a second of which so much (above 0, at most 1) is reported yet, and summed up: the rest is supposed to be on its
    /// way. It may be why others were refused, so it counts from the first moment on, and speaks against nobody.
    mutating func suppose(reported part: Double) {
        guard part < 1, !moments.isEmpty else { return }
        let inFlight = delivered * (1 / part - 1)
        moments[0].delivered += inFlight
        for place in moments.indices { moments[place].inFlight = inFlight }
    }
}

/// A call that the upstream did not serve.
struct FailedCall: Equatable, Sendable {
    /// Of the request's id; 0 where it has none.
    var request: UInt64 = 0
    /// Zero where it is not known.
    var size = Work.zero
    var outcome = Outcome.quota
    /// For want of what, as its response says; empty where none says.
    var exhausted: ResourceSet = []
    /// Its response is known.
    var isAnswered = false
}

/// What the upstream took and refused within a tenth of a second: gateways' clocks agree no better.
struct ObservedMoment: Equatable, Sendable {
    static let perSecond = 10
    /// The sizes of those that were refused matter, and the smallest of so many is small.
    private static let maxFailed = 16

    /// Of the second, 0 to 9.
    var tenth: Int
    /// Sum of what was served.
    var delivered = Work.zero
    /// What refused calls cost, where they count against the limit. They found the meter empty, so it may go into debt.
    var charged = Work.zero
    /// The size of the largest call that was taken, by resource; zero where only sums are known.
    var largest = Work.zero
    var failed: [FailedCall] = []

    // To be judged.

    /// Of ``delivered`` in its second so far, what is supposed and not reported yet.
    var inFlight = Work.zero
    /// Resources for want of which something was refused.
    var refused: ResourceSet = []
    /// The size of the smallest call that was refused for want of each resource; infinite where none is known. A large
    /// call that found too few tokens does not say that there was no room for a small one, which found no request left.
    var leastRefused = Work(amounts: SIMD4(repeating: .infinity))

    init(tenth: Int) { self.tenth = tenth }

    mutating func note(_ call: FailedCall) {
        if failed.count < Self.maxFailed { failed.append(call) }
    }

    func exhausted(unnamed: ResourceSet) -> ResourceSet {
        failed.reduce([]) { all, call in
            call.outcome.isQuotaRefusal ? all.union(call.exhausted.isEmpty ? unnamed : call.exhausted) : all
        }
    }

    mutating func summarize(unnamed: ResourceSet) {
        refused = exhausted(unnamed: unnamed)
        for call in failed where call.outcome.isQuotaRefusal {
            for resource in Resource.allCases where call.size[resource] > 0 {
                guard call.exhausted.isEmpty || call.exhausted.contains(resource) else { continue }
                leastRefused[resource] = min(leastRefused[resource], call.size[resource])
            }
        }
    }
}

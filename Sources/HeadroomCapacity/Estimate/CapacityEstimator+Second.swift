import HeadroomModel

extension CapacityEstimator {
    /// What the upstream did in one second.
    struct Second: Equatable, Sendable {
        /// Ascending; only those in which something was reported.
        var moments: [Moment] = []
        /// Without what was overloaded.
        var attempts = 0
        var refusals = 0
        var overloads = 0
        /// At some gateway, as it said in this second.
        var workWaits = false
        /// Named by responses to calls that are not known.
        var otherExhausted: ResourceSet = []
        /// The last that headers said in it.
        var samples: [Resource: OtherConsumers.Sample] = [:]

        /// `largest` is the size of the call; zero where only a sum of calls is reported.
        mutating func deliver(_ work: Work, largest: Work = .zero, at tenth: Int) {
            with(tenth) { moment in
                moment.delivered += work
                moment.largest.amounts = pointwiseMax(moment.largest.amounts, largest.amounts)
            }
        }

        /// What refused calls cost, where the provider counts them. Below 0 takes back what was noted before.
        mutating func charge(_ work: Work, at tenth: Int) {
            with(tenth) { $0.charged += work }
        }

        /// A call that failed. It is kept with what it counts for, so that its response may correct it.
        mutating func fail(_ failure: Failure, countsRefused: Bool, at tenth: Int) {
            count(failure, countsRefused: countsRefused, sign: 1, at: tenth)
            with(tenth) { $0.note(failure) }
        }

        /// The response to a call that failed says why. Returns the outcome that the call had until now, or `nil` when no
        /// such call without an answer is known here.
        mutating func correct(
            _ request: UInt64, to outcome: Outcome, exhausted: ResourceSet, countsRefused: Bool
        ) -> Outcome? {
            for place in moments.indices {
                let index = moments[place].failures.firstIndex { $0.request == request && !$0.isAnswered }
                guard let index else { continue }
                var failure = moments[place].failures[index]
                let tenth = moments[place].tenth
                let before = failure.outcome
                count(failure, countsRefused: countsRefused, sign: -1, at: tenth)
                failure.outcome = outcome
                failure.exhausted = outcome.isQuotaRefusal ? exhausted : []
                failure.isAnswered = true
                count(failure, countsRefused: countsRefused, sign: 1, at: tenth)
                moments[place].failures[index] = failure
                return before
            }
            return nil
        }

        private mutating func count(_ failure: Failure, countsRefused: Bool, sign: Int, at tenth: Int) {
            switch failure.outcome {
            case .overload: overloads += sign
            // The provider looked at neither the call nor the quota.
            case .billing, .auth: break
            case .quota:
                attempts += sign
                refusals += sign
                if countsRefused { charge(Work(requests: Double(sign)), at: tenth) }
            default:
                attempts += sign
                if failure.size[.tokens] > 0 { deliver(failure.size * Double(sign), largest: failure.size, at: tenth) }
            }
        }

        /// Refusals of which only the number is known, and counted elsewhere.
        mutating func noteRefusals(at tenth: Int) {
            with(tenth) { $0.note(Failure()) }
        }

        private mutating func with(_ tenth: Int, _ change: (inout Moment) -> Void) {
            var place = moments.endIndex
            while place > 0, moments[place - 1].tenth >= tenth { place -= 1 }
            if place == moments.endIndex || moments[place].tenth > tenth {
                moments.insert(Moment(tenth: tenth), at: place)
            }
            change(&moments[place])
        }

        var delivered: Work { moments.reduce(.zero) { $0 + $1.delivered } }
        /// What refused calls cost.
        var charged: Work { moments.reduce(.zero) { $0 + $1.charged } }

        /// Resources that a refusal named.
        var exhausted: ResourceSet {
            moments.reduce(otherExhausted) { $0.union($1.exhausted(unnamed: [])) }
        }
    }
}

extension CapacityEstimator.Second {
    /// A call that the upstream did not serve.
    struct Failure: Equatable, Sendable {
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

    /// What the upstream took and refused within a tenth of a second.
    struct Moment: Equatable, Sendable {
        /// The sizes of those that were refused matter, and the smallest of so many is small.
        private static let maxFailures = 16

        /// Of the second, from 0.
        var tenth: Int
        var delivered = Work.zero
        /// What refused calls cost; zero unless the provider counts them.
        var charged = Work.zero
        /// The size of the largest call that was taken, by resource; zero where only sums are reported.
        var largest = Work.zero
        var failures: [Failure] = []

        mutating func note(_ failure: Failure) {
            if failures.count < Self.maxFailures { failures.append(failure) }
        }

        private var refused: some Sequence<Failure> { failures.lazy.filter { $0.outcome.isQuotaRefusal } }

        /// Resources for want of which something was refused: `unnamed` where a refusal does not say.
        func exhausted(unnamed: ResourceSet) -> ResourceSet {
            refused.reduce([]) { $0.union($1.exhausted.isEmpty ? unnamed : $1.exhausted) }
        }

        /// The size of the smallest call that was refused for want of each resource: infinite while none is known. A large
        /// call that found too few tokens does not say that there was no room for a small one, which found no request left.
        var leastRefused: Work {
            refused.reduce(Work(amounts: SIMD4(repeating: .infinity))) { least, refusal in
                var least = least
                for resource in Resource.allCases where refusal.size[resource] > 0 {
                    guard refusal.exhausted.isEmpty || refusal.exhausted.contains(resource) else { continue }
                    least[resource] = min(least[resource], refusal.size[resource])
                }
                return least
            }
        }
    }
}

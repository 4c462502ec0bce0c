import HeadroomModel

extension CapacityEstimator {
    /// What the upstream did in one second.
    struct Second: Equatable, Sendable {
        /// Ascending; only those in which something was told.
        var moments: [Moment] = []
        /// Without what was overloaded.
        var attempts = 0
        var refusals = 0
        var overloads = 0
        /// Named by responses to calls that are not known.
        var otherExhausted: ResourceSet = []
        /// The last that headers said in it.
        var samples: [Resource: OtherConsumers.Sample] = [:]

        /// `largest` is the size of the call; zero where only a sum of calls is told.
        mutating func deliver(_ work: Work, largest: Work = .zero, at tenth: Int) {
            with(tenth) { moment in
                moment.delivered += work
                moment.largest.amounts = pointwiseMax(moment.largest.amounts, largest.amounts)
            }
        }

        /// `size` is zero where it is not known.
        mutating func refuse(_ request: String? = nil, _ size: Work = .zero, at tenth: Int) {
            with(tenth) { $0.refuse(Refusal(request: request?.fingerprint ?? 0, size: size)) }
        }

        private mutating func with(_ tenth: Int, _ change: (inout Moment) -> Void) {
            var place = moments.endIndex
            while place > 0, moments[place - 1].tenth >= tenth { place -= 1 }
            if place == moments.endIndex || moments[place].tenth > tenth {
                moments.insert(Moment(tenth: tenth), at: place)
            }
            change(&moments[place])
        }

        /// False when it is not known to have refused that request.
        mutating func blame(_ exhausted: ResourceSet, forRefusing request: UInt64) -> Bool {
            for place in moments.indices {
                let index = moments[place].refused.firstIndex { $0.request == request && $0.exhausted.isEmpty }
                guard let index else { continue }
                moments[place].refused[index].exhausted = exhausted
                return true
            }
            return false
        }

        var delivered: Work { moments.reduce(.zero) { $0 + $1.delivered } }

        /// Resources that a refusal named.
        var exhausted: ResourceSet {
            moments.reduce(otherExhausted) { $0.union($1.exhausted(unnamed: [])) }
        }
    }
}

extension CapacityEstimator.Second {
    /// A call that the upstream refused.
    struct Refusal: Equatable, Sendable {
        /// Of the request's id; 0 where it has none.
        var request: UInt64
        /// Zero where it is not known.
        var size: Work
        /// For want of what, as its response says; empty where none says.
        var exhausted: ResourceSet = []
    }

    /// What the upstream took and refused within a tenth of a second.
    struct Moment: Equatable, Sendable {
        /// Their sizes matter, and the smallest of so many is small.
        private static let maxRefused = 16

        /// Of the second, from 0.
        var tenth: Int
        var delivered = Work.zero
        /// The size of the largest call that was taken, by resource; zero where only sums are told.
        var largest = Work.zero
        var refused: [Refusal] = []

        mutating func refuse(_ refusal: Refusal) {
            if refused.count < Self.maxRefused { refused.append(refusal) }
        }

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

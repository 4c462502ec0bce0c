import HeadroomModel

extension CapacityEstimator {
    /// What the upstream did in one second.
    struct Second: Equatable, Sendable {
        /// A call that it refused.
        struct Refusal: Equatable, Sendable {
            /// Of the request's id; 0 where it has none.
            var request: UInt64
            var size: Work
            /// For want of what, as its response says; empty where none says.
            var exhausted: ResourceSet = []
        }

        /// Their sizes matter, and the smallest of so many is small.
        private static let mostRefused = 64

        var delivered = Work.zero
        /// Without what was overloaded.
        var attempts = 0
        var refusals = 0
        var overloads = 0
        /// Named by responses to calls that are not known.
        var otherExhausted: ResourceSet = []
        /// The size of the largest call that was taken, by resource.
        var largest = Work.zero
        var refused: [Refusal] = []
        /// The last that headers said in it.
        var samples: [Resource: OtherConsumers.Sample] = [:]

        mutating func refuse(_ request: String?, _ size: Work) {
            guard refused.count < Self.mostRefused else { return }
            refused.append(Refusal(request: request?.fingerprint ?? 0, size: size))
        }

        /// False when it is not known to have refused that request.
        mutating func blame(_ exhausted: ResourceSet, forRefusing request: UInt64) -> Bool {
            let index = refused.firstIndex { $0.request == request && $0.exhausted.isEmpty }
            guard let index else { return false }
            refused[index].exhausted = exhausted
            return true
        }

        /// Resources that a refusal named.
        var exhausted: ResourceSet { refused.reduce(otherExhausted) { $0.union($1.exhausted) } }

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

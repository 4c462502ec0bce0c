import HeadroomModel

/// What is believed of the hidden limits of one pool, if its provider runs one kind of meter.
///
/// A limit may change in any second, and what its meter held then decides what a refusal means now. So there is a
/// ``LimitAccount`` for each of the last seconds, as the time of the last change, and one for all times before. Each is
/// believed by how well it predicted the seconds since; after some seconds it is merged with those before. Were it merged
/// at once, the levels of a change three seconds ago, of which the first refusal speaks, would be lost in the mean.
public struct MeteredLimits: Sendable {
    let meter: BucketBank.Meter
    /// By the time of the change, ascending; at least one. The weights' sum is 1.
    var accounts: [LimitAccount]

    init(limits: Rates, meter: BucketBank.Meter) {
        self.meter = meter
        accounts = [
            LimitAccount(
                banks: Resource.allCases.map { resource in
                    limits[resource].map { BucketBank(limit: $0, meter: meter) }
                })
        ]
    }

    /// Refusals begin some seconds after a fall, when the bucket that was full before it is empty: with a burst of six
    /// seconds, six. A minute holds what was used in it, whenever its limit changed.
    var maxAccounts: Int {
        if case .refill = meter { 6 } else { 1 }
    }

    /// Takes in a second, ascending, and returns how well it was predicted.
    mutating func weigh(_ second: Second, gain: Double) -> LimitBelief.MarginalLikelihood {
        var likelihoods: [LimitBelief.MarginalLikelihood] = []
        for index in accounts.indices { likelihoods.append(accounts[index].weigh(second, gain: gain)) }
        let scale = likelihoods.reduce(-Double.infinity) { max($0, $1.scale) }
        var sum = 0.0
        for index in accounts.indices {
            let predicted = likelihoods[index].likelihood * exponential(likelihoods[index].scale - scale)
            accounts[index].weight = max(LimitAccount.leastWeight, accounts[index].weight * predicted)
            sum += accounts[index].weight
        }
        for index in accounts.indices { accounts[index].weight /= sum }
        return LimitBelief.MarginalLikelihood(likelihood: sum, scale: scale)
    }

    /// That part of all belief returns to the prior: the limit may be another one from now on.
    ///
    /// Whoever believes that the limit has just changed believes in the bucket, or the minute's use, that the limit before
    /// left. Without this, what was delivered before a fall would speak against the fall.
    mutating func forget(_ part: Double) {
        var next = LimitAccount(banks: accounts[accounts.count - 1].banks)
        next.weight = part
        for resource in Resource.allCases {
            let lane = resource.rawValue
            guard next.banks[lane] != nil else { continue }
            next.banks[lane]?.inherit(remains(in: lane))
        }
        for index in accounts.indices { accounts[index].weight *= 1 - part }
        accounts.append(next)
        guard accounts.count > maxAccounts else { return }
        let first = accounts.removeFirst()
        accounts[0] = first.merged(with: accounts[0])
    }

    /// Other known limits from now on: what is believed of those before says nothing of them, what was used of them does.
    mutating func follow(_ limits: Rates) {
        var next = MeteredLimits(limits: limits, meter: meter)
        for resource in Resource.allCases {
            let lane = resource.rawValue
            guard let limit = limits[resource], let bank = accounts[accounts.count - 1].banks[lane] else { continue }
            next.accounts[0].banks[lane] = bank.following(limit, remains(in: lane))
        }
        self = next
    }

    /// Lets a second pass in which nothing was attempted.
    mutating func pass(_ second: Int64) {
        for index in accounts.indices {
            for lane in accounts[index].banks.indices { accounts[index].banks[lane]?.pass(second) }
        }
    }

    /// Adds `weight` of what is believed, in the hypotheses of ``BucketBank``.
    func add(_ weight: Double, of resource: Resource, to belief: inout [Double]) {
        for account in accounts {
            for h in belief.indices { belief[h] += weight * account.weight * account.belief(in: resource.rawValue, h) }
        }
    }

    /// What the meter of the limit in `lane` has left, as believed; below 0 in debt.
    func level(in lane: Int) -> Double { remains(in: lane).left }

    /// What the limits leave behind, as believed.
    private func remains(in lane: Int) -> BucketBank.Remains {
        var remains = BucketBank.Remains()
        for account in accounts {
            guard let bank = account.banks[lane] else { continue }
            for h in bank.levels.indices {
                let part = account.weight * account.belief(in: lane, h)
                remains.left += part * bank.levels[h]
                remains.used += part * (bank.sizes[h] - bank.levels[h])
            }
        }
        return remains
    }
}

extension MeteredLimits {
    /// What the upstream did in a tenth of a second, and how far it is known.
    struct Moment {
        /// Of its second, 0 to 9.
        var tenth: Int
        var delivered: Work
        /// What refused calls cost, where the provider counts them.
        var charged: Work
        /// What of all delivered so far is supposed and not reported yet: it speaks against nobody.
        var unreported: Work
        /// The size of the largest call that was taken; zero when none is known.
        var largestDelivered: Work
        /// Resources for want of which something was refused.
        var refused: ResourceSet
        /// The size of the smallest call that was refused; infinite when none is known.
        var leastRefused: Work
    }

    /// What the upstream did in one second.
    public struct Second {
        /// Since 1970.
        var second: Int64
        /// Ascending.
        var moments: [Moment]
        var meanRequest: Work

        var delivered: Work { moments.reduce(.zero) { $0 + $1.delivered } }

        init(second: Int64, moments: [Moment], meanRequest: Work) {
            self.second = second
            self.moments = moments
            self.meanRequest = meanRequest
        }

        /// One of which only sums are known.
        public init(second: Int64, delivered: Work, refused: ResourceSet, meanRequest: Work) {
            self.init(
                second: second,
                moments: [
                    Moment(
                        tenth: 9, delivered: delivered, charged: .zero, unreported: .zero, largestDelivered: .zero,
                        refused: refused, leastRefused: Work(amounts: SIMD4(repeating: .infinity)))
                ], meanRequest: meanRequest)
        }
    }
}

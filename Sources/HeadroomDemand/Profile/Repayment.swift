import HeadroomModel

/// How reliably a tenant returns to its base after a burst.
///
/// Work is counted in slices of ten seconds, so that an agent that bursts every minute is seen to return every minute. A burst
/// begins with a slice of more than twice the base, by more calls than chance brings, and is repaid when a slice is back within
/// a quarter of the base. One that lasts for a quarter of an hour is no burst but another way of life: it is not repaid, and is
/// the base from then on. The base is the mean of the slices outside bursts. The score is the mean of a Beta distribution that
/// starts from one of each, so a newcomer, and one that never bursts, has ½, and ten repaid bursts in a row make 0.88; of older
/// ones each counts 0.9 of the one after it.
struct Repayment: Sendable {
    private static let sliceSeconds: Int64 = 10
    private static let burst: Float = 2
    private static let base: Float = 1.25
    /// Of what chance would bring: calls come one by one (a Poisson process), so their variance is their mean.
    private static let deviations: Float = 3
    private static let longestSlices: UInt8 = 90
    private static let memory: Float = 0.9
    /// Weight of closed slices below which the base is not known: ten minutes.
    private static let leastWeight: Float = 0.1
    private static let keptPerSlice = kept(overSlices: 1)

    private var repaid: Float = 0
    private var defaulted: Float = 0
    /// Requests and tokens of the newest slice, and of the one before it, which late lines may still reach.
    private var newest: Int64 = 0
    private var amounts: (newest: SIMD2<Float>, before: SIMD2<Float>) = (.zero, .zero)
    /// Of the slices outside bursts, each with its weight, and Σ weight.
    private var sum = SIMD2<Float>.zero
    private var weight: Float = 0
    /// Slices of the burst that lasts, and their sum; 0 without one.
    private var slices: UInt8 = 0
    private var burstSum = SIMD2<Float>.zero

    var score: Double { Double((repaid + 1) / (repaid + defaulted + 2)) }

    /// Work that is wanted; what belongs to slices before the last two is too late.
    mutating func note(_ work: Work, at second: Int64) {
        advance(to: second)
        let amount = SIMD2(Float(work[.requests]), Float(work[.tokens]))
        switch newest - second / Self.sliceSeconds {
        case 0: amounts.newest += amount
        case 1: amounts.before += amount
        default: break
        }
    }

    /// Closes the slices that no line reaches any more.
    mutating func advance(to second: Int64) {
        let slice = second / Self.sliceSeconds
        guard slice > newest else { return }
        let isFirst = newest == 0
        let ahead = slice - newest
        newest = slice
        guard !isFirst else { return }
        close(amounts.before)
        if ahead == 1 {
            amounts = (.zero, amounts.newest)
            return
        }
        close(amounts.newest)
        amounts = (.zero, .zero)
        // Nothing at all since: back at the base.
        guard ahead > 2 else { return }
        close(.zero)
        let kept = Self.kept(overSlices: ahead - 3)
        sum *= kept
        weight = weight * kept + (1 - kept)
    }

    private mutating func close(_ amount: SIMD2<Float>) {
        let mean = weight > 0 ? sum / weight : .zero
        if slices > 0 {
            if amount.max() <= Self.base * mean.max() {
                end(isRepaid: true)
                learn(amount)
            } else {
                slices += 1
                burstSum += amount
                guard slices > Self.longestSlices else { return }
                sum = burstSum / Float(slices) * weight
                end(isRepaid: false)
            }
        } else if weight >= Self.leastWeight, amount.max() > Self.burst * mean.max(),
            amount.x > mean.x + Self.deviations * mean.x.squareRoot() + 2
        {
            slices = 1
            burstSum = amount
        } else {
            learn(amount)
        }
    }

    private mutating func learn(_ amount: SIMD2<Float>) {
        sum = sum * Self.keptPerSlice + amount * (1 - Self.keptPerSlice)
        weight = weight * Self.keptPerSlice + (1 - Self.keptPerSlice)
    }

    private mutating func end(isRepaid: Bool) {
        repaid = repaid * Self.memory + (isRepaid ? 1 : 0)
        defaulted = defaulted * Self.memory + (isRepaid ? 0 : 1)
        slices = 0
        burstSum = .zero
    }

    private static func kept(overSlices count: Int64) -> Float {
        Float(decay(Double(count * sliceSeconds) / 60, halfLife: MinuteSeries.halfLifeMinutes))
    }
}

extension Repayment {
    func write(to writer: inout ByteWriter) {
        writer.write(SIMD4(repaid, defaulted, weight, 0))
        writer.write(newest)
        writer.write(SIMD4(lowHalf: amounts.newest, highHalf: amounts.before))
        writer.write(SIMD4(lowHalf: sum, highHalf: burstSum))
        writer.write(slices)
    }

    init(from reader: inout ByteReader) throws(ByteCodingError) {
        let scores = try reader.readAmounts()
        (repaid, defaulted, weight) = (scores.x, scores.y, scores.z)
        newest = try reader.read()
        let open = try reader.readAmounts()
        amounts = (open.lowHalf, open.highHalf)
        let sums = try reader.readAmounts()
        (sum, burstSum) = (sums.lowHalf, sums.highHalf)
        slices = try reader.read()
        guard newest >= 0, newest < Int64.max / 100, slices <= Self.longestSlices else { throw .outOfRange }
    }
}

import HeadroomModel

/// How reliably a tenant returns to its base after a burst.
///
/// A burst begins with a minute of more than twice the mean, and is repaid when a minute is back within a quarter of the
/// mean that was before it. One that lasts for a quarter of an hour is no burst but another way of life: not repaid.
/// The score is the mean of a Beta distribution that starts from one of each, so a newcomer has ½ and ten repaid bursts
/// in a row make 0.88; of older ones each counts 0.9 of the one after it.
struct Repayment: Sendable {
    private static let burst: Float = 2
    private static let base: Float = 1.25
    private static let longestMinutes: UInt8 = 15
    private static let memory: Float = 0.9
    /// Weight of closed minutes below which the mean is not known: ten minutes.
    private static let leastWeight: Float = 0.1

    private var repaid: Float = 0
    private var defaulted: Float = 0
    /// The mean before the burst that lasts; 0 without one.
    private var meanBefore: Float = 0
    private var minutes: UInt8 = 0

    var score: Double { Double((repaid + 1) / (repaid + defaulted + 2)) }

    /// - Parameters:
    ///   - amount: of a minute that is reported in full.
    ///   - mean: of the minutes before it, of which there were so many as `weight` says.
    mutating func close(_ amount: Float, mean: Float, weight: Float) {
        guard meanBefore > 0 else {
            if weight >= Repayment.leastWeight, mean > 0, amount > Repayment.burst * mean {
                meanBefore = mean
                minutes = 1
            }
            return
        }
        if amount <= Repayment.base * meanBefore {
            end(isRepaid: true)
        } else if minutes >= Repayment.longestMinutes {
            end(isRepaid: false)
        } else {
            minutes += 1
        }
    }

    private mutating func end(isRepaid: Bool) {
        repaid = repaid * Repayment.memory + (isRepaid ? 1 : 0)
        defaulted = defaulted * Repayment.memory + (isRepaid ? 0 : 1)
        meanBefore = 0
    }
}

extension Repayment {
    func write(to writer: inout ByteWriter) {
        writer.write(SIMD4(repaid, defaulted, meanBefore, 0))
        writer.write(minutes)
    }

    init(from reader: inout ByteReader) throws(ByteCodingError) {
        let sums = try reader.readAmounts()
        (repaid, defaulted, meanBefore) = (sums.x, sums.y, sums.z)
        minutes = try reader.read()
    }
}

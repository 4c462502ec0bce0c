import HeadroomModel

/// How uneven a tenant's minutes are: mean, spread and peak with the weights of ``MinuteSeries``, and the largest minute
/// of each of the last seven days.
///
/// A minute's amount is its tokens, or its requests where nobody tells tokens.
struct Burstiness: Sendable {
    private struct Peak: Sendable {
        /// Since 1970.
        var minute: Int32 = 0
        var requests: Float = 0
        var tokens: Float = 0
    }

    private static let minutesPerDay: Int64 = 1440

    /// Σ weight · amount and Σ weight · amount².
    private var sum: Float = 0
    private var squares: Float = 0
    private var peak: Float = 0
    private var days = InlineArray<7, Peak>(repeating: Peak())

    /// `wanted`: requests and tokens of a minute that is reported in full.
    mutating func close(_ minute: Int64, wanted: SIMD2<Float>) {
        let kept = MinuteSeries.keptPerMinute
        let amount = wanted.max()
        sum = sum * kept + amount * (1 - kept)
        squares = squares * kept + amount * amount * (1 - kept)
        peak = max(peak * kept, amount)
        guard amount > 0 else { return }
        let place = Int((minute / Burstiness.minutesPerDay) % 7)
        let isSameDay = Int64(days[place].minute) / Burstiness.minutesPerDay == minute / Burstiness.minutesPerDay
        if !isSameDay || amount > max(days[place].requests, days[place].tokens) {
            days[place] = Peak(minute: Int32(truncatingIfNeeded: minute), requests: wanted.x, tokens: wanted.y)
        }
    }

    mutating func closeIdle(keeping part: Float) {
        sum *= part
        squares *= part
        peak *= part
    }

    /// - Parameter weight: Σ weight of all closed minutes.
    func report(weight: Float, at minute: Int64) -> BurstinessReport {
        var report = BurstinessReport()
        let mean = weight > 0 ? sum / weight : 0
        if mean > 0 {
            report.peakToMean = Double(max(1, peak / mean))
            report.variation = Double(max(0, squares / weight / (mean * mean) - 1).squareRoot())
        }
        var most: Float = 0
        for index in days.indices {
            let day = days[index]
            let amount = max(day.requests, day.tokens)
            guard amount > most, minute - Int64(day.minute) <= 7 * Burstiness.minutesPerDay else { continue }
            most = amount
            report.peakMinute = Timestamp(milliseconds: Int64(day.minute) * 60_000)
            report.peakWork = Work(requests: Double(day.requests), tokens: Double(day.tokens))
        }
        return report
    }
}

extension Burstiness {
    func write(to writer: inout ByteWriter) {
        writer.write(SIMD4(sum, squares, peak, 0))
        for index in days.indices {
            writer.write(days[index].minute)
            writer.write(days[index].requests)
            writer.write(days[index].tokens)
        }
    }

    init(from reader: inout ByteReader) throws(ByteCodingError) {
        let sums = try reader.readAmounts()
        (sum, squares, peak) = (sums.x, sums.y, sums.z)
        for index in days.indices {
            days[index] = Peak(
                minute: try reader.read(), requests: try reader.readFloatAmount(), tokens: try reader.readFloatAmount())
        }
    }
}

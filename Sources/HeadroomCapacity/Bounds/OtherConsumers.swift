import HeadroomModel

/// What others take of the same account: a provider's `remaining` that falls faster than our own use explains.
///
/// Two kinds of limits are told apart by their reset. A bucket that refills steadily says when it will be full, so
/// remaining + reset × rate is its size and stays the same; a fixed window says when it ends, so now + reset stays the
/// same. A sliding window's is always about a minute away: it looks like a bucket while what remains stands still, and
/// what we leave unused would be taken for others' use, so a bucket is believed once its remaining and its reset have
/// moved together. Over a span of seconds, with r the remaining at its ends and u our own use in it:
///
///     others = r₁ − r₂ − u + (steadily refilled? span × rate : 0)
///
/// A steadily refilled bucket that was full in between has lost what it could not hold: such a span says nothing. Nor
/// can others have had what we had: what they take is at most the limit less our own use.
///
/// Told where a call ended and our use where it began, a span's ends are off by about a second, so spans are long, and
/// only a mean of several is believed that lies well above 0 for how much they differ.
struct OtherConsumers: Equatable, Sendable {
    /// What a header said at an instant.
    struct Sample: Equatable, Sendable {
        var at: Timestamp
        /// Per minute.
        var limit: Double
        var remaining: Double
        var resetSeconds: Double

        /// Of the bucket, if it is one that refills steadily.
        var size: Double { remaining + resetSeconds * limit / 60 }
    }

    private static let spanSeconds = 10.0
    /// A bucket that fills in less is full or empty too often between two looks at it.
    private static let leastBucketSeconds = 30.0
    private static let leastSpans = 4
    /// What remains has moved when it did by this part of the limit.
    private static let leastMove = 0.04
    /// Below this part of the limit it is noise.
    private static let noise = 0.1
    private static let halfLifeSeconds = 20.0
    /// Twice the standard error of such a mean, for spans of 10 s: it is one of about six.
    private static let leastDeviations = 0.8
    private static let forgetSeconds = 60.0

    /// The last time that what remains moved, its reset moved with it.
    private var isSteadilyRefilled = false
    private var anchor: Sample?
    /// Our own use since the anchor.
    private var used = 0.0
    /// What a steadily refilled bucket would have left if we were alone, and the most that was ever there.
    private var level = 0.0
    private var highest = 0.0
    private var spans = 0
    /// Per minute, of the spans so far: mean and variance, both fading.
    private var mean = 0.0
    private var variance = 0.0
    private var ownMean = 0.0
    private var seenAt: Timestamp?

    /// Takes in a second that is reported in full: our own use in it, and the last that a header said in it.
    mutating func fold(used: Double, sample: Sample?, at second: Timestamp) {
        if let seenAt, second.seconds(since: seenAt) > Self.forgetSeconds {
            self = OtherConsumers(isSteadilyRefilled: isSteadilyRefilled)
        }
        self.used += used
        if let anchor {
            highest = max(highest, level + anchor.limit / 60)
            level += anchor.limit / 60 - used
        }
        guard let sample else { return }
        seenAt = sample.at
        guard let first = anchor, first.limit == sample.limit else { return start(at: sample) }
        let seconds = sample.at.seconds(since: first.at)
        guard seconds >= Self.spanSeconds else { return }
        noteKind(from: first, to: sample)
        if let others = others(from: first, to: sample, seconds: seconds) {
            spans += 1
            let difference = others * 60 / seconds - mean
            let kept = decay(seconds, halfLife: Self.halfLifeSeconds)
            mean += difference * (1 - kept)
            variance = kept * (variance + difference * difference * (1 - kept))
            ownMean += (self.used * 60 / seconds - ownMean) * (1 - kept)
        }
        start(at: sample)
    }

    /// Per minute; 0 while there is no sign of any.
    func rate(limit: Double) -> Double {
        guard spans >= Self.leastSpans, mean > Self.noise * limit,
            mean > Self.leastDeviations * variance.squareRoot()
        else { return 0 }
        return max(0, min(mean, limit - ownMean))
    }

    init(isSteadilyRefilled: Bool = false) {
        self.isSteadilyRefilled = isSteadilyRefilled
    }

    private mutating func start(at sample: Sample) {
        anchor = sample
        used = 0
        level = sample.remaining
        highest = level
    }

    private mutating func noteKind(from first: Sample, to last: Sample) {
        let move = abs(first.remaining - last.remaining)
        if move >= Self.leastMove * last.limit { isSteadilyRefilled = abs(first.size - last.size) <= move / 2 }
    }

    /// `nil` when the span does not say: an empty bucket may be in debt, a full one overflows, a window may have ended.
    private func others(from first: Sample, to last: Sample, seconds: Double) -> Double? {
        guard min(first.remaining, last.remaining) > 0.01 * first.limit / 60, last.limit > 0 else { return nil }
        let rate = last.limit / 60
        if isSteadilyRefilled, abs(first.size - last.size) <= 0.02 * max(first.size, last.size) {
            guard last.size >= Self.leastBucketSeconds * rate, max(highest, last.remaining) < 0.98 * last.size else {
                return nil
            }
            return first.remaining - last.remaining - used + seconds * rate
        }
        let ends = [first, last].map { $0.at.adding(seconds: $0.resetSeconds) }
        guard abs(ends[1].seconds(since: ends[0])) <= 2 else { return nil }
        return first.remaining - last.remaining - used
    }
}

extension OtherConsumers {
    func write(to writer: inout ByteWriter) {
        writer.write(isSteadilyRefilled)
        writer.write(used)
        writer.write(level)
        writer.write(highest)
        writer.write(UInt32(clamping: spans))
        writer.write(mean)
        writer.write(variance)
        writer.write(ownMean)
        writer.write(seenAt) { $0.write($1) }
        writer.write(anchor) { $1.write(to: &$0) }
    }

    init(from reader: inout ByteReader) throws(ByteCodingError) {
        isSteadilyRefilled = try reader.readBool()
        used = try reader.readAmount()
        level = try reader.readDouble()
        highest = try reader.readDouble()
        spans = Int(try reader.read(UInt32.self))
        mean = try reader.readDouble()
        variance = try reader.readAmount()
        ownMean = try reader.readAmount()
        guard mean.isFinite, level.isFinite, highest.isFinite else { throw .outOfRange }
        seenAt = try reader.readOptional { try $0.readTimestamp() }
        anchor = try reader.readOptional { reader in try Sample(from: &reader) }
    }
}

import HeadroomModel

/// An amount that fades with time: 12 bytes, in this order.
struct Fading: Sendable {
    private(set) var at: Timestamp
    private(set) var amount: Float = 0

    init(at now: Timestamp) {
        at = now
    }

    mutating func add(_ more: Float, at now: Timestamp, halfLife: Double) {
        // A page of telemetry is mostly of one instant: fading then changes nothing that matters.
        if now.milliseconds - at.milliseconds > Int64(halfLife * 10) {
            amount = value(at: now, halfLife: halfLife)
            at = now
        }
        amount += more
    }

    func value(at now: Timestamp, halfLife: Double) -> Float {
        amount * Float(decay(now.seconds(since: at), halfLife: halfLife))
    }
}

extension Fading {
    func write(to writer: inout ByteWriter) {
        writer.write(amount)
        writer.write(at)
    }

    init(from reader: inout ByteReader) throws(ByteCodingError) {
        amount = try reader.readFloatAmount()
        at = try reader.readTimestamp()
    }
}

/// The same by resource; lanes in the order of ``Resource``.
struct FadingWork: Sendable {
    private(set) var at: Timestamp
    private var amounts = SIMD4<Float>.zero

    init(at now: Timestamp) {
        at = now
    }

    mutating func add(_ more: SIMD4<Float>, at now: Timestamp, halfLife: Double) {
        // As above.
        if now.milliseconds - at.milliseconds > Int64(halfLife * 10) {
            amounts = value(at: now, halfLife: halfLife)
            at = now
        }
        amounts += more
    }

    func value(at now: Timestamp, halfLife: Double) -> SIMD4<Float> {
        amounts * Float(decay(now.seconds(since: at), halfLife: halfLife))
    }
}

extension FadingWork {
    func write(to writer: inout ByteWriter) {
        for lane in 0..<4 { writer.write(amounts[lane]) }
        writer.write(at)
    }

    init(from reader: inout ByteReader) throws(ByteCodingError) {
        for lane in 0..<4 { amounts[lane] = try reader.readFloatAmount() }
        at = try reader.readTimestamp()
    }
}

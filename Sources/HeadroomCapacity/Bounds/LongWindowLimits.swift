import HeadroomModel

/// Provider limits over longer windows than a minute, as rates: what is left of a day's requests until its end, say.
struct LongWindowLimits: Equatable, Sendable {
    private static let maxWindows = 8
    /// A year and a bit; no provider counts for longer.
    private static let longestSeconds = 400 * 86_400.0

    private struct Window: Equatable, Sendable {
        var resource: Resource
        var windowSeconds: Double
        var limit: Double?
        var remaining: Double
        var resetsAt: Timestamp
        var seenAt: Timestamp
        /// It refills all the time, and the reset is when it will be full (Groq).
        var refillsSteadily: Bool
    }

    /// One for each resource and length.
    private var windows: [Window] = []

    /// A window whose end is not stated cannot be spread over the time to it, and says nothing.
    mutating func note(_ window: QuotaWindow, at: Timestamp) {
        guard let seconds = window.windowSeconds, seconds > 60, seconds <= Self.longestSeconds,
            let remaining = window.remaining, remaining.isFinite, remaining >= 0,
            let reset = window.resetMilliseconds, reset.isFinite, reset >= 0
        else { return }
        let until = min(reset / 1000, seconds)
        let limit = window.limit.flatMap { $0.isFinite && $0 > 0 ? $0 : nil }
        let window = Window(
            resource: window.resource, windowSeconds: seconds, limit: limit, remaining: remaining,
            resetsAt: at.adding(seconds: until), seenAt: at,
            refillsSteadily: limit.map { limit in
                remaining < limit && abs((1 - remaining / limit) * seconds - until) <= 0.02 * seconds
            } ?? false)
        let known = windows.firstIndex { $0.resource == window.resource && $0.windowSeconds == window.windowSeconds }
        if let known {
            if windows[known].seenAt <= at { windows[known] = window }
        } else if windows.count < LongWindowLimits.maxWindows {
            windows.append(window)
        }
    }

    /// A window that has ended says nothing more.
    mutating func advance(to now: Timestamp) {
        windows.removeAll { $0.resetsAt <= now }
    }

    /// Per minute; `nil` without one. What is left is spread over the time until there is more.
    func rate(of resource: Resource, at now: Timestamp) -> Double? {
        windows.filter { $0.resource == resource }.map { window in
            let minutes = max(1, window.resetsAt.seconds(since: now) / 60)
            let refill = window.refillsSteadily ? (window.limit ?? 0) * 60 / window.windowSeconds : 0
            return window.remaining / minutes + refill
        }.min()
    }

    var report: [UpstreamReport.LongWindow] {
        windows.sorted { ($0.resource, $0.windowSeconds) < ($1.resource, $1.windowSeconds) }.map {
            UpstreamReport.LongWindow(
                resource: $0.resource, windowSeconds: $0.windowSeconds, remaining: $0.remaining,
                resetsAt: $0.resetsAt)
        }
    }
}

extension LongWindowLimits {
    func write(to writer: inout ByteWriter) {
        writer.write(windows) { writer, window in
            writer.write(UInt8(window.resource.rawValue))
            writer.write(window.windowSeconds)
            writer.write(window.limit) { $0.write($1) }
            writer.write(window.remaining)
            writer.write(window.resetsAt)
            writer.write(window.seenAt)
            writer.write(window.refillsSteadily)
        }
    }

    init(from reader: inout ByteReader) throws(ByteCodingError) {
        windows = try reader.readArray(leastBytes: 34) { reader in
            guard let resource = Resource(rawValue: Int(try reader.read(UInt8.self))) else {
                throw ByteCodingError.outOfRange
            }
            let seconds = try reader.readAmount()
            guard seconds > 60, seconds <= Self.longestSeconds else { throw ByteCodingError.outOfRange }
            return Window(
                resource: resource, windowSeconds: seconds,
                limit: try reader.readOptional { try $0.readAmount() },
                remaining: try reader.readAmount(), resetsAt: try reader.readTimestamp(),
                seenAt: try reader.readTimestamp(), refillsSteadily: try reader.readBool())
        }
    }
}

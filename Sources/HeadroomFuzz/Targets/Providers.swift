import HeadroomModel
import HeadroomProviders

extension FuzzTarget {
    /// A provider's answer: a line with its name and the status, header lines, an empty line, the body.
    static let providers = FuzzTarget(name: "providers") { bytes in
        let (head, body) = bytes.headAndBody
        let start = (head.first ?? "").split(separator: " ", maxSplits: 1)
        let headers = head.dropFirst().map { line in
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            return (name: String(parts[0]), value: parts.count == 2 ? String(parts[1]) : "")
        }
        let response = ProviderResponse(
            provider: start.first.map(String.init), status: start.last.flatMap { Int($0) } ?? 429,
            headers: Array(headers), body: body.text, receivedAt: Timestamp(milliseconds: 1_793_000_000_000))
        check(ProviderClassifier.classify(response))
    }

    /// Absent, or a number that can be true.
    static func check(_ signal: ProviderSignal) {
        let numbers =
            [signal.retryAfterMilliseconds]
            + signal.windows.flatMap { [$0.limit, $0.remaining, $0.resetMilliseconds, $0.windowSeconds] }
        // Seconds and milliseconds are at most a year, amounts at most 2^64.
        require(numbers.allSatisfy { (0...18_446_744_073_709_551_616).contains($0 ?? 0) }, "\(signal)")
        let times = [signal.retryAfterMilliseconds] + signal.windows.map(\.resetMilliseconds)
        require(times.allSatisfy { ($0 ?? 0) <= 366 * 86_400_000 }, "\(signal)")
        let order = signal.windows.map { ($0.resource.rawValue, $0.windowSeconds ?? -1) }
        require(zip(order, order.dropFirst()).allSatisfy { $0 <= $1 }, "windows out of order: \(signal)")
    }
}

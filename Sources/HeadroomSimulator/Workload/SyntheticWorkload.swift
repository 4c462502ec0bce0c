import HeadroomModel

/// A trace drawn by seed from what has been published about such traces, for when there is no trace at hand.
///
/// Every table was computed from the public files that its comment names. What is not published is invented and said
/// to be: which tenant sends which kind of work, and input and output lengths drawn independently.
package struct SyntheticWorkload {
    package static let tenantCount = 20

    /// The rate of the whole: Azure's 2023 code and conversation services (Splitwise, ISCA'24) see 2.6 and 5.6 requests
    /// a second, Mooncake (FAST'25) 3.2.
    package static let requestsPerSecond = 4.0

    /// How requests spread over clients: the slope of the 20 largest in log–log is 1.09 at m-large, 0.91 at
    /// deepseek-r1 and 1.74 at m-small (ServeGen, arXiv 2505.09999).
    static let zipfExponent = 1.09

    /// A client's coefficient of variation of the gaps between requests, within ten minutes, median over its week: the
    /// 108 clients of m-large with at least ten such windows (ServeGen).
    static let gapVariation = QuantileTable([
        0.21, 0.66, 0.8, 0.93, 1.0, 1.07, 1.22, 1.42, 1.66, 2.09, 3.65, 9.1, 10.33, 10.35,
    ])

    /// The part of a week's ten-minute windows in which a client sends next to nothing (fewer than ten requests): the 20
    /// largest clients of m-large (ServeGen).
    static let idleShare = QuantileTable([0, 0, 0, 0, 0, 0, 0.01, 0.08, 0.15, 0.28, 0.83, 0.83, 0.83, 0.83])

    /// How long a client goes on sending, in seconds: the median run of busy windows is two to three (ServeGen).
    static let busySeconds = 1500.0

    /// Lengths of one kind of work, in tokens.
    struct Kind {
        let input: QuantileTable
        let output: QuantileTable
    }

    static let kinds = [
        // Azure LLM inference trace 2023, code (Splitwise, ISCA'24): 8,819 requests.
        Kind(
            input: QuantileTable([3, 75, 147, 386, 770, 1075, 1469, 1909, 2433, 3192, 5188, 7303, 7436, 7437]),
            output: QuantileTable([6, 6, 7, 8, 9, 11, 13, 16, 20, 29, 55, 90, 251, 1899])),
        // The same, conversation: the first 9,732 requests.
        Kind(
            input: QuantileTable([2, 181, 298, 390, 407, 969, 1035, 1081, 1140, 1317, 4075, 4086, 4122, 14050]),
            output: QuantileTable([7, 38, 50, 72, 88, 102, 140, 211, 393, 404, 428, 463, 612, 1000])),
        // Mooncake conversation trace (FAST'25), long contexts: the first 5,606 requests.
        Kind(
            input: QuantileTable([
                891, 901, 973, 1741, 3697, 5520, 7650, 10269, 13935, 19110, 28777, 42122, 91573, 123_192,
            ]),
            output: QuantileTable([1, 9, 24, 96, 214, 297, 356, 402, 452, 511, 609, 708, 1105, 2000])),
        // ServeGen deepseek-r1, reasoning: its clients' published quantiles, weighted by two hours of requests.
        Kind(
            input: QuantileTable([4, 16, 26, 47, 67, 92, 134, 243, 266, 431, 1511, 7474, 23310, 54351]),
            output: QuantileTable([
                16, 241, 317, 497, 749, 1158, 1857, 2672, 3550, 4722, 6932, 9217, 14916, 32759,
            ])),
    ]

    /// `number` from 1.
    package static func tenant(_ number: Int) -> TenantID {
        let digits = String(number)
        return TenantID(unchecked: "synthetic-t" + String(repeating: "0", count: max(0, 3 - digits.count)) + digits)
    }

    /// About `requests` of them over `requests` / ``requestsPerSecond`` seconds.
    package static func trace(requests: Int, seed: UInt64) -> Trace {
        var generator = SeededGenerator(seed: seed, stream: "synthetic workload")
        let seconds = Double(requests) / requestsPerSecond
        let zipf = ZipfDistribution(count: tenantCount, exponent: zipfExponent)
        // Each tenant takes its own twentieth of a table, in an order by seed: every seed gets steady and bursty
        // tenants, idle and busy ones.
        var variations = stratified(gapVariation)
        var idleShares = stratified(idleShare)
        var kindOrder = (0..<tenantCount).map { $0 % kinds.count }
        generator.shuffle(&variations)
        generator.shuffle(&idleShares)
        generator.shuffle(&kindOrder)

        var rows: [Trace.Row] = []
        for tenant in 0..<tenantCount {
            let activity = Activity(
                seconds: seconds, idleShare: idleShares[tenant],
                requestsPerSecond: requestsPerSecond * zipf.share(of: tenant),
                gapVariation: variations[tenant])
            let kind = kinds[kindOrder[tenant]]
            for instant in activity.instants(using: &generator) {
                rows.append(
                    Trace.Row(
                        seconds: instant, tenant: tenant,
                        inputTokens: Int64(kind.input.draw(using: &generator)),
                        outputTokens: Int64(kind.output.draw(using: &generator))))
            }
        }
        return Trace(
            tenants: (1...tenantCount).map { tenant($0) }, rows: rows, hasSyntheticTenants: true,
            hasDrawnLengths: true)
    }

    private static func stratified(_ table: QuantileTable) -> [Double] {
        (0..<tenantCount).map { table.value(at: (Double($0) + 0.5) / Double(tenantCount)) }
    }
}

/// When one tenant sends: busy and idle by turns, each for an exponential time, bursty while busy.
private struct Activity {
    let seconds: Double
    let idleShare: Double
    /// Over busy and idle time together.
    let requestsPerSecond: Double
    let gapVariation: Double

    func instants(using generator: inout SeededGenerator) -> [Double] {
        let gap = (1 - idleShare) / requestsPerSecond
        let idleSeconds = SyntheticWorkload.busySeconds * idleShare / (1 - idleShare)
        var instants: [Double] = []
        var clock = 0.0
        var isBusy = generator.drawUniform() >= idleShare
        while clock < seconds {
            let mean = isBusy ? SyntheticWorkload.busySeconds : idleSeconds
            let end = min(seconds, clock + generator.drawExponential(mean: mean))
            if isBusy {
                var instant = clock + generator.drawBurstyWait(mean: gap, variation: gapVariation)
                while instant < end {
                    instants.append(instant)
                    instant += generator.drawBurstyWait(mean: gap, variation: gapVariation)
                }
            }
            // A tenant that is never idle goes on where it stopped.
            isBusy = !isBusy || idleShare == 0
            clock = end
        }
        return instants
    }
}

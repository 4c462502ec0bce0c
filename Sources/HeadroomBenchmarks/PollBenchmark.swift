import Foundation
import HeadroomHTTP
import HeadroomModel
import HeadroomWire

/// Polls a second beside nginx serving the same bytes: a gateway with nothing new (304), and one that gets 1 KB (200).
///
/// Both servers have one thread. A gateway's poll has a token, is noted as its lease's renewal, and is compared with the
/// newest generation; nginx compares a file's tag.
enum PollBenchmark {
    static let clientArgument = "--load-client"

    static func runClient(_ arguments: [String]) -> Int32 { LoadClient.main(arguments) }

    private static let connections = 64
    private static let bodyBytes = 1024

    static func run(smoke: Bool) throws {
        let rounds = smoke ? 1 : 5
        let seconds = smoke ? 0.2 : 2
        let headroom = try PollSubject()
        defer { headroom.stop() }
        let nginx = try NginxSubject(body: headroom.body)
        defer { nginx?.stop() }
        if nginx == nil { print("nginx is not on PATH: nothing to compare with") }
        for status in [304, 200] {
            var ratios: [Double] = []
            for round in 1...rounds {
                let ours = try measure(headroom, status, seconds)
                print("\(status) round \(round): headroom \(ours)")
                guard let nginx else { continue }
                let theirs = try measure(nginx, status, seconds)
                print("\(status) round \(round): nginx    \(theirs)")
                ratios.append(ours.perSecond / theirs.perSecond)
            }
            guard !ratios.isEmpty else { continue }
            let median = ratios.sorted()[rounds / 2].rounded(to: 2)
            print("\(status): headroom / nginx, requests a second, median of \(rounds): \(median)")
        }
    }

    private struct Figures: CustomStringConvertible {
        let perSecond: Double
        let cpuSecondsPer100k: Double

        var description: String {
            "\(Int(perSecond)) requests/s, \(cpuSecondsPer100k.rounded(to: 2)) CPU s per 100,000"
        }
    }

    /// The load client's own processor time is its process's and not counted.
    private static func measure(_ subject: some PollTarget, _ status: Int, _ seconds: Double) throws -> Figures {
        let before = subject.cpuSeconds
        let numbers = try LoadProcess.numbers(
            [clientArgument, "\(subject.port)", "\(connections)", "\(seconds)", "\(status)", subject.request(status)],
            count: 3)
        return Figures(
            perSecond: numbers[0] / numbers[1],
            cpuSecondsPer100k: (subject.cpuSeconds - before) / numbers[0] * 100_000)
    }

    enum PollFault: Error { case client, nginx }

    /// About a kilobyte of snapshot.
    static func publication(generation: Int64) -> Publication {
        var tenants: [TenantAllocation] = []
        while true {
            let pool = PoolAllocation(
                pool: "openai:gpt-4o", capacity: Rates(rpm: 9500, tpm: 1_800_000),
                nominal: Rates(rpm: 10000, tpm: 2_000_000), budget: Rates(rpm: 9500, tpm: 1_800_000),
                fallback: Rates(rpm: 9025, tpm: 1_710_000), tenants: tenants)
            let snapshot = Snapshot(
                version: SnapshotVersion(epoch: 1_793_000_000, generation: generation),
                issuedAt: Timestamp(milliseconds: 1_793_000_000_000), leaseSeconds: 15, policy: "default@9f31",
                pools: [pool])
            if SnapshotEncoder.encode(snapshot).count >= bodyBytes {
                return Publication(whole: snapshot, parts: [(gateway: "gw-1", snapshot: snapshot)])
            }
            tenants.append(
                TenantAllocation(
                    tenant: TenantID(unchecked: "tenant-\(tenants.count)"), assured: Rates(rpm: 1200, tpm: 240_000)))
        }
    }
}

/// A server under load.
protocol PollTarget {
    var port: UInt16 { get }
    /// Since its start.
    var cpuSeconds: Double { get }
    /// One that is answered with `status`.
    func request(_ status: Int) -> String
}

extension PollTarget {
    func request(etag: String?) -> String {
        "GET /v1/allocations?gateway=gw-1&applied=1.1 HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer secret\r\n"
            + (etag.map { "If-None-Match: \($0)\r\n" } ?? "") + "\r\n"
    }
}

extension Double {
    fileprivate func rounded(to digits: Int) -> Double {
        let scale = pow(10, Double(digits))
        return (self * scale).rounded() / scale
    }
}

import Foundation
import HeadroomHTTP
import HeadroomModel
import HeadroomWire

/// Polls a second beside nginx serving the same bytes: a gateway with nothing new (304), and one that gets 1 KB (200).
///
/// The load is made by a client of our own, and by wrk and h2load where they are installed, each with 64 connections.
/// Both servers have one thread. A gateway's poll has a token, is noted as its lease's renewal, and is compared with the
/// newest generation; nginx compares a file's tag.
enum PollBenchmark {
    static let clientArgument = "--load-client"

    static func runClient(_ arguments: [String]) -> Int32 { LoadClient.main(arguments) }

    private static let connections = 64
    private static let bodyBytes = 1024

    static func run(smoke: Bool) throws {
        let rounds = smoke ? 1 : 5
        let seconds = smoke ? 1 : 2
        let headroom = try PollSubject()
        defer { headroom.stop() }
        let nginx = try NginxSubject(body: headroom.body)
        defer { nginx?.stop() }
        if nginx == nil { print("nginx is not on PATH: nothing to compare with") }
        for load in PollLoad.all {
            for status in [304, 200] {
                var ratios: [Double] = []
                for round in 1...rounds {
                    let ours = try measure(headroom, load, status, seconds)
                    print("\(load.name), \(status), round \(round): headroom \(ours)")
                    guard let nginx else { continue }
                    let theirs = try measure(nginx, load, status, seconds)
                    print("\(load.name), \(status), round \(round): nginx    \(theirs)")
                    ratios.append(ours.perSecond / theirs.perSecond)
                }
                guard !ratios.isEmpty else { continue }
                let median = ratios.sorted()[rounds / 2].rounded(to: 2)
                print(
                    "\(load.name), \(status): headroom / nginx, requests a second, median of \(rounds): \(median)")
            }
        }
    }

    private struct Figures: CustomStringConvertible {
        let perSecond: Double
        let cpuSecondsPer100k: Double

        var description: String {
            "\(Int(perSecond)) requests/s, \(cpuSecondsPer100k.rounded(to: 2)) CPU s per 100,000"
        }
    }

    /// The load's own processor time is its process's and not counted.
    private static func measure(
        _ subject: some PollTarget, _ load: PollLoad, _ status: Int, _ seconds: Int
    ) throws -> Figures {
        let before = subject.cpuSeconds
        let (requests, elapsed) = try load.run(subject, status: status, connections: connections, seconds: seconds)
        return Figures(
            perSecond: requests / elapsed, cpuSecondsPer100k: (subject.cpuSeconds - before) / requests * 100_000)
    }

    enum PollFault: Error {
        case client, nginx
        /// What the program printed.
        case load(String)
    }

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
    /// Of its body.
    var etag: String { get }
}

extension PollTarget {
    static var target: String { "/v1/allocations?gateway=gw-1&applied=1.1" }

    /// Of a request that is answered with `status`.
    func headers(_ status: Int) -> [String] {
        ["Authorization: Bearer secret"] + (status == 304 ? ["If-None-Match: \(etag)"] : [])
    }
}

extension Double {
    fileprivate func rounded(to digits: Int) -> Double {
        let scale = pow(10, Double(digits))
        return (self * scale).rounded() / scale
    }
}

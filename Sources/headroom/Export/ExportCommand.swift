import Foundation
import HeadroomEnforcement
import HeadroomModel
import HeadroomWire

/// `headroom export`: limits as files, for gateways that read files and nothing else.
enum ExportCommand {
    static let help = """
        usage: headroom export --format haproxy-map|envoy-rds|envoy-ratelimit --out DIR [--gateway NAME] [--pool POOL]…
                               [--cluster NAME] [--watch] [--url URL]

        Takes part as a gateway and writes its allocations as one file in DIR, renamed into place whole:
          haproxy-map       headroom.map: POOL/rpm/t/TENANT, POOL/rpm/p/budget and POOL/rpm/p/unlisted, each with a number
                            per minute. Tenants have their plain rates; put the budget on the pool as a cap
          envoy-rds         headroom-rds.json: a route table for each pool, named after it, with a local bucket of requests
                            for each x-headroom-tenant. Written only when a number moves by a twentieth, since Envoy
                            fills its buckets with every change
          envoy-ratelimit   headroom.yaml for envoyproxy/ratelimit: pool, tenant, resource

          --gateway NAME    who takes part (export); it needs the token's name, see "headroom help token"
          --pool POOL       only this pool; may be repeated
          --cluster NAME    where Envoy's routes lead (provider)
          --watch           go on, asking every two seconds. When the lease ends without an answer, the file says the
                            fallback and the safe rates. A file has no lease of its own: keep this program running
          --url URL         default HEADROOM_URL, else \(Defaults.url); a token is taken from HEADROOM_TOKEN
        """

    static func run(_ arguments: [String]) async throws -> Int32 {
        let arguments = try Arguments(
            arguments, flags: ["--watch"],
            options: [
                "--format": "FORMAT", "--out": "DIR", "--gateway": "NAME", "--pool": "POOL", "--cluster": "NAME",
                "--url": "URL",
            ])
        let names = ExportFormat.allCases.map(\.rawValue).joined(separator: ", ")
        guard let format = arguments["--format"].flatMap(ExportFormat.init) else {
            throw UsageError("--format must be one of \(names)")
        }
        guard let directory = arguments["--out"] else { throw UsageError("--out DIR says where the file goes") }
        let client = try ServiceClient(arguments)
        // One that goes on is distinguished from a second one under its name; single exports may follow each other at once.
        let boot = arguments.has("--watch") ? "export-\(UInt64.random(in: 0 ... .max))" : nil
        var export = Export(
            format: format, path: directory + "/" + format.file, cluster: arguments["--cluster"] ?? "provider",
            query: [("gateway", arguments["--gateway"] ?? "export"), ("boot", boot)]
                + arguments.all("--pool").map { ("pool", $0) })
        let time = TimeSource.anchored(atMillisecondsSince1970: Int64(Date().timeIntervalSince1970 * 1000))
        // The first answer is for readers; it is acknowledged, and the next has the gateway's part.
        for _ in 0..<2 {
            let asked = time.now()
            export.take(
                try await client.call("GET", "v1/allocations", query: export.question), asked: asked, at: time.now())
        }
        try export.write(at: time.now())
        while arguments.has("--watch") {
            try await Task.sleep(for: .seconds(2))
            let asked = time.now()
            do {
                export.take(
                    try await client.call("GET", "v1/allocations", query: export.question), asked: asked, at: time.now()
                )
            } catch let error as CommandError {
                Terminal.error("headroom export: \(error.message)")
            }
            try export.write(at: time.now())
        }
        return 0
    }
}

/// An export's snapshot, and its last output.
private struct Export {
    let format: ExportFormat
    let path: String
    let cluster: String
    let query: [(name: String, value: String?)]
    private var holder = SnapshotHolder()
    private var written: [ExportedPool]?
    private var saysFallback = false

    /// An answer that was longer on its way renews no lease.
    private static let longestAnswerSeconds = 5.0

    init(format: ExportFormat, path: String, cluster: String, query: [(name: String, value: String?)]) {
        self.format = format
        self.path = path
        self.cluster = cluster
        self.query = query
    }

    var question: [(name: String, value: String?)] { query + [("applied", holder.applied?.description)] }

    mutating func take(_ answer: ServiceClient.Answer, asked: Timestamp, at now: Timestamp) {
        guard now.seconds(since: asked) <= Export.longestAnswerSeconds,
            let message = try? SnapshotDecoder.decode(answer.body), case .whole(let snapshot) = message
        else { return }
        _ = holder.accept(snapshot, at: now)
    }

    /// Writes the file when its numbers changed enough, or when the lease ended or began.
    mutating func write(at now: Timestamp) throws {
        guard let snapshot = holder.snapshot else { throw CommandError("the service gave no allocations") }
        var isExpired = false
        if case .expired = holder.lease.state(at: now) { isExpired = true }
        let pools = snapshot.pools.map { ExportedPool($0, isExpired: isExpired) }
        if let written, isExpired == saysFallback, !differs(pools, from: written) { return }
        do {
            try Data(format.render(pools, cluster: cluster)).write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch {
            throw CommandError("\(path): cannot be written: \((error as NSError).localizedDescription)")
        }
        if isExpired != saysFallback {
            Terminal.error(
                "headroom export: \(isExpired ? "no answer within the lease: the fallback" : "an answer again")")
        }
        written = pools
        saysFallback = isExpired
    }

    private func differs(_ pools: [ExportedPool], from written: [ExportedPool]) -> Bool {
        guard pools.map(\.pool) == written.map(\.pool) else { return true }
        return zip(pools, written).contains { $0.differs(from: $1, byMoreThan: format.leastChange) }
    }
}

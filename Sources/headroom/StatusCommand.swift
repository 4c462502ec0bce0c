import Foundation
import HeadroomJSON
import HeadroomModel

/// `headroom status`: how a running service fares, from its `/readyz` and `/metrics`.
enum StatusCommand {
    static let help = """
        usage: headroom status [--url URL] [--json]

        Says whether the service is ready and why not, what it last published, and how each pool and gateway fares.
        Exit code 0 when it is ready, 1 when it is not or does not answer. A token, where the service asks for one, is
        taken from HEADROOM_TOKEN.

          --url URL   default \(Defaults.url)
          --json      the same as one JSON object
        """

    static func run(_ arguments: [String]) async throws -> Int32 {
        let arguments = try Arguments(arguments, flags: ["--json"], options: ServiceClient.option)
        let client = try ServiceClient(arguments)
        let readiness = try await client.get("readyz")
        guard let status = ServiceStatus(readiness: readiness.body) else {
            throw CommandError(
                "\(client.base.absoluteString)/readyz: answers \(readiness.status), but not as Headroom does; "
                    + "is it another service?")
        }
        let metrics = try await client.get("metrics")
        guard metrics.status == 200 else {
            throw CommandError("\(client.base.absoluteString)/metrics: answers \(metrics.status)")
        }
        let report = status.adding(MetricsReading(String(decoding: metrics.body, as: UTF8.self)))
        if arguments.has("--json") {
            Terminal.print(bytes: report.json)
        } else {
            Terminal.print(report.text)
        }
        return report.isReady ? 0 : 1
    }
}

/// What `headroom status` tells.
struct ServiceStatus {
    struct Pool {
        let name: String
        var state = "unknown"
        /// By kind (`nominal`, `estimated`, `budget`, `assured`, `consumed`).
        var rates: [String: Rates] = [:]
        var starvedCount = 0
    }

    let isReady: Bool
    let reasons: [String]
    /// What to look at although the service may be ready.
    let warnings: [String]
    let version: SnapshotVersion?
    let publishedAgeSeconds: Double?
    /// In the order of the metrics: ascending by name.
    private(set) var pools: [Pool] = []
    /// Worst first.
    private(set) var gateways: [(name: String, driftSeconds: Double)] = []

    /// `nil` when this is not what `/readyz` answers.
    init?(readiness: [UInt8]) {
        guard let root = try? JSONNode.parse(readiness), let isReady = root["ready"]?.bool else { return nil }
        self.isReady = isReady
        reasons = root["reasons"]?.array?.compactMap(\.string) ?? []
        warnings = root["warnings"]?.array?.compactMap(\.string) ?? []
        if let epoch = root["epoch"]?.number, let generation = root["generation"]?.number {
            version = SnapshotVersion(epoch: Int64(epoch), generation: Int64(generation))
        } else {
            version = nil
        }
        publishedAgeSeconds = root["published_age_seconds"]?.number
    }

    func adding(_ metrics: MetricsReading) -> ServiceStatus {
        var status = self
        for sample in metrics.all("headroom_pool_capacity_per_minute") {
            guard let pool = sample.labels["pool"], let kind = sample.labels["kind"],
                let resource = Resource.allCases.first(where: { $0.name == sample.labels["resource"] })
            else { continue }
            status.change(pool) { $0.rates[kind, default: .none][resource] = sample.value }
        }
        for sample in metrics.all("headroom_pool_state") where sample.value == 1 {
            guard let pool = sample.labels["pool"], let state = sample.labels["state"] else { continue }
            status.change(pool) { $0.state = state }
        }
        for sample in metrics.all("headroom_starved_tenants") {
            guard let pool = sample.labels["pool"], sample.value >= 0, sample.value < 1e9 else { continue }
            status.change(pool) { $0.starvedCount += Int(sample.value) }
        }
        for sample in metrics.all("headroom_gateway_drift_seconds") {
            guard let gateway = sample.labels["gateway"] else { continue }
            status.gateways.append((gateway, sample.value))
        }
        return status
    }

    private mutating func change(_ name: String, _ change: (inout Pool) -> Void) {
        let index = pools.firstIndex { $0.name == name }
        if index == nil { pools.append(Pool(name: name)) }
        change(&pools[index ?? pools.count - 1])
    }
}

extension ServiceStatus {
    var text: String {
        var lines = [isReady ? "ready" : "not ready"]
        lines += reasons.map { "  \($0)" } + warnings.map { "  warning: \($0)" }
        if let version {
            let age = publishedAgeSeconds.map { String(format: ", published %.1f s ago", $0) } ?? ""
            lines.append("generation \(version)\(age)")
        }
        var table = TextTable([
            "POOL", "STATE", "RATE", "NOMINAL", "CAPACITY", "BUDGET", "ASSURED", "CONSUMED", "STARVED",
        ])
        for pool in pools {
            for (place, resource) in (pool.rates["nominal"] ?? .none).resources.members.enumerated() {
                let rates = ["nominal", "estimated", "budget", "assured", "consumed"].map { kind in
                    pool.rates[kind]?[resource].map(TextTable.number) ?? "-"
                }
                let start = place == 0 ? [pool.name, pool.state] : ["", ""]
                table.add(start + [resource.rateName] + rates + [place == 0 ? "\(pool.starvedCount)" : ""])
            }
        }
        if !pools.isEmpty { lines += ["", table.text] }
        if !gateways.isEmpty {
            var table = TextTable(["GATEWAY", "BEHIND BY"])
            for gateway in gateways { table.add([gateway.name, String(format: "%.1f s", gateway.driftSeconds)]) }
            lines += ["", table.text]
        }
        return lines.joined(separator: "\n")
    }

    var json: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("ready")
        writer.bool(isReady)
        writer.key("reasons")
        writer.beginArray()
        for reason in reasons { writer.string(reason) }
        writer.endArray()
        writer.key("warnings")
        writer.beginArray()
        for warning in warnings { writer.string(warning) }
        writer.endArray()
        for (key, value) in [("epoch", version?.epoch), ("generation", version?.generation)] {
            writer.key(key)
            if let value { writer.integer(value) } else { writer.null() }
        }
        writer.key("published_age_seconds")
        if let publishedAgeSeconds { writer.number(publishedAgeSeconds) } else { writer.null() }
        writer.key("pools")
        writer.beginArray()
        for pool in pools { write(pool, to: &writer) }
        writer.endArray()
        writer.key("gateways")
        writer.beginArray()
        for gateway in gateways {
            writer.beginObject()
            writer.key("gateway")
            writer.string(gateway.name)
            writer.key("drift_seconds")
            writer.number(gateway.driftSeconds)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        writer.newline()
        return writer.bytes
    }

    private func write(_ pool: Pool, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("pool")
        writer.string(pool.name)
        writer.key("state")
        writer.string(pool.state)
        for kind in ["nominal", "estimated", "budget", "assured", "consumed"] {
            let rates = pool.rates[kind] ?? .none
            writer.key(kind)
            writer.beginObject()
            for resource in rates.resources.members {
                writer.key(resource.rateName)
                writer.number(rates[resource] ?? 0)
            }
            writer.endObject()
        }
        writer.key("starved_tenants")
        writer.integer(pool.starvedCount)
        writer.endObject()
    }
}

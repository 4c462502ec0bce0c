import Dispatch
import Foundation
import HeadroomClient
import HeadroomGate
import HeadroomHTTP
import HeadroomModel
import HeadroomProviders
import HeadroomWire
import Synchronization

private let start = Timestamp(milliseconds: 1_793_000_000_000)

extension FuzzTarget {
    /// A story of requests to a gate, between lines of `---`: each has a request line, header lines, an empty line and a
    /// body. `+1500` lets so many milliseconds pass, an hour at most.
    static let gate = FuzzTarget(name: "gate") { bytes in
        let story = GateStory()
        for part in bytes.parts(most: 16) {
            let (head, body) = part.headAndBody
            guard let line = head.first else { continue }
            if line.first == "+", let milliseconds = UInt32(line.dropFirst()) {
                // A gate reports each second; only what is kept back for two days is too old for the control plane.
                story.pass(seconds: Double(min(milliseconds, 3_600_000)) / 1000)
            } else {
                story.send(line, head.dropFirst(), body)
            }
        }
        story.end()
    }
}

/// A gate that nobody calls but the story, with a clock that only the story moves.
private final class GateStory: Sendable {
    private let gate: Gate
    private let now = Clock()

    private final class Clock: Sendable {
        let instant = Mutex(start)
    }

    init() {
        let now = now
        let time = TimeSource { now.instant.withLock { $0 } }
        // Nothing is sent there, as nothing runs.
        var settings = BudgetManager.Settings(gateway: "gw-1", addresses: [URL(string: "http://127.0.0.1:1")!])
        settings.cache = AnswerCache.Settings()
        guard let manager = try? BudgetManager(settings, time: time, seed: 1) else { fatalError("no manager") }
        gate = Gate(manager, defaults: GateDefaults(pool: "p"), boot: "b", time: time)
        let rates = Rates(rpm: 60, tpm: 60_000)
        let pool = PoolAllocation(
            pool: "p", capacity: rates, nominal: rates, budget: rates, fallback: rates * 0.5, failover: ["q"],
            tenants: [TenantAllocation(tenant: "a", assured: rates * 0.5, ceiling: rates)], unlisted: rates * 0.1)
        var other = pool
        other.pool = "q"
        gate.manager.load(
            Snapshot(
                version: SnapshotVersion(epoch: 1, generation: 1), issuedAt: start, leaseSeconds: 1e6,
                policy: "default@0", pools: [pool, other]), leaseUntil: start.adding(seconds: 1e6))
    }

    func pass(seconds: Double) {
        now.instant.withLock { $0 = $0.adding(seconds: seconds) }
        gate.manager.serve()
    }

    /// As the server does it: the call by method and path, with a body that is not too long.
    func send(_ line: String, _ headers: ArraySlice<String>, _ body: [UInt8]) {
        let words = line.split(separator: " ")
        guard words.count == 2, let method = HTTPMethod(rawValue: String(words[0])),
            let target = RequestTarget(Array(words[1].utf8))
        else { return }
        let path = target.path.utf8.split(separator: UInt8(ascii: "/"))
        let call = gate.calls.first { call in
            let pattern = call.pattern.utf8.split(separator: UInt8(ascii: "/"))
            return call.method == method && pattern.count == path.count
                && zip(pattern, path).allSatisfy { $0.first == UInt8(ascii: "{") || $0.elementsEqual($1) }
        }
        guard let call, body.count <= call.bodyLimit else { return }
        let fields = headers.map { header in
            let parts = header.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.count == 2 ? parts[1].drop { $0 == " " } : ""
            return (name: parts[0].lowercased(), value: String(value))
        }
        // Who waits is answered by nobody: its place stays in the queue until it is given up.
        _ = try? call.answer(LocalServer.Request(target: target, headers: fields, body: body))
        check()
    }

    private func check() {
        for (pool, status) in gate.manager.poolStates {
            require(status.waiting >= 0 && status.inFlight >= 0, "\(pool): \(status)")
        }
    }

    /// An hour later everybody has gone, and the control plane takes each line of what the gate reports.
    func end() {
        pass(seconds: 3600)
        gate.manager.refuseWaiting()
        check()
        let lines = Mutex<[UInt8]>([])
        let isSent = DispatchSemaphore(value: 0)
        let reporter = gate.manager.reporter
        Task {
            _ = await reporter.sendAll { batch in
                lines.withLock { $0 += batch.bytes }
                return .refused("")
            }
            isSent.signal()
        }
        isSent.wait()
        let decoder = TelemetryDecoder { ProviderClassifier.classify($0) }
        let arrival = TelemetryDecoder.Arrival(
            received: now.instant.withLock { $0 }, gateway: "gw-1", isNumberedBatch: true)
        let bytes = lines.withLock { $0 }
        guard let result = try? decoder.decode(bytes, as: .lines, arrival: arrival) else {
            fatalError("telemetry that cannot be read: \(bytes.text)")
        }
        require(result.faults.isEmpty, "telemetry that is refused: \(result.faults) \(bytes.text)")
    }
}

extension [UInt8] {
    fileprivate func parts(most: Int) -> [[UInt8]] {
        var rest = self[...]
        var parts: [[UInt8]] = []
        while parts.count < most, let line = rest.firstRange(of: Array("\n---\n".utf8)) {
            parts.append(Array(rest[..<line.lowerBound]))
            rest = rest[line.upperBound...]
        }
        return parts + [Array(rest)]
    }
}

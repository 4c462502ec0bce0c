import HeadroomHTTP
import HeadroomModel
import HeadroomSimulator
import HeadroomStorage
import Synchronization

/// Replays of the last hours beside the running service: one at a time, for a minute at most, with readers of their own
/// so that the loop's are not waited for.
final class Planner: Sendable {
    static let maxSeconds = 60.0
    /// In one answer.
    private static let maxTenants = 500
    private static let maxPlots = 24

    private let database: Database
    private let time: TimeSource
    private let isBusy = Atomic(false)

    init(database: Database, time: TimeSource) {
        self.database = database
        self.time = time
    }

    /// The difference as JSON.
    func replay(_ candidate: Rules, against present: Rules, hours: Double) async throws -> [UInt8] {
        guard !isBusy.exchange(true, ordering: .acquiringAndReleasing) else {
            throw HTTPError(.overloaded, "another replay is running; one runs at a time", retryAfterSeconds: 10)
        }
        defer { isBusy.store(false, ordering: .releasing) }
        return try await withThrowingTaskGroup(of: [UInt8]?.self) { group in
            // Behind everything that the service does.
            group.addTask(priority: .background) { try await self.run(candidate, against: present, hours: hours) }
            group.addTask {
                try await Task.sleep(for: .seconds(Self.maxSeconds))
                return nil
            }
            defer { group.cancelAll() }
            guard let answer = try await group.next() ?? nil else {
                throw HTTPError(
                    .overloaded,
                    "the replay was not done within \(Int(Self.maxSeconds)) s; ask for fewer hours, or run "
                        + "\"headroom plan\" beside the service",
                    retryAfterSeconds: 60)
            }
            return answer
        }
    }

    private func run(_ candidate: Rules, against present: Rules, hours: Double) async throws -> [UInt8] {
        let readers = try database.readers(coding: CommandDatabase.noSnapshots)
        let past = RecordedPast(
            telemetry: readers.telemetry, records: readers.records, pools: candidate.policy.pools.map(\.pool))
        let end = time.now()
        let parts = try await past.parts(from: end.adding(seconds: -hours * 3600), to: end)
        guard !parts.isEmpty else {
            throw HTTPError(.noSuch, "there is no telemetry of the last \(DemoText.decimal(hours)) hours to replay")
        }
        let outcome = try await PlanReplay(parts, candidate: candidate, baseline: .rules(present)).run { _ in }
        return outcome.encoded(most: Self.maxTenants, plotted: Self.maxPlots)
    }
}

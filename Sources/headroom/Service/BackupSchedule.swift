import Foundation
import HeadroomHTTP
import HeadroomJSON
import HeadroomModel
import HeadroomStorage

/// Copies the database into a directory every so often, and keeps the newest ones. Only files that are called as it calls
/// them are ever deleted, and only after a further one was made and verified.
struct BackupSchedule: Sendable {
    var directory: String
    var everySeconds = 3_600.0
    /// How many are kept.
    var keep = 24

    /// A failed one is tried again after a minute, or sooner where it is made more often.
    private static let retrySeconds = 60.0

    /// Until the task is cancelled. A failure is a condition of the service, which is an alert, until one succeeds.
    func run(
        of database: String, auditKey: AuditKey?, conditions: ServiceConditions, time: TimeSource,
        log: @Sendable (LogLevel, String) -> Void
    ) async {
        if let newest = files().last, let at = Self.instant(in: newest) {
            conditions.newestBackup = (at, size(of: newest))
        }
        while !Task.isCancelled {
            let now = time.now()
            let due = conditions.newestBackup.map { everySeconds - now.seconds(since: $0.at) } ?? 0
            // A clock that was set back waits for no longer than one that was not.
            guard due <= 0 else {
                guard (try? await Task.sleep(for: .seconds(min(due, everySeconds)))) != nil else { return }
                continue
            }
            do {
                let target = "\(directory)/headroom-\(now.fileStamp).sqlite"
                let outcome = try await DatabaseBackup.make(
                    of: database, to: target, auditKey: auditKey, at: now, while: { !Task.isCancelled })
                conditions.newestBackup = (now, outcome.bytes)
                conditions.set(.backup, nil)
                log(.info, "backup \(outcome.sentence(of: target))")
                deleteOld()
            } catch {
                if Task.isCancelled { return }
                let words = "the database is not backed up: \(error.message)"
                if conditions.set(.backup, words) { log(.error, words) }
                guard (try? await Task.sleep(for: .seconds(min(Self.retrySeconds, everySeconds)))) != nil else {
                    return
                }
            }
        }
    }

    /// Ascending by time.
    private func files() -> [String] {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return all.filter { Self.instant(in: $0) != nil }.sorted()
    }

    private func size(of name: String) -> Int64 {
        let attributes = try? FileManager.default.attributesOfItem(atPath: "\(directory)/\(name)")
        return (attributes?[.size] as? NSNumber)?.int64Value ?? 0
    }

    /// All but the newest, and what a killed process left of earlier ones.
    private func deleteOld() {
        let files = files()
        let all = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        let halves = all.filter {
            $0.hasSuffix(Self.half) && Self.instant(in: String($0.dropLast(Self.half.count))) != nil
        }
        for name in files.dropLast(keep) + halves {
            try? FileManager.default.removeItem(atPath: "\(directory)/\(name)")
        }
    }

    private static let half = ".partial"

    /// Of `headroom-20261125T161500Z.sqlite`; `nil` for every other name.
    private static func instant(in name: String) -> Timestamp? {
        guard name.hasPrefix("headroom-"), name.hasSuffix(".sqlite") else { return nil }
        let digits = Array(name.dropFirst(9).dropLast(7))
        guard digits.count == 16 else { return nil }
        let text =
            "\(String(digits[0..<4]))-\(String(digits[4..<6]))-\(String(digits[6..<11])):\(String(digits[11..<13])):"
            + String(digits[13...])
        return RFC3339.parse(text).map(Timestamp.init(milliseconds:))
    }
}

import HeadroomModel

/// The policy of a directory whose files people edit while Headroom runs.
///
/// It looks when it is asked, once a tick: a few `stat` calls. A change without a fault is the new policy; a change
/// with one leaves the old policy in force until it is mended. So does a file that goes away and takes a pool with it:
/// it may be half of a copy. ``reload()`` takes the directory as it is.
package struct PolicyWatcher: Sendable {
    package let directory: PolicyDirectory
    /// In force.
    package private(set) var policy: Policy
    /// The fault of the files as they are now; `nil` while they say what is in force.
    package private(set) var failure: PolicyError?
    /// As the files were when they were last read; `nil` when some could not be.
    private var marks: [PolicyDirectory.FileMark]?
    /// The files that the policy in force was read from.
    private var paths: Set<String>

    /// Reads the directory for the first time.
    package init(directory: PolicyDirectory) throws(PolicyError) {
        self.directory = directory
        // Before the files: what changes while they are read is then read again.
        let marks = try directory.marks()
        self.marks = marks
        paths = Set(marks.map(\.path))
        policy = try directory.load()
    }

    /// - Parameter acceptsRemovals: a pool whose file has gone goes too.
    package mutating func reloadIfChanged(acceptsRemovals: Bool = false) -> Reload {
        do throws(PolicyError) {
            let marks = try directory.marks()
            if marks == self.marks, !acceptsRemovals { return .unchanged }
            self.marks = marks
            let next = try directory.load()
            if !acceptsRemovals { try refuseRemovals(marks, next) }
            let isMended = failure != nil
            failure = nil
            paths = Set(marks.map(\.path))
            // Only touched.
            if next == policy, !isMended { return .unchanged }
            policy = next
            return .changed(next)
        } catch {
            // Permissions may mend without a trace: what could not be read is tried again each tick.
            if error.faults.contains(where: { $0.code == .unreadable }) { marks = nil }
            if error == failure { return .unchanged }
            failure = error
            return .refused(error)
        }
    }

    /// Takes the directory as it is, removed files included.
    package mutating func reload() -> Reload { reloadIfChanged(acceptsRemovals: true) }

    private func refuseRemovals(_ marks: [PolicyDirectory.FileMark], _ next: Policy) throws(PolicyError) {
        let removed = paths.subtracting(marks.map(\.path)).sorted()
        let pools = policy.pools.map(\.pool).filter { pool in next.pool(pool) == nil }
        guard !removed.isEmpty, !pools.isEmpty else { return }
        throw PolicyError(
            removed.map { path in
                PolicyFault(
                    .missing, file: path,
                    "was in force and is gone, with pool \(pools.map(\.text).joined(separator: ", ")): put it back, "
                        + "or send the service SIGHUP to go on without it")
            })
    }

    package enum Reload: Equatable, Sendable {
        case unchanged
        /// In force from now on.
        case changed(Policy)
        /// The old policy stays. Said once for each change.
        case refused(PolicyError)
    }
}

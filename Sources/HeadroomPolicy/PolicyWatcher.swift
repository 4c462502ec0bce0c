import HeadroomModel

/// The policy of a directory whose files people edit while Headroom runs.
///
/// It looks when it is asked, once a tick: a few `stat` calls. A change without a fault is the new policy; a change
/// with one leaves the old policy in force until it is mended.
package struct PolicyWatcher: Sendable {
    package let directory: PolicyDirectory
    /// In force.
    package private(set) var policy: Policy
    /// What is wrong with the files as they are now; `nil` while they say what is in force.
    package private(set) var failure: PolicyError?
    /// As the files were when they were last read; `nil` when some could not be.
    private var marks: [PolicyDirectory.FileMark]?

    /// Reads the directory for the first time.
    package init(directory: PolicyDirectory) throws(PolicyError) {
        self.directory = directory
        // Before the files: what changes while they are read is then read again.
        marks = try directory.marks()
        policy = try directory.load()
    }

    package mutating func reloadIfChanged() -> Reload {
        do throws(PolicyError) {
            let marks = try directory.marks()
            if marks == self.marks { return .unchanged }
            self.marks = marks
            policy = try directory.load()
            failure = nil
            return .changed(policy)
        } catch {
            // Permissions mend without a trace in size or time: what could not be read is tried again each tick.
            if error.faults.contains(where: { $0.code == .unreadable }) { marks = nil }
            if error == failure { return .unchanged }
            failure = error
            return .refused(error)
        }
    }

    package enum Reload: Equatable, Sendable {
        case unchanged
        /// In force from now on.
        case changed(Policy)
        /// The old policy stays. Said once for each change.
        case refused(PolicyError)
    }
}

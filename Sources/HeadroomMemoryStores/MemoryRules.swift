import HeadroomModel
import Synchronization

/// Rules that a test or a scenario changes.
package final class MemoryRules: RuleSource {
    private let state: Mutex<Rules>

    package init(_ rules: Rules) {
        state = Mutex(rules)
    }

    package var inForce: Rules { state.withLock { $0 } }

    package func change(_ body: (inout Rules) -> Void) { state.withLock { body(&$0) } }

    package func current() async throws(StorageError) -> Rules { inForce }
}

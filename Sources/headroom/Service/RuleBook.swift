import HeadroomLoop
import HeadroomModel
import HeadroomPolicy
import HeadroomStorage

/// The rules in force: the policy directory, looked at once a tick, and contracts and what people said, read again when
/// anyone has changed them.
actor RuleBook: RuleSource {
    /// Where the policy comes from.
    enum Origin: Sendable {
        /// A directory that people edit while the service runs.
        case directory(String)
        case fixed(Policy)

        /// Where files that the policy names without a path lie.
        var directory: String {
            switch self {
            case .directory(let path): path
            case .fixed: "."
            }
        }
    }

    /// An origin that was read and found good.
    enum Opened: Sendable {
        case watched(PolicyWatcher)
        case fixed(Policy)

        var policy: Policy {
            switch self {
            case .watched(let watcher): watcher.policy
            case .fixed(let policy): policy
            }
        }
    }

    static func open(_ origin: Origin) throws(PolicyError) -> Opened {
        switch origin {
        case .directory(let path): .watched(try PolicyWatcher(directory: PolicyDirectory(path: path)))
        case .fixed(let policy): .fixed(policy)
        }
    }

    private let executor = DiskExecutor(label: "headroom.rules")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.unowned }

    private let contracts: ContractStore
    private let steering: SteeringStore
    private let log: @Sendable (LogLevel, String) -> Void
    private var origin: Opened
    private var known: [TenantID: Contract]
    private var counter: Int64

    init(
        _ origin: Opened, contracts: ContractStore, steering: SteeringStore,
        log: @escaping @Sendable (LogLevel, String) -> Void
    ) async throws {
        self.origin = origin
        self.contracts = contracts
        self.steering = steering
        self.log = log
        counter = try await contracts.changeCounter()
        known = Self.byTenant(try await contracts.all())
    }

    var policy: Policy { origin.policy }

    /// By path in the directory, as they are written; of a policy without files, those that would state it.
    func files() throws(PolicyError) -> [(path: String, text: String)] {
        switch origin {
        case .watched(let watcher):
            return try watcher.directory.texts().map {
                (path: $0.path, text: String(decoding: $0.bytes, as: UTF8.self))
            }
        case .fixed(let policy):
            return [(path: "rules.json5", text: String(decoding: policy.encodedRules(), as: UTF8.self))]
                + policy.pools.enumerated().map { index, pool in
                    (path: "pools/\(index).json5", text: String(decoding: pool.encoded(), as: UTF8.self))
                }
        }
    }

    /// Takes the policy directory as it is, files that were removed included: what a person asks for by SIGHUP.
    func reload() {
        guard case .watched(var watcher) = origin else { return }
        note(watcher.reload())
        origin = .watched(watcher)
    }

    func current() async throws(StorageError) -> Rules {
        let refusal = look()
        let counter = try await contracts.changeCounter()
        if counter != self.counter {
            known = Self.byTenant(try await contracts.all())
            self.counter = counter
        }
        return Rules(policy: policy, contracts: known, steering: try await steering.steeringInForce(), refusal: refusal)
    }

    /// Takes over a good change; returns why a bad one was refused for as long as it stands.
    private func look() -> String? {
        guard case .watched(var watcher) = origin else { return nil }
        note(watcher.reloadIfChanged())
        origin = .watched(watcher)
        return watcher.failure.map { "the changed policy was refused: \($0)" }
    }

    private func note(_ reload: PolicyWatcher.Reload) {
        switch reload {
        case .unchanged: break
        case .changed(let policy): log(.info, "policy \(policy.label) is in force")
        case .refused(let error): log(.warning, "the changed policy was refused, the old one stays:\n\(error)")
        }
    }

    private static func byTenant(_ contracts: [Contract]) -> [TenantID: Contract] {
        Dictionary(contracts.map { ($0.tenant, $0) }, uniquingKeysWith: { first, _ in first })
    }
}

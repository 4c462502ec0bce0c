/// A reader of outside data, and what must hold whatever it is given.
///
/// A target is one file in `Targets/`, its name in ``all`` and a folder of seeds in `Seeds/`; `.ci/fuzz` runs it. It must
/// give the same result for the same input: no clock, no chance, no state that outlives the call.
struct FuzzTarget: Sendable {
    let name: String
    /// Traps where something does not hold.
    let run: @Sendable ([UInt8]) -> Void

    static let all: [FuzzTarget] = [
        .json, .times, .telemetry, .protobufTraces, .jsonTraces, .draws, .snapshots, .policies, .csvContracts,
        .jsonContracts, .providers, .requestTargets, .checkpoints, .gate,
    ]

    static func named(_ name: String?) -> FuzzTarget {
        guard let target = all.first(where: { $0.name == name }) else {
            fatalError(
                "HEADROOM_FUZZ_TARGET=\(name ?? "") is no target: one of \(all.map(\.name).joined(separator: ", "))")
        }
        return target
    }
}

/// `precondition` that says its sentence in optimized builds too.
func require(_ condition: @autoclosure () -> Bool, _ sentence: @autoclosure () -> String) {
    if !condition() { fatalError(sentence()) }
}

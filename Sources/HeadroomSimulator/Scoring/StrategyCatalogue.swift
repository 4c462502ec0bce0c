extension Strategy {
    /// Every strategy that a run can take, in the order of the scoreboard.
    package static let all: [Strategy] =
        [
            Strategy(name: "headroom", kind: .headroom(.draw)),
            Strategy(name: "headroom-lend", kind: .headroom(.lend)),
            Strategy(name: "headroom-mixed", kind: .headroom(.mixed)),
            Strategy(name: "headroom-plain", kind: .headroom(.plain)),
            Strategy(name: "fcfs", kind: .firstComeFirstServed),
            Strategy(name: "shared-bucket", kind: .admission(SharedBucket()), clientRetries: .openAI),
        ] + rivals + rivalsThatLend + [
            Strategy(name: "oracle", kind: .oracle(remembers: false)),
            Strategy(name: "oracle-memory", kind: .oracle(remembers: true)),
        ]

    package static func named(_ name: String) -> Strategy? { all.first { $0.name == name } }
}

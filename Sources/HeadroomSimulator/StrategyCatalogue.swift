extension Strategy {
    /// Every strategy that a run can take, in the order of the scoreboard. A Headroom whose gateways draw comes with
    /// the float.
    package static let all: [Strategy] =
        [
            Strategy(name: "headroom", kind: .headroom(gatewaysLend: true)),
            Strategy(name: "headroom-plain", kind: .headroom(gatewaysLend: false)),
            Strategy(name: "fcfs", kind: .firstComeFirstServed),
        ] + rivals + rivalsThatLend + [Strategy(name: "oracle", kind: .oracle)]

    package static func named(_ name: String) -> Strategy? { all.first { $0.name == name } }
}

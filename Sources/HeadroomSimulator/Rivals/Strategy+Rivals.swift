extension Strategy {
    /// The strategies of others, as they run them.
    package static let rivals: [Strategy] =
        [
            Strategy(name: "litellm-v3", kind: .admission(LiteLLMv3(LiteLLMv3.Settings(reservations: reservations)))),
            Strategy(name: "litellm-v1", kind: .admission(LiteLLMv1())),
        ] + allocators.map { Strategy(name: $0.name, kind: .rates($0.allocator, gatewaysLend: false)) }

    /// Their control loops behind this project's gateways: what is left of a gap is what the loop adds to lending.
    package static let rivalsThatLend: [Strategy] = allocators.map {
        Strategy(name: $0.name + "+lending", kind: .rates($0.allocator, gatewaysLend: true))
    }

    private static let allocators: [(name: String, allocator: any RateAllocator)] = [
        ("static-equal", StaticEqual()),
        ("static-contract", StaticContract()),
        ("doorman-fair-share", Doorman(.fairShare)),
        ("doorman-proportional-share", Doorman(.proportionalShare)),
        ("apf-borrowing", APFBorrowing()),
        ("karma", Karma()),
    ]

    /// As a careful team would set them: each tier's standard weight times how many of ten tenants it has
    /// (``Roster``), so that a tenant's part goes by its weight. Normalised to 0.30, 0.30, 0.30 and 0.11.
    private static let reservations: [String: Double] = ["critical": 8, "premium": 8, "standard": 8, "free": 3]
}

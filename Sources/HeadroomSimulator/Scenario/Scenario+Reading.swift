import HeadroomJSON
import HeadroomModel

/// A fault of a scenario file.
package struct ScenarioError: Error, Equatable, Sendable {
    /// With the key, and what would be right.
    package let message: String
}

extension Scenario {
    /// A scenario as people write it, in JSON5. Whatever is left out has its default.
    package static func read(_ bytes: [UInt8]) throws(ScenarioError) -> Scenario {
        let document: JSONNode
        do {
            document = try JSONNode.parse(bytes, dialect: .json5)
        } catch {
            throw ScenarioError(message: error.description)
        }
        var fields = try ScenarioFields(document, at: "")
        var scenario = Scenario(name: try fields.text("name"), intent: try fields.text("intent"))
        scenario.capacity = try fields.number("capacity", in: 0.01...100) ?? 1
        if var provider = try fields.object("provider") { try scenario.provider.read(&provider) }
        if var failover = try fields.object("failover") {
            scenario.failover = Failover(
                capacity: try failover.required("capacity", in: 0.01...100),
                every: try failover.whole("every", in: 2...1000) ?? 3)
            try failover.end()
        }
        if var clients = try fields.object("clients") { try scenario.clients.read(&clients) }
        if var network = try fields.object("network") { try scenario.network.read(&network) }
        for var change in try fields.list("changes") {
            scenario.changes.append(try WorkChange(&change))
            try change.end()
        }
        for var fault in try fields.list("faults") {
            scenario.faults.append(try Fault(&fault))
            try fault.end()
        }
        try fields.end()
        return scenario
    }
}

extension Scenario.Provider {
    fileprivate mutating func read(_ fields: inout ScenarioFields) throws(ScenarioError) {
        if let word = try fields.choice("headers", of: ["true", "stale", "none"]) {
            headers = word == "true" ? .truthful : word == "stale" ? .nominal : .absent
        }
        if let word = try fields.choice("metering", of: ProviderModel.Metering.allCases.map(\.rawValue)) {
            metering = ProviderModel.Metering(rawValue: word) ?? metering
        }
        burstSeconds = try fields.number("burst_seconds", in: 1...60) ?? burstSeconds
        countsRefused = try fields.flag("counts_refused") ?? countsRefused
        for var grant in try fields.list("grants") {
            grants.append((try Scenario.Span(&grant), try grant.required("factor", in: 0.01...10)))
            try grant.end()
        }
        if var swing = try fields.object("wave") {
            wave = Scenario.Wave(
                amplitude: try swing.required("amplitude", in: 0...0.9),
                periodSeconds: try swing.required("period_seconds", in: 2...36_000))
            try swing.end()
        }
        for var other in try fields.list("others") {
            others.append((try Scenario.Span(&other), try other.required("share", in: 0...0.95)))
            try other.end()
        }
        for var overload in try fields.list("overloads") {
            overloads.append((try Scenario.Span(&overload), try overload.required("share", in: 0...1)))
            try overload.end()
        }
        if var change = try fields.object("version_change") {
            versionChange = Scenario.VersionChange(
                from: try change.required("from", in: 0...1), factor: try change.required("factor", in: 0.01...10))
            try change.end()
        }
        try fields.end()
    }
}

extension Scenario.Clients {
    fileprivate mutating func read(_ fields: inout ScenarioFields) throws(ScenarioError) {
        estimateError = try fields.number("estimate_error", in: 0...0.95) ?? estimateError
        countedTimes = try fields.number("counted_times", in: 0.5...4) ?? countedTimes
        if var range = try fields.object("max_tokens_factor") {
            let least = try range.required("least", in: 1...1000)
            maxTokensFactor = least...(try range.required("most", in: least...1000))
            try range.end()
        }
        if var patience = try fields.object("patience_seconds") {
            for criticality in Criticality.allCases {
                patienceSeconds[criticality] =
                    try patience.number(criticality.name, in: 0.1...86_400) ?? patienceSeconds[criticality]
            }
            try patience.end()
        }
        try fields.end()
    }
}

extension Scenario.Network {
    fileprivate mutating func read(_ fields: inout ScenarioFields) throws(ScenarioError) {
        gateways = try fields.whole("gateways", in: 1...256) ?? gateways
        pollLagSeconds = try fields.number("poll_lag_seconds", in: 0...60) ?? pollLagSeconds
        lostPolls = try fields.number("lost_polls", in: 0...1) ?? lostPolls
        telemetryDelaySeconds = try fields.number("telemetry_delay_seconds", in: 0...600) ?? telemetryDelaySeconds
        routedByLength = try fields.number("routed_by_length", in: 0...1) ?? routedByLength
        homeSeconds = try fields.number("home_seconds", in: 1...86_400)
        try fields.end()
    }
}

extension Scenario.Span {
    /// `from`, and `to` (parts of the run) or `seconds`; without an end it lasts to the end of the run.
    fileprivate init(_ fields: inout ScenarioFields) throws(ScenarioError) {
        let from = try fields.number("from", in: 0...1) ?? 0
        if let seconds = try fields.number("seconds", in: 0...86_400) {
            self.init(from: from, seconds: seconds)
        } else {
            self.init(from: from, to: try fields.number("to", in: from...1) ?? 1)
        }
    }
}

extension Scenario.Who {
    /// One of `rank`, `every`, `criticality`, `largest_of`; everyone without any.
    fileprivate init(_ fields: inout ScenarioFields) throws(ScenarioError) {
        if let rank = try fields.whole("rank", in: 0...1000) {
            self = .rank(rank)
        } else if let step = try fields.whole("every", in: 1...1000) {
            self = .every(step)
        } else if let name = try fields.choice("criticality", of: Criticality.allCases.map(\.name)),
            let criticality = Criticality(name: name)
        {
            self = .criticality(criticality)
        } else if let tier = try fields.choice("largest_of", of: Roster.tiers) {
            self = .largest(ofTier: tier)
        } else {
            self = .everyone
        }
    }
}

extension Scenario.WorkChange {
    fileprivate init(_ fields: inout ScenarioFields) throws(ScenarioError) {
        let kinds = ["multiply", "silence", "resend_denied", "junk", "tasks", "agents", "pipeline"]
        switch try fields.requiredChoice("do", of: kinds) {
        case "multiply":
            self = .times(
                try fields.required("by", in: 0...1000), of: try Scenario.Who(&fields),
                during: try Scenario.Span(&fields),
                rampSeconds: try fields.number("ramp_seconds", in: 0...86_400) ?? 0)
        case "silence":
            self = .silent(try Scenario.Who(&fields), during: try Scenario.Span(&fields))
        case "resend_denied":
            self = .resendsDenied(
                try Scenario.Who(&fields), times: try fields.whole("times", in: 1...100) ?? 3,
                inStep: try fields.flag("in_step") ?? false)
        case "junk":
            self = .junk(
                try fields.required("by", in: 0...1000), of: try Scenario.Who(&fields),
                during: try Scenario.Span(&fields))
        case "agents":
            self = .agents(try Scenario.TaskPlan(&fields), of: try Scenario.Who(&fields))
        case "pipeline":
            self = .pipeline(
                try Scenario.TaskPlan(&fields), load: try fields.required("load", in: 0.01...100),
                backlogSeconds: try fields.required("backlog_seconds", in: 0.1...600),
                of: try Scenario.Who(&fields), during: try Scenario.Span(&fields))
        default:
            let plan = Scenario.TaskPlan(
                users: try fields.whole("users", in: 1...10_000) ?? 1,
                calls: try fields.whole("calls", in: 1...10_000) ?? 1,
                atOnce: try fields.whole("at_once", in: 1...10_000) ?? 1,
                hasSubAgents: try fields.flag("sub_agents") ?? false,
                thinkSeconds: try fields.number("think_seconds", in: 0...3600) ?? 2)
            self = .tasks(
                plan, of: try Scenario.Who(&fields), from: try fields.number("from", in: 0...1) ?? 0,
                withinSeconds: try fields.number("within_seconds", in: 0...86_400) ?? 60)
        }
    }
}

extension Scenario.TaskPlan {
    /// Of tasks that begin by themselves: `calls` to `most_calls`, `at_once`, `think_seconds`.
    fileprivate init(_ fields: inout ScenarioFields) throws(ScenarioError) {
        let calls = try fields.whole("calls", in: 1...10_000) ?? 1
        self.init(
            calls: calls, mostCalls: try fields.whole("most_calls", in: calls...10_000),
            atOnce: try fields.whole("at_once", in: 1...10_000) ?? 1,
            thinkSeconds: try fields.number("think_seconds", in: 0...3600) ?? 2)
    }
}

extension Scenario.Fault {
    fileprivate init(_ fields: inout ScenarioFields) throws(ScenarioError) {
        let kinds = [
            "gateway_down", "fleet_replaced", "control_plane_down", "telemetry_late", "clock_jump", "ledger_full",
            "telemetry_locked",
            "new_rules",
        ]
        switch try fields.requiredChoice("do", of: kinds) {
        case "gateway_down":
            self = .gatewayDown(
                try fields.whole("gateway", in: 0...255) ?? 0, during: try Scenario.Span(&fields),
                saysGoodbye: try fields.flag("goodbye") ?? false)
        case "fleet_replaced":
            self = .fleetReplaced(
                at: try fields.required("at", in: 0...1), saysGoodbye: try fields.flag("goodbye") ?? false)
        case "control_plane_down":
            self = .controlPlaneDown(try Scenario.Span(&fields))
        case "telemetry_late":
            self = .telemetryLate(
                seconds: try fields.required("by_seconds", in: 0...600), during: try Scenario.Span(&fields))
        case "clock_jump":
            self = .clockJump(
                gateway: try fields.whole("gateway", in: 0...255) ?? 0, at: try fields.required("at", in: 0...1),
                seconds: try fields.required("by_seconds", in: -86_400...86_400))
        case "ledger_full": self = .ledgerFull(try Scenario.Span(&fields))
        case "telemetry_locked": self = .telemetryLocked(try Scenario.Span(&fields))
        default:
            self = .newRules(
                at: try fields.required("at", in: 0...1),
                RuleChange(
                    nominalFactor: try fields.number("nominal_factor", in: 0.01...100) ?? 1,
                    tierSteps: try fields.whole("tier_steps", in: 0...100) ?? 0,
                    lapsed: try fields.whole("lapsed_every", in: 1...1000)))
        }
    }
}

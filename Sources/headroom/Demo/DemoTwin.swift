import HeadroomModel
import HeadroomSimulator

/// The demo's minutes without Headroom: the same arrivals against a twin of the provider, first come first served.
///
/// A gateway sends each call when it comes, or as soon as one of its connections is free. A refused call is tried again
/// after what the provider says, and no sooner than its backoff (half a second, doubled each time up to 8 s, half of it
/// drawn), until its caller's patience ends. That is what the clients of model providers do by themselves. All of it runs
/// ahead, in virtual time, by steps of 10 ms.
struct DemoTwin {
    private static let stepSeconds = 0.01
    private static let firstBackoffSeconds = 0.5
    private static let maxBackoffSeconds = 8.0

    private enum Event {
        case attempt(Call)
        case answer(Call)
    }

    private struct Call {
        let gateway: Int
        let arrival: DemoPlan.Arrival
        var attempt = 0
    }

    private let plan: DemoPlan
    private var model: ProviderModel
    private var generator: SeededGenerator
    /// By step.
    private var events: [[Event]]
    private var inFlight: [Int]
    /// Calls that wait for a connection, by gateway, in the order of arrival.
    private var waiting: [[Call]]
    private var mark: DemoMark

    private static let start = Timestamp(milliseconds: 0)

    /// How the arrivals of `plan` fare, every half second.
    static func marks(of plan: DemoPlan) -> [DemoMark] {
        var twin = DemoTwin(plan)
        return twin.run()
    }

    private init(_ plan: DemoPlan) {
        self.plan = plan
        model = ProviderModel(
            settings: plan.provider, start: DemoTwin.start,
            generator: SeededGenerator(seed: plan.seed, stream: "provider"))
        generator = SeededGenerator(seed: plan.seed, stream: "twin")
        events = Array(repeating: [], count: Int(plan.seconds / DemoTwin.stepSeconds) + 1)
        inFlight = Array(repeating: 0, count: plan.arrivals.count)
        waiting = Array(repeating: [], count: plan.arrivals.count)
        mark = DemoMark(seconds: 0, tenants: plan.roster.entries.count)
        for (gateway, arrivals) in plan.arrivals.enumerated() {
            for arrival in arrivals { at(arrival.seconds, .attempt(Call(gateway: gateway, arrival: arrival))) }
        }
    }

    private mutating func run() -> [DemoMark] {
        var marks: [DemoMark] = []
        let stepsAMark = Int(DemoTimeline.periodSeconds / DemoTwin.stepSeconds)
        for step in events.indices {
            let second = Double(step) * DemoTwin.stepSeconds
            for event in events[step] {
                switch event {
                case .attempt(let call): take(call, at: second)
                case .answer(let call): finish(call, at: second)
                }
            }
            events[step] = []
            if step.isMultiple(of: stepsAMark) {
                mark.seconds = second
                marks.append(mark)
            }
        }
        return marks
    }

    /// Arrivals after the end are left out.
    private mutating func at(_ second: Double, _ event: Event) {
        let step = Int((second / DemoTwin.stepSeconds).rounded(.up))
        if step < events.count { events[step].append(event) }
    }

    private mutating func take(_ call: Call, at second: Double) {
        if call.attempt == 0 { mark.tenants[call.arrival.tenant].offered += call.arrival.work }
        if inFlight[call.gateway] < DemoGateway.maxCallsInFlight {
            send(call, at: second)
        } else {
            waiting[call.gateway].append(call)
        }
    }

    private mutating func send(_ call: Call, at second: Double) {
        let answer = model.answer(
            inputTokens: call.arrival.inputTokens, outputTokens: call.arrival.outputTokens,
            now: DemoTwin.start.adding(seconds: second))
        if case .served = answer.verdict {
            inFlight[call.gateway] += 1
            at(second + answer.latencySeconds, .answer(call))
            return
        }
        mark.refusals += 1
        let most = min(
            DemoTwin.maxBackoffSeconds, DemoTwin.firstBackoffSeconds * Double(1 << min(call.attempt, 10)))
        let backoff = most * (0.5 + 0.5 * generator.drawUniform())
        let next = second + max(answer.retryAfterSeconds ?? 0, backoff)
        let criticality = plan.roster.entries[call.arrival.tenant].criticality
        guard next <= call.arrival.seconds + DemoPlan.patienceSeconds(criticality) else {
            mark.tenants[call.arrival.tenant].denied += 1
            return
        }
        var again = call
        again.attempt += 1
        at(next, .attempt(again))
    }

    private mutating func finish(_ call: Call, at second: Double) {
        mark.tenants[call.arrival.tenant].served += call.arrival.work
        inFlight[call.gateway] -= 1
        while inFlight[call.gateway] < DemoGateway.maxCallsInFlight, !waiting[call.gateway].isEmpty {
            send(waiting[call.gateway].removeFirst(), at: second)
        }
    }
}

/// The fate of the arrivals up to a second of the run, with Headroom or without.
struct DemoMark: Sendable {
    var seconds: Double
    /// In the order of ``Roster/entries``.
    var tenants: [DemoTally.Tenant]
    /// Attempts that the provider refused.
    var refusals = 0

    init(seconds: Double, tenants count: Int) {
        self.seconds = seconds
        tenants = Array(repeating: DemoTally.Tenant(), count: count)
    }

    /// The sum over gateways.
    init(seconds: Double, _ tallies: [DemoTally]) {
        self.init(seconds: seconds, tenants: tallies.first?.tenants.count ?? 0)
        for tally in tallies {
            for index in tenants.indices {
                tenants[index].offered += tally.tenants[index].offered
                tenants[index].served += tally.tenants[index].served
                tenants[index].denied += tally.tenants[index].denied
            }
            refusals += tally.refused
        }
    }
}

extension DemoPlan.Arrival {
    var work: Work {
        Work(
            requests: 1, tokens: Double(inputTokens + outputTokens), inputTokens: Double(inputTokens),
            outputTokens: Double(outputTokens))
    }
}

import HeadroomDecision
import HeadroomJSON
import HeadroomModel

/// `headroom allocate`: one allocation problem → who gets what (WireFormat §4.1).
enum AllocateCommand {
    static let help = """
        usage: headroom allocate [FILE]

        Reads one allocation problem, a JSON object, from FILE or standard input (-, or nothing), and writes the answer:
          {"capacity":{"rpm":1000,"tpm":1000000},
           "bands":[{"fill":"floor","tiers":["critical"]},{"fill":"floor"},
                    {"fill":"demand","criticality":"interactive"},{"fill":"demand"},{"fill":"ceiling"}],
           "tenants":[{"id":"a","tier":"premium","weight":4,"demand":{"rpm":50,"tpm":500000},
                       "floor":{"tpm":100000},"ceiling":{"rpm":400},"shape":{"rpm":1,"tpm":10000}}]}
        Rates are per minute: rpm, tpm, itpm, otpm; those that "capacity" does not name are ignored. Of a tenant only
        "id" is required: no floor, no demand, no ceiling, weight 1, tier "standard". "fill" is floor, floor_in_demand,
        demand or ceiling; without "bands": floors, demand (by criticality where "demand" is given so), ceilings.
        "demand" may be {"interactive":{…},"near_real_time":{…},"batch":{…}}; plain rates are interactive.

        In the answer, "level" is how far a band came, "saturated" the resource that stopped it; "fill" is exact,
        "limit" has what resources that are not full still had. Faults of the problem are all named; then the exit
        code is 1.
        """

    static func run(_ arguments: [String]) throws -> Int32 {
        let file = try Arguments(arguments, maxPositionals: 1).positionals.first ?? "-"
        switch AllocationProblem.read(try Terminal.read(file)) {
        case .failure(let faults):
            for fault in faults.list { Terminal.error(fault) }
            return 1
        case .success(let problem):
            for resource in problem.ignored.members {
                Terminal.error("\(resource.rateName) is ignored: \"capacity\" does not limit it")
            }
            var engine = FillEngine()
            Terminal.print(bytes: answer(engine.solve(problem.fill), to: problem))
            return 0
        }
    }

    private static func answer(_ result: FillResult, to problem: AllocationProblem) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("bands")
        writer.beginArray()
        for band in result.bands {
            writer.beginObject()
            writer.field("level", band.level)
            writer.key("saturated")
            if let saturated = band.saturated { writer.string(saturated.rateName) } else { writer.null() }
            writer.endObject()
        }
        writer.endArray()
        writer.key("tenants")
        writer.beginArray()
        for index in problem.order {
            let share = result.tenants[index]
            writer.beginObject()
            writer.field("id", problem.fill.tenants[index].id.text)
            writer.key("fill")
            write(share.fill, to: &writer)
            writer.key("limit")
            write(share.limit, to: &writer)
            writer.field("constraint", share.constraint.name)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        writer.newline()
        return writer.bytes
    }

    private static func write(_ rates: Rates, to writer: inout JSONWriter) {
        writer.beginObject()
        for resource in rates.resources.members {
            writer.key(resource.rateName)
            writer.number(rates[resource] ?? 0)
        }
        writer.endObject()
    }
}

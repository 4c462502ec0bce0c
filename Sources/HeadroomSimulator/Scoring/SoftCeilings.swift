import HeadroomDecision
import HeadroomModel

extension FillEngine {
    /// The problem's fills, one a tenant, where ceilings of some are soft: what nobody else has work for goes to those at
    /// theirs (Model §5.8).
    mutating func fills(_ problem: FillProblem, isSoft: (Int) -> Bool) -> [Rates] {
        let fills = solve(problem).tenants.map(\.fill)
        guard problem.tenants.indices.contains(where: { isSoft($0) && !problem.tenants[$0].ceiling.isEmpty }) else {
            return fills
        }
        var rest = problem
        rest.capacity = fills.reduce(problem.capacity) { left, fill in left.map { max(0, $1 - (fill[$0] ?? 0)) } }
        rest.bands = [FillBand(.demand)]
        for index in rest.tenants.indices {
            let fill = fills[index]
            rest.tenants[index].floor = .none
            rest.tenants[index].ceiling =
                isSoft(index) ? .none : problem.tenants[index].ceiling.map { max(0, $1 - (fill[$0] ?? 0)) }
            for criticality in Criticality.allCases {
                let demand = problem.tenants[index].demand[criticality]
                rest.tenants[index].demand[criticality] = demand.map { max(0, $1 - (fill[$0] ?? 0)) }
            }
        }
        return zip(fills, solve(rest).tenants).map { fill, more in
            fill.isEmpty ? fill : fill.map { $1 + (more.fill[$0] ?? 0) }
        }
    }
}

import HeadroomJSON
import HeadroomModel

/// The questions of one pool in short: how many there are, which way they go, and the largest.
package struct ProposalSummary: Equatable, Sendable {
    /// That are named.
    package static let maxMovers = 5

    /// `nil`: of overrides in all pools.
    package var pool: PoolID?
    package var count = 0
    /// Those that raise a tenant, and those that lower one.
    package var raised = 0
    package var lowered = 0
    /// The largest first.
    package var movers: [Int64] = []

    /// Ascending by pool.
    package static func summaries(of proposals: [Proposal]) -> [ProposalSummary] {
        Dictionary(grouping: proposals, by: \.pool).map { pool, proposals in
            var summary = ProposalSummary(pool: pool, count: proposals.count)
            let changes = proposals.map { (id: $0.id, size: size(of: $0)) }
            summary.raised = changes.count { $0.size > 0 }
            summary.lowered = changes.count { $0.size < 0 }
            summary.movers = changes.sorted { (-$0.size.magnitude, $0.id) < (-$1.size.magnitude, $1.id) }
                .prefix(maxMovers).map(\.id)
            return summary
        }.sorted { ($0.pool?.text ?? "") < ($1.pool?.text ?? "") }
    }

    /// By how much it changes its tenant: of its resources the one that changes by the largest amount. Negative lowers.
    private static func size(of proposal: Proposal) -> Double {
        proposal.to.resources.members.map { (proposal.to[$0] ?? 0) - (proposal.from[$0] ?? 0) }
            .max { $0.magnitude < $1.magnitude } ?? 0
    }
}

extension JSONWriter {
    mutating func proposalSummary(_ summary: ProposalSummary) {
        beginObject()
        field("pool", summary.pool?.text)
        field("count", summary.count)
        field("raised", summary.raised)
        field("lowered", summary.lowered)
        field("movers", each: summary.movers) { $0.integer($1) }
        endObject()
    }
}

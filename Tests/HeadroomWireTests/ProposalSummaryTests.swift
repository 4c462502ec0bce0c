import HeadroomModel
import HeadroomWire
import Testing

@Suite struct ProposalSummaryTests {
    private func proposal(_ id: Int64, _ pool: PoolID?, from: Rates, to: Rates) -> Proposal {
        Proposal(
            id: id, kind: .recommendation, tenant: "acme", pool: pool, from: from, to: to,
            authorship: Authorship(
                author: Authorship.automation, reason: "demand", at: Timestamp(milliseconds: 0),
                until: Timestamp(milliseconds: 1)))
    }

    @Test func `each pool has its count, which way its changes go, and the ids of the largest`() {
        let raised = (1...9).map { proposal(Int64($0), "b", from: Rates(tpm: 100), to: Rates(tpm: 100 + Double($0))) }
        let lowered = proposal(50, "b", from: Rates(rpm: 1, tpm: 100), to: Rates(rpm: 2, tpm: 94))
        let others = [
            proposal(60, "a", from: Rates(tpm: 5), to: Rates(tpm: 5)),
            proposal(61, nil, from: .none, to: .none),
        ]
        let summaries = ProposalSummary.summaries(of: raised + [lowered] + others)
        #expect(summaries.map(\.pool) == [nil, "a", "b"])
        #expect(summaries.map(\.count) == [1, 1, 10])
        #expect(summaries[2].raised == 9 && summaries[2].lowered == 1)
        // Of equal ones the older one first.
        #expect(summaries[2].movers == [9, 8, 7, 6, 50])
        #expect(summaries[1].raised == 0 && summaries[1].lowered == 0 && summaries[1].movers == [60])
    }
}

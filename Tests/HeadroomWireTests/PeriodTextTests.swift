import HeadroomModel
import HeadroomWire
import Testing

/// An hour of a pool whose provider halves its capacity, then fails for twelve minutes, while customer success raises a
/// tenant.
@Suite struct PeriodTextTests {
    /// 2026-11-22T14:00:00Z.
    private static let start = Timestamp(milliseconds: 1_795_356_000_000)

    private static func minute(_ minute: Int) -> Timestamp { start.adding(seconds: Double(minute) * 60) }

    private static func facts(tenant: TenantID? = "acme", strategic: Bool = true) -> PeriodFacts {
        let pools = (0..<60).map { minute in
            var rollup = PoolRollup(
                start: Self.minute(minute), pool: "openai:gpt-4o",
                sums: RollupSums {
                    let fails = (10..<22).contains(minute)
                    $0.ok = fails ? 10 : 100
                    $0.overload = fails ? 90 : 0
                    $0.quota = 4
                    $0.countedTokens = 100_000
                    $0.asked = AskedWork(requests: 150, tokens: 150_000)
                })
            rollup.capacity.observedSeconds = 60
            rollup.capacity.nominal = Rates(rpm: 1_000, tpm: 200_000)
            rollup.capacity.estimated = Rates(rpm: 1_000, tpm: minute < 30 ? 200_000 : 100_000)
            return rollup
        }
        let own = Rollup(
            start: start, tenant: "acme", pool: "openai:gpt-4o", criticality: .batch,
            sums: RollupSums {
                $0.ok = 900
                $0.quota = 60
                $0.overload = 40
                $0.denied = 30
                $0.deniedTokens = 45_000
                $0.countedTokens = 1_500_000
                $0.asked = AskedWork(requests: 1_200, tokens: 2_000_000)
                $0.activeSeconds = 3_000
                $0.assuredRequests = 1_000
                $0.assuredTokens = 1_750_000
                $0.waits = 900
                $0.waitedSeconds = 1_890
                $0.oldestQueuedSeconds = 45
                $0.starvedForDeliverySeconds = 420
            })
        func leader(_ name: TenantID, _ tokens: Int64) -> HistoryRecords.Leader {
            .init(
                tenant: name,
                rollups: [
                    Rollup(
                        start: start, tenant: name, pool: "openai:gpt-4o", criticality: .batch,
                        sums: RollupSums { $0.countedTokens = tokens })
                ])
        }
        let records = HistoryRecords(
            pools: pools, leaders: [leader("globex", 3_000_000), leader("acme", 1_500_000)], tenantCount: 5,
            events: [
                PoolEvent(at: Self.minute(2), kind: .policy, before: "default@aa", after: "default@bb"),
                PoolEvent(
                    at: Self.minute(30), pool: "openai:gpt-4o", kind: .capacity, subject: "tpm", before: "200000",
                    after: "100000"),
            ])
        func act(_ minute: Int, _ action: String, _ tenant: String) -> PersonsAct {
            PersonsAct(
                AuditEntry(
                    sequence: 1, at: Self.minute(minute), author: "anna", action: action,
                    detail: #"{"tenant":"\#(tenant)","pool":null,"reason":"renewal call"}"#, hash: ""))
        }
        return PeriodFacts(
            HistoryQuery(pool: "openai:gpt-4o", from: start, to: Self.minute(60), stepSeconds: 60), records,
            own: tenant == nil ? [] : [own], tenant: tenant,
            acts: [act(20, "override.set", "acme"), act(21, "override.set", "globex")],
            standing: tenant == nil
                ? nil : PeriodFacts.Standing(tier: "premium", strategicFactor: strategic ? 1.5 : nil))
    }

    @Test func `a tenant's hour is told with the outage, the others, and what people did`() {
        let told = PeriodText(Self.facts()).sentences
        #expect(
            told == [
                "From 2026-11-22 14:00 to 15:00 UTC, acme in openai:gpt-4o asked for 1,200 requests with 2,000,000 "
                    + "tokens and got 900 requests with 1,500,000 tokens, 75 % of the tokens.",
                "Calls that went through had waited 2.1 s on average; the longest wait in a queue was 45 s.",
                "Of its 1,000 attempts the provider refused 60 with 429 for quota (6 %), 40 for overload (4 %); gateways "
                    + "denied 30 calls (45,000 tokens).",
                "Its tier is premium, and its weight is multiplied by 1.5 as a strategic account.",
                "While it had work (50 min), it was assured 20 requests and 35,000 tokens a minute on average.",
                "It was starved: 7 min because it did not get what it was assured.",
                "The contract of openai:gpt-4o is 1,000 requests a minute and 200,000 tokens a minute; the provider "
                    + "delivered by estimate 1,000 requests a minute and 150,000 tokens a minute on average.",
                "The estimate was lowest at 2026-11-22 14:30 UTC: 100,000 tokens a minute, 50 % of the contract.",
                "Of all 6,240 attempts the provider refused 240 with 429 for quota (3.8 %), 1,080 for overload (17 %).",
                "From 2026-11-22 14:10 to 14:22 UTC the provider had an outage: 1,080 of 1,248 attempts failed with "
                    + "overload or errors of its own (87 %).",
                "Of the 6,000,000 tokens that the pool served: acme 25 %, globex 50 %, 3 others 25 %.",
                "At 2026-11-22 14:02 UTC the policy was edited: default@aa became default@bb.",
                "At 2026-11-22 14:30 UTC the capacity estimate went from 200,000 to 100,000 tokens a minute.",
                "At 2026-11-22 14:20 UTC anna set an override of acme: renewal call.",
                "At 2026-11-22 14:21 UTC anna set an override of globex: renewal call.",
            ])
    }

    @Test func `how long its agents' tasks took is told to both, in the words of each`() {
        func times(_ seconds: [Double], waited: Double = 0) -> TaskTimes {
            seconds.reduce(into: TaskTimes()) { times, taken in
                times.add(
                    task: TaskTimes.Sums {
                        $0.tasks = 1
                        $0.seconds = taken
                        $0.waitedSeconds = waited
                    })
            }
        }
        var facts = Self.facts()
        facts.tasks = [
            TaskTimesAnswer.Row(
                tenant: "acme", kind: "review", times: times([470, 470, 900], waited: 430),
                usual: times(Array(repeating: 41, count: 12))),
            TaskTimesAnswer.Row(tenant: "acme", kind: nil, times: times([4.25]), usual: TaskTimes()),
        ]
        #expect(
            PeriodText(facts).sentences[2]
                == "Of its agent tasks, over all pools, 3 tasks of kind review took 8 min in the median and 15 min at the 95th "
                + "percentile, 70 % of it waiting for quota; 41 s is usual; 1 task took 4.3 s.")
        #expect(
            PeriodTextForTenant(facts).sentences[2]
                == "Of your agents' tasks, 3 tasks of kind review took 8 min in the median and 15 min at the 95th percentile, "
                + "70 % of it waiting for the capacity that you share with others; 41 s is usual; 1 task took 4.3 s.")
    }

    @Test func `the text for the tenant names nobody else, has no jargon, and a unit on every number`() throws {
        let told = PeriodTextForTenant(Self.facts()).sentences
        #expect(
            told == [
                "From 2026-11-22 14:00 to 15:00 UTC you asked openai:gpt-4o for 1,200 requests with 2,000,000 tokens, "
                    + "and 900 requests with 1,500,000 tokens were completed: 75 % of the tokens.",
                "Completed requests waited 2.1 s on average before they were sent; the longest wait was 45 s.",
                "The provider turned away 10 % of 1,000 attempts: 60 attempts because the capacity that you share with "
                    + "others was used up, 40 attempts for reasons of its own. Such attempts are repeated, so not each of "
                    + "them is a failed request.",
                "30 requests with 45,000 tokens were turned back before they were sent, because your share was used up.",
                "While you had requests, 20 requests and 35,000 tokens a minute were reserved for you on average.",
                "Your account is a strategic one: where capacity is short, your share counts 1.5 times.",
                "The provider delivered 75 % of its usual capacity on average in this time, and 50 % at the lowest, at "
                    + "2026-11-22 14:30 UTC.",
                "From 2026-11-22 14:10 to 14:22 UTC the provider had an outage: 87 % of all attempts failed.",
                "At 2026-11-22 14:02 UTC the rules by which capacity is shared were edited.",
                "At 2026-11-22 14:20 UTC your priority was changed for a while.",
            ])
        let text = told.joined(separator: " ")
        let units = ["requests", "tokens", "attempts", "%", "s", "min", "h", "days", "times", "UTC", "to", "and"]
        for word in [
            "globex", "anna", "level", "429", "quota", "RPM", "TPM", "override", "tenant", "weight", "breaker",
        ] {
            #expect(!text.contains(word), "\(word)")
        }
        let words = text.split(separator: " ").map(String.init)
        for (word, next) in zip(words, words.dropFirst()) where word.first?.isNumber == true && word.last != "." {
            // A date is followed by its time.
            let isTime = word.contains(":") || next.first?.isNumber == true || word.contains("-")
            #expect(isTime || units.contains { next.hasPrefix($0) }, "\(word) \(next)")
        }
    }

    @Test func `a pool's story needs no tenant, and a quiet hour is told as one`() {
        let pool = PeriodText(Self.facts(tenant: nil)).sentences
        #expect(pool.contains { $0.hasPrefix("From 2026-11-22 14:00 to 15:00 UTC, All tenants") } == false)
        #expect(
            pool.contains(
                "From 2026-11-22 14:00 to 15:00 UTC, all tenants of openai:gpt-4o asked for 9,000 requests with "
                    + "9,000,000 tokens and got 4,920 requests with 6,000,000 tokens, 67 % of the tokens."))
        #expect(pool.contains("Of the 6,000,000 tokens that the pool served: globex 50 %, acme 25 %, 3 others 25 %."))
        let quiet = PeriodFacts(
            HistoryQuery(pool: "p", from: Self.start, to: Self.minute(90), stepSeconds: 60), HistoryRecords(),
            tenant: "acme")
        #expect(
            PeriodText(quiet).sentences == [
                "From 2026-11-22 14:00 to 15:30 UTC, acme in p asked for nothing.",
                "Nothing is recorded of the capacity of p in this time.",
            ])
        #expect(
            PeriodTextForTenant(quiet).sentences == [
                "From 2026-11-22 14:00 to 15:30 UTC we received no requests from you for p."
            ])
    }

    @Test func `a moment inside an outage is told so, and after an edit of the policy that as well`() {
        let text = PeriodText(Self.facts())
        let edited = "At 2026-11-22 14:02 UTC the policy was edited: default@aa became default@bb."
        #expect(text.circumstances(at: Self.minute(10)).count == 2)
        let last = text.circumstances(at: Self.minute(21).adding(seconds: 59))
        #expect(last.first?.contains("14:10 to 14:22 UTC") == true && last.last == edited)
        #expect(text.circumstances(at: Self.minute(22)) == [edited])
        #expect(text.circumstances(at: Self.minute(1)) == [])
    }
}

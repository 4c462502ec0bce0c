import HeadroomEnforcement
import HeadroomModel
import HeadroomSimulator
import Testing

@Suite struct AuditorTests {
    /// A defect of its kind, planted into a story in which all is well.
    private struct Defect: Sendable {
        let rule: AuditRule
        let name: String
        let plant: @Sendable (inout AuditedStory) -> Void

        init(_ rule: AuditRule, _ name: String, _ plant: @escaping @Sendable (inout AuditedStory) -> Void) {
            self.rule = rule
            self.name = name
            self.plant = plant
        }
    }

    @Test func `a story in which all is well breaks no rule`() {
        #expect(AuditedStory().violation == nil)
    }

    @Test func `a planted defect of each kind is found, and as what it is`() {
        for defect in AuditorTests.defects {
            var story = AuditedStory()
            defect.plant(&story)
            let found = story.violation
            #expect(found?.rule == defect.rule, "\(defect.name): \(found?.description ?? "nothing found")")
        }
    }

    @Test func `no rule is without a planted defect`() {
        #expect(Set(AuditorTests.defects.map(\.rule)) == Set(AuditRule.allCases))
    }

    @Test func `what the ledger could not take is accepted when it raises nothing and is written later`() {
        var story = AuditedStory()
        story.lower()
        story.written = [1, 3]
        #expect(story.violation?.rule == .ledger)
        story.writtenLate = [2]
        #expect(story.violation == nil)
    }

    @Test func `numbers of the term before may break newer promises while the loop learns, and no longer`() {
        for (seconds, rule) in [(4.0, nil), (12.0, AuditRule.weight)] {
            var story = AuditedStory()
            story.publications.removeLast()
            story.startsAgainAfterSeconds = seconds
            story.rules.policy.tiers[0].weight = 16
            story.rulesAtFirst = AuditedStory().rules
            #expect(story.violation?.rule == rule, "\(seconds)")
        }
    }

    @Test func `room may be left for gateways that are expected, by one that has its even part`() {
        for (budget, isRight) in [(500.0, true), (480, false)] {
            var story = AuditedStory()
            story.rules.policy.loop.expectedGateways = 2
            story.keepFirstGateway(budget: budget)
            #expect((story.violation == nil) == isRight, "\(budget): \(story.violation?.detail ?? "")")
        }
    }

    @Test func `a floor is kept when one resource of it is, and need not be when the floors do not fit`() {
        for (rpm, tpm, isKept) in [(100.0, 5_000.0, true), (50, 10_000, true), (50, 5_000, false)] {
            var story = AuditedStory()
            story.contract("a", floor: Rates(rpm: 100, tpm: 10_000))
            story.give("a", Rates(rpm: rpm, tpm: tpm))
            #expect((story.violation == nil) == isKept, "\(rpm) \(tpm)")
            story.contract("b", floor: Rates(rpm: 990, tpm: 1000))
            #expect(story.violation == nil)
        }
    }

    private static let defects: [Defect] = [
        Defect(.version, "the same number again") { $0.publications[1].renumber(5, 1) },
        Defect(.version, "a lower generation") { $0.publications[2].renumber(5, 1) },
        Defect(.version, "a number again in a later term") { $0.publications[2].renumber(6, 2) },
        Defect(.version, "a lower epoch") { $0.publications[2].renumber(4, 9) },
        Defect(.change, "a generation that changes nothing") {
            $0.publications[1] = $0.publications[0]
            $0.publications[1].renumber(5, 2)
        },
        Defect(.change, "only what rides along") {
            $0.publications[1] = $0.publications[0]
            $0.publications[1].renumber(5, 2)
            $0.editAll(1) { $0.tenants[0].serviceClock = 7 }
        },
        Defect(.ledger, "the first is not written") { $0.written = [2, 3] },
        Defect(.ledger, "a rise is not written") { $0.written = [1, 3] },
        Defect(.ledger, "another one is written") { $0.writesOthers = true },
        Defect(.order, "tenants swapped") { $0.editAll(1) { $0.tenants.swapAt(0, 1) } },
        Defect(.order, "a tenant twice") { $0.editAll(1) { $0.tenants[1].tenant = "a" } },
        Defect(.order, "gateways swapped") { $0.publications[1].parts.swapAt(0, 1) },
        Defect(.order, "a pool twice") { story in
            story.publications[1].whole.pools.append(story.publications[1].whole.pools[0])
        },
        Defect(.numbers, "half a request") { $0.edit(1) { $0.unlisted[.requests] = 9.5 } },
        Defect(.numbers, "not a number") { $0.edit(1) { $0.tenants[0].assured[.tokens] = .nan } },
        Defect(.numbers, "infinity") { $0.edit(1) { $0.tenants[0].ceiling[.tokens] = .infinity } },
        Defect(.numbers, "less than nothing") { $0.edit(1) { $0.tenants[0].safe[.tokens] = -1 } },
        Defect(.numbers, "a resource too few") { $0.edit(1) { $0.tenants[0].assured[.tokens] = nil } },
        Defect(.numbers, "a resource too many") { $0.edit(1) { $0.budget[.inputTokens] = 5 } },
        Defect(.numbers, "a weight of 0") { $0.edit(1) { $0.tenants[0].weight = 0 } },
        Defect(.budget, "one request more than the budget") { $0.edit(1) { $0.unlisted[.requests] = 151 } },
        Defect(.budget, "one too many at a gateway") {
            $0.editPart(1, 0) { $0.unlisted[.tokens] = 15_001 }
        },
        Defect(.capacity, "a budget above capacity") { $0.edit(1) { $0.capacity[.requests] = 999 } },
        Defect(.capacity, "float that is not there") { $0.edit(1) { $0.float[.requests] = 1 } },
        Defect(.capacity, "capacity above nominal") { $0.editAll(1) { $0.nominal[.tokens] = 99_999 } },
        Defect(.parts, "a budget that is lost") { $0.editPart(0, 0) { $0.budget[.requests] = 499 } },
        Defect(.parts, "a fallback handed out twice") { $0.edit(1) { $0.fallback[.requests] = 940 } },
        Defect(.parts, "a plain rate handed out twice") { $0.editPart(1, 1) { $0.tenants[2].plain[.requests] = 151 } },
        Defect(.parts, "a ceiling given whole to each") { story in
            for part in 0...1 { story.editPart(1, part) { $0.tenants[1].ceiling[.requests] = 600 } }
        },
        Defect(.parts, "an assured rate that is lost beside room for it") {
            $0.editPart(1, 0) { pool in
                pool.tenants[0].assured[.requests]! -= 2
                pool.tenants[0].criticality.interactive[.requests]! -= 2
            }
        },
        Defect(.parts, "a safe rate that is lost") { $0.editPart(1, 0) { $0.tenants[0].safe[.tokens]! -= 1 } },
        Defect(.parts, "half of the budget is nobody's, as nobody else is expected") { story in
            story.keepFirstGateway(budget: 500)
        },
        Defect(.membership, "a part of another generation") {
            $0.publications[1].parts[0].snapshot.version.generation = 9
        },
        Defect(.membership, "a part without a tenant") { $0.editPart(1, 0) { $0.tenants.removeLast() } },
        Defect(.membership, "a part with another weight") { $0.editPart(1, 0) { $0.tenants[0].weight = 9 } },
        Defect(.fallback, "more than its share") { $0.edit(1) { $0.fallback[.tokens] = 95_001 } },
        Defect(.fallback, "safe rates beyond it") { $0.editPart(1, 0) { $0.tenants[0].safe[.tokens] = 30_000 } },
        Defect(.criticality, "a request in no class") {
            $0.edit(1) { $0.tenants[0].criticality.batch[.requests] = 59 }
        },
        Defect(.ceiling, "assured above its own ceiling") {
            $0.editAll(1) { $0.tenants[1].ceiling[.requests] = 149 }
        },
        Defect(.ceiling, "a ceiling above the tier's") { story in
            story.rules.policy.tiers[2].ceilingShare = 0.4
        },
        Defect(.ceiling, "no ceiling where the contract has one") { story in
            story.contract("a", ceiling: Rates(rpm: 700))
        },
        Defect(.plain, "plain above its ceiling") { $0.editPart(1, 1) { $0.tenants[1].plain[.requests] = 301 } },
        Defect(.entry, "a customer left out") { story in
            story.contract("d", floor: Rates(rpm: 1, tpm: 1))
        },
        Defect(.tier, "another tier than the contract's") { $0.editAll(1) { $0.tenants[0].tier = "free" } },
        Defect(.tier, "a tier that nobody has") { $0.editAll(1) { $0.tenants[2].tier = "gold" } },
        Defect(.weight, "a strategic account like others") { $0.editAll(1) { $0.tenants[1].weight = 2 } },
        Defect(.floor, "an idle tenant without its floor") { story in
            story.contract("c", floor: Rates(rpm: 300, tpm: 30_000))
        },
        Defect(.decrease, "budgets that do not follow capacity") { $0.estimated = Rates(rpm: 999, tpm: 100_000) },
        Defect(.room, "a budget that rises before another gateway has come down") { story in
            story.editPart(1, 0) { $0.budget = Rates(rpm: 510, tpm: 51_000) }
            story.editPart(1, 1) { $0.budget = Rates(rpm: 490, tpm: 49_000) }
        },
        Defect(.application, "an older version") { $0.applied = [(3, 0, 3), (3, 0, 1)] },
        Defect(.application, "the whole in place of its part") { $0.appliesWhole = true },
        Defect(.application, "what is not published any more") { $0.applied = [(2, 0, 1), (3, 0, 1)] },
        Defect(.lease, "a second longer") { $0.leaseSeconds = 16 },
        Defect(.spending, "twice the budget for half a minute") { $0.requestsPerSecond = 20 },
        Defect(.spending, "a burst too many") { $0.burst = 60 },
        Defect(.spending, "more is returned than it has got") { $0.overflow = Work(requests: 60) },
        Defect(.spending, "what was drawn is not told of") { $0.tellsUsed = false },
        Defect(.float, "a grant out of nothing") { $0.returned = .zero },
        Defect(.float, "a grant of more than was returned") { $0.returned = Work(requests: 3, tokens: 40) },
        Defect(.float, "more calls than wait") { $0.waiting = 1 },
        Defect(.float, "a tenant that does not wait") { $0.granted.tenant = "b" },
        Defect(.float, "a total that does not add up") { $0.grantedTotal = Work(requests: 3, tokens: 150) },
        Defect(.float, "a draw of this term is refused") { $0.refusal.epoch = 5 },
        Defect(.float, "a pool that is published is unknown") { $0.refusal.0 = .unknownPool },
        Defect(.float, "a draw that is new is said to be overtaken") { $0.refusal.0 = .overtaken },
        Defect(.telemetry, "a record is never read") { $0.reads = [0..<5, 6..<10] },
        Defect(.telemetry, "a record is read twice") { $0.reads = [0..<5, 4..<10] },
        Defect(.telemetry, "the last ones are left") { $0.reads = [0..<5, 5..<8] },
        Defect(.telemetry, "a call counts twice") { $0.countedTwice = 1 },
    ]
}

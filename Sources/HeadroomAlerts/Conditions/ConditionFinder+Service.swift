import HeadroomModel

// What is wrong beside pools and tenants: gateways, questions to people, and the service itself.
extension ConditionFinder {
    func findGateways(_ seen: AlertObservation, _ found: inout FoundConditions) {
        let loop = seen.rules.policy.loop
        for gateway in seen.gateways where !gateway.presence.hasLeft {
            let name = gateway.presence.gateway
            let silence = seen.at.seconds(since: gateway.presence.lastSeen)
            if silence > loop.vanishedSeconds {
                found.add(AlertKey(.gatewayLost)) {
                    let withheld = (seen.report?.withheld ?? []).filter { $0.gateway == name }
                    let kept = withheld.map { "\(RateText.sentence($0.rates)) of \($0.pool)" }.joined(separator: ", ")
                    let cost = withheld.isEmpty ? "" : " Until it is given up, \(kept) are withheld for it."
                    return seen.member(
                        named: name.text, since: gateway.presence.lastSeen, .warning,
                        "\(name) has not been heard of since \(gateway.presence.lastSeen.sentence).\(cost)",
                        withheld.isEmpty
                            ? nil
                            : AlertRecommendation(
                                "If its process has ended, release what is withheld for it.", .releaseGateway(name)))
                }
                continue
            }
            // Lease and grace are the time within which it must have another snapshot.
            guard gateway.driftSeconds > 0.5 * loop.vanishedSeconds else { continue }
            found.add(AlertKey(.drift), isFiring: gateway.driftSeconds > loop.vanishedSeconds) {
                let applied = gateway.presence.applied.map { "generation \($0)" } ?? "no generation that it names"
                return seen.member(
                    named: name.text, .warning,
                    "\(name) polls, but enforces \(applied), which was replaced at "
                        + "\(seen.at.adding(seconds: -gateway.driftSeconds).sentence).",
                    AlertRecommendation(
                        "Look at its log: it does not load what it polls, or does not say so (applied=)."))
            }
        }
    }

    func findQuestions(_ seen: AlertObservation, _ found: inout FoundConditions) {
        for proposal in seen.rules.steering.proposals {
            let word = proposal.kind == .recommendation ? "Recommendation" : "Approval"
            let tenants = proposal.subjects
            let tenant = tenants.count == 1 ? tenants[0] : Proposal.allTenants
            let subject =
                proposal.kind == .contracts
                ? proposal.tenant == Proposal.allTenants ? "an import of contracts" : "the contract of \(tenant)"
                : (tenants.count == 1 ? tenant.text : "\(tenants.count) tenants")
                    + (proposal.pool.map { " in \($0)" } ?? "")
            let isPending = proposal.state == .pending
            let end = (isPending ? proposal.authorship : proposal.decision ?? proposal.authorship).until
            let left = end.seconds(since: seen.at)
            // Whether yes or no is right is not for an alert to say, and its text has no room for all that is asked for.
            let list = proposal.kind == .recommendation ? "recommendations" : "approvals"
            let decide = AlertRecommendation("Read it and decide: headroom \(list) show \(proposal.id).")
            if isPending, seen.at.seconds(since: proposal.authorship.at) >= seen.policy.waitingSeconds {
                found.add(AlertKey(.approvalWaiting, pool: proposal.pool)) {
                    return seen.member(
                        named: "\(proposal.id)", tenant: tenant, since: proposal.authorship.at, .warning,
                        "\(word) \(proposal.id) for \(subject) has waited for a person since \(proposal.authorship.at.sentence).",
                        decide)
                }
            }
            guard proposal.state == .pending || proposal.state == .approved, left <= seen.policy.endingSeconds,
                // Of one that was short from the start nobody needs to be reminded.
                end.seconds(since: (proposal.decision ?? proposal.authorship).at) > 2 * seen.policy.endingSeconds
            else { continue }
            found.add(AlertKey(.approvalEnding, pool: proposal.pool)) {
                let what = isPending ? "nobody has decided on it" : "its change will be taken back"
                return seen.member(
                    named: "\(proposal.id)", tenant: tenant, .info,
                    "\(word) \(proposal.id) for \(subject) ends at "
                        + "\(end.sentence): \(what).",
                    isPending ? decide : nil)
            }
        }
    }

    func findService(_ seen: AlertObservation, _ found: inout FoundConditions) {
        for (place, delay) in seen.delays.enumerated() {
            found.add(AlertKey(.loopLate)) {
                seen.member(named: "\(place + 1)", .warning, "The control loop is late: \(delay).")
            }
        }
        for failure in seen.report?.failures ?? [] {
            found.add(AlertKey(.loopFailing)) {
                seen.member(
                    named: failure.stage.rawValue, .critical,
                    "The control loop fails to \(failure.stage.rawValue): \(failure.message). What was decided last stays."
                )
            }
        }
        if seen.report?.isLedgerWritable == false {
            found.add(AlertKey(.loopFailing)) {
                seen.member(
                    named: "ledger", .critical,
                    "The ledger cannot be written: decreases are published from memory, and nothing rises.")
            }
        }
        for unknown in seen.unknownNames {
            found.add(AlertKey(.unknownName)) {
                seen.member(
                    named: unknown.name, tenant: unknown.tenant, since: unknown.since, .warning, unknown.sentence)
            }
        }
        for trouble in seen.troubles {
            found.add(AlertKey(.service)) {
                seen.member(named: trouble.name, trouble.isFatal ? .critical : .warning, trouble.sentence)
            }
        }
        for sink in seen.failingSinks {
            found.add(AlertKey(.sinkFailing)) { seen.member(named: sink.name, .warning, sink.sentence) }
        }
        if let refusal = seen.report?.rulesRefusal {
            found.add(AlertKey(.policyRejected)) {
                seen.member(
                    .warning, "The policy in force is not the newest: \(refusal)",
                    AlertRecommendation("Mend the files; headroom policy check lists every fault."))
            }
        }
        if let disk = seen.disk, disk.totalBytes > 0 {
            let share = disk.freeBytes / disk.totalBytes
            let least = seen.policy.diskShare
            if share < 1.2 * least {
                found.add(AlertKey(.diskFull), isFiring: share < least) {
                    seen.member(
                        share < 0.3 * least ? .critical : .warning,
                        "The disk of the database is nearly full: \(GroupedNumber.percent(share)) of it is free "
                            + "(\(GroupedNumber.whole(disk.freeBytes / 1e6)) MB). When it is full, telemetry is refused.",
                        AlertRecommendation("Free some space, or keep less: telemetry.raw_hours and ledger_bytes."))
                }
            }
        }
        if let end = seen.certificateEnds {
            let days = end.seconds(since: seen.at) / 86_400
            if days < seen.policy.certificateDays {
                found.add(AlertKey(.certificateEnding)) {
                    seen.member(
                        days < 2 ? .critical : .warning,
                        days <= 0
                            ? "The service's certificate has ended: gateways refuse to connect."
                            : "The service's certificate ends at "
                                + "\(end.sentence).")
                }
            }
        }
    }
}

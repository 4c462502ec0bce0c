/// The scenarios that come with Headroom, as a user's own would be written.
///
/// Letters in brackets are control-law's names. Capacity there was 0.8 × the mean demand in a, e, e2 and h, so that there
/// is never enough, and 1.0 in the others, which real traces overload all the same, being bursty.
package enum ScenarioLibrary {
    package static let sources: [StaticString] = [
        #"""
        {
          name: "steady-shortage", capacity: 0.8,
          intent: "[a] A fifth of the demand can never be served: is what there is divided as the policy says?",
        }
        """#,
        #"""
        {
          name: "silent-drop", capacity: 1.0,
          intent: "[b] The provider halves what it grants for a quarter of the run and its headers go on telling the contract: how soon is it found, who pays, and how soon is it back?",
          provider: { headers: "stale", grants: [{ from: 0.35, to: 0.6, factor: 0.5 }] },
        }
        """#,
        #"""
        {
          name: "told-drop", capacity: 1.0,
          intent: "[bt] The same drop, told by the headers at once.",
          provider: { headers: "true", grants: [{ from: 0.35, to: 0.6, factor: 0.5 }] },
        }
        """#,
        #"""
        {
          name: "mute-drop", capacity: 1.0,
          intent: "The same drop at a provider without headers.",
          provider: { headers: "none", grants: [{ from: 0.35, to: 0.6, factor: 0.5 }] },
        }
        """#,
        #"""
        {
          name: "shared-account", capacity: 1.0,
          intent: "Two fifths of the account's limit go to somebody else for a quarter of the run; headers tell the account's limit, and that less of it remains.",
          provider: { headers: "true", others: [{ from: 0.35, to: 0.6, share: 0.4 }] },
        }
        """#,
        #"""
        {
          name: "fixed-window", capacity: 1.0,
          intent: "[b] at a provider that counts by the clock's minute: a minute's limit passes at once, and then nothing until the next.",
          provider: { headers: "true", metering: "fixed_window", grants: [{ from: 0.35, to: 0.6, factor: 0.5 }] },
        }
        """#,
        #"""
        {
          name: "sliding-window", capacity: 1.0,
          intent: "[b] at a provider that counts the last sixty seconds.",
          provider: { headers: "true", metering: "sliding_window", grants: [{ from: 0.35, to: 0.6, factor: 0.5 }] },
        }
        """#,
        #"""
        {
          name: "square-wave", capacity: 1.0,
          intent: "[c] Capacity swings by 20 % every half minute: does the estimate follow, and do limits stay calm?",
          provider: { wave: { amplitude: 0.2, period_seconds: 60 } },
        }
        """#,
        #"""
        {
          name: "noisy-neighbour", capacity: 1.0,
          intent: "[d] One tenant's work grows tenfold within two minutes: do the others notice?",
          changes: [{ do: "multiply", by: 10, rank: 5, from: 0.25, to: 0.75, ramp_seconds: 120 }],
        }
        """#,
        #"""
        {
          name: "resent-denials", capacity: 0.8,
          intent: "[e] One tenant sends whatever it is denied again as new work: does it gain?",
          changes: [{ do: "resend_denied", rank: 3, times: 5 }],
        }
        """#,
        #"""
        {
          name: "junk", capacity: 0.8,
          intent: "[e2] One tenant really sends three times its work for nothing: does it gain, and who pays?",
          changes: [{ do: "junk", by: 3, rank: 3, from: 0.25 }],
        }
        """#,
        #"""
        {
          name: "overload", capacity: 1.0,
          intent: "[f] The provider answers half of all calls with 529 for two minutes: is the quota's estimate left alone?",
          provider: { overloads: [{ from: 0.5, seconds: 120, share: 0.5 }] },
        }
        """#,
        #"""
        {
          name: "failover", capacity: 1.0,
          intent: "The provider of one pool answers everything with 529 for five minutes: its breaker opens, and its work lands on another pool, where a third of the tenants are at home and keep their floors.",
          provider: { overloads: [{ from: 0.4, seconds: 300, share: 1 }] },
          failover: { capacity: 1.5, every: 3 },
        }
        """#,
        #"""
        {
          name: "new-tenants", capacity: 1.0,
          intent: "[g] A quarter of the tenants comes half-way: are they served from their first minute on?",
          changes: [{ do: "silence", every: 4, to: 0.5 }],
        }
        """#,
        #"""
        {
          name: "lender-returns", capacity: 0.8,
          intent: "[h] The largest tenant, idle so far and lending its share, comes back: how soon has it what it is due?",
          changes: [{ do: "silence", rank: 0, to: 0.5 }],
        }
        """#,
        #"""
        {
          name: "agent-storm", capacity: 4.0,
          intent: "Monday morning: 200 users of one tenant start an agent each within ten minutes, 80 calls a task. Do the tasks complete, and is everyone else's interactive work served meanwhile?",
          // An agent waits for an answer as long as its library does: ten minutes.
          clients: { patience_seconds: { near_real_time: 600 } },
          changes: [
            { do: "tasks", users: 200, calls: 80, at_once: 8, sub_agents: true, rank: 4, from: 0.1, within_seconds: 600 },
          ],
        }
        """#,
        #"""
        {
          name: "night-batch", capacity: 1.0,
          intent: "Batch work grows to three times itself while the interactive work of the day goes on: no interactive work may wait for it.",
          changes: [{ do: "multiply", by: 3, criticality: "batch", from: 0.3, ramp_seconds: 60 }],
        }
        """#,
        #"""
        {
          name: "retry-storm", capacity: 1.0,
          intent: "Capacity halves for five minutes, and every client sends what it is denied again on the next full ten seconds, all at once.",
          provider: { grants: [{ from: 0.4, seconds: 300, factor: 0.5 }] },
          changes: [{ do: "resend_denied", times: 3, in_step: true }],
        }
        """#,
        #"""
        {
          name: "gateway-lost", capacity: 1.0,
          intent: "One of four gateways dies for five minutes and comes back empty; its traffic goes to the others at once.",
          faults: [{ do: "gateway_down", gateway: 1, from: 0.4, seconds: 300 }],
        }
        """#,
        #"""
        {
          name: "control-plane-restart", capacity: 1.0,
          intent: "Headroom is killed and back after five seconds, within the lease.",
          faults: [{ do: "control_plane_down", from: 0.5, seconds: 5 }],
        }
        """#,
        #"""
        {
          name: "control-plane-gone", capacity: 1.0,
          intent: "Headroom is gone for five minutes: leases run out, and gateways live on their fallbacks.",
          faults: [{ do: "control_plane_down", from: 0.5, seconds: 300 }],
        }
        """#,
        #"""
        {
          name: "late-telemetry", capacity: 1.0,
          intent: "Reports take thirty seconds, and capacity halves meanwhile.",
          provider: { grants: [{ from: 0.35, to: 0.6, factor: 0.5 }] },
          network: { telemetry_delay_seconds: 30 },
        }
        """#,
        #"""
        {
          name: "clock-jump", capacity: 1.0,
          intent: "The wall clocks of two gateways jump by an hour, one forward, one back.",
          faults: [
            { do: "clock_jump", gateway: 0, at: 0.4, by_seconds: 3600 },
            { do: "clock_jump", gateway: 1, at: 0.6, by_seconds: -3600 },
          ],
        }
        """#,
        #"""
        {
          name: "model-version", capacity: 1.0,
          intent: "A new version of the model halves what the provider grants, for good; one gateway reports the change.",
          provider: { version_change: { from: 0.5, factor: 0.5 } },
        }
        """#,
        #"""
        {
          name: "wild-estimates", capacity: 0.8,
          intent: "Callers ask for five to ten times the output that they get: gateways must learn the correction.",
          clients: { max_tokens_factor: { least: 5, most: 10 } },
        }
        """#,
        #"""
        {
          name: "lost-polls", capacity: 1.0,
          intent: "[b] with polls that take up to ten seconds, and a tenth of them lost.",
          provider: { grants: [{ from: 0.35, to: 0.6, factor: 0.5 }] },
          network: { poll_lag_seconds: 10, lost_polls: 0.1 },
        }
        """#,
        #"""
        {
          name: "counted-refusals", capacity: 1.0,
          intent: "[b] at a provider that charges refused attempts: without restraint refusals feed on themselves.",
          provider: { counts_refused: true, grants: [{ from: 0.35, to: 0.6, factor: 0.5 }] },
        }
        """#,
    ]

    /// The scoreboard's `--quick`: shortage, loss and a neighbour, which tell most laws apart.
    package static let quick = ["steady-shortage", "silent-drop", "noisy-neighbour"]

    package static let all: [Scenario] = sources.map { source in
        do throws(ScenarioError) {
            return try Scenario.read(Array("\(source)".utf8))
        } catch {
            preconditionFailure("a scenario that comes with Headroom cannot be read: \(error.message)")
        }
    }

    package static func named(_ name: String) -> Scenario? { all.first { $0.name == name } }
}

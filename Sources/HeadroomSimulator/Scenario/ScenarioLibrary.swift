/// The scenarios that come with Headroom: files of `Scenarios`, embedded, as a user's own would be written.
///
/// Letters in brackets are the names in the study behind ControlLaw. Capacity there was 0.8 × the mean demand in a, e, e2 and h, so that there
/// is never enough, and 1.0 in the others, which real traces overload all the same, being bursty.
package enum ScenarioLibrary {
    private static let sources: [[UInt8]] = [
        PackageResources.steady_shortage_json5,
        PackageResources.silent_drop_json5,
        PackageResources.told_drop_json5,
        PackageResources.mute_drop_json5,
        PackageResources.shared_account_json5,
        PackageResources.fixed_window_json5,
        PackageResources.sliding_window_json5,
        PackageResources.square_wave_json5,
        PackageResources.noisy_neighbour_json5,
        PackageResources.resent_denials_json5,
        PackageResources.junk_json5,
        PackageResources.overload_json5,
        PackageResources.failover_json5,
        PackageResources.new_tenants_json5,
        PackageResources.lender_returns_json5,
        PackageResources.agent_storm_json5,
        PackageResources.night_batch_json5,
        PackageResources.morning_json5,
        PackageResources.retry_storm_json5,
        PackageResources.gateway_lost_json5,
        PackageResources.fleet_replaced_json5,
        PackageResources.control_plane_restart_json5,
        PackageResources.control_plane_gone_json5,
        PackageResources.late_telemetry_json5,
        PackageResources.clock_jump_json5,
        PackageResources.model_version_json5,
        PackageResources.wild_estimates_json5,
        PackageResources.lost_polls_json5,
        PackageResources.counted_refusals_json5,
        PackageResources.sixteen_gateways_json5,
        PackageResources.many_gateways_json5,
        PackageResources.lengths_by_gateway_json5,
        PackageResources.moving_tenants_json5,
        PackageResources.very_many_gateways_json5,
        PackageResources.short_burst_json5,
        PackageResources.long_burst_json5,
    ]

    /// The scoreboard's `--quick`: shortage, loss and a neighbour, which tell most laws apart.
    package static let quick = ["steady-shortage", "silent-drop", "noisy-neighbour"]

    /// Run by the scoreboard only when they are named: with 256 gateways a run takes as long as many others.
    package static let slow = ["very-many-gateways"]

    package static let all: [Scenario] = sources.map { source in
        do throws(ScenarioError) {
            return try Scenario.read(source)
        } catch {
            preconditionFailure("a scenario that comes with Headroom cannot be read: \(error.message)")
        }
    }

    package static func named(_ name: String) -> Scenario? { all.first { $0.name == name } }
}

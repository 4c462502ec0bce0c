// swift-tools-version: 6.2
import PackageDescription

/// Every target is written for Swift 6 with strict memory safety. Warnings are errors in CI only: a newer
/// toolchain must not break the people who build Headroom.
let settings: [SwiftSetting] =
    [.swiftLanguageMode(.v6), .strictMemorySafety()]
    + (Context.environment["CI"] == nil ? [] : [.treatAllWarnings(as: .error)])

/// Access is `package`: only `HeadroomClient` is a library for others, with a documented API. `HeadroomModel`, the decisions
/// and `HeadroomEnforcement` are `public` all the same, since Swift 6.3 inlines and specializes nothing that is `package`
/// in another module, and every hot loop is made of their values (simulator -20 %, decision -10 %).
func library(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []) -> Target {
    .target(name: name, dependencies: dependencies, resources: resources, swiftSettings: settings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: settings)
}

let package = Package(
    name: "Headroom",
    products: [
        .executable(name: "headroom", targets: ["headroom"]),
        .library(name: "HeadroomClient", targets: ["HeadroomClient"]),
    ],
    traits: [
        .trait(
            name: "PostgreSQL",
            description: "The database may be a PostgreSQL server, by libpq; the default build needs nothing of it.")
    ],
    dependencies: [],
    targets: [
        // C libraries, as the system has them.
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CMicroHTTPD", pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),
        .systemLibrary(name: "CGnuTLS", pkgConfig: "gnutls", providers: [.apt(["libgnutls28-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),

        // Words and bytes.
        library("HeadroomJSON", []),
        library("HeadroomModel", []),
        library("HeadroomWire", ["HeadroomModel", "HeadroomJSON"]),
        library("HeadroomPolicy", ["HeadroomModel", "HeadroomJSON", "HeadroomProviders"]),
        library("HeadroomProviders", ["HeadroomModel", "HeadroomJSON"]),

        // Decisions: pure, no clock, no I/O.
        library("HeadroomCapacity", ["HeadroomModel"]),
        library("HeadroomDemand", ["HeadroomModel"]),
        library("HeadroomDecision", ["HeadroomModel"]),
        library("HeadroomEnforcement", ["HeadroomModel"]),
        library("HeadroomAlerts", ["HeadroomModel", "HeadroomJSON"]),

        // The loop, and what it stands between.
        library(
            "HeadroomLoop",
            ["HeadroomModel", "HeadroomCapacity", "HeadroomDemand", "HeadroomDecision", "HeadroomEnforcement"]),
        library(
            "HeadroomStorage",
            [
                "HeadroomModel", "CSQLite", "CGnuTLS",
                .target(name: "CPostgreSQL", condition: .when(traits: ["PostgreSQL"])),
            ],
            resources: [
                .embedInCode("../../migrations/0001_create_telemetry.sql"),
                .embedInCode("../../migrations/0002_create_deduplication.sql"),
                .embedInCode("../../migrations/0003_create_contract.sql"),
                .embedInCode("../../migrations/0004_create_api_token.sql"),
                .embedInCode("../../migrations/0005_create_snapshot.sql"),
                .embedInCode("../../migrations/0006_create_sent_budget.sql"),
                .embedInCode("../../migrations/0007_create_audit.sql"),
                .embedInCode("../../migrations/0008_create_steering.sql"),
                .embedInCode("../../migrations/0009_create_decision_record.sql"),
                .embedInCode("../../migrations/0010_create_rollup.sql"),
                .embedInCode("../../migrations/0011_create_erasure.sql"),
                .embedInCode("../../migrations/0012_create_erased_tenant.sql"),
                .embedInCode("../../migrations/0013_create_contract_cost.sql"),
                .embedInCode("../../migrations/0014_create_audit_head.sql"),
                .embedInCode("../../migrations/0015_add_batch_digest.sql"),
                .embedInCode("../../migrations/0016_create_clock_mark.sql"),
                .embedInCode("../../migrations/0017_set_application_id.sql"),
                .embedInCode("../../migrations/0018_create_pool_history.sql"),
                .embedInCode("../../migrations/0019_create_alert.sql"),
                .embedInCode("../../migrations/0020_add_checkpoint_floats.sql"),
                .embedInCode("../../migrations/0021_add_service_levels.sql"),
                .embedInCode("../../migrations/0022_create_use_sum.sql"),
                .embedInCode("../../migrations/0023_add_audit_head_mac.sql"),
                .embedInCode("../../migrations/0024_add_cost_breaker.sql"),
                .embedInCode("../../migrations/0025_expire_single_proposals.sql"),
                .embedInCode("../../migrations/0026_add_cached_input_price.sql"),
                .embedInCode("../../migrations/0027_add_token_maker.sql"),
                .embedInCode("../../migrations/0028_create_alert_delivery.sql"),
                .embedInCode("../../migrations/0029_create_task_ruling.sql"),
                .embedInCode("../../migrations/0030_add_alert_outcome.sql"),
                .embedInCode("../../migrations/0031_count_asked_work.sql"),
                .embedInCode("../../migrations/0032_create_task_time.sql"),
            ]),
        library(
            "HeadroomHTTP",
            [
                "HeadroomModel", "HeadroomJSON", "HeadroomWire", "HeadroomPolicy", "HeadroomDashboard", "CGnuTLS",
                "CMicroHTTPD", "CZlib",
            ]),

        // The files that a browser loads from `/`.
        library("HeadroomDashboard", []),

        // The library that gateways link: allocations in, telemetry out, and whose turn it is.
        library(
            "HeadroomClient",
            ["HeadroomModel", "HeadroomWire", "HeadroomEnforcement", "HeadroomProviders"]),

        // The client for programs in other languages.
        library(
            "HeadroomGate",
            [
                "HeadroomModel", "HeadroomJSON", "HeadroomWire", "HeadroomEnforcement", "HeadroomClient",
                "HeadroomHTTP",
            ]),

        // The storage ports in memory, for the simulator and for tests.
        library("HeadroomMemoryStores", ["HeadroomModel"]),

        // The same four actors on virtual time, against models of providers, gateways and tenants.
        library(
            "HeadroomSimulator",
            [
                "HeadroomModel", "HeadroomJSON", "HeadroomDecision", "HeadroomEnforcement", "HeadroomLoop",
                "HeadroomMemoryStores", "HeadroomProviders",
            ],
            resources: [
                .embedInCode("Scenarios/steady-shortage.json5"),
                .embedInCode("Scenarios/silent-drop.json5"),
                .embedInCode("Scenarios/told-drop.json5"),
                .embedInCode("Scenarios/mute-drop.json5"),
                .embedInCode("Scenarios/shared-account.json5"),
                .embedInCode("Scenarios/fixed-window.json5"),
                .embedInCode("Scenarios/sliding-window.json5"),
                .embedInCode("Scenarios/square-wave.json5"),
                .embedInCode("Scenarios/noisy-neighbour.json5"),
                .embedInCode("Scenarios/resent-denials.json5"),
                .embedInCode("Scenarios/junk.json5"),
                .embedInCode("Scenarios/overload.json5"),
                .embedInCode("Scenarios/failover.json5"),
                .embedInCode("Scenarios/new-tenants.json5"),
                .embedInCode("Scenarios/lender-returns.json5"),
                .embedInCode("Scenarios/agent-storm.json5"),
                .embedInCode("Scenarios/night-batch.json5"),
                .embedInCode("Scenarios/morning.json5"),
                .embedInCode("Scenarios/retry-storm.json5"),
                .embedInCode("Scenarios/gateway-lost.json5"),
                .embedInCode("Scenarios/fleet-replaced.json5"),
                .embedInCode("Scenarios/control-plane-restart.json5"),
                .embedInCode("Scenarios/control-plane-gone.json5"),
                .embedInCode("Scenarios/late-telemetry.json5"),
                .embedInCode("Scenarios/clock-jump.json5"),
                .embedInCode("Scenarios/model-version.json5"),
                .embedInCode("Scenarios/wild-estimates.json5"),
                .embedInCode("Scenarios/lost-polls.json5"),
                .embedInCode("Scenarios/counted-refusals.json5"),
                .embedInCode("Scenarios/sixteen-gateways.json5"),
                .embedInCode("Scenarios/many-gateways.json5"),
                .embedInCode("Scenarios/lengths-by-gateway.json5"),
                .embedInCode("Scenarios/moving-tenants.json5"),
                .embedInCode("Scenarios/very-many-gateways.json5"),
                .embedInCode("Scenarios/short-burst.json5"),
                .embedInCode("Scenarios/long-burst.json5"),
            ]),

        .executableTarget(
            name: "headroom",
            dependencies: [
                "HeadroomModel", "HeadroomJSON", "HeadroomWire", "HeadroomPolicy", "HeadroomProviders",
                "HeadroomDecision", "HeadroomEnforcement", "HeadroomAlerts", "HeadroomLoop", "HeadroomStorage",
                "HeadroomHTTP", "HeadroomSimulator", "HeadroomClient", "HeadroomGate", "CGnuTLS",
            ],
            // What `headroom init` writes is what stands in policies/.
            resources: [.embedInCode("../../policies/rules.json5")],
            swiftSettings: settings),
        .executableTarget(
            name: "HeadroomBenchmarks",
            dependencies: [
                "HeadroomModel", "HeadroomWire", "HeadroomDecision", "HeadroomEnforcement", "HeadroomLoop",
                "HeadroomStorage", "HeadroomHTTP", "HeadroomSimulator", "HeadroomClient", "HeadroomGate",
            ],
            swiftSettings: settings),

        // What libFuzzer calls (.ci/fuzz). A library, since libFuzzer brings `main`.
        .target(
            name: "HeadroomFuzz",
            dependencies: [
                "HeadroomModel", "HeadroomJSON", "HeadroomWire", "HeadroomPolicy", "HeadroomProviders",
                "HeadroomEnforcement", "HeadroomHTTP", "HeadroomClient", "HeadroomGate",
            ],
            exclude: ["Dictionaries", "Seeds"], swiftSettings: settings),

        tests("HeadroomJSONTests", ["HeadroomJSON", "HeadroomModel"]),
        tests("HeadroomModelTests", ["HeadroomModel"]),
        tests("HeadroomWireTests", ["HeadroomWire", "HeadroomProviders", "HeadroomJSON", "HeadroomModel"]),
        tests("HeadroomPolicyTests", ["HeadroomPolicy", "HeadroomModel"]),
        tests("HeadroomProvidersTests", ["HeadroomProviders", "HeadroomJSON", "HeadroomModel"]),
        tests("HeadroomCapacityTests", ["HeadroomCapacity", "HeadroomPolicy", "HeadroomModel"]),
        // With decisions: what a tenant claims is tested by what it gets.
        tests("HeadroomDemandTests", ["HeadroomDemand", "HeadroomDecision", "HeadroomModel"]),
        tests("HeadroomDecisionTests", ["HeadroomDecision", "HeadroomModel"]),
        tests("HeadroomEnforcementTests", ["HeadroomEnforcement", "HeadroomModel"]),
        tests("HeadroomAlertsTests", ["HeadroomAlerts", "HeadroomModel"]),
        tests("HeadroomClientTests", ["HeadroomClient", "HeadroomEnforcement", "HeadroomModel"]),
        tests(
            "HeadroomGateTests",
            ["HeadroomGate", "HeadroomClient", "HeadroomHTTP", "HeadroomJSON", "HeadroomEnforcement", "HeadroomModel"]),
        tests("HeadroomLoopTests", ["HeadroomLoop", "HeadroomMemoryStores", "HeadroomModel"]),
        tests(
            "HeadroomStorageTests",
            ["HeadroomStorage", "HeadroomMemoryStores", "HeadroomLoop", "HeadroomWire", "HeadroomModel"]),
        tests(
            "HeadroomHTTPTests",
            [
                "HeadroomHTTP", "HeadroomDashboard", "HeadroomDecision", "HeadroomMemoryStores", "HeadroomEnforcement",
                "HeadroomWire", "HeadroomJSON", "HeadroomModel", "CZlib",
            ]),
        // Runs the built program, as its users do.
        tests(
            "HeadroomCommandTests",
            ["headroom", "HeadroomClient", "HeadroomModel", "HeadroomJSON", "HeadroomStorage", "CGnuTLS"]),
        tests(
            "HeadroomSimulatorTests",
            [
                "HeadroomSimulator", "HeadroomModel", "HeadroomDemand", "HeadroomEnforcement",
            ]),
    ]
)

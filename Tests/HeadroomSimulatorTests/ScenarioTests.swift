import Foundation
import HeadroomModel
import HeadroomSimulator
import Testing

@Suite struct ScenarioTests {
    private func read(_ text: String) throws -> Scenario { try Scenario.read(Array(text.utf8)) }

    @Test func `the scenarios that come with Headroom have names of their own, and are files`() throws {
        let names = ScenarioLibrary.all.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(names.count >= 18)
        let sources = URL(filePath: #filePath).appending(path: "../../../Sources").standardized
        let folder = sources.appending(path: "HeadroomSimulator/Scenarios")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(Set(files) == Set(names.map { "\($0).json5" }), "each file is one scenario, and embedded")
        for name in ScenarioLibrary.quick { #expect(ScenarioLibrary.named(name) != nil, "\(name)") }
    }

    @Test func `what is left out has its default`() throws {
        let scenario = try read("{ name: 'x', intent: 'y' }")
        #expect(scenario.capacity == 1)
        #expect(scenario.network.gateways == 4)
        #expect(scenario.changes.isEmpty)
    }

    @Test func `a fault names its key and what would be right`() {
        let cases: [(text: String, words: [String])] = [
            ("{ name: 'x' }", ["intent", "text"]),
            ("{ name: 'x', intent: 'y', capacity: -1 }", ["capacity", "0.01"]),
            ("{ name: 'x', intent: 'y', colour: 1 }", ["colour", "unknown key", "capacity"]),
            ("{ name: 'x', intent: 'y', provider: { headers: 'maybe' } }", ["provider.headers", "stale"]),
            (
                "{ name: 'x', intent: 'y', provider: { grants: [{ from: 0.5 }] } }",
                ["provider.grants[0].factor", "missing"]
            ),
            ("{ name: 'x', intent: 'y', changes: [{ do: 'dance' }] }", ["changes[0].do", "multiply"]),
            ("{ name: 'x', intent: 'y', faults: [{ do: 'clock_jump', at: 0.5 }] }", ["faults[0].by_seconds"]),
            ("[]", ["object"]),
            ("{ name: ", ["byte"]),
        ]
        for (text, words) in cases {
            do {
                _ = try read(text)
                Issue.record("read without a fault: \(text)")
            } catch let error as ScenarioError {
                for word in words { #expect(error.message.contains(word), "\(text): \(error.message)") }
            } catch {
                Issue.record("\(error)")
            }
        }
    }

    @Test func `grants multiply where they overlap, and end`() throws {
        let scenario = try read(
            """
            { name: 'x', intent: 'y', provider: {
                grants: [{ from: 0.25, to: 0.75, factor: 0.5 }, { from: 0.5, seconds: 10, factor: 0.5 }],
                version_change: { from: 0.9, factor: 0.8 } } }
            """)
        let grants = scenario.grants(seconds: 100)
        #expect(grants.map(\.fromSecond) == [0, 25, 50, 60, 75, 90])
        #expect(grants.map(\.factor) == [1, 0.5, 0.25, 0.5, 1, 0.8])
    }

    @Test func `a wave starts high`() throws {
        let scenario = try read(
            "{ name: 'x', intent: 'y', provider: { wave: { amplitude: 0.2, period_seconds: 60 } } }")
        #expect(scenario.grants(seconds: 120).prefix(3).map(\.factor) == [1.2, 0.8, 1.2])
    }
}

import Foundation
import HeadroomJSON
import Testing

@Suite struct ConformanceTests {
    private static let repository = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    @Test func `the vectors in the repository are what the gate decides today`() async throws {
        let stored = try Data(
            contentsOf: ConformanceTests.repository.appending(path: "Sources/Adapters/tests/vectors.jsonl"))
        let outcome = try await HeadroomProgram.run("conformance", "vectors")
        #expect(outcome.code == 0 && outcome.errors == "")
        #expect(
            Data(outcome.output.utf8) == stored,
            "headroom conformance vectors > Sources/Adapters/tests/vectors.jsonl writes them anew")
    }

    @Test func `every right on which a call can go is in the vectors`() async throws {
        let output = try await HeadroomProgram.run("conformance", "vectors").output
        for grant in ["assured", "lent", "drawn", "unlisted", "unlimited"] {
            #expect(output.contains(#""grant":"\#(grant)""#), "none goes on \(grant)")
        }
    }
}

import Foundation
import FoundationNetworking

extension URLSession {
    /// The answer to a request that ends at its deadline, whatever its peer does.
    ///
    /// `URLRequest/timeoutInterval` alone does nothing on Linux: a request there ends with the session's, after a minute. So
    /// the request is raced, and cancelled.
    package func data(for request: URLRequest, withinSeconds seconds: Double) async throws -> (Data, URLResponse) {
        try await withThrowingTaskGroup(of: (Data, URLResponse).self) { group in
            group.addTask { try await self.data(for: request) }
            group.addTask {
                try await Task.sleep(for: .seconds(seconds))
                throw URLError(
                    .timedOut, userInfo: [NSLocalizedDescriptionKey: "no answer within \(Self.text(seconds)) s"])
            }
            defer { group.cancelAll() }
            guard let first = try await group.next() else { throw URLError(.unknown) }
            return first
        }
    }

    /// With one decimal at most.
    private static func text(_ seconds: Double) -> String {
        let tenths = (seconds * 10).rounded() / 10
        return Int(exactly: tenths).map(String.init) ?? String(tenths)
    }
}

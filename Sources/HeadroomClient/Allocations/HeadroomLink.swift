import Foundation
import FoundationNetworking
import Synchronization

/// Requests to Headroom, at whichever of its addresses answers.
final class HeadroomLink: Sendable {
    struct Answer: Sendable {
        let status: Int
        let body: [UInt8]
        private let headers: [String: String]

        init(status: Int, headers: [String: String], body: [UInt8]) {
            self.status = status
            self.body = body
            self.headers = Dictionary(headers.map { ($0.key.lowercased(), $0.value) }) { first, _ in first }
        }

        func header(_ name: String) -> String? { headers[name.lowercased()] }

        /// What a problem document says is wrong, else the status.
        var problem: String {
            struct Problem: Decodable { let detail: String? }
            let detail = try? JSONDecoder().decode(Problem.self, from: Data(body)).detail
            return detail ?? "HTTP status \(status)"
        }
    }

    private let addresses: [URL]
    private let token: String?
    private let session: URLSession
    /// Of the address that is asked; others are tried in turn when it does not answer.
    private let current = Atomic(0)
    private let lastProblem = Mutex<String?>(nil)

    init(addresses: [URL], token: String?) {
        self.addresses = addresses
        self.token = token
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        session = URLSession(configuration: configuration)
    }

    /// Why the last request that failed did.
    var problem: String? { lastProblem.withLock { $0 } }

    func close() { session.invalidateAndCancel() }

    /// `nil` when no answer came. A server's failure counts as an answer, and the next address is asked from then on.
    func exchange(
        _ method: String, _ path: String, query: [URLQueryItem] = [], headers: [String: String] = [:],
        body: [UInt8]? = nil, withinSeconds seconds: Double
    ) async -> Answer? {
        let index = current.load(ordering: .relaxed)
        let address = addresses[index % addresses.count]
        var url = address.appending(path: path)
        if !query.isEmpty { url.append(queryItems: query) }
        var request = URLRequest(url: url, timeoutInterval: seconds)
        request.httpMethod = method
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        if let body { request.httpBody = Data(body) }
        do {
            let (data, response) = try await session.data(for: request)
            guard let response = response as? HTTPURLResponse else { return fail("no HTTP answer", index) }
            let headers = Dictionary(
                response.allHeaderFields.map { ("\($0.key)", "\($0.value)") }, uniquingKeysWith: { first, _ in first })
            let answer = Answer(status: response.statusCode, headers: headers, body: Array(data))
            if answer.status >= 500 { _ = fail(answer.problem, index) } else if answer.status < 400 { succeed() }
            if (400..<500).contains(answer.status) { lastProblem.withLock { $0 = answer.problem } }
            return answer
        } catch {
            return fail("\(address.absoluteString): \(error.localizedDescription)", index)
        }
    }

    private func succeed() { lastProblem.withLock { $0 = nil } }

    private func fail(_ problem: String, _ index: Int) -> Answer? {
        lastProblem.withLock { $0 = problem }
        _ = current.compareExchange(
            expected: index, desired: (index + 1) % addresses.count, ordering: .relaxed)
        return nil
    }
}

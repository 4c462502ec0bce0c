import Foundation
import FoundationNetworking
import HeadroomModel
import Synchronization

/// Requests to Headroom, at whichever of its addresses answers.
package final class HeadroomLink: Sendable {
    package struct Answer: Sendable {
        package let status: Int
        package let body: [UInt8]
        /// When the request that was answered was sent.
        package let askedAt: Timestamp
        /// It came from an address that was asked beside a late one.
        package var isFromElsewhere = false
        private let headers: [String: String]

        init(status: Int, headers: [String: String], body: [UInt8], askedAt: Timestamp) {
            self.status = status
            self.body = body
            self.askedAt = askedAt
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

    /// What other addresses are asked, and when.
    package struct Elsewhere: Sendable {
        /// Without an answer for so long the next address is asked beside the first, and a second later the one after it.
        package var afterSeconds: Double
        package var query: [URLQueryItem]

        package init(afterSeconds: Double, query: [URLQueryItem]) {
            self.afterSeconds = afterSeconds
            self.query = query
        }
    }

    private let addresses: [URL]
    private let token: String?
    private let time: TimeSource
    private let session: URLSession
    /// Of the address that is asked; others are tried in turn when it does not answer.
    private let current = Atomic(0)
    private let lastProblem = Mutex<String?>(nil)

    /// Between two tries at an address that is asked beside another one, and between the first tries of two such.
    private static let stepSeconds = 1.0

    /// Longer than any request here waits for its answer. One that has been given up ends then at the latest …
    private static let longestSeconds = 40.0
    /// … and those behind it do not wait for its connection, unless so many are open: a draw each second for six pools.
    private static let maxConnections = 256

    package init(addresses: [URL], token: String?, time: TimeSource) {
        self.addresses = addresses
        self.token = token
        self.time = time
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.timeoutIntervalForRequest = Self.longestSeconds
        configuration.httpMaximumConnectionsPerHost = Self.maxConnections
        session = URLSession(configuration: configuration)
    }

    /// Why the last request that failed did.
    package var problem: String? { lastProblem.withLock { $0 } }

    package func close() { session.invalidateAndCancel() }

    /// `nil` when no answer came within the time. A server's failure counts as an answer, and the next address is asked from
    /// then on.
    /// - Parameter elsewhere: for requests that may be made twice. The first address that answers it is asked from then on.
    package func exchange(
        _ method: String, _ path: String, query: [URLQueryItem] = [], headers: [String: String] = [:],
        body: [UInt8]? = nil, withinSeconds seconds: Double, elsewhere: Elsewhere? = nil
    ) async -> Answer? {
        let first = current.load(ordering: .relaxed) % addresses.count
        let ask: @Sendable (Int, [URLQueryItem], Double) async -> Answer? = { index, query, seconds in
            await self.ask(index, method, path, query: query, headers: headers, body: body, withinSeconds: seconds)
        }
        guard let elsewhere, addresses.count > 1 else { return await ask(first, query, seconds) }
        return await withTaskGroup(of: (index: Int, answer: Answer?).self) { group in
            defer { group.cancelAll() }
            let began = ContinuousClock.now
            group.addTask { (first, await ask(first, query, seconds)) }
            for step in 1..<addresses.count {
                let index = (first + step) % addresses.count
                let after = elsewhere.afterSeconds + Double(step - 1) * Self.stepSeconds
                group.addTask {
                    (index, await self.keepAsking(index, elsewhere.query, after: after, until: seconds, ask))
                }
            }
            for await (index, answer) in group {
                if index == first {
                    let isLate = began.duration(to: .now) >= .seconds(elsewhere.afterSeconds)
                    if answer.map({ $0.status < 500 }) ?? false || !isLate { return answer }
                } else if var answer {
                    current.store(index, ordering: .relaxed)
                    answer.isFromElsewhere = true
                    return answer
                }
            }
            return nil
        }
    }

    /// Asks one address again and again, until it does what is asked, or the time is over.
    private func keepAsking(
        _ index: Int, _ query: [URLQueryItem], after: Double, until end: Double,
        _ ask: @Sendable (Int, [URLQueryItem], Double) async -> Answer?
    ) async -> Answer? {
        let deadline = ContinuousClock.now.advanced(by: .seconds(end))
        var pause = after
        // A sleep throws when another address has answered.
        while (try? await Task.sleep(for: .seconds(pause))) != nil {
            let left = ContinuousClock.now.duration(to: deadline) / .seconds(1)
            guard left > 0 else { return nil }
            if let answer = await ask(index, query, left), answer.status < 400 { return answer }
            pause = Self.stepSeconds
        }
        return nil
    }

    private func ask(
        _ index: Int, _ method: String, _ path: String, query: [URLQueryItem], headers: [String: String],
        body: [UInt8]?, withinSeconds seconds: Double
    ) async -> Answer? {
        let address = addresses[index]
        var url = address.appending(path: path)
        if !query.isEmpty { url.append(queryItems: query) }
        var request = URLRequest(url: url)
        request.httpMethod = method
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        if let body { request.httpBody = Data(body) }
        let askedAt = time.now()
        do {
            let (data, response) = try await session.data(for: request, withinSeconds: seconds)
            guard let response = response as? HTTPURLResponse else { return fail("no HTTP answer", index) }
            let headers = Dictionary(
                response.allHeaderFields.map { ("\($0.key)", "\($0.value)") }, uniquingKeysWith: { first, _ in first })
            let answer = Answer(
                status: response.statusCode, headers: headers, body: Array(data), askedAt: askedAt)
            if answer.status >= 500 { _ = fail(answer.problem, index) } else if answer.status < 400 { succeed() }
            if (400..<500).contains(answer.status) { lastProblem.withLock { $0 = answer.problem } }
            return answer
        } catch {
            // Another address has answered, or the gateway ends: this one has done nothing wrong.
            if Task.isCancelled { return nil }
            return fail("\(address.absoluteString): \((error as NSError).localizedDescription)", index)
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

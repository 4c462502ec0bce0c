import HeadroomModel
import HeadroomProviders

/// What Headroom hears of calls.
extension PoolBudget {
    func report(
        _ end: CallEnd, _ signal: ProviderSignal, _ usage: TokenUsage?, _ entry: Entry, _ sentAt: Timestamp,
        _ state: inout State, at now: Timestamp
    ) {
        var record = record(of: entry, outcome: Outcome(signal.kind), at: now)
        record.attempt = max(1, entry.attempt)
        if case .unknown = end.what {
            // When it ended is not known, so nothing is said of its latency.
            record.at = sentAt
        } else {
            record.latencyMilliseconds =
                Self.milliseconds(end.latency?.inSeconds ?? now.seconds(since: sentAt))
        }
        record.queuedMilliseconds = Self.milliseconds(sentAt.seconds(since: entry.arrival))
        if signal.kind == .ok {
            let input = usage?.inputTokens.map(Int64.init) ?? Int64(saturating: entry.estimate[.inputTokens])
            let output = usage?.outputTokens.map(Int64.init) ?? Int64(saturating: entry.estimate[.outputTokens])
            record.inputTokens = input
            record.outputTokens = output
            record.cachedInputTokens = usage?.cachedInputTokens.map(Int64.init)
            // Left out, it is the sum.
            if let usage, usage.uncountedTokens > 0 {
                record.countedTokens = input + output - Int64(usage.uncountedTokens)
            }
        } else {
            record.countedTokens = Int64(saturating: entry.estimate[.tokens])
        }
        guard case .answer(let status, let headers, let body) = end.what else {
            reporter.append(.call(record))
            return
        }
        record.status = status
        reporter.append(.call(record))
        state.answers += 1
        guard signal.kind != .ok || state.answers % Self.answersAReport == 1 else { return }
        let response = ResponseRecord(
            at: now, request: entry.call.request, gateway: gateway, pool: pool, model: entry.call.model,
            endpoint: entry.call.endpoint, provider: entry.call.provider, status: status, signal: signal)
        reporter.append(
            .response(response), headers: headers.filter { Self.isTold($0.name.lowercased()) },
            body: signal.kind == .ok
                ? nil : body.map { String(decoding: $0.utf8.prefix(Self.maxBodyBytes), as: UTF8.self) })
    }

    func reportDenied(_ entry: Entry, at now: Timestamp) {
        var record = record(of: entry, outcome: .denied, at: now)
        record.queuedMilliseconds = Self.milliseconds(now.seconds(since: entry.arrival))
        record.countedTokens = Int64(saturating: entry.estimate[.tokens])
        reporter.append(.call(record))
    }

    /// Calls that came over the last `seconds` while this process was away, and passed without asking or were refused:
    /// Headroom hears of them at what such a call is expected to cost, spread over that time.
    /// - Returns: how many it hears of, as each is a line of telemetry.
    package func noteMissed(_ call: Call, calls: Int, passed: Bool, seconds: Double) -> Int {
        let now = time.now()
        let call = call.bounded
        let estimate = state.withLock { state in
            state.missed.addSaturating(Int64(calls))
            return state.estimator.estimate(
                for: call.tenant, model: call.model, inputTokens: Double(call.inputTokens), maxTokens: nil)
        }
        let told = min(max(0, calls), Self.mostMissedLines)
        for number in 0..<told {
            reporter.append(
                .call(
                    CallRecord(
                        at: now.adding(seconds: -seconds * Double(number) / Double(told)), gateway: gateway,
                        tenant: call.tenant, pool: pool, model: call.model, criticality: call.criticality,
                        outcome: passed ? .ok : .denied, inputTokens: Int64(saturating: estimate[.inputTokens]),
                        outputTokens: passed ? Int64(saturating: estimate[.outputTokens]) : nil,
                        countedTokens: passed ? nil : Int64(saturating: estimate[.tokens]))))
        }
        return told
    }

    private static let mostMissedLines = 10_000

    func record(of entry: Entry, outcome: Outcome, at now: Timestamp) -> CallRecord {
        let call = entry.call
        var record = CallRecord(
            request: call.request, at: now, gateway: gateway, tenant: call.tenant, pool: pool, model: call.model,
            endpoint: call.endpoint, criticality: call.criticality, task: call.task, parent: call.parent,
            outcome: outcome, inputTokens: Int64(call.inputTokens),
            maxTokens: call.maxOutputTokens.map(Int64.init), taskKind: call.taskKind)
        record.isToolWork = call.work == .tool
        return record
    }

    /// No more than Headroom takes.
    private static func milliseconds(_ seconds: Double) -> Double {
        min(max(0, 1000 * seconds), 1000 * CallBounds.longest.inSeconds)
    }

    private static let maxBodyBytes = 4096
    /// Of the provider's answers that say nothing new, one in so many is reported.
    private static let answersAReport = 20

    /// The headers that speak of limits and waits. The others are the tenant's business.
    private static func isTold(_ header: String) -> Bool {
        header.contains("ratelimit") || header.contains("rate-limit") || header.hasPrefix("retry-after")
            || header == "date"
    }
}

extension Outcome {
    init(_ kind: ResponseKind) {
        switch kind {
        case .ok: self = .ok
        case .quota: self = .quota
        case .overload: self = .overload
        case .ramp: self = .ramp
        case .billing: self = .billing
        case .auth: self = .auth
        case .client: self = .client
        case .server: self = .server
        }
    }
}

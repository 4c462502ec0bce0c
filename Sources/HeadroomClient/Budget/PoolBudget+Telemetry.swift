import HeadroomModel

/// What Headroom hears of calls.
extension PoolBudget {
    func report(
        _ end: CallEnd, _ signal: ProviderSignal, _ entry: Entry, _ sentAt: Timestamp, _ state: inout State,
        at now: Timestamp
    ) {
        var record = record(of: entry, outcome: Outcome(signal.kind), at: now)
        record.attempt = max(1, entry.attempt)
        if case .unknown = end.what {
            // When it ended is not known, so nothing is said of its latency.
            record.at = sentAt
        } else {
            record.latencyMilliseconds =
                end.latency.map { max(0, $0.inSeconds * 1000) } ?? max(0, 1000 * now.seconds(since: sentAt))
        }
        record.queuedMilliseconds = max(0, 1000 * sentAt.seconds(since: entry.arrival))
        if signal.kind == .ok {
            record.inputTokens = end.inputTokens.map(Int64.init) ?? Int64(entry.estimate[.inputTokens])
            record.outputTokens = end.outputTokens.map(Int64.init) ?? Int64(entry.estimate[.outputTokens])
            record.cachedInputTokens = end.cachedInputTokens.map(Int64.init)
        } else {
            record.countedTokens = Int64(entry.estimate[.tokens].rounded())
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
        record.queuedMilliseconds = max(0, 1000 * now.seconds(since: entry.arrival))
        record.countedTokens = Int64(entry.estimate[.tokens].rounded())
        reporter.append(.call(record))
    }

    func record(of entry: Entry, outcome: Outcome, at now: Timestamp) -> CallRecord {
        let call = entry.call
        return CallRecord(
            request: call.request, at: now, gateway: gateway, tenant: call.tenant, pool: pool, model: call.model,
            endpoint: call.endpoint, criticality: call.criticality, task: call.task, parent: call.parent,
            outcome: outcome, inputTokens: Int64(max(0, call.inputTokens)),
            maxTokens: call.maxOutputTokens.map(Int64.init), taskKind: call.taskKind)
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

import HeadroomEnforcement
import HeadroomModel
import HeadroomProviders

/// How calls end.
extension PoolBudget {
    /// What the call really cost replaces the estimate; a refused call goes back to the head of its queue.
    package func finish(_ id: Int, _ end: CallEnd) -> Advice {
        let now = time.now()
        let end = end.bounded
        return settle(at: now) { state, resumptions in
            guard let entry = state.entries[id], let sentAt = entry.sentAt else {
                return Advice(kind: .ok, retry: .never)
            }
            let signal = signal(of: end, entry.call, at: now)
            let usage = signal.kind == .ok ? usage(of: end, entry.call) : nil
            report(end, signal, usage, entry, sentAt, &state, at: now)
            if end.isKnown {
                state.gate.note(Outcome(signal.kind), of: id, startedAt: sentAt, at: now)
            }
            defer { dispatch(&state, at: now, &resumptions) }
            switch signal.kind {
            case .ok:
                let actual = actual(usage, entry)
                state.gate.settle(id, actual: actual, at: now)
                if usage?.outputTokens != nil {
                    state.estimator.learn(
                        from: entry.call.tenant, model: entry.call.model, outputTokens: actual[.outputTokens],
                        maxTokens: entry.call.maxOutputTokens.map(Double.init))
                }
                // Limits hold for a while; what remains of them is as old as the call.
                state.gate.observe(signal.withoutRemainders, at: now)
                forget(id, actual: actual, &state)
                return Advice(kind: .ok, retry: .never)
            case .quota, .overload, .ramp:
                state.gate.observe(signal, at: now)
                let retry = state.gate.refused(
                    id, resetSeconds: signal.retryAfterMilliseconds.map { $0 / 1000 },
                    jitter: Double.random(in: 0..<1, using: &state.generator), at: now)
                guard case .waits(let until) = retry else {
                    forget(id, &state)
                    return Advice(kind: signal.kind, retry: .never)
                }
                state.entries[id]?.sentAt = nil
                state.entries[id]?.isAwaited = false
                state.entries[id]?.answerBy = until
                state.waiting += 1
                return Advice(kind: signal.kind, retry: .after(.milliseconds(until.milliseconds - now.milliseconds)))
            case .billing, .auth, .client, .server:
                let actual = end.mayHaveCost ? entry.estimate : .zero
                state.gate.settle(id, actual: actual, at: now)
                forget(id, actual: actual, &state)
                return Advice(kind: signal.kind, retry: .never)
            }
        }
    }

    /// Nobody says how the call ended: it cost what was estimated.
    package func abandon(_ id: Int) {
        _ = finish(id, .unknown)
    }

    /// The call was not sent, or its caller has gone: it gives everything back.
    package func withdraw(_ id: Int) {
        let now = time.now()
        settle(at: now) { state, resumptions in
            guard let isSent = state.entries.isSent(id) else { return }
            if !isSent {
                drop(id, &state, at: now)
            } else {
                // Its caller had its turn and has changed its mind: nobody was denied anything.
                state.gate.withdraw(id, at: now)
                forget(id, &state)
            }
            dispatch(&state, at: now, &resumptions)
        }
    }

    /// Refuses all calls that wait, and says how many they were.
    func refuseWaiting() -> Int {
        let now = time.now()
        return settle(at: now) { state, resumptions in
            let ids = state.entries.ids { $0.sentAt == nil && $0.verdict == nil }
            for id in ids {
                state.gate.withdraw(id, at: now)
                end(id, with: .refused(Self.stopping), &state, at: now, &resumptions)
            }
            return ids.count
        }
    }

    /// Calls that wait for their turn in agent tasks that are stopped do not get it.
    func refuseStopped(_ state: inout State, at now: Timestamp, _ resumptions: inout [Resumption]) {
        for id in state.entries.ids(where: { $0.sentAt == nil && $0.verdict == nil && $0.call.task != nil }) {
            guard let call = state.entries[id]?.call, let refusal = tasks.stop(of: call, in: pool) else { continue }
            state.gate.withdraw(id, at: now)
            end(id, with: .refused(refusal), &state, at: now, &resumptions)
        }
    }

    static let stopping = Refusal(.fail, "the gateway is stopping")

    func drop(_ id: Int, _ state: inout State, at now: Timestamp) {
        state.gate.withdraw(id, at: now)
        if let entry = state.entries[id], entry.verdict == nil { reportDenied(entry, at: now) }
        forget(id, &state)
    }

    /// - Parameter actual: what it has cost.
    func forget(_ id: Int, actual: Work = .zero, _ state: inout State) {
        // Nobody has come yet for the verdict on a call that was closed before.
        guard let entry = state.entries.remove(id), entry.verdict == nil else { return }
        close(entry, actual: actual, &state)
    }

    /// The call is out of the gate, and cost its task `actual`. Once.
    func close(_ entry: Entry, actual: Work = .zero, _ state: inout State) {
        tasks.settle(entry.call, estimate: entry.estimate, actual: actual)
        if entry.sentAt == nil { state.waiting -= 1 }
    }

    /// What the provider counted; the one place in which its numbers come to mean the same as everybody's.
    private func usage(of end: CallEnd, _ call: Call) -> TokenUsage? {
        let provider = call.provider ?? pool.text
        if end.inputTokens == nil, end.outputTokens == nil {
            guard case .answer(_, _, let body?) = end.what else { return nil }
            return TokenUsage(body: body, provider: provider)
        }
        return TokenUsage(
            inputTokens: end.inputTokens, outputTokens: end.outputTokens, cachedInputTokens: end.cachedInputTokens,
            cacheCreationInputTokens: end.cacheCreationInputTokens, provider: provider)
    }

    /// What counts against the limit.
    private func actual(_ usage: TokenUsage?, _ entry: Entry) -> Work {
        let input =
            usage?.inputTokens.map { Double($0 - (usage?.uncountedTokens ?? 0)) } ?? entry.estimate[.inputTokens]
        let output = usage?.outputTokens.map(Double.init) ?? entry.estimate[.outputTokens]
        return Work(requests: 1, tokens: input + output, inputTokens: input, outputTokens: output)
    }

    func signal(of end: CallEnd, _ call: Call, at now: Timestamp) -> ProviderSignal {
        switch end.what {
        case .outcome(let kind): ProviderSignal(kind: kind)
        case .fault: ProviderSignal(kind: .server)
        case .unknown: ProviderSignal(kind: .ok)
        case .answer(let status, let headers, let body):
            ProviderClassifier.classify(
                ProviderResponse(
                    provider: call.provider ?? pool.text, status: status, headers: headers, body: body,
                    receivedAt: now))
        }
    }
}

extension ProviderSignal {
    /// Only the limits that it states, and how long they hold.
    fileprivate var withoutRemainders: ProviderSignal {
        var signal = self
        for index in signal.windows.indices { signal.windows[index].remaining = nil }
        return signal
    }
}

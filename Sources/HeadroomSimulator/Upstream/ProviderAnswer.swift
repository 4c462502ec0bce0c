import HeadroomModel

/// A simulated provider's answer.
package struct ProviderAnswer: Sendable {
    package enum Verdict: Equatable, Sendable {
        case served
        /// Our quota is used up, in this resource.
        case refused(Resource)
        case overloaded
    }

    package let verdict: Verdict
    /// From the call's arrival to its answer.
    package let latencySeconds: Double
    private let model: String
    /// Of the answer, counted from the provider's start.
    package let number: Int
    private let at: Timestamp
    private let cost: Work
    private let usage: (input: Int64, output: Int64)?
    /// The content of the headers: the account's limit, and our rest of it.
    private let shown: (meter: QuotaMeter, limit: Rates)?
    private let wait: Double

    /// `wait` is the time after which the call would pass.
    init(
        _ verdict: Verdict, model: String, number: Int, at now: Timestamp, latencySeconds: Double, cost: Work,
        usage: (input: Int64, output: Int64)?, shown: (meter: QuotaMeter, limit: Rates)?, wait: Double
    ) {
        self.verdict = verdict
        self.latencySeconds = latencySeconds
        self.model = model
        self.number = number
        at = now
        self.cost = cost
        self.usage = usage
        self.shown = shown
        self.wait = wait
    }

    package var status: Int {
        switch verdict {
        case .served: 200
        case .refused: 429
        case .overloaded: 529
        }
    }

    /// Lower-case names. Put together when asked for: a simulation reads few of them.
    package var headers: [(name: String, value: String)] {
        var headers = [("content-type", "application/json"), ("x-request-id", "req_\(number)")]
        headers += toldLimits.flatMap { told in
            let name = told.resource.name.replacing("_", with: "-")
            return [
                ("x-ratelimit-limit-\(name)", String(told.limit)),
                ("x-ratelimit-remaining-\(name)", String(told.remaining)),
                ("x-ratelimit-reset-\(name)", ProviderAnswer.goDuration(told.secondsUntilFull)),
            ]
        }
        if case .refused = verdict {
            let milliseconds = ProviderAnswer.wholeMilliseconds(wait)
            headers.append(("retry-after", String((milliseconds + 999) / 1000)))
            headers.append(("retry-after-ms", String(milliseconds)))
        }
        return headers.map { (name: $0.0, value: $0.1) }
    }

    /// A limit as headers tell of it.
    package struct ToldLimit: Sendable {
        package let resource: Resource
        /// Per minute.
        package let limit: Int64
        /// What is left now.
        package let remaining: Int64
        /// Until nothing is used.
        package let secondsUntilFull: Double
    }

    /// Empty where the provider tells nothing.
    package var toldLimits: [ToldLimit] {
        guard let shown else { return [] }
        return shown.limit.resources.members.map { resource in
            ToldLimit(
                resource: resource, limit: ProviderAnswer.whole(shown.limit[resource] ?? 0),
                remaining: max(0, ProviderAnswer.whole(shown.meter.remaining[resource])),
                secondsUntilFull: shown.meter.secondsUntilFull(resource))
        }
    }

    /// Until the call would pass, as the headers of a refusal say; `nil` for other answers.
    package var retryAfterSeconds: Double? {
        guard case .refused = verdict else { return nil }
        return Double(ProviderAnswer.wholeMilliseconds(wait)) / 1000
    }

    package var body: String {
        switch verdict {
        case .served:
            ProviderAnswer.completion(model: model, number: number, at: at, usage: usage ?? (0, 0))
        case .refused(let resource):
            ProviderAnswer.refusal(
                model: model, resource: resource, limit: shown?.limit, cost: cost,
                milliseconds: ProviderAnswer.wholeMilliseconds(wait))
        case .overloaded:
            #"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#
        }
    }

    private static func completion(
        model: String, number: Int, at now: Timestamp, usage: (input: Int64, output: Int64)
    ) -> String {
        """
        {"id":"chatcmpl-\(number)","object":"chat.completion","created":\(now.milliseconds / 1000),"model":"\(model)",\
        "choices":[{"index":0,"message":{"role":"assistant","content":"Hello.","refusal":null},"logprobs":null,\
        "finish_reason":"stop"}],"usage":{"prompt_tokens":\(usage.input),"completion_tokens":\(usage.output),\
        "total_tokens":\(usage.input + usage.output)}}
        """
    }

    private static func refusal(
        model: String, resource: Resource, limit: Rates?, cost: Work, milliseconds: Int64
    ) -> String {
        let (words, type) =
            resource == .requests ? ("requests per min (RPM)", "requests") : ("tokens per min (TPM)", "tokens")
        let limit = limit?[resource].map { "Limit \(whole($0)), " } ?? ""
        let message =
            "Rate limit reached for \(model) on \(words): \(limit)Requested \(whole(cost[resource])). "
            + "Please try again in \(goDuration(Double(milliseconds) / 1000)). "
            + "Visit https://platform.openai.com/account/rate-limits to learn more."
        return #"{"error":{"message":"\#(message)","type":"\#(type)","param":null,"code":"rate_limit_exceeded"}}"#
    }

    private static func whole(_ amount: Double) -> Int64 { Int64(amount.rounded(.down)) }

    /// Rounded up: a caller that waits so long passes.
    private static func wholeMilliseconds(_ seconds: Double) -> Int64 { Int64((seconds * 1000).rounded(.up)) }

    /// `6m0s`, `1.5s`, `20ms`, `0s`, as Go prints whole milliseconds.
    static func goDuration(_ seconds: Double) -> String {
        let milliseconds = wholeMilliseconds(seconds)
        if milliseconds == 0 { return "0s" }
        if milliseconds < 1000 { return "\(milliseconds)ms" }
        let (minutes, rest) = milliseconds.quotientAndRemainder(dividingBy: 60000)
        var fraction = String(rest % 1000 + 1000).dropFirst()
        while fraction.last == "0" { fraction.removeLast() }
        let decimals = fraction.isEmpty ? "" : "." + fraction
        let hours = minutes / 60
        let larger = (hours > 0 ? "\(hours)h" : "") + (minutes > 0 ? "\(minutes % 60)m" : "")
        return "\(larger)\(rest / 1000)\(decimals)s"
    }
}

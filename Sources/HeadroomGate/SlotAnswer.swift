import HeadroomClient
import HeadroomHTTP
import HeadroomJSON
import HeadroomModel

/// Answers of the gate, as callers and their SDKs obey them.
enum SlotAnswer {
    /// What it gives stands in the headers too, for proxies that read no bodies.
    /// - Parameters:
    ///   - warning: why nothing limits the call, where nothing does.
    ///   - isMinimal: a 204 with the headers alone.
    static func slot(
        _ turn: PoolBudget.Turn, name: String, tenant: TenantID, model: String?, expiresInSeconds seconds: Double,
        warning: String?, isMinimal: Bool
    ) -> HTTPResponse {
        var headers: [(name: String, value: String)] = [
            ("x-headroom-slot", name), ("x-headroom-tenant", tenant.text),
            ("x-headroom-pool", turn.budget.pool.text), ("x-headroom-waited-ms", String(turn.waitedMilliseconds)),
        ]
        if let warning { headers.append(("x-headroom-warning", warning)) }
        if isMinimal { return nothing(headers) }
        var writer = JSONWriter(capacity: 192)
        writer.beginObject()
        writer.field("slot", name)
        writer.field("pool", turn.budget.pool.text)
        writer.field("model", model)
        writer.field("waited_ms", turn.waitedMilliseconds)
        writer.field("expires_in_ms", Int64(seconds * 1000))
        writer.field("estimated_tokens", turn.estimatedTokens)
        if let warning { writer.field("warning", warning) }
        writer.endObject()
        return HTTPResponse(type: "application/json", headers: headers, body: writer.bytes)
    }

    static func nothing(_ headers: [(name: String, value: String)] = []) -> HTTPResponse {
        HTTPResponse(status: 204, type: "application/json", headers: headers, body: [])
    }

    /// 429 with what to do. The SDKs of OpenAI and Anthropic wait for `retry-after-ms` to the millisecond and add no jitter
    /// of their own: the stagger is in the number, since each call that has to wait counts those before it.
    static func refusal(_ refusal: Refusal, status: Int = 429, body: Body, isMinimal: Bool = false) -> HTTPResponse {
        let wait = refusal.retryAfter.map { max(1, Int64(saturating: ($0.inSeconds * 1000).rounded(.up))) }
        var headers = [("x-should-retry", refusal.decision == .wait ? "true" : "false")]
        if let wait {
            let seconds = wait / 1000 + (wait % 1000 == 0 ? 0 : 1)
            headers.append(("retry-after-ms", String(wait)))
            headers.append(("Retry-After", String(seconds)))
            let resource = (refusal.exhausted ?? .requests).rawValue
            headers.append(("RateLimit", "\"\(resource)\";r=0;t=\(seconds)"))
            if let perMinute = body.perMinute {
                headers.append(("RateLimit-Policy", "\"\(resource)\";q=\(perMinute);w=60"))
            }
        }
        return HTTPResponse(
            status: status, type: "application/json", headers: headers.map { (name: $0.0, value: $0.1) },
            body: isMinimal ? [] : body.encoded(refusal, wait))
    }

    /// Whose error the caller expects, by the route that it took.
    struct Body {
        enum Style { case own, openAI, anthropic }

        let style: Style
        /// The pool's budget of what is used up.
        let perMinute: Int64?

        init(_ style: Style, perMinute: Int64? = nil) {
            self.style = style
            self.perMinute = perMinute
        }

        /// The path that the proxy was asked for.
        init(path: String, perMinute: Int64? = nil) {
            self.init(path.contains("/v1/messages") ? .anthropic : .openAI, perMinute: perMinute)
        }

        func encoded(_ refusal: Refusal, _ waitMilliseconds: Int64?) -> [UInt8] {
            var writer = JSONWriter(capacity: 256)
            writer.beginObject()
            switch style {
            case .own: break
            case .openAI:
                writer.key("error")
                writer.beginObject()
                writer.field("message", refusal.description)
                writer.field("type", refusal.exhausted == .requests ? "requests" : "tokens")
                writer.field("param", nil as String?)
                writer.field("code", "rate_limit_exceeded")
                writer.endObject()
            case .anthropic:
                writer.field("type", "error")
                writer.key("error")
                writer.beginObject()
                writer.field("type", "rate_limit_error")
                writer.field("message", refusal.description)
                writer.endObject()
            }
            writer.field("decision", refusal.decision.rawValue)
            writer.field("retry_after_ms", waitMilliseconds)
            writer.field("exhausted", refusal.exhausted?.rawValue)
            if style == .own { writer.field("detail", refusal.description) }
            writer.endObject()
            return writer.bytes
        }
    }

    static func advice(_ advice: Advice) -> HTTPResponse {
        var writer = JSONWriter(capacity: 96)
        writer.beginObject()
        writer.field("kind", advice.kind.name)
        switch advice.retry {
        case .never:
            writer.field("retry", "never")
            writer.field("retry_after_ms", nil as Int64?)
        case .after(let wait):
            let milliseconds = Int64(saturating: (wait.inSeconds * 1000).rounded(.up))
            writer.field("retry", milliseconds > 0 ? "after" : "now")
            writer.field("retry_after_ms", milliseconds)
        }
        writer.endObject()
        return HTTPResponse(type: "application/json", body: writer.bytes)
    }
}

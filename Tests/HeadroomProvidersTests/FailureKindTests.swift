import HeadroomModel
import HeadroomProviders
import Testing

@Suite struct FailureKindTests {
    /// Wordings and shapes as providers document them, none of them in the recorded set.
    private static let table: [(kind: ResponseKind, provider: String?, status: Int, body: String)] = [
        // Money, whatever the status.
        (
            .billing, "openai", 429,
            #"{"error":{"type":"insufficient_quota","code":"organization_spend_limit_exceeded"}}"#
        ),
        (.billing, "openai", 429, #"{"error":{"message":"You exceeded your current quota, please check your plan"#),
        (
            .billing, "anthropic", 400,
            #"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low."}}"#
        ),
        (
            .billing, "anthropic", 429,
            #"{"error":{"type":"rate_limit_error","details":{"error_code":"enforced_spend_limit_reached"}}}"#
        ),
        (.billing, "anthropic", 402, #"{"type":"error","error":{"type":"billing_error","message":"x"}}"#),
        (.billing, "deepseek", 402, #"{"error":{"message":"Insufficient Balance"}}"#),
        (.billing, "xai", 403, #"{"code":"The caller may not","error":"Your team has used all available credits"}"#),
        (
            .billing, "gemini", 429,
            #"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"GenerateRequestsPerDay","quotaValue":"0"}]}]}}"#
        ),
        (.billing, nil, 400, #"{"detail":"Your wallet is empty: no prepaid balance"}"#),
        // Advice on money is no sign that it is gone.
        (.quota, nil, 429, #"{"error":{"message":"Rate limit hit. Add credits to your balance for higher limits."}}"#),
        (.client, nil, 400, #"{"error":{"message":"Insufficient permissions to read the credit limit field"}}"#),
        (.client, nil, 400, #"{"error":"no credit card field in the form"}"#),
        // Growth.
        (.ramp, "openai", 503, #"{"error":{"type":"rate_limit_error","code":"slow_down"}}"#),
        (.ramp, "openai", 429, #"{"error":{"type":"rate_limit_error","code":"slow_down"}}"#),
        (
            .ramp, "anthropic", 429,
            #"{"error":{"type":"rate_limit_error","message":"would exceed your acceleration limit"}}"#
        ),
        (.ramp, "dashscope", 429, #"{"code":"Throttling.BurstRate","message":"x"}"#),
        // The provider's capacity.
        (.overload, "openai", 503, #"{"error":{"type":"service_unavailable_error","code":"server_is_overloaded"}}"#),
        (
            .overload, "openai", 429,
            #"{"error":{"message":"That model is currently overloaded with other requests.","type":"requests"}}"#
        ),
        (
            .overload, "anthropic", 200,
            "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}\n\n"
        ),
        (
            .overload, "azure", 429,
            #"{"error":{"code":"429","message":"The system is currently experiencing high demand and cannot process your request."}}"#
        ),
        (.overload, "groq", 498, #"{"error":{"code":"capacity_exceeded"}}"#),
        (
            .overload, "mistral", 429,
            #"{"object":"error","message":"Service tier capacity exceeded for this model.","code":"3505"}"#
        ),
        (
            .overload, "vertex", 429,
            #"[{"error":{"code":429,"message":"Resource exhausted, please try again later.","status":"RESOURCE_EXHAUSTED"}}]"#
        ),
        (.overload, "bedrock", 503, #"{"message":"Bedrock is unable to process your request."}"#),
        (
            .overload, "cloudflare", 429,
            #"{"errors":[{"message":"Capacity temporarily exceeded","code":3040}],"success":false}"#
        ),
        (.overload, nil, 503, "<html><title>503 Service Temporarily Unavailable</title></html>"),
        (.overload, nil, 503, ""),
        // Our own limit.
        (.quota, "openai", 429, #"{"error":{"type":"requests","code":"rate_limit_exceeded","message":"x"#),
        (.quota, "groq", 413, #"{"error":{"type":"tokens","code":"rate_limit_exceeded"}}"#),
        (
            .quota, "vertex", 429,
            #"{"error":{"code":429,"message":"Quota exceeded for aiplatform.googleapis.com/online_prediction_requests_per_base_model","status":"RESOURCE_EXHAUSTED"}}"#
        ),
        (
            .quota, "vertex", 429,
            #"{"error":{"message":"Too many requests. Exceeded the Provisioned Throughput.","status":"RESOURCE_EXHAUSTED"}}"#
        ),
        (.quota, "bedrock", 400, #"{"__type":"com.amazon.coral.service#ThrottlingException","message":"x"}"#),
        (.quota, "bedrock", 200, #"{"throttlingException":{"message":"Too many tokens"}}"#),
        (
            .quota, "azure", 403,
            #"{"error":{"code":"403","message":"Out of call volume quota. Please retry after 14 days."}}"#
        ),
        (.quota, "dashscope", 429, #"{"error":{"code":"insufficient_quota"}}"#),
        (.quota, nil, 429, #"{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded"}"#),
        (.quota, nil, 502, #"{"error":{"code":429,"message":"upstream"}}"#),
        (.quota, nil, 429, ""),
        // Identity and permission.
        (.auth, "anthropic", 403, #"{"error":{"type":"permission_error"}}"#),
        (.auth, "bedrock", 400, #"{"__type":"ExpiredTokenException"}"#),
        (.auth, "gemini", 400, #"{"error":{"message":"API key not valid. Please pass"#),
        (.auth, nil, 407, ""),
        // Ours, theirs.
        (.client, "openai", 400, #"{"error":{"code":"context_length_exceeded","type":"invalid_request_error"}}"#),
        (.client, "openrouter", 403, #"{"error":{"code":403,"message":"Your input was flagged"}}"#),
        (.client, nil, 302, ""), (.client, nil, 404, "Not Found"), (.client, nil, 413, ""),
        (.server, "anthropic", 500, #"{"error":{"type":"api_error","message":"Internal server error"}}"#),
        (.server, "bedrock", 424, #"{"__type":"ModelErrorException"}"#),
        (.server, "bedrock", 429, #"{"__type":"ModelNotReadyException"}"#),
        (.server, nil, 504, ""), (.server, nil, 502, "<html>bad gateway</html>"), (.server, nil, 0, ""),
        // A success stays one, whatever the model wrote in it.
        (
            .ok, "openai", 200,
            #"{"choices":[{"message":{"content":"{\"error\":{\"code\":\"rate_limit_exceeded\"}}"}}],"error":null}"#
        ),
        (.ok, "anthropic", 200, #"{"content":[{"input":{"error":{"code":"rate_limit_exceeded"}}}]}"#),
        (.ok, nil, 204, ""),
    ]

    @Test func `the kind follows the body where it knows better than the status`() {
        for row in Self.table {
            let response = ProviderResponse(provider: row.provider, status: row.status, body: row.body)
            let kind = ProviderClassifier.classify(response).kind
            #expect(kind == row.kind, "\(row.provider ?? "unknown") \(row.status) \(row.body)")
        }
    }

    private static let causes: [(exhausted: ResourceSet, provider: String, headers: [(String, String)], body: String)] =
        [
            (ResourceSet(.tokens), "openai", [], #"{"error":{"type":"tokens","code":"rate_limit_exceeded"}}"#),
            (
                ResourceSet(.requests), "openai", [],
                #"{"error":{"message":"Rate limit reached on requests per min (RPM): Limit 3, Used 3"}}"#
            ),
            (
                ResourceSet(.inputTokens), "anthropic", [],
                #"{"error":{"message":"rate limit for your organization of 20,000 input tokens per minute."}}"#
            ),
            (
                ResourceSet(.outputTokens), "anthropic", [("anthropic-ratelimit-output-tokens-remaining", "0")],
                #"{"error":{"type":"rate_limit_error"}}"#
            ),
            (
                ResourceSet(.tokens), "azure", [],
                #"{"error":{"message":"have exceeded token rate limit of your current tier."}}"#
            ),
            (
                ResourceSet(.requests), "azure", [],
                #"{"error":{"message":"have exceeded call rate limit of your current tier."}}"#
            ),
            (ResourceSet(.tokens), "bedrock", [], #"{"message":"Too many tokens, please wait before trying again."}"#),
            (ResourceSet(.requests), "cerebras", [], #"{"code":"request_quota_exceeded"}"#),
            (
                ResourceSet(.tokens), "gemini", [],
                #"{"error":{"details":[{"violations":[{"quotaId":"GenerateContentInputTokensPerModelPerMinute"}]}]}}"#
            ),
            (
                [.init(.requests), .init(.tokens)], "gemini", [],
                #"{"violations":[{"quotaId":"GenerateRequestsPerDay"},{"quotaId":"GenerateContentTokensPerMinute"}]}"#
            ),
            ([], "together", [], #"{"error":{"message":"Too many requests"}}"#),
        ]

    @Test func `a refusal names the resource that ran out`() {
        for row in Self.causes {
            let response = ProviderResponse(
                provider: row.provider, status: 429, headers: row.headers.map { (name: $0.0, value: $0.1) },
                body: row.body)
            #expect(ProviderClassifier.classify(response).exhausted == row.exhausted, "\(row.provider) \(row.body)")
        }
    }

    private static let waits: [(body: String, milliseconds: Double?)] = [
        (#"{"error":{"retry_after_seconds":3}}"#, 3000), (#"{"waitMs":250}"#, 250), (#"{"resetsInSec":7}"#, 7000),
        (#"{"reset_at":"2026-11-21T10:00:05Z"}"#, 5000), (#"{"resetAfter":"1m"}"#, 60000),
        // Instants say nothing without their unit, and these are no times at all.
        (#"{"reset_at":30}"#, nil), (#"{"retries":3,"reset_credits":5,"reset":true,"wait_list":9}"#, nil),
        (#"{"retry_after":-1}"#, nil), (#"{"resetAt":1e300}"#, nil), (#"{"retry_after_ms":1e300}"#, nil),
    ]

    @Test func `a field says when to come back by the words of its name`() {
        for row in Self.waits {
            let response = ProviderResponse(
                status: 429, headers: [(name: "date", value: "Sat, 21 Nov 2026 10:00:00 GMT")], body: row.body)
            #expect(ProviderClassifier.classify(response).retryAfterMilliseconds == row.milliseconds, "\(row.body)")
        }
    }

    @Test func `nothing is exhausted where nothing was refused`() {
        let response = ProviderResponse(status: 200, headers: [(name: "x-ratelimit-remaining-requests", value: "0")])
        #expect(ProviderClassifier.classify(response).exhausted == [])
    }
}

/// Answers collected after the rules had been mended by the other tables, and written down before they were tried: what
/// comes of those that nobody has shown.
///
/// Of the first 56, 45 came out right in every point; the rules were mended again; of the next 40, 35 did (one of
/// the five is left out: errors in XML are not read). (At the start it
/// was 228 of the other tables' 279.)
extension Answer {
    static let later: [Answer] = [
        Answer("DeepInfra: busy", "deepinfra", 429, [], #"{"error":{"message":"Model busy, retry later"}}"#, .overload),
        Answer(
            "a gateway that quotes a busy model", "truefoundry", 429, [],
            #"{"status":"failure","message":"Invalid response received from deepinfra: {\"error\":{\"message\":\"Model busy, retry later\"}}","error":{"message":"Invalid response received from deepinfra: {\"error\":{\"message\":\"Model busy, retry later\"}}","type":"APIError","code":"429"},"error_origin_level":"api_error","provider":"deepinfra"}"#,
            .overload),
        Answer(
            "Chutes: full", "chutes", 429, [], #"{"detail":"Infrastructure is at maximum capacity, try again later"}"#,
            .overload),
        Answer(
            "a gateway that quotes a full provider", nil, 429, [],
            #"{"error":{"message":"Error from provider(chutes,moonshotai/Kimi-K2-Thinking: 429): {\"detail\":\"Infrastructure is at maximum capacity, try again later\"}","type":"api_error","code":"provider_response_error"}}"#,
            .overload),
        Answer(
            "ModelScope: a model's rate", "modelscope", 429, [],
            #"{"errors":{"message":"We have to rate limit you for model Qwen/Qwen3-235B-A22B-Instruct-2507. If you need higher limits, please consider other (commercial) API providers.","request_id":"1"}}"#,
            .quota),
        Answer(
            "Qianfan: requests", "qianfan", 429, [],
            #"{"error":{"code":"rpm_rate_limit_exceeded","message":"Rate limit reached for RPM","type":"rate_limit_exceeded"},"id":"as-1"}"#,
            .quota, out: "requests"),
        Answer(
            "Qianfan: input tokens", "qianfan", 429, [],
            #"{"error":{"code":"input_tpm_rate_limit_exceeded","message":"Rate limit reached for input TPM","type":"rate_limit_exceeded"},"id":"as-1"}"#,
            .quota, out: "input_tokens"),
        Answer(
            "Qianfan: the older form, inside a success", "qianfan", 200, [],
            #"{"error_code":18,"error_msg":"Open api qps request limit reached"}"#, .quota, out: "requests"),
        Answer(
            "Qianfan: a day's requests, inside a success", "qianfan", 200, [],
            #"{"error_code":17,"error_msg":"Open api daily request limit reached"}"#, .quota, out: "requests"),
        Answer(
            "ElevenLabs: busy", "elevenlabs", 429, [],
            #"{"detail":{"status":"system_busy","message":"We are sorry, the system is experiencing heavy traffic, please try again. Higher subscriptions have higher priority."}}"#,
            .overload),
        Answer(
            "ElevenLabs: calls at once", "elevenlabs", 429, [],
            #"{"detail":{"status":"too_many_concurrent_requests","message":"Too many concurrent requests. Your current subscription is associated with a maximum of 2 concurrent requests."}}"#,
            .quota, out: ""),
        Answer(
            "Novita: balance", "novita", 403, [],
            #"{"code":403,"reason":"NOT_ENOUGH_BALANCE","message":"not enough balance","metadata":{}}"#, .billing),
        Answer(
            "Novita: rate", "novita", 429, [],
            #"{"code":429,"reason":"RATE_LIMIT_EXCEEDED","message":"rate limit exceeded","metadata":{}}"#, .quota),
        Answer(
            "an hour's requests, in words", nil, 429, ["Retry-After: 60"],
            #"{"error":"rate_limit_exceeded","message":"Rate limit exceeded. Maximum 60 requests per hour."}"#,
            .quota, wait: 60000, limits: ["requests/3600 limit 60"], out: "requests"),
        Answer(
            "a minute's requests, with a stroke", "qwen", 429, [],
            #"{"error":{"code":"rate_limit_exceeded","message":"Qwen rate limit: 60 requests/minute exceeded, retry after 15s","type":"rate_limit_exceeded"}}"#,
            .quota, wait: 15000, limits: ["requests/60 limit 60"], out: "requests"),
        Answer(
            "an event that is an error as a whole", nil, 200, ["content-type: text/event-stream"],
            "event: error\ndata: {\"code\":\"rate_limit_exceeded\",\"message\":\"limited\"}\n\n", .quota),
        Answer(
            "slow down as plain advice", nil, 429, ["Retry-After: 2"],
            #"{"error":{"code":"TooManyRequests","message":"slow down"}}"#, .quota, wait: 2000),
        Answer("slow down, politely", nil, 429, [], #"{"detail":"Too many requests, please slow down."}"#, .quota),
        Answer(
            "too quickly is too often, not growth", "openai", 429, [],
            #"{"error":{"message":"You are sending requests too quickly. Pace your requests.","type":"requests","code":"rate_limit_exceeded"}}"#,
            .quota, out: "requests"),
        Answer(
            "OpenRouter: a pool that its users share", "openrouter", 429, [],
            #"{"error":{"message":"Provider returned error","code":429,"metadata":{"error_type":"rate_limit_exceeded","limit_source":"upstream_provider_shared_pool","provider_name":"Baidu","provider_error_code":"rpm_rate_limit_exceeded"}}}"#,
            .overload),
        Answer(
            "a subscription's usage, with when it resets", "openai", 429, [],
            #"{"error":{"type":"usage_limit_reached","message":"The usage limit has been reached","plan_type":"plus","resets_at":1772700000,"resets_in_seconds":3600}}"#,
            .quota, wait: 3_600_000),
        Answer("Copilot: quota", "copilot", 429, ["content-type: text/plain"], "quota exceeded\n", .quota),
        Answer(
            "Copilot: politely", "copilot", 429, [],
            "Sorry, you have been rate-limited. Please wait a moment before trying again.", .quota),
        Answer(
            "Ollama: a session's usage", "ollama", 429, [],
            #"{"error":"you (x) have reached your session usage limit, upgrade for higher limits: https://ollama.com/upgrade"}"#,
            .quota),
        Answer(
            "Ollama: pending requests", "ollama", 503, [],
            #"{"error":"server busy, please try again.  maximum pending requests exceeded"}"#, .overload),
        Answer(
            "SGLang: a full queue", "sglang", 503, [],
            #"{"object":"error","message":"The request queue is full.","type":"service_unavailable","code":503}"#,
            .overload),
        Answer(
            "a full queue under 429", nil, 429, [], #"{"error":"Request queue is full, please try again later"}"#,
            .overload),
        Answer(
            "Apigee: quota", nil, 429, [],
            #"{"fault":{"faultstring":"Rate limit quota violation. Quota limit  exceeded. Identifier : x","detail":{"errorcode":"policies.ratelimit.QuotaViolation"}}}"#,
            .quota),
        Answer(
            "Apigee: a spike", nil, 429, [],
            #"{"fault":{"faultstring":"Spike arrest violation. Allowed rate : MessageRate{messagesPerPeriod=12, periodInMicroseconds=60000000, maxBurstMessageCount=1.0}","detail":{"errorcode":"policies.ratelimit.SpikeArrestViolation"}}}"#,
            .quota),
        Answer(
            "Amazon API Gateway: a usage plan", "aws", 429, ["x-amzn-errortype: LimitExceededException"],
            #"{"message":"Limit Exceeded"}"#, .quota),
        Answer(
            "SageMaker: rate, under 400", "sagemaker", 400, [],
            #"{"Code":"ThrottlingException","Message":"Rate exceeded"}"#, .quota),
        Answer(
            "SageMaker: a model's fault", "sagemaker", 424, ["x-amzn-errortype: ModelError"],
            #"{"ErrorCode":"INTERNAL_FAILURE_FROM_MODEL","Message":"Received server error (503) from primary","OriginalStatusCode":503}"#,
            .server),
        Answer(
            "Oracle: a tenancy", "oci", 429, [],
            #"{"code":"TooManyRequests","message":"Too many requests for the tenancy. Request throttled"}"#, .quota),
        Answer(
            "Tencent: frequency, inside a success", "hunyuan", 200, [],
            #"{"Response":{"Error":{"Code":"RequestLimitExceeded","Message":"Your current request times equals to `21` in a second, which exceeds the frequency limit `20` for a second. Please reduce the frequency of calls."},"RequestId":"1"}}"#,
            .quota, out: "requests"),
        Answer("Nebius", "nebius", 429, [], #"{"detail":"Rate limit exceeded, please try again later"}"#, .quota),
        Answer(
            "Vertex: unavailable", "vertex", 503, [],
            #"{"error":{"code":503,"message":"The service is currently unavailable.","status":"UNAVAILABLE"}}"#,
            .overload),
        Answer(
            "Vertex: cancelled", "vertex", 499, [],
            #"{"error":{"code":499,"message":"The operation was cancelled.","status":"CANCELLED"}}"#, .client),
        Answer(
            "Azure: an overloaded engine under 429", "azure", 429, [],
            #"{"error":{"message":"The server is currently overloaded with other requests. Sorry about that! You can retry your request, or contact us if the error persists.","type":"server_error","param":null,"code":null}}"#,
            .overload),
        Answer(
            "Azure: the newest form", "azure", 429, [],
            #"{"error":{"code":"429","message":"Your requests to gpt-4o for gpt-4o in East US have exceeded the call rate limit for your current OpenAI S0 pricing tier. This request was for ChatCompletions_Create under Azure OpenAI API version 2024-10-21. Please retry after 1 second."}}"#,
            .quota, wait: 1000, out: "requests"),
        Answer(
            "Anthropic: requests of an organization", "anthropic", 429, [],
            #"{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit of 50 requests per minute. For details, refer to: https://docs.claude.com/en/api/rate-limits."}}"#,
            .quota, limits: ["requests/60 limit 50"], out: "requests"),
        Answer(
            "Anthropic: a day's tokens", "anthropic", 429, ["retry-after: 39817"],
            #"{"type":"error","error":{"type":"rate_limit_error","message":"Number of request tokens has exceeded your daily rate limit"}}"#,
            .quota, wait: 39_817_000, out: "tokens"),
        Answer(
            "Anthropic: forbidden", "anthropic", 403, [],
            #"{"error":{"type":"forbidden","message":"Request not allowed"}}"#, .auth),
        Answer(
            "Cohere: a model's month", "cohere", 429, [],
            #"{"message":"You are past the per-month request limit for this model, please wait and try again later."}"#,
            .quota, out: "requests"),
        Answer(
            "OpenAI: one request with a stroke", "openai", 429, [],
            #"{"error":{"message":"You've exceeded the 60 request/min rate limit, please slow down and try again.","type":"requests","code":"rate_limit_exceeded"}}"#,
            .quota, limits: ["requests/60 limit 60"], out: "requests"),
        Answer(
            "OpenAI: a limit in a model's name", "openai", 429, [],
            #"{"error":{"message":"Rate limit reached for 10KTPM-200RPM in organization org-x on tokens per min. Limit: 10,000 / min. Please try again in 6ms.","type":"tokens","code":"rate_limit_exceeded"}}"#,
            .quota, wait: 6, limits: ["tokens/60 limit 10000"], out: "tokens"),
        Answer(
            "OpenAI: tokens by usage", "openai", 429, [],
            #"{"error":{"message":"Rate limit reached for gpt-4-1106-preview in organization org-x on tokens_usage_based per day: Limit 500000, Used 499111, Requested 1200. Please try again in 53.74s.","type":"tokens_usage_based","code":"rate_limit_exceeded"}}"#,
            .quota, wait: 53740, limits: ["tokens/86400 limit 500000"], out: "tokens"),
        Answer(
            "Cloudflare's gateway: its own limit", "cloudflare", 429, [],
            #"{"success":false,"result":[],"messages":[],"error":[{"code":2003,"message":"Rate limited"}]}"#, .quota),
        Answer(
            "Vercel: free credits", "vercel", 429, ["retry-after: 120"],
            #"{"error":{"message":"Free credits temporarily have rate limits in place due to abuse. Please try again later, or purchase credits to continue.","type":"rate_limit_exceeded"}}"#,
            .quota, wait: 120_000),
        Answer(
            "Groq: requests of a minute", "groq", 429, ["retry-after: 2"],
            #"{"error":{"message":"Rate limit reached for model `gemma2-9b-it` in organization `org_x` on requests per minute (RPM): Limit 30, Used 30, Requested 1. Please try again in 1.2s.","type":"requests","code":"rate_limit_exceeded"}}"#,
            .quota, wait: 2000, limits: ["requests/60 limit 30"], out: "requests"),
        Answer(
            "Groq: a network that is closed", "groq", 403, [],
            #"{"error":{"message":"Access denied. Please check your network settings."}}"#, .auth),
        Answer(
            "xAI: at capacity", "xai", 503, [],
            #"{"code":"The service is currently unavailable","error":"The model is currently at capacity due to high demand. Please try again in a few minutes or use a different model."}"#,
            .overload),
        Answer(
            "xAI: at capacity under 429", "xai", 429, [],
            #"{"code":"Some resource has been exhausted","error":"The model is at capacity and currently cannot serve this request. Please try again later."}"#,
            .overload),
        Answer(
            "Hugging Face: an endpoint that sleeps", "huggingface", 503, [],
            #"{"error":"503 Service Unavailable"}"#, .overload),
        Answer(
            "a budget in an in-house gateway", nil, 429, [],
            #"{"error":{"message":"Monthly budget exceeded for team x","type":"budget_exceeded"}}"#, .billing),
        Answer(
            "an overloaded upstream behind a 502", nil, 502, [],
            #"{"error":{"message":"Upstream error 529: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}"}}"#,
            .overload),
        Answer(
            "a refusal behind a 500", nil, 500, [],
            #"{"error":{"message":"Error code: 429 - {'error': {'message': 'Rate limit reached for gpt-4o in organization org-x on requests per min (RPM): Limit 500, Used 500, Requested 1. Please try again in 120ms.', 'type': 'requests', 'code': 'rate_limit_exceeded'}}","type":"internal_error"}}"#,
            .quota, wait: 120, limits: ["requests/60 limit 500"], out: "requests"),
    ]

    static let last: [Answer] = [
        Answer(
            "Anthropic: overload as an api_error", "anthropic", 500, [],
            #"{"type":"error","error":{"type":"api_error","message":"Overloaded"},"request_id":null}"#, .overload),
        Answer(
            "Ollama cloud: overloaded", "ollama", 503, [],
            #"{"error":"Server overloaded, please retry shortly (ref: aaa65c70)"}"#, .overload),
        Answer(
            "OpenAI: two events of one overload", "openai", 200, ["content-type: text/event-stream"],
            "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"error\":null}}\n\nevent: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"service_unavailable_error\",\"code\":\"server_is_overloaded\",\"message\":\"Our servers are currently overloaded. Please try again later.\",\"param\":null},\"sequence_number\":2}\n\nevent: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\"error\":{\"code\":\"server_is_overloaded\",\"message\":\"Our servers are currently overloaded.\"}}}\n\n",
            .overload),
        Answer(
            "a model at capacity", "openai", 503, [],
            #"{"detail":"Selected model is at capacity. Please try a different model."}"#, .overload),
        Answer("plain and overloaded", "together", 503, [], "server is overloaded.", .overload),
        Answer(
            "OpenAI: spent credits in plain text", "openai", 429, [],
            "You exceeded your current quota, please check your plan and billing details. For more information on this error, read the docs",
            .billing),
        Answer(
            "a byte order mark", nil, 429, [],
            "\u{FEFF}{\"error\":{\"code\":\"insufficient_quota\",\"message\":\"x\"}}", .billing),
        Answer(
            "Django", nil, 429, [], #"{"detail":"Request was throttled. Expected available in 53 seconds."}"#, .quota,
            wait: 53000),
        Answer("Rack::Attack", nil, 429, [], "Retry later\n", .quota),
        Answer(
            "express-rate-limit", nil, 429,
            ["RateLimit-Policy: 100;w=60", "RateLimit: limit=100, remaining=0, reset=52", "Retry-After: 52"],
            "Too many requests, please try again later.", .quota, wait: 52000,
            limits: ["requests/60 limit 100 left 0 reset 52000"], out: "requests"),
        Answer(
            "Spring Cloud Gateway", nil, 429,
            [
                "X-RateLimit-Remaining: 0", "X-RateLimit-Requested-Tokens: 1", "X-RateLimit-Burst-Capacity: 20",
                "X-RateLimit-Replenish-Rate: 10",
            ], "", .quota, limits: ["requests left 0"], out: "requests"),
        Answer(
            "Traefik", nil, 429, ["Retry-After: 16", "X-Retry-In: 15.5s"], "Too Many Requests", .quota, wait: 16000),
        Answer("Envoy: its own limit", nil, 429, ["x-envoy-ratelimited: true"], "local_rate_limited", .quota),
        Answer(
            "Kong", nil, 429,
            [
                "X-RateLimit-Limit-Minute: 60", "X-RateLimit-Remaining-Minute: 0", "RateLimit-Limit: 60",
                "RateLimit-Remaining: 0", "RateLimit-Reset: 21", "Retry-After: 21",
            ], #"{"message":"API rate limit exceeded"}"#, .quota, wait: 21000,
            limits: ["requests limit 60 left 0 reset 21000", "requests/60 limit 60 left 0"], out: "requests"),
        Answer(
            "GitHub: a secondary limit", "github", 403, [],
            #"{"message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again.","documentation_url":"https://docs.github.com/rest"}"#,
            .quota),
        Answer(
            "Hugging Face: the hub", "huggingface", 429,
            ["ratelimit: \"api\";r=0;t=252", "ratelimit-policy: \"fixed window\";\"api\";q=1000;w=300"],
            "You have reached your 'api' rate limit. Retry after 252 seconds (0/1000 requests remaining in current 300s window).",
            .quota, wait: 252_000, limits: ["requests/300 limit 1000 left 0 reset 252000"], out: "requests"),
        Answer(
            "Portkey: a budget", "portkey", 412, [],
            #"{"error":{"message":"Portkey Error: Budget limit exceeded for this key","type":"budget_limit_exceeded"}}"#,
            .billing),
        Answer(
            "Helicone", "helicone", 429,
            [
                "Helicone-RateLimit-Limit: 1000", "Helicone-RateLimit-Remaining: 0",
                "Helicone-RateLimit-Policy: 1000;w=60;u=request",
            ], #"{"message":"Rate limit reached. Please wait before making more requests."}"#, .quota,
            limits: ["requests limit 1000 left 0"], out: "requests"),
        Answer(
            "OpenAI: no key", "openai", 401, [],
            #"{"error":{"message":"You didn't provide an API key.","type":"invalid_request_error","param":null,"code":null}}"#,
            .auth),
        Answer(
            "OpenAI: a conflict", "openai", 409, [],
            #"{"error":{"message":"The resource was updated by another request.","type":"invalid_request_error","code":"conflict"}}"#,
            .client),
        Answer(
            "OpenAI: a month's use", "openai", 429, [],
            #"{"error":{"message":"You've reached your organization's monthly usage limit.","type":"insufficient_quota","code":"organization_usage_limit_exceeded"}}"#,
            .billing),
        Answer(
            "Azure: a backend's fault", "azure", 500, [],
            #"{"error":{"code":"InternalServerError","message":"Backend returned unexpected response. Please contact Microsoft for help."}}"#,
            .server),
        Answer(
            "Gemini through OpenAI's shape", "gemini", 429, [],
            #"[{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details. \n* Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_input_token_count, limit: 250000, model: gemini-2.5-flash\nPlease retry in 12.1s.","status":"RESOURCE_EXHAUSTED"}}]"#,
            .quota, wait: 12100),
        Answer(
            "Bedrock in OpenAI's shape", "bedrock", 429, [],
            #"{"error":{"code":"rate_limit_exceeded","message":"Too many tokens per day, please wait before trying again.","type":"rate_limit_error","param":null}}"#,
            .quota, out: "tokens"),
        Answer(
            "Volcengine: a plan that has expired", "volcengine", 403, [],
            #"{"error":{"code":"InvalidSubscription","message":"Your account does not have a valid CodingPlan subscription, or your subscription has expired. Request id: 1","type":"Forbidden"}}"#,
            .billing),
        Answer(
            "Z.ai: a plan that has expired", "zai", 429, [],
            #"{"error":{"code":"1309","message":"Your GLM Coding Plan package has expired and is temporarily unavailable. You can resume using it after renewing your subscription on the official website"}}"#,
            .billing),
        Answer(
            "Moonshot: identity", "moonshot", 401, [],
            #"{"error":{"message":"Invalid Authentication","type":"invalid_authentication_error"}}"#, .auth),
        Answer("SiliconFlow: identity, a bare string", "siliconflow", 401, [], #""Invalid token""#, .auth),
        Answer(
            "SiliconFlow: requests, under 403", "siliconflow", 403, [],
            #"{"code":20015,"message":"RPM limit exceeded. Please complete identity verification to lift the restriction.","data":null}"#,
            .quota, out: "requests"),
        Answer(
            "SiliconFlow: requests", "siliconflow", 429, [],
            #"{"code":50604,"message":"Request was rejected due to rate limiting. Details:RPM limit reached.","data":null}"#,
            .quota, out: "requests"),
        Answer(
            "a limit of a day in the code", nil, 429, [],
            #"{"error":{"code":"daily_limit_exceeded","message":"Daily limit of 100 requests per day reached. Resets in 3 hours 20 minutes."}}"#,
            .quota, wait: 12_000_000, limits: ["requests/86400 limit 100"], out: "requests"),
        Answer(
            "a retry in minutes", nil, 429, [], #"{"message":"Too many requests. Please retry in 2 minutes."}"#, .quota,
            wait: 120_000),
        Answer(
            "a wait in a field of milliseconds", nil, 429, [],
            #"{"error":{"type":"rate_limited","retryAfterMs":1200}}"#, .quota, wait: 1200),
        Answer(
            "retryAfter in an extension", nil, 429, [],
            #"{"errors":[{"message":"Too many requests","extensions":{"code":"too_many_requests","metadata":{"retryAfter":30}}}]}"#,
            .quota, wait: 30000),
        Answer(
            "a maintenance page", nil, 503, ["Retry-After: 3600"], "<html><body>Down for maintenance</body></html>",
            .overload, wait: 3_600_000),
        Answer("no healthy upstream", nil, 503, [], "no healthy upstream", .overload),
        Answer(
            "an HTML page of Google under 429", "gemini", 429, ["content-type: text/html"],
            "<!DOCTYPE html><html><head><title>Sorry...</title></head><body>We're sorry... but your computer or network may be sending automated queries.</body></html>",
            .quota),
        Answer(
            "Mistral: inactive subscription", "mistral", 401, [],
            #"{"message":"Inactive subscription or usage limit reached","request_id":"1"}"#, .billing),
        Answer(
            "Cerebras: requests of a day", "cerebras", 429,
            [
                "x-ratelimit-limit-requests-day: 14400", "x-ratelimit-remaining-requests-day: 0",
                "x-ratelimit-reset-requests-day: 33011.382867",
            ],
            #"{"message":"Requests per day limit exceeded - too many requests sent.","type":"too_many_requests_error","param":"quota","code":"request_quota_exceeded"}"#,
            .quota, limits: ["requests/86400 limit 14400 left 0 reset 33011383"], out: "requests"),
    ]
}

/// Half of 138 answers collected in a sixth round, by lot: the rules were mended by what came of these, and of nothing else.
/// One is not here as it came: a rate that is told in Chinese only.
extension Answer {
    static let firstHalf: [Answer] = [
        Answer(
            "Anthropic: a subscription's limit, its shares in headers", "anthropic", 429,
            [
                "anthropic-ratelimit-unified-status: rejected", "anthropic-ratelimit-unified-reset: 1771404540",
                "anthropic-ratelimit-unified-5h-utilization: 1.0", "retry-after: 3120", "x-should-retry: true",
            ],
            #"{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your account's rate limit. Please try again later."},"request_id":"req_1"}"#,
            .quota, wait: 3_120_000, out: ""),
        Answer(
            "Codex: a session's usage, until an instant", "openai", 429, ["Date: Sat, 10 Oct 2026 03:00:00 GMT"],
            #"{"type":"error","error":{"type":"usage_limit_reached","message":"The session usage limit has been reached","resets_at":"2026-10-10T13:00:00+09:00"}}"#,
            .quota, wait: 3_600_000),
        Answer(
            "Anthropic: output that was filtered", "anthropic", 400, [],
            #"{"type":"error","error":{"type":"invalid_request_error","message":"Output blocked by content filtering policy"}}"#,
            .client),
        Answer(
            "Anthropic: a field that a model no longer takes", "anthropic", 400, [],
            #"{"type":"error","error":{"type":"invalid_request_error","message":"`temperature` is deprecated for this model."}}"#,
            .client),
        Answer(
            "xAI: a token that is not valid", "xai", 403, [],
            #"{"code":"The caller does not have permission to execute the specified operation","error":"The OAuth2 access token could not be validated. [WKE=unauthenticated:bad-credentials]"}"#,
            .auth),
        Answer(
            "Pollinations: Azure's peak load", nil, 429, [],
            #"{"success":false,"error":{"message":"azure-openai error: The system is currently experiencing high demand and cannot process your request. Your request exceeds the maximum usage size allowed during peak load. Please retry after 20 seconds. For improved latency reliability, consider switching to Provisioned Throughput.","code":"RATE_LIMITED","timestamp":"2025-12-21T01:27:42.111Z"},"status":429}"#,
            .overload, wait: 20000),
        Answer(
            "Azure: images", "azure", 429, ["retry-after: 36"],
            #"{"error":{"code":"429","message":"Requests to the ImageGenerations_Create Operation under Azure OpenAI API version 2024-02-01 have exceeded rate limit of your current OpenAI S0 pricing tier. Please retry after 36 seconds."}}"#,
            .quota, wait: 36000),
        Answer(
            "Azure: an assistant's run that went well", "azure", 200, [],
            #"{"id":"run_1","object":"thread.run","status":"completed","last_error":null,"usage":{"total_tokens":88}}"#,
            .ok),
        Answer(
            "Azure: a key of an inactive subscription or another region", "azure", 401, [],
            #"{"error":{"code":"401","message":"Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a valid key for an active subscription and use a correct regional API endpoint for your resource."}}"#,
            .auth),
        Answer(
            "Azure: a filtered prompt", "azure", 400, [],
            #"{"error":{"inner_error":{"code":"ResponsibleAIPolicyViolation","content_filter_results":{"violence":{"filtered":true,"severity":"medium"}}},"code":"content_filter","message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt and retry.","param":"prompt","type":null,"status":400}}"#,
            .client),
        Answer(
            "Bedrock: a service quota", "bedrock", 400,
            ["x-amzn-errortype: ServiceQuotaExceededException:http://internal/"],
            #"{"message":"Your request exceeds the service quota for your account. You can view your quotas at viewing service quotas. You can resubmit your request later."}"#,
            .quota),
        Answer(
            "Bedrock: a key that is not valid", "bedrock", 403, [],
            #"{"Message":"Authentication failed: Please make sure your API Key is valid."}"#, .auth),
        Answer(
            "Bedrock: a name of no model", "bedrock", 400, ["x-amzn-errortype: ValidationException"],
            #"{"message":"The provided model identifier is invalid."}"#, .client),
        Answer(
            "Gemini: a free tier of nothing, whose violations leave the 0 out", "gemini", 429, [],
            #"{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits.\n* Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: 0, model: gemini-2.5-pro\nPlease retry in 20.04466179s.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaMetric":"generativelanguage.googleapis.com/generate_content_free_tier_requests","quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier","quotaDimensions":{"location":"global","model":"gemini-2.5-pro"}}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"20s"}]}}"#,
            .billing, wait: 20000),
        Answer(
            "Antigravity: a quota of days", nil, 429, [],
            #"{"error":{"code":429,"message":"Individual quota reached. Contact your administrator to enable overages. Resets in 164h27m24s.","status":"RESOURCE_EXHAUSTED"}}"#,
            .quota, wait: 592_044_000),
        Answer(
            "Code Assist: capacity of one's own, back in half a second", "google", 429, [],
            #"{"error":{"code":429,"message":"You have exhausted your capacity on this model. Your quota will reset after 0s.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"RATE_LIMIT_EXCEEDED","domain":"cloudcode-pa.googleapis.com","metadata":{"model":"claude-opus-4-6-thinking","quotaResetDelay":"479.417207ms","quotaResetTimeStamp":"2026-04-20T09:19:49Z","uiMessage":"true"}},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"0.479417207s"}]}}"#,
            .quota, wait: 479),
        Answer(
            "Gemini: a project that was shut out", "gemini", 403, [],
            #"{"error":{"code":403,"message":"Your project has been denied access. Please contact support.","status":"PERMISSION_DENIED"}}"#,
            .auth),
        Answer(
            "Gemini: too long an input, as an array", "gemini", 400, [],
            #"[{"error":{"code":400,"message":"The input token count (5911388) exceeds the maximum number of tokens allowed (1048576).","errors":[{"message":"The input token count (5911388) exceeds the maximum number of tokens allowed (1048576).","domain":"global","reason":"badRequest"}],"status":"INVALID_ARGUMENT"}}]"#,
            .client),
        Answer(
            "Mistral's SDK: the answer in a sentence", "mistral", 429, [],
            #"{"message":"API error occurred: Status 429 Content-Type application/json Body \n{\"object\":\"error\",\"message\":\"Rate limit exceeded\",\"type\":\"rate_limited\",\"param\":null,\"code\":\"1300\"}","status":429,"modelId":"devstral-2512","providerId":"mistral"}"#,
            .quota),
        Answer(
            "OpenRouter: a key's spending at the provider", "openrouter", 402, [],
            #"{"error":{"message":"Provider returned error","code":402,"metadata":{"raw":"API key USD spend limit exceeded"}}}"#,
            .billing),
        Answer(
            "Hugging Face: a month's credit, in its newer words", "huggingface", 402, [],
            #"{"error":"You have depleted your monthly included credits. Purchase pre-paid credits to continue using Inference Providers. Alternatively, subscribe to PRO to get 20x more included usage."}"#,
            .billing),
        Answer(
            "a proxy that tells NVIDIA's refusal over several lines", nil, 429, [],
            #"{"type":"error","error":{"type":"rate_limit_error","message":"Upstream provider NIM returned HTTP 429.\nCategory: rate_limit\nMapped message: Provider rate limit reached. Please retry shortly.\n\nUpstream error:\n{\"status\":429,\"title\":\"Too Many Requests\"}\n\nRequest ID: req_1"}}"#,
            .quota),
        Answer(
            "Databricks: more output than the endpoint gives", "databricks", 400, [],
            #"{"error_code":"BAD_REQUEST","message":"Bad request: rpc error: code = InvalidArgument desc = max_tokens (10000) cannot exceed 8192. Please reduce the length of max output tokens generated."}"#,
            .client),
        Answer(
            "ModelScope: a day's quota", "modelscope", 429, [],
            #"{"errors":{"message":"You have exceeded today's quota for model moonshotai/Kimi-K2.5, please try again tomorrow"},"request_id":"1"}"#,
            .quota),
        Answer(
            "a coding plan's hours, under 403", nil, 403, [],
            #"{"error":{"message":"Coding Plan hour quota has been exceeded"}}"#, .quota),
        Answer(
            "Codex: a masked refusal", "openai", 400, [],
            #"{"error":{"message":"Request blocked.","type":"invalid_request_error","param":null,"code":"invalid_prompt"}}"#,
            .client),
        Answer(
            "an application's 500 around Groq's refusal, as OpenAI's SDK renders it", nil, 500, [],
            #"{"detail":"Error code: 429 - {'error': {'message': 'Rate limit reached for model `llama3-8b-8192` in organization `org_1` service tier `on_demand` on tokens per minute (TPM): Limit 100000, Used 99821, Requested 1191. Please try again in 606.799999ms. Need more tokens? Visit https://groq.com/self-serve-support/ to request higher limits.', 'type': 'tokens', 'code': 'rate_limit_exceeded'}}"}"#,
            .quota, wait: 607, limits: ["tokens/60 limit 100000"], out: "tokens"),
        Answer(
            "Groq: seconds of audio are none of our resources", "groq", 429, [],
            #"{"error":{"message":"Rate limit reached for model `whisper-large-v3` in organization `org_1` service tier `on_demand` on seconds of audio per hour (ASPH): Limit 7200, Used 6951, Requested 470. Please try again in 1m50.5s. Need more tokens? Upgrade to Dev Tier today at https://console.groq.com/settings/billing","type":"seconds","code":"rate_limit_exceeded"}}"#,
            .quota, wait: 110_500, out: ""),
        Answer(
            "Groq: a model that is gone", "groq", 400, [],
            #"{"error":{"message":"The model `llama-3.1-70b-versatile` has been decommissioned and is no longer supported. Please refer to https://console.groq.com/docs/deprecations for a recommendation on which model to use instead.","type":"invalid_request_error","code":"model_decommissioned"}}"#,
            .client),
        Answer(
            "OpenAI: images are none of our resources", "openai", 429, [],
            #"{"error":{"message":"Rate limit reached for gpt-image-1 in organization org-1 on input-images per min: Limit 5, Used 5, Requested 1. Please try again in 12s.","type":"input-images","param":null,"code":"rate_limit_exceeded"}}"#,
            .quota, wait: 12000, out: ""),
        Answer(
            "OpenAI: an error event without an object around it", "openai", 200, ["content-type: text/event-stream"],
            "event: error\ndata: {\"type\":\"error\",\"code\":\"rate_limit_exceeded\",\"message\":\"too many requests\",\"param\":\"model\"}\n\n",
            .quota),
        Answer(
            "New API: a key without a model", "newapi", 403, [],
            #"{"error":{"message":"This token has no access to model deepseek-v4.1-pro","type":"invalid_request_error"}}"#,
            .auth),
        Answer(
            "AiHubMix: balance, under 403", "aihubmix", 403, [],
            #"{"error":{"type":"Aihubmix_api_error","message":"Your account balance is insufficient. Please recharge your account to continue using the API."}}"#,
            .billing),
        Answer("Gonka: an agent that is not let in", nil, 403, [], #"{"error":"Transfer Agent not allowed"}"#, .auth),
        Answer(
            "CLIProxyAPI: all credentials cool down", nil, 429, [],
            #"{"error":{"code":"model_cooldown","message":"All credentials for model claude-opus-4-6 are cooling down via provider claude","model":"claude-opus-4-6","provider":"claude","reset_seconds":41,"reset_time":"40s"}}"#,
            .quota, wait: 41000),
        Answer(
            "GitHub Models: a minute of a model", "github", 429,
            [
                "x-ms-error-code: RateLimitReached", "x-ratelimit-type: UserByModelByMinute",
                "x-ratelimit-timeremaining: 46", "retry-after: 46",
            ],
            #"{"error":{"code":"RateLimitReached","message":"Rate limit of 10 per 60s exceeded for UserByModelByMinute. Please wait 46 seconds before retrying.","details":"Rate limit of 10 per 60s exceeded for UserByModelByMinute. Please wait 46 seconds before retrying."}}"#,
            .quota, wait: 46000, limits: ["requests/60 limit 10"], out: "requests"),
        Answer(
            "APISIX: tokens of an instance", "apisix", 429,
            [
                "X-AI-RateLimit-Limit-ai-proxy-openai: 300", "X-AI-RateLimit-Remaining-ai-proxy-openai: 0",
                "X-AI-RateLimit-Reset-ai-proxy-openai: 30",
            ], "", .quota, limits: ["tokens limit 300 left 0 reset 30000"], out: "tokens"),
        Answer("Cloudflare: no answer in time", nil, 524, [], "error code: 524", .server),
        Answer("a web application firewall", nil, 403, [], #"{"message":"Forbidden"}"#, .auth),
        Answer("API Gateway: no answer in time", "aws", 504, [], #"{"message":"Endpoint request timed out"}"#, .server),
        Answer(
            "one limit told by two families of headers", nil, 429,
            [
                "x-ratelimit-limit: 20", "x-ratelimit-remaining: 0", "x-ratelimit-reset: 1771404540",
                "ratelimit-limit: 20", "ratelimit-remaining: 0", "ratelimit-reset: 34", "retry-after: 34",
                "date: Wed, 18 Feb 2026 08:48:26 GMT",
            ], "Rate limit exceeded", .quota, wait: 34000, limits: ["requests limit 20 left 0 reset 34000"],
            out: "requests"),
        Answer(
            "windows before what they tell", nil, 429,
            [
                "x-ratelimit-minute-limit: 5", "x-ratelimit-minute-remaining: 0",
                "x-ratelimit-minute-reset: 1771404540",
                "x-ratelimit-day-limit: 100", "x-ratelimit-day-remaining: 41", "date: Wed, 18 Feb 2026 08:48:30 GMT",
            ], "", .quota, limits: ["requests/60 limit 5 left 0 reset 30000", "requests/86400 limit 100 left 41"],
            out: "requests"),
        Answer(
            "a wait as a fraction in the body", nil, 429, [],
            #"{"message":"You are being rate limited.","retry_after":1.5,"global":false}"#, .quota, wait: 1500),
        Answer(
            "Tencent: a signature, inside a success", "hunyuan", 200, [],
            #"{"Response":{"Error":{"Code":"AuthFailure.SignatureFailure","Message":"The provided credentials could not be validated. Please ensure your signature is correct."},"RequestId":"1"}}"#,
            .auth),
        Answer(
            "BytePower: rate, under 400", nil, 400, [],
            #"{"error":{"error_type":"err_rate_limited","message":"rate limited"}}"#, .quota),
        Answer(
            "DashScope: an overdue bill", "dashscope", 429, [],
            #"{"code":"PrepaidBillOverdue","message":"The prepaid bill is overdue.","request_id":"1"}"#, .billing),
        Answer(
            "DashScope: requests, in OpenAI's shape", "dashscope", 429, [],
            #"{"error":{"message":"You exceeded your current requests list.","type":"limit_requests","param":null,"code":"limit_requests"},"request_id":"1"}"#,
            .quota, out: "requests"),
        Answer(
            "DashScope: a model that is away", "dashscope", 503, [],
            #"{"code":"ModelUnavailable","message":"Model is unavailable, please try again later.","request_id":"1"}"#,
            .overload),
        Answer(
            "DashScope: a key", "dashscope", 401, [],
            #"{"code":"InvalidApiKey","message":"Invalid API-key provided.","request_id":"1"}"#, .auth),
        Answer(
            "vLLM: a dead engine", "vllm", 500, [],
            #"{"error":{"message":"EngineCore encountered an issue. See stack trace (above) for the root cause.","type":"InternalServerError","param":null,"code":500}}"#,
            .server),
        Answer(
            "Stability: requests within ten seconds", "stability", 429, [],
            #"{"id":"1","name":"rate_limit_exceeded","errors":["You have exceeded the rate limit of 150 requests within a 10 second period, and have been timed out for 60 seconds."]}"#,
            .quota, wait: 60000, limits: ["requests/10 limit 150"], out: "requests"),
        Answer(
            "Deepgram: requests", "deepgram", 429, [],
            #"{"err_code":"TOO_MANY_REQUESTS","err_msg":"Too many requests. Please try again later","request_id":"1"}"#,
            .quota),
        Answer(
            "Deepgram: credits", "deepgram", 402, [],
            #"{"err_code":"ASR_PAYMENT_REQUIRED","err_msg":"Project does not have enough credits for an ASR request and does not have an overage agreement.","request_id":"1"}"#,
            .billing),
        Answer(
            "watsonx: requests", "watsonx", 429, [],
            #"{"errors":[{"code":"rate_limit_reached_requests","message":"Rate limit reached for requests","more_info":"https://cloud.ibm.com/apidocs/watsonx-ai"}],"trace":"1","status_code":429}"#,
            .quota, out: "requests"),
        Answer(
            "watsonx: a month's tokens, under 403", "watsonx", 403, [],
            #"{"errors":[{"code":"token_quota_reached","message":"Token quota reached"}],"trace":"1","status_code":403}"#,
            .quota, out: "tokens"),
        Answer(
            "MiniMax: an internal fault, inside a success", "minimax", 200, [],
            #"{"base_resp":{"status_code":1013,"status_msg":"internal service error"}}"#, .server),
        Answer(
            "MiniMax: a plan's hours, in Anthropic's shape", "minimax", 429, [],
            #"{"type":"error","error":{"type":"rate_limit_error","message":"usage limit exceeded, 5-hour usage limit reached for Token Plan (2056)","http_code":"429"},"request_id":"1"}"#,
            .quota),
        Answer(
            "Zhipu: a network fault", "zhipu", 500, [],
            #"{"error":{"code":"1234","message":"网络错误，错误id：1，请稍后重试"}}"#, .server),
        Answer(
            "New API: an allowance too small for the call", "newapi", 403, [],
            #"{"error":{"code":"pre_consume_token_quota_failed","message":"token quota is not enough, token remain quota: $0.010000, need quota: $0.020000","type":"new_api_error"}}"#,
            .billing),
        Answer(
            "LiteLLM: a key's tokens, until an instant in words", "litellm", 429,
            ["retry-after: 37", "rate_limit_type: tokens"],
            #"{"error":{"message":"Rate limit exceeded for api_key: 1. Limit type: tokens. Current limit: 1000, Remaining: 0. Limit resets at: 2025-07-01 12:00:00 UTC","type":"None","param":"None","code":"429"}}"#,
            .quota, wait: 37000, limits: ["tokens limit 1000 left 0"], out: "tokens"),
        Answer(
            "Kilo: low credit", "kilo", 402, [],
            #"{"error":{"title":"Low Credit Warning!","message":"Add credits to continue, or switch to a free model","balance":-0.2,"buyCreditsUrl":"https://1"}}"#,
            .billing),
        Answer(
            "WSO2: throttled, until an instant of its own form", nil, 429, [],
            #"{"fault":{"code":900804,"message":"Message throttled out","description":"You have exceeded your quota .You can access API after 2024-Feb-20 06:11:00+0000 UTC","nextAccessTime":"2024-Feb-20 06:11:00+0000 UTC"}}"#,
            .quota),
        Answer(
            "API Connect: limits with names", nil, 429,
            ["X-RateLimit-Limit: name=rate-limit,100;", "X-RateLimit-Remaining: name=rate-limit,0;"],
            #"{"httpCode":"429","httpMessage":"Too Many Requests","moreInformation":"Rate Limit exceeded"}"#, .quota,
            limits: ["requests limit 100 left 0"], out: "requests"),
        Answer(
            "HAProxy", nil, 429, [],
            "<html><body><h1>429 Too Many Requests</h1>\nYou have sent too many requests in a given amount of time.\n</body></html>",
            .quota),
        Answer(
            "Anthropic: a stream that speaks of errors", "anthropic", 200, ["content-type: text/event-stream"],
            "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":1}}}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"{\\\"error\\\":{\\\"type\\\":\\\"overloaded_error\\\"}}\"}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
            .ok),
        Answer(
            "Gemini: a blocked prompt", "gemini", 200, [],
            #"{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":12},"modelVersion":"gemini-2.5-pro"}"#,
            .ok),
    ]
}

/// The other half, held back while the first mended the rules: 55 of 71 came out right in every point before that, 57 after.
extension Answer {
    static let secondHalf: [Answer] = [
        Answer(
            "Anthropic: input tokens, organization and model in brackets", "anthropic", 429, [],
            #"{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit of 30,000 input tokens per minute (org: 1, model: claude-sonnet-4-20250514). For details, refer to: https://docs.claude.com/en/api/rate-limits. You can see the response headers for current usage. Please reduce the prompt length or the maximum tokens requested, or try again later."}"#,
            .quota, limits: ["input_tokens/60 limit 30000"], out: "input_tokens"),
        Answer(
            "claude.ai: messages, until an instant in seconds", "claude", 429, ["Date: Wed, 04 Jun 2025 16:00:00 GMT"],
            #"{"type":"error","error":{"type":"rate_limit_error","message":"Exceeded message limit","resetsAt":1749056400,"remaining":0,"perModelLimit":false}}"#,
            .quota, wait: 3_600_000),
        Answer(
            "Anthropic: a plan that may not use its sign-in", "anthropic", 403, [],
            #"{"type":"error","error":{"type":"permission_error","message":"OAuth authentication is currently not allowed for this organization."}}"#,
            .auth),
        Answer("xAI: nobody signed in", "xai", 401, [], #"{"error":"Authentication required"}"#, .auth),
        Answer(
            "Together: a free account's queries, typed as credit", "together", 429, [],
            #"{"error":{"message":"You have been rate limited. Your rate limit is 60 queries per minute. Please navigate to https://api.together.xyz/settings/billing to upgrade to a paid plan.","type":"credit_limit","param":null,"code":null}}"#,
            .quota, limits: ["requests/60 limit 60"], out: "requests"),
        Answer(
            "Azure: a small deployment, limits in headers", "azure", 429,
            [
                "x-envoy-upstream-service-time: 68", "x-ms-region: North Central US", "x-ratelimit-limit-requests: 8",
                "x-ratelimit-limit-tokens: 8000", "x-ratelimit-remaining-requests: 7",
                "x-ratelimit-remaining-tokens: 1014",
            ], #"{"error":{"code":"429","message": "Rate limit is exceeded. Try again in 2 seconds."}}"#,
            .quota, wait: 2000, limits: ["requests/60 limit 8 left 7", "tokens/60 limit 8000 left 1014"]),
        Answer(
            "LiteLLM: Azure's tokens, typed as throttling", "litellm", 429, [],
            #"{"error":{"message":"litellm.RateLimitError: AzureException RateLimitError - Error code: 429 - {'error': {'code': '429', 'message': 'Requests to the ChatCompletions_Create Operation under Azure OpenAI API version 2023-05-15 have exceeded token rate limit of your current AIServices S0 pricing tier. Please retry after 86400 seconds. Please contact Azure support service if you would like to further increase the default rate limit.'}}\nReceived Model Group=azure-gpt-4o-mini\nAvailable Model Group Fallbacks=None","type":"throttling_error","param":null,"code":"429"}}"#,
            .quota, wait: 86_400_000, out: "tokens"),
        Answer(
            "Azure: an assistant's run that was refused", "azure", 200, [],
            #"{"id":"run_1","object":"thread.run","status":"failed","last_error":{"code":"rate_limit_exceeded","message":"Rate limit is exceeded. Try again in 21 seconds."},"usage":null}"#,
            .quota, wait: 21000),
        Answer(
            "Azure: keys are switched off", "azure", 403, [],
            #"{"error":{"code":"AuthenticationTypeDisabled","message":"Key based authentication is disabled for this resource."}}"#,
            .auth),
        Answer(
            "Azure: what remains, on a success", "azure", 200,
            ["x-ratelimit-remaining-requests: 149", "x-ratelimit-remaining-tokens: 149976"], #"{"id":"chatcmpl-1"}"#,
            .ok, limits: ["requests/60 left 149", "tokens/60 left 149976"]),
        Answer(
            "boto3's rendering of a throttled stream", "bedrock", 429, [],
            "An error occurred (throttlingException) when calling the InvokeModelWithResponseStream operation: Too many requests, please wait before trying again. You have sent too many requests.  Wait before trying again.",
            .quota, out: "requests"),
        Answer(
            "boto3's rendering of a day's tokens, in an application's 500", nil, 500, [],
            #"{"detail":"An error occurred (ThrottlingException) when calling the Converse operation (reached max retries: 4): Too many tokens per day, please wait before trying again."}"#,
            .quota, out: "tokens"),
        Answer(
            "AWS's JavaScript SDK: a throttled call, as an object", "bedrock", 429, [],
            #"{"name":"ThrottlingException","$fault":"client","$metadata":{"httpStatusCode":429,"requestId":"1","attempts":3,"totalRetryDelay":787}}"#,
            .quota),
        Answer(
            "Bedrock: a stream whose model failed", "bedrock", 200, [],
            #"{"modelStreamErrorException":{"message":"The model returned the following errors: internal","originalStatusCode":500,"originalMessage":"internal"}}"#,
            .server),
        Answer(
            "Gemini: overloaded, the JSON in a string", "gemini", 503, [],
            #"{"error":{"message":"{\n  \"error\": {\n    \"code\": 503,\n    \"message\": \"The model is overloaded. Please try again later.\",\n    \"status\": \"UNAVAILABLE\"\n  }\n}\n","code":503,"status":"Service Unavailable"}}"#,
            .overload),
        Answer(
            "Gemini: the exhausted resource, in a string", "gemini", 429, [],
            #"{"error":{"message":"{\n  \"error\": {\n    \"code\": 429,\n    \"message\": \"Resource has been exhausted (e.g. check quota).\",\n    \"status\": \"RESOURCE_EXHAUSTED\"\n  }\n}\n","code":429,"status":"Too Many Requests"}}"#,
            .quota),
        Answer(
            "Code Assist: capacity of one's own, in words", "gemini", 429, [],
            #"{"error":{"message":"You have exhausted your capacity on this model. Your quota will reset after 1h43m56s."}}"#,
            .quota, wait: 6_236_000),
        Answer(
            "Code Assist: a reason in place of a message", "gemini", 429, [],
            #"{"error":{"status":"RESOURCE_EXHAUSTED","message":"QUOTA_EXHAUSTED"}}"#, .quota),
        Answer(
            "Gemini: a cap on spending", "gemini", 429, [],
            #"{"error":{"code":429,"message":"Your project has exceeded its spending cap. Please go to AI Studio at https://ai.studio/spend to manage your project's spending cap.","status":"RESOURCE_EXHAUSTED"}}"#,
            .billing),
        Answer(
            "Cerebras: a message, as a JSON string of its own", "cerebras", 429, [],
            #""Tokens per minute limit exceeded - too many tokens processed.""#, .quota, out: "tokens"),
        Answer(
            "Cerebras: minutes, hours and days", "cerebras", 200,
            [
                "x-ratelimit-limit-requests-day: 14400", "x-ratelimit-remaining-requests-day: 14399",
                "x-ratelimit-limit-tokens-minute: 64000", "x-ratelimit-remaining-tokens-minute: 63990",
                "x-ratelimit-limit-tokens-hour: 1000000", "x-ratelimit-remaining-tokens-hour: 999990",
                "x-ratelimit-limit-tokens-day: 1000000", "x-ratelimit-remaining-tokens-day: 999990",
            ], "{}", .ok,
            limits: [
                "requests/86400 limit 14400 left 14399", "tokens/60 limit 64000 left 63990",
                "tokens/3600 limit 1000000 left 999990", "tokens/86400 limit 1000000 left 999990",
            ]),
        Answer(
            "Mistral: a minute that is used up, in headers", "mistral", 429,
            [
                "x-ratelimit-remaining-req-minute: 0", "x-ratelimit-limit-req-minute: 100",
                "x-ratelimit-remaining-tokens-minute: 0", "x-ratelimit-tokens-query-cost: 50", "Retry-After: 1",
            ], #"{"message":"Requests rate limit exceeded"}"#, .quota, wait: 1000,
            limits: ["requests/60 limit 100 left 0", "tokens/60 left 0"]),
        Answer(
            "OpenRouter: an image too many for the provider", "openrouter", 400, [],
            #"{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"type\":\"invalid_request_error\",\"code\":\"invalid_request_error\",\"message\":\"Model 'moonshotai/kimi-k2.6' supports at most 1 image per prompt.\"}}","provider_name":"Crucible","is_byok":false}},"user_id":"user_1"}"#,
            .client),
        Answer(
            "OpenRouter: a provider behind Cloudflare", "openrouter", 200, [],
            #"{"id":"gen-1","choices":[],"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"error code: 1015","provider_name":"Kluster"}}}"#,
            .overload),
        Answer(
            "OpenRouter: a provider without a healthy host", "openrouter", 503, [],
            #"{"error":{"message":"Provider returned error","code":503,"metadata":{"raw":"no healthy upstream","provider_name":"OpenInference"}}}"#,
            .overload),
        Answer(
            "NVIDIA: an account without the right", "nvidia", 403, [],
            #"{"status":403,"title":"Forbidden","detail":"Authorization failed"}"#, .auth),
        Answer(
            "NVIDIA: a function that is not there", "nvidia", 404, [],
            #"{"status":404,"title":"Not Found","detail":"Function '1': Not found for account '2'"}"#, .client),
        Answer(
            "FriendliAI: credits, under 403", "friendli", 403, [],
            #"{"detail":"You've exhausted all your credits. Please add a payment method to continue."}"#, .billing),
        Answer(
            "Command Code: credits, under 400", nil, 400, [],
            #"{"error":{"message":"You have insufficient credits to make this request. Please purchase more credits to continue using the service."}}"#,
            .billing),
        Answer(
            "llama.cpp: a context", "llamacpp", 400, [],
            #"{"error":{"code":400,"message":"request (33247 tokens) exceeds the available context size (32768 tokens), try increasing it","type":"exceed_context_size_error"}}"#,
            .client),
        Answer(
            "llama.cpp: a batch", "llamacpp", 500, [],
            #"{"error":{"code":500,"message":"input (549 tokens) is too large to process. increase the physical batch size (current batch size: 512)","type":"server_error"}}"#,
            .server),
        Answer(
            "llama.cpp: a model that loads", "llamacpp", 503, [],
            #"{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}"#, .overload),
        Answer(
            "Nous: reasoning cannot be off", "nous", 400, [],
            #"{"error":{"message":"This request is not valid. Check the model name and other parameters. Additional info: Reasoning is mandatory for this endpoint and cannot be disabled."}}"#,
            .client),
        Answer(
            "an application's 500 around a spent OpenAI account", nil, 500, [],
            #"{"detail":"Error code: 429 - {'error': {'message': 'You exceeded your current quota, please check your plan and billing details. For more information on this error, read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors.', 'type': 'insufficient_quota', 'param': None, 'code': 'insufficient_quota'}}"}"#,
            .billing),
        Answer(
            "OpenAI: an engine at its capacity, in a stream", "openai", 200, ["content-type: text/event-stream"],
            "data: {\"type\":\"error\",\"error\":{\"code\":\"rate_limit_exceeded\",\"message\":\"Selected model is at capacity\",\"status\":429}}\n\n",
            .overload),
        Answer(
            "OpenAI: a project without a model", "openai", 403, [],
            #"{"error":{"message":"Project `proj_1` does not have access to model `gpt-4.1`","type":"invalid_request_error","param":null,"code":"model_not_found"}}"#,
            .auth),
        Answer(
            "Doubao: no access", "doubao", 403, [],
            #"{"error":{"code":"AccessDenied","message":"The request failed because you do not have access to the requested resource. Request id: 1","param":"","type":"Forbidden"}}"#,
            .auth),
        Answer(
            "Berget: no wallet", nil, 402, [],
            #"{"error":{"code":"WALLET_NOT_SETUP","message":"No subscription found for this API key."}}"#, .billing),
        Answer(
            "9Router: an upstream's 429 in a 503", nil, 503, [],
            #"{"error":{"message":"[claude/claude-sonnet-5] [429]: {\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"This request would exceed your account's rate limit. Please try again later.\"}} (reset after 5m)"}}"#,
            .quota, wait: 300_000),
        Answer(
            "a proxy whose accounts are all away", nil, 503, [],
            #"{"error":{"type":"proxy_unavailable","message":"All accounts are currently unavailable."}}"#, .overload),
        Answer(
            "a proxy before a vLLM that sleeps", "vllm", 503, [],
            #"{"detail":"vLLM server unavailable: All connection attempts failed"}"#, .overload),
        Answer(
            "Hunyuan: an engine's fault", "hunyuan", 500, [],
            #"{"error":{"message":"model engine error","type":"runtime_error","code":"20057"}}"#, .server),
        Answer(
            "DashScope: a host out of reach", "dashscope", 500, [],
            #"{"error":{"code":"InternalError.Algo","message":"Cannot connect to host 1:443 ssl:default [Connect call failed]","type":"api_error"},"request_id":"1"}"#,
            .server),
        Answer(
            "Kong: a provider's tokens of a minute", "kong", 429,
            [
                "X-AI-RateLimit-Limit-minute-openai: 500", "X-AI-RateLimit-Remaining-minute-openai: 0",
                "X-AI-RateLimit-Reset-minute-openai: 43", "Retry-After: 43",
            ], #"{"message":"AI token rate limit exceeded for provider(s): openai"}"#, .quota, wait: 43000,
            limits: ["tokens/60 limit 500 left 0 reset 43000"], out: "tokens"),
        Answer(
            "express-rate-limit: the draft's policy beside the three headers", nil, 429,
            [
                "RateLimit-Policy: 100;w=60", "RateLimit-Limit: 100", "RateLimit-Remaining: 0", "RateLimit-Reset: 58",
                "Retry-After: 58",
            ], "Too many requests, please try again later.", .quota, wait: 58000,
            limits: ["requests/60 limit 100 left 0 reset 58000"], out: "requests"),
        Answer(
            "the draft: a day", nil, 200,
            [#"RateLimit-Policy: "football";q=7500;w=86400"#, #"RateLimit: "football";r=7213;t=52800"#], "{}", .ok,
            limits: ["requests/86400 limit 7500 left 7213 reset 52800000"]),
        Answer(
            "the draft: a second, with a partition key", nil, 200,
            [#"ratelimit-policy: "10-in-1sec"; q=10; w=1; pk=:YWJj:"#, #"ratelimit: "10-in-1sec"; r=9; t=1"#], "{}",
            .ok,
            limits: ["requests/1 limit 10 left 9 reset 1000"]),
        Answer(
            "RapidAPI: a plan's minute", nil, 429,
            [
                "x-ratelimit-requests-limit: 500", "x-ratelimit-requests-remaining: 488",
                "x-ratelimit-requests-reset: 2500000",
            ], #"{"message":"You have exceeded the rate limit per minute for your plan, BASIC, by the API provider"}"#,
            .quota, limits: ["requests limit 500 left 488 reset 2500000000"]),
        Answer(
            "SambaNova: too high a value", "sambanova", 400, [],
            #"{"error":{"message":"Decimal above maximum value. Expected a value between 0 and 1, but got 100 instead.","type":"invalid_request_error","param":"top_p","code":"decimal_above_max_value"}}"#,
            .client),
        Answer(
            "Qianfan: no JSON", "qianfan", 400, [],
            #"{"error":{"code":"malformed_json","message":"Invalid Argument","type":"invalid_request_error"},"id":"as-1"}"#,
            .client),
        Answer(
            "Tencent: a resource pack, inside a success", "hunyuan", 200, [],
            #"{"Response":{"Error":{"Code":"FailedOperation.ResourcePackExhausted","Message":"资源包余量已用尽，请购买资源包或开通后付费。"},"RequestId":"1"}}"#,
            .billing),
        Answer(
            "a platform's tokens a minute, in Chinese", nil, 429, [],
            #"{"code":700002,"detail":"用户请求TPM超限,请减少tokens后重试","message":"USER_TPM_RATELIMITING","error":{"code":"700002","message":"用户请求TPM超限,请减少tokens后重试","type":"USER_TPM_RATELIMITING"}}"#,
            .quota, out: "tokens"),
        Answer(
            "BytePower: its own rate, under 417", nil, 417, [],
            #"{"error":{"error_type":"api_rate_limit","message":"xxxxx"}}"#, .quota),
        Answer(
            "BytePower: balance, under 400", nil, 400, [],
            #"{"error":{"error_type":"err_insufficient_balance","message":"xxxxx"}}"#, .billing),
        Answer(
            "DashScope: nothing bought", "dashscope", 429, [],
            #"{"code":"CommodityNotPurchased","message":"Commodity has not purchased yet.","request_id":"1"}"#, .billing
        ),
        Answer(
            "TGI: a generation that failed", "tgi", 424, [],
            #"{"error":"Request failed during generation: Server error: CANCELLED","error_type":"generation"}"#, .server
        ),
        Answer(
            "TGI: too long an input", "tgi", 422, [],
            #"{"error":"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens and 500 `max_new_tokens`","error_type":"validation"}"#,
            .client),
        Answer(
            "vLLM: a context", "vllm", 400, [],
            #"{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4488 in the messages, 512 in the completion). Please reduce the length of the messages or completion.","type":"BadRequestError","param":null,"code":400}"#,
            .client),
        Answer(
            "Ray Serve: backpressure", "ray", 503, [],
            "Request dropped due to backpressure (num_queued_requests=100, max_queued_requests=100).", .overload),
        Answer(
            "Voyage: no payment method", "voyage", 429, [],
            #"{"detail":"You have not yet added your payment method in the billing page and will have reduced rate limits of 3 RPM and 10K TPM. To unlock our standard rate limits, please add a payment method in the billing page for the appropriate organization in the user dashboard."}"#,
            .quota, limits: ["requests/60 limit 3", "tokens/60 limit 10000"]),
        Answer(
            "fal: a locked user, under 403", "fal", 403, [],
            #"{"detail":"User is locked. Reason: Exhausted balance. Top up your balance at fal.ai/dashboard/billing."}"#,
            .billing),
        Answer(
            "Runway: credits, under 400", "runway", 400, [],
            #"{"error":"You do not have enough credits to run this task."}"#, .billing),
        Answer("DeepInfra: busy", "deepinfra", 429, [], #"{"detail":{"error":"Model busy, retry later"}}"#, .overload),
        Answer(
            "Zhipu: parameters", "zhipu", 400, [], #"{"error":{"code":"1210","message":"API 调用参数有误，请检查文档。"}}"#, .client),
        Answer(
            "New API: a saturated upstream, in Chinese", "newapi", 429, [],
            #"{"error":{"message":"当前分组上游负载已饱和，请稍后再试 (request id: 1)","type":"new_api_error","param":"","code":""}}"#,
            .overload),
        Answer(
            "New API: a key whose allowance is spent, in Chinese", "newapi", 401, [],
            #"{"error":{"message":"该令牌额度已用尽 (request id: 1)","type":"new_api_error","param":"","code":""}}"#, .billing),
        Answer(
            "OpenCode: no session in the request", "opencode", 400, [],
            #"{"type":"error","error":{"type":"MissingSessionID","message":"Request is missing x-opencode-session and cannot be routed efficiently."}}"#,
            .client),
        Answer(
            "OpenCode: no payment method, under 401", "opencode", 401, [],
            #"{"type":"error","error":{"type":"CreditsError","message":"No payment method. Add a payment method here: https://opencode.ai/workspace/1/billing"}}"#,
            .billing),
        Answer(
            "Bifrost: tokens of an hour", "bifrost", 429, [],
            #"{"type":"rate_limited","status_code":429,"error":{"message":"Rate limits exceeded: [token limit exceeded (1500/1000, resets every 1h)]"}}"#,
            .quota, limits: ["tokens/3600 limit 1000"], out: "tokens"),
        Answer("Tyk: a quota, under 403", nil, 403, [], #"{"error": "Quota exceeded"}"#, .quota),
        Answer(
            "Replicate: a field that is missing", "replicate", 422, [],
            #"{"title":"Input validation failed","detail":"- input: prompt is required\n","status":422,"invalid_fields":[{"type":"required","field":"input","description":"prompt is required"}]}"#,
            .client),
    ]
}

/// Whoever stands before other providers: OpenRouter, LiteLLM, Cloudflare, GitHub Models, Databricks, watsonx and plain
/// HTTP servers.
extension Answer {
    static let proxies: [Answer] = [
        Answer(
            "OpenRouter: free models in a minute", "openrouter", 429, ["date: Mon, 06 Oct 2025 11:26:40 GMT"],
            #"{"error":{"message":"Rate limit exceeded: free-models-per-min. ","code":429,"metadata":{"headers":{"X-RateLimit-Limit":"20","X-RateLimit-Remaining":"0","X-RateLimit-Reset":"1759750012000"},"provider_name":null}},"user_id":"user_x"}"#,
            .quota, limits: ["requests limit 20 left 0 reset 12000"], out: "requests"),
        Answer(
            "OpenRouter: free models in a day", "openrouter", 429, [],
            #"{"error":{"message":"Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per day","code":429}}"#,
            .quota, out: "requests"),
        Answer(
            "OpenRouter: an upstream's free pool", "openrouter", 429, [],
            #"{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"nvidia/nemotron-3-super-120b-a12b:free is temporarily rate-limited upstream. Please retry shortly, or add your own key to accumulate your rate limits","provider_name":"Nvidia"}}}"#,
            .overload),
        Answer(
            "OpenRouter: credit spent at the provider behind it", "openrouter", 429, [],
            #"{"error":{"message":"Provider returned error","code":429,"metadata":{"provider_name":"Anthropic","raw":"{\"type\":\"error\",\"error\":{\"type\":\"credit_balance_exhausted\",\"message\":\"Your credit balance is too low\"}}"}}}"#,
            .billing),
        Answer(
            "OpenRouter: more than one can afford", "openrouter", 402, [],
            #"{"error":{"message":"This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford 900.","code":402}}"#,
            .billing),
        Answer(
            "OpenRouter: a flagged input", "openrouter", 403, [],
            #"{"error":{"message":"meta-llama/llama-3-70b requires moderation on OpenRouter. Your input was flagged for \"harassment\".","code":403,"metadata":{"reasons":["harassment"],"flagged_input":"rate limit","provider_name":"Meta"}}}"#,
            .client),
        Answer(
            "OpenRouter: a key's own limit", "openrouter", 403, [],
            #"{"error":{"message":"Key limit exceeded (total limit). Manage it using https://openrouter.ai/settings/keys","code":403}}"#,
            .billing),
        Answer(
            "OpenRouter: nobody to ask", "openrouter", 503, [],
            #"{"error":{"message":"No available providers for this model","code":503}}"#, .overload),
        Answer(
            "OpenRouter: a provider's fault", "openrouter", 502, [],
            #"{"error":{"message":"Provider returned error","code":502,"metadata":{"provider_name":"Z.AI","raw":"upstream error"}}}"#,
            .server),
        Answer(
            "OpenRouter: no such model", "openrouter", 404, [],
            #"{"error":{"message":"No endpoints found for nvidia/nemotron-x:free.","code":404}}"#, .client),
        Answer(
            "OpenRouter: a fault in the middle of a stream", "openrouter", 200, ["content-type: text/event-stream"],
            ": OPENROUTER PROCESSING\n\ndata: {\"id\":\"gen-1\",\"choices\":[{\"delta\":{\"content\":\"Half an\"}}]}\n\ndata: {\"id\":\"gen-1\",\"object\":\"chat.completion.chunk\",\"error\":{\"code\":\"server_error\",\"message\":\"Provider disconnected unexpectedly\"},\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\"},\"finish_reason\":\"error\"}]}\n\n",
            .server),
        Answer(
            "OpenRouter: a 429 inside a success", "openrouter", 200, [],
            #"{"error":{"code":429,"message":"Provider returned error","metadata":{"provider_name":"Google","raw":"google/gemma:free is temporarily rate-limited upstream."}},"user_id":"user_x"}"#,
            .overload),
        Answer(
            "LiteLLM: Azure's refusal inside its own", "litellm", 429, [],
            #"{"error":{"message":"litellm.RateLimitError: AzureException RateLimitError - Error code: 429 - {'error': {'code': '429', 'message': 'Requests to the ChatCompletions_Create Operation under Azure OpenAI API version 2023-05-15 have exceeded token rate limit of your current AIServices S0 pricing tier. Please retry after 86400 seconds.'}}\nReceived Model Group=azure-gpt-4o-mini\nAvailable Model Group Fallbacks=None","type":"throttling_error","param":null,"code":"429"}}"#,
            .quota, wait: 86_400_000, out: "tokens"),
        Answer(
            "LiteLLM: the pool behind Vertex", "litellm", 429, [],
            #"{"error":{"message":"litellm.RateLimitError: VertexAIException - {\n  \"error\": {\n    \"code\": 429,\n    \"message\": \"Resource exhausted. Please try again later.\",\n    \"status\": \"RESOURCE_EXHAUSTED\"\n  }\n}\n","type":"throttling_error","param":null,"code":"429"}}"#,
            .overload),
        Answer(
            "LiteLLM: an overloaded Anthropic, as a 500", "litellm", 500, [],
            #"{"error":{"message":"litellm.InternalServerError: AnthropicException - {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}. Handle with `litellm.InternalServerError`.","type":null,"param":null,"code":"500"}}"#,
            .overload),
        Answer(
            "LiteLLM: a key's own limits", "litellm", 429, [],
            #"{"error":{"message":"litellm.RateLimitError: RateLimitError: Crossed TPM / RPM Limit. current tpm: 20112, tpm limit: 20000. Limit type: tpm. Rate limit exceeded for key.","type":"None","param":"None","code":"429"}}"#,
            .quota, limits: ["tokens/60 limit 20000"], out: "tokens"),
        Answer(
            "LiteLLM: a budget that is spent", "litellm", 400, [],
            #"{"error":{"message":"Budget has been exceeded! Current cost: 12.3, Max budget: 12.0","type":"budget_exceeded","param":null,"code":"400"}}"#,
            .billing),
        Answer(
            "LiteLLM: a budget that is spent, under 429", "litellm", 429, [],
            #"{"error":{"message":"Budget has been exceeded! Current cost: 5.0, Max budget: 1.0","type":"budget_exceeded","param":null,"code":"429"}}"#,
            .billing),
        Answer(
            "LiteLLM: a provider's budget", "litellm", 429, [],
            #"{"error":{"message":"litellm.BudgetExceededError: ExceededBudget: User=x over budget. Spend=20.1, Budget=20","type":"budget_exceeded","param":null,"code":"429"}}"#,
            .billing),
        Answer(
            "LiteLLM: a context", "litellm", 400, [],
            #"{"error":{"message":"litellm.BadRequestError: litellm.ContextWindowExceededError: OpenAIException - This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.","type":"invalid_request_error","param":"messages","code":"400"}}"#,
            .client),
        Answer(
            "LiteLLM: a wrong key behind it", "litellm", 401, [],
            #"{"error":{"message":"litellm.AuthenticationError: AuthenticationError: OpenAIException - Incorrect API key provided: sk-x","type":"invalid_request_error","param":null,"code":"401"}}"#,
            .auth),
        Answer(
            "Cloudflare: too fast for its edge", nil, 429, ["retry-after: 10", "server: cloudflare"],
            "error code: 1015", .quota, wait: 10000),
        Answer("Cloudflare: an origin that times out", nil, 524, ["server: cloudflare"], "error code: 524", .server),
        Answer("Cloudflare: an origin that is down", nil, 521, ["server: cloudflare"], "error code: 521", .server),
        Answer(
            "Workers AI: the day's neurons", "workers-ai", 429, [],
            #"{"errors":[{"message":"AiError: you have used up your daily free allocation of 10,000 neurons, please upgrade to Cloudflare's Workers Paid plan if you would like to continue usage.","code":4006}],"success":false,"result":{},"messages":[]}"#,
            .quota, out: ""),
        Answer(
            "Workers AI: capacity", "cloudflare", 429, [],
            #"{"success":false,"errors":[{"code":"3040","message":"Capacity temporarily exceeded, please try again."}]}"#,
            .overload),
        Answer(
            "Workers AI: capacity, behind a 502", "cloudflare", 502, [],
            #"{"success":false,"errors":[{"code":3040,"message":"Upstream unavailable"}]}"#, .overload),
        Answer(
            "GitHub Models: a day of a model", "github", 429,
            ["retry-after: 52220", "x-ratelimit-type: UserByModelByDay", "x-ratelimit-timeremaining: 52220"],
            #"{"error":{"code":"RateLimitReached","message":"Rate limit of 50 per 86400s exceeded for UserByModelByDay. Please wait 52220 seconds before retrying.","details":"Rate limit of 50 per 86400s exceeded for UserByModelByDay. Please wait 52220 seconds before retrying."}}"#,
            .quota, wait: 52_220_000, limits: ["requests/86400 limit 50"], out: "requests"),
        Answer(
            "GitHub Models: requests at once are none of our resources", "github", 429, ["retry-after: 0"],
            #"{"error":{"code":"RateLimitReached","message":"Rate limit of 5 per 0s exceeded for UserConcurrentRequests. Please wait 0 seconds before retrying."}}"#,
            .quota, wait: 0),
        Answer(
            "GitHub Models: too large a body", "github", 413, [],
            #"{"error":{"code":"tokens_limit_reached","message":"Request body too large for gpt-4o model. Max size: 8000 tokens.","details":"Request body too large for gpt-4o model. Max size: 8000 tokens."}}"#,
            .client),
        Answer("GitHub Models: plain", "github", 429, ["content-type: text/plain"], "Too many requests", .quota),
        Answer(
            "Databricks: input tokens of a workspace", "databricks", 429, [],
            #"{"error_code":"REQUEST_LIMIT_EXCEEDED","message":"REQUEST_LIMIT_EXCEEDED: Exceeded workspace input tokens per minute rate limit for databricks-claude-sonnet-4-6."}"#,
            .quota, out: "input_tokens"),
        Answer(
            "Databricks: too many requests", "databricks", 429, [],
            #"{"error_code":"RESOURCE_EXHAUSTED","message":"Too many requests. Please wait a moment and try again."}"#,
            .quota),
        Answer(
            "Databricks: unavailable", "databricks", 503, [],
            #"{"error_code":"TEMPORARILY_UNAVAILABLE","message":"The service at /serving-endpoints is temporarily unavailable. Please try again later."}"#,
            .overload),
        Answer(
            "watsonx: a plan's tokens, under 403", "watsonx", 403, [],
            #"{"errors":[{"code":"token_quota_reached","message":"Request of 1 token(s) from quota was rejected","more_info":"https://cloud.ibm.com/apidocs/watsonx-ai#text-chat"}],"trace":"1","status_code":403}"#,
            .quota, out: "tokens"),
        Answer(
            "watsonx: a pool that free users share", "watsonx", 429, [],
            #"{"errors":[{"code":"consumption_limit_reached","message":"The model is at capacity: consumption limit reached for concurrent requests."}],"status_code":429}"#,
            .overload),
        Answer(
            "watsonx: requests", "watsonx", 429, [],
            #"{"errors":[{"code":"rate_limit_reached_requests","message":"Request rate limit reached"}],"status_code":429}"#,
            .quota, out: "requests"),
        Answer(
            "Vercel: a card that is asked for", "vercel", 403, [],
            #"{"error":{"message":"AI Gateway requires a valid credit card on file to service requests.","type":"customer_verification_required"}}"#,
            .billing),
        Answer(
            "Vercel: a budget", "vercel", 402, [],
            #"{"error":{"message":"Quota exceeded for this team","type":"quota_for_entity_exceeded"}}"#, .billing),
        Answer(
            "AI/ML API: no funds, under 403", "aimlapi", 403, [],
            #"{"title":"Forbidden","status":403,"message":"You've run out of funds. Please top up your balance or update your payment method to continue: https://aimlapi.com/app/billing"}"#,
            .billing),
        Answer(
            "OpenCode: a plan's five hours", "opencode", 429, [],
            #"{"type":"error","error":{"type":"GoUsageLimitError","message":"5-hour usage limit reached. Resets in 4hr 57min."},"metadata":{"limitName":"5 hour"}}"#,
            .quota, wait: 17_820_000),
        Answer(
            "OpenCode: a plan's quota inside a success", "opencode", 200, [],
            #"{"type":"error","error":{"type":"GoUsageLimitError","message":"Subscription quota exceeded. You can continue using free models."}}"#,
            .quota),
        Answer(
            "Amazon's load balancer", nil, 503, ["server: awselb/2.0", "content-type: text/html"],
            "<html>\r\n<head><title>503 Service Temporarily Unavailable</title></head></html>", .overload),
        Answer(
            "nginx: too many requests", nil, 429, ["server: nginx"],
            "<html>\r\n<head><title>429 Too Many Requests</title></head>\r\n<body>\r\n<center><h1>429 Too Many Requests</h1></center>\r\n</body></html>",
            .quota),
        Answer(
            "Envoy: a broken connection", nil, 503, ["server: envoy"],
            "upstream connect error or disconnect/reset before headers. reset reason: connection failure", .overload),
        Answer("a gateway's time-out", nil, 504, [], "stream timeout", .server),
        Answer("a method that is not allowed", nil, 405, [], #"{"detail":"Method Not Allowed"}"#, .client),
        Answer(
            "a problem document: reduced capacity", nil, 503,
            ["content-type: application/problem+json", "retry-after: 30"],
            #"{"type":"https://iana.org/assignments/http-problem-types#temporary-reduced-capacity","title":"Request cannot be satisfied due to temporary server capacity constraints","violated-policies":["hour"]}"#,
            .overload, wait: 30000),
        Answer(
            "a problem document: abnormal usage", nil, 429, ["content-type: application/problem+json"],
            #"{"type":"https://iana.org/assignments/http-problem-types#abnormal-usage-detected","title":"Request not satisfied due to detection of abnormal request pattern"}"#,
            .quota),
        Answer(
            "a web server of Python", nil, 429,
            ["retry-after: Wed, 04 Mar 2026 04:54:40 GMT", "date: Wed, 04 Mar 2026 04:53:40 GMT"],
            #"{"error":"Rate limit exceeded: 10 per 1 minute"}"#, .quota, wait: 60000,
            limits: ["requests/60 limit 10"]),
    ]
}

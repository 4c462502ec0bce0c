/// Clouds that serve open models: Groq, Cerebras, Mistral, Together, Fireworks, Hugging Face, DeepSeek, xAI, Cohere,
/// Perplexity, SambaNova, NVIDIA, Replicate.
extension Answer {
    static let groq: [Answer] = [
        Answer(
            "tokens of a day", "groq", 429, ["retry-after: 579"],
            #"{"error":{"message":"Rate limit reached for model `llama-3.3-70b-versatile` in organization `org_x` service tier `on_demand` on tokens per day (TPD): Limit 100000, Used 97050, Requested 3619. Please try again in 9m38.016s. Need more tokens? Upgrade to Dev Tier today at https://console.groq.com/settings/billing","type":"tokens","code":"rate_limit_exceeded"}}"#,
            .quota, wait: 579_000, limits: ["tokens/86400 limit 100000"], out: "tokens"),
        Answer(
            "the same without JSON, escaped by a client", "groq", 429, [],
            "429 Rate limit reached for model `llama-3.3-70b-versatile` in organization `org_x` service tier `on_demand` on tokens per day (TPD): Limit 100000, Used 99926, Requested 1739. Please try again in 23m58.56s. Need more tokens%3F Upgrade to Dev Tier today",
            .quota, wait: 1_438_560, limits: ["tokens/86400 limit 100000"], out: "tokens"),
        Answer(
            "a limit that is not named", "groq", 429, [],
            #"{"error":{"message":"Rate limit reached for model `llama3-70b-8192` in organization `org_x` on : Limit 500000, Used 500370, Requested 252. Please try again in 1m47.5854s. Visit https://console.groq.com/docs/rate-limits for more information.","type":"","code":"rate_limit_exceeded"}}"#,
            .quota, wait: 107_585),
        Answer(
            "audio seconds are none of our resources", "groq", 429, ["retry-after: 21"],
            #"{"error":{"message":"Rate limit reached for model `whisper-large-v3` in organization `org_x` on seconds of audio per hour (ASPH): Limit 7200, Used 7085, Requested 365. Please try again in 2m5s.","type":"seconds","code":"rate_limit_exceeded"}}"#,
            .quota, wait: 21000),
        Answer(
            "output tokens", "groq", 413, [],
            #"{"error":{"message":"Request too large for model `llama-x` in organization `org_x` service tier `on_demand` on output tokens per minute (OTPM): Limit 1000, Requested 1080. The request's expected output tokens exceed the enforced limit; reduce max_tokens and try again.","type":"output_tokens","code":"rate_limit_exceeded"}}"#,
            .quota, limits: ["output_tokens/60 limit 1000"], out: "output_tokens"),
        Answer(
            "a request over the minute's tokens", "groq", 413, [],
            #"{"error":{"message":"Request too large for model `openai/gpt-oss-120b` in organization `org_x` service tier `on_demand` on tokens per minute (TPM): Limit 8000, Requested 11881, please reduce your message size and try again.","type":"tokens","code":"rate_limit_exceeded"}}"#,
            .quota, limits: ["tokens/60 limit 8000"], out: "tokens"),
        Answer(
            "flex capacity", "groq", 498, [], #"{"error":{"message":"Flex tier capacity exceeded"}}"#, .overload),
        Answer(
            "over capacity", "groq", 503, [],
            #"{"error":{"message":"llama-3.3-70b-versatile is currently over capacity. Please try again and back off exponentially. Visit https://groqstatus.com to see if there is an active incident.","type":"internal_server_error"}}"#,
            .overload),
        Answer(
            "a failed tool call", "groq", 400, [],
            #"{"error":{"message":"Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"<function=limit{\"rate\":\"rate limit exceeded\"}>"}}"#,
            .client),
        Answer("a cancelled request", "groq", 499, [], #"{"error":{"message":"Request Cancelled"}}"#, .client),
        Answer(
            "a success: requests a day, tokens a minute", "groq", 200,
            [
                "x-ratelimit-limit-requests: 14400", "x-ratelimit-limit-tokens: 18000",
                "x-ratelimit-remaining-requests: 14370", "x-ratelimit-remaining-tokens: 17997",
                "x-ratelimit-reset-requests: 2m59.56s", "x-ratelimit-reset-tokens: 7.66s",
            ], "", .ok,
            limits: [
                "requests/86400 limit 14400 left 14370 reset 179560", "tokens/60 limit 18000 left 17997 reset 7660",
            ]),
    ]

    static let clouds: [Answer] = [
        Answer(
            "Cerebras: tokens of a minute", "cerebras", 429,
            [
                "x-ratelimit-limit-tokens-minute: 60000", "x-ratelimit-remaining-tokens-minute: 0",
                "x-ratelimit-reset-tokens-minute: 26.5", "x-ratelimit-limit-tokens-day: 1000000",
                "x-ratelimit-remaining-tokens-day: oops", "x-ratelimit-limit-requests-day: -1",
            ],
            #"{"message":"Tokens per minute limit exceeded - too many tokens processed.","type":"too_many_tokens_error","param":"quota","code":"token_quota_exceeded"}"#,
            .quota, limits: ["tokens/60 limit 60000 left 0 reset 26500", "tokens/86400 limit 1000000"],
            out: "tokens"),
        Answer(
            "Cerebras: a full queue", "cerebras", 429, [],
            #"{"message":"We're experiencing high traffic right now! Please try again soon.","type":"too_many_requests_error","param":"queue","code":"queue_exceeded"}"#,
            .overload),
        Answer(
            "Cerebras: a free quota that ended", "cerebras", 402, [],
            #"{"message":"Payment required to access this resource. Visit your billing tab."}"#, .billing),
        Answer(
            "Mistral: requests", "mistral", 429,
            ["x-ratelimit-limit-req-minute: 60", "x-ratelimit-remaining-req-minute: 0"],
            #"{"object":"error","message":"Requests rate limit exceeded","type":"rate_limited","param":null,"code":"1300","raw_status_code":429}"#,
            .quota, limits: ["requests/60 limit 60 left 0"], out: "requests"),
        Answer(
            "Mistral: the older plain form", "mistral", 429, [], #"{"message":"Requests rate limit exceeded"}"#,
            .quota, out: "requests"),
        Answer(
            "Mistral: a full tier, by its own type", "mistral", 429, ["Retry-After: 1"],
            #"{"object":"error","message":"Service tier capacity exceeded for this model.","type":"service_tier_capacity_exceeded","code":"3505"}"#,
            .overload, wait: 1000),
        Answer(
            "Mistral: a full tier under another type", "mistral", 429, [],
            #"{"object":"error","message":"Service tier capacity exceeded for this model.","type":"invalid_request_error","param":null,"code":null}"#,
            .overload),
        Answer("Mistral: no key", "mistral", 401, [], #"{"detail":"Unauthorized"}"#, .auth),
        Answer(
            "Mistral: a request that is not valid", "mistral", 422, [],
            #"{"object":"error","message":{"detail":[{"type":"missing","loc":["body","model"],"msg":"Field required","input":{}}]},"type":"invalid_request_error","param":null,"code":null}"#,
            .client),
        Answer(
            "Mistral: a backend out of reach", "mistral", 503, [],
            #"{"object":"error","message":"Service unavailable.","type":"unreachable_backend","param":null,"code":"1100","raw_status_code":503}"#,
            .overload),
        Answer(
            "Mistral: two token windows and a cost", "mistral", 200,
            [
                "x-ratelimit-limit-req-minute: 60", "x-ratelimit-limit-tokens-minute: 50000",
                "x-ratelimit-limit-tokens-month: 4000000", "x-ratelimit-remaining-req-minute: 59",
                "x-ratelimit-remaining-tokens-minute: 47196", "x-ratelimit-remaining-tokens-month: 3950246",
                "x-ratelimit-tokens-query-cost: 2804",
            ], "", .ok,
            limits: [
                "requests/60 limit 60 left 59", "tokens/60 limit 50000 left 47196",
                "tokens/2592000 limit 4000000 left 3950246",
            ]),
        Answer(
            "Together: a model's queries", "together", 429, [],
            #"{"id":"o1","error":{"message":"You have reached the rate limit specific to this model deepseek-ai/DeepSeek-R1. The maximum rate limit for this model is 120 queries per minute. This limit differs from the general rate limits published at Together AI rate limits documentation.","type":"model_rate_limit","param":null,"code":"model_rate_limit"}}"#,
            .quota, limits: ["requests/60 limit 120"], out: "requests"),
        Answer(
            "Together: queries and tokens", "together", 429, [],
            #"{"error":{"message":"You have reached the rate limit specific to this model deepseek-ai/DeepSeek-R1-Distill-Llama-70B-free. The maximum rate limit for this model is 6.0 queries and 180000000 tokens per minute.","type":"model_rate_limit"}}"#,
            .quota, limits: ["tokens/60 limit 180000000"]),
        Answer(
            "Together: credit", "together", 402, [],
            #"{"id":"o2","error":{"message":"Credit limit exceeded, please [add credits](https://api.together.ai/settings/billing).","type":"credit_limit","param":null,"code":null}}"#,
            .billing),
        Answer(
            "Together: too long an input, under 403", "together", 403, [],
            #"{"error":{"message":"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 4100 `inputs` tokens and 512 `max_new_tokens`","type":"invalid_request_error","param":"max_tokens","code":null}}"#,
            .client),
        Answer(
            "Together: overloaded", "together", 503, [],
            #"{"error":{"message":"The server is overloaded or not ready yet.","type":"service_unavailable","param":null,"code":null}}"#,
            .overload),
        Answer(
            "Fireworks: usage limits", "fireworks", 429, [],
            #"{"error":"Too Many Requests","message":"You have exceeded your usage limits. Please try again later or contact Fireworks to explore dedicated capacity."}"#,
            .quota),
        Answer(
            "Fireworks: overloaded", "fireworks", 429, [],
            #"{"error":{"object":"error","type":"invalid_request_error","code":"invalid_request_error","message":"server overloaded, please try again later"}}"#,
            .overload),
        Answer(
            "Fireworks: no first token in time", "fireworks", 429, [],
            #"{"error":{"object":"error","type":"error","message":"Request didn't generate first token before the given deadline"}}"#,
            .overload),
        Answer(
            "Fireworks: a suspended account", "fireworks", 412, [],
            #"{"error":{"message":"Account x is suspended, possibly due to reaching the monthly spending limit or failure to pay past invoices. Please go to https://fireworks.ai/account/billing for more information.","object":"error"}}"#,
            .billing),
        Answer(
            "Fireworks: limits of prompt and generated tokens", "fireworks", 200,
            [
                "x-ratelimit-limit-requests: 60", "x-ratelimit-remaining-requests: 59",
                "x-ratelimit-limit-tokens-prompt: 60000", "x-ratelimit-remaining-tokens-prompt: 59988",
                "x-ratelimit-limit-tokens-cache-adjusted-prompt: 30000", "x-ratelimit-limit-tokens-generated: 6000",
                "x-ratelimit-over-limit: no",
            ], "", .ok,
            limits: [
                "requests/60 limit 60 left 59", "input_tokens/1 limit 60000 left 59988", "output_tokens/1 limit 6000",
            ]),
        Answer(
            "Hugging Face: an overloaded model", "huggingface", 429, [],
            #"{"error":"Model is overloaded","error_type":"overloaded"}"#, .overload),
        Answer(
            "Hugging Face: a model that is loading", "huggingface", 503, [],
            #"{"error":"Model meta-llama/Llama-2-70b-chat is currently loading","estimated_time":20.0}"#,
            .overload, wait: 20000),
        Answer(
            "Hugging Face: a free user's rate", "huggingface", 429, [],
            #"{"error":"Rate limit reached. Please log in or use a HF access token"}"#, .quota),
        Answer(
            "DeepSeek: money", "deepseek", 402, [],
            #"{"error":{"message":"Insufficient Balance","type":"unknown_error","param":null,"code":"invalid_request_error"}}"#,
            .billing),
        Answer(
            "DeepSeek: overloaded", "deepseek", 503, [],
            #"{"error":{"message":"Server overloaded","type":"server_error"}}"#, .overload),
        Answer(
            "DeepSeek: a busy service under 429", "deepseek", 429, [],
            #"{"error":{"message":"Service is too busy. We advise users to temporarily switch to alternative LLM API service providers.","type":"rate_limit_error"}}"#,
            .overload),
        Answer(
            "xAI: money, under 403", "xai", 403, [],
            #"{"code":"The caller does not have permission to execute the specified operation","error":"Your team 16f2 has either used all available credits or reached its monthly spending limit. To continue making API requests, please purchase more credits or raise your spending limit."}"#,
            .billing),
        Answer(
            "xAI: money, under 429, a bare string", "xai", 429, [],
            #""Your team c03b has either used all available credits or reached its monthly spending limit. To continue making API requests, please purchase more credits or raise your spending limit.""#,
            .billing),
        Answer(
            "xAI: tokens, what is used before what is allowed", "xai", 429, [],
            #"{"code":"Some resource has been exhausted","error":"Too many tokens for team e9fe and model grok-4-0709. Your team's rate limit is — Tokens per Minute (actual/limit): 65605/16000. You can view your team rate limits at https://console.x.ai."}"#,
            .quota, limits: ["tokens/60 limit 16000"], out: "tokens"),
        Answer(
            "xAI: requests", "xai", 429, [],
            #"{"code":"Some resource has been exhausted","error":"Too many requests for team e9fe and model grok-4. Your team's rate limit is — Requests per Minute (actual/limit): 481/480."}"#,
            .quota, limits: ["requests/60 limit 480"], out: "requests"),
        Answer(
            "xAI: a wrong key, under 400", "xai", 400, [],
            #"{"code":"Client specified an invalid argument","error":"Incorrect API key provided: xa***7b. You can obtain an API key from https://console.x.ai."}"#,
            .auth),
        Answer(
            "Cohere: a trial key's minute", "cohere", 429, [],
            #"{"message":"You are using a Trial key, which is limited to 40 API calls / minute. You can continue to use the Trial key for free or upgrade to a Production key with higher rate limits at 'https://dashboard.cohere.com/api-keys'."}"#,
            .quota, limits: ["requests/60 limit 40"], out: "requests"),
        Answer(
            "Cohere: a trial key's month", "cohere", 429, [],
            #"{"message":"You are using a Trial key, which is limited to 1000 API calls / month. You can continue to use the Trial key for free or upgrade to a Production key with higher rate limits at 'https://dashboard.cohere.com/api-keys'."}"#,
            .quota, limits: ["requests/2592000 limit 1000"], out: "requests"),
        Answer(
            "Cohere: a trial key's tokens", "cohere", 429, [],
            #"{"message":"trial token rate limit exceeded, limit is 100000 tokens per minute"}"#,
            .quota, limits: ["tokens/60 limit 100000"], out: "tokens"),
        Answer(
            "Cohere: past the minute", "cohere", 429, [],
            #"{"message":"You are past the per minute request limit, please wait and try again later."}"#,
            .quota, out: "requests"),
        Answer(
            "Cohere: the most that may be billed", "cohere", 402, [],
            #"{"message":"Maximum billing reached for this API key as set in your dashboard, please go to https://dashboard.cohere.com/billing?tab=payment to increase your maximum amount. Your billing capacity will reset at the beginning of next month."}"#,
            .billing),
        Answer(
            "Cohere: a key that has expired", "cohere", 401, [],
            #"{"id":"1","message":"Your API key has expired. Please create a production key at dashboard.cohere.com."}"#,
            .auth),
        Answer(
            "Cohere: too many tokens asked for", "cohere", 400, [],
            #"{"message":"too many tokens: max tokens must be less than or equal to 4096, the maximum output for this model - received 8192."}"#,
            .client),
        Answer(
            "Cohere: a deny-listed word, under Groq's status for capacity", "cohere", 498, [],
            #"{"message":"invalid request: the request contains a deny-listed token."}"#, .client),
        Answer(
            "Perplexity: requests at once", "perplexity", 429, [],
            #"{"error":{"message":"Request rate limit exceeded, please try again later.","type":"request_rate_limit_exceeded","code":429}}"#,
            .quota, out: "requests"),
        Answer(
            "Perplexity: money, under 401", "perplexity", 401, [],
            #"{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","code":401}}"#,
            .billing),
        Answer(
            "NVIDIA: no more than a title", "nvidia", 429, [], #"{"status":429,"title":"Too Many Requests"}"#, .quota,
            out: ""),
        Answer(
            "NVIDIA: credits that expired", "nvidia", 402, [],
            #"{"status":402,"title":"Payment Required","detail":"Account 'x': Cloud credits expired - Please contact NVIDIA representatives"}"#,
            .billing),
        Answer(
            "SambaNova: minute and day", "sambanova", 429,
            [
                "x-ratelimit-limit-requests: 20", "x-ratelimit-remaining-requests: 0",
                "x-ratelimit-limit-requests-day: 200", "x-ratelimit-remaining-requests-day: 151",
                "x-ratelimit-reset-requests: 1772600060", "date: Wed, 04 Mar 2026 04:53:40 GMT",
            ], #"{"error":{"code":null,"message":"Rate limit exceeded","param":null,"type":"rate_limit_exceeded"}}"#,
            .quota,
            limits: ["requests limit 20 left 0 reset 40000", "requests/86400 limit 200 left 151"], out: "requests"),
        Answer(
            "Replicate: a rate for want of credit", "replicate", 429, [],
            #"{"detail":"Request was throttled. Your rate limit for creating predictions is reduced to 6 requests per minute with a burst of 1 requests while you have less than $5.0 in credit. Your rate limit resets in ~5s.","status":429,"retry_after":5}"#,
            .quota, wait: 5000, limits: ["requests/60 limit 6"], out: "requests"),
        Answer(
            "Replicate: the same, the wait in prose only", "replicate", 429, [],
            #"{"detail":"Request was throttled. Your rate limit for creating predictions is reduced to 6 requests per minute with a burst of 1 requests. Your rate limit resets in ~10s."}"#,
            .quota, wait: 10000, limits: ["requests/60 limit 6"], out: "requests"),
        Answer(
            "Replicate: money", "replicate", 402, [],
            #"{"title":"Insufficient credit","detail":"You have insufficient credit to run this model. Go to https://replicate.com/account/billing to purchase credit.","status":402}"#,
            .billing),
        Answer("AI21: no more than a sentence", "ai21", 429, [], #"{"detail":"Rate limit exceeded"}"#, .quota),
        Answer(
            "vLLM: a context", "vllm", 400, [],
            #"{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (3000 in the messages, 2000 in the completion).","type":"BadRequestError","param":null,"code":400}"#,
            .client),
        Answer(
            "llama.cpp: a context", nil, 400, [],
            #"{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error"}}"#,
            .client),
        Answer(
            "Ollama: a model that was not pulled", nil, 404, [],
            #"{"error":{"message":"model \"llama3\" not found, try pulling it first","type":"api_error","param":null,"code":null}}"#,
            .client),
    ]
}

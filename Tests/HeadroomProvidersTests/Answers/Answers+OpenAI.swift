/// OpenAI and Azure OpenAI, directly and behind Azure API Management.
extension Answer {
    static let openAI: [Answer] = [
        Answer(
            "tokens per minute, with the wait in prose", "openai", 429, [],
            #"{"error":{"message":"Rate limit reached for gpt-4.1-mini in organization org-x on tokens per min (TPM): Limit 200000, Used 199000, Requested 2000. Please try again in 300ms. Visit https://platform.openai.com/account/rate-limits to learn more.","type":"tokens","param":null,"code":"rate_limit_exceeded"}}"#,
            .quota, wait: 300, limits: ["tokens/60 limit 200000"], out: "tokens"),
        Answer(
            "requests per day", "openai", 429, [],
            #"{"error":{"message":"Rate limit reached for gpt-4o in organization org-x on requests per day (RPD): Limit 200, Used 200, Requested 1. Please try again in 7m12s.","type":"requests","param":null,"code":"rate_limit_exceeded"}}"#,
            .quota, wait: 432_000, limits: ["requests/86400 limit 200"], out: "requests"),
        Answer(
            "one request over the whole limit: no wait named", "openai", 429, [],
            #"{"error":{"message":"Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 30601. The input or output tokens must be reduced in order to run successfully.","type":"tokens","param":null,"code":"rate_limit_exceeded"}}"#,
            .quota, limits: ["tokens/60 limit 30000"], out: "tokens"),
        Answer(
            "a wait of days under a limit per minute", "openai", 429, [],
            #"{"error":{"message":"Rate limit reached for gpt-4o-mini in organization org-x on tokens per min (TPM): Limit 100000, Used 96749, Requested 19126. Please try again in 114h18m0s. You can increase your rate limit by adding a payment method to your account at https://platform.openai.com/account/billing.","type":"tokens","param":null,"code":"rate_limit_exceeded"}}"#,
            .quota, wait: 411_480_000, limits: ["tokens/60 limit 100000"], out: "tokens"),
        Answer(
            "the form of 2023: limit behind a colon, no code", "openai", 429, [],
            #"{"error":{"message":"Rate limit reached for default-gpt-3.5-turbo in organization org-x on requests per min. Limit: 3 / min. Please try again in 20s. Contact us through our help center if you continue to have issues.","type":"requests","param":null,"code":null}}"#,
            .quota, wait: 20000, limits: ["requests/60 limit 3"], out: "requests"),
        Answer(
            "images per minute are none of our resources", "openai", 429, [],
            #"{"error":{"code":"rate_limit_exceeded","message":"Rate limit exceeded for images per minute in organization org-x. Limit: 5/1min. Current: 6/1min. Please try again in 12s.","param":null,"type":"requests"}}"#,
            .quota, wait: 12000),
        Answer(
            "spent credits", "openai", 429, ["x-should-retry: false"],
            #"{"error":{"message":"You have no credits remaining. Add credits to continue using the API at https://platform.openai.com/settings/organization/billing.","type":"insufficient_quota","param":null,"code":"credit_balance_exhausted"}}"#,
            .billing),
        Answer(
            "an account that is not active", "openai", 429, [],
            #"{"error":{"message":"Your account is not active, please check your billing details on our website.","type":"billing_not_active","param":null,"code":"billing_not_active"}}"#,
            .billing),
        Answer(
            "a hard limit on spending", "openai", 400, [],
            #"{"error":{"message":"Billing hard limit has been reached","type":"invalid_request_error","param":null,"code":"billing_hard_limit_reached"}}"#,
            .billing),
        Answer(
            "flex processing without resources", "openai", 429, [],
            #"{"error":{"message":"Resource Unavailable: capacity unavailable","type":"resource_unavailable","param":null,"code":"resource_unavailable"}}"#,
            .overload),
        Answer(
            "a busy engine", "openai", 503, [],
            #"{"error":{"message":"The engine is currently overloaded, please try again later","type":"server_error","param":null,"code":null}}"#,
            .overload),
        Answer(
            "growth, told by the message alone", "openai", 503, ["retry-after: 15"],
            #"{"error":{"message":"Slow down: your traffic increased too quickly. Please reduce your request rate to its original level, keep it there for 15 minutes, then raise it gradually.","type":"server_error","param":null,"code":null}}"#,
            .ramp, wait: 15000),
        Answer(
            "a fault of the server", "openai", 500, [],
            #"{"error":{"message":"The server had an error while processing your request. Sorry about that!","type":"server_error","param":null,"code":null}}"#,
            .server),
        Answer(
            "a region that is not served", "openai", 403, [],
            #"{"error":{"code":"unsupported_country_region_territory","message":"Country, region, or territory not supported","param":null,"type":"request_forbidden"}}"#,
            .auth),
        Answer(
            "a model that does not exist", "openai", 404, [],
            #"{"error":{"message":"The model `gpt-9` does not exist or you do not have access to it.","type":"invalid_request_error","param":null,"code":"model_not_found"}}"#,
            .client),
        Answer(
            "a prompt that is too long", "openai", 400, [],
            #"{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
            .client),
        Answer(
            "a stream of the Responses API that ends in a refusal", "openai", 200, ["content-type: text/event-stream"],
            "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_1\",\"error\":null,\"status\":\"in_progress\"}}\n\nevent: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"id\":\"resp_1\",\"status\":\"failed\",\"error\":{\"code\":\"rate_limit_exceeded\",\"message\":\"Rate limit reached for gpt-5 in organization org-x on tokens per min (TPM): Limit 30000, Used 22999, Requested 12528. Please try again in 11.054s.\"}}}\n\n",
            .quota, wait: 11054, limits: ["tokens/60 limit 30000"], out: "tokens"),
        Answer(
            "a stream that ends on spent credits", "openai", 200, ["content-type: text/event-stream"],
            "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"insufficient_quota\",\"code\":\"insufficient_quota\",\"message\":\"You exceeded your current quota, please check your plan and billing details.\",\"param\":null},\"sequence_number\":2}\n\n",
            .billing),
        Answer(
            "a background response that failed inside", "openai", 200, [],
            #"{"id":"resp_1","object":"response","status":"failed","error":{"code":"server_error","message":"The model failed to generate a response."},"output":[]}"#,
            .server),
        Answer(
            "a response cut at its own limit is served", "openai", 200, [],
            #"{"id":"resp_1","object":"response","status":"incomplete","error":null,"incomplete_details":{"reason":"max_output_tokens"},"output":[{"type":"message","content":[{"text":"{\"error\": \"rate_limit_exceeded\"}"}]}]}"#,
            .ok),
        Answer(
            "a refusal with its headers", "openai", 429,
            [
                "Retry-After-Ms: 1871", "Retry-After: 2", "X-RateLimit-Limit-Requests: 500",
                "X-RateLimit-Limit-Tokens: 30,000", "X-RateLimit-Remaining-Requests: 499",
                "X-RateLimit-Remaining-Tokens: 64", "X-RateLimit-Reset-Requests: 120ms",
                "X-RateLimit-Reset-Tokens: 59.872s",
            ],
            #"{"error":{"message":"Rate limit reached for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Used 29936, Requested 1000. Please try again in 1.871s.","type":"tokens","param":null,"code":"rate_limit_exceeded"}}"#,
            .quota, wait: 1871,
            limits: ["requests/60 limit 500 left 499 reset 120", "tokens/60 limit 30000 left 64 reset 59872"],
            out: "tokens"),
        Answer(
            "tokens of a day", "openai", 429, [],
            #"{"error":{"message":"Rate limit reached for gpt-4o in organization org-x on tokens per day (TPD): Limit 90000, Used 89500, Requested 1500. Please try again in 16m0s.","type":"tokens","param":null,"code":"rate_limit_exceeded"}}"#,
            .quota, wait: 960_000, limits: ["tokens/86400 limit 90000"], out: "tokens"),
        Answer("429 without a body", "openai", 429, ["retry-after: 20"], "", .quota, wait: 20000),
    ]

    static let azure: [Answer] = [
        Answer(
            "tokens of a tier, six seconds", "azure", 429, ["retry-after: 6", "retry-after-ms: 6000"],
            #"{"error":{"code":"429","message":"Requests to the ChatCompletions_Create Operation under Azure OpenAI API version 2024-02-01 have exceeded token rate limit of your current OpenAI S0 pricing tier. Please retry after 6 seconds. Please go here: https://aka.ms/oai/quotaincrease if you would like to further increase the default rate limit."}}"#,
            .quota, wait: 6000, out: "tokens"),
        Answer(
            "a day's wait, in prose only", "azure", 429, [],
            #"{"error":{"code":"429","message":"Requests to the ChatCompletions_Create Operation under Azure OpenAI API version 2024-08-01-preview have exceeded token rate limit of your current AIServices S0 pricing tier. Please retry after 86400 seconds."}}"#,
            .quota, wait: 86_400_000, out: "tokens"),
        Answer(
            "calls of a tier", "azure", 429, ["retry-after: 2"],
            #"{"error":{"code":"429","message":"Requests to the Embeddings_Create Operation under Azure OpenAI API version 2023-05-15 have exceeded call rate limit of your current OpenAI S0 pricing tier. Please retry after 2 seconds."}}"#,
            .quota, wait: 2000, out: "requests"),
        Answer(
            "short form, with what is left", "azure", 429,
            [
                "apim-request-id: 3d37", "date: Thu, 03 Apr 2025 14:12:23 GMT", "x-ratelimit-limit-requests: 8",
                "x-ratelimit-limit-tokens: 8000", "x-ratelimit-remaining-requests: 7",
                "x-ratelimit-remaining-tokens: 1014",
            ],
            #"{"error":{"code":"429","message": "Rate limit is exceeded. Try again in 2 seconds."}}"#,
            .quota, wait: 2000,
            limits: ["requests/60 limit 8 left 7", "tokens/60 limit 8000 left 1014"]),
        Answer(
            "RateLimitReached for a model of others", "azure", 429, ["x-ms-error-code: RateLimitReached"],
            #"{"error":{"code":"RateLimitReached","message":"Your requests to gpt-4.1 for gpt-4.1 in eastus have exceeded token rate limit for your current AIServices S0 pricing tier. Please retry after 41 seconds."}}"#,
            .quota, wait: 41000, out: "tokens"),
        Answer(
            "peak load", "azure", 429, [],
            #"{"error":{"code":"too_many_requests","message":"The system is currently experiencing high demand and cannot process your request. Your request exceeds the maximum usage size allowed during peak load. Please retry after 20 seconds. For improved capacity reliability, consider switching to Provisioned Throughput."}}"#,
            .overload, wait: 20000),
        Answer(
            "no capacity", "azure", 429, [],
            #"{"error":{"code":"NoCapacity","message":"The service is temporarily unable to process your request. Please try again later."}}"#,
            .overload),
        Answer(
            "spent credit", "azure", 429, [],
            #"{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}"#,
            .billing),
        Answer(
            "no such deployment", "azure", 404, [],
            #"{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist. If you created the deployment within the last 5 minutes, please wait a moment and try again."}}"#,
            .client),
        Answer(
            "a filtered prompt", "azure", 400, [],
            #"{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt and retry.","type":null,"param":"prompt","code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation","content_filter_result":{"hate":{"filtered":false,"severity":"safe"},"violence":{"filtered":true,"severity":"medium"}}}}}"#,
            .client),
        Answer(
            "a role that lacks the action", "azure", 401, [],
            #"{"error":{"code":"PermissionDenied","message":"The principal `x` lacks the required data action `Microsoft.CognitiveServices/accounts/OpenAI/deployments/chat/completions/action`"}}"#,
            .auth),
        Answer(
            "a network that is closed", "azure", 403, [],
            #"{"error":{"code":"403","message": "Access denied due to Virtual Network/Firewall rules."}}"#, .auth),
        Answer(
            "API Management's token limit", "azure", 429, ["Retry-After: 41", "x-gateway-tokens-remaining: 0"],
            #"{ "statusCode": 429, "message": "Token limit is exceeded. Try again in 41 seconds." }"#,
            .quota, wait: 41000, out: "tokens"),
        Answer(
            "API Management's call limit", "azure", 429, [],
            #"{ "statusCode": 429, "message": "Rate limit is exceeded. Try again in 26 seconds." }"#,
            .quota, wait: 26000),
        Answer(
            "API Management's quota, replenished in a time of day", "azure", 403, [],
            #"{"statusCode":403,"message":"Out of call volume quota. Quota will be replenished in 07:01:20."}"#,
            .quota, wait: 25_280_000),
        Answer(
            "API Management's quota, replenished in days and a time", "azure", 403, [],
            #"{"statusCode":403,"message":"Out of call volume quota. Quota will be replenished in 20.09:58:55."}"#,
            .quota, wait: 1_763_935_000),
        Answer(
            "API Management's quota, replenished in days", "azure", 403, [],
            #"{"error":{"code":"403","message":"Out of call volume quota. Quota will be replenished in 2.12 days."}}"#,
            .quota, wait: 183_168_000),
        Answer(
            "a success whose windows differ", "azure", 200,
            [
                "x-ratelimit-limit-requests: 9000", "x-ratelimit-limit-tokens: 1500000",
                "x-ratelimit-remaining-requests: 8999", "x-ratelimit-remaining-tokens: 745399",
                "x-ratelimit-renewalperiod-requests: 10", "x-ratelimit-renewalperiod-tokens: 60",
                "x-ratelimit-reset-requests: 0", "x-ratelimit-reset-tokens: 30",
            ], "", .ok,
            limits: ["requests/10 limit 9000 left 8999 reset 0", "tokens/60 limit 1500000 left 745399 reset 30000"]),
        Answer(
            "unknown counts", "azure", 200,
            [
                "x-ratelimit-limit-requests: -1", "x-ratelimit-remaining-requests: -1",
                "x-ratelimit-limit-tokens: unlimited", "x-ratelimit-remaining-tokens: ",
            ], "", .ok),
        Answer(
            "a closed API version", "azure", 404, [], #"{"error":{"code":"404","message": "Resource not found"}}"#,
            .client),
        Answer(
            "a busy service in a stream", "azure", 200, ["content-type: text/event-stream"],
            "data: {\"error\":{\"code\":\"server_is_overloaded\",\"type\":\"service_unavailable_error\",\"message\":\"Our servers are currently overloaded. Please try again later.\",\"param\":null},\"type\":\"error\"}\n\n",
            .overload),
    ]
}

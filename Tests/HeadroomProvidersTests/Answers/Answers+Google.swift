/// Gemini and Vertex AI: everything in the body.
extension Answer {
    static let google: [Answer] = [
        Answer(
            "requests per minute, with all details", "gemini", 429, [],
            #"{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits.\n* Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: 10, model: gemini-2.5-flash\nPlease retry in 33.528s.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaMetric":"generativelanguage.googleapis.com/generate_content_free_tier_requests","quotaId":"GenerateRequestsPerMinutePerProjectPerModel-FreeTier","quotaDimensions":{"location":"global","model":"gemini-2.5-flash"},"quotaValue":"10"}]},{"@type":"type.googleapis.com/google.rpc.Help","links":[{"description":"Learn more about Gemini API quotas","url":"https://ai.google.dev/gemini-api/docs/rate-limits"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"33s"}]}}"#,
            .quota, wait: 33000, limits: ["requests/60 limit 10"], out: "requests"),
        Answer(
            "a day's requests and a minute's tokens at once, in an array", "gemini", 429, [],
            #"[{"error":{"code":429,"message":"You exceeded your current quota","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaMetric":"generativelanguage.googleapis.com/generate_content_free_tier_input_token_count","quotaId":"GenerateContentInputTokensPerModelPerMinute-FreeTier","quotaValue":"125000"},{"quotaMetric":"generativelanguage.googleapis.com/generate_content_free_tier_requests","quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier","quotaValue":"25"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"6.5s"}]}}]"#,
            .quota, wait: 6500, limits: ["requests/86400 limit 25", "tokens/60 limit 125000"], out: "requests tokens"),
        Answer(
            "help only", "gemini", 429, [],
            #"{"error":{"message":"{\n  \"error\": {\n    \"code\": 429,\n    \"message\": \"You exceeded your current quota, please check your plan and billing details.\",\n    \"status\": \"RESOURCE_EXHAUSTED\",\n    \"details\": [{\"@type\": \"type.googleapis.com/google.rpc.Help\"}]\n  }\n}\n","code":429,"status":"Too Many Requests"}}"#,
            .quota),
        Answer(
            "the short form", "gemini", 429, [],
            #"{"error":{"code":429,"message":"Resource has been exhausted (e.g. check quota).","status":"RESOURCE_EXHAUSTED"}}"#,
            .quota),
        Answer(
            "the old service's form, a limit of nothing", "gemini", 429, [],
            #"{"error":{"code":429,"message":"Quota exceeded for quota metric 'Generate Content API requests per minute' and limit 'GenerateContent request limit per minute for a region' of service 'generativelanguage.googleapis.com' for consumer 'project_number:1'.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"RATE_LIMIT_EXCEEDED","domain":"googleapis.com","metadata":{"service":"generativelanguage.googleapis.com","quota_metric":"generativelanguage.googleapis.com/generate_content_requests","quota_limit":"GenerateContentRequestsPerMinutePerProjectPerRegion","quota_limit_value":"0","quota_location":"us-west4","consumer":"projects/1"}}]}}"#,
            .billing, limits: ["requests/60 limit 0"]),
        Answer(
            "a user's requests per day", "gemini", 429, [],
            #"[{"error":{"code":429,"message":"Quota exceeded for quota metric 'Gemini 2.5 Pro Requests' and limit 'Gemini 2.5 Pro Requests per day per user per tier' of service 'cloudcode-pa.googleapis.com' for consumer 'project_number:1'.","errors":[{"message":"Quota exceeded","domain":"global","reason":"rateLimitExceeded"}],"status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"RATE_LIMIT_EXCEEDED","domain":"googleapis.com","metadata":{"quota_metric":"cloudcode-pa.googleapis.com/gemini_2_5_pro_requests","quota_limit":"Gemini25ProRequestsPerDay"}}]}}]"#,
            .quota, out: "requests"),
        Answer(
            "an exhausted model, and when the quota comes back", "gemini", 429, [],
            #"{"error":{"code":429,"message":"You have exhausted your capacity on this model. Your quota will reset after 21h53m56s.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"QUOTA_EXHAUSTED","domain":"cloudcode-pa.googleapis.com","metadata":{"uiMessage":"true","model":"gemini-2.5-flash"}}]}}"#,
            .quota, wait: 78_836_000),
        Answer(
            "no capacity, under a rate limit's reason", "gemini", 429, [],
            #"[{"error":{"code":429,"message":"No capacity available for model gemini-2.5-pro on the server","errors":[{"message":"No capacity available for model gemini-2.5-pro on the server","domain":"global","reason":"rateLimitExceeded"}],"status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"MODEL_CAPACITY_EXHAUSTED","domain":"cloudcode-pa.googleapis.com","metadata":{"model":"gemini-2.5-pro"}}]}}]"#,
            .overload),
        Answer(
            "an overloaded model", "gemini", 503, [],
            #"{"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}"#,
            .overload),
        Answer(
            "high demand", "gemini", 503, [],
            #"{"error":{"code":503,"message":"This model is currently experiencing high demand. Spikes in demand are usually temporary. Please try again later.","status":"UNAVAILABLE"}}"#,
            .overload),
        Answer(
            "an internal fault", "gemini", 500, [],
            #"{"error":{"code":500,"message":"An internal error has occurred. Please retry or report in https://developers.generativeai.google/guide/troubleshooting","status":"INTERNAL"}}"#,
            .server),
        Answer(
            "a deadline", "gemini", 504, [],
            #"{"error":{"code":504,"message":"Deadline expired before operation could complete.","status":"DEADLINE_EXCEEDED"}}"#,
            .server),
        Answer(
            "a key that is not valid", "gemini", 400, [],
            #"{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com"}]}}"#,
            .auth),
        Answer(
            "a leaked key", "gemini", 403, [],
            #"{"error":{"code":403,"message":"Your API key was reported as leaked. Please use another API key.","status":"PERMISSION_DENIED"}}"#,
            .auth),
        Answer(
            "an API that was not switched on", "gemini", 403, [],
            #"{"error":{"code":403,"message":"Generative Language API has not been used in project 1 before or it is disabled.","status":"PERMISSION_DENIED","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"SERVICE_DISABLED","domain":"googleapis.com"}]}}"#,
            .auth),
        Answer(
            "billing that was not switched on", "vertex", 403, [],
            #"{"error":{"code":403,"message":"This API method requires billing to be enabled. Please enable billing on project #1.","status":"PERMISSION_DENIED","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"BILLING_DISABLED","domain":"googleapis.com"}]}}"#,
            .billing),
        Answer(
            "a free tier that is not offered here", "gemini", 400, [],
            #"{"error":{"code":400,"message":"Gemini API free tier is not available in your country. Please enable billing on your project in Google AI Studio.","status":"FAILED_PRECONDITION"}}"#,
            .billing),
        Answer(
            "a place that is not served", "gemini", 400, [],
            #"{"error":{"code":400,"message":"User location is not supported for the API use.","status":"FAILED_PRECONDITION"}}"#,
            .client),
        Answer(
            "a model that is not there", "gemini", 404, [],
            #"{"error":{"code":404,"message":"models/gemini-0 is not found for API version v1beta, or is not supported for generateContent.","status":"NOT_FOUND"}}"#,
            .client),
        Answer(
            "prepaid credits", "gemini", 429, [],
            #"{"error":{"code":429,"message":"Your prepayment credits are depleted. Please go to AI Studio to manage your project and billing.","status":"RESOURCE_EXHAUSTED"}}"#,
            .billing),
        Answer(
            "the newer surface: a daily quota", "gemini", 429, [],
            #"{"error":{"code":"quota_exceeded","message":"You have exceeded your daily quota."}}"#, .quota),
        Answer(
            "the newer surface: unavailable", "gemini", 503, [],
            #"{"error":{"code":"service_unavailable","message":"The service is temporarily overloaded or down."}}"#,
            .overload),
        Answer(
            "the shared pool", "vertex", 429, [],
            #"{"error":{"code":429,"message":"Resource exhausted. Please try again later. Please refer to https://cloud.google.com/vertex-ai/generative-ai/docs/error-code-429 for more details.","status":"RESOURCE_EXHAUSTED"}}"#,
            .overload),
        Answer(
            "the shared pool, with the generic reason of a 429", "vertex_ai", 429, [],
            #"[{"error":{"code":429,"message":"Resource exhausted. Please try again later. Please refer to https://cloud.google.com/vertex-ai/generative-ai/docs/error-code-429 for more details.","errors":[{"message":"Resource exhausted. Please try again later.","domain":"global","reason":"rateLimitExceeded"}],"status":"RESOURCE_EXHAUSTED"}}]"#,
            .overload),
        Answer(
            "requests of a base model", "vertex", 429, [],
            #"[{"error":{"code":429,"message":"Quota exceeded for aiplatform.googleapis.com/generate_content_requests_per_minute_per_project_per_base_model with base model: gemini-pro. Please submit a quota increase request. https://cloud.google.com/vertex-ai/docs/generative-ai/quotas-genai.","status":"RESOURCE_EXHAUSTED"}}]"#,
            .quota, out: "requests"),
        Answer(
            "input tokens of a base model", "vertex", 429, [],
            #"{"error":{"code":429,"message":"Quota exceeded for aiplatform.googleapis.com/online_prediction_input_tokens_per_minute_per_base_model with base model: anthropic-claude-opus-4-8. Please submit a quota increase request.","status":"RESOURCE_EXHAUSTED"}}"#,
            .quota, out: "input_tokens"),
        Answer(
            "a reservation that is used up", "vertex", 429, [],
            #"{"error":{"code":429,"message":"Too many requests. Exceeded the Provisioned Throughput.","status":"RESOURCE_EXHAUSTED"}}"#,
            .quota),
        Answer(
            "a model of others that is overloaded", "vertex", 529, [],
            #"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#, .overload),
        Answer(
            "a model that the project may not use", "vertex", 400, [],
            #"[{"error":{"code":400,"message":"Project `x` is not allowed to use Publisher Model `projects/x/locations/asia-southeast1/publishers/anthropic/models/claude-3-sonnet@20240229`","status":"FAILED_PRECONDITION"}}]"#,
            .client),
        Answer(
            "a blocked prompt is served", "gemini", 200, [],
            #"{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":8}}"#, .ok),
        Answer(
            "a stream that ends unavailable", "gemini", 200, ["content-type: text/event-stream"],
            "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Hi\"}]}}]}\r\n\r\ndata: {\"error\":{\"code\":503,\"message\":\"The model is overloaded. Please try again later.\",\"status\":\"UNAVAILABLE\"}}\r\n\r\n",
            .overload),
    ]
}

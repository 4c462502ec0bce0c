/// Anthropic, and Amazon Bedrock.
extension Answer {
    static let anthropic: [Answer] = [
        Answer(
            "input tokens per minute", "anthropic", 429, ["retry-after: 38"],
            #"{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed the rate limit for your organization of 50,000 input tokens per minute. For details, refer to: https://docs.anthropic.com/en/api/rate-limits. Please reduce the prompt length or the maximum tokens requested, or try again later."}}"#,
            .quota, wait: 38000, limits: ["input_tokens/60 limit 50000"], out: "input_tokens"),
        Answer(
            "the possessive form", "anthropic", 429, [],
            #"{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization’s rate limit of 16,000 output tokens per minute."}}"#,
            .quota, limits: ["output_tokens/60 limit 16000"], out: "output_tokens"),
        Answer(
            "request tokens, without a number", "anthropic", 429, [],
            #"{"type":"error","error":{"type":"rate_limit_error","message":"Number of request tokens has exceeded your per-minute rate limit (https://docs.anthropic.com/en/api/rate-limits); see the response headers for current usage."}}"#,
            .quota, out: "tokens"),
        Answer(
            "requests, without a number", "anthropic", 429, ["retry-after: 12"],
            #"{"type":"error","error":{"type":"rate_limit_error","message":"Number of requests has exceeded your per-minute rate limit."}}"#,
            .quota, wait: 12000, out: "requests"),
        Answer(
            "connections are none of our resources", "anthropic", 429, [],
            #"{"type":"error","error":{"type":"rate_limit_error","message":"Number of concurrent connections has exceeded your rate limit. Please try again later or contact sales to discuss your options for a rate limit increase."}}"#,
            .quota, out: ""),
        Answer(
            "growth", "anthropic", 429, ["retry-after: 60"],
            #"{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's maximum usage increase rate for input tokens per minute. Please increase your usage gradually or contact sales."},"request_id":"req_1"}"#,
            .ramp, wait: 60000, out: "input_tokens"),
        Answer(
            "a subscription's account", "anthropic", 429,
            [
                "retry-after: 7200", "anthropic-ratelimit-unified-status: rejected",
                "anthropic-ratelimit-unified-5h-utilization: 1.0", "anthropic-ratelimit-unified-reset: 1772600000",
            ],
            #"{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your account's rate limit. Please try again later."},"request_id":"req_2"}"#,
            .quota, wait: 7_200_000, out: ""),
        Answer(
            "the tier's monthly threshold", "anthropic", 429, [],
            #"{"type":"error","error":{"type":"rate_limit_error","message":"You have reached your API usage limits: your organization has crossed its monthly API usage threshold, set based on your organization's API tier. You will regain access on 2026-09-01 at 00:00 UTC.","details":{"error_code":"enforced_spend_limit_reached"}}}"#,
            .billing),
        Answer(
            "a limit that the customer set on spending", "anthropic", 400, [],
            #"{"type":"error","error":{"type":"invalid_request_error","message":"You have reached your specified API usage limits. You will regain access on 2026-03-01 at 00:00 UTC."}}"#,
            .billing),
        Answer(
            "no credit", "anthropic", 400, [],
            #"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."}}"#,
            .billing),
        Answer(
            "too large a request", "anthropic", 413, [],
            #"{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#,
            .client),
        Answer(
            "a context that is too short", "anthropic", 400, [],
            #"{"type":"error","error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 198000 + 21333 > 200000, decrease input length or `max_tokens` and try again"}}"#,
            .client),
        Answer(
            "an OAuth token that has expired", "anthropic", 401, [],
            #"{"type":"error","error":{"type":"authentication_error","message":"OAuth token has expired. Please obtain a new token or refresh your existing token."}}"#,
            .auth),
        Answer(
            "a workspace without permission", "anthropic", 403, [],
            #"{"type":"error","error":{"type":"permission_error","message":"Your API key does not have permission to use the specified resource."}}"#,
            .auth),
        Answer(
            "an unknown model", "anthropic", 404, [],
            #"{"type":"error","error":{"type":"not_found_error","message":"model: claude-nope"}}"#, .client),
        Answer(
            "an internal fault", "anthropic", 500, ["x-should-retry: true"],
            #"{"type":"error","error":{"details":null,"type":"api_error","message":"Internal server error"}}"#, .server),
        Answer(
            "a time-out", "anthropic", 504, [],
            #"{"type":"error","error":{"type":"timeout_error","message":"Request timed out"}}"#, .server),
        Answer(
            "overload with a request id and details", "anthropic", 529, ["x-should-retry: true"],
            #"{"type":"error","error":{"details":null,"type":"overloaded_error","message":"Overloaded"},"request_id":"req_3"}"#,
            .overload),
        Answer(
            "overload as a 500 of a gateway", "anthropic", 500, [],
            #"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#, .overload),
        Answer(
            "overload in the middle of a stream", "anthropic", 200, ["content-type: text/event-stream"],
            "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"content\":[]}}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"an error \"}}\n\nevent: error\ndata: {\"type\":\"error\",\"error\":{\"details\":null,\"type\":\"overloaded_error\",\"message\":\"Overloaded\"} }\n\n",
            .overload),
        Answer(
            "a rate limit in the middle of a stream", "anthropic", 200, ["content-type: text/event-stream"],
            "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"Number of request tokens has exceeded your rate limit\"}}\n\n",
            .quota, out: "tokens"),
        Answer(
            "a fault in the middle of a stream", "anthropic", 200, ["content-type: text/event-stream"],
            "event: ping\ndata: {\"type\": \"ping\"}\n\nevent: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"Internal server error\"}}\n\n",
            .server),
        Answer(
            "priority tier: its limits are beside the account's", "anthropic", 200,
            [
                "date: Sun, 12 Jan 2025 23:11:50 GMT", "anthropic-priority-input-tokens-limit: 10000",
                "anthropic-priority-input-tokens-remaining: 9618",
                "anthropic-priority-input-tokens-reset: 2025-01-12T23:11:59Z",
                "anthropic-priority-output-tokens-limit: 10000",
                "anthropic-ratelimit-input-tokens-limit: 450000",
                "anthropic-ratelimit-input-tokens-remaining: 449000",
                "anthropic-ratelimit-input-tokens-reset: 2025-01-12T23:11:51Z",
            ], "", .ok, limits: ["input_tokens/60 limit 450000 left 449000 reset 1000"]),
        Answer(
            "fast mode has limits of its own", "anthropic", 200,
            [
                "anthropic-fast-input-tokens-limit: 100000", "anthropic-fast-input-tokens-remaining: 0",
                "anthropic-ratelimit-tokens-limit: 80000", "anthropic-ratelimit-tokens-remaining: 50000",
            ], "", .ok, limits: ["tokens/60 limit 80000 left 50000"]),
        Answer(
            "an invented overload in what the model says", "anthropic", 200, [],
            #"{"type":"message","role":"assistant","content":[{"type":"text","text":"{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}"}],"stop_reason":"end_turn"}"#,
            .ok),
        Answer(
            "overload behind a proxy's headers only", "anthropic", 529, ["cf-ray: 1", "retry-after: 4"],
            "<html><head><title>529</title></head></html>", .overload, wait: 4000),
    ]

    static let bedrock: [Answer] = [
        Answer(
            "too many tokens, type in a header", "bedrock", 429,
            ["x-amzn-ErrorType: ThrottlingException:http://internal.amazon.com/coral/com.amazon.bedrock/"],
            #"{"message":"Too many tokens, please wait before trying again."}"#, .quota, out: "tokens"),
        Answer(
            "too many tokens in a day", "bedrock", 429, ["x-amzn-errortype: ThrottlingException"],
            #"{"message":"Too many tokens per day, please wait before trying again."}"#, .quota, out: "tokens"),
        Answer(
            "too many requests, told twice", "bedrock", 429, ["x-amzn-errortype: ThrottlingException"],
            #"{"message":"Too many requests, please wait before trying again. You have sent too many requests.  Wait before trying again."}"#,
            .quota, out: "requests"),
        Answer(
            "as botocore prints it, through a gateway", "aws-bedrock", 400, [],
            #"{"error":{"message":"An error occurred (ThrottlingException) when calling the InvokeModel operation (reached max retries: 4): Too many tokens, please wait before trying again.","type":"invalid_request_error"}}"#,
            .quota, out: "tokens"),
        Answer(
            "unavailable", "bedrock", 503, ["x-amzn-errortype: ServiceUnavailableException:http://internal/"],
            #"{"message":"Too many connections, please wait before trying again."}"#, .overload),
        Answer(
            "unavailable, as an exception of an event stream", "bedrock", 400,
            [
                ":exception-type: serviceUnavailableException", ":content-type: application/json",
                ":message-type: exception",
            ],
            #"{"message":"Bedrock is unable to process your request."}"#, .overload),
        Answer(
            "unavailable, inside a stream", "bedrock", 200, [],
            #"{"serviceUnavailableException":{"message":"Bedrock is unable to process your request."}}"#, .overload),
        Answer(
            "an exception at the end of a stream of events", "bedrock", 200, [],
            #"{"contentBlockDelta":{"delta":{"text":"Hel"}}}{"throttlingException":{"message":"Too many tokens, please wait before trying again."}}"#,
            .quota, out: "tokens"),
        Answer(
            "a model that is not ready", "bedrock", 429, ["x-amzn-errortype: ModelNotReadyException"],
            #"{"message":"The model is not ready to serve inference requests. Please try again."}"#, .server),
        Answer(
            "a model's time-out", "bedrock", 408, ["x-amzn-errortype: ModelTimeoutException"],
            #"{"message":"The request took too long to process. Processing time exceeded the model timeout length."}"#,
            .server),
        Answer(
            "a model's error", "bedrock", 424, ["x-amzn-errortype: ModelErrorException"],
            #"{"originalStatusCode":429,"message":"The request failed due to an error while processing the model."}"#,
            .server),
        Answer(
            "an internal fault", "bedrock", 500, ["x-amzn-errortype: InternalServerException"],
            #"{"message":"The system encountered an unexpected error during processing. Try your request again."}"#,
            .server),
        Answer(
            "a service quota", "bedrock", 400, [],
            #"{"__type":"ServiceQuotaExceededException","message":"Your request exceeds the service quota for your account."}"#,
            .quota),
        Answer(
            "no access to a model", "bedrock", 403, ["x-amzn-errortype: AccessDeniedException"],
            #"{"message":"You don't have access to the model with the specified model ID."}"#, .auth),
        Answer(
            "an account that cannot pay", "bedrock", 403, ["x-amzn-errortype: AccessDeniedException"],
            #"{"message":"Model access is denied due to INVALID_PAYMENT_INSTRUMENT:A valid payment instrument must be provided. Your AWS Marketplace subscription for this model cannot be completed at this time."}"#,
            .billing),
        Answer(
            "a model without on-demand throughput", "bedrock", 400, ["x-amzn-errortype: ValidationException"],
            #"{"message":"Invocation of model ID anthropic.claude-sonnet-4-20250514-v1:0 with on-demand throughput isn’t supported. Retry your request with the ID or ARN of an inference profile that contains this model."}"#,
            .client),
        Answer(
            "too many tokens asked for", "bedrock", 400, ["x-amzn-errortype: ValidationException"],
            #"{"message":"The maximum tokens you requested exceed the model limit of 4096. Try again with a maximum tokens value lower than 4096."}"#,
            .client),
        Answer(
            "a form that was not handed in", "bedrock", 404, ["x-amzn-errortype: ResourceNotFoundException"],
            #"{"message":"Model use case details have not been submitted for this account. Fill out the Anthropic use case details form before using the model. If you have already filled out the form, try again in 15 minutes."}"#,
            .client, wait: 900_000),
        Answer(
            "a wrong signature", "bedrock", 403, ["x-amzn-errortype: InvalidSignatureException"],
            #"{"message":"The request signature we calculated does not match the signature you provided."}"#, .auth),
        Answer(
            "a token that has expired", "bedrock", 403, ["x-amzn-errortype: ExpiredTokenException"],
            #"{"message":"The security token included in the request is expired"}"#, .auth),
    ]
}

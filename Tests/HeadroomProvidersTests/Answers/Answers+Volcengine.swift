/// Platforms with numbers or names of their own for errors: DashScope, Volcengine, Moonshot, Zhipu, MiniMax, SiliconFlow,
/// ModelArts.
extension Answer {
    static let numbered: [Answer] = [
        Answer(
            "DashScope: requests", "dashscope", 429, [],
            #"{"code":"Throttling.RateQuota","message":"Requests rate limit exceeded, please try again later.","request_id":"1"}"#,
            .quota, out: "requests"),
        Answer(
            "DashScope: allocated tokens", "dashscope", 429, [],
            #"{"code":"Throttling.AllocationQuota","message":"Allocated quota exceeded, please increase your quota limit.","request_id":"1"}"#,
            .quota),
        Answer(
            "DashScope: growth, in OpenAI's shape", "qwen", 429, [],
            #"{"error":{"code":"limit_burst_rate","message":"Request rate increased too quickly. To ensure system stability, please adjust your client logic to scale requests more smoothly over time.","param":null,"type":"limit_burst_rate"}}"#,
            .ramp),
        Answer(
            "DashScope: arrears", "dashscope", 400, [],
            #"{"code":"Arrearage","message":"Access denied, please make sure your account is in good standing.","request_id":"1"}"#,
            .billing),
        Answer(
            "DashScope: a free tier that is used up", "dashscope", 403, [],
            #"{"error":{"message":"The free tier of the model has been exhausted. If you wish to continue access the model on a paid basis, please disable the \"use free tier only\" mode in the management console.","type":"AllocationQuota.FreeTierOnly","param":null,"code":"AllocationQuota.FreeTierOnly"}}"#,
            .billing),
        Answer(
            "DashScope: content", "dashscope", 400, [],
            #"{"code":"DataInspectionFailed","message":"Input data may contain inappropriate content.","request_id":"1"}"#,
            .client),
        Answer(
            "DashScope: a status in a stream's comment", "dashscope", 200, ["content-type: text/event-stream"],
            "id:1\nevent:error\n:HTTP_STATUS/429\ndata:{\"code\":\"Throttling.AllocationQuota\",\"message\":\"Allocated quota exceeded, please increase your quota limit.\",\"request_id\":\"1\"}\n\n",
            .quota),
        Answer(
            "DashScope: overloaded", "dashscope", 503, [],
            #"{"code":"ModelServiceFailed","message":"Too many requests. Your requests are being throttled due to system capacity limits. Please try again later.","request_id":"1"}"#,
            .overload),
        Answer(
            "Volcengine: tokens of an endpoint", "volcengine", 429, [],
            #"{"error":{"code":"RateLimitExceeded.EndpointTPMExceeded","message":"The Tokens Per Minute (TPM) limit of the associated endpoint for your account has been exceeded. Request id: 1","param":"","type":"TooManyRequests"}}"#,
            .quota, out: "tokens"),
        Answer(
            "Volcengine: requests of a model", "volcengine", 429, [],
            #"{"error":{"code":"ModelAccountRpmRateLimitExceeded","message":"Your account's request rate for this model has exceeded its RPM limit. Request id: 1","type":"TooManyRequests"}}"#,
            .quota, out: "requests"),
        Answer(
            "Volcengine: overloaded", "doubao", 429, [],
            #"{"error":{"code":"ServerOverloaded","message":"The service is currently unable to handle additional requests due to server overload. Request id: 1","param":"","type":"TooManyRequests"}}"#,
            .overload),
        Answer(
            "Volcengine: growth", "volcengine", 429, [],
            #"{"error":{"code":"RequestBurstTooFast","message":"Requests have risen too fast and triggered the system protection. Request id: 1","type":"TooManyRequests"}}"#,
            .ramp),
        Answer(
            "Volcengine: a limit that the customer set", "volcengine", 429, [],
            #"{"error":{"code":"SetLimitExceeded","message":"Your account [1] has reached the set inference limit for the [doubao] model, and the model service has been paused. To continue using this model, please visit the Model Activation page to adjust or close the \"Safe Experience Mode\". Request id: 1","type":"TooManyRequests"}}"#,
            .billing),
        Answer(
            "Volcengine: a plan's hours", "volcengine", 429, [],
            #"{"error":{"code":"AccountQuotaExceeded","type":"TooManyRequests","message":"You have exceeded the 5-hour usage quota. It will reset at 2026-08-03 23:59:59 +0800 CST."}}"#,
            .quota),
        Answer(
            "Volcengine: an account overdue", "ark", 403, [],
            #"{"error":{"code":"AccountOverdueError","message":"The request failed because your account has an overdue balance. Request id: 1","param":"","type":"Forbidden"}}"#,
            .billing),
        Answer(
            "Volcengine: calls at once", "volcengine", 429, [],
            #"{"error":{"code":"InflightBatchsizeExceeded","message":"The maximum number of concurrent requests has been reached. Request id: 1","type":"TooManyRequests"}}"#,
            .quota, out: ""),
        Answer(
            "Volcengine: an internal fault", "volcengine", 500, [],
            #"{"error":{"code":"InternalServiceError","message":"The service encountered an unexpected internal error.","type":"InternalServerError"}}"#,
            .server),
        Answer(
            "Moonshot: requests", "moonshot", 429, [],
            #"{"error":{"message":"Your account org-x<ak-y> request reached organization max RPM: 3, please try again after 1 seconds","type":"rate_limit_reached_error"}}"#,
            .quota, wait: 1000, limits: ["requests/60 limit 3"], out: "requests"),
        Answer(
            "Moonshot: tokens", "kimi", 429, [],
            #"{"error":{"message":"Your account org-x<ak-y> request reached organization TPM rate limit, current:32769, limit:32000","type":"rate_limit_reached_error"}}"#,
            .quota, limits: ["tokens/60 limit 32000"], out: "tokens"),
        Answer(
            "Moonshot: calls at once", "moonshot", 429, [],
            #"{"error":{"message":"Your account org-x<ak-y> request reached organization max concurrency: 3, please try again after 2 seconds","type":"rate_limit_reached_error"}}"#,
            .quota, wait: 2000, out: ""),
        Answer(
            "Moonshot: overloaded", "moonshot", 429, [],
            #"{"error":{"message":"The engine is currently overloaded, please try again later","type":"engine_overloaded_error"}}"#,
            .overload),
        Answer(
            "Moonshot: suspended", "moonshot", 429, [],
            #"{"error":{"message":"Your account org-x<ak-y> is suspended, please check your plan and billing details","type":"exceeded_current_quota_error"}}"#,
            .billing),
        Answer(
            "Moonshot: no tokens bought", "moonshot", 429, [],
            #"{"error":{"message":"You exceeded your current token quota: 0, please check your account balance","type":"exceeded_current_quota_error"}}"#,
            .billing),
        Answer(
            "Moonshot: a model's tokens", "moonshot", 400, [],
            #"{"error":{"message":"Invalid request: Your request exceeded model token limit: 131072","type":"invalid_request_error"}}"#,
            .client),
        Answer(
            "Kimi: a plan's cycle, under 403", "kimi", 403, [],
            #"{"error":{"type":"access_terminated_error","message":"You've reached your usage limit for this billing cycle. Your quota will be refreshed in the next cycle."}}"#,
            .quota),
        Answer(
            "Zhipu: rate", "zhipu", 429, [],
            #"{"error":{"code":"1302","message":"您的账户已达到速率限制，请您控制请求频率"},"request_id":"1"}"#, .quota),
        Answer(
            "Zhipu: calls at once", "glm", 429, [],
            #"{"error":{"code":"1302","message":"您当前使用该API的并发数过高，请降低并发，或联系客服增加限额。"}}"#, .quota),
        Answer(
            "Zhipu: a model that is too much asked for", "zhipu", 429, [],
            #"{"error":{"code":"1305","message":"该模型当前访问量过大，请您稍后再试"}}"#, .overload),
        Answer(
            "Z.ai: overloaded", "zai", 429, [],
            #"{"error":{"code":"1305","message":"The service may be temporarily overloaded, please try again later"}}"#,
            .overload),
        Answer(
            "Zhipu: arrears", "zhipuai", 429, [], #"{"error":{"code":"1113","message":"您的账户已欠费，请充值后重试。"}}"#,
            .billing),
        Answer(
            "Z.ai: a plan's hours", "z.ai", 429, [],
            #"{"error":{"code":"1308","message":"Usage limit reached for 5 hour. Your limit will reset at 2026-05-25 19:22:49"}}"#,
            .quota),
        Answer(
            "Zhipu: an unsafe prompt", "zhipu", 400, [],
            #"{"error":{"code":"1301","message":"系统检测到输入或生成内容可能包含不安全或敏感内容"},"contentFilter":[{"role":"user","level":1}]}"#,
            .client),
        Answer(
            "Zhipu: a key that is not valid", "zhipu", 401, [],
            #"{"error":{"code":"1000","message":"身份验证失败。"}}"#, .auth),
        Answer(
            "MiniMax: rate, inside a success", "minimax", 200, [],
            #"{"vectors":null,"base_resp":{"status_code":1002,"status_msg":"rate limit exceeded(RPM)"}}"#,
            .quota, out: "requests"),
        Answer(
            "MiniMax: money, inside a success", "minimax", 200, [],
            #"{"id":"x","choices":null,"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}"#, .billing
        ),
        Answer(
            "MiniMax: a plan's use, in a stream", "minimax", 200, ["content-type: text/event-stream"],
            "data: {\"id\":\"06f9\",\"choices\":null,\"base_resp\":{\"status_code\":2056,\"status_msg\":\"usage limit exceeded\"}}\n\n",
            .quota),
        Answer(
            "MiniMax: identity, inside a success", "minimax", 200, [],
            #"{"base_resp":{"status_code":1004,"status_msg":"login fail: Please carry the API secret key in the 'Authorization' field of the request header"}}"#,
            .auth),
        Answer(
            "MiniMax: parameters, inside a success", "minimax", 200, [],
            #"{"base_resp":{"status_code":2013,"status_msg":"invalid params"}}"#, .client),
        Answer(
            "MiniMax: a success", "minimax", 200, [],
            #"{"choices":[{"message":{"content":"insufficient balance"}}],"base_resp":{"status_code":0,"status_msg":""}}"#,
            .ok),
        Answer(
            "SiliconFlow: tokens", "siliconflow", 429, [],
            #"{"message":"Request was rejected due to rate limiting. If you want more, please contact contact@siliconflow.cn. Details:TPM limit reached.","data":"string"}"#,
            .quota, out: "tokens"),
        Answer(
            "SiliconFlow: overloaded", "siliconflow", 503, [],
            #"{"code":50505,"message":"Model service overloaded. Please try again later.","data":"string"}"#, .overload),
        Answer(
            "SiliconFlow: money", "siliconflow", 403, [],
            #"{"code":30001,"message":"Sorry, your account balance is insufficient","data":null}"#, .billing),
        Answer(
            "ModelArts: requests", "modelarts", 429, [],
            #"{"error_code":"ModelArts.81101","error_msg":"Too many requests, exceeded rate limit is 3 times per minute."}"#,
            .quota, limits: ["requests/60 limit 3"]),
        Answer(
            "ModelArts: tokens", "modelarts", 429, [],
            #"{"error_code":"ModelArts.81103","error_msg":"Too many requests. exceeded rate limit is 30000 tokens per minute."}"#,
            .quota, limits: ["tokens/60 limit 30000"], out: "tokens"),
        Answer(
            "a relay: balance in another language", nil, 403, [],
            #"{"error":{"message":"用户余额不足","type":"new_api_error","param":"","code":"insufficient_user_quota"}}"#,
            .billing),
    ]
}

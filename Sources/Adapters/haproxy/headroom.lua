-- Headroom in HAProxy (2.6 or later), without a process beside it: see haproxy.cfg. HEADROOM_URL, HEADROOM_TOKEN and HEADROOM_GATEWAY
-- are read from the environment. One Lua state serves all threads (lua-load), so one HAProxy is one gateway.

local url = os.getenv("HEADROOM_URL") or "http://127.0.0.1:8420"
local token = os.getenv("HEADROOM_TOKEN")
local headroom = require("headroom_gate")

local function wall()
    local now = core.now()
    return now.sec + now.usec / 1e6
end

math.randomseed(math.floor(wall() * 1e6) % 2 ^ 31)
local link = headroom.Link.new(os.getenv("HEADROOM_GATEWAY") or "haproxy")

local function headers(more)
    local found = { ["host"] = { url:match("//([^/]+)") } }
    if token then found["authorization"] = { "Bearer " .. token } end
    for name, text in pairs(more) do found[name:lower()] = { text } end
    return found
end

local function header(response, name)
    return response.headers and response.headers[name] and response.headers[name][0]
end

core.register_task(function()
    while true do
        local path, wait = link:poll()
        local asked = wall()
        local ok, response = pcall(function()
            return core.httpclient():get({ url = url .. path, headers = headers(link:headers()), timeout = (wait + 5) * 1000 })
        end)
        local now = wall()
        local took = ok and now - asked <= wait + 5
            and link:polled(response.status, header(response, "etag"), response.body, now)
        if not took then core.msleep(500 + math.random(0, 200)) end
    end
end)

core.register_task(function()
    while true do
        core.msleep(1000)
        local body, batch = link:due(wall(), wall())
        if body then
            local ok, response = pcall(function()
                return core.httpclient():post({
                    url = url .. "/v1/telemetry", body = body, timeout = 5000,
                    headers = headers({
                        ["Content-Type"] = "application/x-ndjson", ["Headroom-Batch"] = batch, ["Headroom-Boot"] = link.boot,
                        ["Headroom-Sent-At"] = string.format("%.0f", wall() * 1000) }) })
            end)
            if ok then link:reported(response.status, response.body, wall()) end
        end
    end
end)

-- http-request lua.headroom_wait POOL: waits for the call's turn. Sets txn.headroom_denied, and then txn.headroom_retry_after in whole
-- seconds, txn.headroom_retry_after_ms, and txn.headroom_should_retry.
core.register_action("headroom_wait", { "http-req" }, function(txn, pool)
    local function word(name) return txn.sf:req_hdr(name) end
    local now = wall()
    local gate = link:gate(pool, now)
    local tenant = txn:get_var("txn.tenant") or ""
    if not tenant:match("^%w[%w._:@-]*$") or #tenant > 128 then tenant = "unknown" end
    local wait = (tonumber(word("x-headroom-max-wait-ms")) or 30000) / 1000
    wait = math.min(wait, (tonumber(word("x-stainless-read-timeout")) or 600) * 0.8)
    -- About four bytes of a request are a token.
    local call = gate:ask(
        tenant, word("x-headroom-criticality"), (tonumber(word("content-length")) or 400) / 4,
        tonumber((txn.sf:req_body() or ""):match('"max_[%w_]*tokens"%s*:%s*(%d+)')), wait, now,
        headroom.taskKind(word("x-headroom-task-kind")))
    if call and not call.hold then
        gate:dispatch(now)
        while not call.grant and now < call.deadline do
            core.msleep(20)
            now = wall()
            -- HAProxy ends this action when the client goes, and tells nobody.
            call.seen = now
            gate:dispatch(now)
        end
    end
    if call and call.grant then
        txn:set_priv({ call = call, gate = gate, pool = pool })
        return
    end
    if call then
        gate:leave(call)
        link:report(call, pool, "denied", nil, nil, nil, now, wall())
    end
    local pause, comesBack = 2, true
    if call then pause, comesBack = gate:retryAfter(call, now) end
    txn:set_var("txn.headroom_denied", true)
    txn:set_var("txn.headroom_should_retry", tostring(comesBack))
    txn:set_var("txn.headroom_retry_after_ms", math.ceil(pause * 1000))
    txn:set_var("txn.headroom_retry_after", math.ceil(pause))
end, 1)

-- http-response lua.headroom_done: what the call really cost. Put "http-response wait-for-body" before it for JSON answers; a stream
-- counts as estimated.
core.register_action("headroom_done", { "http-res" }, function(txn)
    local held = txn:get_priv()
    if not held then return end
    local now, status = wall(), tonumber(txn.sf:status())
    local body = status ~= 200 and "" or txn.sf:res_body() or ""
    if status == 429 or status == 503 or status == 529 then
        local after = tonumber(txn.sf:res_hdr("retry-after"))
        held.gate:refused(held.call, after, now)
        link:report(held.call, held.pool, status == 429 and "quota" or "overload", status, nil, nil, now, wall())
    else
        local input = tonumber(body:match('"prompt_tokens"%s*:%s*(%d+)') or body:match('"input_tokens"%s*:%s*(%d+)'))
        local output = tonumber(body:match('"completion_tokens"%s*:%s*(%d+)') or body:match('"output_tokens"%s*:%s*(%d+)'))
        held.gate:settle(held.call, input or held.call.input, output, now)
        link:report(
            held.call, held.pool, status < 400 and "ok" or status < 500 and "client" or "server", status, input, output, now,
            wall())
    end
    held.gate:dispatch(now)
end)

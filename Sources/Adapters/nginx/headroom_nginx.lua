-- nginx asks `headroom gate` before each call and tells it afterwards what the call cost: see nginx.conf. All workers ask one gate.

local M = {}
local longest_wait = 30 -- Seconds; of a call that names no wait.
local most_ends = 10000 -- Ends that wait in a worker to be sent to the gate; beyond so many, the slots count at their estimate.
local most_whole = 262144 -- Bytes of an answer that go to the gate; of a larger one the estimate stands.
local most_first, most_last = 4096, 16384 -- Of a stream.
local most_body = 1000000 -- Bytes of a call that go to the gate; of a larger one it hears the size.

local asked = { -- Of the caller's headers, those that the gate reads from anyone.
    "x-headroom-criticality", "x-headroom-task", "x-headroom-task-kind", "x-headroom-parent", "x-headroom-work",
    "x-headroom-step", "x-headroom-request", "idempotency-key",
    "baggage", "traceparent", "session-id", "thread-id", "x-session-id", "x-litellm-trace-id", "x-claude-code-session-id",
    "x-stainless-retry-count", "x-stainless-read-timeout" }
local refusal = { "retry-after-ms", "retry-after", "x-should-retry", "ratelimit", "ratelimit-policy", "content-type" }

local host, port -- Of the gate; without a port a Unix socket.
local shared = ngx.shared.headroom
local ends, is_telling = {}, false
local waiting = 0

local function connect(milliseconds)
    local socket = ngx.socket.tcp()
    socket:settimeouts(500, milliseconds, milliseconds)
    local ok
    if port then ok = socket:connect(host, port) else ok = socket:connect(host) end
    return ok and socket
end

local function request(method, path, headers, body)
    local lines = { method .. " " .. path .. " HTTP/1.1", "host: 127.0.0.1", "content-length: " .. #body }
    for name, value in pairs(headers) do lines[#lines + 1] = name .. ": " .. value end
    return table.concat(lines, "\r\n") .. "\r\n\r\n" .. body
end

-- The first line may take its time: it is waited for until `is_over` says so, after each time-out.
local function receive(socket, is_over)
    local line, fault, part = nil, nil, ""
    while not line do
        local more
        line, fault, more = socket:receive("*l")
        if not line then
            if fault ~= "timeout" or not is_over or is_over() then return nil end
            part = part .. (more or "")
        end
    end
    local status = tonumber((part .. line):match("^HTTP/%S+ (%d+)"))
    if not status then return nil end
    local headers = {}
    while true do
        line = socket:receive("*l")
        if not line then return nil end
        local name, value = line:match("^(%S+):%s*(.-)%s*$")
        if not name then break end
        headers[name:lower()] = value
    end
    local length = tonumber(headers["content-length"]) or 0
    return status, headers, length > 0 and socket:receive(length) or ""
end

local function is_away() return shared:get("away") == true end

-- Sends it on a connection that was kept, and once more on a new one if that has ended meanwhile.
local function exchange(text, milliseconds, is_over)
    while true do
        local socket = connect(milliseconds)
        if not socket then return nil end
        local kept = socket:getreusedtimes() > 0
        local status, headers, body
        if socket:send(text) then status, headers, body = receive(socket, is_over) end
        if status then
            socket:setkeepalive(30000, 64)
            return status, headers, body
        end
        socket:close()
        if not kept or (is_over and is_over()) then return nil end
    end
end

local function lose()
    if shared:safe_add("away", true) then ngx.log(ngx.WARN, "headroom: the gate does not answer, until it does nobody asks it") end
end

-- access_by_lua: waits for the call's turn, or answers 429.
function M.ask(pool, tenant, when_gone)
    local fields = ngx.req.get_headers()
    local headers = {
        ["x-headroom-tenant"] = tenant, ["x-headroom-pool"] = pool, ["x-original-uri"] = ngx.var.request_uri }
    for _, name in ipairs(asked) do
        local value = fields[name]
        if type(value) == "string" then headers[name] = value end
    end
    local timeout = tonumber(headers["x-stainless-read-timeout"]) or 600
    local wait = math.min((tonumber(fields["x-headroom-max-wait-ms"]) or longest_wait * 1000) / 1000, 0.8 * timeout)
    headers["x-headroom-max-wait-ms"] = string.format("%.0f", wait * 1000)
    ngx.req.read_body()
    local body = ngx.req.get_body_data() or ""
    if body == "" or #body > most_body then
        body, headers["x-headroom-bytes"] = "", fields["content-length"]
    end
    local status, found, content
    if not is_away() then
        local deadline = ngx.now() + wait + 2
        waiting = waiting + 1
        ngx.on_abort(function()
            waiting = waiting - 1
            ngx.exit(499)
        end)
        status, found, content = exchange(request("POST", "/check?expires_ms=600000", headers, body), 1000, function()
            return is_away() or ngx.now() > deadline
        end)
        waiting = waiting - 1
        if not status then lose() end
    end
    if status == 200 then
        ngx.ctx.headroom = { slot = found["x-headroom-slot"], first = "", last = "" }
        return
    end
    if status and status < 500 then
        ngx.status = status
        for _, name in ipairs(refusal) do ngx.header[name] = found[name] end
        ngx.print(content)
        return ngx.exit(status)
    end
    if when_gone == "refuse" then
        ngx.status = 503
        ngx.header["retry-after"] = 2
        ngx.header["content-type"] = "application/json"
        ngx.print('{"type":"error","error":{"type":"overloaded_error","message":"Headroom\'s gate is away"}}')
        return ngx.exit(503)
    end
    shared:incr("calls " .. tenant .. " " .. pool, 1, 0)
    shared:incr("bytes " .. tenant .. " " .. pool, tonumber(fields["content-length"]) or 0, 0)
end

-- body_filter_by_lua: keeps the beginning and the end of the answer, where streams too say what they cost.
function M.read()
    local held = ngx.ctx.headroom
    local data = ngx.arg[1]
    if not held or not data or data == "" then return end
    if held.is_stream == nil then
        held.is_stream = (ngx.header["content-type"] or ""):find("text/event-stream", 1, true) ~= nil
    end
    -- Anthropic's streams say the input when they begin, and the output when they end.
    local most = held.is_stream and most_first or most_whole
    if #held.first < most then held.first = held.first .. data:sub(1, most - #held.first) end
    if held.is_stream then held.last = (held.last .. data):sub(-most_last) end
end

local function tell(premature)
    local socket = connect(2000)
    while socket and #ends > 0 do
        local due = ends
        ends = {}
        if not socket:send(table.concat(due)) then break end
        for _ = 1, #due do
            if not receive(socket) then
                socket:close()
                socket = nil
                break
            end
        end
    end
    if socket then socket:setkeepalive(30000, 64) end
    ends, is_telling = {}, false
end

-- log_by_lua: how the call ended.
function M.done()
    local held = ngx.ctx.headroom
    if not held or not held.slot then return end
    local status = tonumber(ngx.var.upstream_status)
    local how = status and "status=" .. status or "outcome=" .. (ngx.status == 504 and "timeout" or "connection")
    -- The gate reads what the call cost out of the provider's answer, and what is left of the limits out of its headers.
    local said = {}
    for name, value in pairs(ngx.resp.get_headers()) do
        if type(value) == "string" and (name:find("ratelimit", 1, true) or name:find("retry-after", 1, true)) then
            said["x-headroom-upstream-" .. name] = value
        end
    end
    if #ends >= most_ends then return end
    ends[#ends + 1] = request(
        "POST", "/v1/slots/" .. held.slot .. "/done?" .. how, said,
        held.is_stream and held.first .. "\n" .. held.last or held.first)
    if not is_telling then is_telling = ngx.timer.at(0, tell) end
end

-- Each second: is the gate there? One that is back hears of the calls that came meanwhile.
local function look(premature)
    if premature or (waiting == 0 and not is_away()) then return end
    if exchange(request("GET", "/healthz", {}, ""), 2000) ~= 200 then return lose() end
    if not is_away() or ngx.worker.id() ~= 0 then return end
    shared:delete("away")
    local sum = 0
    for _, key in ipairs(shared:get_keys(0)) do
        local tenant, pool = key:match("^calls (%S+) (%S+)$")
        local calls = tenant and shared:get(key)
        if calls then
            local bytes = shared:get("bytes " .. tenant .. " " .. pool) or 0
            shared:delete(key)
            shared:delete("bytes " .. tenant .. " " .. pool)
            sum = sum + calls
            exchange(request("POST", "/v1/missed", {}, string.format(
                '{"tenant":"%s","pool":"%s","calls":%d,"tokens":%d}', tenant, pool, math.min(calls, 10000), bytes / 4 / calls)), 2000)
        end
    end
    ngx.log(ngx.WARN, "headroom: the gate is back, ", sum, " calls passed while it was away")
end

-- init_worker_by_lua: where the gate listens, as 127.0.0.1:8421 or unix:/run/headroom/gate.sock.
function M.start(address)
    host, port = address:match("^([^:]+):(%d+)$")
    host, port = host or address, tonumber(port)
    ngx.timer.every(1, look)
end

return M

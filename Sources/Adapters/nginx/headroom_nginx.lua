-- Headroom in nginx with the Lua module: see nginx.conf. Each worker process is a gateway of its own, HEADROOM_GATEWAY.1, .2 and so on:
-- they share no counters.

local headroom = require("headroom_gate")
local M = {}
local url = os.getenv("HEADROOM_URL") or "http://127.0.0.1:8420"
local token = os.getenv("HEADROOM_TOKEN")
local host, port = url:match("//([^:/]+):?(%d*)")
local link

-- (status, headers, body). HTTP/1.0: the answer ends with the connection.
local function ask(method, path, fields, body, seconds)
    local socket = ngx.socket.tcp()
    socket:settimeouts(5000, 5000, seconds * 1000)
    local ok, fault = socket:connect(host, tonumber(port) or 80)
    if not ok then return nil, fault end
    local head = { method .. " " .. path .. " HTTP/1.0", "Host: " .. host .. ":" .. port }
    if token then head[#head + 1] = "Authorization: Bearer " .. token end
    if body then head[#head + 1] = "Content-Length: " .. #body end
    for name, text in pairs(fields) do head[#head + 1] = name .. ": " .. text end
    socket:send(table.concat(head, "\r\n") .. "\r\n\r\n" .. (body or ""))
    local answer = socket:receive("*a")
    socket:close()
    local first, rest = (answer or ""):match("^(.-\r\n)\r\n(.*)$")
    if not first then return nil, "no answer" end
    return tonumber(first:match("^HTTP/%S+ (%d+)")), first:lower(), rest, first
end

local function poll(premature)
    if premature then return end
    local path, wait = link:poll()
    local asked = ngx.now()
    local status, _, body, head = ask("GET", path, link:headers(), nil, wait + 5)
    ngx.update_time()
    local now = ngx.now()
    local took = status and now - asked <= wait + 5
        and link:polled(status, head:match("[Ee][Tt][Aa][Gg]: ([^\r]+)"), body, now)
    ngx.timer.at(took and 0 or 0.5 + math.random() * 0.2, poll)
end

local function report(premature)
    local body, batch = link:due(ngx.now(), ngx.now())
    if body then
        local status, _, answer = ask("POST", "/v1/telemetry", {
            ["Content-Type"] = "application/x-ndjson", ["Headroom-Batch"] = batch, ["Headroom-Boot"] = link.boot,
            ["Headroom-Sent-At"] = string.format("%.0f", ngx.now() * 1000) }, body, 5)
        if status then link:reported(status, answer, ngx.now()) end
    end
    if premature then
        ask("DELETE", "/v1/gateways/" .. link.name, {}, nil, 1)
    else
        ngx.timer.at(1, report)
    end
end

-- init_worker_by_lua
function M.start()
    math.randomseed(ngx.now() * 1000 + ngx.worker.pid())
    link = headroom.Link.new((os.getenv("HEADROOM_GATEWAY") or "nginx") .. "." .. ngx.worker.id() + 1)
    ngx.timer.at(0, poll)
    ngx.timer.at(1, report)
end

-- access_by_lua: waits for the call's turn, or answers 429.
function M.access(pool, tenant)
    local fields = ngx.req.get_headers()
    tenant = tenant or ""
    if not tenant:match("^%w[%w._:@-]*$") or #tenant > 128 then tenant = "unknown" end
    ngx.req.read_body()
    local body = ngx.req.get_body_data() or ""
    local wait = (tonumber(fields["x-headroom-max-wait-ms"]) or 30000) / 1000
    wait = math.min(wait, (tonumber(fields["x-stainless-read-timeout"]) or 600) * 0.8)
    local now = ngx.now()
    local gate = link:gate(pool, now)
    local call = gate:ask(
        tenant, fields["x-headroom-criticality"], (tonumber(fields["content-length"]) or 400) / 4,
        tonumber(body:match('"max_[%w_]*tokens"%s*:%s*(%d+)')), wait, now, headroom.taskKind(fields["x-headroom-task-kind"]))
    if call and not call.hold then
        -- Needs lua_check_client_abort on.
        ngx.on_abort(function() gate:leave(call) ngx.exit(499) end)
        gate:dispatch(now)
        while not call.grant and now < call.deadline do
            ngx.sleep(0.02)
            now = ngx.now()
            gate:dispatch(now)
        end
    end
    if call and call.grant then
        ngx.ctx.headroom = { call = call, gate = gate, pool = pool }
        return
    end
    if call then
        gate:leave(call)
        link:report(call, pool, "denied", nil, nil, nil, now, now)
    end
    local pause, comesBack = 2, true
    if call then pause, comesBack = gate:retryAfter(call, now) end
    ngx.status = 429
    ngx.header["Retry-After"] = math.ceil(pause)
    ngx.header["retry-after-ms"] = math.ceil(pause * 1000)
    ngx.header["x-should-retry"] = tostring(comesBack)
    ngx.header["Content-Type"] = "application/json"
    ngx.say('{"error":{"type":"rate_limit_error","code":"rate_limit_exceeded","message":"Headroom: no allocation within the wait"}}')
    ngx.exit(429)
end

-- body_filter_by_lua: keeps the end of the answer, where streams too say what they cost.
function M.body()
    local held = ngx.ctx.headroom
    if held then held.tail = ((held.tail or "") .. (ngx.arg[1] or "")):sub(-8192) end
end

-- log_by_lua: what the call really cost.
function M.done()
    local held = ngx.ctx.headroom
    if not held then return end
    local now, status, tail = ngx.now(), ngx.status, held.tail or ""
    if status == 429 or status == 503 or status == 529 then
        held.gate:refused(held.call, tonumber(ngx.header["retry-after"]), now)
        link:report(held.call, held.pool, status == 429 and "quota" or "overload", status, nil, nil, now, now)
        return
    end
    local input = tonumber(tail:match('"prompt_tokens"%s*:%s*(%d+)') or tail:match('"input_tokens"%s*:%s*(%d+)'))
    local output = tonumber(tail:match('"completion_tokens"%s*:%s*(%d+)') or tail:match('.*"output_tokens"%s*:%s*(%d+)'))
    held.gate:settle(held.call, input or held.call.input, output, now)
    link:report(
        held.call, held.pool, status < 400 and "ok" or status < 500 and "client" or "server", status, input, output, now, now)
end

return M

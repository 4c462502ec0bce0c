-- HAProxy asks `headroom gate` before each call and tells it afterwards what the call cost: see haproxy.cfg. The gate is the server of the
-- backend headroom_gate; HAProxy's own check of that server says whether it is there.

local longest_wait = 30 -- Seconds; of a call that names no wait.
local most_ends = 10000 -- Ends that wait to be sent to the gate; beyond so many, the slots count at their estimate.
local most_whole = 262144 -- Bytes of an answer that go to the gate; of a larger one the estimate stands.
local most_first, most_last = 4096, 16384 -- Of a stream.

local asked = { -- Of the caller's headers, those that the gate reads from anyone.
    "x-headroom-criticality", "x-headroom-task", "x-headroom-task-kind", "x-headroom-parent", "x-headroom-work",
    "x-headroom-step", "x-headroom-request", "idempotency-key",
    "baggage", "traceparent", "session-id", "thread-id", "x-session-id", "x-litellm-trace-id", "x-claude-code-session-id",
    "x-stainless-retry-count", "x-stainless-read-timeout" }
local refusal = { "retry-after-ms", "retry-after", "x-should-retry", "ratelimit", "ratelimit-policy", "content-type" }

local ends = {} -- Requests to the gate, oldest first.
local missed = {} -- Calls that passed while the gate was away, and their bytes, by "tenant pool".

local function address()
    for _, server in pairs(core.backends["headroom_gate"].servers) do return server:get_addr() end
end

local function request(method, path, headers, body)
    local lines = { method .. " " .. path .. " HTTP/1.1", "host: 127.0.0.1", "content-length: " .. #body }
    for name, value in pairs(headers) do lines[#lines + 1] = name .. ": " .. value end
    return table.concat(lines, "\r\n") .. "\r\n\r\n" .. body
end

local function receive(socket)
    local line = socket:receive("*l")
    local status = tonumber((line or ""):match("^HTTP/%S+ (%d+)"))
    if not status then return nil end
    local headers = {}
    while true do
        line = socket:receive("*l")
        if not line then return nil end
        local name, value = line:match("^(%S+):%s*(.-)\r?$")
        if not name then break end
        headers[name:lower()] = value
    end
    local length = tonumber(headers["content-length"]) or 0
    return status, headers, length > 0 and socket:receive(length) or ""
end

-- A connection of its own: HAProxy ends it with the call when the client hangs up, by which the gate knows.
local function ask(text, seconds)
    local socket = core.tcp()
    socket:settimeout(seconds)
    local status, headers, body
    if socket:connect(address()) and socket:send(text) then status, headers, body = receive(socket) end
    socket:close()
    return status, headers, body
end

local function is_away(txn) return txn.f:nbsrv("headroom_gate") == 0 end

-- http-request lua.headroom_ask POOL pass|refuse
core.register_action("headroom_ask", { "http-req" }, function(txn, pool, when_gone)
    local tenant = txn:get_var("txn.headroom_tenant") or ""
    if not tenant:match("^%w[%w._:@-]*$") or #tenant > 128 then tenant = "unknown" end
    local headers = { ["x-headroom-tenant"] = tenant, ["x-headroom-pool"] = pool, ["x-original-uri"] = txn.sf:path() }
    for _, name in ipairs(asked) do
        local value = txn.sf:req_hdr(name)
        if value ~= "" then headers[name] = value end
    end
    local timeout = tonumber(headers["x-stainless-read-timeout"]) or 600
    local wait = math.min((tonumber(txn.sf:req_hdr("x-headroom-max-wait-ms")) or longest_wait * 1000) / 1000, 0.8 * timeout)
    headers["x-headroom-max-wait-ms"] = string.format("%.0f", wait * 1000)
    local body, length = txn.sf:req_body(), tonumber(txn.sf:req_hdr("content-length"))
    if length and length > #body then
        body, headers["x-headroom-bytes"] = "", length
    end
    local status, fields, content
    if not is_away(txn) then
        status, fields, content = ask(request("POST", "/check?expires_ms=600000", headers, body), wait + 2)
    end
    if status == 200 then
        txn:set_var("txn.headroom_slot", fields["x-headroom-slot"])
        return
    end
    local reply = txn:reply({ status = status or 503 })
    if status and status < 500 then
        for _, name in ipairs(refusal) do
            if fields[name] then reply:add_header(name, fields[name]) end
        end
        reply:set_body(content)
        txn:done(reply)
        return
    end
    if when_gone == "refuse" then
        reply:add_header("retry-after", "2")
        reply:add_header("content-type", "application/json")
        reply:set_body('{"type":"error","error":{"type":"overloaded_error","message":"Headroom\'s gate is away"}}')
        txn:done(reply)
        return
    end
    local key = tenant .. " " .. pool
    missed[key] = missed[key] or { calls = 0, bytes = 0 }
    missed[key].calls, missed[key].bytes = missed[key].calls + 1, missed[key].bytes + (length or #body)
end, 2)

-- The gate reads what the call cost out of the provider's answer, and what is left of the limits out of its headers.
local function tell(slot, status, headers, answer)
    local said = {}
    for name, values in pairs(headers) do
        if name:find("ratelimit", 1, true) or name:find("retry-after", 1, true) then said["x-headroom-upstream-" .. name] = values[0] end
    end
    if #ends >= most_ends then table.remove(ends, 1) end
    ends[#ends + 1] = request("POST", "/v1/slots/" .. slot .. "/done?status=" .. status, said, answer)
end

local Reading = { id = "headroom", flags = filter.FLT_CFG_FL_HTX }
Reading.__index = Reading

function Reading:new() return setmetatable({}, self) end

function Reading:start_analyze(txn, channel)
    if channel:is_resp() then filter.register_data_filter(self, channel) end
end

function Reading:http_headers(txn, message)
    if message:is_resp() then
        self.slot = txn:get_var("txn.headroom_slot")
        self.status = tonumber(txn.sf:status())
        self.headers = message:get_headers()
        self.is_stream = (txn.sf:res_hdr("content-type") or ""):find("text/event-stream", 1, true) ~= nil
        self.first, self.last = "", ""
    end
end

function Reading:http_payload(txn, message)
    if self.slot then
        local data = message:body() or ""
        -- Anthropic's streams say the input when they begin, and the output when they end.
        local most = self.is_stream and most_first or most_whole
        if #self.first < most then
            self.first = self.first .. data:sub(1, most - #self.first)
        end
        if self.is_stream then self.last = (self.last .. data):sub(-most_last) end
    end
end

function Reading:http_end(txn, message)
    if self.slot and message:is_resp() then
        tell(self.slot, self.status, self.headers, self.is_stream and self.first .. "\n" .. self.last or self.first)
        self.slot = nil
    end
end

core.register_filter("headroom", Reading, function(reading) return reading end)

-- Tells the gate what is due, all of it over one connection.
core.register_task(function()
    while true do
        core.msleep(#ends > 0 and 1 or 20)
        local due = ends
        if next(missed) and ask(request("GET", "/healthz", {}, ""), 1) == 200 then
            local counted = missed
            missed = {}
            for key, sum in pairs(counted) do
                local tenant, pool = key:match("^(%S+) (%S+)$")
                due[#due + 1] = request("POST", "/v1/missed", {}, string.format(
                    '{"tenant":"%s","pool":"%s","calls":%d,"tokens":%d}', tenant, pool, math.min(sum.calls, 10000),
                    sum.bytes // (4 * sum.calls)))
                core.log(core.warning, "headroom: " .. sum.calls .. " calls of " .. tenant .. " passed while the gate was away")
            end
        end
        if #due > 0 then
            ends = {}
            local socket = core.tcp()
            socket:settimeout(2)
            if socket:connect(address()) and socket:send(table.concat(due)) then
                for _ = 1, #due do
                    if not receive(socket) then break end
                end
            end
            socket:close()
        end
    end
end)

-- A gateway's law in Lua, for HAProxy (5.3) and nginx (LuaJIT): assured work first, then what is left of the budget is lent to the
-- waiting tenant with the least service clock. The rules are in "Write your own gateway"; names are those of HeadroomEnforcement.
-- It neither draws nor follows a breaker, and knows no budgets of tasks. Instants are seconds of the host's clock; the host sleeps, sends and receives.

local M = {}

-- JSON -------------------------------------------------------------------------------------------------------------------

local escapes = { b = "\b", f = "\f", n = "\n", r = "\r", t = "\t" }

local function value(text, at)
    at = text:find("%S", at)
    local first = text:sub(at, at)
    if first == "{" or first == "[" then
        local isObject, found = first == "{", {}
        at = text:find("%S", at + 1)
        while true do
            local mark = text:sub(at, at)
            if mark == "}" or mark == "]" then return found, at + 1 end
            if mark == "," then at = at + 1 end
            local item, key
            if isObject then
                mark = text:sub(text:find("%S", at) or at, text:find("%S", at) or at)
                if mark == "}" then return found, text:find("}", at, true) + 1 end
                key, at = value(text, at)
                at = text:find(":", at, true) + 1
            end
            item, at = value(text, at)
            found[isObject and key or #found + 1] = item
            at = text:find("%S", at)
        end
    elseif first == '"' then
        local parts, from = {}, at + 1
        while true do
            local mark = text:find('[\\"]', from)
            parts[#parts + 1] = text:sub(from, mark - 1)
            if text:sub(mark, mark) == '"' then return table.concat(parts), mark + 1 end
            local escape = text:sub(mark + 1, mark + 1)
            -- Names are ASCII (Model §2); other text is not used here.
            parts[#parts + 1] = escapes[escape] or (escape == "u" and "?" or escape)
            from = mark + (escape == "u" and 6 or 2)
        end
    end
    local word = text:match("^[^%s,%]}]+", at)
    local constants = { ["true"] = true, ["false"] = false }
    if constants[word] ~= nil then return constants[word], at + #word end
    return tonumber(word), at + #word
end

-- nil and a reason when it is no JSON.
function M.decode(text)
    local isRight, found = pcall(value, text, 1)
    if isRight then return found end
    return nil, "no JSON: " .. tostring(found)
end

local function quoted(text)
    return '"' .. text:gsub('[%c"\\]', function(c) return string.format("\\u%04x", c:byte()) end) .. '"'
end

-- A flat object; whole numbers without a fraction.
function M.encode(fields)
    local parts = {}
    for name, field in pairs(fields) do
        local text
        if type(field) == "number" then text = string.format(field % 1 == 0 and "%.0f" or "%.3f", field)
        elseif type(field) == "table" then text = M.encode(field)
        else text = quoted(tostring(field)) end
        parts[#parts + 1] = quoted(name) .. ":" .. text
    end
    return "{" .. table.concat(parts, ",") .. "}"
end

-- Buckets ----------------------------------------------------------------------------------------------------------------

local RESOURCES = { "rpm", "tpm", "itpm", "otpm" }

local function rates(fields)
    local found = {}
    for _, name in ipairs(RESOURCES) do found[name] = fields and fields[name] or nil end
    return found
end

local Bucket = {}
Bucket.__index = Bucket

function Bucket.new(now) return setmetatable({ rates = {}, level = {}, burst = {}, at = now }, Bucket) end

function Bucket:refill(now)
    local elapsed = now - self.at
    if elapsed <= 0 then return end
    self.at = now
    for name, rate in pairs(self.rates) do
        self.level[name] = math.min(self.burst[name], self.level[name] + rate / 60 * elapsed)
    end
end

-- A level keeps its proportion to the size: a change neither refills the bucket nor leaves a gap.
function Bucket:change(new, seconds, least, now)
    self:refill(now)
    for _, name in ipairs(RESOURCES) do
        local rate = new[name]
        if rate then
            local burst = rate > 0 and math.max(rate / 60 * seconds, least[name] or 0) or 0
            if not self.rates[name] then self.level[name] = burst
            elseif self.level[name] > 0 then self.level[name] = self.level[name] * burst / self.burst[name] end
            self.burst[name] = burst
        end
    end
    self.rates = new
end

function Bucket:admits(now, keeping)
    self:refill(now)
    for name in pairs(self.rates) do
        if self.level[name] <= (keeping and keeping[name] or 0) then return false end
    end
    return true
end

function Bucket:charge(work, sign, now)
    self:refill(now)
    for name in pairs(self.rates) do
        self.level[name] = math.min(self.burst[name], self.level[name] - sign * work[name])
    end
end

-- Seconds until a call may go; 0 when it may now.
function Bucket:wait(now)
    self:refill(now)
    local longest = 0
    for name, rate in pairs(self.rates) do
        if self.level[name] <= 0 then longest = math.max(longest, rate > 0 and -self.level[name] * 60 / rate or 60) end
    end
    return longest
end

local function seconds(work, capacity)
    local most = 0
    for name, rate in pairs(capacity) do
        if rate > 0 then most = math.max(most, work[name] * 60 / rate) end
    end
    return most
end

local function workOf(input, output) return { rpm = 1, tpm = input + output, itpm = input, otpm = output } end

-- Kinds of tasks ---------------------------------------------------------------------------------------------------------

-- The cost breaker's hold on kinds of agent tasks: calls for a held kind go at its rate, those for a paused one do not go. A call
-- reserves its time before it waits for anything else (the generic cell rate algorithm, ITU-T I.371). As TaskKindHold.swift.

local BURST_SECONDS = 10

local TaskKindHold = {}
TaskKindHold.__index = TaskKindHold
M.TaskKindHold = TaskKindHold

function TaskKindHold.new() return setmetatable({ rates = {}, paidAt = {} }, TaskKindHold) end

-- Instants are whole milliseconds.
local function after(now, interval) return math.floor((now + interval) * 1000 + 0.5) / 1000 end

-- What was reserved stays reserved, but for what a much lower rate has reserved for hours to come.
function TaskKindHold:load(kinds, now)
    local known = self.paidAt
    self.rates, self.paidAt = {}, {}
    for kind, fields in pairs(kinds) do
        local latest = math.max(BURST_SECONDS, fields.rpm > 0 and 60 / fields.rpm or 0)
        self.rates[kind] = fields.rpm
        self.paidAt[kind] = math.min(known[kind] or now, after(now, latest))
    end
end

-- Seconds until a call for the kind may go; nil while it is paused. Longer than `patience`: nothing is reserved.
function TaskKindHold:ask(kind, patience, now)
    local rate = kind and self.rates[kind]
    if not rate then return 0 end
    if rate <= 0 then return nil end
    local interval = 60 / rate
    local wait = math.max(0, self.paidAt[kind] - now - math.max(0, BURST_SECONDS - interval))
    if wait <= patience then self.paidAt[kind] = after(math.max(self.paidAt[kind], now), interval) end
    return wait
end

-- The kind that a request's header x-headroom-task-kind names; nil where it names none, or none that can be.
function M.taskKind(header)
    if type(header) == "string" and header ~= "" and #header <= 256 then return header end
end

-- The gate ---------------------------------------------------------------------------------------------------------------

local CRITICALITY = { interactive = 0, near_real_time = 1, batch = 2 }
local CREDIT_SECONDS, HALF_LIFE, URGENT_SECONDS, URGENCY = 5, 2, 2, 0.3
local MAX_WAITING = 10000

local Gate = {}
Gate.__index = Gate
M.Gate = Gate

local function account(tenant, now)
    return { tenant = tenant, weight = 1, own = Bucket.new(now), ceiling = Bucket.new(now), pass = 0, published = 0,
             publishedAt = now, charged = 0, queue = {} }
end

function Gate.new(now)
    return setmetatable({
        accounts = {}, kinds = TaskKindHold.new(), aside = {}, unlisted = account(nil, now), budget = Bucket.new(now), leaseUntil = 0, sequence = 0, waiting = 0,
        served = 0, assuredTime = 0, mean = { rpm = 1, tpm = 0, itpm = 0, otpm = 0 }, outputs = 0, bounds = 0,
        time = { [0] = 0, 0, 0 } }, Gate)
end

-- `fields`: the pool in a whole snapshot, or nil.
function Gate:load(fields, leaseUntil, now)
    self.leaseUntil = leaseUntil
    self.fields = fields
    self.enforces = fields ~= nil and fields.enforce
    self.kinds:load(self.enforces and fields.task_kinds or {}, now)
    if not fields then return end
    self.capacity = rates(fields.capacity)
    local known, least = self.accounts, 1e9
    self.accounts = {}
    for tenant, entry in pairs(fields.tenants) do
        local one = known[tenant] or account(tenant, now)
        known[tenant] = nil
        one.entry, one.weight = entry, entry.weight or 1
        least = math.min(least, one.weight)
        one.charged = one.charged * 0.5 ^ ((now - one.publishedAt) / HALF_LIFE)
        one.published, one.publishedAt = entry.service_clock or 0, now
        self.accounts[tenant] = one
    end
    self.unlisted.weight = least < 1e9 and least or 1
    -- Calls follow their tenants, out of the shared queue and into it.
    local homeless = self.unlisted.queue
    self.unlisted.queue = {}
    for _, gone in pairs(known) do
        for _, call in ipairs(gone.queue) do homeless[#homeless + 1] = call end
    end
    for _, call in ipairs(homeless) do self:join(call) end
    self.isFallback = now >= leaseUntil
    self:changeRates(now)
end

function Gate:changeRates(now)
    local fields, burst = self.fields, self.fields.burst_seconds or 5
    local limits = rates(self.isFallback and fields.fallback or fields.budget)
    self.reserve = {}
    for name, rate in pairs(limits) do self.reserve[name] = rate / 60 * math.min(2, burst / 3) end
    local function complete(own)
        local found = {}
        for name in pairs(limits) do found[name] = own and own[name] or 0 end
        return found
    end
    self.budget:change(limits, burst, self.mean, now)
    self.unlisted.own:change(complete(fields.unlisted), burst, self.mean, now)
    for _, one in pairs(self.accounts) do
        one.own:change(complete(self.isFallback and one.entry.safe or one.entry), burst, self.mean, now)
        one.ceiling:change(rates(one.entry.ceiling), burst, self.mean, now)
    end
end

function Gate:tell(clocks, now)
    for tenant, clock in pairs(clocks) do
        local one = self.accounts[tenant]
        if one then
            one.charged = one.charged * 0.5 ^ ((now - one.publishedAt) / HALF_LIFE)
            one.published, one.publishedAt = clock, now
        end
    end
end

-- A call that waits; nil when the gate is full. `wait` is how long its caller has patience, in seconds. `taskKind`, which may be nil, is
-- the kind of its agent task: where the cost breaker holds that for longer than the caller waits, the call has `hold`, the seconds until
-- it may go, or math.huge while its kind is paused. It does not wait then.
function Gate:ask(tenant, criticality, inputTokens, maxTokens, wait, now, taskKind)
    if self.waiting >= MAX_WAITING then return nil end
    -- Callers ask for far more output than they get: the mean of what they used corrects it.
    local output = (maxTokens or 500) * (self.bounds > 0 and self.outputs / self.bounds or 1)
    self.sequence = self.sequence + 1
    local call = {
        tenant = tenant, criticality = CRITICALITY[criticality] or 0, input = inputTokens, maxTokens = maxTokens,
        work = workOf(inputTokens, output), arrival = now, deadline = now + wait, sequence = self.sequence,
        taskKind = taskKind }
    local hold = self.kinds:ask(taskKind, wait, now)
    if not hold or hold > wait then
        call.hold, call.left = hold or math.huge, true
        return call
    end
    for _, name in ipairs(RESOURCES) do self.mean[name] = self.mean[name] * 0.98 + call.work[name] * 0.02 end
    self.waiting = self.waiting + 1
    if hold > 0 then
        call.eligibleAt = now + hold
        self.aside[#self.aside + 1] = call
    else
        self:join(call)
    end
    return call
end

local function isBefore(left, right)
    if left.criticality ~= right.criticality then return left.criticality < right.criticality end
    return left.sequence < right.sequence
end

function Gate:join(call)
    local one = self.accounts[call.tenant] or self.unlisted
    if #one.queue == 0 then
        one.pass = math.max(one.pass, self.assuredTime)
        local least = self.time[call.criticality] - CREDIT_SECONDS / one.weight
        one.published = one.published + math.max(0, least - one.published - one.charged)
    end
    local place = #one.queue + 1
    while place > 1 and isBefore(call, one.queue[place - 1]) do place = place - 1 end
    table.insert(one.queue, place, call)
    call.account = one
end

-- The caller gives up, or its time is over.
function Gate:leave(call)
    if call.grant or call.left then return end
    call.left = true
    self.waiting = self.waiting - 1
    local queue = call.account and call.account.queue or self.aside
    for place, other in ipairs(queue) do
        if other == call then table.remove(queue, place) break end
    end
end

-- Those whose kind of task may go by now wait with the others.
function Gate:settleAside(now)
    for place = #self.aside, 1, -1 do
        if self.aside[place].eligibleAt <= now then self:join(table.remove(self.aside, place)) end
    end
end

-- Sets `grant` of each call that may go now.
function Gate:dispatch(now)
    if self.fields and self.isFallback ~= (now >= self.leaseUntil) then
        self.isFallback = now >= self.leaseUntil
        self:changeRates(now)
    end
    if self.waiting == 0 then return end
    self:settleAside(now)
    self:settleTime()
    if not self.enforces then
        for _, one in pairs(self.accounts) do while #one.queue > 0 do self:send(one, "unlimited", now) end end
        while #self.unlisted.queue > 0 do self:send(self.unlisted, "unlimited", now) end
    elseif now >= (self.heldUntil or 0) then
        self:serve("own", now)
        self:serve("ceiling", now)
    end
end

function Gate:settleTime()
    local least = {}
    for _, one in pairs(self.accounts) do
        local head = one.queue[1]
        if head then
            least[head.criticality] = math.min(least[head.criticality] or math.huge, one.published + one.charged)
        end
    end
    for criticality, clock in pairs(least) do self.time[criticality] = math.max(self.time[criticality], clock) end
end

function Gate:serve(right, now)
    while self.budget:admits(now) do
        local best, bestClock
        local function offer(one)
            local head = one.queue[1]
            -- A host that cannot tell when a caller goes marks those who still wait.
            while head and head.seen and now - head.seen > 1 do
                self:leave(head)
                head = one.queue[1]
            end
            if not head or not one[right]:admits(now) then return end
            local clock = one.pass
            if right == "ceiling" then
                local left = math.max(0, head.deadline - now)
                clock = one.published + one.charged - (left < URGENT_SECONDS and URGENCY * (1 - left / URGENT_SECONDS) or 0)
            end
            local first = best and best.queue[1]
            if not first or head.criticality < first.criticality or head.criticality == first.criticality
                and (clock < bestClock or clock == bestClock and head.sequence < first.sequence) then
                best, bestClock = one, clock
            end
        end
        for _, one in pairs(self.accounts) do offer(one) end
        offer(self.unlisted)
        if not best then return end
        if right == "ceiling" and best.queue[1].criticality > 0 and not self.budget:admits(now, self.reserve) then return end
        if right == "own" then self.assuredTime = math.max(self.assuredTime, best.pass) end
        self:send(best, right == "own" and "assured" or "lent", now)
    end
end

function Gate:send(one, grant, now)
    local call = table.remove(one.queue, 1)
    call.grant, call.sentAt = grant, now
    self.waiting = self.waiting - 1
    self.served = self.served + 1
    self:charge(call, call.work, 1, now)
end

function Gate:charge(call, work, sign, now, keepsBudget)
    if not self.fields then return end
    local one = call.account
    one.charged = one.charged + sign * seconds(work, self.capacity) / one.weight
    if call.grant == "unlimited" then return end
    if not keepsBudget then self.budget:charge(work, sign, now) end
    one.ceiling:charge(work, sign, now)
    if call.grant == "assured" then
        one.own:charge(work, sign, now)
        one.pass = one.pass + sign * seconds(work, one.own.rates)
    end
end

-- The provider took the call. Without tokens the estimate stands.
function Gate:settle(call, inputTokens, outputTokens, now)
    if call.ended then return end
    call.ended = true
    if not outputTokens then return end
    self:charge(call, call.work, -1, now)
    self:charge(call, workOf(inputTokens, outputTokens), 1, now)
    self.outputs = self.outputs * 0.98 + outputTokens
    self.bounds = self.bounds * 0.98 + (call.maxTokens or 500)
end

-- Refused for want of quota or capacity: the tenant gets back its right and its clock, the budget nothing.
function Gate:refused(call, retryAfter, now)
    if call.ended then return end
    call.ended = true
    self:charge(call, call.work, -1, now, true)
    for name in pairs(self.budget.rates) do self.budget.level[name] = math.min(self.budget.level[name], 0) end
    self.heldUntil = now + math.min(1, retryAfter or 0)
end

-- After how many seconds a denied caller should try again, staggered; and whether it should. While its kind of task is paused nobody
-- knows when it may.
function Gate:retryAfter(call, now)
    if call.hold then return math.min(60, call.hold), call.hold < math.huge end
    if not call.account then return math.max(0, call.eligibleAt - now), true end
    local retry = self.fields and self.fields.retry or { after_ms = 1000, jitter_ms = 1000 }
    local offset = call.account.entry and call.account.entry.retry_offset_ms or 0
    local pause = (retry.after_ms + math.random() * retry.jitter_ms + offset) / 1000
    return math.max(pause, self.budget:wait(now), call.account.own:wait(now)), true
end

-- The connection ---------------------------------------------------------------------------------------------------------

-- What a gateway keeps besides its gates: the version in force, its lease, and telemetry that waits to be sent.
local Link = {}
Link.__index = Link
M.Link = Link
local MAX_LINES = 20000

function Link.new(name)
    return setmetatable({ name = name, boot = string.format("%x", math.random(1, 2 ^ 31 - 1)), gates = {}, lines = {}, batch = 0 }, Link)
end

function Link:gate(pool, now)
    local gate = self.gates[pool]
    if not gate then
        gate = Gate.new(now)
        self.gates[pool] = gate
        if self.pools then gate:load(self.pools[pool], self.leaseUntil, now) end
    end
    return gate
end

-- The path of the next poll, and the seconds that it may wait. Whole snapshots: a delta would save little here.
function Link:poll()
    local path = "/v1/allocations?gateway=" .. self.name .. "&boot=" .. self.boot
    if not self.version then return path, 0 end
    path = path .. "&applied=" .. self.version
    if not self.hasPart then return path, 0 end
    return path .. "&wait=7", 7
end

function Link:headers()
    return self.etag and self.hasPart and { ["If-None-Match"] = self.etag } or {}
end

-- The answer to a poll; nil and a reason when it changes nothing.
function Link:polled(status, etag, body, now)
    if status == 304 then
        self.leaseUntil = now + self.leaseSeconds
        for _, gate in pairs(self.gates) do gate.leaseUntil = self.leaseUntil end
        return true
    end
    if status ~= 200 then return nil, "status " .. tostring(status) end
    local answer, fault = M.decode(body)
    if not answer then return nil, fault end
    local isFirst = self.version == nil
    if not isFirst and (answer.epoch < self.epoch or answer.epoch == self.epoch and answer.generation < self.generation) then
        return nil, "a stale copy"
    end
    self.epoch, self.generation = answer.epoch, answer.generation
    self.version = string.format("%.0f.%.0f", answer.epoch, answer.generation)
    self.etag, self.pools, self.leaseSeconds = etag, answer.pools, answer.lease_seconds
    self.leaseUntil = now + answer.lease_seconds
    self.hasPart = not isFirst
    for pool, gate in pairs(self.gates) do gate:load(self.pools[pool], self.leaseUntil, now) end
    return true
end

function Link:add(line)
    line.gateway = self.name
    if #self.lines < MAX_LINES then self.lines[#self.lines + 1] = M.encode(line) end
end

function Link:report(call, pool, outcome, status, inputTokens, outputTokens, now, wall)
    self:add({
        type = "call", at = wall * 1000, tenant = call.tenant, pool = pool, outcome = outcome, status = status,
        criticality = ({ [0] = "interactive", "near_real_time", "batch" })[call.criticality],
        latency_ms = ((call.sentAt and now - call.sentAt) or 0) * 1000,
        queued_ms = math.max(0, ((call.sentAt or now) - call.arrival) * 1000),
        input_tokens = math.floor(inputTokens or call.input), output_tokens = outputTokens, max_tokens = call.maxTokens,
        task_kind = call.taskKind })
end

-- The body and the number of the batch that is due, the same until `reported`; nil when there is nothing.
function Link:due(now, wall)
    if not self.pending then
        for pool, gate in pairs(self.gates) do
            local function tell(one)
                local depth, tokens, oldest = {}, {}, {}
                local function count(call)
                    local flow = call.tenant .. " " .. call.criticality
                    depth[flow] = (depth[flow] or 0) + 1
                    tokens[flow] = (tokens[flow] or 0) + call.work.tpm
                    oldest[flow] = math.min(oldest[flow] or now, call.arrival)
                end
                for _, call in ipairs(one.queue) do count(call) end
                for _, call in ipairs(gate.aside) do
                    if (gate.accounts[call.tenant] or gate.unlisted) == one then count(call) end
                end
                for flow in pairs(one.told or {}) do depth[flow] = depth[flow] or 0 end
                one.told = {}
                for flow, count in pairs(depth) do
                    local tenant, criticality = flow:match("^(%S+) (%d)$")
                    if count > 0 then one.told[flow] = true end
                    self:add({
                        type = "queue", at = wall * 1000, tenant = tenant, pool = pool, depth = count,
                        tokens = math.floor(tokens[flow] or 0), oldest_age_ms = math.max(0, (now - (oldest[flow] or now)) * 1000),
                        criticality = ({ ["0"] = "interactive", ["1"] = "near_real_time", ["2"] = "batch" })[criticality] })
                end
            end
            for _, one in pairs(gate.accounts) do tell(one) end
            tell(gate.unlisted)
        end
        if #self.lines == 0 then return nil end
        self.pending = table.concat(self.lines, "\n") .. "\n"
        self.lines = {}
        self.batch = math.max(self.batch + 1, math.floor(wall * 1000))
    end
    return self.pending, string.format("%.0f", self.batch)
end

function Link:reported(status, body, now)
    if status ~= 200 and not (status == 400 or status == 409 or status == 413) then return end
    self.pending = nil
    local answer = M.decode(body or "")
    for pool, clocks in pairs(answer and answer.service_clocks or {}) do
        if self.gates[pool] then self.gates[pool]:tell(clocks, now) end
    end
end

return M

-- Plays the steps "kind" of the vectors against the rule in Lua, and calls with kinds against its gate: lua play_kinds.lua FOLDER, where
-- FOLDER has vectors.jsonl and ../lua/headroom_gate.lua. Prints how many steps were compared.

local folder = arg[1]
package.path = folder .. "/../lua/?.lua;" .. package.path
local headroom = require("headroom_gate")

local compared, hold = 0, nil
for line in io.lines(folder .. "/vectors.jsonl") do
    local step = assert(headroom.decode(line))
    local now = (step.at or 0) / 1000
    if step.story then
        hold = headroom.TaskKindHold.new()
    elseif step["do"] == "load" then
        local pool = step.snapshot.pools.pool
        hold:load(pool.enforce and pool.task_kinds or {}, now)
    elseif step["do"] == "kind" then
        local found = hold:ask(step.kind, step.patience, now)
        local isSame = found == step.expect
            or found and step.expect and math.abs(found - step.expect) < 1e-6
        assert(isSame, line .. " found " .. tostring(found))
        compared = compared + 1
    end
end

-- The gate.
local pool = {
    enforce = true, capacity = { rpm = 6000 }, budget = { rpm = 6000 }, burst_seconds = 5,
    tenants = { acme = { rpm = 6000 } }, task_kinds = { research = { rpm = 6 }, paused = { rpm = 0 } } }
local link = headroom.Link.new("gw-1")
local gate = link:gate("p", 0)
gate:load(pool, 1e6, 0)

local function ask(kind, wait, now)
    local call = assert(gate:ask("acme", "interactive", 10, nil, wait, now, kind))
    gate:dispatch(now)
    return call
end

assert(ask(nil, 0, 0).grant and ask("review", 0, 0).grant and ask("research", 0, 0).grant)
local paused = ask("paused", 60, 0)
assert(not paused.grant and paused.hold == math.huge)
local pause, comesBack = gate:retryAfter(paused, 0)
assert(pause == 60 and comesBack == false)
local slowed = ask("research", 5, 0)
pause, comesBack = gate:retryAfter(slowed, 0)
assert(not slowed.grant and pause == 10 and comesBack)
assert(gate.waiting == 0)

-- One that waits for its kind goes when its time has come, and counts as waiting until then.
local patient = ask("research", 15, 0)
assert(not patient.grant and not patient.hold and gate.waiting == 1)
assert(link:due(0, 0):find('"depth":1', 1, true))
gate:dispatch(9.9)
assert(not patient.grant)
gate:dispatch(10)
assert(patient.grant == "assured" and gate.waiting == 0)
local gone = ask("research", 15, 10)
pause, comesBack = gate:retryAfter(gone, 12)
assert(pause == 8 and comesBack)
gate:leave(gone)
gate:dispatch(21)
assert(not gone.grant and gate.waiting == 0 and #gate.aside == 0)

link.lines = {}
link:report(paused, "p", "denied", nil, nil, nil, 0, 0)
assert(link.lines[1]:find('"task_kind":"paused"', 1, true))

-- A snapshot that does not enforce holds nothing.
pool.enforce = false
gate:load(pool, 1e6, 30)
assert(ask("paused", 0, 30).grant)

print(compared)

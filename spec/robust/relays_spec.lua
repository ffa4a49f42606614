-- Random piecewise linear systems with relays: each kind of run agrees with relay_reference.lua, or tells why not.
-- 60 systems; more in a long run (see campaign.lua).
local ns = require "nslua"
local reference = require "relay_reference"
local relays = require "random_relays"

local count, told = require "campaign"(40, 0.1)

-- Calls check(o, r) for each system and its reference; an error is reported with the number of the system.
local function systems(check)
  for k = 1, count do
    local o = relays.system(k)
    local ok, message = pcall(check, o, reference.run(o))
    if not ok then error(("system %d, %s: %s"):format(k, o.family, message), 0) end
  end
end

-- The events of a reference that are more than 1e-8 before the next accumulation; its last ones are left out.
local function clear_events(r)
  local list = {}
  for _, event in ipairs(r.events) do
    local clear = true
    for _, t in ipairs(r.accumulations) do clear = clear and (event.t < t - 1e-8 or event.t > t + 1e-8) end
    if clear then
      list[#list + 1] = { t = event.t, component = event.row,
        kind = event.to == 3 and "slide" or event.from == 3 and "leave" or "cross" }
    end
  end
  return list
end

-- Rows that swing ever faster into an intersection are told as an accumulation or not, by how near they come to it: events that are
-- closer to the next one than 1e-8 are not compared.
local function compare_logs(r, log)
  local want, got, k = clear_events(r), relays.sorted(log), 0
  for i, event in ipairs(want) do
    local next_t = want[i + 1] and want[i + 1].t or math.huge
    local crowded = next_t - event.t < 1e-8 and next_t > event.t + 1e-12
    if crowded then return end
    k = k + 1
    local mine = got[k]
    if not mine then error(("event %d of %d is missing"):format(i, #want), 0) end
    if math.abs(mine.t - event.t) > 1e-9 or mine.component ~= event.component or mine.kind ~= event.kind then
      error(("event %d: %s of row %d at %.15g, got %s of row %d at %.15g"):format(i, event.kind, event.component, event.t,
        mine.kind, mine.component, mine.t), 0)
    end
  end
  if #r.accumulations == 0 and k ~= #got then error(("%d events of %d"):format(#got, k), 0) end
end

describe("random systems with relays", function()
  it("have the events of EventDriven and its states, or the choice of a mode is refused", function()
    systems(function(o, r)
      local simu, ds = relays.simulation(o, function(nsds)
        return ns.EventDriven(nsds, ns.TimeDiscretisation(0, o.T / 7), ns.RungeKuttaOSI())
      end)
      if r.status ~= "done" then
        local ok, message = pcall(simu.run, simu)
        if ok or not tostring(message):find("the next mode is not unique", 1, true) then
          error(("%s at t=%g, but the run says %s"):format(r.status, r.t, ok and "nothing" or tostring(message)), 0)
        end
        return
      end
      simu:run()
      local off = relays.off(r.x, ds:x())
      if off > 1e-9 then error(("the state is off by %g"):format(off), 0) end
      compare_logs(r, simu:events())
    end)
    told("relays, EventDriven", count)
  end)

  -- Radau IIA of three stages has order 5; single runs with few steps have less, as switches fall on ends of steps.
  it("are the limit of finite elements with switch detection, with their order", function()
    systems(function(o, r)
      local function off(n)
        local simu, ds = relays.simulation(o, function(nsds)
          return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, o.T / n), ns.FESDOSI("radau_iia", 3))
        end)
        simu:run { record = 1000000 }
        return relays.off(r.x, ds:x())
      end
      if r.status ~= "done" then
        for _, n in ipairs { 20, 100 } do
          local ok, message = pcall(off, n)
          if ok or not tostring(message):find("the next mode is not unique", 1, true) then
            error(("%s at t=%g, but the run says %s"):format(r.status, r.t, ok and "nothing" or tostring(message)), 0)
          end
        end
        return
      end
      local coarsest, coarse = off(20), off(100)
      if coarsest > 0.05 then error(("off by %g with 20 steps"):format(coarsest), 0) end
      if coarse < 1e-9 then return end
      local fine = off(400)
      if fine > coarse / 30 and fine > 1e-9 then error(("off by %g, then %g"):format(coarse, fine), 0) end
    end)
    told("relays, FESDOSI", count)
  end)

  -- A row leaves while another one slides, which may leave, too, though its lambda is between its bounds.
  it("tell several motions where a row leaves and another slides", function()
    for _, k in ipairs { 3415, 3551 } do
      local o = relays.system(k)
      local r = reference.run(o)
      assert.equal("ambiguous", r.status)
      assert.equal(3, #r.modes)
      for _, n in ipairs { 7, 20, 100 } do
        local simu = relays.simulation(o, function(nsds)
          local grid = ns.TimeDiscretisation(0, o.T / n)
          if n == 7 then return ns.EventDriven(nsds, grid, ns.RungeKuttaOSI()) end
          return ns.TimeStepping(nsds, grid, ns.FESDOSI("radau_iia", 3))
        end)
        local ok, message = pcall(simu.run, simu)
        assert.is_false(ok)
        assert.near(r.t, tonumber(tostring(message):match "the next mode is not unique at t=([%d.]+)"), 2e-5)
      end
    end
  end)

  it("are the limit of backward Euler, with order 1", function()
    systems(function(o, r)
      if r.status ~= "done" then return end
      local n, last, course = 500, math.huge, {}
      repeat
        local off = relays.off(r.x, relays.euler(o, n))
        local good = off <= 0.6 * last and off <= 0.05 or off < 1e-6
        course[#course + 1] = ("%.2g"):format(off)
        n, last = 2 * n, off
        if not good and n > 256000 then error("errors " .. table.concat(course, " "), 0) end
      until good
    end)
    told("relays, backward Euler", count)
  end)
end)

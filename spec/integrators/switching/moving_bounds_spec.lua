-- EventDriven with bounds of relays that are functions of time.
local ns = require "nslua"
local campaign = require "campaign"
local kinds = require "simulation.events".kinds

local SCHEMES = { "RungeKuttaOSI", "RadauOSI" }

-- Two shafts: a torque on the first, a clutch with a capacity. Returns the simulation and the system.
local function clutch(o, scheme, steps)
  local nsds = ns.NonSmoothDynamicalSystem(0, o.T)
  local sys = ns.FirstOrderNonLinearDS(o.x0, function(t, x, _, f) f[1], f[2] = o.torque(t) - (o.drag or 0) * x[1], 0 end)
  nsds:insertDynamicalSystem(sys)
  local law = ns.RelayNSL(1, function(t) return -o.capacity(t) end, o.capacity)
  nsds:link(ns.Interaction(law, ns.FirstOrderLinearR { C = { { -1, 1 } }, B = { { -1 }, { 1 } } }, "clutch"), sys)
  local grid = ns.TimeDiscretisation(0, o.T / steps)
  if scheme == "EulerMoreauOSI" then return ns.TimeStepping(nsds, grid, ns.EulerMoreauOSI(1)), sys, law end
  return ns.EventDriven(nsds, grid, ns[scheme]()), sys, law
end

-- Checks states at the end, kinds and times of events, on several grids.
local function runs_as(o, kinds_wanted, times, x, steps)
  for _, scheme in ipairs(SCHEMES) do
    for _, n in ipairs(steps or { 1, 3, 10, 64 }) do
      local simu, sys = clutch(o, scheme, n)
      simu:run()
      assert.equal(kinds_wanted, kinds(simu:events()), scheme .. " " .. n)
      for i, time in ipairs(times) do assert.near(time, simu:events()[i].t, 1e-6) end
      for i = 1, 2 do assert.near(x[i], sys:x()[i], 1e-7) end
    end
  end
end

local function constant(value) return function() return value end end

describe("moving bounds in EventDriven", function()
  it("let a stuck clutch slip while its capacity dips, on any grid", function()
    -- The slip has the rate 0.3 - 2 B, and B is 1 - t, 0, t - 2: it is 0.0225 at t = 1, 0.3225 at t = 2, and 0 again
    -- 0.15 + sqrt(0.345) later.
    local o = { T = 6, x0 = { 0, 0 }, torque = constant(0.3),
      capacity = function(t) return math.max(0, math.abs(t - 1.5) - 0.5) end }
    runs_as(o, "leave slide", { 0.85, 2.15 + math.sqrt(0.345) }, { 0.9, 0.9 })
    -- A dip of 1/60 of the run in one step of the grid
    local short = { T = 50, x0 = { 0, 0 }, torque = constant(1),
      capacity = function(t) return 1 - 0.9 * math.exp(-((t - 25) / 0.3) ^ 2) end }
    runs_as(short, "leave slide", { 25 - 0.3 * math.sqrt(math.log(1.8)) }, { 25, 25 })
  end)

  it("take capacities that touch 0 smoothly, or with a kink", function()
    local o = { T = 6, x0 = { 1, 0 }, torque = constant(0.3), capacity = function(t) return math.cos(t) ^ 2 end }
    runs_as(o, "slide leave slide leave slide", {}, { 1.4, 1.4 })
    o.capacity = function(t) return math.abs(math.cos(t)) end
    runs_as(o, "slide leave slide leave slide", {}, { 1.4, 1.4 })
  end)

  it("leave a clutch without capacity at rest until a torque begins", function()
    local function falls(t) return math.max(0, 1 - t) end
    runs_as({ T = 3, x0 = { 0, 0 }, torque = constant(0), capacity = falls }, "", {}, { 0, 0 })
    local function ramp(t) return math.max(0, t - 2) end
    runs_as({ T = 3, x0 = { 0, 0 }, torque = ramp, capacity = falls }, "leave", { 2 }, { 0.5, 0 })
  end)

  it("may jump", function()
    local function jumps(t) return t < 1 and 1 or t < 2 and 0.1 or 2 end
    -- 0.8 (t - 1) until t = 2, then it falls with the rate 3
    runs_as({ T = 5, x0 = { 0, 0 }, torque = constant(1), capacity = jumps }, "leave slide", { 1, 2 + 0.8 / 3 }, { 2.5, 2.5 },
      { 1, 3, 10 })
  end)

  it("act on other outputs by D, with their slope", function()
    local c = function(t) return 0.3 * math.sin(2 * t) end
    local function last(law, relation)
      local nsds = ns.NonSmoothDynamicalSystem(0, 5)
      local sys = ns.FirstOrderNonLinearDS({ 10, 0.7 }, function(t, _, _, f) f[1], f[2] = 0, 0.2 * math.cos(t) end)
      nsds:insertDynamicalSystem(sys)
      nsds:link(ns.Interaction(law, relation, "r"), sys)
      local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 5 / 3), ns.RungeKuttaOSI())
      simu:run()
      return sys:x()[2], simu:events()
    end
    local moving = ns.RelayNSL(2, { c, -1 }, { function(t) return c(t) + 1 end, 1 })
    local x, events = last(moving, ns.FirstOrderLinearR { C = { { 1, 0 }, { 0, 1 } }, D = { { 0, 0 }, { 2, 0 } },
      B = { { 0, 0 }, { 0.5, 1 } } })
    local same, others = last(ns.RelayNSL(2), ns.FirstOrderNonLinearR {
      h = function(t, s, _, _, y) y[1], y[2] = s[1], s[2] + 2 * c(t) end,
      g = function(t, _, l, _, r) r[1], r[2] = 0, 0.5 * c(t) + l[2] end,
    })
    assert.near(same, x, 1e-10)
    assert.equal(6, #events)
    for i, event in ipairs(others) do assert.near(event.t, events[i].t, 1e-9) end
  end)

  it("have derivatives by other parameters, and go on in a clone, from a file and after reset", function()
    local o = { T = 4, x0 = { 1, 0 }, drag = 0.3, torque = function(t) return 1.3 * math.sin(2 * t) end,
      capacity = function(t) return 0.45 + 0.3 * math.sin(5 * t) end }
    for _, scheme in ipairs(SCHEMES) do
      local function last(a, b)
        local simu, sys = clutch({ T = o.T, x0 = { a, b }, drag = o.drag, torque = o.torque, capacity = o.capacity }, scheme, 20)
        simu:run()
        return sys:x()[1]
      end
      local e = 1e-5
      local by_first, by_second = (last(1 + e, 0) - last(1 - e, 0)) / (2 * e), (last(1, e) - last(1, -e)) / (2 * e)
      local simu, sys, law = clutch(o, scheme, 20)
      local parameters = { { sys, "x0", 1 }, { sys, "x0", 2 } }
      local sol = simu:run { sensitivities = parameters }
      assert.near(by_first, sol.S[#sol][1][1], 1e-7)
      assert.near(by_second, sol.S[#sol][1][2], 1e-7)
      simu:reset()
      local _, gradient = simu:gradient { parameters = parameters, terminal = function(x) return x[1] end }
      assert.near(by_first, gradient[1], 1e-7)
      assert.near(by_second, gradient[2], 1e-7)
      simu:reset()
      assert.error_matches(function() simu:run { sensitivities = { { law, "ub" } } } end,
        "ub of 'clutch' is a function of time; a parameter is a number")
      simu:reset()
      for _ = 1, 7 do
        simu:computeOneStep()
        simu:nextStep()
      end
      local copy = simu:clone()
      local other, there = clutch(o, scheme, 20)
      local file = os.tmpname()
      simu:save_state(file)
      other:load_state(file)
      os.remove(file)
      for _, run in ipairs { simu, copy, other } do run:run() end
      assert.equal(sys:x()[1], copy:nsds():dynamicalSystem(1):x()[1])
      assert.equal(sys:x()[1], there:x()[1])
      assert.equal(last(1, 0), sys:x()[1])
    end
  end)
end)

-- A relay on [mid - half, mid + half] is one on [-1, 1] whose input has the factor half, beside a force mid.
local function family(seed)
  math.randomseed(seed)
  local function between(a, b) return a + (b - a) * math.random() end
  local rows, x0 = {}, {}
  for i = 1, math.random(1, 3) do
    local a, b, w1, p1 = between(0.6, 1.2), between(0, 0.55), between(1, 6), between(0, 6)
    local A, w3, p3, k = between(0.5, 1.5), between(1, 4), between(0, 6), between(-0.5, 0.5)
    local c, w2 = between(-0.5, 0.5), between(1, 6)
    rows[i] = {
      half = function(t) return a + b * math.sin(w1 * t + p1) end,
      mid = function(t) return c * math.sin(w2 * t) end,
      force = function(t) return A * math.sin(w3 * t + p3) end,
      couple = k,
    }
    x0[i] = math.random() < 0.5 and 0 or between(-1, 1)
  end
  return rows, x0
end

local function of_family(seed, moving, scheme, steps)
  local rows, x0 = family(seed)
  local n, nsds = #rows, ns.NonSmoothDynamicalSystem(0, 4)
  local sys = ns.FirstOrderNonLinearDS(x0, function(t, x, _, f)
    for i, row in ipairs(rows) do
      f[i] = row.force(t) + row.couple * x[i % n + 1] - (moving and 0 or row.mid(t))
    end
  end)
  nsds:insertDynamicalSystem(sys)
  for i, row in ipairs(rows) do
    local C, B = ns.zeros(1, n), ns.zeros(n, 1)
    C[1][i], B[i][1] = 1, 1
    local law = moving and ns.RelayNSL(1, function(t) return -row.mid(t) - row.half(t) end,
      function(t) return -row.mid(t) + row.half(t) end) or ns.RelayNSL(1)
    nsds:link(ns.Interaction(law, ns.FirstOrderLinearR { C = C,
      B = moving and B or function(t, _, out) out[i][1] = row.half(t) end }, "row " .. i), sys)
  end
  local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 4 / steps), ns[scheme]())
  simu:run()
  return sys:x(), simu:events()
end

describe("random systems whose relays have moving bounds", function()
  local count, told = campaign(6, 0.01)
  it("have the events and states of those with fixed bounds and an input that moves, on any grid #once", function()
    for seed = 1, count do
      for _, scheme in ipairs(SCHEMES) do
        local want, events = of_family(seed, false, scheme, 64)
        for _, steps in ipairs { 1, 7, 64 } do
          local x, log = of_family(seed, true, scheme, steps)
          for i = 1, #want do assert.near(want[i], x[i], 1e-6, ("seed %d"):format(seed)) end
          assert.equal(#events, #log, ("seed %d, %s, %d steps"):format(seed, scheme, steps))
          for i, event in ipairs(log) do assert.near(events[i].t, event.t, 1e-5) end
        end
      end
    end
    told("moving bounds, EventDriven", count)
  end)
end)

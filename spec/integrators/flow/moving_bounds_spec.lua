-- EventDriven with bounds of relays that are functions of time.
local ns = require "nslua"
local campaign = require "campaign"
local kinds = require "simulation.events".kinds
local moving = require "moving_bounds"

local SCHEMES = { "RungeKuttaOSI", "RadauOSI" }

local function clutch(o, scheme, steps) return moving.clutch(o, "EventDriven", ns[scheme](), steps) end

describe("moving bounds in EventDriven", function()
  it("let a clutch slip while its capacity dips, touches 0 or jumps, on any grid", function()
    for name, case in pairs(moving.clutches) do
      for _, scheme in ipairs(SCHEMES) do
        for _, n in ipairs(case.steps or { 1, 3, 10, 64 }) do
          local simu, sys = clutch(case, scheme, n)
          simu:run()
          local where = ("%s, %s, %d steps"):format(name, scheme, n)
          assert.equal(case.events, kinds(simu:events()), where)
          for i, time in ipairs(case.times) do assert.near(time, simu:events()[i].t, 1e-6, where) end
          for i = 1, 2 do assert.near(case.x[i], sys:x()[i], 1e-7, where) end
        end
      end
    end
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
    local bounded = ns.RelayNSL(2, { c, -1 }, { function(t) return c(t) + 1 end, 1 })
    local x, events = last(bounded, ns.FirstOrderLinearR { C = { { 1, 0 }, { 0, 1 } }, D = { { 0, 0 }, { 2, 0 } },
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

describe("random systems whose relays have moving bounds", function()
  local count, told = campaign(6, 0.01)

  -- RadauOSI leaves one of two states that are held at 0 at 1e-179 there, while the other ones have a size of 0.02.
  it("are projected where sizes differ by more than the square root of the least number #once", function()
    for _, seed in ipairs { 50, 56 } do
      local want = moving.family(seed, true, "EventDriven", ns.RungeKuttaOSI(), 1)
      local x = moving.family(seed, true, "EventDriven", ns.RadauOSI(), 1)
      for i = 1, #want do assert.near(want[i], x[i], 1e-6) end
    end
  end)

  it("have the events and states of those with fixed bounds and an input that moves, on any grid #once", function()
    for seed = 1, count do
      for _, scheme in ipairs(SCHEMES) do
        local want, events = moving.family(seed, false, "EventDriven", ns[scheme](), 64)
        for _, steps in ipairs { 1, 7, 64 } do
          local x, log = moving.family(seed, true, "EventDriven", ns[scheme](), steps)
          for i = 1, #want do assert.near(want[i], x[i], 1e-6, ("seed %d"):format(seed)) end
          assert.equal(#events, #log, ("seed %d, %s, %d steps"):format(seed, scheme, steps))
          for i, event in ipairs(log) do assert.near(events[i].t, event.t, 1e-5) end
        end
      end
    end
    told("moving bounds, EventDriven", count)
  end)
end)

-- x' = A sin(w t) + b + lambda, |lambda| <= c; x and the events on [from, to], a leave or a slide at `from` not among them.
local function one_relay(o, c, x, from, to, scheme, steps)
  local nsds = ns.NonSmoothDynamicalSystem(from, to)
  local sys = ns.FirstOrderNonLinearDS({ x }, function(t, _, _, f) f[1] = o.A * math.sin(o.w * t) + o.b end)
  nsds:insertDynamicalSystem(sys)
  local law = ns.RelayNSL(1, function(t) return -c(t) end, c)
  nsds:link(ns.Interaction(law, ns.FirstOrderLinearTIR({ { 1 } }, { { 1 } }), "dry"), sys)
  local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(from, (to - from) / steps), ns[scheme]())
  simu:run()
  return sys:x()[1], simu:events()
end

-- Numbers of a relay whose bound jumps at three times; at some of these it jumps to 0, or the grid of four steps has them.
local function jumping(seed)
  math.randomseed(seed)
  local function between(a, b) return a + (b - a) * math.random() end
  local o = { A = between(0.3, 1.5), w = between(1, 5), b = between(-0.4, 0.4), at = { 0 }, c = {}, x0 = between(-0.5, 0.5) }
  for k = 1, 4 do
    o.c[k] = math.random() < 0.2 and 0 or between(0.05, 2)
    o.at[k + 1] = k == 4 and 4 or math.random() < 0.3 and k or k - 0.5 + between(0, 0.9)
  end
  function o.bound(t)
    local k = 4
    while t < o.at[k] do k = k - 1 end
    return o.c[k]
  end
  return o
end

describe("relays whose bounds jump", function()
  local count, told = campaign(6, 0.02)
  it("have the events of runs from jump to jump, and leave where they jump, on any grid #once", function()
    for seed = 1, count do
      local o, want = jumping(seed), {}
      local x, stuck = o.x0, false
      for k = 1, 4 do
        local from, to = o.at[k], o.at[k + 1]
        if stuck and math.abs(o.A * math.sin(o.w * from) + o.b) > o.c[k] then want[#want + 1] = { kind = "leave", t = from } end
        local events
        x, events = one_relay(o, function() return o.c[k] end, x, from, to, "RungeKuttaOSI", 1)
        for _, event in ipairs(events) do want[#want + 1] = event end
        stuck = math.abs(x) < 1e-12
        if stuck then x = 0 end
      end
      for _, scheme in ipairs(SCHEMES) do
        for _, steps in ipairs { 1, 4, 7 } do
          local what = ("seed %d, %s, %d steps"):format(seed, scheme, steps)
          local last, events = one_relay(o, o.bound, o.x0, 0, 4, scheme, steps)
          assert.near(x, last, 1e-6, what)
          for i, event in ipairs(want) do
            assert.equal(event.kind, events[i] and events[i].kind, what)
            assert.near(event.t, events[i].t, 1e-6, what)
          end
          assert.equal(#want, #events, what)
        end
      end
    end
    told("relays whose bounds jump", count)
  end)
end)

-- A clutch by the input of its relation, which goes to 0, so that it can hold nothing. bounds: the same clutch with moving bounds.
local function without_input(seed, bounds, scheme, steps)
  math.randomseed(seed)
  local function between(a, b) return a + (b - a) * math.random() end
  local most, ends, on, size = between(0.3, 2), between(0.3, 1.5), between(1.6, 2.2), between(-1.5, 1.5)
  local capacity = ({
    function(t) return math.max(0, most * (1 - t / ends)) end,
    function(t) return t < ends and most or 0 end,
    function(t) return math.max(0, most * (1 - t / ends)) ^ 2 end,
    function() return 0 end,
    function(t) return math.max(0, most * (1 - t / ends), most * (t - 3.2)) end,
  })[math.random(5)]
  local force = math.random() < 0.5 and function(t) return size * math.max(0, t - on) end
    or function(t) return 0.3 * size * math.sin(2 * t) end
  local x0 = { math.random() < 0.6 and 0 or between(-1, 1), 0 }
  local nsds = ns.NonSmoothDynamicalSystem(0, 4)
  local sys = ns.FirstOrderNonLinearDS(x0, function(t, _, _, f) f[1], f[2] = force(t), 0 end)
  nsds:insertDynamicalSystem(sys)
  local law = bounds and ns.RelayNSL(1, function(t) return -capacity(t) end, capacity) or ns.RelayNSL(1)
  local B = bounds and { { -1 }, { 1 } } or function(t, _, out) out[1][1], out[2][1] = -capacity(t), capacity(t) end
  nsds:link(ns.Interaction(law, ns.FirstOrderLinearR { C = { { -1, 1 } }, B = B }, "clutch"), sys)
  local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 4 / steps), ns[scheme]())
  simu:run()
  return sys:x(), simu:events()
end

describe("clutches whose input goes to 0 while they hold", function()
  local count, told = campaign(6, 0.02)
  it("let go as those whose bounds go to 0, on any grid #once", function()
    for seed = 1, count do
      local want = without_input(seed, true, "RungeKuttaOSI", 64)
      for _, scheme in ipairs(SCHEMES) do
        for _, steps in ipairs { 1, 7, 40 } do
          local x, events = without_input(seed, false, scheme, steps)
          for i = 1, 2 do assert.near(want[i], x[i], 1e-6, ("seed %d, %s, %d steps"):format(seed, scheme, steps)) end
          for _, event in ipairs(events) do assert.is_true(math.abs(event.before or 0) <= 1 + 1e-9) end
        end
      end
    end
    told("clutches without an input", count)
  end)
end)

describe("a force that is equal to the bound of a relay, until the bound falls", function()
  -- x' = 1 + lambda, |lambda| <= b(t), at rest at 0 while b(t) = 1: x(T) is the integral of 1 - b.
  local function run(bound, h, T, scale)
    local ds = ns.FirstOrderLinearTIDS({ 0 }, { { 0 } }, { scale })
    local law = ns.RelayNSL(1, function(t) return -scale * bound(t) end, function(t) return scale * bound(t) end)
    local nsds = ns.NonSmoothDynamicalSystem(0, T)
    nsds:insertDynamicalSystem(ds)
    nsds:link(ns.Interaction(law, ns.FirstOrderLinearTIR({ { 1 } }, { { 1 } }), "relay"), ds)
    local sol = ns.EventDriven(nsds, ns.TimeDiscretisation(0, h), ns.RungeKuttaOSI()):run()
    return sol.x[#sol.t][1] / scale, sol.events
  end
  local s = 0.95 -- off the grid
  local function after(f) return function(t) return t < s and 1 or 1 - f(t - s) end end
  local cases = {
    jumps = { after(function() return 0.5 end), 0.5 * (2 - s) },
    ["has a kink"] = { after(function(u) return u / 2 end), (2 - s) ^ 2 / 4 },
    ["falls as a square"] = { after(function(u) return u * u / 2 end), (2 - s) ^ 3 / 6 },
    ["falls as a cube"] = { after(function(u) return u ^ 3 / 2 end), (2 - s) ^ 4 / 8 },
    ["falls at last exponentially"] = { function(t) return 1 - 0.5 / (1 + math.exp(40 * (1 - t))) end, 0.5 },
  }
  for name, case in pairs(cases) do
    it("leaves where it " .. name, function()
      for _, h in ipairs { 0.1, 2 } do
        for _, scale in ipairs { 1, 2.0 ^ -40 } do
          local x, events = run(case[1], h, 2, scale)
          assert.near(case[2], x, 1e-9)
          assert.equal(1, #events)
          assert.equal("leave", events[1].kind)
          if name == "jumps" or name == "has a kink" then assert.near(s, events[1].t, 1e-8) end
        end
      end
    end)
  end

  it("ends with the error of a bound that fails, or without it where derivatives alone were wanted", function()
    local calls, failing, ended = 0, nil, 0
    local function bound(t)
      calls = calls + 1
      if calls == failing then error "gone" end
      return t < s and 1 or 0.5
    end
    local x, tried = run(bound, 2, 2, 1), 0
    for k = 1, calls, calls // 40 do
      tried = tried + 1
      calls, failing = 0, k
      local good, result = pcall(run, bound, 2, 2, 1)
      if good then assert.equal(x, result) else assert.matches("gone", result) end
      ended = ended + (good and 0 or 1)
    end
    assert.is_true(ended > 0.9 * tried)
  end)
end)

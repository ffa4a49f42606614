-- Events of the script in EventDriven whose g the motion holds at 0 after their action, to the errors of the integration.
local ns = require "nslua"
local campaign = require "campaign"
local count, report = campaign(3, 0.02)

-- g = x1 - curve(x2) falls at a constant rate to 0 and is held there from the time `held` on; from `free` on it goes away, and
-- returns after 2.
local function random_surface(rng)
  local s = { a = rng:uniform(0.3, 2), b = rng:uniform(-1, 1), rate = rng:uniform(0.2, 1), omega = rng:uniform(1, 6) }
  local far, kind, push = rng:uniform(0.2, 1.5), rng:integers(0, 2), rng:uniform(0.2, 1)
  if rng:uniform(0, 1) < 0.5 then push = -push end
  s.held = far / s.rate
  s.free = s.held + rng:uniform(0.5, 2)
  s.T = s.free + 3
  function s.curve(x) return kind == 0 and x ^ 2 / 2 or kind == 1 and math.sin(x) or x * (1 + x) end
  local function slope(x) return kind == 0 and x or kind == 1 and math.cos(x) or 1 + 2 * x end
  s.x0 = { far + s.curve(0), 0 }
  function s.f(t, x, z, f)
    local v = s.a * math.cos(s.omega * t) + s.b
    f[2] = v
    f[1] = v * slope(x[2]) + (z[1] < 0.5 and -s.rate or z[1] > 1.5 and push * (1 - (t - s.free)) or 0)
  end
  return s
end

local function simulation(s, osi, steps, acts)
  local nsds = ns.NonSmoothDynamicalSystem(0, s.T * (1 + 1e-9))
  nsds:insertDynamicalSystem(ns.FirstOrderNonLinearDS { x0 = s.x0, z = { 0 }, f = s.f })
  local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, s.T / steps), osi)
  local function set(z)
    return function(run) run:nsds():dynamicalSystem(1):setz { z } end
  end
  simu:addEvent { name = "hit", g = function(_, x) return x[1] - s.curve(x[2]) end, action = set(1) }
  simu:addEvent { name = "pass", g = function(_, x) return x[2] - 0.1 end, action = acts and function() end or nil }
  simu:addEvent { name = "free", g = function(t) return t - s.free end, action = set(2) }
  return simu
end

local function hits(sol)
  local times = {}
  for _, e in ipairs(sol.events) do
    if e.name == "hit" then times[#times + 1] = e.t end
  end
  return times
end

describe("an event of the script that the motion holds at zero", function()
  it("occurs once until it is let go, with every integrator, tolerance and grid", function()
    local rng = ns.rng(71)
    for _ = 1, count do
      local s = random_surface(rng)
      for _, osi in ipairs { "RungeKuttaOSI", "RadauOSI" } do
        for _, rtol in ipairs { 1e-4, 1e-7, 1e-10 } do
          local steps, acts = rng:integers(1, 60), rng:uniform(0, 1) < 0.5
          local times = hits(simulation(s, ns[osi] { rtol = rtol, atol = rtol / 100 }, steps, acts):run())
          local what = ("%s %g, %d steps"):format(osi, rtol, steps)
          assert.equal(2, #times, what)
          assert.near(s.held, times[1], 1e-6 + 100 * rtol, what)
          assert.near(s.free + 2, times[2], 1e-6 + 100 * rtol, what)
        end
      end
    end
    report("events of the script that are held at zero", count)
  end)

  it("is the same in a second run, in a clone and from a checkpoint", function()
    local rng = ns.rng(72)
    for _ = 1, 2 do
      local s = random_surface(rng)
      local simu = simulation(s, ns.RadauOSI { rtol = 1e-5, atol = 1e-7 }, 30, true)
      local first = hits(simu:run())
      simu:reset()
      for _ = 1, rng:integers(1, 29) do simu:computeOneStep() simu:nextStep() end
      local file, copy = os.tmpname(), simu:clone()
      simu:save_state(file)
      local other = simulation(s, ns.RadauOSI { rtol = 1e-5, atol = 1e-7 }, 30, true)
      other:load_state(file)
      os.remove(file)
      for _, run in ipairs { simu, copy, other } do
        local tail = hits(run:run())
        for i, t in ipairs(tail) do assert.equal(first[#first - #tail + i], t) end
      end
    end
  end)
end)

describe("bounces by an action of the script", function()
  it("are told to accumulate, on floors that move, with every restitution, integrator, tolerance and grid", function()
    local rng = ns.rng(73)
    for _ = 1, 10 * count do
      local e, h, rtol = 10 ^ rng:uniform(-4, -0.1), 10 ^ rng:uniform(-1, 0.5), 10 ^ rng:uniform(-10, -3)
      local floor, speed, unit = rng:uniform(-2, 2), rng:uniform(-1, 1), 10.0 ^ rng:integers(-6, 6)
      local osi = rng:uniform(0, 1) < 0.5 and "RungeKuttaOSI" or "RadauOSI"
      local nsds = ns.NonSmoothDynamicalSystem(0, 10 * h)
      nsds:insertDynamicalSystem(ns.FirstOrderNonLinearDS { x0 = { (floor + 1) * unit, 0 }, f = function(_, x, _, f)
        f[1], f[2] = x[2], -9.81 * unit - 0.1 * unit * math.sin(x[2] / unit)
      end })
      local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, h), ns[osi] { rtol = rtol, atol = rtol / 100 * unit })
      simu:addEvent { name = "hit", direction = rng:integers(-1, 0),
        g = function(t, x) return x[1] - (floor + speed * t) * unit end,
        action = function(run)
          local ball = run:nsds():dynamicalSystem(1)
          ball:setX { ball:x()[1], speed * unit - e * (ball:x()[2] - speed * unit) }
        end }
      local good, message = pcall(simu.run, simu)
      local last = simu:userEvents()[1]
      local what = ("%s %g e=%g h=%g v=%g unit=%g: %s"):format(osi, rtol, e, h, speed, unit, tostring(message))
      if good then
        assert.is_true(nsds:dynamicalSystem(1):x()[1] / unit - floor - speed * simu:startingTime() > -1e-3, what)
      else
        assert.matches("event 'hit' occurs again and again near t=", message, 1, true)
      end
      assert.is_true(last.count > 0, what)
    end
  end)
end)

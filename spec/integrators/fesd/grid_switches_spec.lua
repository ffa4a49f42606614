-- Switches exactly at a time of the grid, and limits that are only touched there: FESDOSI and EventDriven, against closed forms.
local campaign = require "campaign"
local ns = require "nslua"

-- x' = f(t) + lambda with the law on x, from x0 on [0, 2 s]; what happens at t = s: events and x at the end, for the factor a.
local function relay() return ns.RelayNSL(1) end
local function diode() return ns.ComplementarityConditionNSL(1) end
local cases = {
  ["a relay that leaves"] = { law = relay, f = function(t, a) return 1 + a * (t - 1) end, event = "leave",
    x = function(a) return a / 2 end, most = 1.9 },
  ["a relay that leaves at the other bound"] = { law = relay, f = function(t, a) return -1 - a * (t ^ 2 - 1) end, event = "leave",
    x = function(a) return -4 * a / 3 end, most = 1.9 },
  ["lambda touches its bound"] = { law = relay, f = function(t, a) return 1 - math.min(a, 1) * (t - 1) ^ 2 end },
  ["lambda passes 0"] = { law = relay, f = function(t, a) return math.min(a, 0.9) * (t - 1) end },
  ["a relay that slides"] = { law = relay, x0 = function(a) return math.min(a, 0.9) end,
    f = function(_, a) return 1 - math.min(a, 0.9) end, event = "slide" },
  ["a relay that crosses"] = { law = relay, x0 = function(a) return 1 + a end, f = function(_, a) return -a end, event = "cross",
    x = function(a) return 1 - a end, least = 1.1 },
  ["a force that jumps"] = { law = relay, f = function(t, a) return t < 1 and 0.5 or 1 + a end, event = "leave",
    x = function(a) return a end },
  ["a bound that jumps"] = { f = function() return 0.5 end, event = "leave", x = function(a) return 0.5 - 0.4 / (1 + a) end,
    law = function(a, s)
      local function bound(t) return t < s and 1 or 0.4 / (1 + a) end
      return ns.RelayNSL(1, function(t) return -bound(t) end, bound)
    end },
  ["a diode that opens"] = { law = diode, f = function(t, a) return a * (t - 1) end, event = "open",
    x = function(a) return a / 2 end },
  ["a diode that closes"] = { law = diode, x0 = function(a) return a end, f = function(_, a) return -a end, event = "close" },
  ["a diode whose current touches 0"] = { law = diode, f = function(t, a) return -a * (t - 1) ^ 2 end },
}

local names = {}
for name in pairs(cases) do names[#names + 1] = name end
table.sort(names)

-- The events and x at the end, with time and x in units of their own.
local function run(case, a, s, unit, class, osi, steps)
  local sys = ns.FirstOrderNonLinearDS({ unit * (case.x0 and case.x0(a) or 0) }, function(t, _, _, f)
    f[1] = unit / s * case.f(t / s, a)
  end)
  local nsds = ns.NonSmoothDynamicalSystem(0, 2 * s)
  nsds:insertDynamicalSystem(sys)
  nsds:link(ns.Interaction(case.law(a, s), ns.FirstOrderLinearTIR({ { 1 } }, { { unit / s } }), "switch"), sys)
  local simu = ns[class](nsds, ns.TimeDiscretisation(0, 2 * s / steps), osi)
  simu:run()
  return simu:events(), sys:x()[1]
end

describe("switches at a time of the grid", function()
  local count, told = campaign(3, 0.01)
  for _, name in ipairs(names) do
    it(("are listed once, touches are not: %s"):format(name), function()
      math.randomseed(40)
      local case = cases[name]
      for i = 1, count do
        local a = math.min(math.max(i == 1 and 1 or 0.2 + 2 * math.random(), case.least or 0), case.most or math.huge)
        local s, unit = 2 ^ math.random(-6, 6), i == 1 and 1 or 10 ^ (6 * math.random() - 3)
        for _, steps in ipairs { 2, 4, 8, 14, 3 } do
          for class, osi in pairs { TimeStepping = ns.FESDOSI(), EventDriven = ns.RungeKuttaOSI() } do
            local what = ("a %.17g, time %g, unit %.17g, %d steps, %s"):format(a, s, unit, steps, class)
            local events, x = run(case, a, s, unit, class, osi, steps)
            assert.equal(case.event and 1 or 0, #events, what)
            assert.equal(case.event, events[1] and events[1].kind, what)
            if events[1] then assert.near(1, events[1].t / s, 1e-9, what) end
            assert.near(case.x and case.x(a) or 0, x / unit, 1e-8, what)
          end
        end
      end
      told("switches on the grid, " .. name, count)
    end)
  end
end)

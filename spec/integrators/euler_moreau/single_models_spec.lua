-- The form for one system with one interaction beside the general form, on the models of scripts and of cases: the same bits of
-- every number that is stored, the same text on the screen. Models of event-driven runs are stepped here, too.
local core = require "nslua.core"
local ns = require "nslua"
local internal = require "nslua.internal"
local models = require "models"
local trail = require "trail"

-- ---- a script in this process ----

local enough = {} -- raised to end a script when its model has been stepped

local function suits(simu)
  local nsds = simu:nsds()
  return nsds:numberOfDynamicalSystems() == 1 and nsds:numberOfInteractions() == 1
end

-- Steps the model of a simulation by events `steps` times, and ends the script.
local function step_instead(steps, theta)
  return function(nsds)
    local h = (nsds:finalT() - nsds:t0()) / 1000
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(nsds:t0(), h), ns.EulerMoreauOSI(theta))
    for _ = 1, steps do
      simu:computeOneStep()
      simu:nextStep()
    end
    error(enough, 0)
  end
end

-- Runs a sweep at two of its points, in this process.
local function sweep_here(o)
  local model = o.setup()
  for i = 1, 2 do
    model.reset()
    o.run({ alpha = o.parameters.alpha[i], growth = o.parameters.growth[3 - i] }, { model = model })
  end
  error(enough, 0)
end

-- What a script stores and prints: bits of each step by hand, rows of each run, counts, lines. Also the number of steps of
-- simulations that have the small form.
local function watch(script, general, o)
  local list, small, methods = {}, 0, core.simulation_methods
  local one, run, by_events, sweep = methods.computeOneStep, methods.run, ns.EventDriven, ns.sweep
  local function add(value) list[#list + 1] = value end
  local function count(simu, steps)
    if suits(simu) then small = small + steps end
  end
  local compiled = {}
  local function prepare(simu)
    if o.compile and not compiled[simu] then compiled[simu] = simu:compile() end
  end
  function methods.computeOneStep(simu)
    prepare(simu)
    local good, err = pcall(one, simu)
    add(good and trail.state(simu) .. " " .. simu:newtonIterations() or tostring(err))
    count(simu, 1)
    if not good then error(err, 0) end
  end
  function methods.run(simu, ...)
    prepare(simu)
    local sol = run(simu, ...)
    for _, v in ipairs(models.numbers(sol)) do add(string.pack("<d", v)) end
    local stats = simu:stats()
    for _, name in ipairs { "newton_iterations", "solver_iterations", "factorizations" } do add(stats[name]) end
    count(simu, stats.steps)
    return sol
  end
  ns.EventDriven, ns.sweep = step_instead(o.steps, o.theta), sweep_here
  local function lines(...)
    for _, v in ipairs { ... } do add(tostring(v)) end
  end
  local env = { arg = { [0] = script, table.unpack(o) }, print = lines, io = { write = lines } }
  internal.general_form(general)
  local good, err = pcall(function()
    local result = assert(loadfile(script, "t", setmetatable(env, { __index = _G })))()
    if type(result) == "function" then result() end
  end)
  internal.general_form(false)
  methods.computeOneStep, methods.run, ns.EventDriven, ns.sweep = one, run, by_events, sweep
  if not good and err ~= enough then error(("%s: %s"):format(script, err), 0) end
  return list, small
end

local function compare(script, o)
  local what = script .. " " .. table.concat(o, " ")
  local single, small = watch(script, false, o)
  local general = watch(script, true, o)
  assert.is_true(small >= (o.least or 20), ("%s: %d steps have the small form"):format(what, small))
  assert.equal(#general, #single, what)
  for i = 1, #general do
    if general[i] ~= single[i] then assert.equal(general[i], single[i], ("%s: entry %d of %d"):format(what, i, #general)) end
  end
end

-- ---- scripts and cases ----

local scripts = {
  clutch = {},
  clutch_friction = {},
  clutch_short = { {}, { "--mode", "disengage" } },
  clutch_sweep = { { "--h", "0.2", "--side", "2" } },
  coulomb = { { "--form", "nsds" } },
  hard_stop = { { "--form", "nsds" }, { "--form", "nsds", "--variant", "code" } },
  spiral = { { "--form", "nsds", least = 10 } },
}
for _, theta in ipairs { "1", "0.5" } do
  for _, gamma in ipairs { "1", "0.5" } do
    for _, mode in ipairs { "engage", "disengage", "ramp" } do
      local o = { "--mode", mode, "--theta", theta, "--gamma", gamma }
      table.insert(scripts.clutch_friction, o)
      if mode ~= "ramp" then
        for _, restart in ipairs { "none", "implicit" } do
          table.insert(scripts.clutch, { "--restart", restart, table.unpack(o) })
        end
      end
    end
  end
end

-- By scripts/NAME.lua, and spec/cases/NAME.lua.
local by_events = { "belt_cycle", "clutch_cycle", "cuk", "lossy_gear" }
local cases = { "coupled_relays", "diode_bridge", "filippov", "friction_oscillator", "relay_oscillator",
  "relay_two_axes", "circuit_rlcd", "circuit_rlcd_gamma", "step_system" }
local event_cases = { "brake", "crossing_sequence", "entry_slide_exit", "fesd_unit_disc", "sign_spiral" }

describe("one system with one interaction steps with the bits of the general form", function()
  for name, runs in pairs(scripts) do
    it("in scripts/" .. name .. ".lua", function()
      for _, o in ipairs(runs) do compare("scripts/" .. name .. ".lua", o) end
    end)
  end

  it("with native callbacks #once", function() compare("scripts/clutch_short.lua", { compile = true }) end)
  it("with more of these #long", function()
    compare("scripts/clutch.lua", { compile = true })
    compare("scripts/belt_cycle.lua", { compile = true, steps = 50, theta = 0.5 })
    compare("spec/cases/step_system.lua", { compile = true })
  end)

  local function step_all(steps)
    for _, theta in ipairs { 1, 0.5 } do
      for _, name in ipairs(by_events) do compare("scripts/" .. name .. ".lua", { steps = steps, theta = theta }) end
      for _, name in ipairs(event_cases) do
        compare("spec/cases/events/" .. name .. ".lua", { steps = steps, theta = theta })
      end
    end
  end

  it("in models of runs from event to event", function() step_all(50) end)
  it("in these over 1000 steps #long", function() step_all(1000) end)

  for _, name in ipairs(cases) do
    it("in spec/cases/" .. name .. ".lua", function() compare("spec/cases/" .. name .. ".lua", {}) end)
  end
end)

-- run{observe = f}: columns that a function gives, in records, streams, files and resumed runs; what it may not give.
local host = require "host"
local models = require "bind.models"
local ns = require "nslua"
local message = models.message

local directory
setup(function() directory = host.new_directory() end)
teardown(function() host.remove(directory) end)

local function ball(T)
  local ds = ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } })
  ds:setFExtPtr { -9.81 }
  local nsds = ns.NonSmoothDynamicalSystem(0, T or 1)
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(ns.NewtonImpactNSL(0.5), ns.LagrangianLinearTIR { { 1 } }, "floor"), ds)
  return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.01), ns.MoreauJeanOSI(0.5), ns.LCP()), ds
end

-- The height and the velocity again, and the energy.
local function watch(ds)
  return function(simu)
    local t = simu:startingTime()
    return { state = { ds:q()[1], ds:velocity()[1] }, energy = simu:energy().total, at = t, time = ns.vector { t } }
  end
end

describe("observe", function()
  it("adds columns behind those of the model, in the order of their names", function()
    local simu, ds = ball()
    local calls, inner = 0, watch(ds)
    local sol = simu:run { observe = function(s)
      calls = calls + 1
      assert.equal(simu, s)
      return inner(s)
    end }
    assert.same({ "t", "q1", "v1", "floor.lambda", "floor.y", "newton_iterations", "at", "energy", "state[1]", "state[2]", "time" },
      sol:names())
    assert.equal(#sol, calls)
    assert.equal(101, #sol)
    assert.equal(sol.q1, sol["state[1]"])
    assert.equal(sol.v1, sol:column "state[2]")
    assert.equal(sol.t, sol.at)
    assert.equal(sol.t, sol.time)
    assert.near(9.81, sol.energy[1], 1e-12)
    assert.is_true(sol.energy[#sol] < 5)
    assert.equal(sol.iterations, sol.newton_iterations)
    local other, system = ball()
    local all = { other:run(), sol }
    assert.same({ all[1].q1, all[1].lambda, all[1].y }, { sol.q1, sol.lambda, sol.y }) -- the same bits as without it
    assert.truthy(system)
  end)

  it("is called for the rows that are recorded", function()
    local simu, ds = ball(0.25)
    local times = {}
    local sol = simu:run { record = 10, observe = function(s) times[#times + 1] = s:startingTime() return { q = ds:q()[1] } end }
    assert.equal(4, #sol)
    assert.same(sol.t:totable(), times)
    assert.equal(sol.q1, sol.q)
  end)

  it("takes the step that was computed before", function()
    local simu, ds = ball(0.1)
    simu:computeOneStep()
    local sol = simu:run { observe = function(s) return { at = s:startingTime(), q = ds:q()[1] } end }
    assert.near(0.01, sol.at[1], 1e-15)
    assert.equal(sol.t, sol.at)
    assert.equal(sol.q1, sol.q)
  end)

  it("reaches files of every kind, and comes back", function()
    local simu, ds = ball(0.1)
    local sol = simu:run { observe = watch(ds) }
    for _, ending in ipairs { "csv", "npz", "h5" } do
      local file = directory .. "/run." .. ending
      local good, problem = pcall(sol.save, sol, file)
      if good then
        local back = ns.load(file)
        for _, name in ipairs { "energy", "state[1]", "state[2]", "at", "floor.y", "floor.lambda" } do
          assert.equal(sol:column(name):copy(), back:column(name):copy())
        end
      else
        assert.matches("HDF5", problem)
      end
    end
    sol:save(directory .. "/run.npy")
    assert.equal(11, ns.load(directory .. "/run.npy"):cols())
  end)

  it("streams, and goes on after a checkpoint with the bits of a run that was not stopped", function()
    for _, ending in ipairs { "csv", "h5" } do
      local whole, parts = directory .. "/whole." .. ending, directory .. "/parts." .. ending
      local simu, ds = ball(0.5)
      local good = pcall(simu.run, simu, { stream = whole, record = 3, observe = watch(ds) })
      if good or ending == "csv" then
        local checkpoint = directory .. "/check" .. ending
        simu, ds = ball(0.5)
        local inner = watch(ds)
        local function failing(s)
          if s:step() == 30 then error "enough" end
          return inner(s)
        end
        assert.matches("enough", message(simu.run, simu, { stream = parts, record = 3, checkpoint = checkpoint, every = 7,
          observe = failing }))
        simu, ds = ball(0.5)
        local sol = simu:run { stream = parts, record = 3, checkpoint = checkpoint, resume = true, observe = watch(ds) }
        assert.near(0.3, sol.t[1], 1e-12)
        assert.equal("completed", sol.status)
        local a, b = ns.load(whole), ns.load(parts)
        assert.same(a:names(), b:names())
        for _, name in ipairs(a:names()) do assert.equal(a:column(name):copy(), b:column(name):copy()) end
        simu = ball(0.5)
        assert.matches("parts." .. ending, message(simu.run, simu, { stream = parts, record = 3, checkpoint = checkpoint,
          resume = true, observe = function() return { other = 1 } end }))
      end
    end
  end)

  it("is drawn, shown and animated as other columns are", function()
    local simu, ds = ball(0.1)
    local sol = simu:run { observe = watch(ds) }
    assert.equal(1, #sol:plot({ "energy" }).panels)
    assert.truthy(sol:html {}:find("energy", 1, true))
    local heights = {}
    sol:animate { draw = function(state) heights[#heights + 1] = state["state[1]"] end }
    assert.equal(1, heights[1])
  end)

  it("says what it can not take", function()
    local function refused(expected, f, options)
      local simu, ds = ball(0.05)
      options = options or {}
      options.observe = type(f) == "function" and function(s) return f(s, ds) end or f
      local said = message(simu.run, simu, options)
      assert.truthy(said:find(expected, 1, true), said)
      return simu
    end
    refused("run: observe: expected a function, got number 1", 1)
    refused("run: observe: t=0 step 0: expected a table of numbers by name, got nil", function() end)
    refused("run: observe: t=0 step 0: expected a table of numbers by name, got the key 1", function() return { 3 } end)
    refused("run: observe: t=0 step 0: force: expected a number or a vector, got string", function() return { force = "x" } end)
    refused("run: observe: t=0 step 0: force: expected a number or a vector, got boolean", function() return { force = true } end)
    refused("run: observe: force[2]: expected a number, got string", function() return { force = { 1, "x" } } end)
    refused("run: observe: t=0 step 0: 't' is a field of solutions; choose another name", function() return { t = 1 } end)
    refused("run: observe: t=0 step 0: 'plot' is a method of solutions; choose another name", function() return { plot = 1 } end)
    refused("run: observe: t=0 step 0: '' is no name of a column; choose another name", function() return { [""] = 1 } end)
    refused("run: observe: t=0 step 0: 'a...' has a byte of 0 in it; choose another name", function() return { ["a\0b"] = 1 } end)
    refused("run: observe: 'q1' is a column of the solution already", function() return { q1 = 1 } end)
    refused("run: observe: 'floor.y' is a column of the solution already", function() return { ["floor.y"] = 1 } end)
    local function later(first, second)
      return function(s) return s:step() < 2 and first or second end
    end
    refused("run: observe: t=0.02 step 2: it does not give 'b', which it gave in the first row", later({ a = 1, b = 2 }, { a = 1 }))
    refused("run: observe: t=0.02 step 2: it gives 'c', which it did not give in the first row", later({ a = 1 }, { a = 1, c = 1 }))
    refused("run: observe: t=0.02 step 2: a: expected 2 numbers as in the first row, got vector of 3",
      later({ a = { 1, 2 } }, { a = { 1, 2, 3 } }))
    refused("run: observe: t=0.02 step 2: a: expected a number as in the first row, got vector of 1",
      later({ a = 1 }, { a = { 1 } }))
    refused("run: observe: t=0.02 step 2: it must not step, run or reset the simulation",
      function(s) if s:step() == 2 then s:computeOneStep() end return {} end)
    refused("mine", function(s) if s:step() == 2 then error "mine" end return {} end)
    local simu = refused("mine", function(s) if s:step() == 2 then error "mine" end return {} end)
    assert.equal(2, simu:step()) -- and goes on from there
    assert.equal(4, #simu:run())
    local object = setmetatable({}, { __tostring = function() return "an object" end })
    simu = ball(0.05)
    assert.equal(object, select(2, pcall(simu.run, simu, { observe = function() error(object) end })))
    simu = ball(0.05)
    local sol = simu:run { partial = true, observe = function(s)
      if s:step() == 3 then error "late" end
      return { a = s:step() }
    end }
    assert.equal("failed", sol.status)
    assert.matches("late", sol.message)
    assert.same({ 0, 1, 2 }, sol.a:totable())
  end)

  it("may look at everything, but neither close the simulation nor change its graph", function()
    local said, busy = {}, ": a row of a run is being recorded (called from inside observe?)"
    local simu, ds = ball(0.05)
    local nsds = simu:nsds()
    local floor, more = nsds:interaction(1), ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } })
    local ceiling = ns.Interaction(ns.NewtonImpactNSL(0.5), ns.LagrangianLinearTIR({ { -1 } }, { 9 }))
    local sol = simu:run { observe = function(s)
      for name, f in pairs {
        close = function() s:close() end,
        unlink = function() nsds:unlink(floor) end,
        link = function() nsds:link(ceiling, ds) end,
        insertDynamicalSystem = function() nsds:insertDynamicalSystem(more) end,
      } do
        local text = message(f)
        assert.truthy(text:find(name .. busy, 1, true), text)
        said[name] = (said[name] or 0) + 1
      end
      assert.truthy(message(function() nsds:close() end):find("close" .. busy, 1, true))
      return { kinetic = s:energy().kinetic, copies = s:clone():step() }
    end }
    assert.same({ close = 6, unlink = 6, link = 6, insertDynamicalSystem = 6 }, said)
    assert.equal("completed", sol.status)
    nsds:link(ceiling, ds) -- after the run it may
    simu:reset()
    assert.equal(6, #simu:run())
    simu:close()
  end)

  it("keeps the graph while a row of a run within is recorded too, and lets it go after an error", function()
    local simu = ball(0.05)
    local nsds = simu:nsds()
    assert.matches("a row of a run is being recorded", message(simu.run, simu, { observe = function(s)
      pcall(s.run, s, { observe = function() return {} end })
      s:close()
    end }))
    nsds:unlink(nsds:interaction(1))
    simu:close()
  end)

  it("takes an empty table, empty vectors and what is not finite", function()
    local simu = ball(0.05)
    local sol = simu:run { observe = function() return { nothing = {}, odd = 0 / 0 } end }
    assert.is_true(sol.odd[1] ~= sol.odd[1])
    simu = ball(0.05)
    assert.equal(6, #simu:run { observe = function() return {} end }:names())
  end)
end)

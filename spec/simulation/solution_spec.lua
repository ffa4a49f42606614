local columns = require "columns"
local host = require "host"
local ns = require "nslua"
local simulation = require "models".simulation

-- Two systems and two interactions: columns t, the states, lambda, y, newton_iterations.
local function make(names)
  local one, two = ns.FirstOrderLinearTIDS({ 1, 2 }, ns.diag { -1, -2 }), ns.FirstOrderLinearTIDS({ 3 }, { { -1 } })
  if names then one:setNames { "a", "b" } end
  return simulation { systems = { one, two }, h = 0.1, T = 1, links = {
    { ns.RelayNSL(1, -1, 1), ns.FirstOrderLinearTIR({ { 1, 1, 1 } }, { { 1 }, { 0 }, { 1 } }), one, two },
    { ns.EqualityConditionNSL(1), ns.FirstOrderLinearTIR({ { 0, 1 } }, { { 0 }, { 1 } }), one } } }
end

describe("solution", function()
  local directory
  setup(function() directory = host.new_directory() end)
  teardown(function() host.remove(directory) end)

  it("names its columns", function()
    assert.same({ "t", "x1", "x2", "x3", "lambda1", "lambda2", "y1", "y2", "newton_iterations" },
      make():run():names())
    assert.same({ "t", "a", "b", "x3", "lambda1", "lambda2", "y1", "y2", "newton_iterations" },
      make(true):run():names())
  end)

  it("records what a loop by hand sees", function()
    local simu, inter = make()
    local ds1, ds2 = simu:nsds():dynamicalSystem(1), simu:nsds():dynamicalSystem(2)
    local sol = make():run()
    assert.equal(11, #sol)
    assert.same({ 1, 2 }, { sol.x1[1], sol.x2[1] })
    assert.equal(0, sol.iterations[1])
    for k, t in simu:steps() do
      assert.same({ t, ds1:x()[1], ds1:x()[2], ds2:x()[1], inter[1]:lambda(0)[1], inter[2]:lambda(0)[1],
        inter[1]:y(0)[1], inter[2]:y(0)[1], simu:newtonIterations() },
        { sol.t[k + 1], sol.x[k + 1][1], sol.x[k + 1][2], sol.x[k + 1][3], sol.lambda[k + 1][1], sol.lambda[k + 1][2],
          sol.y[k + 1][1], sol.y[k + 1][2], sol.iterations[k + 1] })
    end
  end)

  it("gives a column by its name and by its number", function()
    local sol = make(true):run()
    for i, name in ipairs(sol:names()) do assert.same(sol:column(name):totable(), sol:column(i):totable()) end
    assert.same(sol.a:totable(), sol:column(2):totable())
    assert.error_matches(function() return sol.nothing end, "solution: it has no column or method 'nothing'", 1, true)
    assert.error_matches(function() sol:column "x1" end, "column: no column is called 'x1'", 1, true)
    assert.error_matches(function() sol:column(10) end, "column: expected 1..9, got 10", 1, true)
    assert.error_matches(function() return sol[{}] end,
      "expected the name of a field or of a column, got an empty table", 1, true)
  end)

  it("keeps every k-th step and the last", function()
    local whole = make():run()
    for every, kept in pairs { [1] = 11, [2] = 6, [3] = 5, [4] = 4, [10] = 2, [100] = 2 } do
      local sol = make():run { record = every }
      assert.equal(kept, #sol)
      for i = 1, kept do
        local k = math.min((i - 1) * every, 10)
        assert.same(whole.x[k + 1]:totable(), sol.x[i]:totable())
        assert.equal(whole.t[k + 1], sol.t[i])
      end
    end
  end)

  it("keeps what was done when a step fails, on request", function()
    local function fail()
      local ds = ns.FirstOrderNonLinearDS({ 1 }, function(t, x, _, f)
        if t > 0.55 then error "no further" end
        f[1] = -x[1]
      end)
      return simulation { systems = { ds }, h = 0.1, T = 1 }, ds
    end
    assert.error_matches(function() (fail()):run() end, "no further", 1, true)
    local simu, ds = fail()
    local sol = simu:run { partial = true }
    assert.equal("failed", sol.status)
    assert.matches("dynamical system 'ds 1' computef: t=0.6 step 6", sol.message, 1, true)
    assert.matches("no further", sol.message, 1, true)
    assert.equal(6, #sol)
    assert.equal(5, sol.stats.steps)
    assert.equal(sol.x1[6], ds:x()[1])
    assert.equal(5, simu:step())
  end)

  it("outlives its simulation and does not follow it", function()
    local simu = make()
    local sol = simu:run()
    local before = sol.x1:totable()
    simu:reset()
    simu = nil -- luacheck: ignore 311
    collectgarbage()
    assert.same(before, sol.x1:totable())
  end)

  it("is saved as text that reads back exactly", function()
    local sol = make(true):run()
    local path = directory .. "/run.csv"
    sol:save(path)
    local back = columns.read(path)
    assert.same(sol:names(), back.names)
    assert.equal(11, back.n)
    for _, name in ipairs(back.names) do assert.same(sol:column(name):totable(), back[name]) end
  end)

  it("is saved as .npy that reads back exactly", function()
    local sol = make():run()
    local path = directory .. "/run.npy"
    sol:save(path)
    local text = host.read(path)
    assert.equal("\x93NUMPY\1\0", text:sub(1, 8))
    local size = string.unpack("<I2", text, 9)
    local header = text:sub(11, 10 + size)
    assert.matches("'descr': '<f8'", header, 1, true)
    assert.matches("'shape': (11, 9)", header, 1, true)
    local fortran = header:find("'fortran_order': True", 1, true)
    for j = 1, 9 do
      for i = 1, 11 do
        local place = fortran and (j - 1) * 11 + i - 1 or (i - 1) * 9 + j - 1
        assert.equal(sol:column(j)[i], (string.unpack("<d", text, 11 + size + 8 * place)))
      end
    end
  end)

  it("says what it can not save", function()
    local sol = make():run()
    assert.error_matches(function() sol:save(directory .. "/run.txt") end,
      "expected a name that ends in .csv, .npy, .npz, .h5, .nc or .mat", 1, true)
    assert.error_matches(function() sol:save(directory .. "/no/run.csv") end, directory .. "/no/run.csv", 1, true)
    assert.error_matches(function() sol:save(3) end, "save: file: expected a string", 1, true)
    assert.equal("run.csv run.npy", host.list(directory))
  end)

  it("describes itself", function()
    assert.equal("solution (completed): 11 rows, t = 0.0 .. 1.0, 3 states, 2 multipliers", tostring(make():run()))
  end)
end)

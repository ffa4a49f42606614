-- The recorded run: columns, names, saving, use after close().
local host = require "host"
local models = require "bind.models"
local ns = require "nslua"
local message = models.message

describe("a solution", function()
  local simu, _, ds = models.relay(0.1)
  ds:setNames { "position", "speed" }
  local sol = simu:run()

  it("has the states of every step, bit for bit, by name", function()
    local other, inter, other_ds = models.relay(0.1)
    assert.same({ "t", "position", "speed", "lambda1", "y1", "newton_iterations" }, sol:names())
    assert.equal(11, #sol)
    for k = 1, 11 do
      assert.equal(other:startingTime(), sol.t[k])
      if k == 1 then other:initialize() end
      assert.equal(other_ds:x()[1], sol.position[k])
      assert.equal(other_ds:x()[2], sol.x[k][2])
      assert.equal(inter:y(0)[1], sol.y1[k])
      assert.equal(inter:lambda(0)[1], sol.lambda[k][1])
      if k < 11 then models.advance(other, k) end
    end
    assert.is_nil(sol.foo)
  end)

  it("refuses names, numbers and files it does not know", function()
    assert.equal("column: there is none called 'foo' (known: t, position, speed, lambda1, y1, newton_iterations)",
      message(sol.column, sol, "foo"))
    local long = ns.FirstOrderLinearTIDS(ns.zeros(40))
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(long)
    local many = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 1), ns.EulerMoreauOSI(1)):run()
    assert.matches("x23, %.%.%.%)$", message(many.column, many, "x41"))
    assert.equal("solution: it has no field 'foo'", message(function() sol.foo = 1 end))
    assert.equal("solution: it has no field '1'", message(function() sol[1] = 1 end))
    assert.equal("solution: speed: a record cannot be assigned to", message(function() sol.speed = 1 end))
    assert.equal("solution: status: a record cannot be assigned to", message(function() sol.status = 1 end))
    assert.equal("solution: save: a record cannot be assigned to", message(function() sol.save = 1 end))
    assert.equal("column: expected 1..6, got 7", message(sol.column, sol, 7))
    assert.equal("column: name or number: expected an integer, got nil", message(sol.column, sol, nil))
    assert.equal("save: file: expected a string, got number 3.0", message(sol.save, sol, 3))
    assert.equal("save: 'x.txt': expected a name that ends in .csv, .npy, .npz or .h5", message(sol.save, sol, "x.txt"))
    assert.equal("cannot write '/nonexistent/x.csv': No such file or directory",
      message(sol.save, sol, "/nonexistent/x.csv"))
    assert.equal("solution: expected the name of a field or of a column, got number 1.0",
      message(function() return sol[1] end))
  end)

  it("tells states of one name in two systems apart", function()
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    local systems = {}
    for i = 1, 3 do
      systems[i] = ns.FirstOrderLinearTIDS({ i, 10 * i })
      nsds:insertDynamicalSystem(systems[i])
    end
    systems[1]:setNames { "v", "i" }
    systems[2]:setNames { "v", "x6" }
    local two = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 1), ns.EulerMoreauOSI(1)):run()
    assert.same({ "t", "ds 1.v", "i", "ds 2.v", "ds 2.x6", "x5", "ds 3.x6", "newton_iterations" }, two:names())
    assert.equal(1, two["ds 1.v"][1])
    assert.equal(2, two:column "ds 2.v"[1])
    assert.equal(30, two["ds 3.x6"][2])
    assert.is_nil(two.v)
    assert.equal("solution (completed): 2 rows, t = 0.0 .. 1.0, 6 states, 0 multipliers", tostring(two))
  end)

  it("says one where there is one", function()
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    local one, rel = ns.FirstOrderLinearTIDS { 1 }, ns.FirstOrderLinearTIR({ { 1 } }, { { 1 } })
    local inter = ns.Interaction(ns.RelayNSL(1), rel)
    assert.equal("FirstOrderLinearTIDS with 1 state", tostring(one))
    assert.equal("Interaction: RelayNSL, FirstOrderLinearTIR, not linked", tostring(inter))
    nsds:insertDynamicalSystem(one)
    nsds:link(inter, one)
    assert.equal("FirstOrderLinearTIDS 'ds 1' with 1 state", tostring(one))
    assert.equal("FirstOrderLinearTIR: 1 state, 1 multiplier", tostring(rel))
    assert.equal("Interaction 'interaction 1': RelayNSL, FirstOrderLinearTIR, linked with 'ds 1'", tostring(inter))
    local short = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 1), ns.EulerMoreauOSI(1)):run()
    assert.equal("solution (completed): 2 rows, t = 0.0 .. 1.0, 1 state, 1 multiplier", tostring(short))
  end)

  it("saves", function()
    local directory = host.new_directory()
    sol:save(directory .. "/run.csv")
    sol:save(directory .. "/run.npy")
    local text = host.read(directory .. "/run.csv")
    local size = #host.read(directory .. "/run.npy")
    assert.equal("run.csv run.npy", host.list(directory))
    host.remove(directory)
    assert.equal("t,position,speed,lambda1,y1,newton_iterations", text:match "^[^\r\n]*")
    assert.equal(128 + 11 * 6 * 8, size)
  end)

  it("refuses more rows than there is memory", function()
    if host.sanitized then return end -- the sanitizer ends the process at such a request
    local long = models.relay(1e300, 1e-3)
    local before = models.state(long)
    assert.matches("^run: not enough memory for %d+ rows$", message(long.run, long))
    assert.equal(before, models.state(long))
  end)

  it("raises after close(), its views too, and closes with its scope", function()
    local x, t
    do
      local scoped <close> = models.relay(0.1):run()
      x, t, sol = scoped.x, scoped.t, scoped
    end
    assert.equal("solution (closed)", tostring(sol))
    assert.equal("matrix belongs to a closed solution", message(function() return x[1][1] end))
    assert.equal("vector belongs to a closed solution", message(function() return t[1] end))
    assert.equal("solution is closed", message(function() return sol.t end))
    assert.equal("solution is closed", message(function() return sol:names() end))
    assert.equal("solution is closed", message(function() return #sol end))
  end)
end)

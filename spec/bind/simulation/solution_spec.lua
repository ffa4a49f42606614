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
    assert.error_matches(function() return sol.foo end, "solution: it has no column or method 'foo'", 1, true)
  end)

  it("refuses names, numbers and files it does not know", function()
    assert.equal("column: no column is called 'foo' (known: t, position, speed, lambda1, y1, newton_iterations)",
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
    assert.equal("save: file: expected a string, got number", message(sol.save, sol, 3))
    assert.equal("save: 'x.txt': expected a name that ends in .csv, .npy, .npz, .h5, .nc or .mat", message(sol.save, sol, "x.txt"))
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
    assert.error_matches(function() return two.v end, "solution: it has no column or method 'v'", 1, true)
    assert.equal("solution (completed): 2 rows, t = 0.0 .. 1.0, 6 states, 0 multipliers", tostring(two))
  end)

  -- A system with states x and y, and interactions of these names and numbers of rows.
  local function named(interactions)
    local system = ns.FirstOrderLinearTIDS({ 1, 2 }, { { -1, 0 }, { 0, -2 } })
    system:setNames { "x", "y" }
    local nsds = ns.NonSmoothDynamicalSystem(0, 0.3)
    nsds:insertDynamicalSystem(system)
    for _, one in ipairs(interactions) do
      local rows = one[2]
      local C, B = ns.matrix(rows, 2), ns.matrix(2, rows)
      for i = 1, rows do C[i][i], B[i][i] = 1, 0.1 end
      nsds:link(ns.Interaction(ns.RelayNSL(rows), ns.FirstOrderLinearTIR(C, B), one[1]), system)
    end
    return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.EulerMoreauOSI(1)):run()
  end

  it("has the names of interactions in those of their columns", function()
    local run = named { { "tyre", 1 }, { "road", 2 }, { nil, 1 } }
    assert.same({ "t", "x", "y", "tyre.lambda", "road.lambda[1]", "road.lambda[2]", "lambda4", "tyre.y", "road.y[1]", "road.y[2]",
      "y4", "newton_iterations" }, run:names())
    assert.equal(run.lambda[1][1], run["tyre.lambda"][1])
    for row, name in ipairs { "tyre.lambda", "road.lambda[1]", "road.lambda[2]", "lambda4" } do
      assert.equal(run.lambda:column(row), run:column(name))
      assert.equal(run.lambda:column(row), run["lambda" .. row]) -- by their numbers as well
      assert.equal(run:column("y" .. row), run:column((name:gsub("lambda", "y"))))
    end
    assert.error_matches(function() return run.lambda5 end, "solution: it has no column or method 'lambda5'", 1, true)
    assert.equal("column: no column is called 'tyre.x' (known: t, x, y, tyre.lambda, road.lambda[1], road.lambda[2], lambda4, " ..
      "tyre.y, road.y[1], road.y[2], y4, newton_iterations)", message(run.column, run, "tyre.x"))
  end)

  it("has numbers for interactions of one name, and for those that linking has named", function()
    local run = named { { "tyre", 1 }, { "tyre", 1 }, { "interaction 7", 1 }, { "belt", 1 } }
    assert.same({ "t", "x", "y", "lambda1", "lambda2", "lambda3", "belt.lambda", "y1", "y2", "y3", "belt.y", "newton_iterations" },
      run:names())
  end)

  it("has a state called x or y before the matrix of that name", function()
    local run = named { { "tyre", 1 } }
    assert.equal(1, run.x[1])
    assert.equal(2, run.y[1])
    assert.equal(4, #run.y)
    assert.equal(run.y, run:column "y")
    assert.equal(run["tyre.y"], run.y1)
    assert.equal(1, run.lambda:cols())
    local heights = {}
    run:animate { draw = function(state) heights[#heights + 1] = state.y end }
    assert.equal(2, heights[1])
  end)

  it("keeps the names in files of every kind", function()
    local run, directory = named { { "tyre", 1 }, { "road", 2 } }, host.new_directory()
    for _, ending in ipairs { "csv", "npz" } do
      local file = directory .. "/run." .. ending
      run:save(file)
      local back = ns.load(file)
      for _, name in ipairs { "x", "y", "tyre.lambda", "road.y[2]" } do
        assert.equal(run:column(name):copy(), back:column(name):copy())
      end
    end
    host.remove(directory)
  end)

  it("draws outputs and multipliers of named interactions as such", function()
    local run = named { { "tyre", 1 }, { "road", 2 } }
    local seen = {}
    for i, axes in ipairs(run:plot().panels) do
      local names = {}
      for k, artist in ipairs(axes.artists) do
        names[k] = (axes.names.y or artist.label) .. (artist.kind == "step" and "!" or "")
      end
      seen[i] = table.concat(names, " ")
    end
    assert.equal("x y", seen[1])
    assert.equal("tyre.λ! road.λ[1]! road.λ[2]!", table.concat(seen, " ", 2))
    local record = require "page".read(run:html {})
    seen = {}
    for i, panel in ipairs(record.panels) do
      local names = {}
      for k, series in ipairs(panel.series) do names[k] = series.name .. (series.step and "!" or "") end
      seen[i] = table.concat(names, " ")
    end
    assert.same({ "x", "y", "tyre.lambda! road.lambda[1]! road.lambda[2]!", "tyre.y road.y[1] road.y[2]" }, seen)
  end)

  it("tells that the steps end before T, once", function()
    local code = [[local ns = require "nslua"
      for _, grid in ipairs { { 0.3, 1 }, { 0.3, 1 }, { 0.1, 1 }, { { 0, 1, 2.75 }, 3 }, { 0.001, 1e300 }, { 0.1, 1e9 },
        { 1e-7, 0.3 } } do
        local ds = ns.FirstOrderLinearTIDS({ 1 }, { { -1 } })
        local nsds = ns.NonSmoothDynamicalSystem(0, grid[2])
        nsds:insertDynamicalSystem(ds)
        local td = type(grid[1]) == "table" and ns.TimeDiscretisation(grid[1]) or ns.TimeDiscretisation(0, grid[1])
        local simu = ns.TimeStepping(nsds, td, ns.EulerMoreauOSI(1))
        if simu:steps() and grid[2] < 10 and grid[1] ~= 1e-7 then print(simu:run().message) end
      end]]
    local out, err = host.nslua_run("-e " .. host.quote(code))
    local early = "the steps end at t = 0.9, before T = 1: one more, of h = 0.3, would go past it\n"
    local points = "the steps end at t = 2.75, before T = 3: the grid has no further point\n"
    assert.equal(early .. early .. "nil\n" .. points, out)
    assert.equal("nslua: TimeStepping: " .. early .. "nslua: TimeStepping: " .. points, err)
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

  it("has the names that systems and interactions have when a run begins", function()
    local nsds, shaft = ns.NonSmoothDynamicalSystem(0, 1), ns.FirstOrderLinearTIDS({ 1 }, { -1 })
    nsds:insertDynamicalSystem(shaft)
    local inter = ns.Interaction(ns.RelayNSL(1), ns.FirstOrderLinearTIR({ 1 }, { -1 }), "relay")
    nsds:link(inter, shaft)
    local stepping = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.5), ns.EulerMoreauOSI(1))
    local function names()
      stepping:reset()
      return table.concat(stepping:run { progress = false }:names(), " ", 2, 4)
    end
    assert.equal("x1 relay.lambda relay.y", names())
    assert.equal("x1 relay.lambda relay.y", names())
    shaft:setNames { "speed" }
    assert.equal("speed relay.lambda relay.y", names())
    shaft:setNames { "torque" }
    inter:setName "clutch"
    assert.equal("torque clutch.lambda clutch.y", names())
    local other = ns.FirstOrderLinearTIDS({ 1 }, { -1 })
    nsds:insertDynamicalSystem(other)
    other:setNames { "torque" }
    other:setName "b"
    assert.equal("ds 1.torque b.torque clutch.lambda", names())
  end)
end)

-- What the results of ns.solve_ivp and ns.dae can do: columns by name, files, pictures, one line of text.
local ns = require "nslua"
local host = require "host"

local message = require "expect".message

describe("the result of", function()
  local ode = ns.solve_ivp(function(_, y) return { y[2], -y[1] } end, { 0, 1 }, { 1, 0 }, { t_eval = { 0, 0.5, 1 } })
  local function slope(_, y, yd, r) r[1], r[2] = yd[1] + y[1], y[2] - 2 * y[1] end
  local dae = ns.dae("radau", slope):solve({ 0, 0.5, 1 }, { 1, 2 }, { -1, -2 })
  local directory
  setup(function() directory = host.new_directory() end)
  teardown(function() host.remove(directory) end)

  it("solve_ivp has its components as columns", function()
    assert.same({ "t", "y1", "y2" }, ode:names())
    assert.is_true(ode:column "y2" == ode.y[2] and ode:column(1) == ode.t)
    assert.equal("solution (the end of the interval was reached): 3 times, t = 0.0 .. 1.0, 2 unknowns", tostring(ode))
  end)

  it("dae has its unknowns and their derivatives as columns", function()
    assert.same({ "t", "y1", "y2", "ydot1", "ydot2" }, dae:names())
    assert.is_true(dae:column "y2" == dae.values.y:column(2) and dae:column "ydot1" == dae.values.ydot:column(1))
    assert.equal("solution (completed): 3 times, t = 0.0 .. 1.0, 2 unknowns", tostring(dae))
  end)

  it("both is saved, and loaded with the same bits", function()
    for _, sol in ipairs { ode, dae } do
      for _, ending in ipairs { "csv", "npz" } do
        local file = directory .. "/run." .. ending
        sol:save(file)
        local run = ns.load(file)
        assert.same(sol:names(), run:names())
        for _, name in ipairs(sol:names()) do assert.is_true(run[name] == sol:column(name), name) end
      end
    end
  end)

  it("solve_ivp is saved with its derivatives", function()
    local file = directory .. "/S.npz"
    local sol = ns.solve_ivp(function(_, y, k) return { y[2], -k * y[1] } end, { 0, 1 }, { 1, 0 },
      { t_eval = { 0, 0.5, 1 }, args = { 2 }, sensitivities = { "y0", "args" } })
    sol:save(file)
    local run = ns.load(file)
    assert.same(sol.sensitivities, run.sensitivities)
    for k = 1, 3 do assert.is_true(sol.S[k] == run.S[k]) end
    assert.is_true(sol:sensitivity "y0"[2] == run:sensitivity "y0"[2])
    sol:save(directory .. "/S.csv")
    assert.same(sol:names(), ns.load(directory .. "/S.csv"):names())
  end)

  it("both is drawn, without the derivatives unless they are asked for", function()
    local function drawn(...)
      local script = ns.plot.solution(...):commands()
      ns.plot.close()
      return script
    end
    assert.equal(drawn(ode), drawn({ t = ode.t, y = ode.y }))
    assert.is_nil(drawn(dae):find("ydot", 1, true))
    local figure = dae:plot { "ydot1" }
    assert.equal("figure with 1 panel", tostring(figure))
    ns.plot.close()
  end)

  it("one that failed says so", function()
    local sol = ns.solve_ivp(function(_, y) return y[1] ^ 2 end, { 0, 2 }, { 1 }, { max_steps = 5 })
    assert.matches("^solution %(5 steps were not enough %(t=0.89%d*%)%): 6 times, t = 0.0 .. 0.89%d*, 1 unknown$", tostring(sol))
  end)

  it("neither has other columns, nor methods without a colon", function()
    assert.matches("column: no column is called 'x1' (known: t, y1, y2)", message(ode.column, ode, "x1"), 1, true)
    assert.matches("plot: expected a result before a colon, as in sol:plot(...), got string",
      message(ode.plot, "y1"), 1, true)
    assert.matches("save: expected a result before a colon, as in sol:save(...), got string",
      message(ode.save, "run.csv"), 1, true)
    assert.matches("save: '.-run.txt': expected a name that ends in .csv, .npy, .npz, .h5, .nc or .mat",
      message(ode.save, ode, "run.txt"))
    assert.error_matches(function() return ode.animate end, "^result: it has no method 'animate'; it has "
      .. "column, html, names, plot, save, sensitivity$")
  end)
end)

describe("a table of fields as a result", function()
  it("prints them, and stays a plain table", function()
    local result = ns.numerics.lcp { M = { { 2 } }, q = { -1 } }
    assert.matches("^result: solved\n  iterations  %d+\n  relative    .-\n  solver      .-\n  z           %[0.5%]$",
      (tostring(result):gsub("\n  time  [^\n]*", "")))
    local names = {}
    for name in pairs(result) do names[#names + 1] = name end
    table.sort(names)
    assert.equal("iterations message relative residual scale solver status success time w z", table.concat(names, " "))
    assert.is_nil(result.other)
    for _, other in ipairs {
      ns.numerics.fc2d { W = ns.eye(2), q = { -1, 0 }, mu = { 0.3 } },
      ns.numerics.mcp { F = function(z) return { z[1] } end, z0 = { 1 } },
      ns.numerics.uniqueness { { 1 } }, ns.numerics.solutions { M = { { 1 } }, q = { -1 } },
      ns.root(function(x) return { x[1] - 2 } end, { 1 }),
      ns.diagnose { residual = function(_, y, yd) return { yd[1] + y[1] } end, y = { 1 }, ydot = { -1 } },
    } do
      assert.matches("^result.*\n  %w+ +", tostring(other))
    end
    assert.matches("\n  algebraic   { 2 }\n.*\n  unknowns    { 1, 1 }\n", tostring(ns.diagnose { y = { 1, 1 },
      residual = function(_, y, yd) return { yd[1] + y[1], y[2] - y[1] } end }))
  end)
end)

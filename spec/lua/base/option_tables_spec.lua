local host = require "host"
local ns = require "nslua"
local option_tables = require "nslua.base.option_tables"
local rows = require "nslua.repl.options"

describe("the names in option tables", function()
  local stderr = io.stderr
  before_each(function() rawset(io, "stderr", { write = function() end }) end)
  after_each(function() rawset(io, "stderr", stderr) end)

  it("are replaced where they have another spelling, in a copy", function()
    local given = { maxIterations = 3, solver = "pivot" }
    assert.same({ max_iterations = 3, solver = "pivot" }, option_tables.respell(given, "max_iterations, solver", "LCP"))
    assert.same({ maxIterations = 3, solver = "pivot" }, given)
    local same = { solver = "pivot", other = 1 }
    assert.equal(same, option_tables.respell(same, "max_iterations solver", "LCP"))
    assert.same({ linewidth = 2, 7 }, option_tables.check({ lw = 2, 7 }, "linewidth color", "plot", true))
  end)

  it("are refused when they are given twice, or not known", function()
    local function said(...) return select(2, option_tables.check(...)) end
    assert.equal("LCP: 'maxIterations' and 'max_iterations' are one option; both are given",
      said({ maxIterations = 3, max_iterations = 3 }, "max_iterations", "LCP"))
    assert.equal("plot: 'lw' and 'linewidth' are one option; both are given",
      said({ lw = 3, linewidth = 3 }, "linewidth", "plot"))
    assert.equal("f: unknown option 'b' (known: a, c)", said({ b = 1 }, "a c", "f"))
    assert.equal("f: unknown option '1' (known: a, c)", said({ 1 }, "a c", "f"))
    assert.equal("f: unknown option 'b' (it takes none)", said({ b = 1 }, "", "f"))
    assert.equal("f: unknown option 'name' (known: label)", said({ name = 1 }, "label", "f"))
  end)

  it("have each old spelling once, and are written in snake_case or as SciPy, matplotlib and the formulas have them", function()
    local OWN = { c = true, every = true, width = true } -- also options of their own: the width of a bar
    local seen = {}
    for _, row in ipairs(option_tables.spellings) do
      local key = row[1] .. " " .. row[2]
      assert.is_nil(seen[key], key)
      seen[key] = true
    end
    for _, row in ipairs(rows) do
      for name in row[1]:gmatch "%S+" do
        for _, spelling in ipairs(option_tables.spellings) do
          local both = (" " .. row[1] .. " "):find(" " .. spelling[2] .. " ", 1, true) and not spelling.of
          assert.is_false(spelling[1] == name and both ~= nil and not OWN[name], row[2] .. ": " .. name)
        end
      end
    end
  end)

  it("go on working in C and in Lua, with one word for a process on the error output", function()
    local out, err = host.nslua_run("-e " .. host.quote [[local ns = require "nslua"
      for _ = 1, 3 do print(ns.LCP { maxIterations = 7 }, ns.MLCP { maxIterations = 7 }) end
      local dae = ns.dae("radau", function(t, y, yd) return { yd[1] + y[1] } end,
        { first_step_size = 1e-3, jacobian = function() return { { 1 } }, { { 1 } } end })
      print(dae:solve({ 0, 1 }, { 1 }, { -1 }).flag)
      ns.plot.text(1, 2, "s", { size = 12 })
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(ns.FirstOrderLinearTIDS({ 1 }, { { -1 } }))
      print(#ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.EulerMoreauOSI(1)):run { every = 5 })
      ns.animation { frames = 2, draw = function(_, canvas) canvas:line(0, 0, 1, 1, { width = 3 }) end }]])
    assert.equal(("LCP of size 0, solver 'default'\tMLCP of size 0, solver 'default'\n"):rep(3) .. "0\n3\n", out)
    assert.equal([[
nslua: LCP: 'maxIterations' is now written 'max_iterations'; the old name works until 1.0
nslua: dae: 'jacobian' is now written 'jac'; the old name works until 1.0
nslua: run: 'every' is now written 'record'; the old name works until 1.0
nslua: line: 'width' is now written 'linewidth'; the old name works until 1.0
]], err)
  end)

  it("are found in what C takes before they are read", function()
    assert.error_matches(function() ns.MLCP { maxIterations = -1 } end, "MLCP: max_iterations: expected 0 (automatic) or more",
      1, true)
    assert.error_matches(function() ns.MLCP { maxIterations = 1, max_iterations = 1 } end,
      "MLCP: 'maxIterations' and 'max_iterations' are one option; both are given", 1, true)
    assert.error_matches(function() ns.MLCP { maxiterations = 1 } end,
      "MLCP: unknown option 'maxiterations' (known: tolerance, max_iterations, solver)", 1, true)
  end)
end)

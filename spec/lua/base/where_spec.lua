-- Errors of modules in Lua: that they name the line of the user's code, whatever was called through.
local ns = require "nslua"
local where = require "nslua.base.where"

-- The line of this file that an error of f names.
local function line_of(f)
  local ok, message = pcall(f)
  assert.is_false(ok)
  local line, rest = tostring(message):match "where_spec%.lua:(%d+): (.*)"
  assert.truthy(line, tostring(message))
  return tonumber(line), rest
end

local function here() return debug.getinfo(2, "l").currentline end

local function decay(_, y, yd, r) r[1] = yd[1] + y[1] end

describe("an error of a module in Lua", function()
  it("names the line that called it: ns.mechanics", function()
    local sys = ns.mechanics.system { coordinates = 1 }
    sys:particle { mass = 1, position = function(_, q) return { q[1], 0 } end }
    local calls = {
      function() return here(), sys:particle { mass = -1, position = function() return { 0, 0 } end } end,
      function() return here(), sys:mass(0, { 1, 2 }) end,
      function() return here(), sys:dae { q0 = { 0 }, index = 7 } end,
      function() return here(), sys:solve_dae({}, { q0 = { 0 } }) end,
      function() return here(), sys:lagrangian { v0 = { 0 } } end,
      function() return here(), sys:pin() end,
      function() return here(), ns.mechanics.system { coordinates = -1 } end,
      function() return here(), ns.mechanics.ReferenceFrame(3) end,
      function() return here(), sys:kane { speeds = 9 } end,
    }
    for _, call in ipairs(calls) do
      local line, text = line_of(call)
      assert.equal(debug.getinfo(call, "S").linedefined, line)
      assert.truthy(text:find "^mechanics: ", text)
    end
  end)

  it("names the line that called what calls a function in C", function()
    local model = ns.numerics.model()
    local x = model:variable { name = "x", lower = 0 }
    model:complements(x - 1, x)
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    local contacts = ns.contact.manager { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, 0.3, 2), reach = 0.5 }
    local inside
    local ds = ns.LagrangianDS { q0 = { 0, 1, 0 }, v0 = { 0, 0, 0 }, mass = ns.eye(3), fInt = function() inside() end }
    nsds:insertDynamicalSystem(ds)
    contacts:add_disk(ds, 0.9)
    contacts:add_line(ns.contact.line({ 0, 0 }, { 0, 1 }))
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.5), ns.MoreauJeanOSI(0.5))
    local file = os.tmpname()
    local handle = io.open(file, "w")
    handle:write "return { M = { { 1, 2 } }, q = { 1 }, lower = { 0 }, upper = { 1 } }"
    handle:close()
    local function update() contacts:update() end
    local calls = {
      { function() model:solve { tolerance = 0 } end, "box: tolerance: expected a number between 0 and 1, got 0" },
      { function() ns.numerics.replay(file) end, "box: M: expected a square matrix, got 1 x 2 matrix" },
      { update, "link: a step is being computed (called from inside a callback?)", function()
        inside = update
        simu:computeOneStep()
      end },
      { update, "unlink: a step is being computed (called from inside a callback?)", function()
        inside = function() end
        contacts:update()
        ds:q()[2] = 9
        inside = update
        simu:computeOneStep()
      end },
    }
    for _, case in ipairs(calls) do
      local call, text, run = table.unpack(case)
      local line, rest = line_of(run or call)
      assert.equal(debug.getinfo(call, "S").linedefined, line)
      assert.truthy(rest:find(text, 1, true), rest)
    end
    os.remove(file)
  end)

  it("says what a method was called on when a point took the colon's place", function()
    local line, text = line_of(function() ns.numerics.model().solve() end)
    assert.equal(here() - 1, line)
    assert.equal("solve: expected a model before a colon, as in model:solve(...)", text)
    text = select(2, line_of(function()
      ns.animation { frames = 1, draw = function(_, paper) paper.circle(0, 0, 1) end }
    end))
    assert.matches("^animation: draw at frame 1: .*where_spec.lua:%d+: circle: expected a canvas before a colon, as in "
      .. "canvas:circle%(%.%.%.%)$", text)
  end)

  it("names the line that called it: ns.dae, ns.consistent, ns.diagnose, also what its functions in C say", function()
    local calls = {
      function() return ns.dae("euler", decay), 0 end,
      function() return ns.dae("radau", decay, { rtol = -1 }):solve({ 0, 1 }, { 1 }, { -1 }), 0 end,
      function() return ns.dae("radau", decay):solve({ 0, 1 }, { 1 }, { 5 }), 0 end,
      function() return ns.dae("radau", function() return { 1, 2 } end):solve({ 0, 1 }, { 1 }, { -1 }), 0 end,
      function() return ns.dae("radau", function() end):solve({ 0, 1 }, { 1 }, { -1 }), 0 end,
      function() return ns.consistent { residual = decay }, 0 end,
      function() return ns.diagnose { residual = decay, y = { 1 }, index = 3 }, 0 end,
    }
    for _, call in ipairs(calls) do
      local line, text = line_of(call)
      assert.equal(debug.getinfo(call, "S").linedefined, line)
      assert.truthy(text:find "^dae: " or text:find "^consistent: " or text:find "^diagnose: ", text)
    end
  end)

  it("keeps the place that an error of the user's own function has, after the name of what it is", function()
    local sys, mine = ns.mechanics.system { coordinates = 1 }, nil
    sys:particle { name = "bob", mass = 1, position = function()
      mine = here() + 1
      error "boom"
    end }
    local line, text = line_of(function() sys:mass(0, { 1 }) end)
    assert.equal(here() - 1, line)
    assert.equal(("mechanics: particle 'bob' position: spec/lua/base/where_spec.lua:%d: boom"):format(mine), text)
    local object = {}
    local ok, message = pcall(function() ns.dae("radau", function() error(object) end):solve({ 0, 1 }, { 1 }, { -1 }) end)
    assert.is_false(ok)
    assert.equal(object, message)
  end)

  it("names the line inside of a callback where that one made the wrong call", function()
    local sys, other, mine = ns.mechanics.system { coordinates = 1 }, ns.mechanics.system { coordinates = 1 }, nil
    sys:particle { name = "bob", mass = 1, position = function(_, q) return { q[1], 0 } end }
    sys:generalised_force(function()
      mine = here() + 1
      return { other:mass(0, {})[1][1] }
    end)
    local line, text = line_of(function() sys:forces(0, { 1 }) end)
    assert.equal(mine, line)
    assert.equal("mechanics: system: q: expected 1 number, got 0", text)
  end)

  it("is told without the place again when it is part of another", function()
    assert.equal("dae: x", where.bare("a b.lua:12: dae: x", "dae"))
    assert.equal("dae: x", where.bare("dae: x", "dae"))
    assert.equal("a.lua:12: boom", where.bare("a.lua:12: boom", "dae"))
    assert.equal("line\n a.lua:1: dae: x", where.bare("line\n a.lua:1: dae: x", "dae"))
  end)

  it("no answer is taken from a call that ran out of memory or was interrupted", function()
    local function short() error "not enough memory" end
    assert.is_false(pcall(where.try, short))
    assert.is_false((where.try(error, "not a vector")))
    assert.is_false(pcall(where.try, error, "interrupted"))
    assert.is_false(pcall(where.try, error, "run: interrupted"))
    assert.is_true((pcall(where.try, error, "interrupted by a vector")))
    assert.same({ true, 1, 2 }, { where.try(function(...) return ... end, 1, 2) })
  end)
end)

-- ns.class: fields of instances, methods that change, inheritance, errors.
local ns = require "nslua"
local models = require "bind.models"
local message = models.message

local function clutch_class()
  local Clutch = ns.class(ns.FirstOrderNonLinearR, "clutch")
  function Clutch:init(alpha) self.alpha = alpha or 1 end
  function Clutch:computeh(_, x, _, _, y) y[1] = -x[1] * self.alpha end
  function Clutch.computeg(_, _, x, lambda, _, r) r[4] = lambda[1] * (x[4] - x[2] + x[3]) end
  return Clutch
end

describe("ns.class", function()
  it("refuses what is no base", function()
    local wanted = "class: base: expected a constructor of systems or relations, or a class, got "
    assert.equal(wanted .. "nil", message(ns.class))
    assert.equal(wanted .. "number", message(ns.class, 3))
    assert.equal(wanted .. "function", message(ns.class, ns.RelayNSL))
    assert.equal(wanted .. "table", message(ns.class, {}))
    assert.equal("class: name: expected a string, got number", message(ns.class, ns.FirstOrderNonLinearR, 3))
  end)

  it("gives the same bits as callbacks in an option table", function()
    local reference = models.advance((models.clutch(8)))
    assert.same(reference, models.advance((models.clutch(8, clutch_class()()))))
  end)

  it("keeps the fields of two objects apart", function()
    local Clutch = clutch_class()
    local a, b = Clutch(1), Clutch(2)
    a.extra = "a"
    assert.is_nil(b.extra)
    assert.equal(1, a.alpha)
    assert.equal(2, b.alpha)
    local one, _, _ = models.clutch(1, a)
    local _, inter = models.clutch(1, b)
    assert.equal("clutch", a:name())
    one:initialize()
    inter:relation().alpha = 3
    local two = models.clutch(1, Clutch(3))
    two:initialize()
    assert.equal(-5, one:nsds():interaction(1):y(0)[1])
    assert.equal(-15, two:nsds():interaction(1):y(0)[1])
    assert.equal(1, a.alpha)
  end)

  it("lets a method be defined after the object, and changed between two steps", function()
    local Clutch = ns.class(ns.FirstOrderNonLinearR)
    local rel = Clutch()
    local calls = 0
    function Clutch.computeh(_, _, x, _, _, y) y[1] = -x[1] end
    function Clutch.computeg(_, _, _, lambda, _, r) r[4] = lambda[1] end
    local simu = models.clutch(1, rel)
    models.advance(simu, 2)
    function Clutch.computeh(_, _, x, _, _, y)
      calls = calls + 1
      y[1] = -x[1]
    end
    assert.equal(0, calls)
    models.advance(simu, 3)
    assert.is_true(calls > 0)
    Clutch.computeg = 5
    assert.equal("relation 'FirstOrderNonLinearR': computeg: expected a function, got number 5.0",
      message(simu.computeOneStep, simu))
    function Clutch.computeg() error "changed" end
    assert.matches("relation 'FirstOrderNonLinearR' computeg: t=0.2 step 4 newton 1: changed",
      models.failure(simu.computeOneStep, simu))
  end)

  it("lets an object have a method of its own, which a change of the class leaves alone", function()
    local Clutch = clutch_class()
    local rel = Clutch()
    local simu = models.clutch(1, rel)
    function rel:computeg(_, _, lambda, _, r) r[4] = self.alpha * lambda[1] end
    models.advance(simu, 1)
    function Clutch.computeg() error "of the class" end
    models.advance(simu, 2)
    rel.computeg = nil
    assert.matches("of the class$", models.failure(simu.computeOneStep, simu))
    rel:setComputegFunction(function(_, _, lambda, _, r) r[4] = lambda[1] end)
    models.advance(simu, 3)
    function Clutch.computeg() error "changed again" end
    models.advance(simu, 4)
    function rel.computeg() error "of the object" end
    assert.matches("of the object$", models.failure(simu.computeOneStep, simu))
  end)

  it("keeps callbacks that setters gave, and steps do not go on without a callback that is gone", function()
    local function scalar()
      local g, h = function(_, _, lambda, _, r) r[1] = 2 * lambda[1] end, function(_, x, lambda, _, y) y[1] = x[1] + lambda[1] end
      local rel, ds = ns.FirstOrderNonLinearR { h = h, g = g, name = "joint" }, ns.FirstOrderLinearTIDS({ 3 }, { { -1 } })
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(ds)
      nsds:link(ns.Interaction(ns.RelayNSL(1, -1, 1), rel), ds)
      local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.EulerMoreauOSI(1))
      return simu, rel, ds, { h = h, g = g }
    end
    local first, _, reference = scalar()
    first:computeOneStep()
    for _, letter in ipairs { "h", "g" } do
      local simu, rel, ds, given = scalar()
      local name = "compute" .. letter
      rel[name] = nil -- no method of this name was set
      rel:setComputehFunction(given.h)
      simu:computeOneStep()
      assert.equal(reference:x()[1], ds:x()[1])
      local set = rel["set" .. name:gsub("^c", "C") .. "Function"]
      local gone = ("relation 'joint': %s is missing (or set %s)"):format(name, letter == "h" and "C" or "B")
      simu:nextStep()
      set(rel, nil)
      assert.equal(gone, message(simu.computeOneStep, simu))
      rel[name] = function(_, ...) return given[letter](...) end
      models.advance(simu, 1)
      rel[name] = nil
      assert.equal(gone, message(simu.computeOneStep, simu))
    end
  end)

  it("inherits", function()
    local Soft = ns.class(clutch_class(), "soft")
    function Soft:computeg(_, _, lambda, _, r) r[4] = self.alpha * lambda[1] end
    local rel = Soft(2)
    assert.equal("soft", rel:name())
    local simu, inter = models.clutch(1, rel)
    simu:initialize()
    assert.equal(-10, inter:y(0)[1])
    models.advance(simu)
  end)

  it("makes systems", function()
    local Tank = ns.class(ns.FirstOrderNonLinearDS, "tank")
    function Tank:init(_, k) self.k = k end
    function Tank:computef(_, x, _, f) f[1] = -self.k * x[1] end
    local ds = Tank({ 1 }, nil)
    ds.k = 2
    ds:computeRhs(0)
    assert.equal(-2, ds:rhs()[1])
  end)

  it("gives a system's constructor the first argument alone when there is an init", function()
    local Tank = ns.class(ns.FirstOrderLinearDS, "tank")
    function Tank:init(...) self.given = table.pack(...) end
    local options = { x0 = { 1 }, A = { { -2 } } }
    local ds = Tank(options, "b", nil, 4)
    assert.same({ options, "b", nil, 4, n = 4 }, ds.given)
    ds:computeRhs(0)
    assert.equal(-2, ds:rhs()[1])
    local Spring = ns.class(ns.FirstOrderNonLinearDS)
    function Spring:init(_, stiffness) self.stiffness = stiffness end
    function Spring:computef(_, x, _, f) f[1], f[2] = x[2], -self.stiffness * x[1] end
    local spring = Spring({ 1, 0 }, 3)
    spring:computeRhs(0)
    assert.equal(-3, spring:rhs()[2])
    assert.equal("FirstOrderNonLinearDS: f: expected a function, got number 3.0",
      message(ns.class(ns.FirstOrderNonLinearDS), { 1, 0 }, 3))
  end)

  it("refuses a misspelt callback, of a class and of an object", function()
    local known = "(known: computeh, computeg, computeJachx, computeJacglambda, computeJachlambda, computeJacgx)"
    local Clutch = clutch_class()
    assert.equal("class 'clutch': computeJachX: no callback of a FirstOrderNonLinearR " .. known,
      message(function() function Clutch.computeJachX() end end))
    assert.equal("class 'soft': computef: no callback of a FirstOrderNonLinearR " .. known,
      message(function() ns.class(Clutch, "soft").computef = print end))
    assert.equal("class: computeh: a FirstOrderLinearTIDS has no callbacks",
      message(function() ns.class(ns.FirstOrderLinearTIDS).computeh = print end))
    local rel = Clutch()
    assert.equal("relation 'clutch': computeH: no callback of a FirstOrderNonLinearR " .. known,
      message(function() rel.computeH = print end))
    assert.equal("dynamical system 'FirstOrderLinearTIDS': computef: a FirstOrderLinearTIDS has no callbacks",
      message(function() ns.FirstOrderLinearTIDS { 1 }.computef = print end))
    rel.computed, Clutch.computeCount = 1, 3
    assert.equal(3, rel.computeCount)
    assert.is_nil(rel.computeH)
  end)

  it("tells errors at the line that makes the object", function()
    local make = load("local class = ...\n\nlocal object = class()\nreturn object", "@user.lua")
    local Bad = ns.class(ns.FirstOrderNonLinearR, "bad")
    Bad.computeh = 3
    assert.equal("user.lua:3: relation 'bad': computeh: expected a function, got number 3.0",
      models.failure(function()
      local object = make(Bad)
      return object
    end))
    assert.equal("user.lua:3: FirstOrderNonLinearDS: x0: expected a vector, got nil", models.failure(function()
      local object = make(ns.class(ns.FirstOrderNonLinearDS))
      return object
    end))
  end)
end)

describe("what the engine points to", function()
  it("stays when a field of its name is written", function()
    local relation = ns.FirstOrderLinearR()
    relation:setz { 1, 2 }
    assert.error_matches(function() relation["anchor z"] = nil end,
      "relation 'FirstOrderLinearR': anchor z: the name of a field cannot begin with 'anchor '", 1, true)
    collectgarbage()
    assert.same({ 1, 2 }, relation:z():totable())
  end)

  it("stays while there is a view of it", function()
    for _, object in ipairs { ns.FirstOrderLinearR(), ns.FirstOrderLinearTIDS { 1 } } do
      object:setzPtr(ns.vector { 1, 2 })
      local before = object:z()
      object:setz { 3, 4, 5 }
      collectgarbage()
      collectgarbage()
      assert.same({ 1, 2 }, before:totable())
      assert.same({ 3, 4, 5 }, object:z():totable())
    end
  end)
end)

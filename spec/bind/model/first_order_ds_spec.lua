-- FirstOrderLinearTIDS, FirstOrderLinearDS, FirstOrderNonLinearDS: arguments, options, setters, use after close().
local ns = require "nslua"
local models = require "bind.models"
local message = models.message

local TI, L, NL = ns.FirstOrderLinearTIDS, ns.FirstOrderLinearDS, ns.FirstOrderNonLinearDS
local nan, inf = 0 / 0, math.huge

describe("dynamical systems", function()
  it("refuse wrong initial states", function()
    for name, make in pairs { FirstOrderLinearTIDS = TI, FirstOrderLinearDS = L, FirstOrderNonLinearDS = NL } do
      local function check(text, ...) assert.equal(name .. ": " .. text, message(make, ...)) end
      check("x0: expected a vector, got nil")
      check("x0: expected a vector, got string", "x")
      check("x0: expected a vector, got number 3.0", 3)
      check("x0: expected at least one state, got an empty vector", {})
      check("x0[2]: expected a number, got string", { 1, "a" })
      check("x0[2] is nan", { 1, nan })
      check("x0[1] is -inf", ns.vector { -inf, 1 })
      check("expected at most 3 arguments, got 4", { 1 }, nil, nil, 1)
      check("x0: expected a vector, got nil", { z = { 1 } })
      check("name: expected a string, got number 3.0", { x0 = { 1 }, name = 3 })
      check("z[1] is nan", { x0 = { 1 }, z = { nan } })
      check("M: expected a 2 x 2 matrix, got 1 x 2 table", { x0 = { 1, 2 }, M = { { 1, 2 } } })
    end
  end)

  it("list the options they know", function()
    local linear, nonlinear = "(known: x0, A, b, M, z, name)", "(known: x0, f, jacobianfx, M, z, name)"
    assert.equal("FirstOrderLinearTIDS: unknown option 'q' " .. linear, message(TI, { x0 = { 1 }, q = 1 }))
    assert.equal("FirstOrderLinearTIDS: unknown option 'X0' " .. linear, message(TI, { X0 = { 1 } }))
    assert.equal("FirstOrderLinearDS: unknown option 'f' " .. linear, message(L, { x0 = { 1 }, f = print }))
    assert.equal("FirstOrderNonLinearDS: unknown option 'A' " .. nonlinear,
      message(NL, { x0 = { 1 }, A = { { 1 } } }))
    assert.equal("FirstOrderNonLinearDS: unknown option '1' " .. nonlinear, message(NL, { 1, x0 = { 1 } }))
    assert.equal("FirstOrderNonLinearDS: f: expected a function, got number 3.0", message(NL, { x0 = { 1 }, f = 3 }))
    assert.equal("FirstOrderNonLinearDS: f: expected a function, got number 3.0", message(NL, { 1 }, 3))
    assert.equal("FirstOrderNonLinearDS: f: expected a function, got nil", message(NL, { 1 }, nil))
    assert.equal("FirstOrderNonLinearDS: jacobianfx: expected a function, got an empty table",
      message(NL, { 1 }, nil, {}))
  end)

  it("refuse matrices and vectors of wrong size, type or content", function()
    local function check(text, ...) assert.equal("FirstOrderLinearTIDS: " .. text, message(TI, ...)) end
    check("A: expected a 2 x 2 matrix, got 1 x 2 table", { 1, 2 }, { { 1, 2 } })
    check("A: expected a 2 x 2 matrix, got 3 x 3 matrix", { 1, 2 }, ns.eye(3))
    check("A: expected a 2 x 2 matrix, got function", { 1, 2 }, print)
    check("A[2]: expected 2 numbers, got 1", { 1, 2 }, { { 1, 2 }, { 3 } })
    check("A[2][2]: expected a number, got string", { 1, 2 }, { { 1, 2 }, { 3, "x" } })
    check("A[2][2] is nan", { 1, 2 }, { { 1, 2 }, { 3, nan } })
    check("b: expected a vector of 2, got a list of 1", { 1, 2 }, ns.eye(2), { 1 })
    check("b: expected a vector of 2, got vector of 3", { 1, 2 }, ns.eye(2), ns.vector(3))
    check("b[2] is inf", { 1, 2 }, ns.eye(2), { 1, inf })
  end)

  it("have setters that refuse the same and change nothing then", function()
    local ds = L({ 1, 2 }, ns.eye(2), { 3, 4 })
    ds:setMPtr(ns.diag { 5, 6 })
    ds:setz { 7 }
    for _, setter in ipairs { "M", "A" } do
      for _, ending in ipairs { "", "Ptr" } do
        local f = ds["set" .. setter .. ending]
        local who = "FirstOrderLinearDS: " .. setter
        assert.equal(who .. ": expected a 2 x 2 matrix, got 1 x 2 table", message(f, ds, { { 1, 2 } }))
        assert.equal(who .. ": expected a 2 x 2 matrix, got nil", message(f, ds))
        assert.equal(who .. "[1][2] is nan", message(f, ds, { { 1, nan }, { 1, 1 } }))
      end
    end
    assert.equal("FirstOrderLinearDS: b: expected a vector of 2, got a list of 3",
      message(ds.setbPtr, ds, { 1, 2, 3 }))
    assert.equal("FirstOrderLinearDS: b[1] is inf", message(ds.setb, ds, { inf, 0 }))
    assert.equal("FirstOrderLinearDS: x: expected a vector of 2, got a list of 1", message(ds.setX, ds, { 1 }))
    assert.equal("FirstOrderLinearDS: x[2] is nan", message(ds.setX, ds, { 1, nan }))
    assert.equal("FirstOrderLinearDS: x0[1] is inf", message(ds.setX0, ds, { inf, 1 }))
    assert.equal("FirstOrderLinearDS: z: expected a vector, got string", message(ds.setz, ds, "a"))
    assert.equal("setName: name: expected a string, got number 3.0", message(ds.setName, ds, 3))
    assert.equal("setNames: names: expected a table of 2 strings, got a list of 1", message(ds.setNames, ds, { "a" }))
    assert.equal("setNames: names[2]: expected a string, got number 3.0", message(ds.setNames, ds, { "a", 3 }))
    assert.equal("setNames: names[2]: 'v' is names[1] already", message(ds.setNames, ds, { "v", "v" }))
    assert.equal("setNames: names[2]: 'w...' has a byte of 0 in it", message(ds.setNames, ds, { "v", "w\0x" }))
    assert.equal("setNames: names[1]: '' is no name of a column; choose another, such as '_1'",
      message(ds.setNames, ds, { "", "v" }))
    for what, names in pairs {
      field = { "t", "iterations", "status", "message", "stats" },
      method = { "save", "column", "names", "display", "close" },
      column = { "newton_iterations", "lambda1", "y1", "y12" },
    } do
      for _, name in ipairs(names) do
        assert.equal(("setNames: names[1]: '%s' is a %s of solutions; choose another, such as '%s_1'"):format(name, what, name),
          message(ds.setNames, ds, { name, "v" }))
        ds:setNames { name .. "_1", "v" }
      end
    end
    for _, names in ipairs { { "yaw", "lambda_1" }, { "x", "y" }, { "lambda", "x" } } do ds:setNames(names) end
    assert.equal("computeRhs: time: expected a finite number, got no value", message(ds.computeRhs, ds))
    assert.equal(ns.eye(2), ds:A())
    assert.equal(ns.diag { 5, 6 }, ds:M())
    assert.equal(ns.vector { 3, 4 }, ds:b())
    assert.equal(ns.vector { 1, 2 }, ds:x())
    assert.equal(ns.vector { 1, 2 }, ds:x0())
    assert.equal(ns.vector { 7 }, ds:z())
  end)

  it("keep a function of time when what should replace it is refused", function()
    local ds = L { 1 }
    ds:setAPtr(function(t, _, A) A[1][1] = t end)
    assert.equal("FirstOrderLinearDS: A: expected a 1 x 1 matrix, got string", message(ds.setA, ds, "x"))
    ds:computeRhs(3)
    assert.equal(3, ds:rhs()[1])
    ds:setA { { 5 } }
    ds:computeRhs(3)
    assert.equal(5, ds:rhs()[1])
  end)

  it("know which callbacks and coefficients they have", function()
    assert.matches("FirstOrderLinearTIDS: it has no method 'setComputeMFunction'",
      message(function() return TI({ 1 }).setComputeMFunction end), 1, true)
    assert.matches("FirstOrderLinearDS: it has no method 'setComputeFFunction'",
      message(function() return L({ 1 }).setComputeFFunction end), 1, true)
    assert.matches("FirstOrderNonLinearDS: it has no method 'setComputeAFunction'",
      message(function() return NL({ 1 }).setComputeAFunction end), 1, true)
    assert.matches("FirstOrderNonLinearDS: it has no method 'setAPtr'", message(function() return NL({ 1 }).setAPtr end), 1, true)
    local ds = NL { 1 }
    assert.equal("setComputeFFunction: callback: expected a function, or a library and a symbol, got number 3.0",
      message(ds.setComputeFFunction, ds, 3))
    assert.equal("setComputeFFunction: symbol: expected a string (the name of the function in the library), "
      .. "got no value",
      message(ds.setComputeFFunction, ds, "lib.so"))
    assert.equal("FirstOrderNonLinearDS: jacobianfx: expected a 1 x 1 matrix, got 2 x 2 matrix",
      message(ds.setJacobianfxPtr, ds, ns.eye(2)))
  end)

  it("tell a singular M when the right-hand side needs its inverse", function()
    local ds = TI({ 1, 2 }, ns.eye(2))
    ds:setMPtr { { 1, 0 }, { 0, 0 } }
    assert.equal("dynamical system '?': the right-hand side needs M^-1, and M is singular (row 2)",
      message(ds.computeRhs, ds, 0))
    ds:setMPtr(ns.diag { 2, 4 })
    ds:computeRhs(0)
    assert.equal(ns.vector { 0.5, 0.5 }, ds:rhs())
  end)

  it("take fields, but none that would hide a method or never be called", function()
    local ds = NL { name = "tank", x0 = { 1 } }
    ds.alpha, ds.list = 3, { 1 }
    assert.equal(3, ds.alpha)
    assert.same({ 1 }, ds.list)
    local function set(key, value)
      return message(function() ds[key] = value end)
    end
    assert.equal("dynamical system 'tank': b: a field cannot hide the method of this name",
      set("b", { 1 }))
    assert.equal("dynamical system 'tank': display: a field cannot hide the method of this name",
      set("display", print))
    assert.equal("dynamical system 'tank': f: a callback is set as computef (with self as its first argument)",
      set("f", print))
    assert.equal("dynamical system 'tank': computef: expected a function, got number 3.0", set("computef", 3))
    ds.computef = function(self, _, x, _, f) f[1] = self.alpha * x[1] end
    ds:computeRhs(0)
    assert.equal(3, ds:rhs()[1])
    ds.computef = nil
    ds:computeRhs(0)
    assert.equal(0, ds:rhs()[1])
    ds.f = 5
    assert.equal(5, ds.f)
  end)

  it("raise after close(), their views too", function()
    local ds = NL { name = "tank", x0 = { 1 }, z = { 2 } }
    local views = { x = ds:x(), x0 = ds:x0(), r = ds:r(), rhs = ds:rhs(), z = ds:z() }
    ds:close()
    assert.equal("FirstOrderNonLinearDS (closed)", tostring(ds))
    for name, view in pairs(views) do
      local text = ("vector '%s' belongs to a closed FirstOrderNonLinearDS"):format(name)
      assert.equal(text, message(function() return view[1] end))
      assert.equal(text, message(function() view[1] = 1 end))
      assert.equal("vector (closed)", tostring(view))
    end
    for _, name in ipairs { "x", "x0", "r", "rhs", "setX", "setX0", "computeRhs", "dimension", "name", "setName", "M",
      "setMPtr", "setM", "A", "b", "setComputeFFunction", "z", "setzPtr", "resetToInitialState", "setNames",
        "display",
      "close" } do
      assert.equal("dynamical system 'tank' is closed", message(ds[name], ds), name)
    end
    assert.equal("dynamical system 'tank' is closed", message(function() ds.alpha = 1 end))
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    assert.equal("dynamical system 'tank' is closed", message(nsds.insertDynamicalSystem, nsds, ds))
  end)

  it("close at the end of a scope, and once is enough", function()
    local kept
    do
      local ds <close> = TI { 1 }
      kept = ds
    end
    assert.equal("FirstOrderLinearTIDS (closed)", tostring(kept))
    do
      local ds <close> = TI { 1 }
      ds:close()
    end
    assert.equal("spoilt", message(function()
      local ds <close> = TI { 1 }
      kept = ds
      error("spoilt", 0)
    end))
    assert.equal("FirstOrderLinearTIDS (closed)", tostring(kept))
  end)
end)

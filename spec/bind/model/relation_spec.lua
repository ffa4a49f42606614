-- Relations: arguments, options, setters, use after close().
local ns = require "nslua"
local models = require "bind.models"
local message = models.message

local nan = 0 / 0

local sizes_differ = "relation 'r': %s: expected %s for %s and 2 states of dynamical system 'ds 1', got %s"

describe("relations", function()
  it("that are linear refuse wrong arguments", function()
    for _, name in ipairs { "FirstOrderLinearTIR", "FirstOrderLinearR" } do
      local function check(text, ...) assert.equal(name .. ": " .. text, message(ns[name], ...)) end
      local forms = "expected (C, B), (C, D, F, e, B) or an option table, got "
      check(forms .. "1 argument", { { 1 } })
      check(forms .. "3 arguments", { { 1 } }, { { 1 } }, { { 1 } })
      check("B: expected a matrix, got string", { { 1 } }, "x")
      check("C[1][1] is nan", { { nan } }, { { 1 } })
      check("C[2]: expected 1 numbers, got 2", { { 1 }, { 2, 3 } }, { { 1 } })
      check("unknown option 'Q' (known: C, D, B, F, e, z, name)", { C = { { 1 } }, Q = 3 })
      check("unknown option 'h' (known: C, D, B, F, e, z, name)", { h = print })
      check("e: expected a vector, got string", { e = "x" })
      check("z[2] is inf", { z = { 1, math.huge } })
      check("name: expected a string, got boolean", { name = true })
      local r = ns[name]({ { 1 } }, { { 1 } })
      assert.matches(name .. ": it has no method 'setKPtr'", message(function() return r.setKPtr end), 1, true)
      assert.matches(name .. ": it has no method 'setComputehFunction'",
        message(function() return r.setComputehFunction end), 1, true)
    end
    assert.equal("FirstOrderLinearTIR: C: expected a matrix, got function",
      message(ns.FirstOrderLinearTIR, { C = print }))
    local r = ns.FirstOrderLinearR()
    assert.equal("setComputeeFunction: callback: expected a function, or a library and a symbol, got number 1.0",
      (message(r.setComputeEFunction, r, 1):gsub("EFunction", "eFunction")))
  end)

  it("that are nonlinear refuse wrong arguments and list their options", function()
    local known = {
      FirstOrderType1R = "h, g, Jachx, Jacglambda, C, B, states, z, name",
      FirstOrderType2R = "h, g, Jachx, Jacglambda, Jachlambda, C, D, B, states, z, name",
      FirstOrderNonLinearR = "h, g, Jachx, Jacglambda, Jachlambda, Jacgx, C, D, B, K, states, z, name",
    }
    for name, list in pairs(known) do
      local function check(text, ...) assert.equal(name .. ": " .. text, message(ns[name], ...)) end
      check(("unknown option 'foo' (known: %s)"):format(list), { foo = 1 })
      check("h: expected a function, got number 3.0", { h = 3 })
      check("h: expected a function, got number 3.0", 3)
      check("g: expected a function, got an empty table", print, {})
      check("C[1][2] is nan", { C = { { 1, nan } } })
      local r = ns[name]()
      assert.equal("setComputehFunction: callback: expected a function, or a library and a symbol, got no value",
        message(r.setComputehFunction, r))
      assert.equal("cannot open library '/nonexistent/lib.so': cannot open shared object file: No such file or directory", -- luacheck: no max line length
        message(r.setComputegFunction, r, "/nonexistent/lib.so", "g"))
    end
    assert.equal("FirstOrderType1R: expected at most 4 callbacks, got 5",
      message(ns.FirstOrderType1R, print, print, print, print, print))
    local r = ns.FirstOrderType1R()
    assert.matches("FirstOrderType1R: it has no method 'setComputeJacgxFunction'",
      message(function() return r.setComputeJacgxFunction end), 1, true)
    assert.matches("FirstOrderType1R: it has no method 'setDPtr'", message(function() return r.setDPtr end), 1, true)
  end)

  it("fit their link, and a failed link leaves no trace", function()
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    local ds = ns.FirstOrderLinearTIDS { 1, 2 }
    nsds:insertDynamicalSystem(ds)
    local function link(relation, size)
      return message(nsds.link, nsds, ns.Interaction(ns.RelayNSL(size or 1), relation), ds)
    end
    assert.equal("relation 'FirstOrderNonLinearR': computeh is missing (or set C)", link(ns.FirstOrderNonLinearR()))
    assert.equal("relation 'clutch': computeg is missing (or set B)",
      link(ns.FirstOrderNonLinearR { name = "clutch", h = print }))
    local C, B = { { 1, 2 } }, { { 1 }, { 2 } }
    local function sizes(letter, wanted, multipliers, got, options, size)
      options.name = "r"
      assert.equal(sizes_differ:format(letter, wanted, multipliers, got), link(ns.FirstOrderLinearTIR(options), size))
    end
    sizes("C", "1 x 2", "1 multiplier", "1 x 1", { C = { { 1 } }, B = B })
    sizes("B", "2 x 1", "1 multiplier", "1 x 1", { C = C, B = { { 1 } } })
    sizes("D", "1 x 1", "1 multiplier", "2 x 2", { C = C, B = B, D = ns.eye(2) })
    sizes("e", "1 x 1", "1 multiplier", "2 x 1", { C = C, B = B, e = { 1, 2 } })
    sizes("F", "1 x 0", "1 multiplier", "1 x 1", { C = C, B = B, F = { { 1 } } })
    sizes("C", "2 x 2", "2 multipliers", "1 x 2", { C = C, B = B }, 2)
    local r = ns.FirstOrderLinearTIR { C = { { 1 } }, B = B }
    link(r)
    r:setCPtr(C)
    local inter = ns.Interaction(ns.RelayNSL(1), r)
    nsds:link(inter, ds)
    assert.equal(1, nsds:numberOfInteractions())
    assert.equal("FirstOrderLinearTIR: C[1]: expected 2 numbers, got 1", message(r.setCPtr, r, { { 1 } }))
    assert.equal("FirstOrderLinearTIR: F: there are no parameters z for it", message(r.setFPtr, r, { { 1 } }))
    assert.equal("FirstOrderLinearTIR: e: expected a vector of 1, got a list of 2", message(r.setePtr, r, { 1, 2 }))
    assert.equal("FirstOrderLinearTIR: z: it is linked, without parameters z: give it z before", message(r.setz, r, { 1 }))
    assert.equal("relation 'FirstOrderLinearTIR' is already linked with 2 states and 1 multiplier, not 2 and 2",
      link(r, 2))
    local other, tank = ns.NonSmoothDynamicalSystem(0, 1), ns.FirstOrderLinearTIDS { 1, 2 }
    other:insertDynamicalSystem(tank)
    assert.equal("link: relation 'FirstOrderLinearTIR' is already linked in another NonSmoothDynamicalSystem",
      message(other.link, other, ns.Interaction(ns.RelayNSL(1), r), tank))
    nsds:link(ns.Interaction(ns.RelayNSL(1), r), ds)
    assert.equal(2, nsds:numberOfInteractions())
  end)

  it("keep a function of time when what should replace it is refused", function()
    local simu, inter = models.simulate(ns.FirstOrderLinearTIDS { 1 }, ns.FirstOrderLinearR {
      C = function(t, _, C) C[1][1] = 1 + t end, B = { { -1 } },
    })
    local rel = inter:relation()
    assert.equal("FirstOrderLinearR: C: expected a 1 x 1 matrix, got string", message(rel.setCPtr, rel, "x"))
    simu:computeOneStep()
    assert.near(inter:y(0)[1], 1.1 * simu:nsds():dynamicalSystem(1):x()[1], 1e-15)
    rel:setC { { 2 } }
    simu:computeOneStep()
    assert.equal(inter:y(0)[1], 2 * simu:nsds():dynamicalSystem(1):x()[1])
  end)

  it("take fields, but none that would hide a method or never be called", function()
    local r = ns.FirstOrderNonLinearR { name = "clutch" }
    r.alpha, r.g = 3, 9.81
    assert.equal(9.81, r.g)
    local function set(key, value)
      return message(function() r[key] = value end)
    end
    assert.equal("relation 'clutch': C: a field cannot hide the method of this name; use setCPtr, or another name",
      set("C", { { 1 } }))
    assert.equal("relation 'clutch': h: a callback is set as computeh (with self as its first argument)",
      set("h", print))
    assert.equal("relation 'clutch': computeh: expected a function, got an empty table", set("computeh", {}))
    assert.equal(9.81, r.g)
  end)

  it("of mechanics that are linear refuse wrong arguments", function()
    local forms = {
      LagrangianLinearTIR = "expected (C), (C, e), (C, F, e) or an option table, got ",
      LagrangianCompliantLinearTIR = "expected (C, D), (C, D, e), (C, D, F, e) or an option table, got ",
    }
    for name, usage in pairs(forms) do
      local compliant = name == "LagrangianCompliantLinearTIR"
      local function check(text, ...) assert.equal(name .. ": " .. text, message(ns[name], ...)) end
      local known = compliant and "C, D, F, e, z, name" or "C, F, e, z, name"
      check(usage .. "0 arguments")
      check(usage .. "5 arguments", { { 1 } }, { { 1 } }, { { 1 } }, { 1 }, 1)
      if compliant then check(usage .. "1 argument", { { 1 } }) else check(usage .. "4 arguments", 1, 2, 3, 4) end
      check("C[1][1] is nan", { { nan } }, { { 1 } })
      check("C: expected a matrix, got string", "x", { { 1 } })
      check(("unknown option 'B' (known: %s)"):format(known), { B = { { 1 } } })
      check(("unknown option 'h' (known: %s)"):format(known), { h = print })
      check("C: expected a matrix, got function", { C = print })
      check("e: expected a vector, got string", { e = "x" })
      check("name: expected a string, got number 3.0", { name = 3 })
      local r = ns[name] { name = "r" }
      for _, letter in ipairs(compliant and { "B", "K" } or { "B", "K", "D" }) do
        for _, ending in ipairs { "", "Ptr" } do
          assert.matches(("%s: it has no method 'set%s%s'"):format(name, letter, ending),
            message(function() return r["set" .. letter .. ending] end), 1, true)
        end
      end
      for _, callback in ipairs { "h", "g", "Jachq", "hDot", "DotJachq", "Jachx", "Jachlambda", "C" } do
        assert.matches(("%s: it has no method 'setCompute%sFunction'"):format(name, callback),
          message(function() return r["setCompute" .. callback .. "Function"] end), 1, true)
      end
    end
    local r = ns.LagrangianCompliantLinearTIR({ { 1, 2 } }, { { 3 } }, { { 4 } }, { 5 })
    assert.same({ ns.matrix { { 1, 2 } }, ns.matrix { { 3 } }, ns.matrix { { 4 } }, ns.vector { 5 } },
      { r:C(), r:D(), r:F(), r:e() })
    assert.equal("LagrangianLinearTIR: C: expected a matrix, got nil", message(ns.LagrangianLinearTIR, nil))
    for _, kind in ipairs { "FirstOrderNonLinearR", "FirstOrderType1R", "LagrangianScleronomousR" } do
      assert.equal(kind .. ": h: expected a function, got nil", message(ns[kind], nil))
    end
    assert.equal("FirstOrderNonLinearR: g: expected a function, got nil", message(ns.FirstOrderNonLinearR, print, nil))
    assert.equal("userdata", type(ns.LagrangianScleronomousR(print, nil)))
    r = ns.LagrangianLinearTIR({ { 1, 2 } }, nil, { 5 })
    assert.is_nil(r:F())
    assert.equal(ns.vector { 5 }, r:e())
    assert.equal(ns.vector { 6 }, ns.LagrangianLinearTIR({ { 1, 2 } }, { 6 }):e())
  end)

  it("of mechanics that are nonlinear refuse wrong arguments and list their options", function()
    local known = {
      LagrangianScleronomousR = { "h, Jachq, dotJachq, C, states, z, name", 3, "h, Jachq, dotJachq",
        { "g", "hDot", "Jachx", "Jachlambda" } },
      LagrangianRheonomousR = { "h, Jachq, hDot, dotJachq, C, states, z, name", 4, "h, Jachq, hDot, dotJachq",
        { "g", "Jachx", "Jachlambda" } },
      NewtonEulerR = { "h, Jachq, hDot, dotJachq, C, states, z, name", 4, "h, Jachq, hDot, dotJachq",
        { "g", "Jachx", "Jachlambda" } },
      LagrangianCompliantR = { "h, Jachq, Jachlambda, C, D, states, z, name", 3, "h, Jachq, Jachlambda",
        { "g", "hDot", "Jachx" } },
    }
    for name, o in pairs(known) do
      local function check(text, ...) assert.equal(name .. ": " .. text, message(ns[name], ...)) end
      check(("unknown option 'g' (known: %s)"):format(o[1]), { g = print })
      check("h: expected a function, got number 3.0", { h = 3 })
      check("h: expected a function, got string", "x")
      check("Jachq: expected a function, got number 3.0", print, 3)
      check(("expected at most %d callbacks, got 5"):format(o[2]), print, print, print, print, print)
      check("C[1][2] is nan", { C = { { 1, nan } } })
      local r = ns[name]()
      for _, callback in ipairs(o[4]) do
        assert.matches(("%s: it has no method 'setCompute%sFunction'"):format(name, callback),
          message(function() return r["setCompute" .. callback .. "Function"] end), 1, true)
      end
      for callback in o[3]:gmatch "%a+" do
        local setter = "setCompute" .. callback:gsub("^dot", "Dot") .. "Function"
        r[setter](r, print)
        r[setter](r, nil)
        assert.equal(setter .. ": callback: expected a function, or a library and a symbol, got number 1.0",
          message(r[setter], r, 1))
      end
      for _, letter in ipairs { "B", "K", "F" } do
        assert.matches(("%s: it has no method 'set%s'"):format(name, letter),
          message(function() return r["set" .. letter] end), 1, true)
      end
      assert.matches(name .. ": it has no method 'sete'", message(function() return r.sete end), 1, true)
    end
    local r = ns.LagrangianScleronomousR()
    assert.matches("LagrangianScleronomousR: it has no method 'setDPtr'", message(function() return r.setDPtr end), 1, true)
  end)

  it("of mechanics have a constant Jacobian by two names, shared or copied", function()
    local r, C, ds = ns.LagrangianScleronomousR(), ns.matrix { { 1, 2 } }, ns.LagrangianDS({ 1, 1 }, { 1, 1 })
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    assert.is_nil(r:jachq())
    r:setJachqPtr(C)
    assert.equal(ns.matrix { { 1, 2 } }, r:jachq())
    local inter = ns.Interaction(ns.NewtonImpactNSL(0), r)
    nsds:link(inter, ds)
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.5), ns.MoreauJeanOSI(0.5))
    C[1][1] = 3
    simu:computeOneStep()
    assert.equal(5, inter:y(1)[1])
    r:setC(C)
    C[1][1] = 4
    simu:computeOneStep()
    assert.equal(5, inter:y(1)[1])
    assert.equal(ns.matrix { { 3, 2 } }, r:jachq())
    assert.equal(r:C(), r:jachq())
    assert.equal("LagrangianScleronomousR: C[1][1] is inf", message(r.setJachqPtr, r, { { math.huge, 0 } }))
  end)

  it("of mechanics fit their link", function()
    local function link(relation, law)
      local nsds, ds = ns.NonSmoothDynamicalSystem(0, 1), ns.LagrangianDS({ 0, 0 }, { 0, 0 })
      nsds:insertDynamicalSystem(ds)
      return message(nsds.link, nsds, ns.Interaction(law or ns.NewtonImpactNSL(0), relation), ds)
    end
    local closed = ns.ComplementarityConditionNSL(1)
    for _, name in ipairs { "LagrangianScleronomousR", "LagrangianRheonomousR", "NewtonEulerR" } do
      assert.equal(("relation '%s': computeh is missing (or set C)"):format(name), link(ns[name]()))
    end
    assert.equal("relation 'LagrangianCompliantR': computeh is missing (or set C)", link(ns.LagrangianCompliantR(), closed))
    local function sizes(letter, wanted, multipliers, got, relation, law)
      relation:setName "r"
      assert.equal(sizes_differ:format(letter, wanted, multipliers, got), link(relation, law))
    end
    sizes("C", "1 x 2", "1 multiplier", "1 x 1", ns.LagrangianLinearTIR { { 1 } })
    sizes("C", "2 x 2", "2 multipliers", "1 x 2", ns.LagrangianLinearTIR { { 1, 2 } },
      ns.NewtonImpactFrictionNSL(0, 0, 0, 2))
    sizes("e", "1 x 1", "1 multiplier", "2 x 1", ns.LagrangianLinearTIR({ { 1, 2 } }, { 1, 2 }))
    sizes("F", "1 x 0", "1 multiplier", "1 x 1",
      ns.LagrangianLinearTIR({ { 1, 2 } }, { { 1 } }, { 1 }))
    sizes("D", "1 x 1", "1 multiplier", "1 x 2",
      ns.LagrangianCompliantLinearTIR({ { 1, 2 } }, { { 1, 2 } }), closed)
    sizes("C", "1 x 2", "1 multiplier", "1 x 3",
      ns.LagrangianScleronomousR { h = print, C = { { 1, 2, 3 } } })
  end)

  it("of mechanics take callbacks of their class alone", function()
    local r = ns.LagrangianRheonomousR { name = "floor" }
    local known = "no callback of a LagrangianRheonomousR (known: computeh, computeJachq, computehDot, computeDotJachq)"
    local function set(object, key, value) return message(function() object[key] = value end) end
    assert.equal("relation 'floor': computeg: " .. known, set(r, "computeg", print))
    assert.equal("relation 'floor': computehDot: expected a function, got number 3.0", set(r, "computehDot", 3))
    assert.equal("relation 'floor': hDot: a callback is set as computehDot (with self as its first argument)",
      set(r, "hDot", print))
    assert.equal("relation 'floor': jachq: a field cannot hide the method of this name", set(r, "jachq", 1))
    local Floor = ns.class(ns.LagrangianRheonomousR, "Floor")
    assert.equal("class 'Floor': computeJachx: " .. known, set(Floor, "computeJachx", print))
    assert.equal("LagrangianRheonomousR 'Floor', not linked", tostring(Floor()))
  end)

  it("raise after close()", function()
    local r = ns.FirstOrderNonLinearR { name = "clutch", z = { 1 } }
    local z = r:z()
    r:close()
    assert.equal("FirstOrderNonLinearR (closed)", tostring(r))
    assert.equal("vector 'z' belongs to a closed FirstOrderNonLinearR", message(function() return z[1] end))
    for _, name in ipairs { "C", "setC", "setCPtr", "e", "setComputehFunction", "setComputeJacgxFunction", "name",
      "setName", "z", "setz", "setzPtr", "display", "close" } do
      assert.equal("relation 'clutch' is closed", message(r[name], r), name)
    end
    assert.equal("relation 'clutch' is closed", message(function() r.alpha = 1 end))
    assert.equal("relation 'clutch' is closed", message(ns.Interaction, ns.RelayNSL(1), r))
    do
      local rel <close> = ns.FirstOrderType1R()
      rel:close()
    end
  end)
end)

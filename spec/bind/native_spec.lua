-- Native callbacks by shared library: every signature, the same numbers as in Lua, and what is missing.
local ns = require "nslua"
local host = require "host"
local models = require "bind.models"
local message = models.message

describe("native callbacks", function()
  local library, directory
  setup(function() library, directory = host.compile "callbacks" end)
  teardown(function() host.remove(directory) end)

  -- Sets the native functions on an object: names by setter.
  local function with(object, functions)
    for setter, symbol in pairs(functions) do object["setCompute" .. setter
      .. "Function"](object, library, symbol) end
    return object
  end

  local function check_near(expected, got)
    assert.equal(#expected, #got)
    for k = 1, #expected do
      local numbers = got[k]:gmatch "=(%S+)"
      for value in expected[k]:gmatch "=(%S+)" do assert.near(tonumber(value), tonumber(numbers()), 1e-13) end
    end
  end

  local plant = { F = "plant_f", Jacobianfx = "plant_jacobian", M = "plant_M" }
  local function lua_plant() return ns.FirstOrderNonLinearDS(models.nonlinear_ds) end
  local function spring() return ns.FirstOrderLinearTIR({ { 0, 1 } }, { { 0 }, { -1 } }) end

  it("of systems", function()
    check_near(models.advance((models.simulate(lua_plant(), spring()))),
      models.advance((models.simulate(with(ns.FirstOrderNonLinearDS { 1, -0.5 }, plant), spring()))))
    check_near(models.advance((models.simulate(ns.FirstOrderLinearDS(models.linear_ds), spring()))),
      models.advance((models.simulate(
        with(ns.FirstOrderLinearDS { 1, -0.5 }, { M = "plant_M", A = "plant_A", b = "plant_b" }), spring()))))
  end)

  local relations = {
    NonLinearR = { h = "value_h", g = "value_g", Jachx = "jacobian_hx", Jachlambda = "jacobian_hlambda",
      Jacgx = "jacobian_gx", Jacglambda = "jacobian_glambda" },
    Type1R = { h = "type1_h", g = "type1_g", Jachx = "type1_hx", Jacglambda = "type1_glambda" },
    Type2R = { h = "type2_h", g = "type2_g", Jachx = "type2_hx", Jachlambda = "type2_hlambda",
      Jacglambda = "type2_glambda" },
    LinearR = { C = "linear_C", D = "linear_D", B = "linear_B", F = "linear_F", E = "linear_e" },
  }

  for kind, functions in pairs(relations) do
    it("of FirstOrder" .. kind, function()
      local options = kind == "LinearR" and { z = { 0.5 } } or {}
      local simu = models.simulate(with(ns.FirstOrderNonLinearDS { 1, -0.5 }, plant),
        with(ns["FirstOrder" .. kind](options), functions))
      assert.is_true(simu:check())
      local reference = models.simulate(lua_plant(), ns["FirstOrder" .. kind](models[kind]))
      check_near(models.advance(reference), models.advance(simu))
    end)
  end

  it("of systems and relations, by texts of a library and a symbol", function()
    local stem = library:gsub("%.so$", "")
    local function text(symbol) return ("%s:%s"):format(stem, symbol) end
    local r, ds = {}, ns.FirstOrderNonLinearDS({ 1, -0.5 }, text "plant_f", text "plant_jacobian")
    ds:setComputeMFunction(library, "plant_M")
    for key, symbol in pairs(relations.NonLinearR) do r[key] = text(symbol) end
    local by_texts = models.simulate(ds, ns.FirstOrderNonLinearR(r))
    local by_position = models.simulate(ns.FirstOrderNonLinearDS { x0 = { 1, -0.5 }, f = text "plant_f",
      jacobianfx = text "plant_jacobian", M = text "plant_M" },
      ns.FirstOrderNonLinearR(r.h, r.g, r.Jachx, r.Jacglambda, r.Jachlambda, r.Jacgx))
    local reference = models.advance((models.simulate(lua_plant(), ns.FirstOrderNonLinearR(models.NonLinearR))))
    check_near(reference, models.advance(by_texts))
    check_near(reference, models.advance(by_position))
    assert.equal("FirstOrderNonLinearR: h: expected a function, got string", message(ns.FirstOrderNonLinearR, { h = "value_h" }))
    assert.equal(("library '%s' has no symbol 'quux'"):format(library), message(ns.FirstOrderNonLinearR, { h = text "quux" }))
  end)

  it("stay loaded with the relation alone", function()
    local relation = with(ns.FirstOrderNonLinearR(), relations.NonLinearR)
    local simu = models.simulate(lua_plant(), relation)
    relation = nil -- luacheck: ignore
    collectgarbage()
    collectgarbage()
    models.advance(simu)
    local copy = simu:clone()
    simu:close()
    simu = nil -- luacheck: ignore
    collectgarbage()
    collectgarbage()
    copy:reset()
    models.advance(copy)
  end)

  it("that are not there leave the old ones", function()
    local relation = ns.FirstOrderNonLinearR(models.NonLinearR)
    assert.equal("library '" .. library .. "' has no symbol 'nothing'",
      message(relation.setComputegFunction, relation, library, "nothing"))
    assert.equal("cannot open library '/nonexistent/lib.so': cannot open shared object file: No such file or directory", -- luacheck: no max line length
      message(relation.setComputegFunction, relation, "/nonexistent/lib.so", "f"))
    assert.equal("setComputegFunction: symbol: expected a string (the name of the function in the library), got nil",
      message(relation.setComputegFunction, relation, library, nil))
    assert.same(models.advance((models.simulate(lua_plant(), ns.FirstOrderNonLinearR(models.NonLinearR)))),
      models.advance((models.simulate(lua_plant(), relation))))
  end)

  it("need native Jacobians, or presets", function()
    for missing, symbol in pairs { Jachx = "jacobian_hx", Jacgx = "jacobian_gx", Jachlambda = "jacobian_hlambda",
      Jacglambda = "jacobian_glambda" } do
      local functions = {}
      for key, value in pairs(relations.NonLinearR) do functions[key] = value ~= symbol and value or nil end
      local value = missing:sub(4, 4)
      local relation = with(ns.FirstOrderNonLinearR { name = "friction" }, functions)
      local simu = models.simulate(lua_plant(), relation)
      local before = models.state(simu:initialize() or simu)
      assert.equal(("relation 'friction' compute%s: t=0.1 step 1 newton 1: compute%s is missing: "
        .. "a native callback has no exact derivatives of its own"):format(value, missing),
        message(simu.computeOneStep, simu))
      assert.equal(before, models.state(simu))
      with(relation, { [missing] = symbol })
      models.advance(simu)
    end
    local simu = models.simulate(with(ns.FirstOrderNonLinearDS { name = "plant", x0 = { 1, -0.5 } },
      { F = "plant_f" }),
      spring())
    assert.equal("dynamical system 'plant' computef: t=0.1 step 1 newton 1: computeJacobianfx is missing: "
      .. "a native callback has no exact derivatives of its own", message(simu.computeOneStep, simu))
  end)

  it("that give nan are named", function()
    local relation = with(ns.FirstOrderNonLinearR { name = "friction" }, relations.NonLinearR)
    local simu = models.simulate(lua_plant(), relation)
    models.advance(simu, 2)
    local before = models.state(simu)
    with(relation, { g = "value_nan" })
    assert.equal("relation 'friction' computeg: t=0.3 step 3 newton 1: r[2] is nan",
      message(simu.computeOneStep, simu))
    assert.equal(before:gsub("y1=%S+", ""), (models.state(simu):gsub("y1=%S+", "")))
    with(relation, { g = "value_g" })
    models.advance(simu)
  end)

  it("are checked by differences", function()
    local functions = {}
    for key, value in pairs(relations.NonLinearR) do functions[key] = value end
    functions.Jacgx = "jacobian_gx_wrong"
    local good, report = models.simulate(lua_plant(), with(ns.FirstOrderNonLinearR { name = "friction" },
      functions)):check()
    assert.is_false(good)
    assert.matches("^relation 'friction' Jacgx%[2%]%[1%]: given 1, exact ", report)
  end)
end)

-- Findings of the random calls: errors that came from inside the module instead of naming the argument.
local ns = require "nslua"

local message = require "expect".message

describe("a list that holds itself", function()
  it("is no parameter of a model", function()
    local list = {}
    list[1] = list
    local model = ns.numerics.model()
    assert.matches("parameter%[1%]%[1%]", message(model.parameter, model, list))
  end)
end)

describe("parameters of another size", function()
-- The system is in no interaction, so that z may change its size; steps are repeated with half the length.
  it("are part of the state that a step goes back to", function()
    local fail = false
    local ds = ns.FirstOrderNonLinearDS({ 1 }, function(_, x, z, f)
      f[1] = -x[1] + (z and #z > 0 and z[#z] or 0)
      if fail then f[1] = 0 / 0 end
    end)
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.EulerMoreauOSI(1))
    simu:setMaxSubsteps(4)
    local x = 1
    for k = 1, 9 do
      local z = ns.zeros(k % 3 * 400)
      if #z > 0 then z[#z] = k end
      ds:setz(z)
      fail = true
      assert.has_error(function() simu:computeOneStep() end)
      assert.near(x, ds:x()[1], 1e-12)
      assert.equal(#z, #ds:z())
      fail = false
      simu:computeOneStep()
      simu:nextStep()
      x = (x + 0.1 * (#z > 0 and k or 0)) / 1.1
      assert.near(x, ds:x()[1], 1e-12)
    end
  end)
end)

describe("a wrong argument is named", function()
  after_each(function() ns.plot.close() end)

  it("of a figure", function()
    local figure = ns.plot.figure()
    assert.equal("commands: kind: expected one of aqua, dumb, pdf, png, qt, sixel, svg, wxt, x11, got 'x'",
      message(figure.commands, figure, "x"))
    local axes = ns.plot.gca()
    assert.equal("legend: labels: expected a table, got number 3", message(axes.legend, axes, { labels = 3 }))
    axes:plot({ 1, 2 }, { 1, 2 })
    assert.equal("xticks: labels: expected a table, got number 3", message(axes.xticks, axes, { 1, 2 }, 3))
  end)

  it("of an implicit surface", function()
    assert.equal("implicit: f: expected a number, got an empty table", message(ns.plot.implicit, function() return {} end))
  end)

  it("of a format, a solution, a list of pictures", function()
    ns.plot.subplot(1, 1, 1, { projection = "3d" })
    assert.equal("plot3D: format: expected a string, got number 3", message(ns.plot.plot3D, { 1, 2 }, { 1, 2 }, { 1, 2 }, 3))
    assert.matches("solution: expected a solution with t and y, got ", message(ns.plot.solution, ns.RelayNSL(1)), 1, true)
    assert.matches("interact: values: expected a list that is not empty, got ",
      message(ns.animation.interact, { values = ns.RelayNSL(1), draw = print }), 1, true)
  end)

  it("of a mechanical system", function()
    local mechanics = ns.mechanics
    assert.equal("mechanics: system: dimension: expected 2 or 3, got table",
      message(mechanics.system, { dimension = {}, gravity = { 0, -9.81 } }))
    assert.equal("mechanics: system: gravity: expected 3 numbers, got 2",
      message(mechanics.system, { dimension = 3, gravity = { 0, -9.81 } }))
    assert.equal("mechanics: system: dimension: expected 2 or 3, got 4", message(mechanics.system, { gravity = { 0, 0, 0, 1 } }))
    local q1, N = mechanics.coordinate(2), mechanics.ReferenceFrame "N"
    for _, q in ipairs { 3, true, print, io.stderr } do
      assert.matches("mechanics: scalar: q: expected a vector, got ", message(q1, 0, q), 1, true)
    end
    assert.equal("mechanics: scalar: q: expected a vector, got nil", message(q1, 0))
    assert.equal("mechanics: coordinate 2: q has 1 element", message(q1, 0, ns.vector { 1 }))
    assert.equal("mechanics: in_system: expected a system, got nil", message(N.in_system, N))
    local system = mechanics.system { coordinates = 2 }
    system:generalised_force(function() return { 0, 0 } end)
    system:particle { mass = 1, position = function(_, q) return { q[1], q[2] } end }
    assert.equal("mechanics: solve_dae: t0: expected 0, the first of ts, got table",
      message(system.solve_dae, system, { 0, 1 }, { q0 = { 0, 0 }, t0 = {} }))
  end)

  it("of a body whose place or angle goes missing, whichever evaluation it is", function()
    local function forces(place_after, angle_after, method)
      local system, places, angles = ns.mechanics.system { coordinates = 2 }, 0, 0
      local body = system:body { mass = 1, inertia = 1, name = "b", position = function(_, q)
        places = places + 1
        if places > place_after then return nil end
        return { q[1], q[2] }
      end, angle = function(_, q)
        angles = angles + 1
        if angles > angle_after then return nil end
        return q[1]
      end }
      system:spring { from = body, to = system.ground, p1 = { 1, 0 }, stiffness = 1 }
      local good, err = pcall(system[method], system, 0, { 0, 0 }, { 0, 0 })
      return good, not good and tostring(err) or ""
    end
    for _, method in ipairs { "generalised_forces", "energy" } do
      local failed, last = 0, false
      for after = 0, 20 do
        for _, text in ipairs { "position", "angle" } do
          local far = 1000
          local good, err = forces(text == "position" and after or far, text == "angle" and after or far, method)
          if not good then
            failed = failed + 1
            assert.matches("mechanics: .*body 'b':? " .. text, err)
            assert.is_nil(err:find("attempt to", 1, true), err)
          end
          last = good
        end
      end
      assert.is_true(failed > 2)
      assert.is_true(last)
    end
  end)

  it("of an optimisation model", function()
    local model = ns.numerics.model()
    assert.equal("variable: name: expected a string, got table", message(model.variable, model, { name = {} }))
    assert.equal("variables: name: expected a string, got boolean", message(model.variables, model, 2, { name = true }))
    assert.equal("parameter: name: expected a string, got 3", message(model.parameter, model, 1, 3))
  end)

  it("of a polygon", function()
    local square = ns.polygon.intersection { { 1, 0, 1 }, { -1, 0, 0 }, { 0, 1, 1 }, { 0, -1, 0 } }
    assert.equal("clip: x1: expected a number, got table", message(square.clip, square, 1, {}, 0, 1))
    assert.equal("clip: y1: expected a number, got nil", message(square.clip, square, 1, 2, 0))
    assert.equal("contains: expected a point x, y", message(square.contains, square))
    assert.equal("contains: expected a point x, y", message(square.contains, square, ns.vector { 1 }))
    assert.equal("contains: margin: expected a number, got table", message(square.contains, square, 0, 0, {}))
    assert.equal("intersection: k: expected a vector of right-hand sides, got userdata",
      message(ns.polygon.intersection, { { 1, 0 } }, io.stderr))
  end)
end)

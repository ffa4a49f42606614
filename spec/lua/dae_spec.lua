-- ns.dae, ns.consistent, ns.diagnose: options, the start, the doctor.
local ns = require "nslua"
local g = 9.81

local function decay(t, y, yd, r) r[1] = yd[1] + y[1] end

local expect = require "expect"
local fails = expect.fails

local function solve(residual, y0, yd0, options)
  local dae = ns.dae("radau", residual, options)
  return dae:solve({ 0, 0.1 }, y0, yd0)
end

-- An algebraic unknown: y[2] = y[1]^2.
local function square(t, y, yd, r)
  r[1] = yd[1] + y[2]
  r[2] = y[2] - y[1] ^ 2
end

describe("ns.dae", function()
  it("gives the shape of scikits.odes: values.t, values.y by rows, flag, message", function()
    local solution = ns.dae("radau", decay, { rtol = 1e-6, atol = 1e-8, first_step = 1e-6, old_api = false })
      :solve(ns.linspace(0, 1, 5), { 1 }, { -1 })
    assert.equal(5, #solution.values.t)
    assert.same({ 5, 1 }, { #solution.values.y, #solution.values.y[1] })
    assert.equal(0, solution.flag)
    assert.is_true(solution.success)
    assert.is_nil(solution.errors)
    assert.is_true(solution.stats.steps > 0 and solution.stats.jacobians > 0)
  end)

  it("refuses bad arguments by their names", function()
    fails("dae: kind: expected 'radau' or 'ida', got 'cvode'", ns.dae, "cvode", decay)
    fails("dae: residual: expected a function or a system of first order, got number", ns.dae, "radau", 3)
    fails("dae: options: expected a table, got number", ns.dae, "radau", decay, 3)
    fails("dae: unknown option 'tol' (known: rtol, atol, first_step, max_step, max_steps, algebraic, " ..
      "index, consistent, jac, events, args, sensitivities, compile, old_api)", ns.dae, "radau", decay, { tol = 1 })
    fails("dae: consistent: expected 'check', 'solve' or false, got yes", ns.dae, "radau", decay, { consistent = "yes" })
    fails("dae: rtol: expected a positive number, got -1", solve, decay, { 1 }, { -1 }, { rtol = -1 })
    fails("dae: rtol: expected at least 1e-14, got 1e-20", solve, decay, { 1 }, { -1 }, { rtol = 1e-20 })
    fails("dae: atol: expected 1 numbers, got 2", solve, decay, { 1 }, { -1 }, { atol = { 1, 2 } })
    fails("dae: max_steps: expected a positive number, got 0", solve, decay, { 1 }, { -1 }, { max_steps = 0 })
    fails("dae: index: expected a list of 1 numbers", solve, decay, { 1 }, { -1 }, { index = { 1, 2 } })
    fails("dae: index[1]: expected 1, 2 or 3, got 4", solve, decay, { 1 }, { -1 }, { index = { 4 } })
    fails("dae: y0: expected at least one unknown", solve, decay, {}, {})
    fails("dae: y0[1] is nan", solve, decay, { 0 / 0 }, { 0 })
    fails("dae: yd0: expected 1 numbers, got 2", solve, decay, { 1 }, { -1, 0 })
    local dae = ns.dae("radau", decay)
    fails("dae: ts: expected times that increase or decrease, got 0.5 after 1", dae.solve, dae, { 0, 1, 0.5 }, { 1 }, { -1 })
    fails("dae: ts: expected a list of numbers, got 'now'", dae.solve, dae, "now", { 1 }, { -1 })
    fails("dae: solve: expected a solver before it, as in dae:solve(ts, y0, yd0)", dae.solve, { 0, 1 }, { 1 }, { -1 })
    fails("dae: index: expected a list of 1 numbers, one for each unknown, got number", solve, decay, { 1 }, { -1 }, { index = 3 })
    fails("dae: algebraic: expected a list of numbers of unknowns, got number", solve, decay, { 1 }, { -1 },
      { algebraic = 1 })
    fails("dae: rtol: expected a positive number, got nan", solve, decay, { 1 }, { -1 }, { rtol = 0 / 0 })
    fails("dae: residual(t, y, yd, res) returned nothing and filled nothing", solve, function() end, { 1 }, { -1 })
  end)

  it("of a system that is closed says so", function()
    local ds = ns.FirstOrderLinearTIDS({ 1 }, { { -1 } })
    local dae = ns.dae("radau", ds)
    ds:close()
    local _, message = pcall(dae.solve, dae, { 0, 1 })
    assert.equal("spec/lua/dae_spec.lua:64: dae: dynamical system 'FirstOrderLinearTIDS' is closed", message)
  end)

  it("and its helpers refuse bad arguments by their names", function()
    fails("consistent: t: expected a finite number, got 'a'", ns.consistent, { residual = decay, y = { 1 }, t = "a" })
    fails("consistent: algebraic: expected a list of numbers of unknowns, got '2'", ns.consistent,
      { residual = square, y = { 1, 1 }, algebraic = "2" })
    fails("consistent: algebraic lists unknown 1, whose derivative is in the equations", ns.consistent,
      { residual = square, y = { 1, 1 }, algebraic = { 1 } })
    fails("diagnose: y: expected at least one unknown", ns.diagnose, { residual = decay, y = {} })
    fails("diagnose: t: expected a finite number, got nan or inf", ns.diagnose, { residual = decay, y = { 1 }, t = 1 / 0 })
    fails("returned nothing and filled nothing", ns.diagnose, { residual = function() end, y = { 1 } })
  end)

  it("tells a start that does not fulfil the equations by the equation", function()
    fails("dae: the start is not consistent: equation 2 has the residual -0.75", solve, square, { 1, 0.25 }, { -0.25, 0 })
    local solution = solve(square, { 1, 0.25 }, { 0, 0 }, { consistent = "solve" })
    assert.equal(1, solution.values.y[1][2])
    assert.equal(-1, solution.values.ydot[1][1])
  end)

  it("tells a wrong list of algebraic unknowns", function()
    fails("dae: algebraic lists unknown 1, whose derivative is in the equations", solve, square, { 1, 1 }, { -1, 0 },
      { algebraic = { 1 } })
    fails("dae: algebraic: unknown 2 is missing: its derivative is in no equation", solve, square, { 1, 1 }, { -1, 0 },
      { algebraic = {} })
    fails("dae: algebraic: expected numbers of unknowns, 1..2, got 0", solve, square, { 1, 1 }, { -1, 0 },
      { algebraic = { 0 } })
    assert.equal(0, solve(square, { 1, 1 }, { -1, 0 }, { algebraic = { 2 } }).flag)
  end)

  it("refuses an index above 3", function()
    local function chain(t, y, yd, r)
      r[1], r[2], r[3], r[4] = yd[1] - y[2], yd[2] - y[3], yd[3] - y[4], y[1] - t
    end
    fails("dae: the equations are of index 4; at most 3 is solved", solve, chain, { 0, 1, 0, 0 }, { 1, 0, 0, 0 })
  end)
end)

describe("ns.consistent", function()
  it("finds algebraic unknowns and derivatives", function()
    local y, yd = ns.consistent { residual = square, y = { 2, 0 }, algebraic = { 2 } }
    assert.equal(4, y[2])
    assert.equal(-4, yd[1])
    assert.equal(2, y[1])
  end)

  it("finds unknowns of any size", function()
    for _, size in ipairs { 1e-30, 1e-15, 1, 1e12 } do
      local function small(t, y, yd, r) r[1], r[2] = yd[1] + y[2], y[2] ^ 3 - y[1] ^ 2 * size end
      local y, yd = ns.consistent { residual = small, y = { 2 * size, 3 * size } }
      assert.near(4 ^ (1 / 3), y[2] / size, 1e-14)
      assert.near(-(4 ^ (1 / 3)), yd[1] / size, 1e-14)
      local dae = ns.dae("radau", small, { atol = 1e-10 * size })
      assert.is_true(dae:solve({ 0, 0.1 }, y, yd).success)
      fails("dae: the start is not consistent: equation 1 has the residual", dae.solve, dae, { 0, 0.1 }, y, { 1.001 * yd[1], 0 })
    end
  end)

  it("solves the equations that the index 2 or 3 hides", function()
    local function index2(t, y, yd, r) r[1], r[2] = yd[1] - y[2], y[1] - math.sin(t) end
    local y, yd = ns.consistent { residual = index2, t = 0.5, y = { math.sin(0.5), 1 }, ydot = { 0, 7 } }
    assert.near(math.cos(0.5), y[2], 1e-9)
    assert.near(math.cos(0.5), yd[1], 1e-9)
    assert.equal(7, yd[2]) -- it is in no equation
    for _, index in ipairs { 1, 2, 3, "stabilised" } do
      local guess = { 0.6, -0.8, 0.8, 0.6, 3, index == "stabilised" and 1 or nil }
      y, yd = ns.consistent { residual = require "pendulum"(index), y = guess }
      assert.near(1 + 0.8 * 9.81, y[5], 1e-12)
      assert.near(0.8 * y[5] - 9.81, yd[4], 1e-12)
      if index == "stabilised" then assert.near(0, y[6], 1e-12) end
    end
  end)

  it("of Andrews' squeezer at rest", function()
    local residual, start = require "squeezer"()
    local y = ns.consistent { residual = residual, y = start }
    local want = dofile "spec/reference/events/squeezer.lua".lambda_0
    for i = 1, 6 do assert.near(want[1][i], y[14 + i], want.tolerance) end
  end)

  it("of the same with accelerations as unknowns, whatever the tolerances are", function()
    local residual, start = require "squeezer"()
    local want = dofile "spec/reference/events/squeezer.lua".lambda_0
    local function longer(t, y, yd, r) -- q, v, a, forces
      local u, ud, R = {}, {}, {}
      for i = 1, 7 do u[i], u[7 + i], ud[i], ud[7 + i] = y[i], y[7 + i], yd[i], y[14 + i] end
      for i = 1, 6 do u[14 + i], ud[14 + i] = y[21 + i], 0 end
      residual(t, u, ud, R)
      for i = 1, 7 do r[i], r[7 + i], r[14 + i] = R[i], yd[7 + i] - y[14 + i], R[7 + i] end
      for i = 1, 6 do r[21 + i] = R[14 + i] end
    end
    local y0 = ns.zeros(27)
    for i = 1, 7 do y0[i] = start[i] end
    for _, rtol in ipairs { 1e-4, 1e-6, 1e-8 } do
      local dae = ns.dae("radau", longer, { rtol = rtol, atol = rtol / 100, consistent = "solve",
        events = { g = function(t) return t - 1e-4 end, terminal = true } })
      local solution = dae:solve({ 0, 0.03 }, y0)
      assert.equal(1, solution.flag, solution.message)
      for i = 1, 6 do assert.near(want[1][i], solution.values.y[1][21 + i], want.tolerance) end
    end
  end)

  it("of a four-bar linkage with its velocities", function()
    -- Angles a, b, c of the links, their velocities, two forces: index 3.
    local la, lb, lc, ln, sin, cos = 0.8, 2, 1, 2, math.sin, math.cos
    local function linkage(_, y, yd, r)
      local a, b, c = y[1], y[2], y[3]
      for i = 1, 3 do r[i] = yd[i] - y[3 + i] end
      r[4] = 0.3 * yd[4] + 9.81 * cos(a) - la * (cos(a) * y[8] - sin(a) * y[7])
      r[5] = 0.5 * yd[5] - lb * (cos(b) * y[8] - sin(b) * y[7])
      r[6] = 0.2 * yd[6] - lc * (cos(c) * y[8] - sin(c) * y[7])
      r[7] = la * cos(a) + lb * cos(b) + lc * cos(c) - ln
      r[8] = la * sin(a) + lb * sin(b) + lc * sin(c)
    end
    -- Links with a = 0 lie along a triangle of the sides 1.2, lb and lc, so that b and c follow from its angles.
    local b = math.acos((1.44 + lb ^ 2 - lc ^ 2) / (2.4 * lb))
    local c = -math.acos((1.44 + lc ^ 2 - lb ^ 2) / (2.4 * lc))
    local w = 2 -- of the first link: the others follow from 0 = la w + lb cos b wb + lc cos c wc, 0 = lb sin b wb + lc sin c wc
    local wc = -la * w / (lc * cos(c) - lc * sin(c) * cos(b) / sin(b))
    local wb = -lc * sin(c) * wc / (lb * sin(b))
    local y, yd = ns.consistent { residual = linkage, y = { 0, b, c, w, wb, wc, 0, 0 } }
    local r = {}
    linkage(0, y, yd, r)
    for i = 1, 8 do assert.near(0, r[i], 1e-12) end
    -- The second derivative of the constraints.
    local function along(f, rest) return la * f(0) * yd[4] + lb * f(b) * yd[5] + lc * f(c) * yd[6] + rest end
    assert.near(0, along(sin, la * w ^ 2 + lb * cos(b) * wb ^ 2 + lc * cos(c) * wc ^ 2), 1e-11)
    assert.near(0, along(cos, -lb * sin(b) * wb ^ 2 - lc * sin(c) * wc ^ 2), 1e-11)
    fails("consistent: equation 7, differentiated once with respect to time, is not fulfilled: unknowns that have a derivative "
      .. "would have to change", ns.consistent, { residual = linkage, y = { 0, b, c, w, wb, wc + 0.1, 0, 0 } })
  end)

  it("refuses an index above 3, and tells what it can not solve", function()
    local function chain(_, y, yd, r) r[1], r[2], r[3], r[4] = yd[1] - y[2], yd[2] - y[3], yd[3] - y[4], y[1] end
    fails("consistent: the equations are of index 4; at most 3 is solved", ns.consistent, { residual = chain, y = { 0, 1, 0, 0 } })
    fails("consistent: Newton finds no consistent values in 50 iterations", ns.consistent,
      { residual = function(t, y, yd, r) r[1] = y[1] ^ 2 + 1 end, y = { 0.3 } })
  end)
end)

describe("ns.diagnose", function()
  it("finds the index of the equations and of each unknown", function()
    local pendulum = require "pendulum"(3)
    local d = ns.diagnose { residual = pendulum, y = { 1, 0, 0, 0, 0 }, ydot = { 0, 0, 0, -g, 0 } }
    assert.equal(3, d.index)
    assert.same({ 1, 1, 2, 2, 3 }, d.unknowns)
    assert.same({ 5 }, d.algebraic)
    assert.is_true(d.consistent)
    assert.equal(0, ns.diagnose { residual = function(t, y, yd, r) r[1] = yd[1] + y[1] end, y = { 1 } }.index)
    assert.equal(1, ns.diagnose { residual = square, y = { 1, 1 }, ydot = { -1, 0 } }.index)
    d = ns.diagnose { residual = square, y = { 1, 3 }, ydot = { -3, 0 } }
    assert.is_false(d.consistent)
    assert.equal(2, d.worst)
    assert.equal(2, d.residual[2])
  end)

  it("judges each unknown by its own terms: Andrews' squeezer with its accelerations as unknowns, at rest", function()
    local residual, q0 = require "squeezer"()
    -- y = (q, v, a, lambda): a stands for v' in the equations, and v' = a is added
    local function with_accelerations(t, y, yd, r)
      local v, vd, part = {}, {}, {}
      for i = 1, 20 do v[i], vd[i] = y[i < 15 and i or i + 7], i < 8 and yd[i] or i < 15 and y[i + 7] or 0 end
      residual(t, v, vd, part)
      for i = 1, 20 do r[i < 15 and i or i + 7] = part[i] end
      for i = 1, 7 do r[14 + i] = yd[7 + i] - y[14 + i] end
    end
    local y, ranks = ns.zeros(27), {}
    for i = 1, 7 do y[i] = q0[i] end
    for i = 1, 27 do ranks[i] = i < 8 and 1 or i < 15 and 2 or 3 end
    local d = ns.diagnose { residual = with_accelerations, y = y }
    assert.equal(3, d.index)
    assert.same(ranks, d.unknowns)
  end)
end)

describe("ns.dae with Jacobians that are given", function()
  it("uses them: as many steps as with exact ones, and the residual never sees a dual number", function()
    local asked = 0
    local function residual(_, y, yd, r)
      assert(type(y[1]) == "number")
      square(0, y, yd, r)
    end
    local function jacobian(_, y)
      asked = asked + 1
      return { { 0, 1 }, { -2 * y[1], 1 } }, { { 1, 0 }, { 0, 0 } }
    end
    local given = solve(residual, { 1, 1 }, { -1, 2 }, { jac = jacobian, rtol = 1e-8 })
    local exact = solve(square, { 1, 1 }, { -1, 2 }, { rtol = 1e-8 })
    assert.equal(exact.stats.steps, given.stats.steps)
    assert.is_true(asked > 0)
    assert.near(1 / 1.1, given.values.y[2][1], 1e-8)
  end)

  it("refuses what is none", function()
    fails("dae: jac: expected a function, got table", ns.dae, "radau", decay, { jac = {} })
    fails("dae: jac: dF/dy[1]: expected 1 numbers, got 2", solve, decay, { 1 }, { -1 },
      { jac = function() return { { 1, 2 } }, { { 1 } } end })
    fails("dae: jac: dF/dyd: expected", solve, decay, { 1 }, { -1 }, { jac = function() return { { 1 } } end })
    fails("dae: jac: dF/dy[1][1] is nan", solve, decay, { 1 }, { -1 },
      { jac = function() return { { 0 / 0 } }, { { 1 } } end })
  end)
end)

describe("ns.dae of a system of first order", function()
  it("solves M x' = A x + b with a singular M, from x0, the algebraic states solved for", function()
    local ds = ns.FirstOrderLinearTIDS({ 1, 99 }, { { -1, 1 }, { -0.5, 1 } }) -- x2 = x1 / 2
    ds:setMPtr(ns.diag { 1, 0 })
    local solution = ns.dae("radau", ds, { rtol = 1e-9, atol = 1e-12, algebraic = { 2 } }):solve { 0, 1, 2 }
    for k = 1, 3 do
      local x = math.exp(-(k - 1) / 2)
      assert.near(x, solution.values.y[k][1], 1e-8)
      assert.near(x / 2, solution.values.y[k][2], 1e-8)
    end
    assert.same({ 1, 99 }, ds:x():totable()) -- its own state stays
  end)

  it("solves nonlinear ones, coefficients of time, a regular M, of index 2", function()
    local ds = ns.FirstOrderNonLinearDS { x0 = { 1, 0 }, M = { { 1, 0 }, { 0, 0 } }, f = function(t, x, _, f)
      f[1], f[2] = -x[2] + t, x[2] - x[1] ^ 2 - t
    end } -- x1' = -x1^2
    assert.near(1 / 3, ns.dae("radau", ds, { rtol = 1e-9 }):solve({ 0, 2 }).values.y[2][1], 1e-8)
    ds = ns.FirstOrderLinearDS { x0 = { 1 }, A = function(t, _, A) A[1][1] = -2 * t end, M = function(t, _, M) M[1][1] = 2 + t end }
    -- x' = -2 t / (2 + t) x: ln x = -2 t + 4 ln (1 + t / 2)
    assert.near(math.exp(-2) * 1.5 ^ 4, ns.dae("radau", ds, { rtol = 1e-9 }):solve({ 0, 1 }).values.y[2][1], 1e-8)
    ds = ns.FirstOrderNonLinearDS { x0 = { 0, 1 }, M = { { 1, 0 }, { 0, 0 } }, f = function(t, x, _, f)
      f[1], f[2] = x[2], x[1] - math.sin(t)
    end } -- x2 = cos t, of index 2
    local solution = ns.dae("radau", ds, { rtol = 1e-8, atol = 1e-10 }):solve({ 0, 1 }, nil, { 1, 0 })
    assert.near(math.cos(1), solution.values.y[2][2], 1e-6)
  end)

  it("agrees with TimeStepping as the step goes to 0", function()
    local function make()
      local ds = ns.FirstOrderLinearTIDS({ 1, 0.5 }, { { -1, 1 }, { -0.5, 1 } })
      ds:setMPtr(ns.diag { 1, 0 })
      return ds
    end
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    local ds = make()
    nsds:insertDynamicalSystem(ds)
    ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 1e-3), ns.EulerMoreauOSI(0.5)):run()
    local solution = ns.dae("radau", make()):solve { 0, 1 }
    assert.is_true((ds:x() - solution.values.y[2]):norm() < 1e-4)
  end)

  it("refuses systems with relations, lengths and callbacks that are wrong", function()
    local ds = ns.FirstOrderLinearTIDS({ 1 }, { { -1 } })
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    assert.near(math.exp(-1), ns.dae("radau", ds, { rtol = 1e-9 }):solve({ 0, 1 }).values.y[2][1], 1e-8)
    nsds:link(ns.Interaction(ns.RelayNSL(1, 0, 1), ns.FirstOrderLinearTIR({ { 1 } }, { { 1 } })), ds)
    fails("dae: dynamical system 'ds 1' is linked to an interaction, whose input is not in the equations: simulate it by " ..
      "TimeStepping", ns.dae, "radau", ds)
    fails("a function or a system of first order, got LagrangianDS with 1 degree of freedom", ns.dae, "radau",
      ns.LagrangianDS({ 1 }, { 0 }))
    local free = ns.FirstOrderNonLinearDS { x0 = { 1 }, name = "free", f = function() error "stop" end }
    fails("dae: jac: a dynamical system has its own Jacobians", ns.dae, "radau", free, { jac = function() end })
    fails("dae: y0: expected 1 numbers, got 2", function() ns.dae("radau", free):solve({ 0, 1 }, { 1, 2 }) end)
    fails("stop", function() ns.dae("radau", free):solve({ 0, 1 }) end)
    local odd = ns.FirstOrderLinearTIDS({ 1 }, { { 0 } })
    odd:setMPtr { { 0 } }
    fails("dae: the start: ", function() ns.dae("radau", odd):solve { 0, 1 } end)
    free:close()
    fails("closed", ns.dae, "radau", free)
  end)
end)

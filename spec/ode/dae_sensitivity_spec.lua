-- Sensitivities of ns.dae: against closed forms, an ODE of the same motion and differences; units; messages.
local ns = require "nslua"
local expect = require "expect"
local fails = expect.fails

-- A source behind a resistor charges a capacitor: C u' = i, R i + u = E.
local function circuit(t, y, yd, R, C, E, r)
  r[1], r[2] = C * yd[1] - y[2], R * y[2] + y[1] - E
end

local P = { 1, 2, 0.5, 3 } -- u0, R, C, E

local function charge(p, options)
  local o = { rtol = 1e-10, atol = 1e-12, args = { p[2], p[3], p[4] }, consistent = "solve" }
  for key, value in pairs(options or {}) do o[key] = value end
  return ns.dae("radau", circuit, o):solve({ 0, 0.5, 2.5 }, { p[1], 0 }, { 0, 0 })
end

-- The largest |S - differences| of S, at all rows, and of the times of events, relative to 1 plus their sizes.
local function off_differences(p, run, options)
  local with, worst, H = {}, 0, 3e-3
  for key, value in pairs(options) do with[key] = value end
  with.sensitivities = { "y0", "args" }
  local sol = run(p, with)
  assert.equal(#p, #sol.sensitivities)
  for j = 1, #p do
    local at = {}
    for _, k in ipairs { -2, -1, 1, 2 } do
      local moved = { table.unpack(p) }
      moved[j] = moved[j] * (1 + k * H)
      at[k] = run(moved, options)
    end
    local function compare(value, take)
      local D = (8 * (take(at[1]) - take(at[-1])) - (take(at[2]) - take(at[-2]))) / (12 * H * p[j])
      worst = math.max(worst, math.abs(value - D) / (1 + math.abs(D)))
    end
    for k = 1, #sol.S do
      local regular = true -- rows at events are at another time
      for _, i in ipairs { 1, 2 } do regular = regular and at[i].values.t[k] == sol.values.t[k] end
      for i = 1, regular and #sol.values.y[k] or 0 do
        compare(sol.S[k][i][j], function(s) return s.values.y[k][i] end)
      end
    end
    for e, times in ipairs(sol.t_events or {}) do
      for k = 1, #times do compare(sol.dt_events[e][k][j], function(s) return s.t_events[e][k] end) end
    end
  end
  return worst, sol
end

local function reset(options)
  local event = { g = function(t, y) return y[1] - 2 end, name = "full",
    apply = function(t, y, yd, R, C, E) return { y[1] - E / 3 + 0.1 * y[2] + 0.01 * yd[1] * t, 0 } end }
  for key, value in pairs(options or {}) do event[key] = value end
  return event
end

local current = { g = function(t, y, yd, R) return R * y[2] + 0.1 * yd[1] - 1.3 end, name = "current" }

-- A body that is thrown upwards comes to rest at the ceiling.
local function ceiling(t, y) return y[1] - 0.5 end

local function throw(event)
  return ns.dae("radau", function(t, y, yd, r) r[1], r[2] = yd[1] - y[2], yd[2] + 1 end, { consistent = "solve",
    sensitivities = "y0", events = event }):solve({ 0, 0.5, 1.5 }, { 0, 1 })
end

describe("sensitivities of ns.dae", function()
  it("of a circuit are those of the closed form, at the start, too", function()
    local sol = charge(P, { sensitivities = { "y0", "args" } })
    assert.same({ "y0[1]", "args[1]", "args[2]", "args[3]" }, sol.sensitivities)
    for k = 1, 3 do
      local t = sol.values.t[k]
      local D = ns.jacobian(function(p)
        local u = p[4] + (p[1] - p[4]) * math.exp(-t / (p[2] * p[3]))
        return { u, (p[4] - u) / p[2] }
      end, P)
      assert.is_true((D - sol.S[k]):norm() < 1e-10)
    end
    assert.equal(3, sol:sensitivity("args[2]"):rows())
    assert.equal(3, #sol:sensitivity "args")
  end)

  it("go through events, which may use algebraic unknowns and y', to what differences give", function()
    local events = { current, reset { terminal = 3 } }
    local worst, sol = off_differences(P, charge, { events = events })
    assert.is_true(worst < 1e-7, tostring(worst))
    assert.same({ 3, 3 }, { #sol.t_events[1], #sol.t_events[2] })
    local plain = charge(P, { events = events })
    assert.equal(#plain.values.t, #sol.S)
    for k = 1, #sol.S do
      for i = 1, 2 do assert.equal(plain.values.y[k][i], sol.values.y[k][i]) end
    end
  end)

  it("of a pendulum of index 1 and 2 and in the form of Gear, Gupta and Leimkuhler are those of its angle", function()
    local function force(t, y, yd, g, c, r)
      r[1], r[2] = yd[1] - y[3], yd[2] - y[4]
      r[3], r[4] = yd[3] + y[5] * y[1] + c * y[3], yd[4] + y[5] * y[2] + g + c * y[4]
    end
    local forms = {
      { 5, 1e-9, function(t, y, yd, g, c, r)
        force(t, y, yd, g, c, r)
        r[5] = y[3] ^ 2 + y[4] ^ 2 - y[5] - g * y[2]
      end },
      { 5, 1e-5, function(t, y, yd, g, c, r)
        force(t, y, yd, g, c, r)
        r[5] = y[1] * y[3] + y[2] * y[4]
      end },
      { 6, 5e-8, function(t, y, yd, g, c, r)
        force(t, y, yd, g, c, r)
        r[1], r[2] = r[1] + y[6] * y[1], r[2] + y[6] * y[2]
        r[5], r[6] = y[1] ^ 2 + y[2] ^ 2 - 1, y[1] * y[3] + y[2] * y[4]
      end } }
    local angle = ns.solve_ivp(function(t, y, g, c) return { y[2], -c * y[2] - g * ns.sin(y[1]) } end, { 0, 2 },
      { math.asin(0.8), 0 }, { method = "DOP853", rtol = 1e-12, atol = 1e-13, t_eval = { 0, 0.3, 1, 2 },
      args = { 9.81, 0.1 }, sensitivities = "args" })
    for _, form in ipairs(forms) do
      local start = { 0.8, -0.6, 0, 0, 0, form[1] == 6 and 0 or nil }
      local sol = ns.dae("radau", form[3], { rtol = 1e-8, atol = 1e-10, args = { 9.81, 0.1 }, consistent = "solve",
        sensitivities = "args" }):solve({ 0, 0.3, 1, 2 }, start)
      for k = 1, 4 do
        local a, w = angle.y[1][k], angle.y[2][k]
        local s, c = math.sin(a), math.cos(a)
        for j = 1, 2 do
          local da, dw = angle.S[k][1][j], angle.S[k][2][j]
          local exact = { c * da, s * da, c * dw - s * w * da, s * dw + c * w * da }
          for i = 1, 4 do assert.is_true(math.abs(sol.S[k][i][j] - exact[i]) < 1e-9) end
          local rod = 2 * w * dw - 9.81 * s * da + (j == 1 and c or 0)
          assert.is_true(math.abs(sol.S[k][5][j] - rod) < form[2])
        end
      end
    end
  end)

  -- The pendulum of unit length and mass by its angle, with a wall at angle 0; and as equations of this index. p = g, c, e.
  local function by_angle(start, ts, options)
    return ns.solve_ivp(function(t, y, g, c) return { y[2], -c * y[2] - g * ns.sin(y[1]) } end, { ts[1], ts[#ts] }, start,
      { method = "DOP853", rtol = 1e-12, atol = 1e-13, t_eval = ts, args = { 9.81, 0.1, 0.7 }, events = options.wall and {
        g = function(t, y) return y[1] end, apply = function(t, y, g, c, e) return { y[1], -e * y[2] } end } or nil,
        sensitivities = { "y0", "args" } })
  end
  local function by_place(index, kind, start, ts, options)
    local s, c, w = math.sin(start[1]), math.cos(start[1]), start[2]
    if s == 1 then c = 0 end
    return ns.dae(kind, function(t, y, yd, g, d, e, r)
      r[1], r[2] = yd[1] - y[3], yd[2] - y[4]
      r[3], r[4] = yd[3] + y[5] * y[1] + d * y[3], yd[4] + y[5] * y[2] + g + d * y[4]
      r[5] = index == 3 and y[1] ^ 2 + y[2] ^ 2 - 1 or y[1] * y[3] + y[2] * y[4]
    end, { rtol = options.rtol, atol = options.rtol / 100, args = { 9.81, 0.1, 0.7 }, consistent = "solve",
      index = kind == "ida" and { 1, 1, 2, 2, 3 } or nil, events = options.wall and { g = function(t, y) return y[1] end,
        apply = function(t, y, yd, g, d, e) return { y[1], y[2], -e * y[3], -e * y[4], 0 } end } or nil,
      sensitivities = { "y0", "args" } }):solve(ts, { s, -c, c * w, s * w, 0 })
  end

  -- The largest errors of S of the positions and velocities, and of the force, along the four motions that the constraint leaves.
  local function off_angle(index, kind, start, ts, options)
    local angle, sol = by_angle(start, ts, options), by_place(index, kind, start, ts, options)
    local s, c, w, worst, force = math.sin(start[1]), math.cos(start[1]), start[2], 0, 0
    local along = { { c, s, -s * w, c * w, 0, 0, 0 }, { 0, 0, c, s, 0, 0, 0 }, { 0, 0, 0, 0, 1, 0, 0 },
      { 0, 0, 0, 0, 0, 1, 0 }, { 0, 0, 0, 0, 0, 0, 1 } }
    local row = 0
    for k = 1, #ts do
      row = row + 1
      while sol.values.t[row] ~= ts[k] do row = row + 1 end -- rows at events are besides
      local a, v = angle.y[1][k], angle.y[2][k]
      local sa, ca = math.sin(a), math.cos(a)
      for j = 1, 5 do
        local S, da, dv = sol.S[row] * ns.vector(along[j]), angle.S[k][1][j], angle.S[k][2][j]
        for i, exact in ipairs { ca * da, sa * da, ca * dv - sa * v * da, sa * dv + ca * v * da } do
          worst = math.max(worst, math.abs(S[i] - exact))
        end
        force = math.max(force, math.abs(S[5] - (2 * v * dv - 9.81 * sa * da + (j == 3 and ca or 0))))
      end
    end
    return worst, force, sol, angle
  end

  it("of a pendulum of index 2 and 3 by its start and args are those of its angle", function()
    local start, ts = { math.asin(0.8), 0.5 }, { 0, 0.3, 1, 2 }
    local worst, force, sol = off_angle(2, "radau", start, ts, { rtol = 1e-8 })
    assert.is_true(worst < 1e-9 and force < 1e-6, worst .. " " .. force)
    assert.same({ "y0[1]", "y0[2]", "y0[3]", "y0[4]", "args[1]", "args[2]", "args[3]" }, sol.sensitivities)
    worst, force, sol = off_angle(3, "radau", start, ts, { rtol = 1e-8 })
    assert.is_true(worst < 1e-6 and force < 2e-3, worst .. " " .. force)
    -- a change of x alone is made consistent: x stays on the circle, and so does S
    for k = 1, #ts do
      local y, S = sol.values.y[k], sol.S[k]
      for j = 1, 4 do assert.near(0, y[1] * S[1][j] + y[2] * S[2][j], 1e-6) end
    end
    if not pcall(require, "nslua.sundials") then return end
    worst = off_angle(3, "ida", start, { 0, 0.3, 1 }, { rtol = 1e-8 })
    assert.is_true(worst < 1e-4, tostring(worst))
    local e = math.exp(-0.5 / (2 * 0.5))
    local charged = ns.dae("ida", circuit, { rtol = 1e-9, atol = 1e-11, args = { 2, 0.5, 3 }, consistent = "solve",
      sensitivities = { "y0", "args" } }):solve({ 0, 0.2, 0.5 }, { 1, 0 }, { 0, 0 })
    assert.near(e, charged.S[3][1][1], 1e-6)
    assert.near(1 - e, charged.S[3][1][4], 1e-6)
  end)

  it("go through impacts of a pendulum of index 2 and 3", function()
    local start, ts = { math.asin(0.8), 0.5 }, { 0, 0.3, 1, 2 }
    for index, limit in pairs { [2] = 1e-8, [3] = 1e-4 } do
      local worst, _, sol, angle = off_angle(index, "radau", start, ts, { rtol = 1e-8, wall = true })
      assert.is_true(worst < limit, worst)
      assert.equal(#angle.t_events[1], #sol.t_events[1])
      for k = 1, #angle.t_events[1] do
        for j = 1, 3 do assert.near(angle.dt_events[1][k][2 + j], sol.dt_events[1][k][4 + j], limit) end
      end
    end
  end)

  it("of a damped pendulum that starts at the side, at rest", function()
    local worst = off_angle(3, "radau", { math.pi / 2, 0 }, { 0, 0.5 }, { rtol = 1e-8 })
    assert.is_true(worst < 1e-6, tostring(worst))
  end)

  it("are the same whether the residual can be traced or not", function()
    local function branched(t, y, yd, R, C, E, r)
      if y[1] < -100 then r[1] = 0 end -- a comparison can not be traced
      circuit(t, y, yd, R, C, E, r)
    end
    local load = 1 -- changed by an event: a residual that is traced must be traced no more
    local function loaded(t, y, yd, R, C, E, r)
      r[1], r[2] = C * yd[1] - y[2], load * R * y[2] + y[1] - E
    end
    local function run(residual, events)
      load = 1
      return ns.dae("radau", residual, { rtol = 1e-10, atol = 1e-12, args = { 2, 0.5, 3 }, consistent = "solve", events = events,
        sensitivities = { "y0", "args" } }):solve({ 0, 0.5, 2.5 }, { 1, 0 }, { 0, 0 })
    end
    local sol = run(circuit)
    for _, residual in ipairs { branched, ns.compile(circuit) } do
      assert.is_true((run(residual).S[3] - sol.S[3]):norm() < 1e-10)
    end
    -- with the load doubled at t1, where u = 1.5: u = 3 - 1.5 exp(-(t - t1) / (2 R C))
    local S = run(loaded, { g = function(t, y) return y[1] - 1.5 end, apply = function() load = 2 end }).S
    local D = ns.jacobian(function(p)
      local t1 = p[2] * p[3] * math.log((p[4] - p[1]) / (p[4] - 1.5))
      return { p[4] - (p[4] - 1.5) * math.exp(-(2.5 - t1) / (2 * p[2] * p[3])) }
    end, P)
    for j = 1, 4 do assert.near(D[1][j], S[#S][1][j], 1e-8) end
  end)

  -- Robertson's reactions. In the first steps of IDA, of 1e-27, the third concentration is the rounding of the others.
  it("by a rate that has no effect at the start, below the rounding of the unknowns", function()
    local ida = pcall(require, "nslua.sundials")
    local function reactions(_, y, yd, k1, k2, k3)
      local back, on = k2 * y[2] * y[3], k3 * y[2] ^ 2
      return { back - k1 * y[1] - yd[1], k1 * y[1] - back - on - yd[2], y[1] + y[2] + y[3] - 1 }
    end
    local function slopes(kind, unit)
      local sol = ns.dae(kind, reactions, { args = { 0.04 / unit, 1e4 / unit, 3e7 / unit }, sensitivities = "args", rtol = 1e-7,
        atol = { 1e-9, 1e-13, 1e-9 } }):solve({ 0, 40 * unit }, { 1, 0, 0 }, { -0.04 / unit, 0.04 / unit, 0 })
      return sol.S[2]
    end
    local S = slopes("radau", 1)
    assert.is_true(math.abs(S[1][1] + 4.2475) < 1e-3 and math.abs(S[1][2] - 1.37308e-5) < 1e-9)
    if not ida then return end
    local other, scaled = slopes("ida", 1), slopes("ida", 1024)
    for i = 1, 3 do
      for j = 1, 3 do
        assert.is_true(math.abs(other[i][j] / S[i][j] - 1) < 2e-5)
        assert.is_true(math.abs(1024 * other[i][j] / scaled[i][j] - 1) < 1e-9) -- IDA itself rounds in other units
      end
    end
  end)

  it("do not depend on units", function()
    local sol = charge(P, { rtol = 1e-6, atol = { 2.0 ^ -40, 2.0 ^ -40 }, sensitivities = { "y0", "args" } })
    local U, I = 2.0 ^ 20, 2.0 ^ -30 -- units of voltage and current
    local other = ns.dae("radau", circuit, { rtol = 1e-6, atol = { 2.0 ^ -40 * U, 2.0 ^ -40 * I },
      args = { P[2] * U / I, P[3] * I / U, P[4] * U }, consistent = "solve", sensitivities = { "y0", "args" } })
      :solve({ 0, 0.5, 2.5 }, { P[1] * U, 0 }, { 0, 0 })
    local rows, columns = { U, I }, { U, U / I, I / U, U }
    for k = 1, 3 do
      for i = 1, 2 do
        for j = 1, 4 do
          local expected = sol.S[k][i][j]
          local value = other.S[k][i][j] * columns[j] / rows[i]
          assert.is_true(math.abs(value - expected) <= 1e-13 * (1 + math.abs(expected)))
        end
      end
    end
  end)

  it("of a system are those by its start", function()
    local ds = ns.FirstOrderLinearTIDS({ 1, 2 }, { { -1, 0 }, { 1, -1 } })
    local sol = ns.dae("radau", ds, { rtol = 1e-9, atol = 1e-11, sensitivities = "y0" }):solve { 0, 1 }
    local e = math.exp(-1)
    assert.is_true((sol.S[2] - ns.matrix { { e, 0 }, { e, e } }):norm() < 1e-9)
  end)

  it("take vectors and lists as arguments", function()
    local function two(t, y, yd, a, b, r) r[1], r[2] = yd[1] + a[1] * y[1], y[2] - a[2] * y[1] - b[1] end
    local sol = ns.dae("radau", two, { rtol = 1e-10, atol = 1e-12, args = { ns.vector { 1, 3 }, { 5 } },
      consistent = "solve", sensitivities = { "args[1]", "args[2][1]" } }):solve({ 0, 1 }, { 1, 0 })
    assert.same({ "args[1][1]", "args[1][2]", "args[2][1]" }, sol.sensitivities)
    local e = math.exp(-1)
    assert.is_true((sol.S[2] - ns.matrix { { -e, 0, 0 }, { -3 * e, e, 1 } }):norm() < 1e-9)
  end)

  it("are refused where there is no derivative", function()
    local function tell(text, events)
      fails("dae: sensitivities: " .. text, charge, P, { events = events, sensitivities = "args" })
    end
    local function wall(name, level) return reset { name = name, g = function(t, y) return y[1] - level end } end
    tell("event 1 (a) and event 2 (b) happen at the same time (t=0.6931471806): there is no derivative",
      { wall("a", 2), wall("b", 2) })
    tell("event 1 (a) happens at the start (t=0): there is no derivative", { wall("a", 1) })
    fails("dae: sensitivities: the solution only touches event 1 (ceiling) (t=1): there is no derivative", throw,
      { name = "ceiling", g = ceiling, apply = function(t, y) return { y[1], 0 } end })
    local gain = 1
    fails("dae: sensitivities: event 1: each call of apply changes the residual (t=0.6931471806): it is called twice, so it "
      .. "may set a variable, but not toggle or count", function()
      ns.dae("radau", function(t, y, yd, r) r[1] = yd[1] + gain * (y[1] - 3) end, { consistent = "solve", rtol = 1e-11,
        sensitivities = "y0", events = { g = function(t, y) return y[1] - 2 end, apply = function() gain = gain + 1 end } })
        :solve({ 0, 1 }, { 1 })
    end)
    tell("event 1 (d): g depends on the derivative of unknown 2, whose rate the equations do not give",
      { { name = "d", g = function(t, y, yd) return y[1] - 2 + 1e-6 * yd[2] end } })
  end)

  it("of an event that is only touched have nan for its time", function()
    local sol = throw { g = ceiling }
    assert.is_true(#sol.t_events[1] > 0)
    for k = 1, #sol.t_events[1] do assert.is_true(sol.dt_events[1][k][1] ~= sol.dt_events[1][k][1]) end
  end)

  it("tell bad options and what they do not do", function()
    local function tell(text, option) fails("dae: sensitivities: " .. text, charge, P, { sensitivities = option }) end
    tell("expected a name or a list of names ('y0', 'y0[i]', 'args', 'args[i]' or 'args[i][k]'), got number", 3)
    tell("[1]: expected a name ('y0', 'y0[i]', 'args', 'args[i]' or 'args[i][k]'), got number", { 3 })
    tell("expected 'y0', 'y0[i]', 'args', 'args[i]' or 'args[i][k]', got 'R'", "R")
    tell("expected at least one parameter ('y0', 'y0[i]', 'args', 'args[i]' or 'args[i][k]')", {})
    tell("y0[2]: unknown 2 is algebraic: the others determine it", "y0[2]")
    tell("y0[3]: there are 2 unknowns", "y0[3]")
    tell("args[4]: there are 3 args", "args[4]")
    tell("args[1][2]: the argument has 1 numbers", "args[1][2]")
    tell("args[1] is listed twice", { "args", "args[1]" })
    tell("unknown option 'tol' (known: rtol)", { "args", tol = 1 })
    tell("rtol: expected a number between 0 and 1, got 2", { "args", rtol = 2 })
    fails("dae: sensitivities: args[1]: the argument has no numbers", function()
      ns.dae("radau", function(t, y, yd, a, r) r[1] = yd[1] end, { args = { "a" }, sensitivities = "args[1]" })
        :solve({ 0, 1 }, { 1 }, { 0 })
    end)
    fails("dae: args: expected a list, got number", ns.dae, "radau", circuit, { args = 3 })
    local ds = ns.FirstOrderLinearTIDS({ 1 }, { { -1 } })
    fails("dae: args: a dynamical system has none", ns.dae, "radau", ds, { args = { 1 } })
    local dae = ns.dae("radau", ds, { sensitivities = "y0", events = function(t, y) return y[1] - 0.5 end })
    fails("dae: sensitivities: of a system, without events only", dae.solve, dae, { 0, 1 })
  end)

  it("of higher index tell their limits", function()
    local function pendulum(last, option, events)
      return function()
        ns.dae("radau", function(t, y, yd, g, r)
          r[1], r[2] = yd[1] - y[3], yd[2] - y[4]
          r[3], r[4] = yd[3] + y[5] * y[1], yd[4] + y[5] * y[2] + g
          r[5] = last(y)
        end, { args = { 9.81 }, consistent = "solve", sensitivities = option, events = events })
          :solve({ 0, 1 }, { 0.8, -0.6, 0, 0, 0 })
      end
    end
    local function along(y) return y[1] * y[3] + y[2] * y[4] end
    fails("dae: sensitivities: event 1 (rod): g depends on unknown 5, whose rate the equations do not give",
      pendulum(along, "args", { name = "rod", g = function(t, y) return y[5] - 9.81 end }))
  end)
end)

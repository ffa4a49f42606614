-- dh/dt of a relation whose world moves: by dual numbers in time, and by differences where h takes none.
local ns = require "nslua"
local internal = require "nslua.internal"

local pi, sin, cos = math.pi, math.sin, math.cos

-- A number that holds no duals: h by it is differentiated by differences.
local function held(t)
  local plain = ns.zeros(1)
  plain[1] = t
  return plain[1]
end

-- A particle over a floor at height floor(t - t0), in a window [t0, t0 + length] with steps of h: the relation, linked, and
-- its simulation. kind: "contact" (a NewtonEuler1DR) or "rheonomous".
local function over_floor(kind, floor, t0, length, h, q0, v0)
  local function height(t) return floor(t - t0) end
  local ds, relation
  if kind == "contact" then
    ds = ns.LagrangianDS({ 0, 0, q0 }, { 0, 0, v0 or 0 }, ns.eye(3))
    local Floor = ns.class(ns.NewtonEuler1DR, "floor")
    function Floor:computeh(t, q, y)
      local z = height(t)
      self:setpc1 { q[1], q[2], q[3] }
      self:setpc2 { q[1], q[2], z }
      self:setnc { 0, 0, 1 }
      y[1] = q[3] - z
    end
    relation = Floor()
  else
    ds = ns.LagrangianDS({ q0 }, { v0 or 0 }, { { 1 } })
    relation = ns.LagrangianRheonomousR { h = function(t, q, _, y) y[1] = q[1] - height(t) end,
      Jachq = function(_, _, _, C) C[1][1] = 1 end }
  end
  local nsds = ns.NonSmoothDynamicalSystem(t0, t0 + length)
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(ns.NewtonImpactNSL(0.5), relation), ds)
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(t0, h), ns.MoreauJeanOSI(0.5))
  return relation, simu, ds
end

local function rate(relation, t, q)
  local zeros = {}
  for i = 1, #q do zeros[i] = 0 end
  return internal.relation_rate(relation, t, q, zeros)[1]
end

-- A floor that moves at 2 Hz with an amplitude of 1 mm; `second` is the length of a second in the model's unit of time.
local function shaker(second, by_differences)
  local w = 2 * pi * 2 / second
  return function(t)
    local s = by_differences and held(t) or t
    return 1e-3 * sin(w * s)
  end, function(t) return 1e-3 * w * cos(w * t) end
end

describe("the rate of a world that moves", function()
  it("is exact by dual numbers in time, of contact frames too, at any time and in any unit of time", function()
    for _, kind in ipairs { "contact", "rheonomous" } do
      for _, second in ipairs { 1, 1000, 1e6, 1e-3 } do
        local floor, speed = shaker(second)
        for _, t0 in ipairs { 0, 1000, 1e6 } do
          local start = t0 * second
          local relation = over_floor(kind, floor, start, second, 1e-3 * second, 1)
          for _, part in ipairs { 0, 0.1, 0.25, 0.7, 1 } do
            local t = start + part * second
            local got = rate(relation, t, kind == "contact" and { 0, 0, 1 } or { 1 })
          assert.is_true(math.abs(got + speed(t - start)) <= 2e-15 * speed(0))
          end
        end
      end
    end
  end)

  it("leaves the frame of a contact that of the plain evaluation", function()
    local relation = over_floor("contact", shaker(1), 0, 1, 1e-3, 1)
    rate(relation, 0.1, { 3, 4, 1 })
    assert.same({ 3, 4, 1 }, relation:pc1():totable())
    assert.same({ 3, 4, 1e-3 * sin(2 * pi * 2 * 0.1) }, relation:pc2():totable())
  end)

  it("gives an impact the floor's velocity, at any time and in milliseconds #once", function()
    local finals = {}
    for _, kind in ipairs { "contact", "rheonomous" } do
      for _, by_differences in ipairs { false, true } do
        for _, second in ipairs { 1, 1000 } do
          for _, t0 in ipairs { 0, 100, 1000, 1e6 } do
            local floor = shaker(second, by_differences)
            local _, simu, ds = over_floor(kind, floor, t0 * second, 0.06 * second, 1e-3 * second, 0.05, -1 / second)
            simu:run()
            local v = ds:velocity()
            finals[#finals + 1] = v[#v] * second
          end
        end
      end
    end
    local floor_at = { 0.05, 0.051 }
    local w = 4 * pi
    for i, v in ipairs(finals) do
      -- v+ = s + e (s - v-) with the floor's speed s in the step of the impact
      local least, most = math.huge, -math.huge
      for _, t in ipairs { floor_at[1] - 3e-3, floor_at[2] + 3e-3 } do
        local s = 1e-3 * w * cos(w * t)
        least, most = math.min(least, s + 0.5 * (s + 1)), math.max(most, s + 0.5 * (s + 1))
      end
      assert.is_true(v > least and v < most, ("%d: %.17g in [%g, %g]"):format(i, v, least, most))
    end
    for i = 2, #finals do -- times of 1e6 s have 1e-10 s of rounding in them
      assert.is_true(math.abs(finals[i] - finals[1]) < 2e-8, ("%d: %.17g, not %.17g"):format(i, finals[i], finals[1]))
    end
  end)

  it("is the same bits when time is scaled by a power of two #once", function()
    for _, by_differences in ipairs { false, true } do
      for _, kind in ipairs { "contact", "rheonomous" } do
        local want
        for _, exponent in ipairs { 0, -40, 3, 30 } do
          local unit = 2.0 ^ exponent
          local floor = shaker(unit, by_differences)
          local start = 0.25 * unit
          local relation, simu, ds = over_floor(kind, floor, start, unit, 2.0 ^ -8 * unit, 0.05, -0.25 / unit)
          local got = {}
          for i, part in ipairs { 0, 0.1, 0.75, 1 } do
            got[i] = rate(relation, start + part * unit, kind == "contact" and { 0, 0, 1 } or { 1 }) * unit
          end
          simu:run()
          for _, x in ipairs(ds:q():totable()) do got[#got + 1] = x end
          for _, v in ipairs(ds:velocity():totable()) do got[#got + 1] = v * unit end
          want = want or got
          assert.same(want, got)
        end
      end
    end
  end)
end)

describe("differences in time", function()
  -- The rate of value(t - t0), by differences, in a window of n steps of h; and the times that were asked for.
  local function difference(value, t, t0, h, n)
    local asked = {}
    local relation, simu = over_floor("rheonomous", function(s)
      asked[#asked + 1] = held(s)
      return value(asked[#asked])
    end, t0, n * h, h, 0)
    pcall(simu.computeOneStep, simu)
    asked = {}
    return -rate(relation, t, { 0 }), asked
  end

  it("never leave the window, and are good at its ends", function()
    for _, t0 in ipairs { 0, -3, 1e5 } do
      for _, h in ipairs { 1e-3, 0.1, 8 } do
        for _, n in ipairs { 1, 2, 50 } do
          local w = 1 / (3 * h)
          for _, part in ipairs { 0, 1e-9, 0.01, 0.4, 0.5, 0.99, 1 } do
            local s = part * n * h
            local got, asked = difference(function(u) return sin(w * u) end, t0 + s, t0, h, n)
            assert.is_true(#asked >= 8 and #asked <= 30)
            for _, u in ipairs(asked) do assert.is_true(u >= 0 and t0 + u <= t0 + n * h, u) end
            local tolerance = 1e-10 + 100 * 2 ^ -52 * math.abs(t0) / h -- the function's own argument is rounded
            assert.is_true(math.abs(got / (w * cos(w * s)) - 1) < tolerance, ("t0 = %g, h = %g, n = %d, %g: %.17g"):format(t0, h,
              n, part, got / (w * cos(w * s)) - 1))
          end
        end
      end
    end
  end)

  it("are exactly 0 of what does not change, with few values", function()
    local got, asked = difference(function() return 0.1 end, 0.5, 0, 1e-3, 1000)
    assert.equal(0, got)
    assert.equal(9, #asked) -- one of them when dual numbers were tried
  end)

  it("find motion that is much faster than the grid, whatever their ratio", function()
    local worst = 0
    for i = 1, 60 do
      local period = 2 ^ (-i / 10) * 0.7 -- down to a sixtieth of a step
      for _, P in ipairs { period, 1 / math.floor(1 / period + 0.5) } do
        local w = 2 * pi / P
        local got = difference(function(u) return 1e-3 * sin(w * u) end, 2, 0, 1, 4)
        worst = math.max(worst, math.abs(got - 1e-3 * w * cos(2 * w)) / (1e-3 * w))
      end
    end
    assert.is_true(worst < 1e-7, worst)
  end)

  it("judge each value by itself, in whatever unit it is", function()
    local ds = ns.LagrangianDS({ 0, 0 }, { 0, 0 }, ns.eye(2))
    local relation = ns.LagrangianRheonomousR {
      h = function(t, q, _, y)
        local s = held(t)
        y[1], y[2] = q[1] + 1e10 * sin(3 * s), q[2] + 1e-12 * sin(200 * s)
      end,
      Jachq = function(_, _, _, C) C[1][1], C[2][2] = 1, 1 end }
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    nsds:link(ns.Interaction(ns.EqualityConditionNSL(2), relation), ds)
    local got = internal.relation_rate(relation, 0.3, { 0, 0 }, { 0, 0 })
    assert.is_true(math.abs(got[1] / (3e10 * cos(0.9)) - 1) < 1e-11)
    assert.is_true(math.abs(got[2] / (200e-12 * cos(60)) - 1) < 1e-11)
  end)

  it("pass on what h raises", function()
    local relation = over_floor("rheonomous", function(s)
      if held(s) > 0.2 then error("no floor", 0) end
      return 0
    end, 0, 1, 1, 0)
    local good, err = pcall(rate, relation, 0.2, { 0 })
    assert.is_false(good)
    assert.matches("no floor", tostring(err))
  end)
end)

-- The units of unknowns, equations and time do not matter to ns.dae: random pendulums of index 2 and 3, some of which start at the
-- side, at the top or at rest, where values are 0 but for rounding, are solved as they are and with every unknown, every
-- equation and the time scaled by a power of two. More in a long run (see campaign.lua).
local ns = require "nslua"
local random = math.random
local COUNT = require "campaign"(40, 0.2)

local function power() return 2.0 ^ random(-30, 30) end

-- A rod of length L with the mass m at its end and a damper c, at the angle a with the rate w.
local function random_pendulum()
  local sides = { 0, math.pi / 2, -math.pi / 2, math.pi }
  return { m = 0.5 + random(), g = 5 + 10 * random(), L = 0.5 + random(), c = random() < 0.3 and 0 or 0.3 * random(),
    a = random() < 0.3 and sides[random(4)] or (random() * 2 - 1) * 3, w = random() < 0.3 and 0 or (random() * 2 - 1) * 3 }
end

local function start_of(p)
  local s, c = math.sin(p.a), math.cos(p.a)
  return { p.L * s, -p.L * c, p.L * c * p.w, p.L * s * p.w, 0 }
end

-- Its equations with z = y u, multiplied by r; time runs `rate` times as fast.
local function equations(p, index, u, r, rate)
  return function(_, z, zd, g, c)
    local y, yd = {}, {}
    for i = 1, 5 do y[i], yd[i] = z[i] / u[i], zd[i] / u[i] * rate end
    return { (yd[1] - y[3]) * r[1], (yd[2] - y[4]) * r[2], (p.m * yd[3] + y[5] * y[1] + c * y[3]) * r[3],
      (p.m * yd[4] + y[5] * y[2] + p.m * g + c * y[4]) * r[4],
      (index == 3 and y[1] ^ 2 + y[2] ^ 2 - p.L ^ 2 or y[1] * y[3] + y[2] * y[4]) * r[5] }
  end
end

local function scaled(list, u)
  local out = {}
  for i = 1, #list do out[i] = list[i] * u[i] end
  return out
end

local function units()
  local list = {}
  for i = 1, 5 do list[i] = power() end
  return list
end

local ONE = { 1, 1, 1, 1, 1 }

local function solve(p, index, u, r, sensitivities)
  local ok, sol = pcall(function()
    return ns.dae("radau", equations(p, index, u, r, 1), { rtol = 1e-8, atol = scaled({ 1e-10, 1e-10, 1e-10, 1e-10, 1e-10 }, u),
      args = { p.g, p.c }, consistent = "solve", sensitivities = sensitivities }):solve({ 0, 0.5 }, scaled(start_of(p), u))
  end)
  return ok and sol.success and sol or nil
end

-- Consistent values and derivatives at the start: the force y[5] keeps the rod's length.
local function consistent_start(p)
  local y = start_of(p)
  y[5] = p.m * (p.w ^ 2 - p.g * y[2] / p.L ^ 2)
  return y, { y[3], y[4], -(y[5] * y[1] + p.c * y[3]) / p.m, -(y[5] * y[2] + p.c * y[4]) / p.m - p.g, 0 }
end

-- A run from there, of 0.5, with the time in units of 1 / rate.
local function consistent_run(p, index, u, r, rate)
  local y, yd = consistent_start(p)
  for i = 1, 5 do yd[i] = yd[i] * u[i] / rate end
  return ns.dae("radau", equations(p, index, u, r, rate), { rtol = 1e-8, atol = scaled({ 1e-10, 1e-10, 1e-10, 1e-10, 1e-10 }, u),
    args = { p.g, p.c } }):solve({ 0, 0.25 * rate, 0.5 * rate }, scaled(y, u), yd)
end

describe("units of unknowns and equations do not matter to ns.dae", function()
  it("of index 2 and 3: the same answers", function()
    math.randomseed(5)
    for index = 2, 3 do
      local limit, solved = index == 2 and 1e-6 or 1e-5, 0
      for case = 1, COUNT do
        local p, u = random_pendulum(), units()
        local plain, other = solve(p, index, ONE, ONE), solve(p, index, u, units())
        local exact = ns.solve_ivp(function(_, y) return { y[2], -p.c / p.m * y[2] - p.g / p.L * math.sin(y[1]) } end, { 0, 0.5 },
          { p.a, p.w }, { method = "DOP853", rtol = 1e-12, atol = 1e-14 })
        local a, w = exact.y[1][#exact.t], exact.y[2][#exact.t]
        local place = start_of { L = p.L, a = a, w = w }
        for _, run in ipairs { { plain, ONE }, { other, u } } do
          if run[1] then
            solved = solved + 1
            for i = 1, 4 do assert.near(place[i], run[1].values.y[2][i] / run[2][i], limit, index .. " " .. case) end
          end
        end
        if plain and other then
          -- Index 3: the rounding of y goes into velocities as 1 / h; with kernels of BLAS without fused multiply-add
          -- the worst of them is 1.1e-6.
          local same = index == 2 and 1e-8 or 3e-6 -- but for the force, into which the rounding of y goes as 1 / h and 1 / h^2
          for i = 1, 5 do
            local off = math.abs(plain.values.y[2][i] - other.values.y[2][i] / u[i]) / (1 + math.abs(plain.values.y[2][i]))
            assert.is_true(off < (i < 5 and same or 1e3 * same), index .. " " .. case .. " " .. i .. " " .. off)
          end
        end
      end
      assert.is_true(solved >= 0.97 * 2 * COUNT, index .. ": " .. solved .. " of " .. 2 * COUNT)
    end
  end)

  it("of index 2 and 3: the same derivatives by initial values, on the constraint and on its rate", function()
    math.randomseed(8)
    for index = 2, 3 do
      local solved = 0
      for case = 1, COUNT / 2 do
        local p, u = random_pendulum(), units()
        p.a, p.w = (random() * 2 - 1) * 2, case % 3 == 0 and 0 or (random() * 2 - 1) * 3
        local plain, other = solve(p, index, ONE, ONE, { "y0" }), solve(p, index, u, units(), { "y0" })
        if plain and other then
          solved = solved + 1
          local A, B = plain.S[1], other.S[1]
          local x, y, vx, vy = table.unpack(start_of(p))
          for j = 1, 4 do
            for i = 1, 4 do
              assert.near(A[i][j], B[i][j] * u[j] / u[i], 1e-5 * (1 + math.abs(A[i][j])), index .. " " .. case)
            end
            local size = math.abs(A[1][j]) + math.abs(A[2][j]) + math.abs(A[3][j]) + math.abs(A[4][j])
            local rate = x * A[3][j] + vx * A[1][j] + y * A[4][j] + vy * A[2][j]
            assert.near(0, rate, 1e-5 * size, index .. " " .. case)
            if index == 3 then assert.near(0, x * A[1][j] + y * A[2][j], 1e-5 * size, index .. " " .. case) end
          end
        end
      end
      assert.is_true(solved >= 0.9 * (COUNT // 2), index .. ": " .. solved)
    end
  end)

  it("nor do those of the time, to the last bit from a consistent start", function()
    math.randomseed(9)
    for case = 1, COUNT do
      local p, u, index = random_pendulum(), units(), 2 + case % 2
      local plain, rate = consistent_run(p, index, ONE, ONE, 1), power()
      local other = consistent_run(p, index, u, units(), rate)
      assert.is_true(plain.success, index .. " " .. case .. ": " .. plain.message)
      assert.equal(plain.stats.steps, other.stats.steps)
      for k = 1, 3 do
        for i = 1, 5 do assert.equal(plain.values.y[k][i], other.values.y[k][i] / u[i]) end
      end
    end
  end)

  it("a pendulum near its top, with one motion that grows and one that decays at nearly the rate of the index's matrix", function()
    for index = 2, 3 do
      local p = index == 2 and { m = 0.8072607190956, g = 7.1804765038658, L = 1.46065359856, c = 0, a = 2.5579674339003,
        w = -1.3529236208194 } or { m = 1.3607427468483, g = 12.349782567814, L = 1.4603806966325, c = 0,
        a = 2.4015744294696, w = 0 }
      local sol = consistent_run(p, index, ONE, ONE, 1)
      assert.is_true(sol.success, sol.message)
    end
  end)

  it("nor do those of the time to the index", function()
    math.randomseed(7)
    for case = 1, COUNT do
      local p, u, rate, index = random_pendulum(), units(), power(), 2 + case % 2
      p.a, p.w = 0.3 + random(), 1 + random() -- the sizes of values that are 0 come from atol, which diagnose does not have
      local d = ns.diagnose { residual = function(t, y, yd) return equations(p, index, u, ONE, rate)(t, y, yd, p.g, p.c) end,
        y = scaled(start_of(p), u) }
      assert.equal(index, d.index)
      assert.same(index == 3 and { 1, 1, 2, 2, 3 } or { 1, 1, 1, 1, 2 }, d.unknowns)
    end
  end)
end)

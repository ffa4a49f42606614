-- Pole placement.
local ns = require "nslua"
local expect = require "expect"
local matrices = require "linalg.matrices"

local fails, random = expect.fails, matrices.random
local control = ns.control

-- The largest distance of a pole of A from its nearest own one in the list, relative to the largest modulus.
local function distance(A, poles)
  local got, worst, size = control.poles { A = A }, 0, 0
  for _, p in ipairs(poles) do
    local re, im = type(p) == "number" and p or p[1], type(p) == "number" and 0 or p[2]
    local least, at = math.huge, nil
    for k, g in ipairs(got) do
      local d = math.sqrt((g.re - re) ^ 2 + (g.im - im) ^ 2)
      if d < least then least, at = d, k end
    end
    table.remove(got, at)
    worst, size = math.max(worst, least), math.max(size, math.sqrt(re * re + im * im))
  end
  return worst / size
end

local function some_poles(n)
  local poles = {}
  while #poles < n do
    if n - #poles >= 2 and math.random() < 0.5 then
      local re, im = -0.2 - 3 * math.random(), 0.1 + 3 * math.random()
      poles[#poles + 1] = { re, im }
      poles[#poles + 1] = { re, -im }
    else
      poles[#poles + 1] = -0.2 - 3 * math.random()
    end
  end
  return poles
end

describe("pole placement", function()
  setup(function() math.randomseed(9) end)
  local count, told = require "campaign"(40, 0.02)

  it("gives random systems their poles", function()
    for _ = 1, count do
      local n = math.random(1, 10)
      local m = math.random((n + 3) // 4, n)
      local A, B, poles = random(n, n), random(n, m), some_poles(n)
      assert.is_true(distance(A - B * control.place(A, B, poles), poles) < 1e-6)
    end
    told("placed systems", count)
  end)

  it("gives systems with up to 50 states their poles to rounding", function()
    for _, n in ipairs { 20, 35, 50 } do
      for _, m in ipairs { n // 4, n // 2, n } do
        local A, B, poles = random(n, n), random(n, m), some_poles(n)
        assert.is_true(distance(A - B * control.place(A, B, poles), poles) < 1e-11)
      end
    end
  end)

  -- With few inputs the poles are sensitive: how far they are off is told, and what rounding K alone would do.
  it("gives systems with few inputs their poles as well as rounding of the gain lets it", function()
    for _, size in ipairs { { 10, 2, 1e-9 }, { 16, 2, 1e-6 }, { 20, 3, 1e-7 } } do
      local ratios = {}
      for k = 1, 11 do
        local A, B, poles = random(size[1], size[1]), random(size[1], size[2]), some_poles(size[1])
        local K, info = control.place(A, B, poles)
        assert.is_true(distance(A - B * K, poles) < 10 * math.max(info.error, info.rounding, 1e-15))
        ratios[k] = info.error / math.max(info.rounding, size[3])
        assert.equal(size[1], #info.poles)
      end
      table.sort(ratios)
      assert.is_true(ratios[6] < 10, ("%d: %g"):format(size[1], ratios[6]))
    end
    local hopeless = { A = random(30, 30), B = random(30, 1) }
    fails("for 30 states and 1 inputs they are too sensitive: ask for others, or for more inputs, or use control.lqr",
      control.place, hopeless, some_poles(30))
    local _, exact = control.place({ { 0, 1 }, { 0, 0 } }, { 0, 1 }, { -1, -2 })
    assert.is_true(exact.error < 1e-15 and exact.rounding < 1e-14)
  end)

  it("has the gain of Ackermann's formula for one input", function()
    local A, B, poles = random(4, 4), random(4, 1), { -1, -2, { -1, 1 }, { -1, -1 } }
    local P = (A + ns.eye(4)) * (A + 2 * ns.eye(4)) * (A * A + 2 * A + 2 * ns.eye(4))
    local want = ns.matrix { { 0, 0, 0, 1 } } * ns.solve(control.ctrb(A, B), P)
    assert.is_true((control.acker(A, B, poles) - want):norm() < 1e-9 * want:norm())
    fails("control.acker: B: expected one column, got 2; use control.place", control.acker, ns.eye(2), ns.eye(2), { -1, -2 })
  end)

  it("has closed forms, where the gain is unique", function()
    expect.near_matrix({ { 2, 3 } }, (control.place({ { 0, 1 }, { 0, 0 } }, { 0, 1 }, { -1, -2 })))
    expect.near_matrix({ { 2, 2 } }, (control.place({ { 0, 1 }, { 0, 0 } }, { 0, 1 }, { { re = -1, im = 1 }, { -1, -1 } })))
  end)

  it("places triple poles, and poles where they are", function()
    local A, B = random(3, 3), random(3, 1)
    assert.is_true(distance(A - B * control.place(A, B, { -1, -1, -1 }), { -1, -1, -1 }) < 1e-3)
    local K = control.place({ { -1, 0 }, { 0, -2 } }, ns.eye(2), { -1, -2 })
    assert.is_true(K:norm() < 1e-14)
  end)

  it("refuses", function()
    fails("control.place: a mode near 2 is not controllable: no gain moves it", control.place,
      { { 1, 0, 0 }, { 0, 2, 0 }, { 0, 0, 2 } }, { { 1 }, { 1 }, { 1 } }, { -1, -2, -3 })
    fails("control.place: poles: -1 + 1i comes without its conjugate", control.place, ns.eye(2), ns.eye(2), { { -1, 1 }, -2 })
    fails("control.place: poles: -1 - 1i comes without its conjugate", control.place, ns.eye(2), ns.eye(2), { { -1, -1 }, -2 })
    fails("control.place: poles: expected a list of 2, one for each state, got one of 1", control.place, ns.eye(2), ns.eye(2),
      { -1 })
    fails("control.place: poles[1]: expected a number or { re, im }, got 'a'", control.place, { { 1 } }, { { 1 } }, { "a" })
  end)
end)

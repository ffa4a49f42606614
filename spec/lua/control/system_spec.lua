-- Linear systems: what is one, sampling, structure.
local ns = require "nslua"
local expect = require "expect"
local matrices = require "linalg.matrices"

local fails, random = expect.fails, matrices.random
local control = ns.control

describe("a linear system", function()
  setup(function() math.randomseed(10) end)

  it("has shapes and defaults", function()
    local sys = control.ss({ { 0, 1 }, { -1, 0 } }, { 0, 1 }, { 1, 0 })
    assert.are.same({ 2, 1 }, { sys.B:shape() })
    assert.are.same({ 1, 2 }, { sys.C:shape() })
    assert.are.equal("linear system with 2 states, 1 inputs, 1 outputs, continuous", tostring(sys))
    sys = control.ss { A = { { 2 } }, dt = 0.5 }
    assert.are.equal("linear system with 1 states, 0 inputs, 1 outputs, period 0.5", tostring(sys))
    assert.are.equal(2, control.poles({ { { 2 } }, { { 1 } } })[1].re)
    fails("expected a linear system", control.poles, 3)
    fails("control.ss: A: expected a square matrix, got 1 x 2", control.ss, { { 1, 2 } })
    fails("control.ss: B: expected a matrix of 1 rows and any columns, got 2 x 1", control.ss, { { 1 } }, { { 1 }, { 1 } })
    fails("control.ss: dt: expected a period above 0, got -1", control.ss, { { 1 } }, nil, nil, nil, -1)
    fails("control.c2d: system: unknown field 'Ts' (known: A, B, C, D, dt)", control.c2d, { A = { { 1 } }, Ts = 1 }, 1)
    fails("control.ss: A[1][1] is nan", control.ss, { { 0 / 0 } })
  end)

  it("is sampled with held inputs exactly", function()
    for n = 1, 9, 2 do
      local A, B = random(n, n), random(n, 2)
      local d = control.c2d(control.ss(A, B), 0.3)
      expect.near_matrix(ns.expm(0.3 * A), d.A, 1e-14 * n)
      expect.near_matrix(ns.solve(A, (d.A - ns.eye(n)) * B), d.B, 1e-12)
      assert.are.equal(0.3, d.dt)
    end
  end)

  it("is sampled by rules that map the plane: s = 2 (z - 1) / (h (z + 1))", function()
    local sys, h, w = control.ss({ { 0, 1 }, { -2, -1 } }, { 0, 1 }, { 1, 3 }, 0.5), 0.1, 2.5
    local gain, phase = control.frequency_response(control.c2d(sys, h, "tustin"), { w })
    local want, angle = control.frequency_response(sys, { 2 / h * math.tan(w * h / 2) })
    expect.near(want, gain)
    expect.near(angle, phase)
    local d = control.c2d(sys, h, "euler")
    expect.near_matrix(ns.eye(2) + h * sys.A, d.A)
    d = control.c2d(sys, h, "backward_diff")
    expect.near_matrix((ns.eye(2) - h * sys.A):inv(), d.A)
    expect.near_matrix(control.dcgain(sys), control.dcgain(d))
    fails("control.c2d: method: expected \"zoh\", \"tustin\" (or \"bilinear\"), \"euler\" or \"backward_diff\", got 'foh'",
      control.c2d, sys, h, "foh")
    fails("control.c2d: the system is sampled already, with the period 0.1", control.c2d, d, h)
    fails("control.c2d: Ts: expected a period above 0, got 0", control.c2d, sys, 0)
    fails("by this method at Ts = 1: I - alpha Ts A is singular", control.c2d, { A = { { 2 } } }, 1, "tustin")
  end)

  it("comes back from its sampled one, by all methods", function()
    for n = 1, 7, 2 do
      local sys = control.ss(random(n, n), random(n, 2), random(2, n), random(2, 2))
      for _, method in ipairs { "zoh", "tustin", "bilinear", "euler", "backward_diff" } do
        local back = control.d2c(control.c2d(sys, 0.2, method), method)
        assert.is_nil(back.dt)
        for _, name in ipairs { "A", "B", "C", "D" } do expect.near_matrix(sys[name], back[name], 1e-11) end
      end
    end
    local stiff = control.ss({ { 0, 1, 0 }, { -4, -1, 0 }, { 0, 0, 0 } }, { 0, 1, 1 }, { 1, 0, 0 }) -- a pole at 0
    expect.near_matrix(stiff.A, control.d2c(control.c2d(stiff, 1)).A, 1e-11)
    fails("control.d2c: the system is continuous already", control.d2c, stiff)
    fails("control.d2c: the system has no continuous one by this method: it has a pole at 0", control.d2c,
      { A = { { 0 } }, dt = 1 })
    fails("control.d2c: the system has no continuous one by this method", control.d2c, { A = { { -0.5 } }, dt = 1 })
    fails("control.d2c: method: expected \"zoh\", \"tustin\" (or \"bilinear\"), \"euler\" or \"backward_diff\", got 'foh'",
      control.d2c, { A = { { 0.5 } }, dt = 1 }, "foh")
  end)

  it("has gains at rest, controllability and observability", function()
    local sys = control.ss({ { 0, 1 }, { -4, -1 } }, { 0, 1 }, { 1, 0 })
    expect.near_number(0.25, control.dcgain(sys)[1][1])
    expect.near_matrix({ { 0, 1 }, { 1, -1 } }, control.ctrb(sys))
    expect.near_matrix({ { 1, 0 }, { 0, 1 } }, control.obsv(sys))
    expect.near_matrix({ { 1, 0 }, { 0, 1 } }, control.obsv(sys.A, sys.C))
    expect.near_number(2, control.dcgain(control.ss({ { 0.5 } }, 1, 1, 0, 1))[1][1])
    fails("control.dcgain: the system has a pole at rest: its gain there is not finite", control.dcgain, { A = { { 0 } }, B = 1 })
  end)
end)

-- The reference for systems with relays, against solutions in closed form.
local reference = require "relay_reference"

describe("the reference for relays", function()
  it("crosses: an oscillator of arcs of circles", function()
    local r = reference.run { A = { { 0, 1 }, { -1, 0 } }, b = { 0, 0 }, B = { { 0 }, { 1 } }, C = { { 1, 0 } }, d = { 0 },
      lb = { -0.5 }, ub = { 0.3 }, x0 = { 0, 1 }, T = 20 }
    assert.equal("done", r.status)
    assert.equal(8, #r.events)
    assert.near(2 * math.atan(1 / 0.5), r.events[1].t, 1e-15)
    assert.near(0.595957220678332194, r.x[1], 1e-14)
    assert.near(0.221083175395653904, r.x[2], 1e-14)
  end)

  it("slides: x' = 3/2 sin t - sgn x leaves 0 where 3/2 sin t is 1", function()
    local r = reference.run { A = { { 0, 1.5, 0 }, { 0, 0, 1 }, { 0, -1, 0 } }, b = { 0, 0, 0 }, B = { { 1 }, { 0 }, { 0 } },
      C = { { 1, 0, 0 } }, d = { 0 }, lb = { -1 }, ub = { 1 }, x0 = { 0.3, 0, 1 }, T = 10 }
    assert.near(math.asin(2 / 3), r.events[2].t, 1e-14)
    assert.near(math.asin(2 / 3) + math.pi, r.events[4].t, 1e-14)
    assert.equal(7, #r.events)
    assert.equal(0, r.x[1])
  end)

  it("accumulates: a spiral is at the origin at t = 1", function()
    local r = reference.run { A = { { 0, 0 }, { 0, 0 } }, b = { 0, 0 }, B = { { 1, -2 }, { 2, 1 } }, C = { { 1, 0 }, { 0, 1 } },
      d = { 0, 0 }, lb = { -1, -1 }, ub = { 1, 1 }, x0 = { 1, 1 }, T = 2 }
    assert.equal(1, #r.accumulations)
    assert.near(1, r.accumulations[1], 1e-15)
    assert.near(1 - 2 / 3 * 3 ^ -6, r.events[7].t, 1e-15)
    assert.is_true(math.abs(r.x[1]) + math.abs(r.x[2]) < 1e-15)
  end)

  it("tells where several modes go on: x' = sgn x from 0", function()
    local r = reference.run { A = { { 0 } }, b = { 0 }, B = { { -1 } }, C = { { 1 } }, d = { 0 }, lb = { -1 }, ub = { 1 },
      x0 = { 0 }, T = 1 }
    assert.equal("ambiguous", r.status)
    assert.same({ { 1 }, { 2 }, { 3 } }, r.modes)
  end)
end)

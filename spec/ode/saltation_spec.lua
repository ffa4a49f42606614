local ns = require "nslua"

-- y' = -y reaches y = small at the time log(y0 / small), with the rate -small; the largest rate so far was 1.
local function decay(small)
  local sol = ns.solve_ivp(function(_, y, dy) dy[1] = -y[1] end, { 0, 20 }, { 1 }, { method = "DOP853", rtol = 1e-12, atol = 1e-18,
    events = function(_, y) return y[1] - small end, sensitivities = "y0" })
  assert.equal(1, #sol.t_events[1])
  return sol.dt_events[1][1][1]
end

describe("a crossing", function()
  it("has a derivative of its time down to 1e-7 of the rates so far", function()
    assert.near(1, decay(3e-7), 1e-9)
    local dt = decay(3e-8)
    assert.is_true(dt ~= dt)
  end)
end)

-- scripts/pendulum_dae.lua: the pendulum by each index, its drift, its rod's force.
local ns = require "nslua"

describe("scripts/pendulum_dae.lua", function()
  local script, run = require "script_run"("pendulum_dae", setup, teardown)
  local g = 9.81

  -- The angle from the level, by an ordinary differential equation: phi'' = -g cos phi.
  local exact = ns.solve_ivp(function(_, y) return { y[2], -g * math.cos(y[1]) } end, { 0, 5 }, { 0, 0 },
    { method = "DOP853", rtol = 1e-12, atol = 1e-13, t_eval = ns.linspace(0, 5, 26) })

  local largest = require "columns".largest

  local forms = {
    ["3"] = { C = 1e-7, rate = 1e-3, lambda = 0.1 }, ["2"] = { C = 1e-6, rate = 1e-6, lambda = 1e-2 },
    ["1"] = { C = 1e-4, rate = 1e-4, lambda = 1e-2 }, ggl = { C = 1e-7, rate = 1e-6, lambda = 1e-2 },
    baumgarte = { C = 1e-6, rate = 1e-6, lambda = 1e-2 }, written = { C = 1e-7, rate = 1e-3, lambda = 0.1 },
  }
  local arguments = "--T 5 --points 26 --form "

  for form, bounds in pairs(forms) do
    it("follows the pendulum: form " .. form, function()
      local c = run(arguments .. form)
      assert.equal("t,x,y,u,v,lambda,C,rate,energy", table.concat(c.names, ","))
      assert.equal(26, c.n)
      for i = 1, 26 do
        assert.near(math.cos(exact.y[1][i]), c.x[i], 1e-4)
        assert.near(math.sin(exact.y[1][i]), c.y[i], 1e-4)
        assert.near(3 * g * c.y[i], c.lambda[i], bounds.lambda) -- m = l = 1
      end
      assert.is_true(largest(c.C) < bounds.C and largest(c.rate) < bounds.rate)
      assert.is_true(largest(c.energy) < 1e-3)
    end)
  end

  it("drifts in index 1 more than in index 2, and not where C = 0 is solved", function()
    local one, two = run(arguments .. "1"), run(arguments .. "2")
    local three, ggl = run(arguments .. "3"), run(arguments .. "ggl")
    assert.is_true(largest(one.C) > 3 * largest(two.C))
    assert.is_true(largest(two.C) > largest(ggl.C) or largest(two.C) < 1e-8)
    assert.is_true(largest(one.C) > 10 * math.max(largest(three.C), largest(ggl.C)))
    -- It grows in index 1: most of it is in the second half.
    local early = 0
    for i = 1, 13 do early = math.max(early, math.abs(one.C[i])) end
    assert.is_true(largest(one.C) > 1.5 * early)
  end)

  it("gives the same from the position as written out", function()
    local one, other = run(arguments .. "3"), run(arguments .. "written")
    for i = 1, 26 do assert.near(one.x[i], other.x[i], 1e-6) end
  end)

  it("has all forms in a table, and says what it can not take", function()
    local out = script "--T 0.5 --points 3"
    assert.truthy(out:find("at t = 0.5: x, lambda", 1, true), out)
    for _, form in ipairs { "3", "2", "1", "ggl", "baumgarte", "written" } do
      assert.truthy(out:find("\n" .. form .. " +%d+  %d%.%de"), out)
    end
    out = script "--T 0.5 --points 3 --form ggl"
    assert.truthy(out:find("form ggl, rtol 1e%-06, %d+ steps: C is held to "), out)
    local _, err, status = script "--csv run.csv"
    assert.truthy(err:find("--csv goes with one form", 1, true), err)
    assert.equal(1, status)
    _, err = script "--form 4"
    assert.truthy(err:find("--form", 1, true), err)
  end)
end)

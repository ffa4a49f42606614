-- scripts/pinned_link.lua: the link against a reference in quadruple precision, by every method.
local columns = require "columns"

describe("scripts/pinned_link.lua", function()
  local script, run = require "script_run"("pinned_link", setup, teardown)
  local reference = columns.read "spec/reference/pinned_link_ref.csv"

  local largest = require "columns".largest

  local function off(c, name)
    local most = 0
    for i = 1, reference.n do
      assert.near(reference.t[i], c.t[i], 1e-12)
      most = math.max(most, math.abs(c[name][i] - reference[name][i]))
    end
    return most
  end

  for _, method in ipairs { "embedding", "positions", "events" } do
    it("follows the link to 1e-9: " .. method, function()
      local c = run("--method " .. method)
      assert.equal("t,theta,omega,Rx,Ry,energy,con_x,con_y", table.concat(c.names, ","))
      assert.equal(50, c.n)
      assert.is_true(off(c, "theta") < 1e-9)
      assert.is_true(off(c, "omega") < 1e-9)
      assert.is_true(off(c, "Rx") < 1e-9 and off(c, "Ry") < 1e-9)
      assert.near(-0.130719511777, c.theta[50], 1e-9)
      assert.is_true(math.max(largest(c.con_x), largest(c.con_y)) < 1e-14)
      assert.is_true(largest(c.energy) < 1e-9)
    end)
  end

  for method, held in pairs { dae3 = 1e-9, dae2 = 1e-9, dae1 = 1e-5 } do
    it("follows it as a differential-algebraic equation: " .. method, function()
      local c = run("--rtol 1e-7 --atol 1e-9 --method " .. method)
      assert.is_true(off(c, "theta") < 5e-5)
      assert.is_true(math.max(largest(c.con_x), largest(c.con_y)) < held)
    end)
  end

  it("is the same line by line and from the positions alone", function()
    local one, other = run "--method embedding", run "--method positions"
    for i = 1, 50 do assert.near(one.theta[i], other.theta[i], 1e-12) end
  end)

  it("swings with its period", function()
    local c = run "--method positions --T 3.86666970874 --points 3" -- two periods
    assert.near(0, c.theta[2], 1e-8)
    assert.near(0, c.theta[3], 1e-8)
    assert.near(0, c.omega[2], 1e-8)
  end)

  it("says what it did, and what it can not take", function()
    local out = script "--T 1 --points 3"
    assert.truthy(out:find("embedding, rtol 1e%-10, %d+ evaluations: the pin is held to "), out)
    assert.truthy(out:find("at t = 1: theta = ", 1, true), out)
    local _, err, status = script "--method ida"
    assert.truthy(err:find("--method", 1, true), err)
    assert.equal(1, status)
  end)
end)

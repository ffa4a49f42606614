-- scripts/four_bar.lua: the linkage against a reference in quadruple precision, by every method.
local columns = require "columns"
local events = { "q1", "q2", "q3", "u1" }

describe("scripts/four_bar.lua", function()
  local script, run = require "script_run"("four_bar", setup, teardown)
  local reference = columns.read "spec/reference/four_bar.csv"

  -- The largest error of all coordinates at the reference's times, of a run with 600 points or the first ones of them.
  local function off(c)
    local most = 0
    for k = 1, reference.n do
      local row = k < reference.n and 7 * (k - 1) + 1 or 600
      if row > c.n then break end
      assert.near(reference.t[k], c.t[row], 1e-12)
      for _, name in ipairs(events) do most = math.max(most, math.abs(c[name][row] - reference[name][k])) end
    end
    return most
  end

  local largest = require "columns".largest

  for method, closed in pairs { ivp = 1e-9, ivp_fsolve = 1e-13, dae = 1e-10, events = 1e-13 } do
    it("follows the linkage over 30 s: " .. method, function()
      local c = run("--method " .. method)
      assert.equal("t,q1,q2,q3,u1,con_x,con_y,energy", table.concat(c.names, ","))
      assert.equal(600, c.n)
      assert.is_true(off(c) < 1e-7)
      assert.is_true(math.max(largest(c.con_x), largest(c.con_y)) < closed)
      for i = 1, c.n do assert.near(8.3226702107803, c.energy[i], 1e-8) end
    end)
  end

  local part = " --T 2.954924874791319 --points 60" -- the first 60 of the 600

  for method, closed in pairs { ivp = 1e-9, ivp_fsolve = 1e-13, dae = 1e-10, events = 1e-13 } do
    it("follows it from its positions alone: " .. method, function()
      local tolerance = method == "dae" and " --rtol 1e-8 --atol 1e-10" or ""
      local c = run("--form positions --method " .. method .. part .. tolerance)
      assert.equal(60, c.n)
      assert.is_true(off(c) < 1e-7)
      assert.is_true(math.max(largest(c.con_x), largest(c.con_y)) < closed)
      for i = 1, c.n do assert.near(8.3226702107803, c.energy[i], 1e-7) end
    end)
  end

  it("takes the same way from its positions as by the equations written out", function()
    local one = run("--method ivp" .. part)
    for _, compile in ipairs { "", " --compile yes" } do
      local other = run("--form positions --method ivp" .. part .. compile)
      for _, name in ipairs(events) do
        for i = 1, 60 do assert.near(one[name][i], other[name][i], 1e-9) end
      end
    end
  end)

  it("is of first order from its positions by the theta scheme, too", function()
    local errors = {}
    for n, h in ipairs { 4e-3, 2e-3 } do
      local c = run(("--form positions --method moreau --T 1.5 --points 31 --h %g"):format(h))
      local exact = run "--method dae --T 1.5 --points 31"
      errors[n] = math.abs(c.q1[31] - exact.q1[31])
      assert.is_true(math.max(largest(c.con_x), largest(c.con_y)) < 1e-9)
    end
    assert.is_true(errors[1] / errors[2] > 1.6)
  end)

  it("compares all methods in a table", function()
    local out = script "--method all --T 0.5 --points 11"
    for _, method in ipairs { "ivp", "ivp_fsolve", "dae", "moreau" } do
      assert.truthy(out:find("\n" .. method .. " +%d+ %l+ +%d%.%de[-+]%d%d +%d%.%de[-+]%d%d"), out)
    end
    assert.truthy(out:find("\nevents +the method of order 8 +%d%.%de[-+]%d%d"), out)
    local _, err, status = script "--method all --T 0.5 --points 11 --csv run.csv"
    assert.truthy(err:find("--csv goes with one method", 1, true), err)
    assert.equal(1, status)
  end)

  it("is nearer to the truth at loose tolerances than an error of 1", function()
    local c = run "--method dae --rtol 1e-3 --atol 1e-6"
    assert.is_true(off(c) < 0.5)
    c = run "--method events --rtol 1e-3 --atol 1e-6"
    assert.is_true(off(c) < 1e-4)
  end)

  it("is of first order by the theta scheme, the bars being kept by the projection", function()
    local errors = {}
    for n, h in ipairs { 2e-3, 1e-3 } do
      local c = run(("--method moreau --T 1.5 --points 31 --h %g"):format(h))
      local exact = run "--method dae --T 1.5 --points 31"
      errors[n] = math.abs(c.q1[31] - exact.q1[31])
      assert.is_true(math.max(largest(c.con_x), largest(c.con_y)) < 1e-9)
    end
    assert.near(2, errors[1] / errors[2], 0.4)
  end)

  it("says what it did, and what it can not take", function()
    local out = script "--T 1 --points 3"
    assert.truthy(out:find("dae, rtol 1e-10, ", 1, true), out)
    assert.truthy(out:find("at t = 1: q1 = ", 1, true), out)
    local _, err, status = script "--method kane"
    assert.truthy(err:find("--method", 1, true), err)
    assert.equal(1, status)
  end)
end)

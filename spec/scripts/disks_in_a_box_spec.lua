local script_run = require "script_run"

describe("scripts/disks_in_a_box.lua", function()
  local script, run = script_run("disks_in_a_box", setup, teardown)

  it("comes to rest, losing energy all the way, without sinking in", function()
    local c, out = run "--n 24 --h 4e-3 --T 2"
    local bound = tonumber(out:match "bound (%S+)")
    local first = c.kinetic[1] + c.potential[1]
    for i = 1, c.n do
      assert.is_true(c.least_gap[i] >= bound)
      if i > 1 then
        local change = c.kinetic[i] + c.potential[i] - c.kinetic[i - 1] - c.potential[i - 1]
        assert.is_true(change <= 1e-4 * first, ("step %d: %g of %g"):format(i, change, first))
      end
    end
    assert.is_true(c.fastest[c.n] < 1e-8)
    assert.is_true(c.closed[c.n] >= 24) -- a disk at rest stands on one other thing at least
    assert.is_true(c.kinetic[c.n] + c.potential[c.n] < 0.9 * first)
    local linked, all = out:match "within reach: (%d+) of those linked, (%d+) of all pairs"
    assert.equal(all, linked)
    assert.is_true(tonumber(all) >= 24)
  end)

  it("falls freely until the first disk lands", function()
    local c = run "--n 9 --T 0.02 --h 1e-3 --mu 0"
    local first = c.kinetic[1] + c.potential[1]
    for i = 1, 10 do
      assert.near(first, c.kinetic[i] + c.potential[i], 1e-9 * first)
      assert.near(9.81 * c.t[i], c.fastest[i], 1e-12)
    end
  end)

  it("gives the same run twice, of as many disks as the sparse methods want", function()
    local options = "--n 84 --columns 12 --h 4e-3 --T 0.4"
    local a, b = run(options), run(options, true)
    local most = 0
    for i = 1, a.n do
      assert.equal(a.kinetic[i], b.kinetic[i])
      assert.equal(a.least_gap[i], b.least_gap[i])
      most = math.max(most, a.closed[i])
    end
    assert.is_true(most > 75) -- of two rows each
  end)

  -- Sweeps, interior points and Newton's method do not end in step 125 of this pour.
  it("goes on where only pivots solve a step to the default tolerance", function()
    local c = run "--n 70 --columns 9 --mu 0.2 --h 3e-3 --T 0.42"
    local first = c.kinetic[1] + c.potential[1]
    assert.near(0.42, c.t[c.n], 1e-9)
    for i = 2, c.n do assert.is_true(c.kinetic[i] + c.potential[i] <= first * (1 + 1e-6)) end
  end)

  -- What a heap at rest is: still, held by floor and walls, no deeper in itself than when it landed.
  local function check_heap(arguments, n, settled)
    local c, out = run(arguments)
    local bound, support = tonumber(out:match "bound (%S+)"), tonumber(out:match "carry (%S+) of the weight")
    local first, highest, middle = c.kinetic[1] + c.potential[1], 0, (settled + c.n) // 2
    for i = 1, c.n do
      highest = math.max(highest, c.kinetic[i])
      assert.is_true(c.least_gap[i] >= bound)
      assert.is_true(c.kinetic[i] + c.potential[i] <= first * (1 + 1e-6))
    end
    assert.is_true(c.kinetic[c.n] < 1e-5 * highest, ("%g of %g"):format(c.kinetic[c.n], highest))
    assert.near(1, support, 1e-3)
    assert.is_true(c.closed[c.n] >= n)
    for i = settled, c.n do assert.is_true(c.kinetic[i] < 1e-3 * highest) end
    assert.is_true(c.least_gap[c.n] >= c.least_gap[middle] - 1e-3 * 0.05) -- a thousandth of a radius
    local linked, all = out:match "within reach: (%d+) of those linked, (%d+) of all pairs"
    assert.equal(all, linked)
  end

  it("brings a jammed heap to rest", function() check_heap("--n 150 --h 4e-3 --T 1.6", 150, 250) end)

  if os.getenv "NSLUA_SOAK" then
    it("brings a thousand disks to rest", function() check_heap("--n 1000 --T 2", 1000, 700) end)
  end

  it("refuses mistakes", function()
    local _, err, status = script "--n 0"
    assert.equal(1, status)
    assert.matches("--n: expected a number, at least 1 and at most 10000, got '0'", err, 1, true)
    _, err, status = script "--newton perhaps"
    assert.equal(1, status)
    assert.matches("--newton: expected one of auto, yes, no, got 'perhaps'", err, 1, true)
  end)
end)

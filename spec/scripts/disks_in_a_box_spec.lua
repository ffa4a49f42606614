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

  it("refuses mistakes", function()
    local _, err, status = script "--n 0"
    assert.equal(1, status)
    assert.matches("--n: expected a number, at least 1 and at most 10000, got '0'", err, 1, true)
  end)
end)

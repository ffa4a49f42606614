-- Infinitely many events, recognised from the last ones.
require "nslua"
local internal = require "nslua.internal"

-- The times of n events, whose intervals are those of `first` in turn, each cycle shorter by the ratio.
local function times(n, first, ratio)
  local list, t, c = { 0 }, 0, #first
  for k = 1, n - 1 do
    t = t + first[(k - 1) % c + 1] * ratio ^ ((k - 1) // c)
    list[k + 1] = t
  end
  return list
end

local function rows(n, cycle)
  local list = {}
  for k = 1, n do list[k] = cycle[(k - 1) % #cycle + 1] end
  return list
end

describe("accumulations of events", function()
  it("end at the sum of a geometric series", function()
    local rest, cycle, kinds = internal.accumulation(times(10, { 1 }, 0.5), rows(10, { 2 }))
    assert.near(2 - times(10, { 1 }, 0.5)[10], rest, 1e-15)
    assert.equal(1, cycle)
    assert.same({ "none", "output", "none", "none" }, kinds)
  end)

  it("may be cycles of several rows", function()
    local list = times(100, { 1, 0.3, 2 }, 0.8) -- only the last 64 events are kept
    local rest, cycle, kinds = internal.accumulation(list, rows(100, { 1, 2, 4 }))
    assert.near((3.3 / 0.2 - list[100]) / rest, 1, 1e-9)
    assert.equal(3, cycle)
    assert.same({ "multiplier", "output", "none", "output" }, kinds)
  end)

  it("are not cycles that hardly shrink, that grow, or other rows in turn", function()
    assert.is_nil(internal.accumulation(times(20, { 1 }, 0.995), rows(20, { 1 })))
    assert.is_nil(internal.accumulation(times(20, { 1 }, 1.2), rows(20, { 1 })))
    assert.is_nil(internal.accumulation(times(7, { 1 }, 0.5), { 1, 2, 3, 4, 3, 2, 1 }))
    assert.is_nil(internal.accumulation({ 0, 1 }, { 1, 1 }))
  end)
end)

-- Scales by powers of two: they take the units out exactly, and balance what is left.
require "nslua.core"
local internal = require "nslua.internal"
local random = math.random

local function make(n, density)
  local J, x, F = {}, {}, {}
  for k = 1, n * n do J[k] = random() < density and (random() * 2 - 1) * 10 ^ random(-3, 3) or 0 end
  for i = 1, n do
    x[i] = random() < 0.5 and 0 or random() * 2 - 1
    F[i] = random() < 0.2 and 0 or random() * 2 - 1
  end
  return J, x, F
end

describe("equilibrate", function()
  it("gives equations the same bits whatever their units and those of the unknowns are", function()
    math.randomseed(41)
    for trial = 1, 300 do
      local n = random(1, 9)
      local J, x, F = make(n, trial % 3 == 0 and 1 or 0.4)
      local a, b, J2, x2, F2 = {}, {}, {}, {}, {}
      for i = 1, n do a[i], b[i] = random(-100, 100), random(-100, 100) end
      for i = 1, n do
        x2[i], F2[i] = x[i] * 2.0 ^ -b[i], F[i] * 2.0 ^ a[i]
        for j = 1, n do J2[i + (j - 1) * n] = J[i + (j - 1) * n] * 2.0 ^ (a[i] + b[j]) end
      end
      local r, c = internal.equilibrate(n, J, x, F, trial % 2 == 0)
      local r2, c2 = internal.equilibrate(n, J2, x2, F2, trial % 2 == 0)
      for i = 1, n do
        local used = F[i] ~= 0
        for j = 1, n do used = used or J[i + (j - 1) * n] ~= 0 end
        local known = x[i] ~= 0
        for k = 1, n do known = known or J[k + (i - 1) * n] ~= 0 end
        -- An equation (unknown) of which nothing is known has no scale of its own; one in a part of zeros keeps that part's.
        for j = 1, n do
          if J[i + (j - 1) * n] ~= 0 then assert.equal(r[i] + c[j], r2[i] + c2[j] + a[i] + b[j]) end
        end
        if used and F[i] ~= 0 then assert.equal(r[i], r2[i] + a[i]) end
        if known and x[i] ~= 0 then assert.equal(c[i], c2[i] + b[i]) end
      end
    end
  end)

  it("is the same for a dense and a sparse matrix", function()
    math.randomseed(42)
    for _ = 1, 50 do
      local n = random(1, 9)
      local J, x, F = make(n, 0.5)
      local r, c = internal.equilibrate(n, J, x, F, false)
      local r2, c2 = internal.equilibrate(n, J, x, F, true)
      assert.same({ r, c }, { r2, c2 })
    end
  end)

  it("makes the largest entry of each row 1 to 2 where x and F are of size 1, and balances rows and columns", function()
    math.randomseed(43)
    for _ = 1, 50 do
      local n = random(2, 12)
      local J, x, F = {}, {}, {}
      local a, b = {}, {}
      for i = 1, n do a[i], b[i] = random(-300, 300), random(-300, 300) end
      for i = 1, n do
        x[i], F[i] = 0, 0
        for j = 1, n do J[i + (j - 1) * n] = (1 + random()) * 2.0 ^ (a[i] + b[j]) end
      end
      local r, c = internal.equilibrate(n, J, x, F, false)
      for i = 1, n do
        for j = 1, n do
          local scaled = J[i + (j - 1) * n] * 2.0 ^ (r[i] + c[j])
          assert.is_true(scaled >= 0.5 and scaled < 4, scaled)
        end
      end
    end
  end)

  it("takes the size of the unknowns from x, or from the step that F asks for", function()
    local r, c = internal.equilibrate(1, { 4 }, { 2.0 ^ -40 }, { 0 }, false)
    assert.same({ { 38 }, { -40 } }, { r, c })
    r, c = internal.equilibrate(1, { 4 }, { 0 }, { 2.0 ^ 50 }, false)
    assert.same({ { -50 }, { 48 } }, { r, c })
    -- no entry at all: each by its own number
    r, c = internal.equilibrate(2, { 0, 0, 0, 0 }, { 8, 0 }, { 0, 16 }, true)
    assert.same({ { 0, -4 }, { 3, 0 } }, { r, c })
  end)

  it("keeps scales that a double holds", function()
    local r, c = internal.equilibrate(1, { 5e-324 }, { 1 }, { 1e308 }, false)
    assert.is_true(math.abs(r[1]) <= 1000 and math.abs(c[1]) <= 1000)
  end)
end)

-- ns.montecarlo, ns.sobol_indices, ns.basins.
local expect = require "expect"
local ns = require "nslua"

local function raises(message, f, ...) assert.equal(message, (expect.message(f, ...):gsub("%f[%w][%w/_.-]+:%d+: ", ""))) end

describe("Monte Carlo", function()
  local function square(task) return { x = task.rng:normal(2, 1) ^ 2, u = task.rng:uniform() } end

  it("finds means and quantiles within its errors", function()
    local mc = ns.montecarlo { run = square, samples = 4000, on = "here" }
    assert.equal(4000, mc.n)
    assert.is_true(math.abs(mc.x.mean - 5) < 4 * mc.x.error)
    assert.is_true(math.abs(mc.x.deviation - math.sqrt(18)) < 0.5)
    assert.is_true(math.abs(mc.x.half_width / mc.x.error - 1.95996) < 1e-4)
    for i, share in ipairs { 0.05, 0.5, 0.95 } do
      local q = mc.u.quantiles[i]
      assert.is_true(q.low < q.value and q.value < q.high and math.abs(q.value - share) < 2 * (q.high - q.low))
    end
    assert.same({ "u", "x" }, mc.names)
    assert.truthy(tostring(mc):find "^4000 samples, 0 failed; u = 0%.%d+ %+%- ")
  end)

  it("has intervals that hold in their share of the cases", function()
    local held = 0
    for seed = 1, 100 do
      local mc = ns.montecarlo { run = function(task) return task.rng:uniform() end, samples = 200, on = "here", seed = seed,
        confidence = 0.8 }
      if math.abs(mc.value.mean - 0.5) <= mc.value.half_width then held = held + 1 end
    end
    assert.is_true(held >= 68 and held <= 92, held)
  end)

  it("goes on until the error is small enough, with the same samples", function()
    local mc = ns.montecarlo { run = square, samples = 100, rtol = 0.05, on = "here" }
    assert.is_true(mc.converged and mc.n > 100)
    assert.is_true(mc.x.half_width <= 0.05 * mc.x.mean)
    local whole = ns.montecarlo { run = square, samples = mc.n, workers = 2 }
    assert.same(whole.x.values:totable(), mc.x.values:totable())
    mc = ns.montecarlo { run = square, samples = 100, rtol = 1e-4, max_samples = 300, on = "here" }
    assert.same({ false, 300 }, { mc.converged, mc.n })
  end)

  it("counts failures, and raises when all fail", function()
    local mc = ns.montecarlo { samples = 10, on = "here", run = function(task)
      if task.index % 5 == 0 then error "no" end
      return task.index
    end }
    assert.same({ 2, 8 }, { mc.failed, mc.value.n })
    raises("montecarlo: no sample gave a number; the first: no", ns.montecarlo, { run = function() error "no" end, samples = 3,
      on = "here" })
    raises("montecarlo: confidence: expected a number between 0 and 1, got 1", ns.montecarlo, { run = print, confidence = 1 })
    raises("montecarlo: quantiles[1]: expected a number between 0 and 1, got 2", ns.montecarlo, { run = print, quantiles = { 2 } })
    raises("montecarlo: run: expected a function, got nil", ns.montecarlo, {})
  end)
end)

describe("Sobol indices", function()
  it("are those of the Ishigami function within their errors", function()
    local a, b = 7, 0.1
    local s = ns.sobol_indices { n = 4096, on = "here",
      ranges = { x = { -math.pi, math.pi }, y = { -math.pi, math.pi }, z = { -math.pi, math.pi } },
      run = function(p) return math.sin(p.x) + a * math.sin(p.y) ^ 2 + b * p.z ^ 4 * math.sin(p.x) end }
    local vx = 0.5 * (1 + b * math.pi ^ 4 / 5) ^ 2
    local vy, vxz = a * a / 8, 8 * b * b * math.pi ^ 8 / 225
    local v = vx + vy + vxz
    local first, total = { x = vx / v, y = vy / v, z = 0 }, { x = (vx + vxz) / v, y = vy / v, z = vxz / v }
    assert.is_true(math.abs(s.variance / v - 1) < 0.02)
    for _, name in ipairs(s.names) do
      assert.is_true(math.abs(s.first[name] - first[name]) < 0.03, name)
      assert.is_true(math.abs(s.total[name] - total[name]) < 0.03, name)
      assert.is_true(s.first_error[name] < 0.05 and s.total_error[name] < 0.05)
    end
  end)

  it("leave out points whose results are not there, and refuse what has no variance", function()
    local s = ns.sobol_indices { n = 256, ranges = { x = { 0, 1 }, y = { 0, 1 } }, on = "here", result = "r",
      run = function(p)
        if p.x > 0.9 then error "x" end
        return { r = p.y }
      end }
    assert.is_true(s.points < 256 and s.points > 150)
    assert.is_true(s.first.y > 0.9)
    raises("sobol_indices: the result is the same at all points", ns.sobol_indices, { n = 8, ranges = { x = { 0, 1 } },
      on = "here", run = function() return 1 end })
    raises("sobol_indices: only 0 of 8 points have all their results", ns.sobol_indices, { n = 8, ranges = { x = { 0, 1 } },
      on = "here", run = function() return 0 / 0 end })
  end)

  it("do not change with the unit of the result", function()
    local function indices(scale)
      return ns.sobol_indices { n = 64, ranges = { x = { 0, 1 }, y = { 0, 1 } }, on = "here",
        run = function(p) return scale * (p.x + p.x * p.y) end }
    end
    local one, other = indices(1), indices(2.0 ^ -100)
    assert.same({ one.first, one.total, one.first_error }, { other.first, other.total, other.first_error })
  end)
end)

describe("basins", function()
  local function wells(scale)
    return ns.basins { parameters = { x = ns.linspace(-1.5, 1.5, 7), v = { -1, 0, 1 } }, on = "here",
      run = function(p)
        if p.x == 0 and p.v == 0 then return { 0 / 0, 0 } end
        return { scale * (p.x + p.v > 0 and 1 or -1) + scale * 1e-4 * p.x, 3 }
      end }
  end

  it("are labelled by their ends, in any unit", function()
    for _, scale in ipairs { 1, 2.0 ^ 100 } do
      local b = wells(scale)
      assert.equal(2, #b.attractors)
      local z, v, x = b:pivot("v", "x")
      assert.same({ 7, 3 }, { #x, #v })
      for i = 1, 7 do
        for j = 1, 3 do
          if not (x[i] == 0 and v[j] == 0) then
            assert.equal(b.labels[1] == 1 and (x[i] + v[j] > 0 and 2 or 1), z[i][j])
          end
        end
      end
      assert.is_true(z[4][2] ~= z[4][2])
      assert.is_true(math.abs(b.shares[1] + b.shares[2] - 20 / 21) < 1e-12)
      assert.truthy(tostring(b):find "^basins of 2 attractors: ")
      ns.plot.close(b:plot("v", "x"))
    end
  end)

  it("need a function", function()
    raises("basins: run: expected a function, got nil", ns.basins, { parameters = { x = { 1 } } })
  end)
end)

-- ns.montecarlo, ns.sobol_indices, ns.basins.
local campaign = require "campaign"
local expect = require "expect"
local host = require "host"
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

  -- Starts from -1 to 1 whose ends are at -a, at 0 or at a, each within `noise`; `outside` gives the ends of some starts.
  local function thirds(count, a, noise, outside, scale)
    return ns.basins { parameters = { x = ns.linspace(-1, 1, count) }, on = "here", run = function(p, task)
      local e = outside and outside(task.index)
      return scale * (e or a * (p.x < -0.5 and -1 or p.x > 0.5 and 1 or 0) + noise * task.rng:uniform(-1, 1))
    end }
  end

  it("are told beside an end that is far outside, in any unit", function()
    for _, scale in ipairs { 1, 2.0 ^ -100 } do
      for _, noise in ipairs { 0, 1e-9, 1e-3 } do
        assert.equal(3, #thirds(300, 3, noise, nil, scale).attractors)
        local b = thirds(300, 3, noise, function(k) return k == 7 and 1e9 end, scale)
        assert.equal(4, #b.attractors)
        assert.equal(2, b.labels[7])
        b = thirds(300, 3, noise, function(k) return k % 50 == 0 and 10.0 ^ (k / 10) end, scale)
        assert.equal(0, (b.labels[1] - 1) + (b.labels[300] - b.labels[299] < 0 and 1 or 0))
        assert.is_true(b.labels[1] ~= b.labels[151] and b.labels[151] ~= b.labels[299] and b.labels[1] ~= b.labels[299])
      end
      -- the rounding of the only other attractor is no attractors
      assert.equal(2, #thirds(300, 0, 1e-9, function(k) return k == 7 and 5 end, scale).attractors)
      assert.equal(2, #thirds(20, 0, 1e-9, function(k) return k == 7 and 5 end, scale).attractors)
    end
  end)

  it("are told of random groups beside random ends outside", function()
    local rng = ns.rng(5)
    for _ = 1, campaign(20, 20) do
      local count, groups, far = rng:integers(60, 400), rng:integers(2, 5), rng:integers(1, 3)
      local outside = {}
      for i = 1, far do outside[rng:integers(1, count)] = 10.0 ^ rng:uniform(4, 12) * (-1) ^ i end
      local seed, noise = rng:integers(1, 1e6), 10.0 ^ rng:uniform(-14, -4)
      local b = ns.basins { parameters = { k = ns.linspace(1, count, count) }, on = "here", seed = seed, run = function(p, task)
        return outside[p.k // 1 | 0] or p.k % groups + noise * task.rng:normal()
      end }
      local labels = {}
      for k = 1, count do
        if not outside[k] then
          local group = k % groups
          labels[group] = labels[group] or b.labels[k]
          assert.equal(labels[group], b.labels[k])
          for other, label in pairs(labels) do assert.is_true(other == group or label ~= b.labels[k]) end
        end
      end
    end
  end)

  it("tell starts without an end", function()
    local b = wells(1)
    assert.equal(1, b.failed)
    assert.truthy(tostring(b):find "; 1 of 21 starts have none, the first: its end is not finite$")
    b = ns.basins { parameters = { x = { -1, 0, 1 } }, on = "here", run = function(p)
      if p.x == 0 then error("no motion", 0) end
      return p.x
    end }
    assert.equal("basins of 2 attractors: 33.3 %, 33.3 %; 1 of 3 starts have none, the first: no motion", tostring(b))
    raises("basins: no start has an end; the first: none", ns.basins, { parameters = { x = { 1, 2 } }, on = "here",
      run = function() error("none", 0) end })
    raises("basins: no start has an end; the first: run returned nothing", ns.basins, { parameters = { x = { 1, 2 } },
      on = "here", run = function() end })
    raises("basins: parameters: 'end' and 'label' are the names of results: rename the parameter", ns.basins,
      { parameters = { label = { 1 } }, run = print })
  end)

  it("are drawn in colours of kinds, with a legend; as points where the starts are no grid", function()
    local function artists(b, options)
      local fig = b:plot("v", "x", options)
      local axes, kinds = fig:subplot(1, 1, 1), {}
      for i, artist in ipairs(axes.artists) do kinds[i] = artist.kind end
      ns.plot.close(fig)
      return kinds, axes
    end
    local kinds, axes = artists(wells(1))
    assert.same({ "cells", "scatter", "scatter" }, kinds)
    assert.truthy(axes.artists[2].label:find "^1: %d")
    assert.same({ "#1F77B4", "#FF7F0E" }, { axes.artists[2].color, axes.artists[3].color })
    assert.same({ "cells" }, (artists(wells(1), { cmap = "viridis" })))
    local b = ns.basins { parameters = ns.design.latin_hypercube(40, { x = { -1, 1 }, v = { -1, 1 } }), on = "here",
      run = function(p) return p.x > 0 and 1 or -1 end }
    kinds, axes = artists(b)
    assert.same({ "scatter", "scatter", "scatter" }, kinds)
    assert.equal(40, #axes.artists[1].columns[1])
  end)

  it("take the options of a sweep, as Monte Carlo does", function()
    local directory = host.new_directory()
    local attempts = 0
    local b = ns.basins { parameters = { x = { -1, 1 } }, on = "here", retries = 1, file = directory .. "/b.csv", run = function(p)
      attempts = attempts + 1
      if attempts == 1 then error "not now" end
      return p.x
    end }
    assert.same({ 3, 2, 0 }, { attempts, #b.attractors, b.failed })
    local function square(task) return task.rng:normal(2, 1) ^ 2 end
    local options = { run = square, samples = 50, max_samples = 150, rtol = 1e-6, file = directory .. "/m.csv", workers = 1,
      chunk = 20, order = "shuffled" }
    local mc = ns.montecarlo(options)
    assert.same({ 50, 50, 50 }, { #ns.load(directory .. "/m.csv"), #ns.load(directory .. "/m-2.csv"), 50 })
    options.resume, options.on = true, "here"
    assert.same(mc.value.values:totable(), ns.montecarlo(options).value.values:totable())
    raises("montecarlo: 'n' is the name of a field of the answer: rename the result", ns.montecarlo, { samples = 2, on = "here",
      run = function() return { n = 1 } end })
    host.remove(directory)
  end)

  it("need a function", function()
    raises("basins: run: expected a function, got nil", ns.basins, { parameters = { x = { 1 } } })
  end)
end)

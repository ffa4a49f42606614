-- Diagrams, exponents and fits by workers: the same bits with any number of them.
local message = require("expect").message
local ns = require "nslua"

local function bits(v)
  local parts = {}
  if type(v) == "number" then return ("<d"):pack(v) end
  for i = 1, ns.ismatrix(v) and v:rows() or #v do parts[i] = bits(v[i]) end
  return table.concat(parts)
end

-- Asserts that make(workers) gives the same for no workers, 1, 2 and 3; returns it. bytes(result) is what is compared.
local function same(make, bytes)
  local first = make(nil)
  for workers = 1, 3 do assert.is_true(bytes(first) == bytes(make(workers)), workers .. " workers") end
  return first
end

local function duffing(t, x, A)
  if A == 7 then error("no seven", 0) end
  return { x[2], A * math.cos(t) - x[1] - 0.3 * x[2] - x[1] ^ 3 }
end

describe("what is shared out to workers #once", function()
  it("a diagram has the bits of one made alone, also of points at a section, and tells the values that failed", function()
    local function bytes(d) return bits(d.p) .. bits(d.x) .. bits(d.direction) .. d.failures[1].message end
    local d = same(function(workers)
      return ns.dynamics.diagram { rhs = duffing, guess = { 0.1, 0 }, values = { 7, 1, 3, 7, 8 }, period = 2 * math.pi,
        transient = 3, keep = 2, follow = false, workers = workers }
    end, bytes)
    assert.same({ 6, 2, 7, "no seven" }, { #d.p, #d.failures, d.failures[2].p, d.failures[2].message })
    same(function(workers)
      return ns.dynamics.diagram { rhs = duffing, guess = { 0.1, 0 }, values = { 1, 7, 3, 4 }, keep = 2, follow = false,
        section = function(_, x) return x[1] end, transient = 2, workers = workers }
    end, bytes)
  end)

  it("a diagram of simulations has the bits of one made alone", function()
    local function make(w)
      local ds = ns.LagrangianLinearTIDS({ 0.5 }, { 0 }, { { 1 } })
      ds:setKPtr { { 1 } }
      ds:setComputeFExtFunction(function(t, _, f) f[1] = math.cos(w * t) end)
      local nsds = ns.NonSmoothDynamicalSystem(0, 4 * math.pi / w)
      nsds:insertDynamicalSystem(ds)
      nsds:link(ns.Interaction(ns.NewtonImpactNSL(0.8), ns.LagrangianLinearTIR { { 1 } }, "wall"), ds)
      return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 2 * math.pi / w), ns.RungeKuttaOSI())
    end
    same(function(workers)
      return ns.dynamics.diagram { simulation = make, guess = { 0.5, 0 }, values = { 2.4, 2.4, 2.8 }, transient = 2, keep = 2,
        period = function(w) return 2 * math.pi / w end, follow = false, workers = workers }
    end, function(d) return bits(d.p) .. bits(d.x) end)
  end)

  it("exponents over values are those of each value, in a table with a picture", function()
    local options = { rhs = duffing, guess = { 0.1, 0 }, values = { 1, 7, 8 }, window = 2 * math.pi, time = 20 }
    local t = same(function(workers)
      options.workers = workers
      return ns.dynamics.lyapunov(options)
    end, function(t) return bits(t.p) .. bits(t.exponents) .. bits(t.spread) .. bits(t.dimension) end)
    options.workers, options.values, options.value = nil, nil, 1
    assert.equal(bits(ns.dynamics.lyapunov(options).exponents), bits(t.exponents[1]))
    assert.same({ { p = 7, message = "no seven" } }, t.failures)
    assert.is_true(t.exponents[2][1] ~= t.exponents[2][1] and t.dimension[2] ~= t.dimension[2])
    assert.equal("Lyapunov exponents at 3 values, p = 1 .. 8, 1 values failed", tostring(t))
    assert.equal("figure with 1 panel", tostring(t:plot()))
  end)

  local times, y = ns.linspace(0, 4, 30), ns.zeros(30)
  for i = 1, 30 do y[i] = math.sin(5 * times[i]) end
  local function model(p)
    if p[1] > 9 then error("too large", 0) end
    local out = {}
    for i = 1, 30 do out[i] = math.sin(p[1] * times[i]) end
    return out
  end
  local function fit(options)
    local all = { model = model, data = { t = times, y = y }, parameters = { "w" }, start = 1, bounds = { { 0.1, 10 } } }
    for name, value in pairs(options) do all[name] = value end
    return ns.fit(all)
  end

  it("a fit from many starts tells the optima and the starts that failed", function()
    local found = same(function(workers) return fit { starts = ns.design.sobol(12, { w = { 0.1, 10 } }), workers = workers } end,
      function(f)
        local text = bits(f.x) .. bits(f.jac) .. f.message .. #f.failures
        for _, one in ipairs(f.optima) do text = text .. bits(one.x) .. bits(one.cost) .. table.concat(one.starts, " ") end
        return text
      end)
    assert.near(5, found.x[1], 1e-9)
    assert.near(5, found.optima[1].x[1], 1e-9)
    local count = 0
    for i, one in ipairs(found.optima) do
      count = count + #one.starts
      if i > 1 then assert.is_true(one.cost >= found.optima[i - 1].cost) end
    end
    assert.equal(13, count + #found.failures)
    assert.equal("too large", found.failures[1].message)
  end)

  it("a fit of a simulation by workers is that without", function()
    local law, ball = ns.NewtonImpactNSL(0.5), ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } })
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    ball:setFExtPtr { -9.81 }
    nsds:insertDynamicalSystem(ball)
    nsds:link(ns.Interaction(law, ns.LagrangianLinearTIR { { 1 } }, "floor"), ball)
    local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.2), ns.RungeKuttaOSI())
    same(function(workers)
      return ns.fit { simulation = simu, data = { t = { 0.2, 0.4, 0.6, 0.8, 1.0 }, q1 = { 0.803, 0.216, 0.354, 0.417, 0.083 } },
        parameters = { { law, "e" } }, bounds = { { 0.1, 1 } }, starts = 4, workers = workers, start = 0.5 }
    end, function(f) return bits(f.x) .. bits(f.errors) .. bits(f.optima[1].x) .. f.derivatives end)
  end)

  it("says what is wrong", function()
    local function says(text, f, options) assert.matches(text, message(f, options), 1, true) end
    local forced = { rhs = duffing, guess = { 0.1, 0 }, values = { 1 }, period = 6, workers = 2 }
    says("dynamics.diagram: workers: motions that follow each other can not be shared out: follow = false begins each at the "
      .. "guess", ns.dynamics.diagram, forced)
    forced.follow, forced.workers = false, 0
    says("dynamics.diagram: workers: expected an integer of 1 or more, got 0", ns.dynamics.diagram, forced)
    forced.workers, forced.on, forced.values = nil, "slurm", { 1, 2 }
    says('dynamics.diagram: on = "slurm": it needs a file', ns.dynamics.diagram, forced)
    local free = { rhs = duffing, guess = { 0.1, 0 }, time = 2, window = 1, workers = 2 }
    says("dynamics.lyapunov: workers: they share out values =, which is not there", ns.dynamics.lyapunov, free)
    free.values, free.value = { 1 }, 2
    says("dynamics.lyapunov: expected value = or values =, got both", ns.dynamics.lyapunov, free)
    free.values, free.value = {}, nil
    says("dynamics.lyapunov: values: the list has no values", ns.dynamics.lyapunov, free)
    free.values = { 7, 7 }
    says("dynamics.lyapunov: no value gave exponents; the first: no seven", ns.dynamics.lyapunov, free)
    says("fit: workers: they share out starts =, which is not there", fit, { workers = 2 })
    says("fit: no start gave a fit; the first: too large", fit, { start = 9.5, starts = { 9.6 }, workers = 2 })
    says("fit: starts: the design has no column 'w' (its columns: v)", fit, { starts = ns.design.sobol(2, { v = { 0, 1 } }) })
    says("fit: starts: expected a number, a list of points or a design, got boolean", fit, { starts = true })
  end)
end)

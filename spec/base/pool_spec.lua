-- Threads that share the work of one call: each task once, the failure of a loop, and the same bits for any number of threads.
local ns = require "nslua"
local internal = require "nslua.internal"

-- A random sparse W (positive definite) and q of contacts in space; pairs: which contacts meet.
local function problem(count, pairs_)
  local W, q = { i = {}, j = {}, v = {}, rows = 3 * count, cols = 3 * count }, ns.zeros(3 * count)
  local function put(i, j, v)
    local k = #W.v + 1
    W.i[k], W.j[k], W.v[k] = i, j, v
  end
  for c = 1, count do
    for r = 1, 3 do
      put(3 * c - 3 + r, 3 * c - 3 + r, 3 + math.random())
      q[3 * c - 3 + r] = math.random() - (r == 1 and 0.8 or 0.5)
    end
  end
  for _, pair in ipairs(pairs_) do
    for r = 1, 3 do
      for s = 1, 3 do
        local i, j, v = 3 * pair[1] - 3 + r, 3 * pair[2] - 3 + s, 0.5 * (math.random() - 0.5)
        put(i, j, v)
        put(j, i, v)
      end
    end
  end
  return { W = ns.sparse(W), q = q, mu = 0.4 }
end

-- Runs f with each number of threads; returns its results as text.
local function with_threads(f)
  local out = {}
  for k, n in ipairs { 1, 2, 3, 7, 2 } do
    ns.threads(n)
    out[k] = f()
  end
  return out
end

local function same_bits(out)
  for k = 2, #out do assert.equal(out[1], out[k]) end
end

local function text(...)
  local parts = {}
  for _, v in ipairs { ... } do
    for i = 1, #v do parts[#parts + 1] = ("%a"):format(v[i]) end
  end
  return table.concat(parts, " ")
end

local function solve(p)
  local a = ns.numerics.fc3d { W = p.W, q = p.q, mu = p.mu, tolerance = 1e-6 }
  assert.is_true(a.success)
  return a.solver .. a.iterations .. text(a.r, a.u)
end

describe("ns.threads", function()
  after_each(function() ns.threads(1) end)

  it("tells and sets the number", function()
    assert.equal(1, ns.threads())
    assert.equal(5, ns.threads(5))
    assert.equal(5, ns.threads())
    assert.equal(5, ns.threads(nil))
    for got, bad in pairs { ["0"] = 0, ["1025"] = 1025, ["1.5"] = 1.5, ["-1"] = -1, ["an empty table"] = {}, string = "2" } do
      local ok, why = pcall(ns.threads, bad)
      assert.is_false(ok)
      assert.equal("threads: n: expected an integer from 1 to 1024, got " .. got, (tostring(why):gsub("^.-: threads", "threads")))
    end
    assert.equal(5, ns.threads())
  end)

  it("runs each task once, also nested ones, and fails as a loop does", function()
    for _, n in ipairs { 1, 2, 3, 7 } do
      ns.threads(n)
      for _ = 1, 20 do
        assert.same({ "NS_OK", 200, 0 }, { internal.pool(n, 200, 201) })
        local status, before, after = internal.pool(n, 200, 38)
        assert.same({ "NS_ENAN", 37 }, { status, before })
        assert.is_true(after >= 1 and after <= n)
        assert.same({ "NS_EARG", 0 }, { internal.pool(n, 200, 1), 0 })
      end
    end
  end)

  it("gives islands the same bits", function()
    math.randomseed(11)
    local met, count = {}, 0
    for island = 1, 60 do
      local size = island % 20 == 0 and 55 or math.random(1, 14)
      for c = 2, size do met[#met + 1] = { count + c, count + math.random(1, c - 1) } end
      count = count + size
    end
    local p = problem(count, met)
    same_bits(with_threads(function() return solve(p) end))
  end)

  it("gives rows and contacts in islands the same bits", function()
    math.randomseed(12)
    same_bits(with_threads(function()
      math.randomseed(13)
      local met = {}
      for c = 2, 90 do
        if c % 6 ~= 0 then met[#met + 1] = { c, c - 1 } end
      end
      local p, groups = problem(90, met), {}
      for c = 1, 90 do
        if c % 4 == 0 then
          for _ = 1, 3 do groups[#groups + 1] = { lower = -1, upper = 0.5 } end
        else
          groups[#groups + 1] = { mu = 0.3, dim = 3 }
        end
      end
      local rows = internal.mixed({ { W = p.W:tomatrix(), sparse = true, q = p.q, groups = groups } })[1]
      assert.equal("NS_OK", rows.status)
      return text(rows.z, rows.w)
    end))
  end)

  it("gives sweeps over one heap the same bits #once", function()
    math.randomseed(14)
    local met, side = {}, 52
    for c = 0, side * side - 1 do
      if c % side > 0 then met[#met + 1] = { c + 1, c } end
      if c >= side then met[#met + 1] = { c + 1, c + 1 - side } end
    end
    local p = problem(side * side, met)
    same_bits(with_threads(function() return solve(p) end))
  end)

  it("gives a pour the same bits #once", function()
    same_bits(with_threads(function()
      local nsds, R, systems = ns.NonSmoothDynamicalSystem(0, 0.06), 0.05, {}
      local contacts = ns.contact.space { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, 0.5, 3), reach = 0.02 }
      for i = 0, 299 do
        local x, y, z = i % 10, i // 10 % 10, i // 100
        local ds = ns.NewtonEulerDS({ 0.101 * x, 0.101 * y + 0.01 * z, R + 0.0995 * z, 1, 0, 0, 0 },
          { 0.1 * (x % 3), 0, -0.2 * (y % 2), 0, 0, 0 }, 1, 0.001 * ns.eye(3))
        ds:setFExtPtr { 0, 0, -9.81 }
        nsds:insertDynamicalSystem(ds)
        contacts:add_sphere(ds, R)
        systems[#systems + 1] = ds
      end
      contacts:add_plane(ns.contact.plane({ 0, 0, 0 }, { 0, 0, 1 }))
      contacts:update()
      local problem_ = ns.FrictionContact(3, { tolerance = 1e-4 })
      local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 2e-3), ns.MoreauJeanOSI(0.5), problem_)
      local most = 0
      for _ in simu:steps() do
        contacts:update()
        most = math.max(most, problem_:size())
      end
      assert.is_true(most > 300)
      local v = {}
      for k, ds in ipairs(systems) do v[k] = ds:velocity() end
      return text(table.unpack(v))
    end))
  end)

  it("is 1 in workers, which solve as this process does", function()
    math.randomseed(15)
    local p = problem(60, { { 1, 2 }, { 4, 5 } })
    ns.threads(3)
    local here = solve(p)
    local s = ns.sweep { parameters = { k = ns.linspace(1, 4, 4) }, workers = 2, run = function()
      local before = ns.threads()
      local alone = solve(p) == here
      ns.threads(2)
      local together = solve(p) == here
      ns.threads(1)
      return before + (alone and together and 10 or 0)
    end }
    assert.equal(44, s:table().value:sum())
    assert.equal(3, ns.threads())
    assert.equal(here, solve(p))
  end)
end)

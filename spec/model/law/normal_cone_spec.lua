local ns = require "nslua"
local h = 0.1
local H, K = { { 1, 0 }, { -h / 2, 1 }, { -1, 0 }, { h / 2, -1 } }, { -1, -1, -1, -1 }

local function twisting(problem)
  local ds = ns.FirstOrderLinearTIDS({ 10, 10 }, { { 0, 1 }, { 0, 0 } })
  local relation = ns.FirstOrderLinearTIR({ { 1, 0 }, { 0, 1 } }, { { 0, 0 }, { 10, 3 } })
  local nsds = ns.NonSmoothDynamicalSystem(0, 19.9)
  nsds:insertDynamicalSystem(ds)
  local law = ns.NormalConeNSL(2, H, K)
  local inter = ns.Interaction(law, relation)
  nsds:link(inter, ds)
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, h), ns.EulerMoreauOSI(0.5), problem)
  return simu, ds, inter
end

local function reference()
  local rows = {}
  for line in io.lines("spec/reference/twisting.csv") do
    local row, _, x1, x2 = line:match("^(%d+),(.-),(.-),(.-)$")
    if row then rows[tonumber(row)] = { tonumber(x1), tonumber(x2) } end
  end
  return rows
end

describe("NormalConeNSL", function()
  it("runs the implicit twisting controller as the reference does, to zero in finite time", function()
    local rows, seen, k = reference(), 0, 0
    local simu, ds, inter = twisting(ns.AVI())
    while simu:hasNextEvent() do
      simu:computeOneStep()
      k = k + 1
      local x, lambda = ds:x(), inter:lambda_(0)
      if rows[k] then
        seen = seen + 1
        assert.near(rows[k][1], x[1], 1e-9)
        assert.near(rows[k][2], x[2], 1e-9)
      end
      assert.is_true(math.abs(lambda[1]) <= 1 + 1e-14 and math.abs(lambda[2] - h / 2 * lambda[1]) <= 1 + 1e-14)
      simu:nextStep()
    end
    assert.equal(199, k)
    assert.is_true(seen > 20)
    assert.is_true(math.abs(ds:x()[1]) < 1e-9 and math.abs(ds:x()[2]) < 1e-9)
  end)

  it("takes a polygon with 0 inside, whatever its units", function()
    for _, size in ipairs { 1e-9, 0.1, 0.2, 0.3, 0.7, 1e6 } do
      local law = ns.NormalConeNSL(2, { { 1, 1 }, { -1, 0 }, { 0, -1 } }, { -2 * size, -3 * size, -3 * size })
      assert.equal("NormalConeNSL of size 2, 3 rows", tostring(law))
    end
  end)

  it("stands beside box laws in one problem", function()
    local ds = ns.FirstOrderLinearTIDS({ 1, -2, 3 }, { { 0, 0, 0 }, { 0, 0, 0 }, { 0, 0, 0 } })
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    local square = ns.NormalConeNSL(2, { { 1, 0 }, { -1, 0 }, { 0, 1 }, { 0, -1 } }, { -1, -1, -1, -1 })
    nsds:link(ns.Interaction(square, ns.FirstOrderLinearTIR({ { 1, 0, 0 }, { 0, 1, 0 } }, { { 1, 0 }, { 0, 1 }, { 0,
      0 } })), ds)
    nsds:link(ns.Interaction(ns.RelayNSL(1), ns.FirstOrderLinearTIR({ { 0, 0, 1 } }, { { 0 }, { 0 }, { 1 } })), ds)
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.5), ns.EulerMoreauOSI(1), ns.AVI())
    simu:computeOneStep()
    local x = ds:x()
    assert.same({ 0.5, -1.5, 2.5 }, { x[1], x[2], x[3] })
  end)

  it("tells its rows, prints and clones", function()
    local law = ns.NormalConeNSL(2, H, K)
    assert.equal("NormalConeNSL of size 2, 4 rows", tostring(law))
    assert.equal(-0.05, law:H()[2][1])
    assert.equal(-1, law:K()[4])
    assert.is_nil(rawget(debug.getregistry().RelayNSL.__index, "H"))
  end)

  it("refuses bad data and an empty set, by name", function()
    local function fails(text, ...)
      local args = table.pack(...)
      assert.error_matches(function() ns.NormalConeNSL(table.unpack(args, 1, args.n)) end, text, 1, true)
    end
    fails("NormalConeNSL: size: expected 1..268435456, got 0", 0, H, K)
    fails("NormalConeNSL: H[1]: expected 3 numbers, got 2", 3, H, K)
    fails("NormalConeNSL: K: expected a vector of 4, got", 2, H, { 1 })
    fails("NormalConeNSL: K[2] is inf", 2, H, { 1, math.huge, 1, 1 })
    fails("NormalConeNSL: no lambda has H lambda >= K: the set is empty", 1, { { 1 }, { -1 } }, { 1, 0 })
  end)

  it("is refused by the other one-step problems", function()
    assert.error_matches(function() twisting(ns.MLCP()):computeOneStep() end, "has a NormalConeNSL; use AVI", 1, true)
  end)

  it("starts at the point of the set nearest to 0", function()
    local function start(rows, k)
      local n = #rows[1]
      return ns.Interaction(ns.NormalConeNSL(n, rows, k), ns.FirstOrderLinearTIR(ns.eye(n), ns.eye(n))):lambda(0):totable()
    end
    assert.same({ 0, 0 }, start({ { 3, 4 } }, { 0 }))
    local half = start({ { 3, 4 } }, { 10 })
    assert.is_true(math.abs(half[1] - 1.2) < 1e-14 and math.abs(half[2] - 1.6) < 1e-14)
    assert.same({ 2, -1 }, start({ { 1, 0 }, { 0, -1 } }, { 2, 1 }))
  end)

  it("takes every set that holds 0, however its faces lie", function()
    math.randomseed(5)
    for _ = 1, 1000 do
      local d, m, rows, k = math.random(5), math.random(8), {}, {}
      for r = 1, m do
        rows[r] = {}
        for j = 1, d do rows[r][j] = math.random(-3, 3) / math.random(7) end
        k[r] = -math.random() / math.random(3)
      end
      assert.equal(d, ns.NormalConeNSL(d, rows, k):size())
      local result = ns.numerics.normal_cone { M = ns.eye(d), q = ns.vector(d), H = rows, K = k }
      assert.is_true(result.success)
      assert.is_true(result.z:norm() < 1e-10)
    end
  end)
end)

-- The global form of the theta scheme: the same steps as with a Delassus matrix, at a cost that is linear in the size.
local ns = require "nslua"

-- A column of beads over a floor, as one system with a sparse relation.
local function beads(o)
  local n, q0, b, i, j, v = o.n, {}, {}, {}, {}, {}
  local function put(r, c, x) i[#i + 1], j[#j + 1], v[#v + 1] = r, c, x end
  for k = 1, n do
    q0[k], b[k] = k + 0.01 * (k % 3), -1
    put(k, k, 1)
    if k > 1 then put(k, k - 1, -1) end
  end
  local C = ns.sparse { rows = n, cols = n, i = i, j = j, v = v }
  local ds = ns.LagrangianLinearTIDS(q0, ns.zeros(n), o.dense and ns.eye(n) or ns.speye(n), o.K, o.C)
  ds:setFExtPtr(-9.81 * ns.ones(n))
  local contacts = ns.Interaction(ns.NewtonImpactNSL(n, o.e or 0.5), ns.LagrangianLinearTIR(o.dense and C:tomatrix() or C, b))
  local nsds = ns.NonSmoothDynamicalSystem(0, o.T or 0.5)
  nsds:insertDynamicalSystem(ds)
  nsds:link(contacts, ds)
  local make = o.osi or ns.MoreauJeanOSI
  return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 5e-3), make(o.theta or 0.5)), ds, contacts
end

local function difference(a, b)
  local most = 0
  for k = 1, #a do most = math.max(most, math.abs(a[k] - b[k])) end
  return most
end

describe("MoreauJeanGOSI", function()
  it("takes the steps of MoreauJeanOSI", function()
    for _, theta in ipairs { 0.5, 0.8 } do
      local K, C = 50 * ns.speye(20), 0.3 * ns.speye(20)
      local one, a, ca = beads { n = 20, dense = true, theta = theta, K = K:tomatrix(), C = C:tomatrix() }
      local two, b, cb = beads { n = 20, osi = ns.MoreauJeanGOSI, theta = theta, K = K, C = C }
      local before = two:energy().total
      assert.equal(before, one:energy().total)
      for _ in one:steps() do
        two:computeOneStep()
        assert.is_true(difference(a:x(), b:x()) < 1e-10)
        assert.is_true(difference(ca:lambda(), cb:lambda()) < 1e-9)
        assert.is_true(difference(ca:y(1), cb:y(1)) < 1e-9)
        two:nextStep()
      end
      local e, f = one:energy(), two:energy()
      for name, value in pairs(e) do assert.near(value, f[name], 1e-9 * before) end
      assert.near(f.total, before + f.forces + f.damping + f.impacts + f.friction + f.numerical, 1e-11 * before)
    end
  end)

  it("is taken for sparse models without being asked for, and forms its matrix once", function()
    local simu = beads { n = 200 }
    simu:run()
    assert.is_nil(simu:osnspb():M())
    assert.equal(1, simu:stats().factorizations)
  end)

  it("joins systems of their own, as many bodies", function()
    local n = 120
    local nsds = ns.NonSmoothDynamicalSystem(0, 0.2)
    local before, last
    for k = 1, n do
      local bead = ns.LagrangianLinearTIDS({ k }, { 0 }, { { 1 } })
      bead:setFExtPtr { -9.81 }
      nsds:insertDynamicalSystem(bead)
      if before then
        nsds:link(ns.Interaction(ns.NewtonImpactNSL(0), ns.LagrangianLinearTIR({ { -1, 1 } }, { -1 })), before, bead)
      else
        nsds:link(ns.Interaction(ns.NewtonImpactNSL(0), ns.LagrangianLinearTIR({ { 1 } }, { -1 })), bead)
      end
      before, last = bead, bead
    end
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 1e-2), ns.MoreauJeanOSI(0.5))
    simu:run()
    assert.near(n, last:q()[1], 1e-12) -- all at rest: the lowest carries all
    assert.near(n * 9.81e-2, nsds:interaction(1):lambda()[1], 1e-9)
  end)

  it("says what it does not take", function()
    local ds = ns.LagrangianDS { q0 = { 1 }, v0 = { 0 }, fInt = function(_, q, _, _, f) f[1] = q[1] end, name = "arm" }
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    assert.error_matches(function() ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.MoreauJeanGOSI(0.5)) end,
      "MoreauJeanGOSI: dynamical system 'arm' is not linear; use MoreauJeanOSI")
    local function refused(law, relation)
      local disk = ns.LagrangianLinearTIDS({ 1, 0 }, { 0, 0 }, ns.eye(2))
      local graph = ns.NonSmoothDynamicalSystem(0, 1)
      graph:insertDynamicalSystem(disk)
      graph:link(ns.Interaction(law, relation, "floor"), disk)
      return function() ns.TimeStepping(graph, ns.TimeDiscretisation(0, 0.1), ns.MoreauJeanGOSI(0.5)) end
    end
    assert.error_matches(refused(ns.NewtonImpactFrictionNSL(0, 0, 0.3, 2), ns.LagrangianLinearTIR(ns.eye(2))),
      "MoreauJeanGOSI: interaction 'floor' has friction; use MoreauJeanOSI")
    assert.error_matches(refused(ns.ComplementarityConditionNSL(1), ns.LagrangianCompliantLinearTIR({ { 1, 0 } }, { { 1 } })),
      "MoreauJeanGOSI: interaction 'floor' has a LagrangianCompliantLinearTIR; use MoreauJeanOSI")
  end)
end)

describe("numbers of the global form that overflow", function()
  it("are told, and the state stays", function()
    local ds = ns.LagrangianLinearTIDS({ 0 }, { 1.7e308 }, { { 1 } })
    ds:setFExtPtr { 1.7e308 }
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 1), ns.MoreauJeanGOSI(1))
    local good, err = pcall(simu.computeOneStep, simu)
    assert.is_false(good)
    assert.truthy(err:find("dynamical system 'ds 1': v[1] became inf (t=1 step 1", 1, true), err)
    assert.equal(1.7e308, ds:velocity()[1])
  end)
end)

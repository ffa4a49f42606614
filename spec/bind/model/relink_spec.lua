-- The clone of a model: what looks at an object of the original looks at its clone.
local ns = require "nslua"

local function follow(simu)
  local rows = {}
  while simu:hasNextEvent() do
    simu:computeOneStep()
    local row = {}
    for i = 0, simu:nsds():getNumberOfDS() - 1 do
      local ds = simu:nsds():dynamicalSystem(i + 1)
      for _, x in ipairs(ds:x():totable()) do row[#row + 1] = ("%a"):format(x) end
    end
    rows[#rows + 1] = table.concat(row, " ")
    simu:nextStep()
  end
  return rows
end

-- A clone in the middle goes on with the bits of the original, also after that has been spoilt.
local function same(make, spoil)
  local want = follow((make()))
  for _, at in ipairs { 0, 1, 7 } do
    local simu, parts = make()
    for _ = 1, at do simu:computeOneStep() simu:nextStep() end
    local copy = simu:clone()
    if spoil then spoil(parts) else simu:run() end
    assert.same({ table.unpack(want, at + 1) }, follow(copy))
  end
end

local function simulation(systems, links)
  local nsds = ns.NonSmoothDynamicalSystem(0, 1)
  for _, ds in ipairs(systems) do nsds:insertDynamicalSystem(ds) end
  for _, link in ipairs(links or {}) do nsds:link(table.unpack(link)) end
  return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.05), systems.osi or ns.EulerMoreauOSI(0.5))
end

-- A source that oscillates, and a sink that is driven by its z.
local function driven(z_of)
  local a = ns.FirstOrderLinearDS { x0 = { 1, 0.5 }, A = { { 0, 3 }, { -3, 0 } } }
  local b = ns.FirstOrderNonLinearDS { x0 = { 0 }, z = z_of(a), f = function(_, x, z, d) d[1] = z[1] - x[1] end }
  return simulation { a, b }, { a = a, b = b }
end

describe("a coefficient that is a view of a state", function()
  it("is that state when a step begins, whatever moves it", function()
    local a = ns.FirstOrderLinearDS { x0 = { 1 }, A = { { -1 } } }
    local inter = ns.Interaction(ns.RelayNSL(1, -1, 1), ns.FirstOrderLinearTIR({ { 1 } }, { { -0.25 } }))
    local b = ns.FirstOrderLinearDS { x0 = { 0 }, A = { { 0 } } }
    local c = ns.FirstOrderLinearDS { x0 = { 0 }, A = { { 0 } } }
    b:setbPtr(a:x())
    c:setbPtr(inter:lambda(0))
    local simu = simulation({ a, b, c }, { { inter, a } })
    local sum, pushed = 0, 0
    while simu:hasNextEvent() do
      sum, pushed = sum + 0.05 * a:x()[1], pushed + 0.05 * inter:lambda(0)[1]
      simu:computeOneStep()
      simu:nextStep()
      assert.near(sum, b:x()[1], 1e-15)
      assert.near(pushed, c:x()[1], 1e-15)
    end
    assert.is_true(sum > 0.1 and sum < 0.9 and pushed ~= 0)
  end)
end)

describe("the clone of a model", function()
  it("has forces that are its own system's state", function()
    for _, class in ipairs { "LagrangianDS", "LagrangianLinearTIDS" } do
      same(function()
        local a = ns.LagrangianDS({ 1 }, { 0.5 }, { { 1 } })
        local b = ns[class]({ 0 }, { 0 }, { { 1 } })
        b:setFExtPtr(a:q())
        return simulation { a, b, osi = ns.MoreauJeanOSI(0.5) }, { a = a, b = b }
      end)
    end
  end)

  it("has parameters z that are its own system's state", function()
    for _, z_of in ipairs { function(a) return a:x() end, function(a) return a:x()(2, 2) end } do
      same(function() return driven(z_of) end)
      same(function() return driven(z_of) end, function(parts)
        parts.a:x():fill(100)
        parts.a:close()
      end)
    end
  end)

  it("has a relation's z, a coefficient and fields that are views of its own systems", function()
    same(function()
      local a = ns.FirstOrderLinearDS { x0 = { 1, 0.5 }, A = { { 0, 3 }, { -3, 0 } } }
      local b = ns.FirstOrderLinearDS { x0 = { 0.3 }, A = { { -1 } } }
      local relation = ns.FirstOrderNonLinearR { z = a:x(), h = function(_, x, _, z, y) y[1] = x[1] - z[2] end,
        g = function(_, _, lambda, _, r) r[1] = -lambda[1] end }
      return simulation({ a, b }, { { ns.Interaction(ns.RelayNSL(1, -1, 1), relation), b } })
    end)
    same(function()
      local a = ns.FirstOrderLinearDS { x0 = { 1, 0.5 }, A = { { 0, 3 }, { -3, 0 } } }
      local b = ns.FirstOrderLinearDS { x0 = { 0.3, 1 }, A = { { -1, 0 }, { 0, -2 } } }
      b:setbPtr(a:x())
      return simulation { a, b }
    end)
    same(function()
      local Sink = ns.class(ns.FirstOrderNonLinearDS)
      function Sink:computef(_, x, _, d) d[1] = self.source:x()[1] - x[1] + self.seen[2] end
      local a = ns.FirstOrderLinearDS { x0 = { 1, 0.5 }, A = { { 0, 3 }, { -3, 0 } } }
      local b = Sink { 0 }
      b.source, b.seen = a, a:x()
      return simulation { a, b }
    end)
  end)

  it("has them of mechanics and of multipliers too", function()
    for _, view in ipairs { "q", "velocity" } do
      same(function()
        local ball = ns.LagrangianLinearTIDS({ 0.2 }, { -1 }, { { 1 } })
        local other = ns.LagrangianDS { q0 = { 1 }, v0 = { 0 }, mass = { { 1 } }, z = ball[view](ball),
          fInt = function(_, q, _, z, f) f[1] = q[1] - 3 * z[1] end }
        return simulation({ ball, other, osi = ns.MoreauJeanOSI(0.5) },
          { { ns.Interaction(ns.NewtonImpactNSL(0.5), ns.LagrangianLinearTIR { { 1 } }), ball } })
      end)
    end
    same(function()
      local a = ns.FirstOrderLinearDS { x0 = { 1 }, A = { { -1 } } }
      local inter = ns.Interaction(ns.RelayNSL(1, -1, 1), ns.FirstOrderLinearTIR({ { 1 } }, { { -0.5 } }))
      local b = ns.FirstOrderNonLinearDS { x0 = { 0 }, z = inter:lambda(0), f = function(_, _, z, d) d[1] = z[1] end }
      return simulation({ a, b }, { { inter, a } })
    end)
  end)

  it("has parameters that are one vector where the original's are one", function()
    local z = ns.vector { 1, 2, 3 }
    local function f(_, x, p, d) d[1] = p[1] * x[1] end
    local a = ns.FirstOrderNonLinearDS { x0 = { 1 }, f = f }
    local b = ns.FirstOrderNonLinearDS { x0 = { 1 }, f = f }
    local c = ns.FirstOrderNonLinearDS { x0 = { 1 }, f = f }
    local e = ns.FirstOrderNonLinearDS { x0 = { 1 }, f = f, z = { 1, 2, 3 } }
    a:setzPtr(z)
    b:setzPtr(z)
    c:setzPtr(b:z()(2, 3))
    local simu = simulation { a, b, c, e }
    local graph = simu:clone():nsds()
    local a2, b2, c2, e2 = graph:dynamicalSystem(1), graph:dynamicalSystem(2), graph:dynamicalSystem(3), graph:dynamicalSystem(4)
    a2:z()[2] = 7
    assert.same({ 1, 7, 3 }, b2:z():totable())
    assert.same({ 7, 3 }, c2:z():totable())
    assert.same({ 1, 2, 3 }, e2:z():totable())
    assert.same({ 1, 2, 3 }, z:totable())
    z[2] = 9
    assert.same({ 1, 7, 3 }, a2:z():totable())
  end)

  it("goes on looking at what is no part of the model", function()
    local outside = ns.FirstOrderLinearDS { x0 = { 2 }, A = { { -1 } } }
    local b = ns.FirstOrderNonLinearDS { x0 = { 0 }, z = outside:x(), f = function(_, _, z, d) d[1] = z[1] end }
    local copy = simulation({ b }):clone()
    outside:x()[1] = 5
    copy:computeOneStep()
    assert.equal(0.25, copy:nsds():dynamicalSystem(1):x()[1])
  end)

  it("has the simulation, the integrator and the graph in fields that hold them", function()
    local Seen = ns.class(ns.FirstOrderNonLinearDS)
    function Seen:computef(_, _, _, d) d[1] = self.osi:theta() end
    local a = Seen { 0 }
    local simu = simulation { a }
    a.osi, a.graph, a.simu, a.own = simu:osi(), simu:nsds(), simu, a
    local copy = simu:clone()
    local a2 = copy:nsds():dynamicalSystem(1)
    assert.is_true(rawequal(a2, a2.own) and rawequal(copy, a2.simu))
    simu:osi():setTheta(1)
    assert.equal(0.5, a2.osi:theta())
  end)

  it("says what it has no counterpart of", function()
    local a = ns.LagrangianDS { q0 = { 1 }, v0 = { 0 }, mass = { { 1 } } }
    a:computeForces(0)
    local b = ns.LagrangianDS { q0 = { 1 }, v0 = { 0 }, mass = { { 1 } }, z = a:forces(), name = "b" }
    local simu = simulation { a, b, osi = ns.MoreauJeanOSI(0.5) }
    local good, err = pcall(simu.clone, simu)
    assert.is_false(good)
    assert.matches("clone: dynamical system 'b': z is a view of forces of a LagrangianDS, of which a clone has none: "
      .. "copy it, or set it in the clone", err, 1, true)
  end)
end)

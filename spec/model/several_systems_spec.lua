-- Interactions of three and four systems: the motion, its derivatives, its clones and checkpoints are those of one system with the
-- same coordinates.
local expect = require "expect"
local host = require "host"
local ns = require "nslua"

local MASS, V, F = { 1, 2, 3, 4 }, { 1, -0.5, 0.25, 2 }, { 1, 2, -1, 0.5 }

-- Four masses on a line, one system each or one system in all, with an equation between all of them and a stop of the first three.
local function masses(split, make)
  local nsds, ds = ns.NonSmoothDynamicalSystem(0, 1), {}
  local all = ns.zeros(4, 4)
  for i = 1, 4 do
    all[i][i] = MASS[i]
    if split then
      ds[i] = ns.LagrangianLinearTIDS({ 0.1 * i }, { V[i] }, { { MASS[i] } })
      ds[i]:setFExtPtr { F[i] }
    end
  end
  if not split then
    ds[1] = ns.LagrangianLinearTIDS({ 0.1, 0.2, 0.3, 0.4 }, V, all)
    ds[1]:setFExtPtr(F)
  end
  for _, one in ipairs(ds) do nsds:insertDynamicalSystem(one) end
  nsds:link(ns.Interaction(ns.EqualityConditionNSL(1), ns.LagrangianLinearTIR({ { 1, -2, 1, 0.5 } }, { -0.2 }), "tie"),
    table.unpack(ds))
  local stop = split and { { -1, -1, -1 } } or { { -1, -1, -1, 0 } }
  nsds:link(ns.Interaction(ns.NewtonImpactNSL(0.5), ns.LagrangianLinearTIR(stop, { 1.5 }), "stop"), ds[1], ds[2], ds[3])
  return make(nsds, ns.TimeDiscretisation(0, 0.05)), nsds
end

local function coordinates(nsds)
  local all = {}
  for d = 1, nsds:numberOfDynamicalSystems() do
    local q = nsds:dynamicalSystem(d):q()
    for i = 1, #q do all[#all + 1] = q[i] end
  end
  return ns.vector(all)
end

local schemes = {
  EventDriven = function(nsds, td) return ns.EventDriven(nsds, td, ns.RungeKuttaOSI(1e-10, 1e-10)) end,
  MoreauJeanOSI = function(nsds, td) return ns.TimeStepping(nsds, td, ns.MoreauJeanOSI(0.5)) end,
  MoreauJeanGOSI = function(nsds, td) return ns.TimeStepping(nsds, td, ns.MoreauJeanGOSI(0.5)) end,
  MoreauJeanBilbaoOSI = function(nsds, td) return ns.TimeStepping(nsds, td, ns.MoreauJeanBilbaoOSI()) end,
  SchatzmanPaoliOSI = function(nsds, td) return ns.TimeStepping(nsds, td, ns.SchatzmanPaoliOSI(0.5)) end,
  D1MinusLinearOSI = function(nsds, td) return ns.TimeStepping(nsds, td, ns.D1MinusLinearOSI()) end,
  FESDOSI = function(nsds, td) return ns.TimeStepping(nsds, td, ns.FESDOSI()) end,
  ["a projection"] = function(nsds, td) return ns.TimeSteppingDirectProjection(nsds, td, ns.MoreauJeanOSI(0.5)) end,
  ["both projections"] = function(nsds, td) return ns.TimeSteppingCombinedProjection(nsds, td, ns.MoreauJeanOSI(0.5)) end,
}

describe("an interaction of four systems", function()
  for name, make in pairs(schemes) do
    it("moves them as one system, by " .. name, function()
      local simu, nsds = masses(true, make)
      local one, whole = masses(false, make)
      simu:run()
      one:run()
      assert.is_true((coordinates(nsds) - coordinates(whole)):norm() < 1e-14)
    end)
  end

  it("has the derivatives of one system, forward and by the adjoint", function()
    local gradient = {}
    for k, split in ipairs { true, false } do
      for _, method in ipairs { "forward", "adjoint" } do
        local simu, nsds = masses(split, schemes.EventDriven)
        local parameters = { { nsds:interaction(2):nonSmoothLaw(), "en" }, { nsds:interaction(1):relation(), "C", 1, 2 } }
        local _, by = simu:gradient { parameters = parameters, method = method, terminal = function(x) return x[1] ^ 2 end }
        gradient[#gradient + 1] = by
        assert.is_true(k > 1 or math.abs(by[1]) > 1e-3 and math.abs(by[2]) > 1e-3)
      end
    end
    for k = 2, 4 do assert.is_true((gradient[k] - gradient[1]):norm() < 1e-9) end
  end)

  it("goes on in a clone and from a checkpoint with the same bits", function()
    local simu, nsds = masses(true, schemes.EventDriven)
    for _ = 1, 5 do
      simu:computeOneStep()
      simu:nextStep()
    end
    local file = host.new_directory() .. "/state"
    simu:save_state(file)
    local twin = simu:clone()
    simu:run()
    twin:run()
    local last = coordinates(nsds)
    assert.equal(last, coordinates(twin:nsds()))
    simu:load_state(file)
    simu:run()
    assert.equal(last, coordinates(nsds))
    host.remove(file:match "^(.*)/")
  end)
end)

describe("a first-order interaction of three systems", function()
  -- x' = -x + r with one multiplier, r = (1 + x_1 x_3) lambda in each, 0 <= x_1 + x_2 - x_3 + lambda _|_ lambda >= 0.
  local function make(split, osi, nonlinear, n)
    n = n or 1
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    for k = 1, n do
      local x0, ds = { -0.3 - 0.01 * k, 0.1, 0.5 }, {}
      if split then for i = 1, 3 do ds[i] = ns.FirstOrderLinearTIDS({ x0[i] }, { { -i } }) end
      else ds[1] = ns.FirstOrderLinearTIDS(x0, { { -1, 0, 0 }, { 0, -2, 0 }, { 0, 0, -3 } }) end
      for _, one in ipairs(ds) do nsds:insertDynamicalSystem(one) end
      local relation = nonlinear and ns.FirstOrderNonLinearR {
        h = function(_, x, lambda, _, y) y[1] = x[1] + x[2] - x[3] + lambda[1] end,
        g = function(_, x, lambda, _, r) for i = 1, 3 do r[i] = (1 + x[1] * x[3]) * lambda[1] end end,
      } or ns.FirstOrderLinearTIR({ { 1, 1, -1 } }, { { 1 }, { 1 }, { 1 } })
      if not nonlinear then relation:setDPtr { { 1 } } end
      nsds:link(ns.Interaction(ns.ComplementarityConditionNSL(1), relation), table.unpack(ds))
    end
    return osi(nsds, ns.TimeDiscretisation(0, 0.05)), nsds
  end

  local function states(nsds)
    local all = {}
    for d = 1, nsds:numberOfDynamicalSystems() do
      local x = nsds:dynamicalSystem(d):x()
      for i = 1, #x do all[#all + 1] = x[i] end
    end
    return ns.vector(all)
  end

  local kinds = {
    EulerMoreauOSI = function(nsds, td) return ns.TimeStepping(nsds, td, ns.EulerMoreauOSI(0.5)) end,
    EventDriven = function(nsds, td) return ns.EventDriven(nsds, td, ns.RungeKuttaOSI(1e-10, 1e-10)) end,
  }
  for name, osi in pairs(kinds) do
    for _, nonlinear in ipairs { false, true } do
      it(("moves them as one system, by %s%s"):format(name, nonlinear and ", with equations that depend on all" or ""), function()
        if nonlinear and name == "EventDriven" then return end -- r of x: not taken
        local simu, nsds = make(true, osi, nonlinear)
        local one, whole = make(false, osi, nonlinear)
        simu:run()
        one:run()
        assert.is_true((states(nsds) - states(whole)):norm() < 1e-12)
      end)
    end
  end
end)

describe("linking", function()
  it("refuses a system twice, more than four, and more than two of a contact", function()
    local nsds, ds = ns.NonSmoothDynamicalSystem(0, 1), {}
    for i = 1, 5 do
      ds[i] = ns.NewtonEulerDS({ 0, 0, 0, 1, 0, 0, 0 }, { 0, 0, 0, 0, 0, 0 }, 1, ns.eye(3))
      nsds:insertDynamicalSystem(ds[i])
    end
    local contact = ns.Interaction(ns.NewtonImpactNSL(0), ns.contact.sphere_sphere(1, 1, 1), "pair")
    expect.fails("link: two dynamical systems are the same ('ds 1')", nsds.link, nsds, contact, ds[1], ds[2], ds[1])
    expect.fails("link: the two dynamical systems are the same ('ds 1')", nsds.link, nsds, contact, ds[1], ds[1])
    expect.fails("link: a NewtonEuler1DR links one or two dynamical systems, got 3", nsds.link, nsds, contact, ds[1], ds[2], ds[3])
    expect.fails("link: an interaction links at most 4 dynamical systems, got 5", nsds.link, nsds, contact, table.unpack(ds))
  end)

  it("keeps systems that nobody else has while methods of the relation are looked up", function()
    local nsds, ds = ns.NonSmoothDynamicalSystem(0, 1), {}
    for i = 1, 2 do
      ds[i] = ns.LagrangianLinearTIDS({ 0 }, { 0 }, { { 1 } })
      nsds:insertDynamicalSystem(ds[i])
    end
    local class, gone = ns.class(ns.LagrangianScleronomousR), setmetatable({}, { __mode = "k" })
    local meta, present = getmetatable(class) or {}, nil
    local inherited = meta.__index
    function meta.__index(t, key)
      collectgarbage()
      present = next(gone) ~= nil
      if type(inherited) == "function" then return inherited(t, key) end
      return inherited and inherited[key]
    end
    setmetatable(class, meta)
    local interaction = ns.Interaction(ns.EqualityConditionNSL(1), class())
    local function stranger()
      local one = ns.LagrangianLinearTIDS({ 0 }, { 0 }, { { 1 } })
      gone[one] = true
      return one
    end
    expect.fails("link: dynamical system '?' is not in this NonSmoothDynamicalSystem (insertDynamicalSystem it first)",
      function() nsds.link(nsds, interaction, ds[1], ds[2], stranger()) end)
    assert.is_true(present)
  end)
end)

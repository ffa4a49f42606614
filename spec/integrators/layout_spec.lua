-- Systems and interactions in one layout: the order in which a script makes them changes only rounding, and errors name them.
local ns = require "nslua"
local message = require("bind.models").message

local function simulate(systems, links, osi, T, h)
  local nsds = ns.NonSmoothDynamicalSystem(0, T)
  for _, ds in ipairs(systems) do nsds:insertDynamicalSystem(ds) end
  for _, link in ipairs(links) do nsds:link(table.unpack(link)) end
  return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, h), osi)
end

-- A chain of n bodies with gaps and a wall, the first one thrown against it, made in that order of places.
local function chain(order, osi)
  local n, bodies, systems, links = #order, {}, {}, {}
  for i = 1, n do bodies[i] = ns.LagrangianLinearTIDS({ i }, { i == n and -3 or 0 }, { { 1 + i / n } }) end
  for k, i in ipairs(order) do
    systems[k] = bodies[i]
    local law = ns.NewtonImpactNSL(0.5)
    if i == 1 then links[k] = { ns.Interaction(law, ns.LagrangianLinearTIR { { 1 } }), bodies[1] }
    else
      links[k] = { ns.Interaction(law, ns.LagrangianLinearTIR({ { -1, 1 } }, { -0.9 })), bodies[i - 1], bodies[i] }
    end
  end
  simulate(systems, links, osi, 3, 0.01):run()
  local out = {}
  for i = 1, n do out[2 * i - 1], out[2 * i] = bodies[i]:q()[1], bodies[i]:velocity()[1] end
  return ns.vector(out)
end

describe("the layout", function()
  it("takes systems and interactions in any order", function()
    local n, straight, mixed = 9, {}, {}
    for i = 1, n do straight[i], mixed[i] = i, (4 * i) % n + 1 end
    for _, osi in ipairs { ns.MoreauJeanOSI(0.5), ns.SchatzmanPaoliOSI(0.5) } do
      local one, other = chain(straight, osi), chain(mixed, osi)
      assert.is_true((one - other):norm() < 1e-10, tostring(osi))
    end
  end)

  it("solves many rows sparse as few are solved dense", function()
    -- two bodies for each of many contacts of one heavy body: more rows than a dense problem has
    local function hit(n)
      local heavy = ns.LagrangianDS({ 0 }, { -1 }, { { n } })
      local links = {}
      for i = 1, n do
        local stop = ns.LagrangianScleronomousR { h = function(q, _, y) y[1] = q[1] + 0.5 end }
        links[i] = { ns.Interaction(ns.NewtonImpactNSL(0.25), stop), heavy }
      end
      simulate({ heavy }, links, ns.MoreauJeanOSI(0.5), 1, 0.1):run()
      return heavy:velocity()[1]
    end
    assert.near(0.25, hit(3), 1e-12)
    assert.near(0.25, hit(200), 1e-9)
  end)

  it("names the system and its row where the matrix of coupled systems is singular", function()
    local systems = {}
    for i = 1, 3 do
      systems[i] = ns.FirstOrderLinearTIDS({ 1, 1 }, { { -1, 0 }, { 0, i == 2 and 1 or -1 } })
      systems[i]:setName("tank " .. i)
    end
    -- r of each of two systems depends on the state of both
    local function couple()
      return ns.FirstOrderNonLinearR {
        h = function(_, x, _, _, y) y[1] = x[1] end,
        g = function(_, x, lambda, _, r) r[1], r[3] = lambda[1] * x[3], lambda[1] * x[1] end,
      }
    end
    local links = { { ns.Interaction(ns.RelayNSL(1, -1, 1), couple()), systems[1], systems[2] },
                    { ns.Interaction(ns.RelayNSL(1, -1, 1), couple()), systems[2], systems[3] } }
    local simu = simulate(systems, links, ns.EulerMoreauOSI(1), 2, 1)
    assert.matches("dynamical system 'tank 2': W = M %- h theta df/dx %- h gamma dg/dx is singular %(row 2, h=1%)",
      message(simu.computeOneStep, simu))
  end)
end)

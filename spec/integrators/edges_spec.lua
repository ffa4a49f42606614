-- Which interactions touch a system: the one-step problem of a random graph couples those that share one, and no others.
local ns = require "nslua"

local random = math.random

-- Systems of 1 to 3 states, and more interactions than systems, of one system or of two: their C, row by row, on the whole.
local function random_graph()
  local sizes, offset, links, n = {}, {}, {}, 0
  for i = 1, 6 do
    sizes[i], offset[i] = random(3), n
    n = n + sizes[i]
  end
  for e = 1, 11 do
    local a = random(6)
    local b = random(3) > 1 and (a + random(5) - 1) % 6 + 1 or nil
    if b == a then b = nil end
    links[e] = { a, b, m = random(2) }
  end
  return sizes, offset, links, n
end

-- M of the one-step problem, and what it is but for a factor: C C', all masses being 1.
local function matrices(system, link, integrator)
  local sizes, offset, links, n = random_graph()
  local nsds, ds, rows = ns.NonSmoothDynamicalSystem(0, 1), {}, 0
  for i, size in ipairs(sizes) do
    ds[i] = system(size)
    nsds:insertDynamicalSystem(ds[i])
  end
  for _, l in ipairs(links) do rows = rows + l.m end
  local C, row = ns.zeros(rows, n), 0
  for _, l in ipairs(links) do
    local width = sizes[l[1]] + (l[2] and sizes[l[2]] or 0)
    local own = ns.matrix(l.m, width)
    for i = 1, l.m do
      for j = 1, width do
        local first = j <= sizes[l[1]]
        own[i][j] = random() + 0.1
        C[row + i][first and offset[l[1]] + j or offset[l[2]] + j - sizes[l[1]]] = own[i][j]
      end
    end
    row = row + l.m
    if l[2] then nsds:link(link(own, l.m), ds[l[1]], ds[l[2]]) else nsds:link(link(own, l.m), ds[l[1]]) end
  end
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), integrator)
  simu:computeOneStep()
  return simu:osnspb():M(), C * C:transpose()
end

local function same(M, expected, what)
  local factor = M[1][1] / expected[1][1]
  assert.equal(#expected, #M, what)
  for i = 1, #M do
    for j = 1, #M do
      assert.near(factor * expected[i][j], M[i][j], 1e-13 * factor * #M, ("%s: [%d][%d]"):format(what, i, j))
      if expected[i][j] == 0 then assert.equal(0, M[i][j]) end
    end
  end
end

describe("the interactions of each system", function()
  setup(function() math.randomseed(20240815) end)

  local function check(system, link, integrator)
    for trial = 1, 6 do
      local M, expected = matrices(system, link, integrator)
      same(M, expected, "trial " .. trial)
    end
  end

  local function mass(n) return ns.LagrangianLinearTIDS(ns.zeros(n), ns.zeros(n), ns.eye(n)) end
  local function held(C, m) return ns.Interaction(ns.EqualityConditionNSL(m), ns.LagrangianLinearTIR(C)) end
  local function state(n) return ns.FirstOrderLinearTIDS(ns.zeros(n)) end

  it("are coupled by MoreauJeanOSI", function() check(mass, held, ns.MoreauJeanOSI(0.5)) end)

  it("are coupled by SchatzmanPaoliOSI", function() check(mass, held, ns.SchatzmanPaoliOSI(0.5)) end)

  it("are coupled by EulerMoreauOSI", function()
    check(state, function(C, m)
      return ns.Interaction(ns.RelayNSL(m), ns.FirstOrderLinearTIR(C, C:transpose()))
    end, ns.EulerMoreauOSI(1))
  end)

  it("are coupled by EulerMoreauOSI where systems share a matrix", function()
    check(state, function(C, m)
      local n = C:cols()
      local shared = random(3) == 1 and ns.zeros(n, n) or nil
      return ns.Interaction(ns.RelayNSL(m), ns.FirstOrderNonLinearR { C = C, B = C:transpose(), K = shared })
    end, ns.EulerMoreauOSI(1))
  end)
end)

-- Random models whose callbacks read parameters as their argument z, or by themselves: in a variable outside of them, in a part of
-- it, by a view, by a method of a system. aside.draw(family) gives a model: p, its parameters; build(p, kind, plain), with the kind
-- "ED" or "TS", a simulation and the vector of them; plain: all callbacks read their argument.
local ns = require "nslua"
local numbers = require "random_numbers"

local aside = { families = {} }
local between, families = numbers.uniform, aside.families

-- The ways to read number i of the vector p, of which `own` is the argument; of: a system that has p as z.
local ways = {
  function(_, own, i) return own[i] end,
  function(p, _, i) return p[i] end,
  function(p, _, i) return (p * 2)[i] / 2 end,
  function(p, _, i) return p:slice(i, i)[1] end,
  function(_, _, i, of) return of:z()[i] end,
  function(p, own, i) return i % 2 == 1 and p[i] or own[i] end,
  function(p, own, i) return (p[i] + own[i]) / 2 end,
}

-- ---- first order ----

-- A plant with a relay that switches where its output crosses 0. In time stepping the relay never switches.
function families.relay(read, p, kind)
  local f, h, g = read "f", read "h", read "g"
  local ds = ns.FirstOrderNonLinearDS { x0 = { 0.7, 0.3 }, z = p, f = function(t, x, z, out)
    out[1] = -f(1, z) ^ 2 * x[1] + f(2, z) * x[2] + math.sin(t)
    out[2] = -x[1] * x[2] * f(2, z)
  end }
  local relation = ns.FirstOrderNonLinearR {
    h = function(_, x, _, z, y) y[1] = x[1] - h(3, z) * 0.5 + (kind == "TS" and 5 or 0) end,
    g = function(_, x, lambda, z, r) r[2] = -g(1, z) * lambda[1] * (1 + x[1]) end }
  return { ds }, { { ns.RelayNSL(1, -1, 1), relation, ds } }
end

-- A law whose bound reads what no argument gives; an equality, whose multiplier holds an output.
function families.bound(read, p, kind)
  local f, h, e = read "f", read "h", read "e"
  local ds = ns.FirstOrderNonLinearDS { x0 = { 0.1, 0.5, 0.1 }, z = p, f = function(t, x, z, out)
    out[1] = x[2] * f(1, z)
    out[2] = -x[1] - 0.3 * x[2] + f(3, z) * t
    out[3] = -x[3] + x[1] * x[2]
  end }
  local ub = ns.RelayNSL(1, -1, function(t) return 0.5 + p[2] ^ 2 * (1 + t) end)
  local slip = ns.FirstOrderLinearR { C = { { 0, 1, 0 } }, B = { { 0 }, { -1 }, { 0 } },
    e = function(_, z, out) out[1] = (kind == "TS" and 5 or 0) - e(2, z) * 0.3 end }
  local held = ns.FirstOrderNonLinearR { h = function(_, x, lambda, z, y) y[1] = x[1] * h(3, z) + x[2] - h(1, z) - lambda[1] end,
    g = function(_, _, lambda, _, r) r[3] = lambda[1] end }
  return { ds }, { { ub, slip, ds }, { ns.EqualityConditionNSL(1), held, ds } }
end

-- Linear systems with coefficients that are functions; the second one is driven by what belongs to the first, as is a third, alone.
function families.linear(read, p)
  local A, b, M = read "A", read "b", read "M"
  local ds = ns.FirstOrderLinearDS { x0 = { 0.7, -0.2 }, z = p,
    A = function(t, z, out) out[1][1], out[1][2], out[2][1], out[2][2] = -A(1, z), 1, -1 - 0.1 * t, -0.2 * A(2, z) end,
    b = function(t, z, out) out[1], out[2] = b(3, z) * math.cos(t), b(1, z) ^ 2 end,
    M = function(_, z, out) out[1][1], out[1][2], out[2][2] = 1 + M(2, z) ^ 2, 0.1, 2 end }
  local second = ns.FirstOrderNonLinearDS { x0 = { 0.4 }, f = function(_, x, _, out) out[1] = p[1] * p[2] - x[1] ^ 2 end }
  local third = ns.FirstOrderNonLinearDS { x0 = { 0.1 }, f = function(_, x, _, out) out[1] = ds:z()[3] * x[1] end }
  local relation = ns.FirstOrderLinearTIR { C = { { 1, 0, -1 } }, B = { { -1 }, { 0 }, { 1 } }, D = { { 1 } } }
  return { ds, second, third }, { { ns.EqualityConditionNSL(1), relation, ds, second } }
end

-- ---- mechanics ----

-- A point with all forces, over a floor that moves and whose height it reads. In time stepping it flies.
function families.flight(read, p, kind)
  local mass, int, gyr, ext, h = read "mass", read "int", read "gyr", read "ext", read "h"
  local ds = ns.LagrangianDS { q0 = { 0, 1 }, v0 = { 0.5, 0 }, z = p,
    mass = function(q, z, M) M[1][1], M[2][2] = 1 + mass(1, z) ^ 2 + q[1] ^ 2 / 9, mass(2, z) + 0.5 end,
    fInt = function(_, q, v, z, f) f[1], f[2] = int(2, z) * q[1] ^ 3 + 0.1 * v[1], 0.2 * int(3, z) * v[2] end,
    fGyr = function(q, v, z, f) f[1] = gyr(3, z) * v[1] * v[2] * 0.2 + 0.1 * q[1] end,
    fExt = function(t, z, f) f[1], f[2] = ext(1, z) * math.sin(3 * t), -4 - ext(2, z) end }
  local floor = ns.LagrangianRheonomousR { h = function(t, q, z, y)
    y[1] = q[2] + h(3, z) * 0.2 * q[1] ^ 2 - 0.1 * h(1, z) * math.sin(2 * t) + (kind == "TS" and 50 or 0)
  end }
  return { ds }, { { ns.NewtonImpactNSL(0.6), floor, ds } }
end

-- A pendulum whose rod reads its length, against a wall with friction.
function families.rod(read, p, kind)
  local h, w, ext = read "h", read "w", read "ext"
  local c, s = math.cos(0.9), math.sin(0.9)
  local ds = ns.LagrangianLinearTIDS { q0 = { s, -c }, v0 = { 0.3 * c, 0.3 * s }, mass = { { 1, 0 }, { 0, 1 } }, z = p }
  ds:setComputeFExtFunction(function(_, z, f) f[2] = -6 - ext(1, z) end)
  local rod = ns.LagrangianScleronomousR { h = function(q, z, y) y[1] = (q[1] ^ 2 + q[2] ^ 2 - 1) * (1 + h(2, z)) end }
  local wall = ns.LagrangianScleronomousR { h = function(q, z, y) y[1] = q[1] + w(3, z) * 0.3 + (kind == "TS" and 9 or 0) end }
  return { ds }, { { ns.EqualityConditionNSL(1), rod, ds }, { ns.NewtonImpactNSL(0.5), wall, ds } }
end

-- ---- models ----

-- The time of the runs of a family.
local T = { relay = 2, bound = 1, linear = 1, flight = 1.2, rod = 1.5 }
aside.names = { "relay", "bound", "linear", "flight", "rod" }
-- Families in which some function can read numbers in no other way than by itself.
aside.only = { bound = true, linear = true }

function aside.draw(family)
  local chosen = {}
  local function build(p, kind, plain)
    local z, of = ns.vector(p), nil
    local function read(name)
      chosen[name] = chosen[name] or math.random(#ways)
      local way = ways[plain and 1 or chosen[name]]
      return function(i, own) return way(z, own, i, of) end
    end
    local systems, links = families[family](read, z, kind)
    of = systems[1]
    local nsds = ns.NonSmoothDynamicalSystem(0, T[family])
    for _, ds in ipairs(systems) do nsds:insertDynamicalSystem(ds) end
    for _, link in ipairs(links) do nsds:link(ns.Interaction(link[1], link[2]), link[3], link[4]) end
    local mechanics = family == "flight" or family == "rod"
    local osi = kind == "ED" and ns.RungeKuttaOSI() or mechanics and ns.MoreauJeanOSI(0.5) or ns.EulerMoreauOSI(0.5)
    local grid = ns.TimeDiscretisation(0, T[family] / (kind == "ED" and 4 or 40))
    return (kind == "ED" and ns.EventDriven or ns.TimeStepping)(nsds, grid, osi), z, of
  end
  local function told()
    local list = {}
    for name, way in pairs(chosen) do list[#list + 1] = name .. way end
    return table.concat(list, " ")
  end
  return { p = { between(0.3, 0.9), between(0.3, 0.9), between(0.3, 0.9) }, build = build, ways = told }
end

return aside

-- An oscillator that is driven against a hard wall, and its periodic orbits:
--
--   x'' + c x' + x = A cos t,   x <= 1,   x'+ = -e x'- at the wall
--
-- Without the wall x = (A / c) sin t, so the orbit without impacts reaches the wall at A = c: a grazing. There the
-- map of one period has a square root, and the motion beyond is another one at once. The product of the multipliers
-- of an orbit with one impact is e^2 exp(-2 pi c).
--
-- The script finds the orbit with one impact at A = 1, follows the orbit without impacts up to the grazing and the
-- one with an impact down towards it, and runs the model at many A.

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "Periodic orbits of an oscillator that is driven against a wall. Without --plot nothing is drawn.",
  { "c", default = 0.1, above = 0, max = 1, help = "damping" },
  { "e", default = 0.8, above = 0, max = 1, help = "restitution" },
  { "values", default = 120, min = 2, max = 10000, help = "number of values of A in the diagram" },
  pictures.option,
})
local c, e, period = opt.c, opt.e, 2 * math.pi

local function model(more)
  more.rhs = function(t, x, A) return { x[2], A * math.cos(t) - x[1] - c * x[2] } end
  more.events = { name = "wall", direction = -1, g = function(_, x) return 1 - x[1] end,
    apply = function(_, x) return { x[1], -e * x[2] } end }
  more.period = period
  return more
end

local orbit = ns.dynamics.periodic(model { args = { 1 }, guess = { 0.87, 1.7 } })
local m = orbit.multipliers
print(("A = 1: %s, (x, x') = (%.9f, %.9f), impact at t = %.9f"):format(orbit.stability, orbit.x0[1], orbit.x0[2],
  orbit.events[1].t))
print(("multipliers %s and %s, product %.9f, e^2 exp(-2 pi c) = %.9f"):format(m[1], m[2],
  m[1].re * m[2].re - m[1].im * m[2].im, e ^ 2 * math.exp(-2 * math.pi * c)))
local free = ns.dynamics.continuation(model { guess = { 0, 0.5 }, range = { 0.5 * c, 2 * c } })
local found = free.bifurcations[1]
print(("%s at A = %.12f"):format(found.kind, found.p))

pictures.draw(opt.plot, {
  orbit = function() return orbit:plot { title = "The orbit with one impact" } end,
  diagram = function()
    local values = ns.linspace(0.5 * c, 3 * c, math.tointeger(opt.values))
    local diagram = ns.dynamics.diagram(model { guess = { 0, 0 }, values = values, transient = 80, keep = 40 })
    local impacts = ns.dynamics.continuation(model { guess = orbit.x0, range = { 1, c }, max_step = 0.02 })
    local fig = diagram:plot { title = "Grazing: what remains of motions, and orbits" }
    local axes = fig:gca()
    for i, branch in ipairs { free, impacts } do
      axes:plot(branch.p, branch.x:column(1),
        { color = "C" .. i, linewidth = 1, label = i == 1 and "no impact" or "one impact" })
    end
    axes:plot({ found.p }, { found.x0[1] }, { linestyle = "", marker = "o", color = "C3", label = "grazing" })
    axes:xlim(0.5 * c, 3 * c):xlabel "A":ylabel "$x$ at $t = 0$":legend { loc = "lower right" }
    return fig
  end,
})

-- An oscillator with a hard wall: x'' + 0.1 x' + x = A cos t, x <= 1, restitution 0.8: its orbit with one impact at A = 1, the
-- derivatives of that orbit by A, and the amplitude at which the orbit without impacts grazes the wall.
local ns = require "nslua"

local wall = { name = "wall", direction = -1, g = function(_, x) return 1 - x[1] end,
  apply = function(_, x) return { x[1], -0.8 * x[2] } end }
local function oscillator(t, x, A) return { x[2], A * math.cos(t) - x[1] - 0.1 * x[2] } end
local orbit = ns.dynamics.periodic { guess = { 0.87, 1.7 }, period = 2 * math.pi,
  rhs = oscillator, events = wall, args = { 1 } }
local branch = ns.dynamics.continuation { rhs = oscillator, events = wall, guess = { 0, 0.8 }, period = 2 * math.pi,
  range = { 0.08, 0.2 } }
local impact, grazing, m = orbit.events[1], branch.bifurcations[1], orbit.multipliers
return { a_state = orbit.x0, a_t_impact = impact.t, a_v = { impact.before[2], impact.after[2] },
  a_multipliers = { { m[1].re, m[1].im }, { m[2].re, m[2].im } }, b_A_graze = grazing.p, b_state = grazing.x0,
  c_dstate_dA = orbit:slope().x0 }

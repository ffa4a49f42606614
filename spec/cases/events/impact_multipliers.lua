-- An oscillator with a hard wall: x'' + 2 zeta x' + x = cos(w t), x <= 0, restitution 0.8, zeta = 0.05: the orbit with one
-- impact in a period of the force, its monodromy matrix and multipliers, for w = 2.6 and w = 2.4.
local ns = require "nslua"

local wall = { name = "wall", direction = -1, g = function(_, x) return -x[1] end,
  apply = function(_, x) return { 0, -0.8 * x[2] } end }
local function orbit_at(w, guess)
  return ns.dynamics.periodic { events = wall, args = { w }, guess = guess, period = 2 * math.pi / w,
    rhs = function(t, x, omega) return { x[2], math.cos(omega * t) - x[1] - 0.1 * x[2] } end }
end
local function pairs_of(list)
  local out = {}
  for i, m in ipairs(list) do out[i] = { m.re, m.im } end
  return out
end

local orbit = orbit_at(2.6, { -0.65, 0.07 })
local other = orbit_at(2.4, orbit.x0)
local m = other.multipliers
return { state = orbit.x0, t_impact = orbit.events[1].t, v_before = orbit.events[1].before[2],
  monodromy = orbit.monodromy:totable(), multipliers = pairs_of(orbit.multipliers), det = orbit.monodromy:det(),
  w2p4_state = other.x0, w2p4_moduli = { m[1].abs, m[2].abs } }

-- nslua.dynamics.periodic: ns.dynamics.periodic. An orbit that shooting does not find is sought with a fixed sequence
-- of events.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local orbits = require "nslua.dynamics.orbit"
local sequence = require "nslua.dynamics.sequence"

local fail, format = arguments.fail, core.number_support.format

local function periodic(options)
  local who = "dynamics.periodic"
  options = arguments.options(options, who)
  local q = orbits.problem(options, who)
  local solved = orbits.start(q)
  if not solved.good then
    local fixed, with_events = sequence.start(q)
    if fixed then return (fixed.form.orbit(fixed, with_events.u, q.p, with_events)) end
    local named = q.section and q.section.name
    local hint = named and format("; if '%s' happens k times in a period, with k above %d, say so by section = "
      .. "{ \"%s\", count = k }", named, q.symmetry and 1 or 2, named)
    fail("%s: no orbit found: %s%s", who, solved.reason, hint or "")
  end
  return (orbits.orbit(q, solved.u, q.p, solved))
end

return periodic

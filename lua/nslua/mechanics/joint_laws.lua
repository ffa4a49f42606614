-- nslua.mechanics.joint_laws: dry friction, stops, play and free wheels in joints of nslua.mechanics, and the graph
-- of a system with them.
--
--   sys:pin(one, p1, other, p2, { friction = mu, radius = r })       -- torque <= mu r |reaction|
--   sys:pin(one, p1, other, p2, { torque = T })                      -- torque <= T; both may be given
--   sys:slider(one, p1, direction, other, p2, { friction = mu, force = F })
--   { stops = { lo, hi }, restitution = e }                          -- of the angle, or of the way along the slider
--   { one_way = 1 }                                                  -- the other body turns forwards alone; or -1
--   sys:gear(one, other, ratio, { backlash = b, restitution = e })   -- |angle2 - ratio angle1 - offset| <= b / 2
--   local ds, laws = sys:insert(nsds, { q0 =, v0 = })                -- laws["pin 1 friction"], ...

local where = require "nslua.base.where"

local huge = math.huge

return function(ns, System, core)
  local fail, describe, number = core.fail, core.describe, core.number

  -- The options of the motion in a joint; dry: what its constant friction is called.
  local options = { torque = "friction radius torque stops restitution one_way",
    force = "friction force stops restitution one_way" }
  function core.motion_options(dry) return options[dry] end

  local function limit(value, who, what)
    if type(value) == "number" and value == value then return value end
    fail("%s: %s: expected a number, got %s", who, what, describe(value))
  end

  local function take_stops(stops, who)
    if stops == nil then return -huge, huge end
    if type(stops) ~= "table" or #stops ~= 2 then
      fail("%s: stops: expected { lowest, highest }, got %s", who, describe(stops))
    end
    local low, high = limit(stops[1], who, "stops[1]"), limit(stops[2], who, "stops[2]")
    if low >= high then fail("%s: stops: expected the lowest value first, got { %g, %g }", who, low, high) end
    return low, high
  end

  local function take_restitution(e, who, stopped)
    if e == nil then return 0 end
    if not stopped then fail("%s: restitution: it belongs to stops, and there are none", who) end
    if number(e, who, "restitution", 0) > 1 then fail("%s: restitution: expected 0 to 1, got %g", who, e) end
    return e
  end

  -- Notes what the options say of the motion in a joint. f: the angle or the way, a function of (t, q); reactions:
  -- how many of the joint's first equations make its reaction; dry: "torque" or "force"; wraps: the angle is known
  -- between -pi and pi.
  function core.add_motion(sys, joint, who, o, dry, reactions, f, wraps)
    local mu = number(o.friction or 0, who, "friction", 0)
    local force = number(o[dry] or 0, who, dry, 0)
    local low, high = take_stops(o.stops, who)
    local e = take_restitution(o.restitution, who, o.stops)
    if dry == "torque" and (o.friction ~= nil) ~= (o.radius ~= nil) then
      fail("%s: friction: the torque is friction * radius * reaction at most: give both (torque = is a constant one)",
        who)
    end
    if dry == "torque" and o.radius then mu = mu * number(o.radius, who, "radius", 0) end
    if o.one_way ~= nil and o.one_way ~= 1 and o.one_way ~= -1 then
      fail("%s: one_way: expected 1 or -1, got %s", who, describe(o.one_way))
    end
    if wraps and (low > -huge and low <= -math.pi or high < huge and high >= math.pi) then
      fail("%s: stops: an angle in space is known between -pi and pi", who)
    end
    if mu == 0 and force == 0 and not o.stops and not o.one_way then return joint end
    local motion = { name = joint.name, f = core.motion.plain(f), mu = mu, force = force, low = low, high = high,
      restitution = e, one_way = o.one_way, reactions = reactions }
    sys.motions[#sys.motions + 1] = motion
    if mu > 0 then joint.friction = motion end
    return joint
  end

  -- A quantity that stays between limits, without an equation.
  function core.add_play(sys, name, f, low, high, e)
    sys.motions[#sys.motions + 1] = { name = name, f = core.motion.plain(f), mu = 0, force = 0, low = low,
      high = high, restitution = e }
  end

  core.take_restitution = take_restitution

  -- Raises for forms that have no laws.
  function core.refuse_laws(sys, who)
    local motion = sys.motions[1]
    if motion then
      fail("%s: '%s' has friction, stops, play or a free wheel, which are laws: sys:insert puts them into a graph, "
        .. "for TimeStepping and EventDriven", who, motion.name)
    end
  end

  -- ---- the graph ----

  local function value_of(y) return type(y) == "table" and y[1] or y end

  -- Links a law whose rows are `functions` with `rows` values each.
  local function link(self, made, name, law, functions, rows)
    local f = core.together(functions, rows)
    local function h(t, q, _, out) f(t, q, out) end
    local relation = ns.LagrangianRheonomousR { h = h, states = self.n, name = name }
    local interaction = ns.Interaction(law, relation, name)
    made.nsds:link(interaction, made.ds)
    made.laws[name] = interaction
    made.laws[#made.laws + 1] = interaction
  end

  local function link_joints(self, made)
    local functions, rows, count = {}, {}, 0
    for _, joint in ipairs(self.joints) do
      local m = joint.x.rows
      if joint.friction then
        local motion = joint.friction
        local law = ns.JointFrictionNSL(m + 1, motion.reactions, motion.mu, motion.force)
        link(self, made, joint.name .. " friction", law, { joint.x.f, motion.f }, { m, 1 })
      else
        functions[#functions + 1], rows[#rows + 1], count = joint.x.f, m, count + m
      end
    end
    if count > 0 then link(self, made, "joints", ns.EqualityConditionNSL(count), functions, rows) end
  end

  local function link_motion(self, made, motion)
    local function row(name, law, f) link(self, made, ("%s %s"):format(motion.name, name), law, { f }, { 1 }) end
    local f, low, high, side = motion.f, motion.low, motion.high, motion.one_way
    if motion.force > 0 and motion.mu == 0 then row("friction", ns.JointFrictionNSL(1, 0, 0, motion.force), f) end
    local function stop() return ns.NewtonImpactNSL(motion.restitution) end
    if low > -huge then row("lower stop", stop(), function(t, q) return value_of(f(t, q)) - low end) end
    if high < huge then row("upper stop", stop(), function(t, q) return high - value_of(f(t, q)) end) end
    if side then row("free wheel", ns.RelayNSL(1, 0, huge), function(t, q) return side * value_of(f(t, q)) end) end
  end

  local function check_limits(self, t, q)
    for _, motion in ipairs(self.motions) do
      local x = value_of(motion.f(t, q))
      if x < motion.low or x > motion.high then
        fail("insert: q0: '%s' is at %g, beyond its stops { %g, %g }", motion.name, x, motion.low, motion.high)
      end
    end
  end

  -- Inserts the system into a graph, with the laws of its joints. Returns the LagrangianDS and the interactions, a
  -- list that has them by name, too: "joints", "pin 1 friction", "pin 1 lower stop", "pin 1 free wheel".
  function System:insert(nsds, o)
    if getmetatable(nsds) ~= "NonSmoothDynamicalSystem" then
      fail("insert: expected a NonSmoothDynamicalSystem, got %s", describe(nsds))
    end
    o = core.take_options(o, "insert")
    local ds, t0, q0 = core.lagrangian_of(self, o, "insert")
    check_limits(self, t0, q0)
    local made = { nsds = nsds, ds = ds, laws = {} }
    where.pass(nsds.insertDynamicalSystem, nsds, ds)
    link_joints(self, made)
    for _, motion in ipairs(self.motions) do link_motion(self, made, motion) end
    return ds, made.laws
  end
end

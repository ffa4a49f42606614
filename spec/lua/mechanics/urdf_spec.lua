-- Robots from URDF files: against equations by hand, and every mistake with its line.
local host = require "host"
local ns = require "nslua"
local message = require "bind.models".message

local ARM = [[
<?xml version="1.0"?>
<!-- two links in a plane -->
<robot name="arm">
  <link name="base"><collision><geometry><box size="1 1 0.1"/></geometry></collision></link>
  <link name="upper">
    <inertial><origin xyz="0 0 -0.5"/><mass value="2"/><inertia ixx="0.2" iyy="0.2" izz="0.01"/></inertial>
    <collision><origin xyz="0 0 -0.5"/><geometry><cylinder radius="0.05" length="1"/></geometry></collision>
  </link>
  <link name="forearm">
    <inertial><origin xyz="0 0 -0.4" rpy="0 0.3 0"/><mass value="1"/><inertia ixx="0.05" iyy="0.05" izz="0.005"/></inertial>
  </link>
  <link name="tip"><inertial><mass value="0.5"/><inertia ixx="0.002" iyy="0.002" izz="0.002"/></inertial>
    <collision><geometry><sphere radius="0.1"/></geometry></collision></link>
  <joint name="shoulder" type="revolute"><origin xyz="0 0 2"/><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="10" velocity="3"/><dynamics damping="0.5"/></joint>
  <joint name="elbow" type="continuous"><origin xyz="0 0 -1"/><parent link="upper"/><child link="forearm"/>
    <axis xyz="0 2 0"/></joint>
  <joint name="mount" type="fixed"><origin xyz="0 0 -0.8" rpy="0 0 1"/><parent link="forearm"/><child link="tip"/></joint>
</robot>
]]

local function load(text, o)
  local file = os.tmpname()
  host.write(file, text)
  o = o or {}
  o.nsds = o.nsds or ns.NonSmoothDynamicalSystem(0, 1)
  local result = table.pack(pcall(ns.mechanics.load, file, o))
  os.remove(file)
  if not result[1] then error((result[2]:gsub(file:gsub("%p", "%%%0"), "arm.urdf")), 0) end
  return result[2], o.nsds
end

-- Loads without the warning of rows that are left out.
local function quietly(text, o)
  local env = require "nslua.base.env"()
  local before = env.warn
  env.warn = function() end
  local good, arm, nsds = pcall(load, text, o)
  env.warn = before
  assert.is_true(good, arm)
  return arm, nsds
end

describe("ns.mechanics.load", function()
  it("moves as the equations of its angles say; fixed links are one body", function()
    local arm, nsds = load(ARM, { q = { shoulder = 0.5, elbow = -0.3 }, nsds = ns.NonSmoothDynamicalSystem(0, 0.4) })
    assert.is_true(arm.bodies.forearm == arm.bodies.tip)
    ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), ns.RungeKuttaOSI(1e-10, 1e-10)):run()
    -- a double pendulum in its angles against the vertical, of upper arm and forearm with its tip
    local A, C, B = 0.2 + 2 * 0.25 + 1.5, 0.05 + 0.002 + 0.16 + 0.5 * 0.64, 0.4 + 0.5 * 0.8
    local G1, G2 = 9.81 * (2 * 0.5 + 1.5), 9.81 * B
    local sol = ns.solve_ivp(function(_, y, rate)
      local s, c = math.sin(y[2] - y[1]), math.cos(y[2] - y[1])
      local f = B * s * y[4] ^ 2 - G1 * math.sin(y[1]) - 0.5 * y[3]
      local h = -B * s * y[3] ^ 2 - G2 * math.sin(y[2])
      local D = A * C - B * B * c * c
      rate[1], rate[2], rate[3], rate[4] = y[3], y[4], (C * f - B * c * h) / D, (A * h - B * c * f) / D
    end, { 0, 0.4 }, { 0.5, 0.2, 0, 0 }, { method = "DOP853", rtol = 1e-11, atol = 1e-11 })
    local upper, lower = sol.y[1][#sol.t], sol.y[2][#sol.t]
    assert.is_true(math.abs(upper - arm:value "shoulder") < 1e-8)
    assert.is_true(math.abs(lower - upper - arm:value "elbow") < 1e-8)
    assert.same({ lower = -2, upper = 2, effort = 10, velocity = 3 }, arm.limits.shoulder)
    assert.equal("shoulder upper", arm.laws["shoulder upper"]:name())
    assert.matches("value: there is no joint 'mount' that moves", message(function() arm:value "mount" end), 1, true)
    assert.matches("value: name: expected the name of a joint, got nil", message(function() arm:value() end), 1, true)
    assert.matches("value: name: expected the name of a joint, got 3", message(function() arm:value(3) end), 1, true)
  end)

  it("has shapes for contacts, and meshes as their hulls", function()
    local off = os.tmpname() .. ".obj"
    host.write(off, "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\nf 1 3 4\nf 2 3 4\n")
    local text = ARM:gsub('<sphere radius="0.1"/>', ('<mesh filename="file://%s" scale="2 2 2"/>'):format(off))
    local arm, nsds = load(text)
    os.remove(off)
    assert.same({ "box", "cylinder", "hull" },
      { tostring(arm.shapes.world), tostring(arm.shapes.upper), tostring(arm.shapes.forearm) })
    local space = ns.contact.space { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, 0.5, 3), reach = 0.1 }
    arm:add_to(space)
    space:update()
  end)

  -- A trunk on two legs, whose shapes overlap at the hips.
  local function walker(base)
    local function leg(name, x)
      return ([[<link name="%s"><inertial><origin xyz="0 0 -0.15"/><mass value="0.5"/>
          <inertia ixx="0.004" iyy="0.004" izz="0.0005"/></inertial>
        <collision><origin xyz="0 0 -0.15"/><geometry><capsule radius="0.03" length="0.3"/></geometry></collision></link>
        <joint name="%s hip" type="revolute"><origin xyz="%g 0 0"/><parent link="trunk"/><child link="%s"/><axis xyz="0 1 0"/>
          <limit lower="-0.5" upper="0.5" effort="1" velocity="1"/><dynamics friction="0.1"/></joint>]]):format(name, name, x, name)
    end
    return quietly([[<robot name="walker"><link name="trunk"><inertial><mass value="3"/>
        <inertia ixx="0.02" iyy="0.03" izz="0.04"/></inertial>
      <collision><geometry><box size="0.5 0.2 0.1"/></geometry></collision></link>]] .. leg("fore", 0.2) .. leg("hind", -0.2)
      .. "</robot>", { base = base, q = { ["fore hip"] = 0.1, ["hind hip"] = -0.1 } })
  end

  local function on(nsds, robot)
    local space = ns.contact.space { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, 0.8, 3), reach = 0.05 }
    robot:add_to(space)
    return space
  end

  local function names(space)
    local list = {}
    for i, inter in ipairs(space:interactions()) do list[i] = inter:name() end
    return table.concat(list, ", ")
  end

  it("moves on the ground: bodies that a joint holds do not touch each other, also in clones", function()
    local robot, nsds = walker "free"
    for _, name in ipairs { "trunk", "fore", "hind" } do
      local q = robot.bodies[name]:q()
      q[3] = q[3] + 0.36
      robot.bodies[name]:setQ0(q)
    end
    local space = on(nsds, robot)
    space:add_plane(ns.contact.plane({ 0, 0, 0 }, { 0, 0, 1 }))
    space:update()
    local h = 0.01
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, h), ns.MoreauJeanOSI(0.5), ns.GenericMechanical())
    local twin = simu:clone()
    local its = space:in_clone(twin)
    for _ in simu:steps() do space:update() end
    for _ in twin:steps() do its:update() end
    local weight = 0
    for _, inter in ipairs(space:interactions()) do weight = weight + inter:lambda(1)[1] / h end
    assert.near(4 * 9.81, weight, 1e-4)
    assert.equal("capsule 1 end 1 plane 1, capsule 2 end 1 plane 1", names(space))
    assert.equal(names(space), names(its))
  end)

  it("touches shapes of the world but those that a joint holds", function()
    local robot, nsds = walker "fixed"
    local space = on(nsds, robot)
    assert.equal(0, space:update())
    space:add(nil, ns.contact.box(1, 1, 0.1):placed { 0, 0, -0.36 })
    assert.equal(2, space:update())
    assert.matches("^capsule 1 box 2 [%w_]+ [%d ]+, capsule 2 box 2 ", names(space)) -- in the order of names: fore, hind
  end)

  it("closes chains by <loop>, whose rows that follow from others are left out", function()
    local function link(name, x) -- of a parallelogram
      return ([[<link name="%s"><inertial><origin xyz="%s"/><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>]])
        :format(name, x)
    end
    local function joint(tag, name, parent, child, xyz)
      return ([[<%s name="%s" type="continuous"><origin xyz="%s"/><parent link="%s"/><child link="%s"/><axis xyz="0 1 0"/></%s>]])
        :format(tag, name, xyz, parent, child, tag)
    end
    local text = '<robot name="r"><link name="base"/>' .. link("a", "0 0 -0.5") .. link("b", "0.5 0 0") .. link("c", "0 0 -0.5")
      .. joint("joint", "1", "base", "a", "0 0 0") .. joint("joint", "2", "a", "b", "0 0 -1")
      .. joint("joint", "3", "base", "c", "1 0 0") .. joint("loop", "4", "b", "c", "1 0 0") .. "</robot>"
    local arm, nsds = quietly(text, { q = { ["1"] = 0.4, ["2"] = -0.4, ["3"] = 0.4 } })
    assert.equal(3, #arm.laws.redundant)
    ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), ns.RungeKuttaOSI(1e-9, 1e-9)):run()
    assert.is_true(math.abs(arm:value "1" - arm:value "3") < 1e-8) -- it stays a parallelogram
    assert.is_true(math.abs(arm:value "1" + arm:value "2") < 1e-8)
    assert.is_true(arm:value "1" < 0)
  end)

  -- A link of a robot whose mass is in the middle of its length along z, downwards; a joint at its end.
  local function rod(name, mass, length)
    local across = mass * length ^ 2 / 12
    return ([[<link name="%s"><inertial><origin xyz="0 0 %g"/><mass value="%g"/>
      <inertia ixx="%g" iyy="%g" izz="%g"/></inertial></link>]]):format(name, -length / 2, mass, across, across, 1e-3 * mass)
  end
  local function hinge(tag, name, parent, child, xyz, more, axis)
    return ([[<%s name="%s" type="continuous"><origin xyz="%s"/><parent link="%s"/><child link="%s"/><axis xyz="%s"/>%s</%s>]])
      :format(tag, name, xyz, parent, child, axis or "0 1 0", more or "", tag)
  end
  local function energy(arm)
    local sum, seen = 0, {}
    for _, ds in pairs(arm.bodies) do
      if not seen[ds] then
        local v = ds:velocity()
        sum = sum + v:dot(ds:mass() * v) / 2 + 9.81 * ds:mass()[1][1] * ds:q()[3]
      end
      seen[ds] = true
    end
    return sum
  end

  it("holds an arm of six axes with the torques of virtual work, and lets it go with its energy", function()
    local text, axes = '<robot name="six"><link name="base"/>', { "0 0 1", "0 1 0", "0 1 0", "1 0 0", "0 1 0", "0 0 1" }
    local lengths, q = { 0.3, 0.6, 0.5, 0.2, 0.15, 0.1 }, {}
    for i = 1, 6 do
      text = text .. rod("l" .. i, 7 - i, lengths[i]) .. hinge("joint", "j" .. i, i == 1 and "base" or "l" .. i - 1, "l" .. i,
        i == 1 and "0 0 1" or ("0.05 0 %g"):format(-lengths[i - 1]), nil, axes[i])
      q["j" .. i] = 0.3 * i - 1.1
    end
    local function potential(j, step)
      local there, sum = {}, 0
      for name, value in pairs(q) do there[name] = value + (name == j and step or 0) end
      local arm = load(text .. "</robot>", { q = there })
      for _, ds in pairs(arm.bodies) do sum = sum + 9.81 * ds:mass()[1][1] * ds:q()[3] end
      return sum
    end
    local arm, nsds = load(text .. "</robot>", { q = q, nsds = ns.NonSmoothDynamicalSystem(0, 0.2) })
    local held = {}
    for name, joint in pairs(arm.joints) do
      held[name] = ns.Interaction(ns.EqualityConditionNSL(1), ns.JointFrictionR(joint), name .. " motor")
      local child, parent = arm.bodies["l" .. name:sub(2)], arm.bodies["l" .. tonumber(name:sub(2)) - 1]
      if parent then nsds:link(held[name], child, parent) else nsds:link(held[name], child) end
    end
    local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), ns.RungeKuttaOSI(1e-10, 1e-10))
    simu:computeOneStep()
    for name, motor in pairs(held) do
      assert.near((potential(name, 1e-4) - potential(name, -1e-4)) / 2e-4, motor:lambda()[1], 1e-6)
      nsds:unlink(motor)
    end
    local before = energy(arm)
    simu:nextStep()
    simu:computeOneStep()
    assert.near(before, energy(arm), 1e-8 * math.abs(before))
    assert.is_true(math.abs(arm:value "j2" - q.j2) > 1e-3)
  end)

  it("couples joints by <mimic>: fingers of a gripper, and a tip that turns with its finger", function()
    local function finger(name, axis, mass, more)
      return ([[<link name="%s"><inertial><mass value="%g"/><inertia ixx="1e-4" iyy="1e-4" izz="1e-4"/></inertial></link>
        <joint name="%s" type="prismatic"><parent link="palm"/><child link="%s"/><axis xyz="%s"/><limit lower="-9" upper="9"
        effort="20" velocity="0.5"/>%s</joint>]]):format(name, mass, name, name, axis, more)
    end
    local gripper = '<robot name="gripper"><link name="palm"/>' .. finger("l", "1 0 1", 0.2, "")
      .. finger("r", "-1 0 1", 0.3, '<mimic joint="l" multiplier="2" offset="0.01"/>')
    local arm, nsds = load(gripper .. "</robot>", { q = { l = 1 }, nsds = ns.NonSmoothDynamicalSystem(0, 0.3) })
    assert.near(2.01, arm:value "r", 1e-14)
    assert.same({ lower = -9, upper = 9, effort = 20, velocity = 0.5 }, arm.limits.l)
    ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.MoreauJeanOSI(0.5)):run()
    -- (m_l + 4 m_r) s'' = -g (m_l + 2 m_r) / sqrt 2
    assert.near(1 - 9.81 * 0.8 / math.sqrt(2) / 1.4 * 0.09 / 2, arm:value "l", 1e-12)
    assert.near(2 * arm:value "l" + 0.01, arm:value "r", 1e-12)
    assert.equal("r mimic", arm.laws["r mimic"]:name())
    -- a tip that turns with its finger
    local tip = hinge("joint", "t", "l", "tip", "0 0 0", '<mimic joint="l" multiplier="-3"/>')
    nsds = ns.NonSmoothDynamicalSystem(0, 0.3)
    arm = load(gripper .. rod("tip", 0.1, 0.1) .. tip .. "</robot>", { q = { l = 1 }, nsds = nsds })
    local before = energy(arm)
    ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), ns.RungeKuttaOSI(1e-10, 1e-10)):run()
    assert.near(-3 * arm:value "l", arm:value "t", 1e-9)
    assert.near(before, energy(arm), 1e-8)
    assert.is_true(arm:value "t" > -2.6)
  end)

  it("couples the fingers of a hand that moves, which are three bodies", function()
    local function link(name, mass)
      return ([[<link name="%s"><inertial><mass value="%g"/><inertia ixx="1e-3" iyy="1e-3" izz="1e-3"/></inertial></link>
        ]]):format(name, mass)
    end
    local function finger(name, axis, more)
      return link(name, 0.2) .. ([[<joint name="%s" type="prismatic"><parent link="palm"/><child link="%s"/><axis xyz="%s"/>
        <limit lower="-9" upper="9" effort="20" velocity="0.5"/>%s</joint>]]):format(name, name, axis, more)
    end
    local hand = '<robot name="hand">' .. link("palm", 0.5) .. finger("l", "1 0 0", "")
      .. finger("r", "-1 0 0", '<mimic joint="l"/>') .. "</robot>"
    for _, make in ipairs {
      function(nsds) return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), ns.RungeKuttaOSI(1e-10, 1e-10)) end,
      function(nsds) return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.MoreauJeanOSI(0.5)) end,
    } do
      local arm, nsds = load(hand, { base = "free", gravity = { 0, 0, 0 }, q = { l = 0.1 } })
      arm.bodies.l:setFExtPtr { 0.6, 0, 0 } -- 0.6 N on one of two coupled fingers of 0.2 kg, which pushes the palm, too
      make(nsds):run()
      -- x_l = p + s, x_r = p - s: 0.9 p'' = F, 0.4 s'' = F
      assert.near(0.6 / 0.9 / 2, arm.bodies.palm:q()[1], 1e-9)
      assert.near(0.1 + 0.6 / 0.4 / 2, arm:value "l", 1e-9)
      assert.near(arm:value "l", arm:value "r", 1e-9)
    end
  end)

  -- What it tells while it loads the text.
  local function told_of(text)
    local env, told = require "nslua.base.env"(), {}
    local before = env.warn
    env.warn = function(line) told[#told + 1] = line:gsub("/%S+:(%d+):", "arm.urdf:%1:") end
    local good, arm = pcall(load, text)
    env.warn = before
    assert.is_true(good, arm)
    table.sort(told)
    return told
  end

  it("tells of an inertia that no body has, and takes that of a thin plate", function()
    local function tip(inertia) return told_of((ARM:gsub('ixx="0.002" iyy="0.002" izz="0.002"', inertia))) end
    assert.same({}, tip 'ixx="0.0013333" iyy="0.0006667" izz="0.0020002"')
    assert.same({}, tip 'ixx="0.001" ixy="0.0005" iyy="0.001" izz="0.002"')
    for _, inertia in ipairs { 'ixx="0.001" iyy="0.001" izz="0.0021"', 'ixx="0.0016" ixy="0.0015" iyy="0.0016" izz="0.0001"' } do
      assert.same({ "nslua: load: arm.urdf:12: no body has the inertia of link 'tip': its largest moment is above the sum "
        .. "of the others" }, tip(inertia))
    end
  end)

  it("tells of attributes that it does not know, and of elements that are written nearly as others", function()
    local text = ARM:gsub('<axis xyz="0 2 0"/>', '<axis xyz="0 2 0"/><orign xyz="1 1 1"/><gazebo a="1"/>')
    text = text:gsub('damping="0.5"', 'damping="0.5" frictoin="1"'):gsub("<robot ", '<robot xmlns:xacro="http://a.b/xacro" ')
    assert.same({
      "nslua: load: arm.urdf:15: <dynamics> has no attribute 'frictoin', which is left out (known: damping, friction)",
      "nslua: load: arm.urdf:17: <orign> is left out; the nearest that is known is <origin>",
    }, told_of(text))
  end)

  it("refuses macros of xacro, which it does not expand", function()
    for _, macro in ipairs { '<xacro:property name="m" value="2"/>', '<xacro:wheel side="left"/>', "<xacro:include/>" } do
      local text = ARM:gsub("</robot>", macro .. "\n</robot>")
      assert.error_matches(function() told_of(text) end, "load: .*:%d+: <xacro:%a+> is a macro, which is not expanded: load what "
        .. "the program xacro makes of the file")
    end
    local text = ARM:gsub('<axis xyz="0 2 0"/>', "<xacro:insert_block name=\"axis\"/>")
    assert.error_matches(function() told_of(text) end, "<xacro:insert_block> is a macro")
  end)

  it("closes a four-bar chain of any lengths: its angles are those of the closure, and it keeps its energy", function()
    -- the crank a, the coupler b, the rocker c and the ground d in the plane, angles against the vertical
    local a, b, c, d = 0.2, 0.6, 0.5, 0.55
    local function closure(crank)
      local x, z = d + a * math.sin(crank), a * math.cos(crank) -- from the crank's pin to the rocker's bearing: (x, z)
      local e = math.sqrt(x * x + z * z)
      local along, inner = math.atan(z, x), math.acos((b * b + e * e - c * c) / (2 * b * e))
      local px, pz = b * math.cos(along - inner), b * math.sin(along - inner)
      return math.atan(-px, -pz), math.atan(x - px, z - pz) -- directions -(sin, cos) of the coupler and the rocker
    end
    local crank = 1.5
    local coupler, rocker = closure(crank)
    local text = '<robot name="bars"><link name="base"/>' .. rod("a", 1, a) .. rod("b", 2, b) .. rod("c", 1.5, c)
      .. hinge("joint", "a", "base", "a", "0 0 0") .. hinge("joint", "b", "a", "b", "0 0 " .. -a)
      .. hinge("joint", "c", "base", "c", d .. " 0 0") .. hinge("loop", "d", "b", "c", "0 0 " .. -b) .. "</robot>"
    local q = { a = crank, b = coupler - crank, c = rocker }
    local arm, nsds = quietly(text, { q = q, nsds = ns.NonSmoothDynamicalSystem(0, 0.6) })
    assert.equal(3, #arm.laws.redundant)
    local before = energy(arm)
    ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), ns.RungeKuttaOSI(1e-9, 1e-9)):run()
    local now = arm:value "a"
    coupler, rocker = closure(now)
    assert.is_true(math.abs(now - crank) > 0.3, tostring(now))
    assert.near(coupler - now, arm:value "b", 1e-7)
    assert.near(rocker, arm:value "c", 1e-7)
    assert.near(before, energy(arm), 1e-7)
  end)

  it("turns as far as limits say, and warns where an angle has no stops", function()
    local env = require "nslua.base.env"()
    local before, list = env.warn, {}
    env.warn = function(text) list[#list + 1] = text end
    local good, arm = pcall(load, (ARM:gsub('lower="%-2" upper="2"', 'lower="-6.28318530718" upper="6.28318530718"')))
    local other, far = pcall(load, (ARM:gsub('lower="%-2" upper="2"', 'lower="-5" upper="5"')), { q = { shoulder = 3 } })
    env.warn = before
    assert.same({ true, true }, { good, other }, tostring(arm) .. tostring(far))
    assert.is_nil(arm.laws["shoulder upper"])
    assert.is_not_nil(far.laws["shoulder lower"])
    assert.equal(1, #list)
    assert.matches("the limits of joint 'shoulder' are 12.5664 apart: an angle has stops that are less than 11.5 apart, and it has "
      .. "none", list[1], 1, true)
  end)

  it("leaves the graph as it was where a file has a mistake", function()
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    assert.is_false(pcall(load, (ARM:gsub('<axis xyz="0 2 0"/>', '<dynamics damping="-1"/>')), { nsds = nsds }))
    load(ARM, { nsds = nsds })
    assert.equal(2, nsds:numberOfDynamicalSystems())
  end)

  it("slides and floats: prismatic with friction and damping, planar, floating, a base that is free", function()
    local body = '<inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>'
    local text = '<robot name="r"><link name="w"/><link name="a">' .. body .. '<link name="p">' .. body .. '<link name="f">' .. body
      .. '<joint name="s" type="prismatic"><parent link="w"/><child link="a"/><axis xyz="0 0 1"/><limit lower="-9" upper="9"/>'
      .. '<dynamics damping="3" friction="2"/></joint>'
      .. '<joint name="pl" type="planar"><parent link="w"/><child link="p"/><axis xyz="0 0 1"/></joint>'
      .. '<joint name="fl" type="floating"><parent link="w"/><child link="f"/></joint></robot>'
    local arm, nsds = load(text)
    ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), ns.RungeKuttaOSI(1e-10, 1e-10)):run()
    local limit = (2 * 9.81 - 2) / 3 -- m v' = m g - friction - damping v
    assert.is_true(math.abs(arm:value "s" + limit * (1 - (1 - math.exp(-1.5)) / 1.5)) < 1e-8)
    assert.is_true(math.abs(arm.bodies.p:q()[3]) < 1e-12)
    assert.is_true(math.abs(arm.bodies.f:q()[3] + 9.81 / 2) < 1e-8)
    local free = load('<robot name="r"><link name="a">' .. body .. "</robot>", { base = "free" })
    assert.equal(2, free.bodies.a:mass()[1][1])
  end)

  it("damps and brakes joints between bodies that move, each as often as it has them", function()
    local inertia = '<inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="%g"/></inertial></link>'
    local text = '<robot name="r"><link name="w"/><link name="a">' .. inertia:format(2) .. '<link name="b">' .. inertia:format(1)
      .. '<joint name="one" type="continuous"><parent link="w"/><child link="a"/><axis xyz="0 0 1"/>'
      .. '<dynamics damping="0.4"/></joint>'
      .. '<joint name="two" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>'
      .. '<dynamics damping="0.5" friction="%g"/></joint></robot>'
    for friction = 0, 0.1, 0.1 do
      for k, make in ipairs {
        function(nsds) return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), ns.RungeKuttaOSI(1e-10, 1e-12)) end,
        function(nsds) return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 1e-2), ns.MoreauJeanOSI(0.5)) end } do
        local arm, nsds = load(text:format(friction))
        arm.bodies.a:velocity0()[6], arm.bodies.b:velocity0()[6] = 1, 7
        arm.bodies.a:resetToInitialState()
        arm.bodies.b:resetToInitialState()
        make(nsds):run()
        -- 2 w_a' = -0.4 w_a - M, w_b' = M, M = -0.5 (w_b - w_a) - friction
        local sol = ns.solve_ivp(function(_, w)
          local M = -0.5 * (w[2] - w[1]) - friction
          return { (-0.4 * w[1] - M) / 2, M }
        end, { 0, nsds:T() }, { 1, 7 }, { rtol = 1e-11, atol = 1e-12 })
        local wanted = { sol.y[1][#sol.t], sol.y[2][#sol.t] }
        for i, body in ipairs { arm.bodies.a, arm.bodies.b } do
          assert.near(wanted[i], body:velocity()[6], k == 1 and 1e-8 or 1e-5)
        end
        assert.near(-0.4 * wanted[1], arm.laws["one damping"]:lambda(1)[1] / (k == 1 and 1 or 1e-2), k == 1 and 1e-8 or 2e-3)
      end
    end
  end)

  it("tells of each mistake, with its line", function()
    local function changed(from, to) return function() load((ARM:gsub(from:gsub("%p", "%%%0"), (to:gsub("%%", "%%%%"))))) end end
    for text, call in pairs {
      ["load: arm.urdf:19: expected </robot>, whose beginning is in line 3, got </robt>"] = changed("</robot>", "</robt>"),
      ["load: arm.urdf:3: <robot> has no end"] = changed("</robot>", ""),
      ['load: arm.urdf:12: expected name="value", got value=0.5'] = changed('<mass value="0.5"/>', "<mass value=0.5/>"),
      ["load: arm.urdf:3: expected <robot>, got <robo>"] = function() load((ARM:gsub("robot", "robo"))) end,
      ["load: arm.urdf:1: there is no element"] = function() load "nothing" end,
      ["load: arm.urdf:1: document types are not read"] = function() load "<!DOCTYPE robot><robot/>" end,
      ["load: arm.urdf:1: a tag or a comment has no end"] = function() load "<robot" end,
      ["load: arm.urdf:1: <robot> has no <link>"] = function() load "<robot/>" end,
      ["load: arm.urdf:1: the entity '&x;' is not known"] = function() load '<robot name="&x;"/>' end,
      ["load: arm.urdf:4: <link> has no 'name'"] = changed('<link name="base">', "<link>"),
      ["load: arm.urdf:9: there are two links 'upper': see line 5"] = changed('<link name="forearm">', '<link name="upper">'),
      ["load: arm.urdf:12: value of <mass>: expected a positive number, got -0.5"] = changed('"0.5"/>', '"-0.5"/>'),
      ["load: arm.urdf:12: value of <mass>: expected a number, got 'heavy'"] = changed('value="0.5"', 'value="heavy"'),
      ["load: arm.urdf:12: <inertial> has no <mass>"] = changed('<mass value="0.5"/>', ""),
      ["load: arm.urdf:12: the inertia of link 'tip' is not positive definite"] = changed('ixx="0.002"', 'ixx="-0.002"'),
      ["load: arm.urdf:12: value of <mass>: expected one number, got 2"] = changed('value="0.5"', 'value="1 2"'),
      ["load: arm.urdf:6: xyz of <origin>: expected 3 numbers, got 2"] = changed('<inertial><origin xyz="0 0 -0.5"/>',
        '<inertial><origin xyz="0 0"/>'),
      ["load: arm.urdf:13: the shape <ball> is not known (known: box, capsule, cylinder, mesh, sphere)"] =
        changed('<sphere radius="0.1"/>', "<ball/>"),
      ["load: arm.urdf:13: cannot open /tmp/x.stl: No such file or directory"] =
        changed('<sphere radius="0.1"/>', '<mesh filename="file:///tmp/x.stl"/>'),
      ["load: arm.urdf:16: the type 'hinge' is not known"] = changed('type="continuous"', 'type="hinge"'),
      ["load: arm.urdf:16: there are two joints 'shoulder': see line 14"] = changed('name="elbow"', 'name="shoulder"'),
      ["load: arm.urdf:16: joint 'elbow': there is no link 'uper'"] = changed('<parent link="upper"/>', '<parent link="uper"/>'),
      ["load: arm.urdf:17: the axis of joint 'elbow' is zero"] = changed('xyz="0 2 0"', 'xyz="0 0 0"'),
      ["load: arm.urdf:16: the revolute joint 'elbow' has no <limit>"] = changed('type="continuous"', 'type="revolute"'),
      ["load: arm.urdf:15: lower = 3 is above upper = 2"] = changed('lower="-2"', 'lower="3"'),
      ["load: arm.urdf:14: joint 'shoulder' starts at 0, beyond its limits 1 and 2"] = changed('lower="-2"', 'lower="1"'),
      ["load: arm.urdf:15: damping of joint 'shoulder' is below 0"] = changed('damping="0.5"', 'damping="-0.5"'),
      ["load: arm.urdf:17: joint 'elbow' mimics 'knee', which is no joint"] = changed('<axis xyz="0 2 0"/>',
        '<mimic joint="knee"/>'),
      ["load: arm.urdf:17: joint 'elbow' mimics itself"] = changed('<axis xyz="0 2 0"/>', '<mimic joint="elbow"/>'),
      ["load: arm.urdf:17: joint 'elbow' mimics 'mount': both must be revolute, continuous or prismatic"] =
        changed('<axis xyz="0 2 0"/>', '<mimic joint="mount"/>'),
      ["load: q: 'elbow' mimics 'shoulder': expected 1.1, got 0"] = function()
        load((ARM:gsub('<axis xyz="0 2 0"/>', '<mimic joint="shoulder" offset="0.6"/>')), { q = { shoulder = 0.5, elbow = 0 } })
      end,
      ["load: arm.urdf:12: there are two <inertial> in the <link> of 'tip': see line 12"] = changed('<inertial><mass value="0.5"/>',
        '<inertial/><inertial><mass value="0.5"/>'),
      ["load: arm.urdf:15: there are two <limit> in the <joint> of 'shoulder': see line 15"] = changed('<limit', "<limit/><limit"),
      ["load: arm.urdf:18: link 'upper' is the child of 'shoulder' and of 'mount'; a <loop> in place of the second "
        .. "<joint> closes a chain"] = changed('<child link="tip"/>', '<child link="upper"/>'),
      ["load: arm.urdf:9: links 'base' and 'forearm' are both the child of no joint"] = function()
        load((ARM:gsub("  <joint name=\"elbow\".-</joint>\n", "")))
      end,
      ["load: arm.urdf:5: link 'upper' moves and has no mass: it has no <inertial>, nor have links that are fixed to it"] =
        changed('<inertial><origin xyz="0 0 -0.5"/><mass value="2"/><inertia ixx="0.2" iyy="0.2" izz="0.01"/></inertial>', ""),
      ["load: q: there is no joint 'knee'"] = function() load(ARM, { q = { knee = 1 } }) end,
      ["load: q: 'mount' is a fixed joint: it has no value"] = function() load(ARM, { q = { mount = 1 } }) end,
      ["load: q: 'elbow': expected a number, got 'a'"] = function() load(ARM, { q = { elbow = "a" } }) end,
      ["load: q: expected a table, got 3"] = function() load(ARM, { q = 3 }) end,
      ["load: q: there is no joint '1'"] = function() load(ARM, { q = { 1 } }) end,
      ["load: packages: expected a table, got 'x'"] = function() load(ARM, { packages = "x" }) end,
      ["load: packages: 'x': expected the name of a folder, got 3"] = function()
        load((ARM:gsub('<sphere radius="0.1"/>', '<mesh filename="package://x/y.stl"/>')), { packages = { x = 3 } })
      end,
      ["load: damping: expected a boolean, got 'no'"] = function() load(ARM, { damping = "no" }) end,
      ["load: unknown option 'fixed'"] = function() load(ARM, { fixed = true }) end,
      ["load: base: expected 'fixed' or 'free', got 'world'"] = function() load(ARM, { base = "world" }) end,
      ["load: nsds: expected a NonSmoothDynamicalSystem, got nil"] = function() ns.mechanics.load("arm.urdf") end,
      ["load: file: expected a string, got nil"] = function() ns.mechanics.load() end,
      ["load: cannot open /nowhere/arm.urdf: No such file or directory"] = function()
        ns.mechanics.load("/nowhere/arm.urdf", { nsds = ns.NonSmoothDynamicalSystem(0, 1) })
      end,
    } do
      assert.matches(text, message(call), 1, true)
    end
  end)
end)

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
    local env = require "nslua.base.env"()
    local before = env.warn
    env.warn = function() end
    local good, arm, nsds = pcall(load, text, { q = { ["1"] = 0.4, ["2"] = -0.4, ["3"] = 0.4 } })
    env.warn = before
    assert.is_true(good, arm)
    assert.equal(3, #arm.laws.redundant)
    ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), ns.RungeKuttaOSI(1e-9, 1e-9)):run()
    assert.is_true(math.abs(arm:value "1" - arm:value "3") < 1e-8) -- it stays a parallelogram
    assert.is_true(math.abs(arm:value "1" + arm:value "2") < 1e-8)
    assert.is_true(arm:value "1" < 0)
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
    assert.is_false(pcall(load, (ARM:gsub('<axis xyz="0 2 0"/>', '<dynamics damping="1"/>')), { nsds = nsds }))
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
      ["load: arm.urdf:17: <mimic> of joint 'elbow' is not supported"] = changed('<axis xyz="0 2 0"/>',
        '<mimic joint="shoulder"/>'),
      ["load: arm.urdf:17: joint 'elbow': damping between two bodies that move is not supported; load with damping = false to "
        .. "leave it out"] = changed('<axis xyz="0 2 0"/>', '<dynamics damping="1"/>'),
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

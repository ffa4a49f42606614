-- Boxes in space that tip about an edge, whose corners slip one after the other, and push others over.
local ns = require "nslua"

local G, THICK, TALL = 9.81, 0.02, 0.2

-- The first of n dominoes turns about its front edge with the velocity w; the contacts of the dominoes have the friction `mutual`.
local function dominoes(n, T, mu, mutual, ...)
  local nsds = ns.NonSmoothDynamicalSystem(0, T)
  local floor = ns.contact.space { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, mu, 3), reach = 0.02 }
  local space = mutual and ns.contact.space { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, mutual, 3), reach = 0.02 }
  local inertia, w, bodies = (THICK ^ 2 + TALL ^ 2) / 12, 4, {}
  floor:add_plane(ns.contact.plane({ 0, 0, 0 }, { 0, 0, 1 }))
  floor:filter(function(_, second) return second == nil end)
  for k = 1, n do
    local v = k == 1 and { w * TALL / 2, 0, w * THICK / 2, 0, w, 0 } or ns.zeros(6)
    local I = ns.matrix { { (0.01 + TALL ^ 2) / 12, 0, 0 }, { 0, inertia, 0 }, { 0, 0, (0.01 + THICK ^ 2) / 12 } }
    bodies[k] = ns.NewtonEulerDS({ (k - 1) * 0.08, 0, TALL / 2, 1, 0, 0, 0 }, v, 1, I)
    bodies[k]:setFExtPtr { 0, 0, -G }
    nsds:insertDynamicalSystem(bodies[k])
    floor:add(bodies[k], ns.contact.box(THICK, 0.1, TALL))
    if space then space:add(bodies[k], ns.contact.box(THICK, 0.1, TALL)) end
  end
  floor:update()
  if space then space:update() end
  local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.01), ns.RungeKuttaOSI(...))
  for _ in simu:steps() do
    floor:update()
    if space then space:update() end
  end
  return simu, bodies
end

-- The same box in the plane.
local function in_plane(T, mu)
  local nsds = ns.NonSmoothDynamicalSystem(0, T)
  local contacts = ns.contact.manager { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, mu, 2), reach = 0.02 }
  local mass = ns.matrix { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, (THICK ^ 2 + TALL ^ 2) / 12 } }
  local body = ns.LagrangianLinearTIDS({ 0, TALL / 2, 0 }, { 2 * TALL, 2 * THICK, -4 }, mass)
  body:setFExtPtr { 0, -G, 0 }
  nsds:insertDynamicalSystem(body)
  contacts:add_box(body, THICK, TALL)
  contacts:add_line(ns.contact.line({ 0, 0 }, { 0, 1 }))
  contacts:update()
  local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.01), ns.RungeKuttaOSI())
  for _ in simu:steps() do contacts:update() end
  return simu, body
end

-- The first time of an event of this kind.
local function first(simu, kind)
  for _, event in ipairs(simu:events()) do
    if event.kind == kind then return event.t end
  end
end

-- Boards in the plane at places of q and v, on a floor with friction mu, without friction between them; what links their contacts.
local THIN, HIGH = 0.0075, 0.048
local function small_dominoes(nsds, places, mu)
  local floor = ns.contact.manager { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, mu, 2), reach = 0.2 * THIN }
  local pushes = ns.contact.manager { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, 0, 2), reach = 0.2 * THIN }
  floor:add_line(ns.contact.line({ 0, 0 }, { 0, 1 }))
  floor:filter(function(_, other) return other == nil end)
  local boards, mass = {}, ns.matrix { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, (HIGH ^ 2 + THIN ^ 2) / 12 } }
  for k, place in ipairs(places) do
    boards[k] = ns.LagrangianLinearTIDS(place[1], place[2], mass)
    boards[k]:setFExtPtr { 0, -G, 0 }
    nsds:insertDynamicalSystem(boards[k])
    floor:add_box(boards[k], THIN, HIGH)
    pushes:add_box(boards[k], THIN, HIGH)
  end
  local function update()
    floor:update()
    pushes:update()
  end
  update()
  return boards, update
end

describe("a box that tips", function()
  it("in space slips and falls as in the plane #once", function()
    for _, mu in ipairs { 0.2, 0.4, 1 } do
      local simu, bodies = dominoes(1, 0.24, mu)
      local flat, body = in_plane(0.24, mu)
      local q, x = bodies[1]:q(), body:q()
      assert.near(first(flat, "slip"), first(simu, "slip"), 1e-10)
      assert.near(x[1], q[1], 1e-9)
      assert.near(x[2], q[3], 1e-9)
      assert.near(-x[3], 2 * math.atan(q[6], q[4]), 1e-9)
      for _, k in ipairs { 2, 5, 7 } do assert.near(0, q[k], 1e-12) end
    end
  end)

  it("pushes the next one over, also with absolute tolerances #once", function()
    local tilt = {}
    for k, tolerances in ipairs { {}, { 1e-8, 1e-8 } } do
      local simu, bodies = dominoes(2, 0.1, 0.4, 0.4, table.unpack(tolerances))
      assert.is_true(first(simu, "impact") > 0.07)
      tilt[k] = 2 * math.asin(bodies[2]:q()[6])
      assert.near(0, simu:energy().numerical, 1e-6)
    end
    assert.is_true(tilt[1] > 0.04)
    assert.near(tilt[1], tilt[2], 1e-7)
  end)

  it("goes on where four of them lean on one another, and more modes are possible than are tried #long", function()
    -- x, z, two parts of the quaternion, vx, vz and wy, just before all their edges act
    local width = 0.024
    local places = {
      { 0.020747479989770334, 0.012633470389171656, 0.83126224459622888, 0.55588045541180831,
        0.049895830264307953, -0.081942071979604736, 3.9494951685701829 },
      { 0.045024968071853078, 0.014451232535431634, 0.85548180965122522, 0.5178328623753663,
        0.10822086739881626, -0.14621652343420857, 7.4886946240384438 },
      { 0.067892264777332706, 0.01745605598903963, 0.89516672312716161, 0.44573146378260053,
        0.229239684733825, -0.22183576029014968, 13.132387114120197 },
      { 0.08816898554443163, 0.02130486508673185, 0.94667506554720082, 0.32218988232283652,
        0.42139894191437138, -0.230806350644292, 19.779470097504067 },
    }
    local nsds, bodies = ns.NonSmoothDynamicalSystem(0.245, 0.247), {}
    local floor = ns.contact.space { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, 2, 3), reach = 0.0015 }
    local space = ns.contact.space { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, 0, 3), reach = 0.0015 }
    local inertia = ns.matrix { { width ^ 2 + HIGH ^ 2, 0, 0 }, { 0, THIN ^ 2 + HIGH ^ 2, 0 }, { 0, 0, THIN ^ 2 + width ^ 2 } }
    floor:add_plane(ns.contact.plane({ 0, 0, 0 }, { 0, 0, 1 }))
    floor:filter(function(_, second) return second == nil end)
    for k, p in ipairs(places) do
      local body = ns.NewtonEulerDS({ p[1], 0, p[2], p[3], 0, p[4], 0 }, { p[5], 0, p[6], 0, p[7], 0 }, 1, 1 / 12 * inertia)
      body:setFExtPtr { 0, 0, -G }
      nsds:insertDynamicalSystem(body)
      floor:add(body, ns.contact.box(THIN, width, HIGH))
      space:add(body, ns.contact.box(THIN, width, HIGH))
      bodies[k] = body
    end
    floor:update()
    space:update()
    for _ in ns.EventDriven(nsds, ns.TimeDiscretisation(0.245, 1e-3), ns.RungeKuttaOSI()):steps() do
      floor:update()
      space:update()
    end

    -- In the plane, where the forces are unique: in space time stepping may go on with two corners that share a force otherwise.
    local flat = ns.NonSmoothDynamicalSystem(0.245, 0.247)
    for k, p in ipairs(places) do places[k] = { { p[1], p[2], -2 * math.atan(p[4], p[3]) }, { p[5], p[6], -p[7] } } end
    local boards, update = small_dominoes(flat, places, 2)
    local problem = ns.FrictionContact(2, { tolerance = 1e-8 })
    for _ in ns.TimeStepping(flat, ns.TimeDiscretisation(0.245, 1e-5), ns.MoreauJeanOSI(0.5), problem):steps() do update() end
    for k, board in ipairs(boards) do
      local w = bodies[k]:velocity()[5]
      assert.near(w, -board:velocity()[3], 5e-6 * w)
    end
  end)

  it("turns five of them over in the plane, where friction reaches its bound among more modes than are tried #once", function()
    local nsds, places = ns.NonSmoothDynamicalSystem(0, 0.34), {}
    for k = 1, 5 do
      local w = k == 1 and -3.88577 or 0
      places[k] = { { (k - 1) * (0.022123 + THIN) - THIN / 2, HIGH / 2, 0 }, { -w * HIGH / 2, -w * THIN / 2, w } }
    end
    local _, update = small_dominoes(nsds, places, 0.5)
    local simu, slips = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 1e-3), ns.RungeKuttaOSI(1e-8, 1e-8)), 0
    for _ in simu:steps() do update() end
    for _, event in ipairs(simu:events()) do
      if event.t > 0.325 and event.kind == "slip" and event.name == "box 5 corner 4 line 1" then slips = slips + 1 end
    end
    assert.equal(1, slips)
  end)
end)

-- A box on a slope with a friction of 1e-9 above or below the slope: it stays, or slides with the acceleration that is left.
local ns = require "nslua"

local G, SLOPE, H, T = 9.81, 0.3, 0.01, 0.03
local HALF = { 0.5, 0.3, 0.2 }

local function cross(a, b) return { a[2] * b[3] - a[3] * b[2], a[3] * b[1] - a[1] * b[3], a[1] * b[2] - a[2] * b[1] } end

local function dot(a, b) return a[1] * b[1] + a[2] * b[2] + a[3] * b[3] end

-- A slope: its normal, the direction down it and the one across.
local function slope(azimuth)
  local s, c = math.sin(SLOPE), math.cos(SLOPE)
  local normal = { s * math.cos(azimuth), s * math.sin(azimuth), c }
  local down = { c * math.cos(azimuth), c * math.sin(azimuth), -s }
  return normal, down, cross(normal, down)
end

-- The grounds, each through `centre`.
local grounds = {
  plane = function(space, centre, normal) space:add_plane(ns.contact.plane(centre, normal)) end,
  mesh = function(space, centre, _, down, across)
    local points, triangles = {}, {}
    for i = 0, 4 do
      for j = 0, 4 do
        local point, at = {}, 5 * i + j + 1
        for k = 1, 3 do point[k] = centre[k] + 0.7 * ((i - 2) * down[k] + (j - 2) * across[k]) end
        points[at] = point
        if i < 4 and j < 4 then
          triangles[#triangles + 1] = { at, at + 5, at + 6 }
          triangles[#triangles + 1] = { at, at + 6, at + 1 }
        end
      end
    end
    space:add(nil, ns.contact.mesh(points, triangles))
  end,
  heightfield = function(space, centre, normal)
    local heights = ns.zeros(10, 10)
    for i = 1, 10 do
      for j = 1, 10 do
        local x, y = 0.5 * (i - 1) - centre[1], 0.5 * (j - 1) - centre[2]
        heights[i][j] = centre[3] - (normal[1] * x + normal[2] * y) / normal[3]
      end
    end
    space:add(nil, ns.contact.heightfield(heights, 0.5, 0.5))
  end,
}

-- The velocity of the box after T, down the slope, and the largest other component; mu: of tan(SLOPE) (1 + excess).
local function slide(ground, azimuth, turned, excess)
  local normal, down, across = slope(azimuth)
  local c, s, m, centre = math.cos(turned), math.sin(turned), 2.5, { 2.15, 2.2, 0 }
  local x, y = {}, {}
  for k = 1, 3 do x[k], y[k] = c * down[k] + s * across[k], c * across[k] - s * down[k] end
  local w = math.sqrt(1 + x[1] + y[2] + normal[3]) / 2
  local q = { 0, 0, 0, w, (y[3] - normal[2]) / 4 / w, (normal[1] - x[3]) / 4 / w, (x[2] - y[1]) / 4 / w }
  for k = 1, 3 do q[k] = centre[k] + HALF[3] * normal[k] end
  local inertia = ns.zeros(3, 3)
  for k = 1, 3 do inertia[k][k] = m / 3 * (dot(HALF, HALF) - HALF[k] ^ 2) end
  local body = ns.NewtonEulerDS(q, ns.zeros(6), m, inertia)
  body:setFExtPtr { 0, 0, -m * G }
  local nsds = ns.NonSmoothDynamicalSystem(0, T)
  nsds:insertDynamicalSystem(body)
  local law = ns.NewtonImpactFrictionNSL(0, 0, math.tan(SLOPE) * (1 + excess), 3)
  local space = ns.contact.space { nsds = nsds, law = law, reach = 0.01 }
  space:add(body, ns.contact.box(2 * HALF[1], 2 * HALF[2], 2 * HALF[3]))
  grounds[ground](space, centre, normal, down, across)
  space:update()
  local problem = ns.FrictionContact(3, { tolerance = 1e-15 })
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, H), ns.MoreauJeanOSI(0.5), problem)
  for _ in simu:steps() do space:update() end
  local v = body:velocity()
  local other = math.max(math.abs(dot(v, across)), math.abs(dot(v, normal)), math.abs(v[4]), math.abs(v[5]), math.abs(v[6]))
  return dot(v, down), other
end

describe("a box on a slope", function()
  it("stays just above the angle of friction, and slides just below, on all grounds and with all axes #once", function()
    local free = G * math.sin(SLOPE) * T
    for ground in pairs(grounds) do
      for _, turns in ipairs { { 0, 0 }, { 0.7, 0.4 }, { 2.1, 1.1 } } do
        for _, excess in ipairs { 1e-9, -1e-9, 1e-6, -1e-6, -1e-3 } do
          local down, other = slide(ground, turns[1], turns[2], excess)
          local where = ("%s, turned by %g, mu %g"):format(ground, turns[2], excess)
          if excess > 0 then assert.near(0, down / free, 1e-11, where)
          else assert.near(1, down / (-excess * free), 3e-4, where) end
          assert.near(0, other / free, 1e-14, where)
        end
      end
    end
  end)
end)

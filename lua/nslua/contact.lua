-- nslua.contact: plain geometry of contacts in the plane, and contacts that come and go.
--
--   local floor = ns.contact.line({ 0, 0 }, { 0, 1 })           -- a point, the normal towards the free side
--   ns.contact.disk_line(R, floor)                              -- relation of a disk (x, y, angle) with a line
--   ns.contact.disk_disk(R1, R2)                                -- of two disks
--   ns.contact.corner_line({ a, b }, floor)                     -- of a corner, at (a, b) in its body, with a line
--   local contacts = ns.contact.manager { nsds =, law =, reach = }
--   contacts:add_disk(ds, R)   contacts:add_line(floor)   contacts:add_box(ds, width, height)
--   for k, t in simu:steps() do contacts:update() ... end
--
-- All bodies are LagrangianLinearTIDS or LagrangianDS with the coordinates (x, y, angle). The output y of a relation
-- is (gap, 0). Only the velocity of the second component is used: the velocity along the tangent of the contact
-- point of the second body (for a line: of the body). So the relations fit NewtonImpactFrictionNSL(en, et, mu, 2).
--
-- update() links the pairs whose gap is at most `reach` and unlinks those whose gap is more than 2 reach. It finds
-- the pairs of disks with a grid, at a cost that is linear in their number. reach must be larger than the decrease
-- of a gap in one step. The interaction of an unlinked pair is kept and linked again when the pair is near; this
-- holds also when the script has unlinked it. Boxes touch only lines, with their four corners: a manager that has a
-- box refuses another box or a disk.
--
-- Contacts in space are in contact/space.lua: for NewtonEulerDS, and for particles (LagrangianDS of three
-- coordinates).

local format = require "nslua.core".number_support.format
local option_names = require "nslua.base.option_names"
local option_tables = require "nslua.base.option_tables"
local where = require "nslua.base.where"

local contact = {}

local sqrt, cos, sin, floor, huge = math.sqrt, math.cos, math.sin, math.floor, math.huge

-- ---- arguments ----

local function said(text) return { text = text } end -- describe() shows this text as it is

local function describe(x)
  if x ~= x then return "nan" end
  if type(x) == "table" and rawget(x, "text") then return x.text end
  if type(x) == "string" then return "'" .. x .. "'" end
  return type(x) == "table" and getmetatable(x) == nil and "a table" or (tostring(x):gsub(": 0?x?%x+$", ""))
end

local function fail(who, what, expected, got, level)
  error(("%s: %s: expected %s, got %s"):format(who, what, expected, describe(got)), level + 1)
end

local function finite(x) return type(x) == "number" and x == x and x < huge and x > -huge end

local function positive(who, what, x)
  if not (finite(x) and x > 0) then fail(who, what, "a positive number", x, 3) end
  return x
end

local function pair(who, what, v)
  if type(v) ~= "table" or not (finite(v[1]) and finite(v[2])) or v[3] ~= nil then
    fail(who, what, "two finite numbers", v, 3)
  end
  return v[1], v[2]
end

local Line = {}
Line.__index = Line
Line.__name = "line"
where.strict(Line)

local function check_line(who, line)
  if getmetatable(line) ~= Line then fail(who, "line", "a line", line, 3) end
  return line.px, line.py, line.nx, line.ny
end

-- ---- geometry ----

-- The unit vector of (...); nil when all components are 0. It is exact also where squares overflow or underflow.
local function unit(...)
  local v, most, sum = { ... }, 0, 0
  for _, x in ipairs(v) do most = math.max(most, math.abs(x)) end
  if most == 0 then return nil end
  if most < 1e-140 or most > 1e140 then
    for i, x in ipairs(v) do v[i] = x / most end
  end
  for _, x in ipairs(v) do sum = sum + x * x end
  local length = sqrt(sum)
  for i, x in ipairs(v) do v[i] = x / length end
  return table.unpack(v)
end

-- A line through `point`; the normal, of any length, points to the side on which bodies are.
function contact.line(point, normal)
  local px, py = pair("line", "point", point)
  local nx, ny = unit(pair("line", "normal", normal))
  if not nx then fail("line", "normal", "a direction", said "zeros", 2) end
  return setmetatable({ px = px, py = py, nx = nx, ny = ny }, Line)
end

local function distance_of(line, x, y) return (x - line.px) * line.nx + (y - line.py) * line.ny end

-- The distance of (x, y) from the line, negative behind it.
function Line:distance(x, y)
  check_line("distance", self)
  if not finite(x) then fail("distance", "x", "a finite number", x, 2) end
  if not finite(y) then fail("distance", "y", "a finite number", y, 2) end
  return distance_of(self, x, y)
end

return function(ns, graph)
  -- A disk of radius R and a line.
  function contact.disk_line(R, line)
    positive("disk_line", "R", R)
    local px, py, nx, ny = check_line("disk_line", line)
    return ns.LagrangianScleronomousR {
      h = function(q, _, y) y[1] = (q[1] - px) * nx + (q[2] - py) * ny - R end,
      Jachq = function(_, _, C)
        C[1][1], C[1][2] = nx, ny
        C[2][1], C[2][2], C[2][3] = ny, -nx, R -- the tangent (ny, -nx); the contact point is at -R n
      end,
      name = "disk and line",
    }
  end

  -- Two disks of radius R1 and R2.
  function contact.disk_disk(R1, R2)
    local R = positive("disk_disk", "R1", R1) + positive("disk_disk", "R2", R2)
    return ns.LagrangianScleronomousR {
      h = function(q, _, y)
        local dx, dy = q[4] - q[1], q[5] - q[2]
        y[1] = sqrt(dx * dx + dy * dy) - R
      end,
      Jachq = function(q, _, C)
        local dx, dy = q[4] - q[1], q[5] - q[2]
        local d = sqrt(dx * dx + dy * dy)
        if d == 0 then error("the centres of the disks coincide: there is no normal", 0) end
        local nx, ny = dx / d, dy / d
        C[1][1], C[1][2], C[1][4], C[1][5] = -nx, -ny, nx, ny
        C[2][1], C[2][2], C[2][3] = -ny, nx, R1 -- the tangent (ny, -nx)
        C[2][4], C[2][5], C[2][6] = ny, -nx, R2
      end,
      dotJachq = function(q, _, v, D)
        local dx, dy, ux, uy = q[4] - q[1], q[5] - q[2], v[4] - v[1], v[5] - v[2]
        local turn = (dx * uy - dy * ux) / (dx * dx + dy * dy) -- of the normal
        local d = sqrt(dx * dx + dy * dy)
        local mx, my = -dy / d * turn, dx / d * turn -- the rate of the normal
        D[1][1], D[1][2], D[1][4], D[1][5] = -mx, -my, mx, my
        D[2][1], D[2][2], D[2][4], D[2][5] = -my, mx, my, -mx
      end,
      name = "two disks",
    }
  end

  -- A corner of a body, at (a, b) in the body's own axes, and a line.
  function contact.corner_line(place, line)
    local a, b = pair("corner_line", "place", place)
    local px, py, nx, ny = check_line("corner_line", line)
    return ns.LagrangianScleronomousR {
      h = function(q, _, y)
        local c, s = cos(q[3]), sin(q[3])
        y[1] = (q[1] + c * a - s * b - px) * nx + (q[2] + s * a + c * b - py) * ny
      end,
      Jachq = function(q, _, C)
        local c, s = cos(q[3]), sin(q[3])
        local dx, dy = -s * a - c * b, c * a - s * b -- the corner's velocity for one turn a second
        C[1][1], C[1][2], C[1][3] = nx, ny, dx * nx + dy * ny
        C[2][1], C[2][2], C[2][3] = ny, -nx, dx * ny - dy * nx
      end,
      dotJachq = function(q, _, v, D)
        local c, s, w = cos(q[3]), sin(q[3]), v[3]
        local ex, ey = (s * b - c * a) * w, (-s * a - c * b) * w -- the rate of (dx, dy)
        D[1][3], D[2][3] = ex * nx + ey * ny, ex * ny - ey * nx
      end,
      name = "corner and line",
    }
  end

  -- ---- contacts that come and go ----

  local Manager = {}
  Manager.__index = Manager
  Manager.__name = "contact manager"
  where.strict(Manager)

  local function check_options(who, options)
    if type(options) ~= "table" then fail(who, "options", "a table", options, 3) end
    local result, message = option_tables.check(options, option_names["contact." .. who], who)
    if not result then error(message, 3) end
    if getmetatable(options.nsds) ~= "NonSmoothDynamicalSystem" then
      fail(who, "nsds", "a NonSmoothDynamicalSystem", options.nsds, 3)
    end
    return result
  end

  local function check_self(who, self, kind)
    if getmetatable(self) ~= kind then fail(who, "self", "a " .. kind.__name .. " and a colon", self, 3) end
  end

  -- Raises when the body has a disk (or sphere) already.
  local function check_new(who, list, ds, noun)
    if list[ds] then
      error(("%s: ds: %s has a %s already"):format(who, (tostring(ds):gsub(" with.*", "")), noun), 3)
    end
    list[ds] = true
  end

  -- Notes up to two bodies for each kind of shape. That is enough to know whether another body has a shape of the
  -- kind.
  local function note_shape(shapes, kind, ds)
    local seen = shapes[kind] or {}
    shapes[kind] = seen
    if not seen[1] then seen[1] = ds elseif seen[1] ~= ds then seen[2] = seen[2] or ds end
  end

  -- Raises when another body has a shape through which this one would pass; else notes the shape. touches: the pairs
  -- of kinds between which there are contacts, as "disk disk".
  local function check_partners(who, shapes, touches, kind, ds)
    local kinds = {}
    for other in pairs(shapes) do kinds[#kinds + 1] = other end
    table.sort(kinds, function(a, b) return (a == kind and "" or a) < (b == kind and "" or b) end)
    for _, other in ipairs(kinds) do
      local seen = shapes[other]
      local partner = seen[1] ~= ds and seen[1] or seen[2]
      if partner and not touches[kind .. " " .. other] and not touches[other .. " " .. kind] then
        local both = kind == other and ("two %s"):format(kind == "box" and "boxes" or kind .. "s") or
          ("a %s and a %s"):format(kind, other)
        error(("%s: there is no contact between %s: they would pass through each other (the other one: %s). "
          .. "If they never meet, add them to different managers"):format(who, both,
            (tostring(partner):gsub(" with.*", ""))), 3)
      end
    end
    note_shape(shapes, kind, ds)
  end

  local touching = { ["disk disk"] = true }

  function contact.manager(options)
    options = check_options("manager", options)
    local good, size = where.try(function() return options.law:size() end)
    if not good or size ~= 2 then
      fail("manager", "law", "a nonsmooth law of size 2", good and said(("size %d"):format(size)) or options.law, 2)
    end
    return setmetatable({
      nsds = options.nsds, law = options.law, reach = positive("manager", "reach", options.reach),
      disks = {}, lines = {}, boxes = {},
      active = {},    -- the linked contacts, in the order in which they were linked
      at = {},        -- a contact's key -> its place in `active`, while it is linked
      made = {},      -- a contact's key -> the contact, linked or not
      relations = {}, -- relations that several contacts share
      given = {},     -- the bodies that have a disk
      shapes = {},    -- kinds of shapes -> up to two bodies that have one
    }, Manager)
  end

  local function body(who, ds)
    if type(ds) ~= "userdata" or not where.try(ds.q, ds) or #ds:q() ~= 3 then
      fail(who, "ds", "a mechanical system with the coordinates (x, y, angle)", ds, 3)
    end
    return ds:q()
  end

  function Manager:add_disk(ds, R)
    check_self("add_disk", self, Manager)
    local q = body("add_disk", ds)
    positive("add_disk", "R", R)
    check_partners("add_disk", self.shapes, touching, "disk", ds)
    check_new("add_disk", self.given, ds, "disk")
    self.disks[#self.disks + 1] = { ds = ds, q = q, R = R }
  end

  function Manager:add_box(ds, width, height)
    check_self("add_box", self, Manager)
    local q = body("add_box", ds)
    local w, h = positive("add_box", "width", width) / 2, positive("add_box", "height", height) / 2
    check_partners("add_box", self.shapes, touching, "box", ds)
    self.boxes[#self.boxes + 1] = { ds = ds, q = q, corners = { { w, h }, { -w, h }, { -w, -h }, { w, -h } } }
  end

  function Manager:add_line(line)
    check_self("add_line", self, Manager)
    check_line("add_line", line)
    self.lines[#self.lines + 1] = line
  end

  -- The number of contacts that are linked, and their interactions in a list.
  function Manager:count() return #self.active end

  function Manager:interactions()
    local list = {}
    for i, c in ipairs(self.active) do list[i] = c.interaction end
    return list
  end

  -- The relation of the name; make() makes it at the first call.
  local function shared(self, name, make)
    local relation = self.relations[name]
    if not relation then
      relation = make()
      self.relations[name] = relation
    end
    return relation
  end

  -- Links the contact of the key, which is not linked yet. make() returns its relation; `name` is its name.
  local function link(self, key, name, make, first, second)
    local c = self.made[key]
    if not c then
      local interaction = ns.Interaction(self.law, make(), name)
      c = { key = key, interaction = interaction, y = interaction:y(0), first = first, second = second }
      self.made[key] = c
    end
    if not graph.linked(self.nsds, c.interaction) then
      where.call("link", self.nsds.link, self.nsds, c.interaction, c.first, c.second)
    end
    self.active[#self.active + 1] = c
    self.at[key] = #self.active
  end

  -- Forgets the contacts that the script has unlinked. It looks for them only when the graph has changed since
  -- update().
  local function forget_unlinked(self)
    if graph.version(self.nsds) == self.version then return end
    local kept, at = {}, self.at
    for _, c in ipairs(self.active) do
      if graph.linked(self.nsds, c.interaction) then
        kept[#kept + 1] = c
        at[c.key] = #kept
      else
        at[c.key] = nil
      end
    end
    self.active = kept
  end

  -- Unlinks the contacts whose gap has become larger than twice the reach.
  local function unlink_far(self)
    local kept, at, most = {}, self.at, 2 * self.reach
    for _, c in ipairs(self.active) do
      if c.y[1] > most then
        self.nsds:unlink(c.interaction)
        at[c.key] = nil
      else
        kept[#kept + 1] = c
        at[c.key] = #kept
      end
    end
    self.active = kept
  end

  -- Keys of contacts: of disks i and j, and of disk i and line l.
  local function pair_key(i, j) return i << 32 | j end
  local function line_key(i, l) return i << 32 | 1 << 31 | l end

  -- Raises for a place that has no cell, since it is not finite or too far away.
  local function bad_place(ds, ...)
    local texts = { ... }
    for i, x in ipairs(texts) do texts[i] = describe(x) end
    error(("update: %s: expected a finite place near the others, got (%s)"):format(
      (tostring(ds):gsub(" with.*", "")), table.concat(texts, ", ")), 0)
  end

  -- The cell (i, j) of a grid as one number.
  local function cell_of(i, j) return i << 32 ~ (j & 0xffffffff) end

  -- Disks by the cell of a grid in which their centre is; a cell is as wide as the largest disk and the reach.
  local function cells(self)
    local widest, grid = 0, {}
    for _, disk in ipairs(self.disks) do widest = math.max(widest, disk.R) end
    local width = 2 * widest + self.reach
    local most = 1e9 * width
    for i, disk in ipairs(self.disks) do
      local q = disk.q
      local x, y = q[1], q[2]
      if not (x < most and x > -most and y < most and y > -most) then bad_place(disk.ds, x, y) end
      disk.x, disk.y, disk.i, disk.j = x, y, floor(x / width), floor(y / width)
      local key = cell_of(disk.i, disk.j)
      local cell = grid[key]
      if cell then cell[#cell + 1] = i else grid[key] = { i } end
    end
    return grid
  end

  local function link_pair(self, i, j)
    local a, b = self.disks[i], self.disks[j]
    link(self, pair_key(i, j), ("disks %d %d"):format(i, j), function()
      return shared(self, format("%.17g %.17g", a.R, b.R), function() return contact.disk_disk(a.R, b.R) end)
    end, a.ds, b.ds)
  end

  -- The pairs of disk i with later ones in a cell.
  local function link_cell(self, i, cell)
    local disks, at = self.disks, self.at
    local a = disks[i]
    local x, y, most = a.x, a.y, a.R + self.reach
    for n = 1, #cell do
      local j = cell[n]
      if j > i then
        local b = disks[j]
        local dx, dy, far = b.x - x, b.y - y, most + b.R
        if dx * dx + dy * dy <= far * far and not at[pair_key(i, j)] then link_pair(self, i, j) end
      end
    end
  end

  local function link_lines(self, i, disk)
    for l, line in ipairs(self.lines) do
      if distance_of(line, disk.x, disk.y) - disk.R <= self.reach and not self.at[line_key(i, l)] then
        link(self, line_key(i, l), ("disk %d line %d"):format(i, l), function()
          local name = format("%.17g line %d", disk.R, l)
          return shared(self, name, function() return contact.disk_line(disk.R, line) end)
        end, disk.ds)
      end
    end
  end

  local function link_disks(self)
    local grid = cells(self)
    for i, disk in ipairs(self.disks) do
      for di = -1, 1 do
        for dj = -1, 1 do
          local cell = grid[cell_of(disk.i + di, disk.j + dj)]
          if cell then link_cell(self, i, cell) end
        end
      end
      link_lines(self, i, disk)
    end
  end

  local function link_boxes(self)
    for i, box in ipairs(self.boxes) do
      local c, s = cos(box.q[3]), sin(box.q[3])
      for k, corner in ipairs(box.corners) do
        local x, y = box.q[1] + c * corner[1] - s * corner[2], box.q[2] + s * corner[1] + c * corner[2]
        for l, line in ipairs(self.lines) do
          local key = ("box %d corner %d line %d"):format(i, k, l)
          if distance_of(line, x, y) <= self.reach and not self.at[key] then
            link(self, key, key, function()
              return contact.corner_line(corner, line)
            end, box.ds)
          end
        end
      end
    end
  end

  -- Links and unlinks contacts. Call it before the first step and between steps. Returns the number of linked
  -- contacts.
  function Manager:update()
    check_self("update", self, Manager)
    forget_unlinked(self)
    unlink_far(self)
    link_disks(self)
    link_boxes(self)
    self.version = graph.version(self.nsds)
    return #self.active
  end

  require "nslua.contact.space"(ns, contact, { fail = fail, positive = positive, link = link, shared = shared,
    forget_unlinked = forget_unlinked, unlink_far = unlink_far, version = graph.version, bad_place = bad_place,
    said = said, unit = unit, check_options = check_options, check_self = check_self, check_new = check_new,
    check_partners = check_partners, count = Manager.count,
    interactions = Manager.interactions })
  return contact
end

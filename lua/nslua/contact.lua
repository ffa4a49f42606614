-- nslua.contact: plain geometry of contacts in the plane, and contacts that come and go.
--
--   local floor = ns.contact.line({ 0, 0 }, { 0, 1 })           -- a point, the normal towards the free side
--   ns.contact.disk_line(R, floor)                              -- relation of a disk (x, y, angle) with a line
--   ns.contact.disk_disk(R1, R2)                                -- of two disks
--   ns.contact.corner_line({ a, b }, floor)                     -- of a corner, at (a, b) in its body, with a line
--   ns.contact.cap_line(R, { a, b }, floor)                     -- of a cap around that point
--   ns.contact.cap_capsule(R1, { a, b }, R2, length)            -- of a cap and the capsule of another body
--   local contacts = ns.contact.manager { nsds =, law =, reach = }
--   contacts:add_disk(ds, R)   contacts:add_line(floor)   contacts:add_box(ds, width, height)
--   contacts:add_capsule(ds, R, length)   contacts:add_polygon(ds, points)   contacts:add_polyline(nil, points)
--   for k, t in simu:steps() do contacts:update() ... end
--
-- All bodies are LagrangianLinearTIDS or LagrangianDS with the coordinates (x, y, angle). The output y of a relation
-- is (gap, 0). Only the velocity of the second component is used: the velocity along the tangent of the contact
-- point of the second body (for a line: of the body). So the relations fit NewtonImpactFrictionNSL(en, et, mu, 2).
--
-- update(reach) links the pairs whose gap is at most `reach` (not given: that of the manager) and unlinks those whose
-- gap is more than 2 reach. It finds the pairs of disks and capsules with a grid, at a cost that is linear in their
-- number. reach must be larger than the decrease of a gap in one step. An unlinked pair is linked again when it is
-- near; this holds also when the script has unlinked it. All shapes touch each other. They are in contact/shape/.
--
-- Contacts in space are in contact/space.lua: for NewtonEulerDS, and for particles (LagrangianDS of three
-- coordinates).

local arguments = require "nslua.base.arguments"
local format = require "nslua.core".number_support.format
local links = require "nslua.contact.links"
local option_names = require "nslua.base.option_names"
local option_tables = require "nslua.base.option_tables"
local where = require "nslua.base.where"

local contact = {}

local sqrt, huge = math.sqrt, math.huge

-- ---- arguments ----

local function said(text) return { text = text } end -- describe() shows this text as it is

local function describe(x)
  if type(x) == "table" and rawget(x, "text") then return x.text end
  return arguments.tell(x)
end

local function fail(who, what, expected, got, level)
  error(("%s: %s: expected %s, got %s"):format(who, what, expected, describe(got)), level + 1)
end

local function finite(x) return type(x) == "number" and x == x and x < huge and x > -huge end

local function positive(who, what, x, level)
  if not (finite(x) and x > 0) then fail(who, what, "a positive number", x, level or 3) end
  return x
end

local function not_negative(who, what, x, level)
  if not (finite(x) and x >= 0) then fail(who, what, "a number, 0 or more", x, level or 3) end
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

return function(ns, core)
  local graph, support = core.graph_support, core.contact_support
  -- ---- contacts that come and go ----

  local Manager = { space = 2 }
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

  -- The shapes in the plane.
  local shapes, parts = {}, { positive = positive, not_negative = not_negative, pair = pair, fail = fail }
  parts.support, parts.check_line = support, check_line
  -- The point { x, y, 0 } of two finite numbers.
  function parts.point(who, what, p)
    local good = (type(p) == "table" or type(p) == "userdata") and #p == 2 and finite(p[1]) and finite(p[2])
    if not good then fail(who, what, "two finite numbers", p, 4) end
    return { p[1], p[2], 0 }
  end
  function parts.corner_on_line(point, line)
    if point[3] > 0 then return contact.cap_line(point[3], { point[1], point[2] }, line) end
    return contact.corner_line({ point[1], point[2] }, line)
  end
  for i, name in ipairs { "disk", "box", "capsule", "polygon", "polyline" } do
    shapes[i] = require("nslua.contact.shape." .. name)(ns, contact, parts)
  end
  local relation_of_features = require "nslua.contact.features"(ns)

  -- The size of the law of a manager, which is one of `sizes` (words: how a message tells them).
  local function check_law(who, law, words, sizes)
    local good, size = where.try(function() return law:size() end)
    if not good or not sizes[size] then
      fail(who, "law", "a nonsmooth law of size " .. words, good and said(("size %d"):format(size)) or law, 3)
    end
    if not graph.is_contact(law) then fail(who, "law", "a law of contacts, as NewtonImpactFrictionNSL", law, 3) end
    return size
  end

  function contact.manager(options)
    options = check_options("manager", options)
    check_law("manager", options.law, "2", { [2] = true })
    return links.register(graph, support, setmetatable({
      nsds = options.nsds, law = options.law, reach = positive("manager", "reach", options.reach),
      scene = support.scene(2, options.reach),
      lines = {},
      added = {},     -- shapes in the order in which they were added: their numbers in the scene
      counts = {},    -- kinds of shapes -> how many there are
      active = {},    -- the linked contacts, in the order in which they were linked
      made = {},      -- the contacts that are linked, or have been lately, by their slots in the scene
      slots = {}, gone = {}, -- where the scene writes slots
      apart = {},     -- bodies -> the bodies, and the numbers of shapes of the world, that they do not touch
      own = {},       -- the script's own generators
      relations = {}, -- relations that several contacts share
      given = {},     -- kinds of shapes -> the bodies that have one
    }, Manager))
  end

  local function body(who, ds)
    if type(ds) ~= "userdata" or not where.try(ds.q, ds) or #ds:q() ~= 3 then
      fail(who, "ds", "a mechanical system with the coordinates (x, y, angle)", ds, 3)
    end
    return ds:q()
  end

  for _, class in ipairs(shapes) do
    local who = "add_" .. class.kind
    Manager[who] = function(self, ds, ...)
      check_self(who, self, Manager)
      if class.fixed and ds ~= nil then
        fail(who, "ds", ("nil, as a %s belongs to the world"):format(class.kind), ds, 2)
      end
      local q = (ds ~= nil or not class.world) and body(who, ds) or nil
      local shape = class.read(who, ...)
      local given = self.given[class.kind] or {}
      self.given[class.kind] = given
      if class.once then check_new(who, given, ds, class.kind) end
      self.counts[class.kind] = (self.counts[class.kind] or 0) + 1
      shape.class, shape.ds, shape.number = class, ds, self.counts[class.kind]
      if shape.mesh then
        self.added[support.shape(self.scene, nil, nil, nil, nil, shape.mesh)] = shape
        return
      end
      local balls, corners = {}, {}
      for i, p in ipairs(shape.points) do balls[i], corners[i] = { p[1], p[2], 0, p[3] }, { p[1], p[2], 0 } end
      local solid = where.call(who, support.polygon, corners, shape.R)
      self.added[support.shape(self.scene, q, balls, shape.around, (shape.length or 0) / 2, solid)] = shape
    end
  end

  function Manager:add_line(line)
    check_self("add_line", self, Manager)
    check_line("add_line", line)
    self.lines[#self.lines + 1] = line
    support.half(self.scene, { line.px, line.py, 0 }, { line.nx, line.ny, 0 })
  end

  -- The number of contacts that are linked, and their interactions in a list: first of the shapes, then of the
  -- script's own generators.
  local shared_methods = {}

  function shared_methods:interactions()
    local list = {}
    for i, c in ipairs(self.active) do list[i] = c.interaction end
    for _, own in ipairs(self.own) do
      for _, c in ipairs(own.linked) do list[#list + 1] = c end
    end
    return list
  end

  function shared_methods:count()
    local count = #self.active
    for _, own in ipairs(self.own) do count = count + #own.linked end
    return count
  end

  -- filter(first, second): whether two bodies touch whose shapes come near; second is nil for the world. False: they
  -- do not.
  function shared_methods:filter(filter)
    if type(filter) ~= "function" then fail("filter", "filter", "a function", filter, 2) end
    self.asks = filter
  end

  -- Has a body not touch another one, or a shape of the world with that number.
  function shared_methods:_keep_apart(ds, other)
    self.apart[ds] = self.apart[ds] or {}
    self.apart[ds][other] = true
  end

  -- The manager of a clone of the simulation, or of the simulation of which this one's is a clone.
  function shared_methods:in_clone(simulation)
    local good, nsds = where.try(function() return simulation:nsds() end)
    local other = good and links.of(self, nsds)
    if not other then fail("in_clone", "simulation", "a clone of that of this manager", simulation, 2) end
    return other
  end

  -- contacts(first, second) returns the relations of two bodies (second = nil: of one and the world) that are near,
  -- by keys, which name them from update to update.
  function shared_methods:pair(first, second, contacts)
    for i, ds in ipairs { first or said "nil", second } do
      if type(ds) ~= "userdata" or not where.try(ds.q, ds) then
        fail("pair", i == 1 and "first" or "second", "a mechanical system", ds, 2)
      end
    end
    if type(contacts) ~= "function" then fail("pair", "contacts", "a function", contacts, 2) end
    self.own[#self.own + 1] = { number = #self.own + 1, first = first, second = second, contacts = contacts,
      made = {}, linked = {} }
  end

  -- Every so many searches the contacts are forgotten that have been apart for as many: they will be made anew, which
  -- gives the same run, as a contact that is linked has no past. More often takes more time than memory is worth.
  local forget_every = 200

  local function forget(self, searches)
    if searches % forget_every ~= 0 then return end
    for slot in pairs(self.made) do
      if support.apart(self.scene, slot) >= forget_every then self.made[slot] = nil end
    end
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

  -- The contact of the slot. self:_describe(slot, first, second, part) returns its name, what makes its relation, and
  -- its systems.
  local function made(self, slot)
    local c = self.made[slot]
    if not c then
      local name, make, first, second = self:_describe(slot, support.contact(self.scene, slot))
      local interaction = ns.Interaction(self.law, make(), name)
      c = { slot = slot, interaction = interaction, y = interaction:y(0), first = first, second = second }
      links.note(graph, self, interaction, 0, support.origin(self.scene, slot))
      self.made[slot] = c
    end
    return c
  end

  -- Whether neither the script's filter nor a joint of a robot refuses the contact.
  local function may_touch(self, c)
    if self.asks and self.asks(c.first, c.second) == false then return false end
    local apart = self.apart[c.first]
    if not apart then return true end
    local _, second = support.contact(self.scene, c.slot)
    return not apart[c.second or second]
  end

  -- Links the contact of the slot, if it may touch.
  local function link(self, slot)
    local c = made(self, slot)
    if not may_touch(self, c) then return end
    if not graph.linked(self.nsds, c.interaction) then
      graph.clear(c.interaction)
      where.call("link", self.nsds.link, self.nsds, c.interaction, c.first, c.second)
    end
    self.active[#self.active + 1] = c
    support.link(self.scene, slot, c.y)
  end

  -- Keeps the active contacts for which keep(contact) holds, and tells the scene of the others.
  local function keep_active(self, keep)
    local kept = {}
    for _, c in ipairs(self.active) do
      if keep(c) then kept[#kept + 1] = c else support.unlink(self.scene, c.slot) end
    end
    self.active = kept
  end

  -- Unlinks the contacts of the first `count` slots in a list.
  local function unlink_listed(self, count, list)
    if count == 0 then return end
    local far, interactions = {}, {}
    for k = 1, count do
      local c = self.made[list[k]]
      far[c], interactions[k] = true, c.interaction
    end
    where.call("unlink", graph.unlink, self.nsds, interactions)
    keep_active(self, function(c) return not far[c] end)
  end

  -- f(...) for the relation with this key of a generator of the script; an error names the key.
  local function try_pair(key, f, ...)
    local good, result = where.try(f, ...)
    if good then return result end
    if type(result) ~= "string" then error(result, 0) end
    local text = result:gsub("^[^\n]-:%d+: ", ""):gsub("^bad argument #2 to '[%w.]*' %((.-)%)$", "%1")
    where.fail(("pair: contacts: [%s]: %s"):format(key, text))
  end

  -- The relations that a generator of the script names now.
  local function ask(own)
    local near = own.contacts(own.first, own.second)
    if type(near) ~= "table" then
      fail("pair", "contacts", "a function that returns a table of relations", near, 6)
    end
    return near
  end

  -- The interaction of a generator's key.
  local function own_made(self, own, key, relation)
    if not own.made[key] then
      local name = ("pair %d %s"):format(own.number, key)
      own.made[key] = try_pair(key, ns.Interaction, self.law, relation, name)
      links.note(graph, self, own.made[key], own.number, links.key(key))
    end
    return own.made[key]
  end

  -- What links.relink asks for: the contact that was saved as these bytes, of the shapes or, with number > 0, of a
  -- generator of the script; nil: there is none.
  function shared_methods:_recall(number, bytes)
    if number == 0 then
      local slot = support.recall(self.scene, bytes)
      return slot and made(self, slot)
    end
    local own, found = self.own[number], nil
    for key, interaction in pairs(own and own.made or {}) do
      if links.key(key) == bytes then found = interaction end
    end
    for key, relation in pairs(own and not found and ask(own) or {}) do
      if links.key(key) == bytes then found = own_made(self, own, key, relation) end
    end
    return found and { own = own, interaction = found, first = own.first, second = own.second }
  end

  -- Links the contacts that a generator of the script names now, and unlinks the others.
  local function generate(self, own)
    local near, keys, linked = ask(own), {}, {}
    for key, relation in pairs(near) do
      if type(relation) ~= "userdata" then fail("pair", ("contacts: [%s]"):format(key), "a relation", relation, 5) end
      keys[#keys + 1] = key
    end
    table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
    for _, key in ipairs(keys) do
      local interaction = own_made(self, own, key, near[key])
      linked[#linked + 1], linked[interaction] = interaction, true
    end
    for _, interaction in ipairs(own.linked) do
      if not linked[interaction] and graph.linked(self.nsds, interaction) then self.nsds:unlink(interaction) end
    end
    for _, interaction in ipairs(linked) do
      if not graph.linked(self.nsds, interaction) then
        graph.clear(interaction)
        try_pair(interaction:name():match " (%S*)$", self.nsds.link, self.nsds, interaction, own.first, own.second)
      end
    end
    own.linked = linked
  end

  for name, method in pairs(shared_methods) do Manager[name] = method end

  -- Links and unlinks contacts. Contacts that the script has unlinked are forgotten first: they are looked for only
  -- when the graph has changed since the last time. Then those whose gap has become larger than twice the reach are
  -- unlinked.
  local function update(self, reach)
    local nsds, scene, slots = self.nsds, self.scene, self.slots
    reach = reach == nil and self.reach or positive("update", "reach", reach)
    local version, resets = graph.version(nsds)
    if version ~= self.known.version then
      keep_active(self, function(c) return graph.linked(nsds, c.interaction) end)
    end
    if resets ~= self.known.resets then -- contacts come anew, as in the first run
      local left = {}
      for _, interaction in ipairs(self:interactions()) do
        if graph.linked(nsds, interaction) then left[#left + 1] = interaction end
      end
      if #left > 0 then where.call("unlink", graph.unlink, nsds, left) end
      keep_active(self, function() return false end)
      for _, own in ipairs(self.own) do own.linked = {} end
      self.known.resets = resets
    end
    unlink_listed(self, support.far(scene, 2 * reach, self.gone), self.gone)
    local near, searches = support.search(scene, slots, reach) -- without near: the shape that is nowhere
    if not near then
      local ds = self.added[searches].ds
      local texts = {}
      for i = 1, self.space do texts[i] = describe(ds:q()[i]) end
      error(("update: %s: expected a finite place near the others, got (%s)"):format(
        (tostring(ds):gsub(" with.*", "")), table.concat(texts, ", ")), 3)
    end
    unlink_listed(self, support.lost(scene, self.gone), self.gone)
    for k = 1, near do link(self, slots[k]) end
    for _, own in ipairs(self.own) do generate(self, own) end
    self.known.version = graph.version(nsds)
    self.known.reached, self.known.updated = reach, graph.now(nsds)
    links.tell(graph, support, self)
    links.watch(support, self)
    forget(self, searches)
    return self:count()
  end

  -- The contacts between two shapes, made once.
  local function contacts_of(a, b)
    local known = a.known or {}
    a.known = known
    if not known[b] then
      local meets, other = a.class.meets[b.class.kind], b.class.meets[a.class.kind]
      known[b] = meets and meets(a, b) or other(b, a)
    end
    return known[b]
  end

  local function name_of(a, b, k, count)
    local name = a.class == b.class and ("%s %d %d"):format(a.class.plural, a.number, b.number) or
      ("%s %d %s %d"):format(a.class.kind, a.number, b.class.kind, b.number)
    return count > 1 and ("%s %d"):format(name, k) or name
  end

  -- The contact of a point of a shape, a ball of its body (R = 0: a corner), with a line.
  local function with_line(self, shape, l, k)
    local class, line, point = shape.class, self.lines[l], shape.points[k]
    local name = class.part and ("%s %d %s %d line %d"):format(class.kind, shape.number, class.part, k, l)
      or ("%s %d line %d"):format(class.kind, shape.number, l)
    local key = format("%s %.17g %.17g %.17g line %d", class.kind, point[1], point[2], point[3], l)
    local function make() return class.line(point, line) end
    return name, function() return shared(self, key, make) end, shape.ds
  end

  function Manager:_describe(_, first, second, part, features)
    local a = self.added[first]
    if second < 0 then return with_line(self, a, -second, part) end
    local b = self.added[second]
    if features then
      local name = ("%s %d %s %d %s"):format(a.class.kind, a.number, b.class.kind, b.number, part)
      return name, function() return relation_of_features(features, b.ds ~= nil) end, a.ds, b.ds
    end
    local list = contacts_of(a, b)
    local c = list[part]
    local function make() return shared(self, c.key, c.make) end
    return name_of(a, b, part, #list), make, c.first.ds, c.second.ds
  end

  -- Links and unlinks contacts. Call it before the first step and between steps. Returns the number of linked
  -- contacts.
  function Manager:update(reach)
    check_self("update", self, Manager)
    return update(self, reach)
  end

  require "nslua.contact.space"(ns, contact, { fail = fail, positive = positive, not_negative = not_negative,
    update = update, shared = shared, check_law = check_law,
    support = support, graph = graph, said = said, unit = unit, check_options = check_options,
    check_self = check_self, check_new = check_new, methods = shared_methods, recorder = core.recorder })
  require "nslua.contact.outline"(contact, shapes, { support = support, fail = fail, said = said,
    is_line = function(x) return getmetatable(x) == Line end })
  return contact
end

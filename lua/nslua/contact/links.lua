-- nslua.contact.links: which contacts managers have linked, in checkpoints and in clones. A file has for each manager
-- its shapes, by how much they lead and how far its last update looked, and for each interaction what it is to its
-- manager; none for those of the script.

local numbers = require "nslua.core".number_support

local exact, format = numbers.exact, numbers.format

local links = {}

local managers = setmetatable({}, { __mode = "k" }) -- graphs -> their managers in the order of making

-- Has the contacts of the graph's managers that are watched linked within the steps of simulations that go from event
-- to event.
local function watch(support, nsds)
  local scenes, watched = {}, {}
  for _, m in ipairs(managers[nsds]) do
    if m.known.watched then watched[#watched + 1], scenes[#scenes + 1] = m, m.scene end
  end
  support.watch(nsds, scenes, function()
    for _, m in ipairs(watched) do m:update(m.known.reached) end
  end)
end

-- Those of a manager in space are, from the first time on that it links contacts.
function links.watch(support, manager)
  if manager.known.watched or manager.space == 2 then return end
  manager.known.watched = true
  watch(support, manager.nsds)
end

-- Whether the manager's filter lets the bodies pass, in whatever order it is asked.
local function refused(m, first, second)
  local function says_no(...)
    local good, answer = pcall(m.asks, ...)
    return not good or answer == false
  end
  if not m.asks then return false end
  return says_no(first or second, first and second) or first and second and says_no(second, first)
end

local function noun_of(m, number)
  if number < 0 then return ("%s %d"):format(m.space == 2 and "line" or "plane", -number) end
  local shape = m.added[number]
  return ("%s %d"):format(shape.kind or shape.class.kind, shape.number)
end

-- Notes the first two bodies of a manager that have met, and have no contact. Of one that was never updated, as for
-- pictures alone, bodies that interactions hold do not count.
local function mind_one(graph, support, m)
  local known, pairs_met = m.known, {}
  if known.met or m.recorded and not known.updated then return end
  for k = 1, support.met(m.scene, pairs_met), 2 do
    local a, b = pairs_met[k], pairs_met[k + 1]
    local first, second = m.added[a].ds, b > 0 and m.added[b].ds or nil
    local loose = first and not graph.held(first) or second and not graph.held(second) or known.updated
    local apart = first and m.apart[first]
    if loose and not (apart and apart[second or b]) and not refused(m, first, second) then
      local last = known.updated and format("last called at t = %.10g", known.updated) or "never called"
      known.met = format("%s and %s overlap at t = %.10g without a contact, as update() was %s", noun_of(m, a),
        noun_of(m, b), graph.now(m.nsds), last)
      return
    end
  end
end

-- Has it minded after each step whether bodies meet that have no contact.
local function mind(graph, support, nsds)
  local scenes = {}
  for i, m in ipairs(managers[nsds]) do scenes[i] = m.scene end
  support.mind(nsds, scenes, function()
    for _, m in ipairs(managers[nsds]) do mind_one(graph, support, m) end
  end)
end

function links.register(graph, support, manager)
  local list = managers[manager.nsds] or {}
  managers[manager.nsds] = list
  list[#list + 1] = manager
  manager.number = #list
  manager.known = {} -- what it knows of the graph, beside the links
  manager.kin = {} -- the same table in all clones of it
  mind(graph, support, manager.nsds)
  return manager
end

-- A word about a manager whose bodies have met without a contact, or that was never updated although the script names
-- contacts of a body that nothing else holds; nil: there is none.
-- left: a loop was left, and the script may call update() yet.
function links.idle(graph, support, nsds, left)
  for number, m in ipairs(managers[nsds] or {}) do
    local loose = false
    for _, own in ipairs(m.own) do loose = loose or not graph.held(own.first) end
    if not m.known.updated then mind_one(graph, support, m) end
    local what = m.known.met
    if not what and loose and not left and not m.known.updated and not m.recorded then
      what = "update() was never called, and so its bodies have had no contacts"
    end
    if what then
      return ("contact manager %d %s: %s: call it before the first step and between steps"):format(number,
        m.space == 2 and "in the plane" or "in space", what)
    end
  end
end

-- ---- clones ----

-- A value with clones in the place of their originals, also in plain tables, so many levels down.
local function copied(map, value, levels)
  if map[value] ~= nil then return map[value] end
  if type(value) ~= "table" or levels == 0 or getmetatable(value) then return value end
  local to = {}
  for k, v in pairs(value) do to[map[k] or k] = copied(map, v, levels - 1) end
  return to
end

-- The contacts of `made`, by their slots, that are linked in the graph of the manager: others are made anew.
local function copied_contacts(map, made)
  local to = {}
  for slot, c in pairs(made) do
    local interaction = map[c.interaction]
    if interaction then
      to[slot] = { slot = slot, interaction = interaction, y = interaction:y(0), first = map[c.first],
        second = c.second and map[c.second] }
    end
  end
  return to
end

-- A generator of the script, with the interactions that are linked.
local function copied_own(map, own)
  local to = copied(map, own, 1)
  to.made, to.linked = {}, {}
  for key, interaction in pairs(own.made) do to.made[key] = map[interaction] end
  for _, interaction in ipairs(own.linked) do
    local clone = map[interaction]
    if clone then to.linked[#to.linked + 1], to.linked[clone] = clone, true end
  end
  return to
end

-- The manager of the clone of a graph that is to it what m is to the original.
local function clone_of(graph, support, m, map)
  local to, places = setmetatable({}, getmetatable(m)), {}
  map[m.law] = map[m.law] or graph.clone(m.law)
  for k, v in pairs(m) do to[k] = copied(map, v, 2) end
  for at, shape in ipairs(to.added) do places[at], shape.known = shape.ds and shape.ds:q() or false, nil end
  to.scene, to.slots, to.gone, to.relations, to.own, to.kin = support.copy(m.scene, places), {}, {}, {}, {}, m.kin
  for name, relation in pairs(m.relations) do to.relations[name] = map[relation] end
  to.active, to.made = {}, copied_contacts(map, m.made)
  for _, c in ipairs(m.active) do
    local own = to.made[c.slot]
    if own then
      to.active[#to.active + 1] = own
      support.link(to.scene, own.slot, own.y, own.interaction:relation())
    end
  end
  for i, own in ipairs(m.own) do to.own[i] = copied_own(map, own) end
  local _, before = graph.version(m.nsds)
  local _, now = graph.version(to.nsds)
  to.known.met, to.known.version = nil, nil
  to.known.resets = m.known.resets == before and now or m.known.resets and -1
  return to
end

-- Gives the clone of a graph clones of its managers. map: objects and managers -> their clones.
function links.clone(graph, support, nsds, map)
  local list = managers[nsds]
  if not list then return end
  local clones = {}
  for i, m in ipairs(list) do
    clones[i] = clone_of(graph, support, m, map)
    map[m] = clones[i]
  end
  for i, m in ipairs(list) do -- functions of the script may have captured any manager
    clones[i].asks = m.asks and graph.relinked(m.asks, map)
    for k, own in ipairs(m.own) do clones[i].own[k].contacts = graph.relinked(own.contacts, map) end
  end
  managers[map[nsds]] = clones
  for _, m in ipairs(clones) do
    if m.known.watched then
      watch(support, map[nsds])
      break
    end
  end
  mind(graph, support, map[nsds])
end

-- The manager of another graph that is a clone of m, or of which m is one; nil: there is none.
function links.of(m, nsds)
  local other = (managers[nsds] or {})[m.number]
  return other and other.kin == m.kin and other or nil
end

-- ---- checkpoints ----

-- The key of a generator of the script, as bytes.
function links.key(key) return type(key):sub(1, 1) .. tostring(key) end

-- Notes what an interaction is: a contact of the shapes (pair = 0), or of a generator of the script.
function links.note(graph, manager, interaction, pair, bytes)
  graph.origin(interaction, ("=I4I4s8"):pack(manager.number, pair, bytes))
end

local function triple(v) return ("(%s, %s, %s)"):format(exact(v[1]), exact(v[2]), exact(v[3])) end

-- What a manager is, in lines.
local function describe(support, self)
  local halves = self.planes or self.lines
  local count, known = #self.added + #halves + #self.own, self.known
  if known.described == count then return known.description end
  local where, noun = "in space", "plane"
  if self.space == 2 then where, noun = "in the plane", "line" end
  local lines = { ("%s, reach %s, %s, %d shapes, %d %ss, %d pairs"):format(where, exact(self.reach),
    getmetatable(self.law), #self.added, #halves, noun, #self.own) }
  for at, shape in ipairs(self.added) do
    local whose = shape.ds and tostring(shape.ds):gsub(" with.*", "") or "the world"
    lines[#lines + 1] = ("%s %d of %s %s"):format(shape.kind or shape.class.kind, shape.number, whose,
      support.mark(self.scene, at))
  end
  for i, h in ipairs(halves) do
    local p, n = h.point or { h.px, h.py, 0 }, h.normal or { h.nx, h.ny, 0 }
    lines[#lines + 1] = ("%s %d at %s along %s"):format(noun, i, triple(p), triple(n))
  end
  known.description, known.described = table.concat(lines, "\n"), count
  return known.description
end

-- What its last update has left: by how much bullets lead, and the reach, if there was one.
local function left_of(support, self)
  local list, reach = {}, self.known.reached
  for i, one in ipairs(self.bullets or {}) do list[i] = ("=d"):pack(support.leads(self.scene, one.at)) end
  if reach then list[#list + 1] = ("=d"):pack(reach) end
  return table.concat(list)
end

local function set_left(support, self, left)
  local bullets, at = self.bullets or {}, 1
  for _, one in ipairs(bullets) do
    if at <= #left then
      local lead
      lead, at = ("=d"):unpack(left, at)
      support.leads(self.scene, one.at, lead)
    end
  end
  self.known.reached = at <= #left and (("=d"):unpack(left, at)) or nil
  support.reach(self.scene, self.known.reached or self.reach)
end

-- Tells the graph of the managers, for files, when this one has changed.
function links.tell(graph, support, manager)
  local left, known = left_of(support, manager), manager.known
  local before = known.description
  if describe(support, manager) == before and left == known.left then return end
  known.left = left
  local told = {}
  for i, m in ipairs(managers[manager.nsds]) do
    told[i] = ("=s8s8"):pack(m.known.description or "", m.known.left or "")
  end
  graph.origins(manager.nsds, table.concat(told))
end

-- Calls f(interaction, its origin) for the interactions of the graph.
local function each(graph, nsds, f)
  for i = 1, nsds:numberOfInteractions() do
    local interaction = nsds:interaction(i)
    f(interaction, graph.origin(interaction))
  end
end

-- Links the contacts of the list in its order in place of those of the set that are linked: places of the script's
-- interactions are false.
local function take(graph, support, nsds, list, contacts, set)
  local present, rest, order, next_own = {}, {}, {}, 1
  each(graph, nsds, function(interaction)
    local to = set[interaction] and present or rest
    to[#to + 1] = interaction
  end)
  graph.unlink(nsds, present)
  for _, m in ipairs(list) do
    for _, c in ipairs(m.active) do support.unlink(m.scene, c.slot) end
    m.active = {}
    for _, own in ipairs(m.own) do own.linked = {} end
  end
  for i, entry in ipairs(contacts) do
    local c = entry and entry.contact
    order[i] = c and c.interaction or rest[next_own]
    if c then
      nsds:link(c.interaction, c.first, c.second)
      local to = c.own and c.own.linked or entry.manager.active
      to[#to + 1] = c.own and c.interaction or c
      if c.slot then support.link(entry.manager.scene, c.slot, c.y) end
    else
      next_own = next_own + 1
    end
  end
  for i = next_own, #rest do order[#order + 1] = rest[i] end
  graph.arrange(nsds, order)
end

-- The origin of an interaction; false of one of the script.
local function origin_of(bytes)
  if bytes == "" then return false end
  local number, pair, key = ("=I4I4s8"):unpack(bytes)
  return { number = number, pair = pair, bytes = key }
end

-- What the bytes of a file tell: of managers, and of the interactions.
local function read(bytes)
  local told, at = ("=s8"):unpack(bytes)
  local file = { managers = {}, origins = {}, told = told, interactions = bytes:sub(at) }
  while at <= #bytes do
    local origin
    origin, at = ("=s8"):unpack(bytes, at)
    file.origins[#file.origins + 1] = origin_of(origin)
  end
  at = 1
  while at <= #told do
    local m = {}
    m.description, m.left, at = ("=s8s8"):unpack(told, at)
    file.managers[#file.managers + 1] = m
  end
  return file
end

-- Compares what the managers of a file are with those that are here. refuse(text, ...) raises.
local function compare(support, list, file, refuse)
  for number, there in ipairs(file) do
    local manager = list[number]
    if not manager then
      refuse("has contacts of contact manager %d (%s), which is not here", number, there.description:match "^[^\n]*")
    end
    local lines = describe(support, manager):gmatch "[^\n]+"
    for line in there.description:gmatch "[^\n]+" do
      local here = lines() or ""
      if here ~= line then
        refuse("is of another model: its contact manager %d has \"%s\", here is \"%s\"", number, line, here)
      end
    end
  end
  local more = list[#file + 1]
  if more and #more.added > 0 then
    refuse("has no contact manager %d, here is one (%s)", #file + 1, describe(support, more):match "^[^\n]*")
  end
end

-- The contact with this origin; false of an interaction of the script.
local function recall(list, origin, refuse)
  if not origin then return false end
  local number, pair, manager = origin.number, origin.pair, list[origin.number]
  local contact = manager and manager:_recall(pair, origin.bytes)
  if contact then return { manager = manager, contact = contact } end
  if not refuse then return false end
  if pair == 0 then refuse("has a contact of contact manager %d that can not be between its shapes", number) end
  refuse("has the contact '%s' of pair %d of contact manager %d, which its function does not name at the present "
    .. "state", origin.bytes:sub(2), pair, number)
end

-- Has the contacts linked that the bytes of a file tell; gives a function that takes this back, or nil where there is
-- nothing to do. Raises, before anything has changed, where the managers are not those of the file.
function links.relink(graph, support, nsds, path, bytes)
  local list, here, before, after, set, was = managers[nsds] or {}, {}, {}, {}, {}, {}
  if not bytes then return nil end
  local function refuse(text, ...) error(("load_state: '%s' " .. text):format(path, ...), 0) end
  local good, file = pcall(read, bytes)
  if not good then refuse "was written by another version of nslua: what links its contacts can not be read" end
  each(graph, nsds, function(_, origin) here[#here + 1] = ("=s8"):pack(origin) end)
  local same = table.concat(here) == file.interactions
  if same and #list == 0 then return nil end -- there are no managers
  compare(support, list, file.managers, refuse)
  for i, origin in ipairs(file.origins) do
    local entry = recall(list, origin, refuse)
    after[i] = entry
    if entry then set[entry.contact.interaction] = true end
  end
  each(graph, nsds, function(interaction, origin)
    local entry = recall(list, origin_of(origin))
    local own = entry and entry.contact.interaction == interaction -- not the one of which this is a clone
    before[#before + 1] = own and entry
    if own then set[interaction] = true end
  end)
  for i, m in ipairs(list) do
    local known = m.known
    was[i] = { left_of(support, m), known.resets, known.version, known.left, known.watched }
  end
  local known = graph.origins(nsds)
  local function undo()
    if not same then take(graph, support, nsds, list, before, set) end
    for i, m in ipairs(list) do
      set_left(support, m, was[i][1])
      m.known.resets, m.known.version, m.known.left, m.known.watched = table.unpack(was[i], 2, 5)
    end
    watch(support, nsds)
    graph.origins(nsds, known)
  end
  if not same then
    local linked, message = pcall(take, graph, support, nsds, list, after, set)
    if not linked then
      undo()
      error(message, 0)
    end
  end
  local version, resets = graph.version(nsds)
  for i, m in ipairs(list) do
    local left = file.managers[i] and file.managers[i].left or ""
    m.known.resets, m.known.left = resets, left
    set_left(support, m, left)
    if m.known.reached then links.watch(support, m) end
    if not same then m.known.version = version end
  end
  graph.origins(nsds, file.told)
  return undo
end

return links

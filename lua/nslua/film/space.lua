-- nslua.film.space: motion in space as one page, drawn by three.js.
--
--   local recorder = contacts:recorder { fps = 60 }       -- of a manager of contacts in space
--   for _, t in simu:steps() do contacts:update() recorder:add(t) end
--   recorder:animate3d { file = "pour.html" }
--
--   sol:animate3d { space = contacts, file = "run.html" } -- of a solution
--   ns.animation.space { bodies = { shape, ... }, frames = n, places = function(k) return { q, ... } end }
--
-- A film has bodies, each with its shapes, and their places in each frame as tracks (nslua.film.tracks). The page is
-- web/space.js.

local arguments = require "nslua.base.arguments"
local canvas = require "nslua.film.canvas"
local coder = require "nslua.film.coder"
local drawing_of = require "nslua.film.drawing"
local forces_of_film = require "nslua.film.forces"
local format = require "nslua.core".number_support.format
local html = require "nslua.web.html"
local three = require "nslua.web.three"
local timeplot = require "nslua.web.timeplot"
local tracks = require "nslua.film.tracks"
local where = require "nslua.base.where"

local show, finite = canvas.show, canvas.finite

local function number_of(n, one, many) return format("%d %s", n, n == 1 and one or many) end
local sqrt, huge = math.sqrt, math.huge

local MOST = 0.1 -- rotations are met to within this angle, in rad, in any case

local function fail(text, ...) error(format(text, ...), 0) end

local function is_shape(x) return getmetatable(x) and getmetatable(x).__name == "shape" end
local function is_plane(x) return getmetatable(x) and getmetatable(x).__name == "plane" end

-- ---- films ----

local Film = {}
Film.__index = Film

-- Refuses what has no entries. The name is a format, as in canvas.finite.
local function check_list(x, who, name, ...)
  if where.try(function() return #x end) then return end
  fail("%s: %s: expected a list, got %s", who, name:format(...), show(x))
end

-- Refuses a number that is too many tolerances from 0 for a track.
local function check_near(x, tolerance, who, name, ...)
  if tracks.least(x) <= tolerance then return end
  fail("%s: %s: %g is too large for an accuracy of %g", who, name:format(...), x, tolerance)
end

-- A place { x, y, z } or with a unit quaternion, as two lists.
local function place_of(q, who, k, accuracy)
  local good, n = where.try(function() return #q end)
  if not good or n ~= 3 and n ~= 7 then
    fail("%s: place of body %d: expected 3 or 7 numbers, got %s", who, k, show(q))
  end
  local list = {}
  for i = 1, n do list[i] = finite(q[i], who, "place of body %d [%d]", k, i) end
  for i = 1, 3 do check_near(list[i], accuracy, who, "place of body %d [%d]", k, i) end
  local position = { list[1], list[2], list[3] }
  if n == 3 then return position, { 1, 0, 0, 0 } end
  local most, turn, square = 0, {}, 0
  for i = 4, 7 do most = math.max(most, math.abs(list[i])) end
  if most == 0 then fail("%s: place of body %d: expected a quaternion, got zeros", who, k) end
  for i = 1, 4 do
    turn[i] = list[3 + i] / most
    square = square + turn[i] ^ 2
  end
  for i = 1, 4 do turn[i] = turn[i] / sqrt(square) end
  return position, turn
end

-- Adds the forces { point, force, first, second } of a frame.
local function add_forces(self, forces)
  local kept, who = {}, self.who
  check_list(forces, who, "forces")
  for i, f in ipairs(forces) do
    check_list(f, who, "forces[%d]", i)
    local first = self.bodies[f.first]
    if not first or f.second and not self.bodies[f.second] then
      fail("%s: forces[%d]: expected numbers of bodies, from 1 to %d, as first and second, got %s, %s", who, i,
        #self.bodies, show(f.first), show(f.second))
    end
    for _, name in ipairs { "point", "force" } do check_list(f[name], who, "forces[%d].%s", i, name) end
    local one = { f.first, f.second or 0 }
    for j = 1, 3 do
      one[2 + j] = finite(f.point[j], who, "forces[%d].point[%d]", i, j) - first.at[j]
      check_near(one[2 + j], self.size / 10, who, "forces[%d].point[%d]", i, j)
      one[5 + j] = finite(f.force[j], who, "forces[%d].force[%d]", i, j)
    end
    local size = finite(sqrt(one[6] ^ 2 + one[7] ^ 2 + one[8] ^ 2), who, "size of forces[%d]", i)
    self.strongest = math.max(self.strongest, size)
    kept[i] = one
  end
  self.forces[#self.times] = kept
end

-- Adds a frame: a place for each body, forces { point, force, first, second } and a value for each body, or nil.
local function add_frame(self, t, places, forces, values)
  self.times[#self.times + 1] = t
  check_list(places, self.who, "places")
  if values then check_list(values, self.who, "values") end
  for k, body in ipairs(self.bodies) do
    local position, turn = place_of(places[k], self.who, k, self.accuracy)
    body.position:add(t, position)
    body.turn:add(t, turn)
    if values then
      local value = finite(values[k], self.who, "value of body %d", k)
      self.low, self.high = math.min(self.low, value), math.max(self.high, value)
      finite(self.high - self.low, self.who, "range of the values")
      body.values[#body.values + 1] = value
    end
    if forces then body.at = position end
  end
  if forces then add_forces(self, forces) end
end

-- The forces of all frames; their points are met to within a tenth of the smallest body's radius.
local function pack_forces(self)
  local code, quantum = coder(), self.size / 10
  forces_of_film.write(code, self.forces, #self.times, self.strongest, quantum)
  return { data = html.packed(code:text()), quantum = quantum, size = self.size }
end

-- What the page needs to know of the film.
local function record_of(self)
  local code, drawing, values, range = coder(), self.drawing, nil, nil
  if self.valued then
    local most = math.max(math.abs(self.low), math.abs(self.high))
    range = math.max(self.high - self.low, 200 * tracks.least(most))
    range = range > 0 and range or 1
    values = { low = self.low, high = self.high, label = self.label, quantum = tracks.quantum(range / 200) }
  end
  local before = {}
  for _, body in ipairs(self.bodies) do
    body.position:write(code, before.position)
    body.turn:write(code, before.turn)
    if values then
      local track = tracks.linear(1, range / 200)
      for i, value in ipairs(body.values) do track:add(self.times[i], { value }) end
      track:write(code, before.track)
      before.track = track
    end
    before.position, before.turn = body.position, body.turn
  end
  return {
    motion = html.packed(code:text()), bodies = #self.bodies,
    quantum = tracks.quantum(self.accuracy), turn = tracks.quantum(self.turn), values = values,
    times = html.numbers(self.times, "f8"),
    geometries = drawing.geometries, parts = html.packed(drawing:text()), count = #drawing.parts,
    colours = drawing.colours, world = drawing.world, planes = self.planes,
    meshes = #drawing.world > 0, forces = self.strongest > 0 and pack_forces(self) or nil,
  }
end

return function(core, parts)
  local check_keys, option, positive, public = parts.check_keys, parts.option, parts.positive, parts.public
  local support, touch = core.contact_support, core.graph_support.touch

  local function colour_of(value, who, default)
    return value == nil and default or canvas.colour(value, who, "color")
  end

  -- A new film of bodies { shapes =, color = } and of the shapes and planes of the world.
  local function new_film(who, bodies, world, options)
    local drawing, smallest = drawing_of(), huge
    local self = setmetatable({ who = who, bodies = {}, times = {}, forces = {}, strongest = 0, planes = {},
      drawing = drawing, low = huge, high = -huge }, Film)
    for k, body in ipairs(bodies) do
      local around, colour = 0, colour_of(body.color, who, canvas.palette[(k - 1) % #canvas.palette + 1])
      for _, shape in ipairs(body.shapes) do around = math.max(around, drawing:add(support, k, shape, colour)) end
      smallest = math.min(smallest, around)
      self.bodies[k] = { around = around, values = {} }
    end
    for _, one in ipairs(world) do
      local what = type(one) == "table" and not is_shape(one) and not is_plane(one) and one.shape or one
      if is_plane(what) then
        local p, n = what.point, what.normal
        self.planes[#self.planes + 1] = { p[1], p[2], p[3], n[1], n[2], n[3] }
      elseif is_shape(what) then
        drawing:add(support, 0, what, what == one and "faint" or colour_of(one.color, who, "faint"))
      else
        fail("%s: world: expected shapes and planes, got %s", who, show(what))
      end
    end
    self.size = smallest < huge and smallest or 1
    self.accuracy = positive(options, who, "accuracy", self.size / 100)
    self.turn = math.max(math.min(self.accuracy / self.size, MOST), tracks.least(math.pi))
    for _, body in ipairs(self.bodies) do
      body.position, body.turn = tracks.linear(3, self.accuracy), tracks.rotation(self.turn)
    end
    self.valued, self.label = options.values ~= nil, option(options, who, "label", "string", "")
    return self
  end

  -- ---- pages and pictures ----

  local Space = {}
  Space.__index = Space
  Space.__name = "animation in space"
  where.strict(Space)

  function Space:__tostring()
    local times = self.film.times
    return format("animation in space '%s': %s, %s, %g .. %g", self.title,
      number_of(#self.film.bodies, "body", "bodies"), number_of(#times, "frame", "frames"), times[1], times[#times])
  end

  local function page_of(self, shots)
    local script = three.script()
    if not script then fail("%s: %s", self.film.who, three.missing) end
    local record = {}
    for _, from in ipairs { self.record, self.options } do
      for key, value in pairs(from) do record[key] = value end
    end
    record.film, record.title = shots, self.title
    return html.page { title = self.title, kind = "space", record = record, library = script,
      scripts = { "scene", "timeplot", "player", "decoder", "tracks", "forces", "space" } }
  end

  -- The page as a string.
  function Space:html() return page_of(self) end

  local function base64_bytes(text)
    local result, message = core.process_support.run({ "base64", "-d" }, text)
    if not result or result.status ~= 0 then fail("animation: base64: %s", message or result.err) end
    return result.out
  end

  local no_browser = "chromium is not installed; PNG, GIF and MP4 need it: apt install chromium (HTML does not)"

  -- The pictures at these times, as PNG, made by a browser without a screen.
  local function shoot(self, file, times, size)
    local run, scratch <close> = core.process_support.run, core.process_support.scratch()
    local path, profile = tostring(scratch) .. "/film.html", tostring(scratch) .. "/profile"
    parts.write(path, page_of(self, { times = times, width = size.width, height = size.height }))
    local who = run { "id", "-u" }
    for _, program in ipairs { "chromium", "chromium-browser", "google-chrome" } do
      local line = { program, "--headless", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
        "--disable-dev-shm-usage", "--user-data-dir=" .. profile, "--dump-dom", "file://" .. path }
      if who and who.out:match "^0%s" then table.insert(line, 2, "--no-sandbox") end -- root has no other choice
      local result, message, absent = run(line)
      run { "rm", "-rf", profile }
      if not result and not absent then fail("animation: '%s': %s", file, message) end
      local text = result and (result.out:match '<pre id="shots">(.-)</pre>'
        or fail("animation: '%s': %s shows no picture: %s", file, program, result.err:match "[^\n]+" or "no message"))
      local list = {}
      for shot in (text or ""):gmatch "[^\n]+" do list[#list + 1] = base64_bytes(shot) end
      if text then return list end
    end
    fail("animation: '%s': %s", file, no_browser)
  end

  -- The times of the pictures of a film.
  local function film_times(self, fps)
    local times, list, step = self.film.times, {}, self.options.speed / fps
    local count = math.floor((times[#times] - times[1]) / step + 1e-9)
    if count > 20000 then fail("save: %d pictures, at most 20000: take a larger speed or a lower fps", count) end
    for i = 0, count do list[i + 1] = times[1] + i * step end
    return list
  end

  local function save(self, file, more)
    if type(file) ~= "string" then fail("save: file: expected a string, got %s", show(file)) end
    local ending = file:match "%.(%w+)$"
    if not (ending == "html" or ending == "png" or ending == "gif" or ending == "mp4") then
      fail("save: file: '%s': expected a name that ends in .html, .png, .gif or .mp4", file)
    end
    more = check_keys(more or {}, "animation in space:save")
    if ending == "html" then
      parts.write(file, page_of(self))
      return self
    end
    local size = parts.film_size(more, file, 0.625)
    local times = self.film.times
    if ending == "png" then
      local at = more.time == nil and times[#times] or finite(more.time, "save", "time")
      parts.write(file, shoot(self, file, { at }, size)[1])
    else
      require "nslua.film.film".encode(core.process_support, file, size,
        function() return table.concat(shoot(self, file, film_times(self, size.fps), size)) end)
    end
    return self
  end

  -- save(file [, {width =, height =, fps =, time =}]).
  Space.save = public(save)

  local function triple(spec, who, name)
    local list = {}
    local given = option(spec, who, name, "table", {})
    for i = 1, 3 do list[i] = finite(given[i], who, "camera.%s[%d]", name, i) end
    return list
  end

  -- The animation of a film.
  local function finish(film, spec, who, solution)
    if #film.times == 0 then fail("%s: there is no frame: recorder:add(t) adds one after a step", who) end
    local title = html.utf8(option(spec, who, "title", "string", "Animation"))
    local self = setmetatable({ film = film, title = title }, Space)
    local camera = option(spec, who, "camera", "table")
    self.options = {
      speed = positive(spec, who, "speed", 1), loop = option(spec, who, "loop", "boolean", true),
      unit = option(spec, who, "unit", "string", "s"),
      camera = camera and { from = triple(camera, who, "from"), at = triple(camera, who, "at") },
    }
    local c = self.options.camera
    if c and c.from[1] == c.at[1] and c.from[2] == c.at[2] and c.from[3] == c.at[3] then
      fail("%s: camera: from and at are the same point", who)
    end
    if spec.plot ~= nil then
      self.options.plot = timeplot.record(spec.plot, who .. ": plot", solution, film.times)
    end
    self.record = record_of(film)
    if spec.file ~= nil then save(self, spec.file) end
    return self
  end

  -- ---- bodies ----

  local function list_of(spec, who, name)
    local list = option(spec, who, name, "table", {})
    if is_shape(list) or is_plane(list) then
      fail("%s: %s: expected a list, got a %s", who, name, getmetatable(list).__name)
    end
    return list
  end

  -- Bodies as options give them: shapes, or { shape =, color = }.
  local function given_bodies(spec, who)
    local bodies = {}
    for k, one in ipairs(list_of(spec, who, "bodies")) do
      local shape = is_shape(one) and one or type(one) == "table" and one.shape
      if not is_shape(shape) or shape.mesh then
        fail("%s: bodies[%d]: expected a convex shape or { shape = }, got %s", who, k, show(one))
      end
      bodies[k] = { shapes = { shape } }
      if not is_shape(one) then bodies[k].color, bodies[k].q = one.color, one.q end
    end
    return bodies
  end

  -- The bodies of a manager, in the order in which they were added, and what belongs to the world.
  local function managed_bodies(space, color)
    local bodies, world, number = {}, table.move(space.planes, 1, #space.planes, 1, {}), {}
    for _, one in ipairs(space.shown) do
      if not one.ds then
        world[#world + 1] = one.shape
      elseif number[one.ds] then
        table.insert(bodies[number[one.ds]].shapes, one.shape)
      else
        local own = color and color(one.ds, #bodies + 1)
        bodies[#bodies + 1] = { ds = one.ds, shapes = { one.shape }, color = own }
        number[one.ds] = #bodies
      end
    end
    return bodies, world, number
  end

  -- ---- by functions ----

  local function of_frames(spec)
    local who = "animation.space"
    spec = check_keys(spec, who)
    local list = parts.frame_list(spec.frames, who)
    local times = parts.time_list(spec, who, #list)
    if spec.places == nil then fail("%s: places: expected a function, got nil", who) end
    local places = option(spec, who, "places", "function")
    local forces, values = option(spec, who, "forces", "function"), option(spec, who, "values", "function")
    local film = new_film(who, given_bodies(spec, who), list_of(spec, who, "world"), spec)
    for k = 1, #list do
      add_frame(film, times[k], places(list[k], k), forces and forces(list[k], k), values and values(list[k], k))
    end
    return finish(film, spec, who)
  end

  -- ---- of a manager of contacts ----

  local Recorder = {}
  Recorder.__index, Recorder.__name = Recorder, "recorder"
  where.strict(Recorder)

  function Recorder:__tostring()
    return format("recorder: %s, %s", number_of(#self.film.bodies, "body", "bodies"),
      number_of(#self.film.times, "frame", "frames"))
  end

  local function recorder_of(space, spec)
    local who = "recorder"
    spec = check_keys(spec or {}, who)
    local color, values = option(spec, who, "color", "function"), option(spec, who, "values", "function")
    local bodies, world, number = managed_bodies(space, color)
    local fps, speed = positive(spec, who, "fps", 60), positive(spec, who, "speed", 1)
    return setmetatable({ film = new_film(who, bodies, world, spec), space = space, systems = bodies, number = number,
      values = values, step = speed / fps, speed = speed, forces = option(spec, who, "forces", "boolean", true) },
      Recorder)
  end

  -- The forces of the last step, whose length is h: impulses over h.
  local function forces_of(self, h)
    local list = {}
    for _, c in ipairs(self.space.active) do
      local felt = c.interaction:lambda()[1] > 0 and touch(c.interaction)
      if felt then
        list[#list + 1] = { first = self.number[c.first], second = c.second and self.number[c.second],
          point = felt, force = { felt[4] / h, felt[5] / h, felt[6] / h } }
      end
    end
    return list
  end

  -- Adds the state after a step, at time t, when a frame is due: where t is nearest to it, if the next step is as
  -- long.
  Recorder.add = public(function(self, t)
    local film, before = self.film, self.last
    if finite(t, "add", "t") < (before or t) then fail("add: t: expected a time from %s on, got %s", before, t) end
    local length = before and t - before or 0
    self.last, self.start = t, self.start or t
    if before and t + length / 2 < self.start + self.count * self.step then return self end
    self.count = math.floor((t + length / 2 - self.start) / self.step) + 1
    local places, values = {}, self.values and {}
    for k, body in ipairs(self.systems) do
      places[k] = body.ds:q()
      if values then values[k] = self.values(body.ds, k) end
    end
    add_frame(film, t, places, self.forces and length > 0 and forces_of(self, length) or nil, values)
    return self
  end)

  function Recorder:frames() return #self.film.times end

  Recorder.animate3d = public(function(self, spec)
    spec = check_keys(spec or {}, "recorder:animate3d")
    return finish(self.film, setmetatable({ speed = spec.speed or self.speed }, { __index = spec }), "animate3d")
  end)

  -- ---- of a solution ----

  -- Where the coordinates of each system of a graph are in the columns of the states.
  local function columns_of(nsds)
    local at, column = {}, 0
    for i = 1, nsds:numberOfDynamicalSystems() do
      local ds = nsds:dynamicalSystem(i)
      local good, n = where.try(function() return #ds:q() end)
      if good then at[ds] = { first = column + 1, n = n } end
      column = column + (good and n + #ds:velocity() or ds:dimension())
    end
    return at
  end

  local function column_of(sol, who, what, name)
    local good, column = where.try(sol.column, sol, name)
    if not good then fail("%s: %s: %s", who, what, (where.bare(column, "column"):gsub("^column: ", ""))) end
    return column
  end

  local function of_solution(sol, spec)
    local who = "animate3d"
    spec = check_keys(spec, "solution:animate3d")
    local space, meta = spec.space, getmetatable(spec.space)
    if space ~= nil and not (type(meta) == "table" and meta.__name == "contact manager in space") then
      fail("%s: space: expected a contact manager in space, got %s", who, arguments.tell(space))
    end
    if (space == nil) == (spec.bodies == nil) then
      fail("%s: expected a space or bodies, got %s", who, space and "both" or "neither")
    end
    local bodies, world = given_bodies(spec, who), list_of(spec, who, "world")
    if space then bodies, world = managed_bodies(space) end
    local speed = positive(spec, who, "speed", 1)
    local rows = parts.choose_rows(sol.t, #sol, speed / positive(spec, who, "fps", 60))
    local at, readers, values = space and columns_of(space.nsds), {}, option(spec, who, "values", "table")
    local shown = {}
    for k, body in ipairs(bodies) do
      local columns = {}
      if space then
        for i = 1, at[body.ds].n do columns[i] = sol:column(sol:names()[at[body.ds].first + i]) end
      else
        if type(body.q) ~= "table" then
          fail("%s: bodies[%d].q: expected a list of columns, got %s", who, k, show(body.q))
        end
        for i, name in ipairs(body.q) do columns[i] = column_of(sol, who, ("bodies[%d].q"):format(k), name) end
      end
      if values then shown[k] = column_of(sol, who, ("values[%d]"):format(k), values[k]) end
      readers[k] = columns
    end
    local film = new_film(who, bodies, world, spec)
    for _, row in ipairs(rows) do
      local places, shades = {}, values and {}
      for k, columns in ipairs(readers) do
        places[k] = {}
        for i, column in ipairs(columns) do places[k][i] = column[row] end
        if values then shades[k] = shown[k][row] end
      end
      add_frame(film, sol.t[row], places, nil, shades)
    end
    return finish(film, spec, who, sol)
  end

  return { space = public(of_frames), recorder = public(recorder_of), animate3d = public(of_solution) }
end

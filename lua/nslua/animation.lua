-- nslua.animation: pictures that move, as one HTML file that needs no network.
--
--   ns.animation { file = "swing.html", frames = 200, fps = 50, draw = function(k, canvas)
--     canvas:line(0, 0, x[k], y[k])
--   end }
--
--   sol:animate { file = "ball.html", draw = function(state, canvas) canvas:circle(state.q1, 0, 0.1) end }
--
--   animation:save("swing.mp4", { width = 800 })
--
--   sol:animate3d { file = "pour.html", space = contacts }   -- in space: nslua.film.space
--
--   ns.animation.interact { file = "steps.html", parameter = "step", values = { 1, 2 }, draw = ... }
--   ns.animation.timeplot { file = "run.html", t = sol.t, panels = { { { label = "w", y = w } } } }
--
-- Everything is drawn once, when the file is made. What a canvas can draw stands in nslua.film.canvas, time plots in
-- nslua.web.timeplot, GIF and MP4 in nslua.film.film.

local canvas = require "nslua.film.canvas"
local format = require "nslua.core".number_support.format
local html = require "nslua.web.html"
local option_names = require "nslua.base.option_names"
local option_tables = require "nslua.base.option_tables"
local timeplot = require "nslua.web.timeplot"
local where = require "nslua.base.where"

local show, finite = canvas.show, canvas.finite

local function fail(text, ...) error(format(text, ...), 0) end

-- ---- options ----

local known = { animation = "animation", interact = "animation.interact", animate = "solution:animate",
  save = "animation:save", recorder = "contact manager in space:recorder" } -- others are their own names

local function check_keys(spec, who)
  if type(spec) ~= "table" then fail("%s: expected a table of options, got %s", who, show(spec)) end
  return option_tables.need(spec, option_names[known[who] or who], (who:gsub("^.*:", "")), fail)
end

local function option(spec, who, name, kind, default)
  local value = spec[name]
  if value == nil then return default end
  if type(value) ~= kind then fail("%s: %s: expected a %s, got %s", who, name, kind, show(value)) end
  return value
end

local function positive(spec, who, name, default)
  local value = option(spec, who, name, "number", default)
  if value and not (value > 0 and value < math.huge) then
    fail("%s: %s: expected a positive number, got %s", who, name, tostring(value))
  end
  return value
end

local function limits(spec, who, name)
  local pair = spec[name]
  if pair == nil then return end
  if type(pair) ~= "table" or #pair ~= 2 then
    fail("%s: %s: expected two numbers, {low, high}, got %s", who, name, show(pair))
  end
  finite(pair[1], who, name .. "[1]")
  finite(pair[2], who, name .. "[2]")
  if pair[1] >= pair[2] then fail("%s: %s: expected low below high, got %s, %s", who, name, pair[1], pair[2]) end
  return pair
end

local function is_list(value)
  return type(value) == "table" or type(value) == "userdata" and where.try(function() return #value end)
end

-- The list of first arguments of draw: the numbers 1 .. n for a number of frames, else the list itself.
local function frame_list(frames, who)
  if math.type(frames) == "integer" and frames >= 1 then
    local list = {}
    for k = 1, frames do list[k] = k end
    return list
  end
  if not is_list(frames) or #frames == 0 then
    fail("%s: frames: expected a positive integer or a list that is not empty, got %s", who, show(frames))
  end
  return frames
end

-- The times of the n frames: from the option `times`, which must not decrease, or from fps.
local function time_list(spec, who, n)
  local fps = positive(spec, who, "fps", 30)
  local list, times = {}, spec.times
  if times ~= nil and (not is_list(times) or #times ~= n) then
    fail("%s: times: expected a list of %d numbers, one for each frame, got %s", who, n,
      is_list(times) and #times or show(times))
  end
  for k = 1, n do
    list[k] = times and finite(times[k], who, ("times[%d]"):format(k)) or (k - 1) / fps
    if k > 1 and list[k] < list[k - 1] then
      fail("%s: times: expected numbers that do not decrease, got %s after %s", who, list[k], list[k - 1])
    end
  end
  return list
end

-- ---- drawing ----

-- Calls f. An error message of it is raised with the number of the frame.
local function draw_frame(paper, who, place, f, ...)
  paper:begin()
  local good, message = pcall(f, ...)
  if not good then
    if type(message) ~= "string" then error(message, 0) end
    fail("%s: %s: %s", who, place, message)
  end
  paper:finish()
end

local function draw_all(spec, who, list)
  local draw = spec.draw
  if type(draw) ~= "function" then fail("%s: draw: expected a function, got %s", who, show(draw)) end
  local background = option(spec, who, "background", "function")
  local paper = canvas.new()
  draw_frame(paper, who, "background", background or function() end, paper)
  for k = 1, #list do draw_frame(paper, who, ("draw at frame %d"):format(k), draw, list[k], paper, k) end
  return paper
end

-- The bounds, the aspect and the axes of the world, for the page.
local function world(spec, who, paper)
  local xlim, ylim = limits(spec, who, "xlim"), limits(spec, who, "ylim")
  local bounds = paper:bounds()
  if xlim then bounds[1], bounds[2] = xlim[1], xlim[2] end
  if ylim then bounds[3], bounds[4] = ylim[1], ylim[2] end
  local aspect = spec.aspect or "equal"
  if aspect ~= "equal" and aspect ~= "free" then
    fail("%s: aspect: expected one of equal, free, got %s", who, show(aspect))
  end
  local xlabel, ylabel = option(spec, who, "xlabel", "string"), option(spec, who, "ylabel", "string")
  local axes = option(spec, who, "axes", "boolean", xlabel ~= nil or ylabel ~= nil or aspect == "free")
  return { bounds = bounds, equal = aspect == "equal", axes = axes, xlabel = xlabel or "", ylabel = ylabel or "" }
end

-- ---- the object ----

local Animation = {}
Animation.__index = Animation
Animation.__name = "animation"
where.strict(Animation)

function Animation:__tostring()
  return format("animation '%s': %d frames, %g .. %g", self.title, #self.times, self.times[1],
    self.times[#self.times])
end

-- The page as a string.
function Animation:html()
  local paper, record = self.paper:record(), {}
  for key, value in pairs(self.options) do record[key] = value end
  record.title, record.world = self.title, self.world
  record.ops, record.texts, record.shapes = paper.ops, paper.texts, paper.shapes
  record.frames = html.numbers(paper.frames, "u4")
  record.data = html.numbers(paper.data, paper.precision)
  record.times = html.numbers(self.times, "f8")
  record.plot = self.plot
  return html.page { title = self.title, kind = "animation", record = record,
    scripts = { "scene", "overlay", "painter", "stage", "timeplot", "player" } }
end

-- Gives ns.animation and the methods of solutions.
return function(core)
  local function write(file, text)
    local good, message = pcall(core.process_support.save, file, text)
    if not good then error(message, 0) end
  end

  -- The size of the pictures of a film, in even numbers of pixels; the height when it is not given: ratio * width.
  local function film_size(more, file, ratio, extra)
    local who = "save"
    local width = positive(more, who, "width", 800)
    local height = positive(more, who, "height", width * ratio + (extra or 0))
    local function even(x, name)
      if x < 64 or x > 4096 then fail("%s: %s: expected pixels, from 64 to 4096, got %g", who, name, x) end
      return math.floor(x / 2 + 0.5) * 2
    end
    local fps = positive(more, who, "fps", file:find "%.gif$" and 25 or 30)
    return { width = even(width, "width"), height = even(height, "height"), fps = fps }
  end

  local function check_file(file, who)
    if type(file) ~= "string" then fail("%s: file: expected a string, got %s", who, show(file)) end
    if not (file:find "%.html?$" or file:find "%.gif$" or file:find "%.mp4$") then
      fail("%s: file: '%s': expected a name that ends in .html, .gif or .mp4", who, file)
    end
  end

  local function save(self, file, more)
    check_file(file, self.who)
    more = check_keys(more or {}, "save")
    if file:find "%.html?$" then
      write(file, self:html())
    else
      local b = self.world.bounds
      local ratio = self.world.equal and math.min(math.max((b[4] - b[3]) / (b[2] - b[1]), 0.25), 1.5) or 0.66
      require "nslua.film.film".save(core.process_support, file, self, film_size(more, file, ratio, 50))
    end
    return self
  end

  -- The same function, with errors at the line that calls it.
  local function public(f)
    return function(...)
      local good, result = pcall(f, ...)
      if not good then error(result, 2) end
      return result
    end
  end

  -- save(file [, {width =, height =, fps =}]): .html, .gif or .mp4; the options are for films.
  Animation.save = public(save)

  local function make(spec, who, list, times, more)
    if spec.file ~= nil then check_file(spec.file, who) end
    local self = setmetatable({ times = times, who = who }, Animation)
    self.title = html.utf8(option(spec, who, "title", "string", "Animation"))
    self.paper = draw_all(spec, who, list)
    self.world = world(spec, who, self.paper)
    self.options = {
      speed = positive(spec, who, "speed", 1), loop = option(spec, who, "loop", "boolean", true),
      interpolate = option(spec, who, "interpolate", "boolean", more.interpolate),
      unit = option(spec, who, "unit", "string", "s"), parameter = more.parameter, values = more.values,
    }
    if spec.plot ~= nil then self.plot = timeplot.record(spec.plot, who .. ": plot", more.solution, times) end
    if spec.file ~= nil then save(self, spec.file) end
    return self
  end

  local animation = { palette = table.move(canvas.palette, 1, #canvas.palette, 1, {}) }

  local function animate_frames(_, spec)
    spec = check_keys(spec, "animation")
    local list = frame_list(spec.frames, "animation")
    return make(spec, "animation", list, time_list(spec, "animation", #list), { interpolate = true })
  end

  -- One picture for each value of a parameter, and a slider.
  animation.interact = public(function(spec)
    spec = check_keys(spec, "interact")
    local values, names = spec.values, {}
    if not is_list(values) or #values == 0 then
      fail("interact: values: expected a list that is not empty, got %s", show(values))
    end
    for k = 1, #values do
      local value = values[k]
      names[k] = type(value) == "number" and format("%.10g", value) or html.utf8(tostring(value))
    end
    spec = setmetatable({ fps = spec.fps or 4 }, { __index = spec })
    return make(spec, "interact", values, time_list(spec, "interact", #names), {
      interpolate = false, parameter = option(spec, "interact", "parameter", "string", "value"), values = names,
    })
  end)

  -- The rows of a solution nearest to the times t[1] + i step (each row once), and the last row.
  local function choose_rows(t, n, step)
    local rows, i, k = { 1 }, 1, 1
    while k < n and t[1] + i * step < t[n] do
      local wanted = t[1] + i * step
      while k < n and t[k + 1] - wanted <= wanted - t[k] do k = k + 1 end
      if rows[#rows] ~= k then rows[#rows + 1] = k end
      local half = k < n and (t[k] + t[k + 1]) / 2 or wanted -- the first time to which the next row is nearer
      i = math.max(i + 1, math.ceil((half - t[1]) / step))
    end
    if rows[#rows] ~= n then rows[#rows + 1] = n end
    return rows
  end

  -- The first argument of draw: a table with k, t and the values of the row by the names of their columns.
  local function state_of(sol, k)
    return setmetatable({ k = k, t = sol.t[k] }, { __index = function(_, name)
      local column = sol[name]
      return column and column[k]
    end })
  end

  local methods = {}

  methods.animate = public(function(sol, spec)
    spec = check_keys(spec, "animate")
    local t, n = sol.t, #sol
    local fps, speed = positive(spec, "animate", "fps", 60), positive(spec, "animate", "speed", 1)
    local rows, states, times = spec.rows, {}, {}
    if rows == nil then rows = choose_rows(t, n, speed / fps) end
    if not is_list(rows) or #rows == 0 then
      fail("animate: rows: expected a list that is not empty, got %s", show(rows))
    end
    for i = 1, #rows do
      local k = rows[i]
      if type(k) ~= "number" or k < 1 or k > n or k ~= math.floor(k) then
        fail("animate: rows[%d]: expected an integer from 1 to %d, got %s", i, n, show(k))
      end
      states[i], times[i] = state_of(sol, k // 1 | 0), t[k]
    end
    times = time_list({ times = times }, "animate", #states)
    return make(spec, "animate", states, times, { interpolate = true, solution = sol })
  end)

  -- ---- time plots ----

  local function plot_page(spec, who, solution)
    local record = timeplot.record(spec, who, solution)
    local title = html.utf8(record.title)
    local page = html.page { title = title, kind = "timeplot", record = record, scripts = { "timeplot" } }
    if spec.file == nil then return page end
    if type(spec.file) ~= "string" then fail("%s: file: expected a string, got %s", who, show(spec.file)) end
    if not spec.file:find "%.html?$" then
      fail("%s: file: '%s': expected a name that ends in .html", who, spec.file)
    end
    write(spec.file, page)
    return page
  end

  animation.timeplot = public(function(spec) return plot_page(spec, "timeplot") end)

  -- sol:html([file [, options]]), sol:html{...}.
  methods.html = public(function(sol, file, spec)
    if type(file) == "table" and spec == nil then
      file, spec = nil, file
    elseif file ~= nil and type(file) ~= "string" then
      fail("html: file: expected a string, got %s", show(file))
    end
    if spec ~= nil and type(spec) ~= "table" then
      fail("html: expected a table of options, got %s", show(spec))
    end
    local all = { file = file }
    for key, value in pairs(spec or {}) do all[key] = value end
    return plot_page(all, "html", sol)
  end)

  -- ---- in space ----

  local space = require "nslua.film.space"(core, { check_keys = check_keys, option = option, positive = positive,
    public = public, frame_list = frame_list, time_list = time_list, choose_rows = choose_rows, write = write,
    film_size = film_size })
  animation.space, methods.animate3d, methods.recorder = space.space, space.animate3d, space.recorder

  local call = public(animate_frames)
  return setmetatable(animation, { __call = call, __name = "animation" }), methods
end

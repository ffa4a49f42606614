-- nslua.dynamics.picture: pictures of orbits, branches, diagrams and sections.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local plot = require "nslua.plot"

local fail, reject = arguments.fail, arguments.reject
local format = core.number_support.format

local picture = {}

-- The numbers of two states, from the option `states`, and the options of the figure.
local function split(options, n, who)
  options = options or {}
  if type(options) ~= "table" then fail("plot: options: expected a table, got %s", type(options)) end
  local figure, states = {}, options.states or (n > 1 and { 1, 2 } or { 1, 1 })
  for name, value in pairs(options) do
    if name == "figsize" or name == "dpi" or name == "title" then
      figure[name] = value
    elseif name ~= "states" and name ~= "state" and name ~= "xlabel" and name ~= "ylabel" then
      fail("plot: unknown option '%s' of %s (known: states, state, xlabel, ylabel, figsize, dpi, title)",
        tostring(name), who)
    end
  end
  local state = options.state or 1
  for _, i in ipairs { states[1], states[2], state } do
    reject(math.type(i) ~= "integer" or i < 1 or i > n, i, "plot: states: expected numbers from 1 to %d", n)
  end
  return figure, states, state
end

-- Writes the labels of the axes: the labels in the options, or the given ones.
local function label(axes, options, x, y)
  return axes:xlabel(options and options.xlabel or x):ylabel(options and options.ylabel or y)
end

-- The size of the dots of so many points: from 5 for a few to 1.5 for thousands.
local function dot_size(count) return math.max(1.5, math.min(5, 60 / math.sqrt(count))) end

local function name_of(i) return ("$x_{%d}$"):format(i) end

-- Pieces of a course between jumps, as columns of two states.
local function pieces_of(times, rows, states)
  local pieces, piece = {}, { {}, {} }
  for k = 1, #rows do
    if k > 1 and times[k] == times[k - 1] then
      pieces[#pieces + 1], piece = piece, { {}, {} }
    end
    piece[1][#piece[1] + 1], piece[2][#piece[2] + 1] = rows[k][states[1]], rows[k][states[2]]
  end
  pieces[#pieces + 1] = piece
  return pieces
end

local function draw_multipliers(axes, multipliers)
  local x, y, re, im, out_re, out_im = {}, {}, {}, {}, {}, {}
  for k = 0, 200 do x[k + 1], y[k + 1] = math.cos(math.pi * k / 100), math.sin(math.pi * k / 100) end
  local reach = 1.1
  for _, m in ipairs(multipliers) do
    local to = m.abs > 1 and { out_re, out_im } or { re, im }
    table.insert(to[1], m.re)
    table.insert(to[2], m.im)
    reach = math.max(reach, 1.1 * m.abs)
  end
  axes:plot(x, y, { color = "gray", linewidth = 1 }):axhline(0, { color = "gray", linewidth = 0.5 })
  axes:axvline(0, { color = "gray", linewidth = 0.5 })
  if #re > 0 then axes:plot(re, im, { linestyle = "", marker = "o", color = "C0", markersize = 7 }) end
  if #out_re > 0 then axes:plot(out_re, out_im, { linestyle = "", marker = "s", color = "C3", markersize = 7 }) end
  return axes:xlim(-reach, reach):ylim(-reach, reach):axis "equal":xlabel "Re":ylabel "Im":title "multipliers"
end

local SAMPLES = 400 -- places along an edge of the picture where the section is sought

-- Where g of two states is 0 on a line, between samples by linear interpolation; nil where it is not.
local function zero_on(g, from, to)
  local last
  for k = 0, SAMPLES do
    local z = from + (to - from) * (k / SAMPLES)
    local good, value = pcall(g, z)
    if not good or type(value) ~= "number" then return nil end
    if last and last.value * value <= 0 and last.value ~= value then
      return last.z + (z - last.z) * (last.value / (last.value - value))
    end
    last = { z = z, value = value }
  end
end

-- The section of an orbit of two states, where it is a function: the line g = 0, by its zeros across the picture.
local function draw_section(axes, orbit, states, rows)
  local section = orbit.problem.section
  if not section or not section.g or #orbit.x0 ~= 2 then return end
  local low, high = rows[1]:copy(), rows[1]:copy()
  for _, row in ipairs(rows) do
    for i = 1, 2 do low[i], high[i] = math.min(low[i], row[i]), math.max(high[i], row[i]) end
  end
  local function line(fixed, free)
    local found, LINES = { {}, {} }, 40
    for k = 0, LINES do
      local from = low:copy()
      from[fixed] = low[fixed] + (high[fixed] - low[fixed]) * k / LINES
      local to = from:copy()
      to[free] = high[free]
      local zero = zero_on(function(x) return section.g(orbit.t0, x) end, from, to)
      if zero then
        table.insert(found[1], zero[states[1]])
        table.insert(found[2], zero[states[2]])
      end
    end
    return found
  end
  local a, b = line(1, 2), line(2, 1)
  local best = #a[1] >= #b[1] and a or b
  if #best[1] > 1 then axes:plot(best[1], best[2], { color = "gray", linestyle = "--", linewidth = 1 }) end
end

-- The orbit in the plane of two states, jumps dashed, its start as a dot; beside it the multipliers.
function picture.orbit(orbit, options)
  local figure, states = split(options, #orbit.x0, "an orbit")
  figure.figsize = figure.figsize or { 10, 4.4 }
  local fig = plot.figure(figure)
  local axes = fig:subplot(1, 2, 1)
  local times, rows = orbit:course()
  local pieces = pieces_of(times, rows, states)
  for i, piece in ipairs(pieces) do
    axes:plot(piece[1], piece[2], { color = "C0", linewidth = 1.6 })
    local next_piece = pieces[i + 1]
    if next_piece then
      axes:plot({ piece[1][#piece[1]], next_piece[1][1] }, { piece[2][#piece[2]], next_piece[2][1] },
        { color = "C3", linestyle = "--", linewidth = 1.2 })
    end
  end
  axes:plot({ orbit.x0[states[1]] }, { orbit.x0[states[2]] }, { linestyle = "", marker = "o", color = "C1" })
  draw_section(axes, orbit, states, rows)
  label(axes, options, name_of(states[1]), name_of(states[2]))
  axes:title(format("%s, $T$ = %.6g", orbit.stability, orbit.T))
  draw_multipliers(fig:subplot(1, 2, 2), orbit.multipliers)
  return fig
end

-- A state at the section over the parameter: solid where stable, dashed where not; bifurcations as marks.
function picture.branch(branch, options)
  local figure, _, state = split(options, #branch.points[1].x0, "a branch")
  local fig = plot.figure(figure)
  local axes = fig:subplot(1, 1, 1)
  local told, from = {}, 1
  local function is_solid(point) return point.stability ~= "unstable" end
  for k = 1, #branch.points do
    local point, following = branch.points[k], branch.points[k + 1]
    if not following or is_solid(following) ~= is_solid(point) then
      local p, x = {}, {}
      for j = math.max(1, from), math.min(k + 1, #branch.points) do
        p[#p + 1], x[#x + 1] = branch.points[j].p, branch.points[j].x0[state]
      end
      local solid = is_solid(point)
      local word = solid and "stable" or "unstable"
      axes:plot(p, x, { color = solid and "C0" or "C3", linestyle = solid and "-" or "--",
        linewidth = 1.6, label = not told[word] and word or nil })
      told[word], from = true, k + 1
    end
  end
  local marks, kinds = { "o", "s", "^", "d", "v" }, {}
  for _, one in ipairs(branch.bifurcations) do
    if not kinds[one.kind] then kinds[#kinds + 1], kinds[one.kind] = one.kind, { {}, {} } end
    table.insert(kinds[one.kind][1], one.p)
    table.insert(kinds[one.kind][2], one.x0[state])
  end
  for i, kind in ipairs(kinds) do
    axes:plot(kinds[kind][1], kinds[kind][2], { linestyle = "", marker = marks[(i - 1) % #marks + 1],
      color = "C" .. i + 3, markersize = 6, label = kind })
  end
  label(axes, options, "parameter", name_of(state)):legend()
  return fig
end

-- A state over the parameter, a dot for each point; the way back has a colour of its own.
function picture.diagram(diagram, options)
  local figure, _, state = split(options, diagram.x:cols(), "a diagram")
  local fig = plot.figure(figure)
  local axes, ways = fig:subplot(1, 1, 1), { { 1, "forth" }, { -1, "back" } }
  local both = diagram.direction[#diagram.direction] < 0
  for i, way in ipairs(ways) do
    local p, x = {}, {}
    for k = 1, #diagram.p do
      if diagram.direction[k] == way[1] then p[#p + 1], x[#x + 1] = diagram.p[k], diagram.x[k][state] end
    end
    -- Dots of the way back are smaller: the dots of the way forth below are seen, too.
    local size = dot_size(#diagram.p) * (both and (i == 1 and 1.4 or 0.7) or 1)
    if #p > 0 then
      axes:plot(p, x, { linestyle = "", marker = ".", markersize = size, color = i == 1 and "C0" or "C1",
        label = both and way[2] or nil })
    end
  end
  label(axes, options, "parameter", name_of(state))
  if both then axes:legend() end
  return fig
end

-- Lyapunov exponents over the parameter, a line for each; one that is -inf has a gap.
function picture.exponents(result, options)
  local figure = split(options, result.exponents:cols(), "a result of lyapunov")
  local fig = plot.figure(figure)
  local axes = fig:subplot(1, 1, 1)
  for i = 1, result.exponents:cols() do
    axes:plot(result.p, result.exponents:column(i):map(function(x) return x > -math.huge and x or 0 / 0 end))
  end
  axes:axhline(0, { color = "gray", linewidth = 1 })
  label(axes, options, "parameter", "Lyapunov exponents")
  return fig
end

-- The points on a section in the plane of two states.
function picture.section(section, options)
  local figure, states = split(options, section.x:cols(), "a section")
  local fig = plot.figure(figure)
  label(fig:subplot(1, 1, 1):plot(section.x:column(states[1]), section.x:column(states[2]), { linestyle = "",
    marker = ".", markersize = dot_size(#section.t), color = "C0" }), options, name_of(states[1]), name_of(states[2]))
  return fig
end

return picture

-- nslua.circuit.figures: pictures of runs of circuits, harmonics of a column, efficiency, and losses of switching.

local core = require "nslua.core"
local arguments = require "nslua.base.arguments"
local values = require "nslua.network.values"
local where = require "nslua.base.where"

local fail, describe, reject = arguments.fail, arguments.describe, arguments.reject

local figures = {}

-- The columns of the last run, or those given.
local function columns_of(circuit, who, columns)
  columns = columns or circuit.last
  if not columns then fail("%s: expected columns: call run first", who) end
  local good = (type(columns) == "table" or type(columns) == "userdata") and columns.t
  if not good then fail("%s: columns: expected what run gave, got %s", who, describe(columns)) end
  return columns
end

local function column_of(who, columns, name)
  local column = type(name) == "string" and columns[name]
  if not column then
    local known = columns.names and columns:names() or {}
    for key in pairs(columns.names and {} or columns) do known[#known + 1] = tostring(key) end
    fail("%s: expected the name of a column (%s), got %s", who, table.concat(known, ", "), describe(name))
  end
  return column
end

local UNITS = { v = "V", u = "V", i = "A", p = "W" }

-- plot(circuit, names, options, ns): a panel for each kind of columns, on one axis of time.
function figures.plot(circuit, names, options, ns)
  local columns = columns_of(circuit, "plot", options.columns)
  reject(type(names) ~= "table" or #names == 0, names, "plot: expected a list of names of columns")
  local panels, at = {}, {}
  for _, name in ipairs(names) do
    column_of("plot", columns, name)
    local letter = name:match "^(%a)%." or name
    if not at[letter] then
      panels[#panels + 1] = { unit = UNITS[letter] }
      at[letter] = panels[#panels]
    end
    table.insert(at[letter], name)
  end
  local fig = where.pass(ns.plot.figure,
    { figsize = options.figsize or { 8, 1.2 + 2 * #panels }, title = options.title })
  local first
  for k, panel in ipairs(panels) do
    local ax = fig:subplot(#panels, 1, k, { sharex = first })
    first = first or ax
    for _, name in ipairs(panel) do ax:plot(columns.t, columns[name], { label = name }) end
    ax:grid(true):legend()
    if panel.unit then ax:ylabel("[" .. panel.unit .. "]") end
    if k == #panels then ax:xlabel "t [s]" end
  end
  return fig
end

-- The first row of the last `span` of t, and the time at which that begins.
local function last_rows(t, span, who)
  local stop, n = t[#t], #t
  local from = stop - span
  if from < t[1] - 1e-9 * span then fail("%s: the run is shorter than %g", who, span) end
  local first = 1
  while first < n - 1 and t[first + 1] <= from do first = first + 1 end
  return first, math.max(from, t[1])
end

-- The line from row k to the next, as far as it lies behind `from`: its times and values; nil where it is a jump.
local function line(t, f, k, from)
  local a, b, fa, fb = t[k], t[k + 1], f[k], f[k + 1]
  if b <= a then return nil end
  if a < from then a, fa = from, fa + (fb - fa) * ((from - a) / (b - a)) end
  return a, b, fa, fb
end

-- Integrals of the lines through (t, f) times cos(w t) and sin(w t) over a piece, exactly: by parts.
local function piece_integrals(a, b, fa, fb, w)
  if w == 0 then return (b - a) * (fa + fb) / 2, 0 end
  local slope = (fb - fa) / (b - a)
  local c = (fb * math.sin(w * b) - fa * math.sin(w * a)) / w + slope * (math.cos(w * b) - math.cos(w * a)) / w ^ 2
  local s = -(fb * math.cos(w * b) - fa * math.cos(w * a)) / w + slope * (math.sin(w * b) - math.sin(w * a)) / w ^ 2
  return c, s
end

-- harmonics(circuit, name, options): the Fourier coefficients of the last periods of a column, and its distortion.
-- The rows need not be equally spaced: the column counts as made of lines, with its jumps.
function figures.harmonics(circuit, name, options)
  local columns = columns_of(circuit, "harmonics", options.columns)
  local f, t = column_of("harmonics", columns, name), columns.t
  local frequency = values.positive(options.frequency, "harmonics", "frequency")
  local count, periods = options.count or 40, options.periods or 1
  arguments.integer(count, 1, "harmonics", "count")
  arguments.integer(periods, 1, "harmonics", "periods")
  local span = periods / frequency
  local first, from = last_rows(t, span, "harmonics")
  local amplitudes, phases, square, mean = {}, {}, 0, 0
  local cosines, sines = {}, {}
  for h = 1, count do cosines[h], sines[h] = 0, 0 end
  for k = first, #t - 1 do
    local a, b, fa, fb = line(t, f, k, from)
    if a then
      square = square + (b - a) * (fa * fa + fa * fb + fb * fb) / 3
      mean = mean + piece_integrals(a, b, fa, fb, 0)
      for h = 1, count do
        local c, s = piece_integrals(a - from, b - from, fa, fb, 2 * math.pi * frequency * h)
        cosines[h], sines[h] = cosines[h] + c, sines[h] + s
      end
    end
  end
  for h = 1, count do
    local c, s = 2 * cosines[h] / span, 2 * sines[h] / span
    amplitudes[h], phases[h] = math.sqrt(c * c + s * s), math.atan(c, s)
  end
  mean = mean / span
  local rms, fundamental = math.sqrt(square / span), amplitudes[1] / math.sqrt(2)
  local rest = rms * rms - mean * mean - fundamental * fundamental
  return { frequency = frequency, amplitude = core.vector(amplitudes), phase = core.vector(phases), mean = mean,
    rms = rms, thd = fundamental > 0 and math.sqrt(math.max(0, rest)) / fundamental or math.huge }
end

-- The mean of a column over the last `span`.
local function mean_of(columns, name, span)
  local f, t, sum = column_of("efficiency", columns, name), columns.t, 0
  local first, from = last_rows(t, span, "efficiency")
  for k = first, #t - 1 do
    local a, b, fa, fb = line(t, f, k, from)
    if a then sum = sum + (b - a) * (fa + fb) / 2 end
  end
  return sum / span
end

-- efficiency(circuit, sources, loads, options): mean power of loads over that which sources give, and the mean power
-- of every part.
function figures.efficiency(circuit, sources, loads, options)
  local columns = columns_of(circuit, "efficiency", options.columns)
  local t = columns.t
  local span = options.span and values.positive(options.span, "efficiency", "span") or t[#t] - t[1]
  local function total(list, what)
    if type(list) == "string" then list = { list } end
    reject(type(list) ~= "table" or #list == 0, list, "efficiency: %s: expected names of parts", what)
    local sum = 0
    for _, name in ipairs(list) do sum = sum + mean_of(columns, "p." .. tostring(name), span) end
    return sum
  end
  local given, used, powers = -total(sources, "sources"), total(loads, "loads"), {}
  for _, name in ipairs(columns:names()) do
    local part = name:match "^p%.(.*)$"
    if part then powers[part] = mean_of(columns, name, span) end
  end
  return used / given, powers
end

-- switching_losses(circuit, part, options): what a switch would lose at its instants, by the energies of its data
-- sheet at a voltage and a current; both enter linearly.
function figures.switching_losses(circuit, part, options)
  local who = "switching_losses"
  local columns = columns_of(circuit, who, options.columns)
  local t, current = columns.t, column_of(who, columns, "i." .. tostring(part))
  local at = {}
  for _, key in ipairs { "on", "off", "voltage", "current" } do at[key] = values.positive(options[key], who, key) end
  local span = options.span and values.positive(options.span, who, "span") or t[#t] - t[1]
  local nodes = circuit.named[part].nodes
  local function potential(node, k) return node == "0" and 0 or columns["v." .. node][k] end
  local function voltage(k) return math.abs(potential(nodes[1], k) - potential(nodes[2], k)) end
  local told = { on = 0, off = 0, count = 0 }
  for k = last_rows(t, span, who), #t - 1 do
    if t[k] == t[k + 1] then -- both sides of an instant
      local v, i, v_after, i_after = voltage(k), math.abs(current[k]), voltage(k + 1), math.abs(current[k + 1])
      local key = v > v_after and i_after > i and "on" or v_after > v and i > i_after and "off"
      if key then
        told[key] = told[key] + at[key] * math.max(v, v_after) * math.max(i, i_after) / (at.voltage * at.current)
        told.count = told.count + 1
      end
    end
  end
  told.power = (told.on + told.off) / span
  told.conduction = mean_of(columns, "p." .. part, span)
  return told
end

return figures

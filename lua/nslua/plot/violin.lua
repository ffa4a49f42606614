-- nslua.plot.violin: the method violinplot of axes: the density of samples as an outline.

local artists = require "nslua.plot.artists"
local core = require "nslua.core"
local data = require "nslua.plot.data"

local number, text = data.number, data.text
local exp, sqrt, pi = math.exp, math.sqrt, math.pi

local methods = {}

-- The finite numbers of a sample in increasing order, divided by the largest absolute value so that squares do not
-- overflow; their mean, their standard deviation, and that value.
local function sorted_of(x)
  local list, sum, squares, size = {}, 0, 0, 0
  for i = 1, #x do
    if x[i] - x[i] == 0 then
      list[#list + 1] = x[i]
      size = math.max(size, math.abs(x[i]))
    end
  end
  if size == 0 then size = 1 end
  for i = 1, #list do list[i] = list[i] / size end
  table.sort(list)
  for _, v in ipairs(list) do sum = sum + v / #list end
  for _, v in ipairs(list) do squares = squares + (v - sum) ^ 2 end
  return list, sum, #list > 1 and sqrt(squares / (#list - 1)) or 0, size
end

-- The density of a sample at `count` places from its least to its largest number: a sum of normal densities. width:
-- their standard deviation, in standard deviations of the sample.
local function density(list, deviation, width, count)
  local lo, hi = list[1], list[#list]
  if deviation == 0 then return { lo }, { 1 } end
  local h, places, values = width * deviation, {}, {}
  for k = 1, count do
    local at, sum = lo + (hi - lo) * (k - 1) / (count - 1), 0
    for _, v in ipairs(list) do sum = sum + exp(-0.5 * ((at - v) / h) ^ 2) end
    places[k], values[k] = at, sum / (#list * h * sqrt(2 * pi))
  end
  return places, values
end

-- The widths of the densities for n numbers (Scott's and Silverman's rules).
local rules = { scott = function(n) return n ^ -0.2 end, silverman = function(n) return (0.75 * n) ^ -0.2 end }

local function width_of(method, n)
  if type(method) == "number" then
    number("violinplot", "bw_method", method, 0)
    if method > 0 then return method end
  end
  data.reject(not rules[method], method, 'violinplot: bw_method: expected "scott", "silverman" or a number above 0')
  return rules[method](n)
end

local function flag(options, name, usual)
  local x = options[name]
  if x == nil then return usual end
  data.expect(x, "boolean", "violinplot: %s: expected a boolean", name)
  return x
end

-- violinplot(x [, {positions =, widths =, labels =, vert =, showmeans =, showmedians =, showextrema =, points =,
-- bw_method =, color =, alpha =, label =}]): x is a list of numbers or of several such lists.
function methods:violinplot(x, options)
  artists.in_plane(self, "violinplot")
  options = data.options("violinplot", options)
  local list = data.samples("violinplot", x)
  local at, wide = data.seats("violinplot", options, #list)
  local points = number("violinplot", "points", options.points or 100, 2)
  data.reject(math.type(points) ~= "integer" or points > 10000, points,
    "violinplot: points: expected a whole number from 2 to 10000")
  local upright, method = flag(options, "vert", true), options.bw_method or "scott"
  local means, medians = flag(options, "showmeans", false), flag(options, "showmedians", false)
  local extrema = flag(options, "showextrema", true)
  local color = options.color or artists.next_color(self)
  local lines, label = { {}, {} }, options.label and text("violinplot", "label", options.label)
  local function line(u0, v0, u1, v1)
    for k, v in ipairs { u0, u1, 0 / 0 } do lines[1][#lines[1] + 1] = k == 3 and 0 / 0 or v end
    for k, v in ipairs { v0, v1, 0 / 0 } do lines[2][#lines[2] + 1] = k == 3 and 0 / 0 or v end
  end
  for i, sample in ipairs(list) do
    local sorted, mean, deviation, size = sorted_of(sample)
    if #sorted > 0 then
      local places, values = density(sorted, deviation, width_of(method, #sorted), points)
      local most, us, vs, n = math.max(table.unpack(values)), {}, {}, #places
      for k = 1, n do
        places[k] = places[k] * size
        local half = 0.5 * wide[i] * values[k] / most
        us[k], vs[k], us[2 * n + 1 - k], vs[2 * n + 1 - k] = at[i] - half, places[k], at[i] + half, places[k]
      end
      if n > 1 then
        self:fill(upright and us or vs, upright and vs or us, { color = color, alpha = options.alpha or 0.4,
          label = label })
        label = nil
      end
      local c, h, half = at[i], wide[i] / 4, 0.5 * (#sorted + 1)
      for k = 1, #sorted do sorted[k] = sorted[k] * size end
      if extrema then
        line(c, sorted[1], c, sorted[#sorted])
        line(c - h, sorted[1], c + h, sorted[1])
        line(c - h, sorted[#sorted], c + h, sorted[#sorted])
      end
      if means then line(c - h, mean * size, c + h, mean * size) end
      if medians then
        local median = 0.5 * (sorted[math.floor(half)] + sorted[math.ceil(half)])
        line(c - h, median, c + h, median)
      end
    end
  end
  local artist = artists.line_style(self, "violinplot", { color = color, linewidth = 1.4, label = label })
  local us, vs = core.vector(lines[1]), core.vector(lines[2])
  artist.kind, artist.columns, artist.note, artist.loose = "line", upright and { us, vs } or { vs, us }, true, true
  local lo, hi = data.range { at - wide, at + wide }
  artist.extent = lo and { [upright and "x" or "y"] = { lo, hi } }
  artists.add(self, artist)
  return artists.name_places(self, at, options.labels, upright)
end

return methods

-- nslua.plot.style: the colours of pictures, animations and time plots; format strings, markers, dashes.
--
-- Curves take ten colours in turn, eight of them by Okabe and Ito (2008); colour-blind people can tell them
-- apart. After ten curves the dashes change. The letters of format strings, as in "r--o", stand for the nearest of
-- these colours.

local colors = require "nslua.plot.colors"
local data = require "nslua.plot.data"

local format = require "nslua.core".number_support.format
local lists = require "nslua.base.lists"

local style = {}

local fail = data.fail

style.cycle = { "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#B8A600",
  "#7F7F7F", "#882255" }

-- The dashes of curves: of the first round through the colours, of the second and so on.
style.turns = { "-", "--", "-.", ":" }

-- The colours of matplotlib's default cycle, "tab:blue" and so on.
local tableau = {
  blue = "#1F77B4", orange = "#FF7F0E", green = "#2CA02C", red = "#D62728", purple = "#9467BD", brown = "#8C564B",
  pink = "#E377C2", gray = "#7F7F7F", grey = "#7F7F7F", olive = "#BCBD22", cyan = "#17BECF",
}

local letters = {
  b = "#0072B2", r = "#D55E00", g = "#009E73", m = "#CC79A7", c = "#56B4E9", y = "#E69F00", k = "#000000",
    w = "#FFFFFF",
}

local names = {
  blue = letters.b, red = letters.r, vermillion = letters.r, green = letters.g, purple = letters.m,
    magenta = letters.m,
  pink = letters.m, sky = letters.c, cyan = letters.c, orange = letters.y, yellow = "#F0E442", black = letters.k,
  white = letters.w, gray = "#808080", grey = "#808080", lightgray = "#C8C8C8", lightgrey = "#C8C8C8",
    darkgray = "#505050",
  darkgrey = "#505050",
}

-- Lengths of dashes and of gaps. About 3 are as long as the line is wide: matplotlib's are 3.7 and 1.6 times as long.
local dashes = { ["-"] = "solid", ["--"] = "(13,6)", ["-."] = "(17,6,3,6)", [":"] = "(3,6)" }
local dash_names = { solid = "-", dashed = "--", dashdot = "-.", dotted = ":" }

-- For each marker: the point type of gnuplot, its hollow form, and a factor for the size.
local markers = {
  o = { 7, 6, 1 }, s = { 5, 4, 0.9 }, ["^"] = { 9, 8, 1.1 }, v = { 11, 10, 1.1 }, D = { 13, 12, 1.1 }, p = { 15, 14,
    1.1 },
  x = { 2, 2, 1 }, ["+"] = { 1, 1, 1.1 }, ["*"] = { 3, 3, 1.1 }, ["."] = { 7, 6, 0.45 },
}

local function list_of(set)
  local keys = lists.keys(set)
  return table.concat(keys, " ")
end

-- "#RRGGBB" of a grey in a string, "0" (black) to "1" (white); nil for anything else.
local function grey_of(c)
  local level = c:find "^[%d.]+$" and tonumber(c)
  if not level or level > 1 then return nil end
  local byte = math.floor(level * 255 + 0.5)
  return ("#%02X%02X%02X"):format(byte, byte, byte)
end

-- "#RRGGBB" of a letter, a name, "C0" to "C9", "tab:blue", "0.5", "#rgb", "#rrggbb", or {r, g, b} between 0 and 1;
-- nil for anything else.
local function value_of(c)
  local found
  if type(c) == "table" then
    found = #c == 3
    for i = 1, 3 do found = found and type(c[i]) == "number" and c[i] >= 0 and c[i] <= 1 end
    found = found and ("#%02X%02X%02X"):format(c[1] * 255 // 1 | 0, c[2] * 255 // 1 | 0, c[3] * 255 // 1 | 0)
  elseif type(c) == "string" then
    local short, long, index = c:match "^#(%x%x%x)$", c:match "^#%x%x%x%x%x%x$", c:match "^C(%d)$"
    found = letters[c] or names[c] or long or (short and "#" .. short:gsub("%x", "%0%0")) or
      (index and style.cycle[index % #style.cycle + 1]) or tableau[c:match "^tab:(%a+)$"] or colors[c]
      or grey_of(c)
  end
  return found and found:upper() or nil
end

-- "#RRGGBB" of a colour. `who` is for messages.
function style.color(who, c)
  local found = value_of(c)
  if found then return found end
  fail("%s: color: expected a name (%s, or one of CSS), a letter (%s), \"C0\" to \"C9\", \"tab:blue\", "
    .. "a grey \"0\" to \"1\", \"#RRGGBB\" or {r, g, b}, got %s", who,
    list_of(names), list_of(letters), data.describe(c))
end

-- The colours of pages and films by name: `palette` in the order in which curves take them, and greys. web/style.css
-- has their values for a light and a dark scheme. Here are the values of the light scheme; films use them.
style.palette = { "blue", "vermillion", "green", "orange", "purple", "sky", "yellow" }
style.page = {
  ink = "#1D2430", muted = "#667085", faint = "#D3D8E0", paper = "#FFFFFF", grid = "#E9ECF0", blue = letters.b,
  vermillion = letters.r, green = letters.g, orange = letters.y, purple = letters.m, sky = letters.c,
  yellow = "#CDB900",
}

-- The names on a page of the colours of a picture. Black becomes ink, since it must be visible on a dark page too.
local on_page = { ["#000000"] = "ink", ["#FFFFFF"] = "paper" }
for _, name in ipairs(style.palette) do on_page[style.page[name]] = name end

-- The colour of a page for c; nil when c is no colour. Numbers (of the palette, cyclic), names and letters give the
-- name of a colour of the page, whose value depends on the scheme; other colours give "#RRGGBB".
function style.page_color(c)
  if math.type(c) == "integer" and c >= 1 then return style.palette[(c - 1) % #style.palette + 1] end
  if style.page[c] and c ~= "grid" then return c end
  local value = value_of(c)
  local named = type(c) == "string" and c:sub(1, 1) ~= "#"
  return named and on_page[value] or value
end

-- The colours that a page takes, in words.
function style.page_colors()
  return ("a name (ink muted faint paper %s, or one of CSS), a letter (%s), \"C0\" to \"C9\", " ..
    "a number of the palette, \"#RRGGBB\" or {r, g, b}"):format(list_of(names), list_of(letters))
end

-- A colour of gnuplot with an opacity from 0 to 1.
function style.transparent(color, alpha)
  if not alpha or alpha >= 1 then return color end
  return ("#%02X%s"):format(math.floor((1 - alpha) * 255 + 0.5), color:sub(2))
end

local THIN = 1.5 -- thinner lines have the dashes of this one, in 1/72 inch; shorter dashes would look like dots

-- The dash pattern of a line for gnuplot, which multiplies it by the width of the line; empty for a solid line.
function style.dash_part(dash, linewidth)
  if not dash or dash == "solid" then return "" end
  if linewidth > 0 and linewidth < THIN then
    dash = dash:gsub("%d+", function(length) return format("%.4g", length * THIN / linewidth) end)
  end
  return " dt " .. dash
end

-- The dash pattern for "--", "dashed" and so on; nil for no line.
function style.dash(who, name)
  if name == "none" or name == "" then return nil end
  local found = dashes[name] or dashes[dash_names[name]]
  if found then return found end
  fail("%s: linestyle: expected one of - -- -. : none, got %s", who, data.describe(name))
end

function style.marker(who, name)
  if name == "none" or name == "" then return nil end
  local found = markers[name]
  if found then return found end
  fail("%s: marker: expected one of %s none, got %s", who, list_of(markers), data.describe(name))
end

-- A format string: {color =, linestyle =, marker =}, in any order, each at most once. A marker alone means no line.
function style.format(who, s)
  data.expect(s, "string", "%s: format: expected a string", who)
  local found, rest = {}, s
  local function take(key, value, length)
    if found[key] then rest = nil return end
    found[key], rest = value, rest:sub(length + 1)
  end
  while rest and rest ~= "" do
    local line = rest:match "^%-[-.]?" or rest:match "^:"
    local c, index = rest:sub(1, 1), rest:match "^C%d"
    if line then take("linestyle", line, #line)
    elseif index then take("color", index, 2)
    elseif letters[c] then take("color", c, 1)
    elseif markers[c] then take("marker", c, 1)
    else rest = nil end
  end
  if not rest then
    fail("%s: format '%s': expected a color (%s, C0 to C9), a line (- -- -. :) and a marker (%s)", who, s,
      list_of(letters), list_of(markers))
  end
  if not found.linestyle then found.linestyle = found.marker and "none" or "-" end
  return found
end

-- Colour maps, each by a few colours between which the others are interpolated. The names and the colours are those
-- of matplotlib, of ColorBrewer (RdBu, RdYlBu, RdYlGn, Spectral, Greys, Blues, Reds, Greens, Oranges) and, of
-- coolwarm, of Moreland (2009).
style.maps = {
  viridis = { "#440154", "#482878", "#3E4989", "#31688E", "#26828E", "#1F9E89", "#35B779", "#6ECE58", "#B5DE2B",
    "#FDE725" },
  plasma = { "#0D0887", "#46039F", "#7201A8", "#9C179E", "#BD3786", "#D8576B", "#ED7953", "#FB9F3A", "#FDCA26",
    "#F0F921" },
  inferno = { "#000004", "#1B0C41", "#4A0C6B", "#781C6D", "#A52C60", "#CF4446", "#ED6925", "#FB9B06", "#F7D13D",
    "#FCFFA4" },
  magma = { "#000004", "#180F3D", "#440F76", "#721F81", "#9E2F7F", "#CD4071", "#F1605D", "#FD9668", "#FECA8D",
    "#FCFDBF" },
  cividis = { "#00224E", "#35456C", "#666970", "#948E77", "#C8B866", "#FEE838" },
  coolwarm = { "#3B4CC0", "#8DB0FE", "#DDDDDD", "#F49A7B", "#B40426" },
  RdBu = { "#67001F", "#B2182B", "#D6604D", "#F4A582", "#FDDBC7", "#F7F7F7", "#D1E5F0", "#92C5DE", "#4393C3",
    "#2166AC", "#053061" },
  Greys = { "#FFFFFF", "#F0F0F0", "#D9D9D9", "#BDBDBD", "#969696", "#737373", "#525252", "#252525", "#000000" },
  gray = { "#303030", "#F0F0F0" },
  jet = { "#000080", "#0000FF", "#0080FF", "#00FFFF", "#80FF80", "#FFFF00", "#FF8000", "#FF0000", "#800000" },
  bwr = { "#0000FF", "#FFFFFF", "#FF0000" },
  hot = { "#0B0000", "#350000", "#5F0000", "#890000", "#B30000", "#DD0000", "#FF0800", "#FF3200", "#FF5C00",
    "#FF8600", "#FFB000", "#FFDA00", "#FFFF07", "#FFFF46", "#FFFF85", "#FFFFC4", "#FFFFFF" },
  turbo = { "#30123B", "#4040A2", "#466BE3", "#4294FF", "#28BCEB", "#18DDC2", "#32F298", "#6DFE62", "#A4FC3C",
    "#CDEC34", "#EECF3A", "#FDAC34", "#FB7E21", "#EB500E", "#D02F05", "#A91601", "#7A0403" },
  Blues = { "#F7FBFF", "#DEEBF7", "#C6DBEF", "#9DCAE1", "#6AAED6", "#4191C6", "#2070B4", "#08509B", "#08306B" },
  Reds = { "#FFF5F0", "#FEE0D2", "#FCBBA1", "#FC9272", "#FB694A", "#EE3A2C", "#CA181D", "#A30F15", "#67000D" },
  Greens = { "#F7FCF5", "#E5F5E0", "#C7E9C0", "#A0D99B", "#73C476", "#40AA5D", "#228A44", "#006C2C", "#00441B" },
  Oranges = { "#FFF5EB", "#FEE6CE", "#FDD0A2", "#FDAE6A", "#FD8C3B", "#F16813", "#D84801", "#A53603", "#7F2704" },
  RdYlBu = { "#A50026", "#D62F27", "#F46D43", "#FDAD60", "#FEE090", "#FEFFC0", "#E0F3F8", "#AAD8E9", "#74ADD1",
    "#4574B3", "#313695" },
  RdYlGn = { "#A50026", "#D62F27", "#F46D43", "#FDAD60", "#FEE08B", "#FEFFBE", "#D9EF8B", "#A5D86A", "#66BD63",
    "#199750", "#006837" },
  Spectral = { "#9E0142", "#D43D4F", "#F46D43", "#FDAD60", "#FEE08B", "#FFFFBE", "#E6F598", "#AADCA4", "#66C2A5",
    "#3387BC", "#5E4FA2" },
  tab10 = { "#1F77B4", "#FF7F0E", "#2CA02C", "#D62728", "#9467BD", "#8C564B", "#E377C2", "#7F7F7F", "#BCBD22",
    "#17BECF" },
  seismic = { "#00004C", "#0101FF", "#FFFDFD", "#FE0000", "#800000" },
}

-- The map of that name. A name that ends in "_r" is a map from its end to its start.
function style.map(who, name)
  local base, turned = name, false
  if type(name) == "string" and not style.maps[name] then base, turned = name:match "^(.*)_r$", true end
  local map = base and style.maps[base]
  if not map then
    fail("%s: cmap: expected one of %s, or one of them with _r after it, got %s", who, list_of(style.maps),
      data.describe(name))
  end
  if not turned then return map end
  local list = {}
  for k = #map, 1, -1 do list[#list + 1] = map[k] end
  return list
end

-- A colour of the map at s between 0 and 1.
function style.map_color(map, s)
  local n = #map - 1
  local i = math.min(math.floor(s * n), n - 1)
  local a, b, part = map[i + 1], map[i + 2], s * n - i
  local rgb = {}
  for k = 1, 3 do
    local u, v = tonumber(a:sub(2 * k, 2 * k + 1), 16), tonumber(b:sub(2 * k, 2 * k + 1), 16)
    rgb[k] = math.floor(u + (v - u) * part + 0.5)
  end
  return ("#%02X%02X%02X"):format(table.unpack(rgb))
end

return style

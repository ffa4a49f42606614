-- nslua.notebook.bundle: a value in the forms that a notebook can show, { [media type] = contents }, always with
-- text.
--
-- A class of the user may have a metamethod __display(self) that returns such a table.

local core = require "nslua.core"
local html = require "nslua.web.html"
local printer = require "nslua.repl.print"
local screen = require "nslua.notebook.screen"
local series = require "nslua.base.series"
local where = require "nslua.base.where"

local escape, format = html.escape, core.number_support.format

local ROWS, COLUMNS = 20, 12 -- most rows and columns of a table that are shown, the first and the last ones
local WIDTH = 100 -- columns of the text form
local SCREEN_DPI = 96 -- dots in an inch of a page, by the definition of the pixel in CSS

local bundle = {}

-- ---- pages and pictures ----

-- A whole page inside the cell. The frame has no access to the notebook.
local function frame(page)
  local element = '<iframe srcdoc="%s" sandbox="allow-scripts allow-downloads" style="%s"></iframe>'
  return element:format(escape(page), "width:100%;height:560px;border:0")
end

-- The picture of a figure, and its size in pixels of the page.
local function picture(fig)
  local options = screen.options
  if options.pictures == "svg" then return { ["image/svg+xml"] = (fig:picture "svg") } end
  local png, w, h = fig:picture("png", { dpi = fig.dpi or options.dpi })
  local size = { width = math.floor(w * SCREEN_DPI + 0.5), height = math.floor(h * SCREEN_DPI + 0.5) }
  return { ["image/png"] = html.base64(png) }, { ["image/png"] = size }
end

-- ---- tables ----

local STYLE = 'style="text-align:right;padding:2px 8px"'

-- The indices 1 .. n, or of a longer range the first and last ones with false between them.
local function shortened(n, most)
  local list = {}
  if n <= most then
    for i = 1, n do list[i] = i end
    return list
  end
  for i = 1, most // 2 do list[i] = i end
  list[#list + 1] = false
  for i = n - most // 2 + 1, n do list[#list + 1] = i end
  return list
end

local function number_text(x)
  if type(x) ~= "number" then return type(x) == "string" and x or printer.value(x, 40) end
  return math.type(x) == "integer" and tostring(x) or format("%.6g", x)
end

-- A table of HTML: `heads` are the names of the columns or nil, cell(i, j) is the value at row i and column j. And
-- its size where it is shortened, else "".
local function cells_html(heads, rows, cols, cell)
  local out = { '<table style="border-collapse:collapse;margin:0">' }
  local is, js = shortened(rows, ROWS), shortened(cols, COLUMNS)
  if heads then
    out[#out + 1] = "<thead><tr>"
    for _, j in ipairs(js) do out[#out + 1] = ("<th %s>%s</th>"):format(STYLE, j and escape(heads[j]) or "…") end
    out[#out + 1] = "</tr></thead>"
  end
  out[#out + 1] = "<tbody>"
  for _, i in ipairs(is) do
    out[#out + 1] = "<tr>"
    for _, j in ipairs(js) do
      local text = i and j and escape(number_text(cell(i, j))) or (i or not j) and "…" or "⋮"
      out[#out + 1] = ("<td %s>%s</td>"):format(STYLE, text)
    end
    out[#out + 1] = "</tr>"
  end
  out[#out + 1] = "</tbody></table>"
  local short = rows > ROWS or cols > COLUMNS
  return table.concat(out), short and ("<p>%d rows, %d columns</p>"):format(rows, cols) or ""
end

local function table_html(...)
  local cells, size = cells_html(...)
  return cells .. size
end

-- The same between brackets.
local function matrix_html(rows, cols, cell)
  local bracket = '<div style="width:5px;border:solid currentColor;border-width:%s"></div>'
  local left, right = bracket:format "1.5px 0 1.5px 1.5px", bracket:format "1.5px 1.5px 1.5px 0"
  local cells, size = cells_html(nil, rows, cols, cell)
  return ('<div style="display:inline-flex">%s%s%s</div>%s'):format(left, cells, right, size)
end

local function latex_number(x)
  if x ~= x then return "\\mathrm{nan}" end
  if x == math.huge or x == -math.huge then return x > 0 and "\\infty" or "-\\infty" end
  local text = format("%.5g", x)
  local mantissa, exponent = text:match "^(.-)e([+-]%d+)$"
  return mantissa and ("%s\\cdot 10^{%d}"):format(mantissa, math.tointeger(tonumber(exponent))) or text
end

-- $$ \begin{bmatrix} ... \end{bmatrix} $$; nil for one that is too large to be read.
local function matrix_latex(rows, cols, cell)
  local lines = {}
  if rows > ROWS or cols > COLUMNS or rows * cols == 0 then return nil end
  for i = 1, rows do
    local row = {}
    for j = 1, cols do row[j] = latex_number(cell(i, j)) end
    lines[i] = table.concat(row, " & ")
  end
  return "$$\\begin{bmatrix} " .. table.concat(lines, " \\\\ ") .. " \\end{bmatrix}$$"
end

local function matrix(value)
  local rows, cols = value:rows(), value:cols()
  local function cell(i, j) return value[i][j] end
  return { ["text/html"] = matrix_html(rows, cols, cell), ["text/latex"] = matrix_latex(rows, cols, cell) }
end

-- Names of the fields of a list of records; nil when the value is no such list.
local function record_names(list)
  local names, seen = {}, {}
  for i = 1, math.min(#list, ROWS) do
    local record = list[i]
    if type(record) ~= "table" or debug.getmetatable(record) or #record > 0 or next(record) == nil then return nil end
    for key, value in pairs(record) do
      if type(key) ~= "string" or type(value) == "table" then return nil end
      if not seen[key] then seen[key], names[#names + 1] = true, key end
    end
  end
  table.sort(names)
  return names
end

-- Lists of records, { { t = 0, x = 1 }, ... }, and lists of rows of numbers, as tables.
local function list(value)
  if #value == 0 then return nil end
  local names = record_names(value)
  if names then
    return { ["text/html"] = table_html(names, #value, #names, function(i, j)
      local x = value[i][names[j]]
      return x == nil and "" or x
    end) }
  end
  local cols
  for i = 1, #value do
    local row = value[i]
    if type(row) ~= "table" or debug.getmetatable(row) or #row == 0 or cols and #row ~= cols then return nil end
    cols = #row
    for j = 1, cols do
      if type(row[j]) ~= "number" and type(row[j]) ~= "string" then return nil end
    end
  end
  return { ["text/html"] = table_html(nil, #value, cols, function(i, j) return value[i][j] end) }
end

-- ---- solutions ----

local SPARK = { width = 140, height = 28, points = 140 } -- pixels of a small curve, and the columns of pixels in it

-- A small curve over the time: in each column of pixels the least and the largest value.
local function spark(t, y, lo, hi)
  local n, from, span = #y, t[1], t[#t] - t[1]
  local least, most = {}, {}
  for i = 1, n do
    local v = y[i]
    local k = span > 0 and math.floor((t[i] - from) / span * (SPARK.points - 1)) or i * SPARK.points // (n + 1)
    if v == v and v - v == 0 then
      least[k], most[k] = math.min(least[k] or v, v), math.max(most[k] or v, v)
    end
  end
  local parts, height = {}, SPARK.height - 4
  local function add(k, v)
    local at = hi > lo and (hi - v) / (hi - lo) or 0.5
    parts[#parts + 1] = format("%d,%.1f", k, 2 + at * height)
  end
  for k = 0, SPARK.points - 1 do
    if least[k] then
      add(k, least[k])
      if most[k] > least[k] then add(k, most[k]) end
    end
  end
  local element = '<svg width="%d" height="%d"><polyline %s points="%s"/></svg>'
  local look = 'fill="none" stroke="#0072b2" stroke-width="1.2"'
  return element:format(SPARK.width, SPARK.height, look, table.concat(parts, " "))
end

local function column_row(name, t, y)
  local lo, hi = math.huge, -math.huge
  for i = 1, #y do
    local v = y[i]
    if v == v and v - v == 0 then lo, hi = math.min(lo, v), math.max(hi, v) end
  end
  if lo > hi then lo, hi = 0 / 0, 0 / 0 end
  return ("<tr><th %s>%s</th><td %s>%s</td><td %s>%s</td><td %s>%s</td><td>%s</td></tr>"):format(STYLE, escape(name),
    STYLE, format("%.6g", lo), STYLE, format("%.6g", hi), STYLE, format("%.6g", y[#y]), spark(t, y, lo, hi))
end

-- The columns over the time of a solution, with a small curve each; nil for another value.
local function solution(value)
  local names, columns = series.over_time(value)
  if not names or #columns.t == 0 then return nil end
  local t = columns.t
  local out = { ("<p>%s</p>"):format(escape(printer.value(value, 200):match "^[^\n]*")),
    '<table style="border-collapse:collapse"><thead><tr>' }
  for _, head in ipairs { "column", "least", "largest", "last", "" } do
    out[#out + 1] = ("<th %s>%s</th>"):format(STYLE, head)
  end
  out[#out + 1] = "</tr></thead><tbody>"
  for i = 1, math.min(#names, ROWS) do out[#out + 1] = column_row(names[i], t, columns[names[i]]) end
  out[#out + 1] = "</tbody></table>"
  out[#out + 1] = format("<p>%d rows, t = %.6g .. %.6g%s</p>", #t, t[1], t[#t],
    #names > ROWS and (", %d columns"):format(#names) or "")
  return { ["text/html"] = table.concat(out) }
end

-- ---- values ----

local function class_of(value)
  local meta = debug.getmetatable(value)
  return type(meta) == "table" and type(rawget(meta, "__name")) == "string" and meta.__name or nil
end

-- The forms beside the text: a table (or nil) and metadata (or nil).
local function rich(value)
  local kind, class = type(value), class_of(value)
  if kind == "string" then
    return value:find "^<!DOCTYPE html>" and { ["text/html"] = frame(value) } or nil
  end
  if kind ~= "table" and kind ~= "userdata" then return nil end
  local meta = debug.getmetatable(value)
  local own = type(meta) == "table" and rawget(meta, "__display")
  if own then return own(value) end
  if class == "figure" then return picture(value) end
  if class == "animation" then return { ["text/html"] = frame(value:html()) } end
  if core.ismatrix(value) then return matrix(value) end
  if core.isvector(value) then
    return { ["text/latex"] = matrix_latex(1, #value, function(_, j) return value[j] end) }
  end
  local found = solution(value)
  if found then return found end
  return kind == "table" and not meta and list(value) or nil
end

-- The forms of a value, and their metadata. When a form cannot be made, there is the text, and the message why.
function bundle.of(value)
  local data, metadata = nil, nil
  local good, message = where.try(function() data, metadata = rich(value) end)
  local result = {}
  for mime, contents in pairs(good and data or {}) do result[mime] = contents end
  result["text/plain"] = result["text/plain"] or printer.value(value, WIDTH)
  if not good and not tostring(message):find "interrupted!" then
    result["text/plain"] = ("%s\n(not shown as a picture: %s)"):format(result["text/plain"], tostring(message))
  end
  return result, metadata
end

-- The forms of several values: the forms of a single one; else their texts.
function bundle.of_all(values)
  if values.n == 1 then return bundle.of(values[1]) end
  return { ["text/plain"] = printer.values(values, WIDTH) }
end

-- A bundle as HTML, for what is shown inside of another element.
function bundle.html(data, metadata)
  if data["text/html"] then return data["text/html"] end
  if data["image/svg+xml"] then return data["image/svg+xml"] end
  local png = data["image/png"]
  if png then
    local size = metadata and metadata["image/png"]
    return ('<img style="max-width:100%%"%s src="data:image/png;base64,%s">'):format(
      size and (' width="%d"'):format(size.width) or "", png)
  end
  return "<pre>" .. escape(data["text/plain"] or "") .. "</pre>"
end

return bundle

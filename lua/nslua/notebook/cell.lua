-- nslua.notebook.cell: what the output of a cell gets: values, figures, and what the controls of ns.interact show.

local bundle = require "nslua.notebook.bundle"
local printer = require "nslua.repl.print"
local screen = require "nslua.notebook.screen"

local cell = {}

local made = 0

-- A name for something that is shown, which no other one has.
function cell.new_id()
  made = made + 1
  return ("nslua-%d-%d"):format(os.time(), made)
end

-- Shows a value. options.id names it; with options.update what has this name is replaced.
function cell.put(value, options)
  if not screen.show then return print(printer.value(value)) end
  local data, metadata = bundle.of(value)
  screen.show(data, metadata, options or {})
end

-- Shows a figure, which is then not shown again at the end of the cell.
function cell.show_figure(fig)
  fig.shown = true
  if screen.options.pictures == "text" then fig:show { terminal = "text" } else cell.put(fig) end
end

-- Shows the figures that were made in the cell and that were not shown yet. The next cell begins a new one.
function cell.finish()
  local figures = screen.figures
  screen.figures = {}
  for _, fig in ipairs(figures) do
    if not fig.shown and #fig.panels > 0 then cell.show_figure(fig) end
  end
  if #figures > 0 then screen.forget() end
end

local function is_figure(value)
  local meta = type(value) == "table" and getmetatable(value)
  return type(meta) == "table" and rawget(meta, "__name") == "figure"
end

-- ---- controls ----

local running = {} -- the sets of controls by their names, with the functions that they call

local function values_of(set, given)
  local values = {}
  for _, item in ipairs(set.controls) do
    local value = given and given[item.name]
    if value == nil then value = item.value end
    values[item.name] = item.whole and math.tointeger(value) or value
  end
  return values
end

-- Keeps a set of controls: { controls = list, call = f }.
function cell.keep(id, set) running[id] = set end

-- Calls the function of a set of controls with the values that are given by name, and shows what it returns and the
-- figures that it makes.
function cell.changed(id, given)
  local set = running[id]
  if not set then error("the controls belong to an earlier session: run the cell again", 0) end
  local results = table.pack(set.call(values_of(set, given)))
  for i = 1, results.n do
    local value = results[i]
    if is_figure(value) then cell.show_figure(value) elseif value ~= nil then cell.put(value) end
  end
  cell.finish()
end

return cell

-- nslua.base.option_tables: the names in option tables, in one spelling everywhere.
--
-- Names are written in snake_case. Other spellings work too, when they are in the list below. An old spelling of
-- nslua works until 1.0; the first use of it in a process prints a line on the error output. A name that another
-- library has is an alias: it works without a message, and will go on working.

local tables = {}

-- Each row is { other spelling, name, library }; without a library it is an old spelling of nslua. A row applies to
-- a function that has an option of the name and none of the other spelling. `of`: it applies only to functions whose
-- message begins with a text that holds this word.
tables.spellings = {
  { "maxIterations", "max_iterations" }, -- LCP, Relay, MLCP, FrictionContact ...
  { "every", "record" }, -- run, without a checkpoint
  { "jacobian", "jac" }, -- dae
  { "yd", "ydot" }, -- consistent, diagnose
  { "td", "grid", "Siconos", of = "TimeStepping" },
  { "osi", "integrator", "Siconos", of = "TimeStepping" },
  { "osnspb", "problem", "Siconos", of = "TimeStepping" },
  { "first_step_size", "first_step", "scikits.odes" }, -- dae
  { "max_step_size", "max_step", "scikits.odes" },
  { "algebraic_vars_idx", "algebraic", "scikits.odes" },
  { "lw", "linewidth", "matplotlib" }, -- plots
  { "ls", "linestyle", "matplotlib" },
  { "c", "color", "matplotlib" },
  { "ms", "markersize", "matplotlib" },
  { "ec", "edgecolor", "matplotlib" },
  { "fc", "facecolor", "matplotlib" },
  { "mfc", "markerfacecolor", "matplotlib" },
  { "mec", "markeredgecolor", "matplotlib" },
  { "size", "fontsize", "matplotlib" },
  { "ha", "align", "matplotlib" },
  { "horizontalalignment", "align", "matplotlib" },
  { "va", "valign", "matplotlib" },
  { "verticalalignment", "valign", "matplotlib" },
  { "ncols", "ncol", "matplotlib" },
  { "colors", "color", "matplotlib" },
  { "linewidths", "linewidth", "matplotlib" },
  { "linestyles", "linestyle", "matplotlib" },
  { "edgecolors", "edgecolor", "matplotlib" },
  { "cellText", "text", "matplotlib" }, -- table
  { "rowLabels", "row_labels", "matplotlib" },
  { "colLabels", "col_labels", "matplotlib" },
  { "cellLoc", "cell_align", "matplotlib" },
  { "colWidths", "col_widths", "matplotlib" },
  { "cellColours", "colors", "matplotlib" },
  { "width", "linewidth" }, -- of what a canvas draws
  { "dash", "linestyle" },
  { "name", "label", of = "series" }, -- of a time plot
}

local told = {} -- old spellings that have been reported

-- Prints how an old spelling is written now, once per process.
function tables.tell(who, old, new)
  if told[old] then return end
  told[old] = true
  io.stderr:write(("nslua: %s: '%s' is now written '%s'; the old name works until 1.0\n"):format(who, old, new))
end

-- The names in a text, "rtol atol": a list, and the set of them.
local function list_of(known)
  local list, set = {}, {}
  for name in known:gmatch "[^%s,]+" do list[#list + 1], set[name] = name, true end
  return list, set
end

-- The name in the set that `key` is another spelling of, and whether it is an old spelling of nslua; nil when there
-- is none.
local function respelled(key, set, who)
  for _, row in ipairs(tables.spellings) do
    local fits = row[1] == key and set[row[2]] and (not row.of or who:find(row.of, 1, true))
    if fits then return row[2], row[3] == nil end
  end
end

-- Returns the options with other spellings replaced: the same table when there are none, else a copy. known: the
-- names of the options, as a text. A key that is not known stays as it is. Returns nil and a message when one option
-- is given in two spellings.
function tables.respell(options, known, who)
  local _, set = list_of(known)
  local copy
  for key in next, options do
    local name, old = respelled(key, set, who)
    if name and not set[key] then
      if rawget(options, name) ~= nil or copy and copy[name] ~= nil then
        return nil, ("%s: '%s' and '%s' are one option; both are given"):format(who, key, name)
      end
      if old then tables.tell(who, key, name) end
      if not copy then
        copy = {}
        for k, v in next, options do copy[k] = v end
      end
      copy[key], copy[name] = nil, options[key]
    end
  end
  return copy and setmetatable(copy, getmetatable(options)) or options
end

-- As respell(), and also returns nil and a message for a key that is not known; the message lists the known names.
-- With `list` the table may have elements 1, 2, ... too.
function tables.check(options, known, who, list)
  if type(options) ~= "table" then
    return nil, ("%s: options: expected a table, got %s"):format(who, type(options))
  end
  local result, message = tables.respell(options, known, who)
  if not result then return nil, message end
  local names, set = list_of(known)
  for key in next, result do
    if not set[key] and not (list and math.type(key) == "integer") then
      local what = known == "" and "it takes none" or "known: " .. table.concat(names, ", ")
      return nil, ("%s: unknown option '%s' (%s)"):format(who, tostring(key), what)
    end
  end
  return result
end

-- As check(), but calls fail("%s", message), which raises, where check() returns nil and a message.
function tables.need(options, known, who, fail, list)
  local result, message = tables.check(options, known, who, list)
  return result or fail("%s", message)
end

return tables

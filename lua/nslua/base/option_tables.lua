-- nslua.base.option_tables: the names in option tables, in one spelling everywhere.
--
-- Names are written in snake_case. Another spelling works too, when it stands in the list below. An old spelling of
-- nslua is told of once per process, on the error output, and works until 1.0. A name of another library is an alias:
-- it works for good, and nothing is said.

local tables = {}

-- { another spelling, the name here, the library that writes it so (none: an old spelling of nslua) }. A row counts
-- where the second name is an option and the first is not; `of` restricts it to the functions with this word.
tables.spellings = {
  { "maxIterations", "max_iterations" }, -- LCP, Relay, MLCP, FrictionContact ...
  { "every", "record" }, -- run, without a checkpoint
  { "jacobian", "jac" }, -- dae
  { "yd", "ydot" }, -- consistent, diagnose
  { "first_step_size", "first_step", "scikits.odes" }, -- dae
  { "max_step_size", "max_step", "scikits.odes" },
  { "algebraic_vars_idx", "algebraic", "scikits.odes" },
  { "lw", "linewidth", "matplotlib" }, -- plots
  { "ls", "linestyle", "matplotlib" },
  { "c", "color", "matplotlib" },
  { "ms", "markersize", "matplotlib" },
  { "ec", "edgecolor", "matplotlib" },
  { "mfc", "markerfacecolor", "matplotlib" },
  { "mec", "markeredgecolor", "matplotlib" },
  { "size", "fontsize", "matplotlib" },
  { "ha", "align", "matplotlib" },
  { "horizontalalignment", "align", "matplotlib" },
  { "width", "linewidth" }, -- of what a canvas draws
  { "dash", "linestyle" },
  { "name", "label", of = "series" }, -- of a time plot
}

local told = {} -- old spellings of which something was said

-- Says once per process how an old spelling is written now.
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

-- What `key` is called among the names of the set, and whether it is an old spelling of that; nil for no option.
local function respelled(key, set, who)
  for _, row in ipairs(tables.spellings) do
    local fits = row[1] == key and set[row[2]] and (not row.of or who:find(row.of, 1, true))
    if fits then return row[2], row[3] == nil end
  end
end

-- The options with all names as they are written here: the table itself where it has no other spelling, else a copy.
-- known: the names in a text. A name that is not among them stays. Returns nil and a message when an option is given
-- in two spellings.
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

-- The same for a table that may hold these names alone, and elements from 1 on where `list` says so. Another name is
-- a mistake as well: nil and a message, which lists what is known.
function tables.check(options, known, who, list)
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

return tables

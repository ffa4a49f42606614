-- nslua.plot.defaults: the values that pictures have when nothing else is asked for: ns.plot.rcParams, with
-- matplotlib's names. Others may be assigned. Assigning an unknown name or a value that does not fit raises.

local data = require "nslua.plot.data"
local lists = require "nslua.base.lists"
local style = require "nslua.plot.style"

local fail = data.fail

local function at_least(least)
  return function(who, name, x) return data.number(who, name, x, least) end
end

local function boolean(who, name, x)
  data.expect(x, "boolean", "%s: %s: expected a boolean", who, name)
  return x
end

-- For each name: its value, and what checks another one.
local entries = {
  ["savefig.dpi"] = { 144, at_least(20) },
  ["lines.linewidth"] = { 1.6, at_least(0) },
  ["lines.markersize"] = { 6, at_least(0) },
  ["font.size"] = { 10, at_least(1) },
  ["axes.grid"] = { true, boolean },
  ["axes.spines.right"] = { false, boolean },
  ["axes.spines.top"] = { false, boolean },
  ["axes.titlesize"] = { 11, at_least(1) },
  ["axes.labelsize"] = { 10, at_least(1) },
  ["legend.fontsize"] = { 10, at_least(1) },
  ["xtick.minor.visible"] = { false, boolean },
  ["ytick.minor.visible"] = { false, boolean },
  ["figure.figsize"] = { false, function(who, name, x)
    if x == false then return x end
    local w, h = data.interval(who, name, x, true)
    if w < 1 or h < 1 or w > 100 or h > 100 then fail("%s: %s: expected {width, height} in inches, 1 to 100", who,
      name) end
    return { w, h }
  end },
  ["image.cmap"] = { "viridis", function(who, _, x)
    style.map(who, x)
    return x
  end },
}

local values = {}
for name, entry in pairs(entries) do values[name] = entry[1] end

local function known(name)
  if entries[name] then return end
  local names = lists.keys(entries)
  fail("rcParams: unknown name %s (known: %s)", data.describe(name), table.concat(names, ", "))
end

return setmetatable({}, {
  __index = function(_, name)
    known(name)
    return values[name]
  end,
  __newindex = function(_, name, x)
    known(name)
    if x == nil then x = entries[name][1] end
    values[name] = entries[name][2]("rcParams", name, x)
  end,
  __pairs = function() return next, values, nil end,
})

-- nslua.base.lazy: parts of the API whose file is read at their first use.
--
--   ns.contact = lazy.table(function() return require "nslua.contact"(ns) end)
--   lazy.functions(ns, "load save", function() return require "nslua.files"(ns, support) end)
--
-- Such a table gets what was loaded, and its metatable, as soon as a key is asked for or set, pairs walks over it or
-- it is called; lazy.settle(t) does it for those who look with rawget and next. Such a function stays the same value:
-- it goes on, by a tail call, to the one that was loaded, so that levels of errors count as if it were that one.

local lazy = {}

local pending = setmetatable({}, { __mode = "k" }) -- table -> its loader, until it has run
local missing = setmetatable({}, { __mode = "k" }) -- table -> what gives (or raises for) names that are not in it

-- The metatable of what was loaded, with an __index for names that are not there when it has none.
local function with_index(meta, index)
  if not index or meta and meta.__index then return meta end
  local copy = { __index = index }
  for key, value in pairs(meta or {}) do copy[key] = value end
  return copy
end

-- Fills t when it is a table of this file that is not filled yet. Returns t.
function lazy.settle(t)
  local load = pending[t]
  if load then
    local loaded = load()
    pending[t] = nil
    setmetatable(t, nil)
    for name, value in pairs(loaded) do t[name] = value end
    setmetatable(t, with_index(getmetatable(loaded), missing[t]))
  end
  return t
end

local meta = {
  __index = function(t, name)
    local loaded = lazy.settle(t)
    local index = (getmetatable(loaded) or {}).__index
    if rawget(loaded, name) ~= nil or type(index) ~= "function" then return loaded[name] end
    return index(loaded, name) -- a tail call: its error tells the line that asks
  end,
  __newindex = function(t, name, value) lazy.settle(t)[name] = value end,
  __pairs = function(t) return pairs(lazy.settle(t)) end,
  __call = function(t, ...) return lazy.settle(t)(...) end,
}

-- load() returns the table to fill it from. index(t, name), if given, is asked for a name that is not in it then.
function lazy.table(load, index)
  local t = setmetatable({}, meta)
  pending[t], missing[t] = load, index
  return t
end

-- Puts a function into `to` for each of the names; load() returns a table with them.
function lazy.functions(to, names, load)
  local loaded
  for name in names:gmatch "%S+" do
    to[name] = function(...)
      loaded = loaded or load()
      return loaded[name](...)
    end
  end
end

return lazy

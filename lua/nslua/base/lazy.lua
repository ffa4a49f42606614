-- nslua.base.lazy: parts of the API whose file is read at their first use.
--
--   ns.contact = lazy.table(function() return require "nslua.contact"(ns) end)
--   lazy.functions(ns, "load save", function() return require "nslua.files"(ns, support) end)
--
-- A lazy table is filled when a key is read or set, when pairs walks over it, or when it is called. It then gets the
-- contents and the metatable of what was loaded. rawget and next do not fill it: call lazy.settle(t) before them.
-- A lazy function loads its file at the first call and then always calls the loaded function, by a tail call. So the
-- levels of error() count as if the loaded function had been called directly.

local lazy = {}

local pending = setmetatable({}, { __mode = "k" }) -- table -> its loader, until it has run
local missing = setmetatable({}, { __mode = "k" }) -- table -> the function that is asked for a name not in it

-- The metatable of what was loaded. When it has no __index, a copy that has `index`.
local function with_index(meta, index)
  if not index or meta and meta.__index then return meta end
  local copy = { __index = index }
  for key, value in pairs(meta or {}) do copy[key] = value end
  return copy
end

-- Fills t, if it is a lazy table that is not filled yet. Returns t.
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
    return index(loaded, name) -- a tail call: an error names the line that reads the key
  end,
  __newindex = function(t, name, value) lazy.settle(t)[name] = value end,
  __pairs = function(t) return pairs(lazy.settle(t)) end,
  __call = function(t, ...)
    local loaded = lazy.settle(t)
    if not (getmetatable(loaded) or {}).__call then
      require "nslua.base.where".fail("a table of functions was called; call one of its functions: help lists them, "
        .. "as in help(ns.plot)")
    end
    return loaded(...)
  end,
}

-- load() returns the table with the contents. index(t, name) is optional: it is called for a name that the contents
-- do not have.
function lazy.table(load, index)
  local t = setmetatable({}, meta)
  pending[t], missing[t] = load, index
  return t
end

-- Puts a lazy function into the table `to` for each name in the text `names`. load() returns a table of the
-- functions.
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

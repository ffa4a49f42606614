-- nslua.base.lists: small functions of tables.

local lists = {}

-- A copy of a table; `more` (optional): entries that replace entries of t.
function lists.copy(t, more)
  local copy = {}
  for key, value in pairs(t or {}) do copy[key] = value end
  for key, value in pairs(more or {}) do copy[key] = value end
  return copy
end

-- The keys of a table in their order; test(key, value) (optional): which of them.
function lists.keys(t, test)
  local keys = {}
  for key, value in pairs(t) do
    if not test or test(key, value) then keys[#keys + 1] = key end
  end
  table.sort(keys)
  return keys
end

-- The list of f(element, its number).
function lists.map(list, f)
  local out = {}
  for i, element in ipairs(list) do out[i] = f(element, i) end
  return out
end

return lists

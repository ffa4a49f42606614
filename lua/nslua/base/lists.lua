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

-- The parts of 1 .. n that the pairs (i[e], j[e]) tie together: a list of lists in increasing order.
function lists.parts(n, i, j)
  local parent = {}
  for k = 1, n do parent[k] = k end
  local function root(k)
    while parent[k] ~= k do
      parent[k] = parent[parent[k]]
      k = parent[k]
    end
    return k
  end
  for e = 1, #i do
    local a, b = root(i[e]), root(j[e])
    parent[math.max(a, b)] = math.min(a, b)
  end
  local parts, at = {}, {}
  for k = 1, n do
    local r = root(k)
    if r == k then parts[#parts + 1], at[k] = {}, #parts + 1 end
    table.insert(parts[at[r]], k)
  end
  return parts
end

return lists

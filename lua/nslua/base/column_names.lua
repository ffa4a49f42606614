-- nslua.base.column_names: the names of the columns of a recorded run.

-- The names of the states, a list for each system: what setNames has given; else x1, x2, ..., counted over all
-- systems; in mechanics q1, ..., v1, ...
local function states_of(systems)
  local lists, x, q, v = {}, 0, 0, 0
  for d, system in ipairs(systems) do
    local list = {}
    for i = 1, system.n do
      list[i] = system.names and system.names[i] or system.first_order and "x" .. x + i
        or i <= system.nx and "q" .. q + i or "v" .. v + i - system.nx
    end
    lists[d] = list
    if system.first_order then x = x + system.n end
    q, v = q + system.nx, v + system.nr
  end
  return lists
end

-- systems: a list of {name, n, nx, nr, first_order, names}; interactions: a list of {name, m}; observed: further
-- names, or nil. Returns the list of names and, by name, the number of the column.
--
-- A state whose name two systems have is "ds 2.v". An interaction with a name of its own gives "tyre.y" or
-- "tyre.y[2]"; the others give y1, y2, ..., counted over all interactions. These numbered names find every column.
return function(systems, interactions, observed)
  local names, index, uses, lists = {}, {}, {}, states_of(systems)
  local function add(name)
    names[#names + 1] = name
    index[name] = index[name] or #names
  end
  local function use(name) uses[name] = (uses[name] or 0) + 1 end
  add "t"
  for _, list in ipairs(lists) do
    for _, name in ipairs(list) do use(name) end
  end
  for d, list in ipairs(lists) do
    for _, name in ipairs(list) do add(uses[name] > 1 and systems[d].name .. "." .. name or name) end
  end
  uses = {}
  for _, interaction in ipairs(interactions) do use(interaction.name) end
  for _, stem in ipairs { "lambda", "y" } do
    local number = 0
    for _, interaction in ipairs(interactions) do
      local name = interaction.name
      local own = name ~= "" and not name:find "^interaction %d*$" and uses[name] == 1
      for row = 1, interaction.m do
        number = number + 1
        local named = name .. "." .. stem .. (interaction.m > 1 and "[" .. row .. "]" or "")
        add(own and not index[named] and named or stem .. number)
        index[stem .. number] = #names
      end
    end
  end
  add "newton_iterations"
  for _, name in ipairs(observed or {}) do
    if index[name] then error(("run: observe: '%s' is a column of the solution already"):format(name), 3) end
    add(name)
  end
  return names, index
end

-- nslua.repl.session: the variables of a prompt. Each line runs in one environment that lies before the globals: it
-- holds what lines declare `local`, so that a local shadows a global of its name without changing it.

local KEEPER = "_LOCAL"

return function()
  local declared, session = {}, {}
  local meta = { __index = _G, __newindex = _G }
  local env = setmetatable({}, meta)

  -- A local that is nil hides a global of its name; only then reading takes a function.
  local function read(_, name)
    if declared[name] then return nil end
    return _G[name]
  end

  local function write(_, name, value)
    if declared[name] then rawset(env, name, value) else _G[name] = value end
  end

  local function declare(_, name, value)
    declared[name] = true
    rawset(env, name, value)
    meta.__newindex = write
    if value == nil then meta.__index = read end
  end

  local keeper = setmetatable({}, { __newindex = declare })
  rawset(env, KEEPER, keeper)

  session.env, session.keeper = env, KEEPER

  -- Declares a local with a value.
  function session.declare(name, value) keeper[name] = value end

  -- To be called before a line runs: locals that have become nil go on hiding globals.
  function session.refresh()
    for name in pairs(declared) do
      if rawget(env, name) == nil then meta.__index = read return end
    end
    meta.__index = _G
  end

  -- The value of a name, without running code of the user; and all names with their values.
  function session.get(name)
    if declared[name] then return rawget(env, name) end
    return rawget(_G, name)
  end

  function session.names()
    local names = {}
    for name, value in next, _G do names[name] = value end
    for name in pairs(declared) do names[name] = rawget(env, name) end
    return names
  end

  return session
end

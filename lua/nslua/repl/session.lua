-- nslua.repl.session: the variables of a prompt. All lines run in one environment that holds the variables which
-- lines declare `local`. Other names are globals. So a local hides a global of the same name and does not change it.

local KEEPER = "_LOCAL"

return function()
  local declared, session = {}, {}
  local meta = { __index = _G, __newindex = _G }
  local env = setmetatable({}, meta)

  -- A local that is nil must hide the global of its name too. Only then the environment reads through a function.
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

  -- Forgets all locals.
  function session.forget()
    for name in pairs(declared) do
      declared[name] = nil
      rawset(env, name, nil)
    end
    meta.__index, meta.__newindex = _G, _G
  end

  -- Call it before a line runs: it notes the locals that have become nil, so that they still hide globals.
  function session.refresh()
    for name in pairs(declared) do
      if rawget(env, name) == nil then meta.__index = read return end
    end
    meta.__index = _G
  end

  -- The value of a name, read without running code of the user. Next: all names with their values.
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

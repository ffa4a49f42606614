-- ns.numerics.load_dump and ns.numerics.replay: a one-step problem that osnspb:dump(file) wrote, on its own.

local where = require "nslua.where"
where.ours()

local function vector(x) return type(x) == "table" and (#x == 0 or type(x[1]) == "number") end

-- The table of the file; anything but a table constructor of numbers and strings fails.
local function read(file)
  if type(file) ~= "string" then
    error("load_dump: file: expected a string, got " .. type(file), 3)
  end
  local chunk, message = loadfile(file, "t", { math = { huge = math.huge } })
  if not chunk then error(("load_dump: %s"):format(message), 3) end
  local good, record = pcall(chunk)
  if not good or type(record) ~= "table" or type(record.M) ~= "table"
     or not (vector(record.q) and vector(record.lower) and vector(record.upper)) then
    error(("load_dump: %s: expected a one-step problem written by dump()"):format(file), 3)
  end
  return record
end

local function options_of(record)
  if record.groups then return { W = record.M, q = record.q, groups = record.groups } end
  return { M = record.M, q = record.q, lower = record.lower, upper = record.upper, H = record.H, K = record.K }
end

return function(ns)
  local numerics, public = ns.numerics, {}

  -- The option table of numerics.box (of numerics.normal_cone when there are H and K, of numerics.generic_mechanical
  -- when there are contacts with friction), and all that the file says.
  function public.load_dump(file)
    local record = read(file)
    return options_of(record), record
  end

  -- Solves it again, with more options ({solver = "enumerate"}); the result of the function that takes it.
  function public.replay(file, more)
    local options = options_of(read(file))
    if more ~= nil and type(more) ~= "table" then
      error("replay: options: expected a table, got " .. type(more), 2)
    end
    for key, value in pairs(more or {}) do options[key] = value end
    local who = options.groups and "generic_mechanical" or options.H and "normal_cone" or "box"
    return where.call(who, numerics[who], options)
  end

  return public
end

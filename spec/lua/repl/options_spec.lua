local ns = require "nslua"
local rows = require "nslua.repl.options"

-- A solution of a run of one step.
local function solution()
  local n = ns.NonSmoothDynamicalSystem(0, 1)
  n:insertDynamicalSystem(ns.FirstOrderLinearTIDS { 1 })
  return ns.TimeStepping(n, ns.TimeDiscretisation(0, 1), ns.EulerMoreauOSI(1), ns.Relay()):run()
end

local function graph()
  return ns.NonSmoothDynamicalSystem(0, 1)
end

local function system(dimension)
  return ns.mechanics.system { dimension = dimension, coordinates = 1, gravity = dimension == 2 and { 0, 0 } or { 0, 0, 0 } }
end

local function space()
  return ns.contact.space { nsds = graph(), law = ns.NewtonImpactFrictionNSL(0, 0, 0.3, 3), reach = 1 }
end

-- Objects of the classes, anew: what is tried may change them.
local objects = {
  solution = solution,
  figure = function() return ns.plot.figure() end,
  axes = function() return ns.plot.figure():subplot(1, 1, 1) end,
  animation = function() return ns.animation { frames = 1, draw = function() end } end,
  columns = function() return setmetatable({}, { __index = function(_, name)
    return function(_, ...) return ns.plot[name == "plot" and "solution"](solution(), ...) end
  end }) end,
  ["contact manager in space"] = space,
  recorder = function() return space():recorder():add(0) end,
  ["animation in space"] = function()
    return ns.animation.space { frames = 1, places = function() return { { 0, 0, 0 } } end, bodies = { ns.contact.sphere(1) } }
  end,
  ["mechanics.system"] = function() return system(2) end,
  model = function() return ns.numerics.model() end,
  orbit = function()
    local function rhs(t, x, p) return { p * math.cos(t) - x[1] } end
    return ns.dynamics.periodic { guess = { 1 }, period = 2 * math.pi, args = { 1 }, rhs = rhs }
  end,
  branch = function()
    local function rhs(t, x, p) return { p * math.cos(t) - x[1] } end
    return ns.dynamics.continuation { guess = { 1 }, period = 2 * math.pi, args = { 1 }, rhs = rhs, range = { 1, 2 }, step = 1,
      max_points = 2 }
  end,
  sweep = function()
    return ns.sweep { parameters = { a = { 1, 2 } }, run = function(p) return { x = p.a } end, progress = false, on = "here" }
  end,
  basins = function()
    return ns.basins { parameters = { x = { 0, 1 }, y = { 0, 1 } }, run = function(p) return { p.x } end, progress = false,
      on = "here" }
  end,
}

-- Whatever the arguments, a table with an unknown key makes a function say which keys it knows.
local function known_of(f)
  local bad, nothing = { ["?"] = 1 }, function() end
  local tries = { { bad }, { nothing, { 0, 1 }, { 1 }, bad }, { nothing, { 1 }, bad }, { "radau", nothing, bad },
    { { { 1 } }, { 1 }, bad }, { { 0, 1 }, { 0, 1 }, bad }, { { 0, 1, 1 }, { 0, 1, 0 }, bad }, { 0, bad }, { 1, bad },
    { { 0, 1 }, { 0, 1 }, { 0, 1 }, bad }, { nothing, bad }, { { 0, 1 }, { 0, 1 }, function() return 1, 1 end, bad },
    { 0, 0, "s", bad }, { "s", bad }, { 1, 1, 1, bad }, { "s.png", bad }, { "s.gif", bad }, { solution(), bad }, { { 0, 1 }, bad },
    { nothing, 0, 1, bad }, { 0, 1, bad }, { 0, 0, 1, "s", bad }, { 1, { a = { 0, 1 } }, bad }, { "x", "y", bad },
    { "symlog", bad }, { { { { -1 } }, { { 1 } } }, 1, bad }, { { { { -1 } }, { { 1 } } }, { 1 }, bad } }
  tries[#tries + 1] = { graph(), bad }
  tries[#tries + 1] = { ns.LinearSensor(ns.FirstOrderLinearTIDS({ 1 }, { { -1 } }), { { 1 } }), { 0 }, { { 1 } }, { { 1 } }, bad }
  for _, arguments in ipairs(tries) do
    local good, message = pcall(f, table.unpack(arguments))
    local list = not good and tostring(message):match "unknown .-known: ([^)]*)%)"
    if list then return list end
  end
end

local function sorted(text)
  local words = {}
  for word in text:gmatch "[^%s,]+" do
    if word ~= "old_api" then words[#words + 1] = word end
  end
  table.sort(words)
  return table.concat(words, " ")
end

describe("the options that the prompt completes", function()
  for _, row in ipairs(rows) do
    for k = 2, #row do
      local name = row[k]
      it("are those of " .. name, function()
        local f = ns
        if name:find "^:" then
          local d = ns.FirstOrderLinearTIDS { 1 }
          local n = ns.NonSmoothDynamicalSystem(0, 1)
          n:insertDynamicalSystem(d)
          local simu = ns.TimeStepping(n, ns.TimeDiscretisation(0, 1), ns.EulerMoreauOSI(1), ns.Relay())
          f = function(options) simu[name:sub(2)](simu, options) end
        elseif name:find ":" then
          local class, method = name:match "^(.*):(.*)$"
          f = function(...)
            local object = objects[class]()
            return object[method](object, ...)
          end
        else
          for part in name:gmatch "[^.]+" do f = f[part] end
        end
        ns.plot.close()
        local known = assert(known_of(f))
        if name == "mechanics.system:body" then -- what a plane one takes, and what one in space takes
          known = known .. " " .. known_of(function(...) return system(3):body(...) end):match "orientation"
        end
        assert.equal(sorted(known), sorted(row[1]))
      end)
    end
  end
end)

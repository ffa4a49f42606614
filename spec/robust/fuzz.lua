-- Random calls of the whole API: nslua spec/robust/fuzz.lua SEED COUNT [--only N,N,...] [--log].
--
-- Calls every class, method and function of the reference, with arguments that fit the names of the parameters or do not,
-- and with callbacks that misbehave. No call may end the process, or raise an error of the module's own code. Call number
-- i depends only on SEED, i and the objects that earlier calls made. So a failing sequence can be shortened by leaving
-- calls out (--only; fuzz_shrink.lua does it).
-- --log prints every call on stderr before it is made.
local ns = require "nslua"
local book = require "nslua.help".book()

local seed, count = tonumber(arg[1]) or 1, tonumber(arg[2]) or 1000
local only, log
for i = 3, #arg do
  if arg[i] == "--log" then log = true end
  if arg[i] == "--only" then
    only = {}
    for n in (arg[i + 1] or ""):gmatch "%d+" do only[tonumber(n)] = true end
  end
end

local random = math.random
local directory = assert(os.getenv "NSLUA_FUZZ_DIRECTORY", "NSLUA_FUZZ_DIRECTORY names a directory for files")
rawset(_G, "print", function() end)
io.stdout:setvbuf "full"

local function pick(list)
  return list[random(#list)]
end

-- ---- objects that are there ----

local pool, classes = {}, {} -- by class: a list of objects; the names of the classes that have any

local function class_of(x)
  local meta = type(x) == "userdata" and debug.getmetatable(x)
  return meta and rawget(meta, "__name")
end

-- Objects that are tables: figures, animations, frames, mechanisms, records of files, results.
local tables = {}

-- The methods of a table: inherited functions, and the functions in the table itself that the reference describes.
local fields = { f = true, residual = true, jacobian = true }

local function methods_of(x)
  local found, seen, meta = {}, {}, getmetatable(x)
  local own = type(meta) == "table" and x
  if own and meta.__name == "mechanics.scalar" then return found end
  while type(x) == "table" and not seen[x] do
    seen[x] = true
    for name, f in next, x do
      local public = type(name) == "string" and type(f) == "function" and not name:find "^__" and name ~= "new"
        and (x ~= own or fields[name] or book.methods[name])
      if public then found[#found + 1] = name end
    end
    x = getmetatable(x)
    x = type(x) == "table" and rawget(x, "__index")
  end
  table.sort(found)
  return found
end

-- Tables by the type that they state: "mechanics.frame", "axes", ...
local kinds = {}

local function keep_table(x)
  if #methods_of(x) == 0 and not getmetatable(x) then return end
  tables[#tables < 8 and #tables + 1 or random(#tables)] = x
  local good, text = pcall(tostring, x)
  local kind = good and text:match "^[%a_.]+"
  if kind and not text:find "^table: " then
    local list = kinds[kind] or {}
    kinds[kind] = list
    list[#list < 4 and #list + 1 or random(#list)] = x
  end
end

local function of_kind(pattern)
  local found = {}
  for kind in pairs(kinds) do
    if kind:find(pattern) then found[#found + 1] = kind end
  end
  table.sort(found) -- pairs has another order in each process
  if #found > 0 then return pick(kinds[pick(found)]) end
  return #tables > 0 and pick(tables) or nil
end

local keep
function keep(x)
  if type(x) == "table" and x ~= ns then
    keep_table(x)
    for i = 1, 3 do
      local element = rawget(x, i)
      if class_of(element) then keep(element) elseif type(element) == "table" then keep_table(element) end
    end
    return
  end
  local class = class_of(x)
  if not class then return end
  if not pool[class] then
    pool[class] = {}
    classes[#classes + 1] = class
  end
  local list = pool[class]
  list[#list < 6 and #list + 1 or random(#list)] = x
end

local function object(class)
  return pool[class] and pick(pool[class])
end

local function any_object()
  return #classes > 0 and object(pick(classes)) or nil
end

-- ---- callbacks ----

local call_something -- a random call, from inside of a callback

local deeds = {
  function() error "raised by a callback" end,
  function() error({}) end,
  function() error(nil) end,
  function() return 0 / 0 end,
  function() return { 1, 2, 3, 4, 5, 6, 7 } end,
  function() return "text", {}, print end,
  function() collectgarbage(random(50) == 1 and "collect" or "step") end,
  function() coroutine.yield(1) end,
  function() call_something() end,
  function(...)
    local out = select(select("#", ...), ...)
    for i = 1, 9 do pcall(function() out[i] = 1 / 0 end) end
  end,
  function(...)
    local x = select(random(select("#", ...)), ...)
    pcall(function() x[random(-1, 3)] = pick { 0 / 0, "x", {}, 1e308 } end)
  end,
  function()
    local x = any_object()
    if x and random(4) == 1 then pcall(function() x:close() end) end
  end,
  function(...) return ... end,
  function() return error end,
}

-- A correct callback: it fills its last argument, or returns as many numbers.
local function good_callback(...)
  local n = select("#", ...)
  local out = n > 0 and select(n, ...)
  if type(out) == "userdata" then
    pcall(function() for i = 1, #out do out[i] = type(out[i]) == "number" and 0.1 * i or out[i] end end)
  else
    return 0.5
  end
end

local function callback()
  if random(20) == 1 and pool["compiled function"] then return object "compiled function" end
  local hostile, at, calls = random(3) == 1 and pick(deeds), random(5), 0
  return function(...)
    calls = calls + 1
    if calls > 20000 then error "called too often" end
    if hostile and calls % at == 0 then return hostile(...) end
    return good_callback(...)
  end
end

-- ---- values ----

local function small_vector(n)
  local v = {}
  for i = 1, n do v[i] = random() * 2 - 0.5 end
  return v
end

local function small_matrix(n, m)
  local A = {}
  for i = 1, n do
    A[i] = small_vector(m)
    A[i][i] = i <= m and 2 or nil
  end
  return A
end

local function size() return pick { 1, 2, 2, 2, 3 } end

local odd_numbers = { 0, -0.0, 1, -1, 0.5, 2, 3, 1e-300, 1e308, -1e308, 1 / 0, -1 / 0, 0 / 0, 2 ^ 53, 1 << 62, -7, 1e15, 17 }

local odd = {
  function() return nil end,
  function() return pick(odd_numbers) end,
  function() return pick { "", "text", "no\0thing", "1", ("x"):rep(3000), "../\n", "%s%n" } end,
  function() return random(2) == 1 end,
  function() return {} end,
  function() return { 1, "x", 3 } end,
  function() return { {}, { 1 } } end,
  function() return { { 1, 2 }, { 3 } } end,
  function() return setmetatable({}, { __index = function() error "index" end, __len = function() return 1e9 end }) end,
  function() local t = {} t[1] = t return t end,
  function() return { [1] = 1, [3] = 3, x = 0 / 0 } end,
  function() return callback() end,
  function() return coroutine.create(function() end) end,
  function() return any_object() end,
  function() return any_object() end,
  function() return #tables > 0 and pick(tables) or nil end,
  function() return io.stderr end,
  function() return ns.numerics end,
  function() return { x0 = { 1 }, A = { { -1 } }, h = callback(), tolerance = "x" } end,
}

local function vector_value()
  local v = small_vector(size())
  return random(3) == 1 and ns.vector(v) or v
end

local function matrix_value()
  local n = size()
  local A = small_matrix(n, random(4) == 1 and size() or n)
  local kind = random(6)
  return kind == 1 and ns.matrix(A) or kind == 2 and ns.sparse(A) or kind == 3 and callback() or A
end

local makers = {}
for names, make in pairs {
  ["x x0 y y0 yd0 q q0 v v0 z w f0 ts points stiffness damping lambda r b d"] = vector_value,
  ["A B C D E F H K M J W mass inertia"] = matrix_value,
  ["theta gamma et en e mu"] = function() return pick { 0, 0.5, 1, 0.3 } end,
  ["t t0"] = function() return 0 end,
  ["T"] = function() return pick { 0.5, 1 } end,
  ["h"] = function() return pick { 0.1, 0.25 } end,
  ["n m i j k rows cols dim"] = function() return pick { 1, 2, 3 } end,
  ["file"] = function()
    return directory .. "/" .. pick { "a.csv", "a.npy", "a.state", "a.lua", "a.txt", "a.npz", "a.h5", "a.html" }
  end,
  ["name"] = function() return "name" .. random(4) end,
  ["f g fun jac potential draw"] = callback,
  ["flag"] = function() return random(2) == 1 end,
  ["nsds"] = function() return object "NonSmoothDynamicalSystem" end,
  ["grid td"] = function() return object "TimeDiscretisation" end,
  ["integrator osi"] = function()
    return object(pick { "EulerMoreauOSI", "MoreauJeanOSI", "SchatzmanPaoliOSI", "RungeKuttaOSI", "D1MinusLinearOSI" })
  end,
  ["problem osnspb"] = function() return object(pick { "LCP", "Relay", "MLCP", "FrictionContact", "GenericMechanical" }) end,
  ["law"] = function()
    return object(pick { "ComplementarityConditionNSL", "RelayNSL", "NewtonImpactNSL", "EqualityConditionNSL",
      "NewtonImpactFrictionNSL" })
  end,
  ["relation"] = function()
    return object(pick { "FirstOrderLinearTIR", "FirstOrderNonLinearR", "LagrangianLinearTIR", "LagrangianScleronomousR" })
  end,
  ["interaction"] = function() return object "Interaction" end,
  ["ds ds2"] = function()
    return object(pick { "FirstOrderLinearTIDS", "FirstOrderNonLinearDS", "LagrangianDS", "LagrangianLinearTIDS", "NewtonEulerDS" })
  end,
  ["residual position value kinetics kinematics nonholonomic angle"] = callback,
  ["indices independent"] = function() return pick { 1, { 1 }, { 1, 2 }, { 2, 2 }, { 0 } } end,
  ["bc"] = function() return object(pick { "BoundaryCondition", "FixedBC", "HarmonicBC" }) end,
  ["data sol"] = function()
    return pick { vector_value, matrix_value, function() return object "solution" end,
      function() return { a = small_vector(3), b = small_vector(3) } end }()
  end,
  ["y1 y2 u places p1 p2 direction gravity"] = function() return small_vector(2) end,
  ["low high normal axis"] = function() return { 0, 0, 1 } end,
  ["R R1 R2 lx ly lz frames length reach tf"] = function() return pick { 0.5, 1, 2 } end,
  ["coordinates dimension speeds"] = function() return pick { 1, 2, 3 } end,
  ["from to figure manager"] = function()
    return #tables > 0 and pick(tables) or nil
  end,
  ["law2 panels levels labels"] = function() return { small_vector(2) } end,
  ["options"] = function() return {} end,
  ["s label title xlabel ylabel zlabel note xlim_label text"] = function() return "text " .. random(3) end,
  ["style format color edgecolor"] = function() return pick { "k--", "o", "red", "sky", "C1", "r.-", "none" } end,
  ["kind which what full"] = function()
    return pick { "fro", "inf", 1, 2, "full", "radau", "ida", "equal", "tight", "log", "linear", "disk", "sphere", "aqua" }
  end,
  ["p x1 x2 a1 a2 ratio scale alpha start stop step elevation azimuth phi omega lb ub margin density linewidth dpi fps"]
    = function() return pick { 0.25, 0.5, 1, 2, -1 } end,
  ["rtol atol tol tolerance relative absolute rcond contact"] = function() return pick { 1e-3, 1e-6, 1e-9 } end,
  ["upper"] = function() return pick { 1, 1 / 0, small_vector(2) } end,
  ["lower"] = function() return pick { 0, -1, -1 / 0, { -1, -1 } } end,
  ["Jachq dotJachq Jacglambda Jachlambda Jachx Jacgx hDot jacobianfx jacobian V"] = callback,
  ["cmap"] = function() return pick { "viridis", "gray" } end,
  ["marker loc align"] = function() return pick { "o", "x", "best", "left", "center" } end,
  ["width height figsize size ncol"] = function() return pick { 3, 8, 200 } end,
  ["solver"] = function()
    return pick { "default", "lemke", "pivot", "psor", "pgs", "enumerate", "principal", "newton_min", "newton_fb", "nsgs",
      "interior" }
  end,
  ["checkpoint stream"] = function() return directory .. "/" .. pick { "run.state", "run.csv" } end,
  ["resume progress partial warm consistent stabilised constants native compile shade sharex"] = function()
    return random(2) == 1
  end,
  ["every record max_steps max_iterations iterations number level index kl ku i1 i2 j1 j2 w1"] = function()
    return random(0, 4)
  end,
  ["max_step first_step"] = function() return pick { 0.1, 0.5 } end,
  ["offsets"] = function() return pick { { 0 }, { -1, 0, 1 } } end,
  ["bands"] = function() return { small_vector(3), small_vector(3), small_vector(3) } end,
  ["bounds"] = function() return { -1, 1, -1, 1 } end,
  ["base"] = function()
    return pick { ns.FirstOrderNonLinearR, ns.FirstOrderNonLinearDS, ns.LagrangianDS, ns.LagrangianScleronomousR }
  end,
  ["frame parent"] = function() return of_kind "frame" end,
  ["origin point at"] = function() return random(2) == 1 and of_kind "oint" or small_vector(2) end,
  ["on one other body"] = function() return of_kind "body" end,
  ["vector"] = function() return random(2) == 1 and of_kind "vector" or small_vector(3) end,
  ["axes"] = function() return of_kind "axes" end,
  ["plane line"] = function() return of_kind "plane" or of_kind "line" end,
  ["xy xytext c"] = function() return { 0.5, 0.25 } end,
} do
  for name in names:gmatch "%S+" do
    assert(not makers[name], name) -- else the order of pairs would decide
    makers[name] = make
  end
end

local function value_for(name)
  if random(12) == 1 then return pick(odd)() end
  local make = makers[name] or (name:find "^[Jj]ac" or name:find "^compute") and callback
  if make then return make() end
  return pick(odd)()
end

-- ---- arguments that fit together ----

local function square(n) return small_matrix(n, n) end

local function some_options(list)
  local options = {}
  for _, name in ipairs(list) do
    if random(4) == 1 then options[name] = makers[name] and makers[name]() or random(0, 3) end
  end
  return options
end

-- A problem of `n` rows under these names, with some options and sometimes a wrong entry.
local function problem(matrix, names)
  return function()
    local n = random(4)
    local options = some_options { "tolerance", "solver", "max_iterations" }
    options[matrix] = random(4) == 1 and ns.sparse(square(n)) or square(n)
    for _, name in ipairs { "q", "lower", "upper" } do options[name] = names[name] and names[name](n) end
    if random(6) == 1 then options[pick { matrix, "q", "upper", "mu" }] = pick(odd)() end
    return options
  end
end

local function numbers_below(x)
  return function(n)
    local v = small_vector(n)
    for i = 1, n do v[i] = v[i] + x end
    return v
  end
end

local fitting = {
  ["ns.numerics.lcp"] = problem("M", { q = small_vector }),
  ["ns.numerics.box"] = problem("M", { q = small_vector, lower = numbers_below(-2), upper = numbers_below(2) }),
  ["ns.numerics.relay"] = problem("M", { q = small_vector, lower = numbers_below(-2), upper = numbers_below(2) }),
  ["ns.numerics.solutions"] = problem("M", { q = small_vector, lower = numbers_below(-2), upper = numbers_below(2) }),
  ["ns.numerics.uniqueness"] = problem("M", { q = small_vector, lower = numbers_below(-2), upper = numbers_below(2) }),
  ["ns.numerics.mlcp"] = function()
    local n, m = random(0, 2), random(2)
    return { A = square(n), B = square(m), C = small_matrix(n, m), D = small_matrix(m, n), a = small_vector(n),
      b = small_vector(m) }
  end,
  ["ns.numerics.fc2d"] = function() return { W = square(4), q = small_vector(4), mu = pick { 0, 0.3, { 0.3, 0.5 } } } end,
  ["ns.numerics.fc3d"] = function() return { W = square(6), q = small_vector(6), mu = pick { 0, 0.3, { 0.3, 0.5 } } } end,
  ["ns.numerics.generic_mechanical"] = function()
    return { W = square(4), q = small_vector(4), groups = { { dim = 1, lower = pick { 0, -1 }, upper = pick { 1, 1 / 0 } },
      { dim = 3, mu = pick { 0, 0.3 } } } }
  end,
  ["ns.numerics.normal_cone"] = function()
    return { M = square(2), q = small_vector(2), H = { { 1, 0 }, { 0, 1 }, { 1, 1 } }, K = small_vector(3) }
  end,
  ["ns.numerics.mcp"] = function() return { F = callback(), z0 = small_vector(2), lower = 0, upper = pick { 1, 1 / 0 } } end,
  ["ns.solve_ivp"] = function()
    local options = some_options { "rtol", "atol", "max_step" }
    options.method = pick { "RK45", "DOP853", "Radau", "BDF", "x" }
    options.events = random(4) == 1 and callback() or nil
    return callback(), { 0, pick { 0.5, 1 } }, small_vector(size()), options
  end,
  ["ns.dae"] = function()
    return pick { "radau", "ida" }, callback(), some_options { "rtol", "atol", "max_steps", "jacobian", "index" }
  end,
  ["ns.root"] = function() return callback(), small_vector(size()) end,
  ["ns.gradient"] = function() return function(x) return x[1] * x[1] end, small_vector(2) end,
  ["ns.hessian"] = function() return function(x) return x[1] * x[1] * x[1] end, small_vector(2) end,
  ["ns.NewtonEulerDS"] = function()
    return { 0, 0, 0.5, 1, 0, 0, 0 }, small_vector(6), pick { 1, 2 }, ns.eye(3)
  end,
  ["ns.NormalConeNSL"] = function() return 2, { { 1, 0 }, { 0, 1 }, { -1, -1 } }, { 0, 0, -1 } end,
  ["ns.TimeSteppingCombinedProjection"] = function()
    return object "NonSmoothDynamicalSystem", object "TimeDiscretisation", object "MoreauJeanOSI"
  end,
  ["ns.concatenate"] = function() return vector_value(), vector_value() end,
  ["ns.dot"] = function() return small_vector(2), small_vector(2) end,
  ["ns.linspace"] = function() return 0, 1, random(5) end,
  ["ns.full"] = function() return 2, 2, 0.5 end,
  ["ns.ones"] = function() return random(3), random(3) end,
  ["ns.spdiags"] = function() return { small_vector(3), small_vector(3) }, { 0, 1 }, 3 end,
  ["ns.fsolve"] = function() return callback(), small_vector(size()) end,
  ["ns.consistent"] = function()
    return { residual = callback(), t = 0, y = small_vector(2), ydot = small_vector(2), algebraic = { 2 } }
  end,
  ["ns.contact.plane"] = function() return { 0, 0, 0 }, { 0, 0, 1 } end,
  ["ns.contact.line"] = function() return { 0, 0 }, { 0, 1 } end,
  ["ns.contact.walls"] = function() return { 0, 0 }, { 1, 1 } end,
  ["ns.contact.disk_line"] = function() return 0.5, of_kind "line" end,
  ["ns.contact.sphere_plane"] = function() return 0.5, of_kind "plane" end,
  ["ns.animation.timeplot"] = function() return { t = { 0, 1, 2 }, panels = { { small_vector(3) } } } end,
  ["ns.animation.interact"] = function() return { values = { 1, 2 }, draw = callback() } end,
  [":xlim"] = function() return pick { 0, -1 }, pick { 1, 2 } end,
  [":axis"] = function() return pick { "equal", "tight", "off", "on", "auto", { 0, 1, 0, 1 } } end,
  [":xscale"] = function() return pick { "log", "linear" } end,
  [":view"] = function() return 30, 45 end,
  [":text"] = function() return 0.5, 0.5, "text", some_options { "color", "size" } end,
  [":annotate"] = function() return "text", { xy = { 0, 0 }, xytext = { 1, 1 } } end,
  [":clip"] = function() return 0, 1, 0, 1 end,
  [":scatter"] = function() return { 1, 2 }, small_vector(2), some_options { "s", "c", "marker" } end,
  [":quiver"] = function() return { 1, 2 }, { 1, 2 }, square(2), square(2) end,
  [":contour"] = function() return { 1, 2 }, { 1, 2 }, square(2), some_options { "levels" } end,
  [":surface"] = function() return { 1, 2 }, { 1, 2 }, square(2), some_options { "cmap" } end,
  [":plot3D"] = function() return { 1, 2 }, { 1, 2 }, small_vector(2), some_options { "label", "color" } end,
  [":streamplot"] = function() return { 0, 1 }, { 0, 1 }, callback() end,
  [":fill"] = function() return { 0, 1, 1 }, { 0, 1, 0 }, some_options { "color", "alpha" } end,
  [":xticks"] = function() return { 0, 1 }, pick { { "a", "b" }, { "a" } } end,
  [":free_body"] = function() return { mass = 1, inertia = pick { 1, square(3) }, name = "free" } end,
  [":pos_from"] = function() return of_kind "oint" end,
  [":vel"] = function() return of_kind "oint", of_kind "frame" end,
  [":orientation_in"] = function() return of_kind "frame" end,
  [":distance"] = function() return of_kind "body", of_kind "body", 1 end,
  [":gear"] = function() return of_kind "body", of_kind "body", 2 end,
  [":slider"] = function() return of_kind "body", of_kind "body", { 0, 0 }, { 1, 0 } end,
  [":energy"] = function() return 0, small_vector(2), small_vector(2) end,
  [":html"] = function() return {} end,
  ["ns.HarmonicBC"] = function() return { 1 }, 0, 1, 2, 0 end,
  ["ns.EventDriven"] = function()
    return object "NonSmoothDynamicalSystem", object "TimeDiscretisation", object(pick { "RungeKuttaOSI", "D1MinusLinearOSI" })
  end,
  ["ns.block"] = function() return { { matrix_value(), matrix_value() } } end,
  ["ns.vstack"] = function() return matrix_value(), matrix_value() end,
  ["ns.hstack"] = function() return matrix_value(), matrix_value() end,
  ["ns.sparse"] = function() return { 1, 2, 2 }, { 1, 1, random(2) }, small_vector(3), 2, 2 end,
  ["ns.numerics.load_dump"] = function() return directory .. "/a.lua" end,
  ["ns.numerics.replay"] = function() return directory .. "/a.lua", some_options { "solver" } end,
  [":dump"] = function() return directory .. "/a.lua" end,
  [":setNames"] = function() return { "a", "b", random(3) == 1 and "c" or nil } end,
  [":setMaxEvents"] = function() return pick { 1, 1000 } end,
  [":setName"] = function() return "name" .. random(3) end,
  [":set_pos"] = function() return of_kind "oint", of_kind "vector" or of_kind "oint" end,
  [":orient_axis"] = function() return of_kind "frame", pick { callback(), 0.5 }, { 0, 0, 1 } end,
  [":particle"] = function() return { mass = 1, position = callback(), name = "p" } end,
  [":body"] = function() return { mass = 1, inertia = 1, position = callback(), angle = callback() } end,
  [":constraint"] = function() return { f = callback(), rows = 1 } end,
  [":force"] = function() return { on = of_kind "body", value = callback() } end,
  [":torque"] = function() return { on = of_kind "body", value = callback() } end,
  [":spring"] = function() return { from = of_kind "body", to = of_kind "body", stiffness = 2, damping = 0.1, length = 1 } end,
  [":lagrangian"] = function() return { q0 = small_vector(2), v0 = random(2) == 1 and small_vector(2) or nil } end,
  [":embedded"] = function() return { q0 = small_vector(2), independent = { 1 } } end,
  [":dae"] = function() return { q0 = small_vector(2), index = random(0, 3), stabilised = random(2) == 1 } end,
  [":solve_dae"] = function() return { q0 = small_vector(2), T = 0.1, index = random(3) } end,
  [":consistent"] = function() return 0, small_vector(2), small_vector(2) end,
  [":pin"] = function() return of_kind "body", of_kind "body", { 0, 0 }, { 0, 0 } end,
  [":acc"] = function() return of_kind "oint", of_kind "frame" end,
  [":solve"] = function() return some_options { "solver", "tolerance", "max_iterations", "warm" } end,
}

for same, as in pairs { [":ylim"] = ":xlim", [":zlim"] = ":xlim", [":yscale"] = ":xscale", [":zscale"] = ":xscale",
  [":yticks"] = ":xticks", [":ang_vel_in"] = ":orientation_in", [":ang_acc_in"] = ":orientation_in",
  [":partial_velocities"] = ":vel", [":weld"] = ":pin", [":ball"] = ":pin", [":accelerations"] = ":energy",
  [":generalised_forces"] = ":energy", [":eval_k"] = ":energy", [":eval_h"] = ":energy", [":eval_d"] = ":energy" } do
  fitting[same] = fitting[as]
end

-- ---- calls ----

-- The arguments of a signature "name(a, b [, c])" or "name{a=, b=}".
local function arguments_for(signature, who)
  local fit = who and random(4) > 1 and (fitting[who] or fitting[":" .. who:match "[%w_]+$"])
  if fit then
    local list = table.pack(fit())
    if random(8) == 1 then list[random(math.max(1, list.n))] = pick(odd)() end
    return list, math.max(1, list.n)
  end
  local inside = signature:match "^[^({]*%((.*)%)$"
  local options = signature:match "^[^({]*{(.*)}$"
  local list, n = {}, 0
  local function add(x)
    n = n + 1
    list[n] = x
  end
  local function named(text)
    local t = {}
    for name in text:gmatch "([%a_][%w_]*)%s*=" do
      if random(4) > 1 then t[name] = value_for(name) end
    end
    return t
  end
  if options then
    add(named(options))
  else
    for word in (inside or ""):gsub("{(.-)}", function(text) return "{" .. text:gsub("[^%w_=]+", ";") .. "}" end)
      :gmatch "[%w_{=};]+" do
      if random(15) == 1 then break end
      if word:sub(1, 1) == "{" then
        if random(3) == 1 then add(named(word)) end
      else
        add(value_for(word))
      end
    end
  end
  if random(10) == 1 then add(pick(odd)()) end
  return list, n
end

-- The calls: functions of the module, and methods by class, except those that start programs or windows.
local functions, methods, left_out = {}, {}, { help = true, show = true }
local programs = { savefig = true, show = true, help = true }

for _, name in ipairs(book.names) do
  local entry, f = book.entries[name], ns
  for part in name:gmatch "[^.]+" do f = type(f) == "table" and f[part] or nil end
  if type(f) == "function" and not left_out[name:match "^%w+"] and not programs[name:match "%w+$"] then
    functions[#functions + 1] = { name = "ns." .. name, f = f, signature = entry.signature }
  end
end

for name, list in pairs(book.methods) do
  for _, method in ipairs(list) do
    for _, class in ipairs(method.classes) do
      methods[class] = methods[class] or {}
      if not left_out[name] and not name:find "^animate" and name ~= "plot" then
        table.insert(methods[class], { name = name, signature = method.signature })
      end
    end
  end
end
for _, list in pairs(methods) do table.sort(list, function(a, b) return a.name < b.name end) end

-- Calls that the list of names lacks: a callable table, parts of mechanics.
for _, signature in ipairs { "ns.animation{frames=, draw=, file=, title=, fps=}", "ns.mechanics.system{coordinates=, gravity=}",
  "ns.mechanics.Point(name)", "ns.mechanics.ReferenceFrame(name)", "ns.plot.gcf()", "ns.plot.gca()" } do
  local f = ns
  for part in signature:match "^ns%.([%w.]+)":gmatch "%w+" do f = f[part] end
  functions[#functions + 1] = { name = signature:match "^[%w.]+", f = f, signature = signature }
end

local constructors = {}
for i, entry in ipairs(functions) do
  local short = entry.name:match "^ns%.([%w_]+)$"
  if short and (methods[short] or short == "EventDriven") then constructors[#constructors + 1] = functions[i] end
end

-- Calls that wait, or that take long with large numbers.
local function too_much(list, n)
  for i = 1, n do
    if type(list[i]) == "number" and math.abs(list[i]) > 1e4 and math.abs(list[i]) < 1e14 then return true end
  end
end

local function describe(name, list, n)
  local words = {}
  for i = 1, n do
    local good, text = pcall(tostring, list[i])
    words[i] = (good and text or type(list[i])):sub(1, 60):gsub("%c", "?")
  end
  return ("%s(%s)"):format(name, table.concat(words, ", "))
end

-- Texts that no message may contain: they mean that the module's own Lua code failed on a value.
local function faulty(message)
  if type(message) ~= "string" then return false end
  local place = message:match "^[^\n]-lua/nslua/[%w_]+%.lua:%d+: ([^\n]*)"
  return place and (place:find "attempt to [^y]" or place:find "bad argument " or place:find "index out of range")
    or message:find "internal error" or message:find "attempt to [%w ]+ field '%?'" or message:find "stack overflow %(C stack"
    or message:find "invalid key to 'next'"
end

-- Whether a simulation has too many steps to be run here.
local function endless(x)
  local class = class_of(x)
  local good, text = pcall(tostring, x)
  local steps = (class == "TimeStepping" or class == "EventDriven") and good and text:match "of (%d+)"
  return steps and tonumber(steps) > 1000
end

local depth, made, good_calls = 0, 0, 0

local function call(name, f, list, n)
  if too_much(list, n) or endless(list[1]) then return end
  if log and depth == 1 then io.stderr:write("  ", describe(name, list, n), "\n") end
  local results
  local co = coroutine.create(function() return f(table.unpack(list, 1, n)) end)
  debug.sethook(co, function() error "too long" end, "", 1e7)
  results = table.pack(coroutine.resume(co))
  if coroutine.status(co) == "suspended" then pcall(coroutine.close, co) end
  made = made + 1
  good_calls = good_calls + (results[1] and 1 or 0)
  if not results[1] and faulty(results[2]) then
    io.stderr:write("fault: ", describe(name, list, n), ": ", results[2], "\n")
    os.exit(70, false)
  end
  for i = 2, results.n do keep(results[i]) end
  return results[1]
end

-- A failed step must leave the simulation where it was.
local function call_step(simu)
  local function place()
    local good, k = pcall(simu.step, simu)
    return good and k
  end
  local before = place()
  if call("TimeStepping:computeOneStep", simu.computeOneStep, { simu }, 1) == false then
    local after = place()
    if before and after and before ~= after then
      io.stderr:write(("fault: a step that failed went from %s to %s\n"):format(before, after))
      os.exit(70, false)
    end
  elseif random(3) > 1 then
    call("TimeStepping:nextStep", simu.nextStep, { simu }, 1)
  end
end

-- Calls a method of an object that is a table, with any arguments.
local function call_table()
  local x = pick(tables)
  local names = methods_of(x)
  local name = #names > 0 and pick(names)
  if not name or programs[name] then return end
  local known, list, n = book.methods[name]
  if known and random(5) > 1 then
    list, n = arguments_for(pick(known).signature, ":" .. name)
    table.insert(list, 1, x)
    n = n + 1
  else
    list, n = { x }, 1 + random(0, 3)
    for i = 2, n do
      list[i] = pick { vector_value, callback, function() return random(3) end, pick(odd), function() return of_kind "" end }()
    end
  end
  call("table:" .. name, function(self, ...) return self[name](self, ...) end, list, n)
end

call_something = function()
  if depth > 2 then return end
  depth = depth + 1
  local kind = random(10)
  if kind == 2 and #tables > 0 then
    call_table()
    depth = depth - 1
    return
  end
  local simu = kind == 3 and object "TimeStepping"
  if simu then
    for _ = 1, random(4) do call_step(simu) end
    depth = depth - 1
    return
  end
  local x = kind > 4 and any_object()
  local list = x and methods[class_of(x)]
  if list and #list > 0 then
    local method = pick(list)
    local arguments, n = arguments_for(method.signature, ":" .. method.name)
    table.insert(arguments, 1, x)
    call(class_of(x) .. ":" .. method.name, function(self, ...) return self[method.name](self, ...) end, arguments, n + 1)
  elseif x then
    call("operators of " .. class_of(x), function(a, i)
      local y = pick { any_object() or 1, 2, "x" }
      return pick { function() return a + y end, function() return a * y end, function() return a - 1 end, function() return #a end,
        function() return a[i] end, function() a[i] = random() end, function() return a == y end, function() return a(i, 1) end,
        function() return -a end, function() return a / 2 end, function() return a ^ 2 end, function() return tostring(a) end,
        function() return ipairs(a)(a, 0) end, function() a.name = 1 end }()
    end, { x, pick { 1, 2, 0, -1, 1.5, "x", "close", 1e9 } }, 2)
  else
    local entry = pick(kind == 1 and functions or constructors)
    local arguments, n = arguments_for(entry.signature, entry.name)
    call(entry.name, entry.f, arguments, n)
  end
  depth = depth - 1
end

-- ---- the sequence ----

-- Small correct models, so that later calls have objects to use.
local models = {}

function models.first_order()
  local relation = ns.FirstOrderNonLinearR { h = callback(), g = callback() }
  return ns.FirstOrderNonLinearDS({ 1, 0 }, callback()), relation, ns.RelayNSL(1), ns.EulerMoreauOSI(0.5)
end

function models.linear()
  local ds = ns.FirstOrderLinearTIDS({ 1, 0 }, random(2) == 1 and { { -1, 0 }, { 1, -2 } } or ns.sparse { { -1, 0 }, { 1, -2 } })
  return ds, ns.FirstOrderLinearTIR({ { 1, 0 } }, { { 1 }, { 0 } }), ns.ComplementarityConditionNSL(1), ns.EulerMoreauOSI(1)
end

function models.mechanics()
  local ds = ns.LagrangianDS { q0 = { 1, 0 }, v0 = { 0, 1 }, mass = callback(), fInt = callback() }
  return ds, ns.LagrangianScleronomousR { h = callback() }, ns.NewtonImpactNSL(0.5), ns.MoreauJeanOSI(0.5)
end

function models.falling()
  local ds = ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } })
  ds:setFExtPtr { -9.81 }
  local osi = pick { ns.MoreauJeanOSI, ns.SchatzmanPaoliOSI, ns.D1MinusLinearOSI, ns.RungeKuttaOSI, ns.MoreauJeanGOSI }
  osi = (osi == ns.D1MinusLinearOSI or osi == ns.RungeKuttaOSI) and osi() or osi(0.5)
  return ds, ns.LagrangianLinearTIR { { 1 } }, ns.NewtonImpactNSL(0.5), osi
end

function models.rigid()
  local ds = ns.NewtonEulerDS({ 0, 0, 0.5, 1, 0, 0, 0 }, { 1, 0, 0, 0, 1, 0 }, 1, { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } })
  local relation = ns.NewtonEuler3DR { shape = "sphere_plane", R = 0.5, point = { 0, 0, 0 }, normal = { 0, 0, 1 } }
  return ds, relation, ns.NewtonImpactFrictionNSL(0, 0, 0.3, 3), ns.MoreauJeanOSI(0.5)
end

function models.shaken()
  local ds = ns.LagrangianLinearTIDS({ 0, 0 }, { 0, 0 }, ns.eye(2), { { 9, -9 }, { -9, 9 } })
  local bc = pick { function() return ns.FixedBC(1) end, function() return ns.HarmonicBC({ 1 }, 0, 2, 2, 0) end,
    function() return ns.BoundaryCondition({ 1 }, callback()) end }()
  ds:setBoundaryConditions(bc)
  keep(bc)
  return ds, ns.LagrangianLinearTIR { { 0, 1 } }, ns.NewtonImpactNSL(0.5), ns.MoreauJeanOSI(0.5)
end

function models.mechanism()
  local sys = ns.mechanics.system { coordinates = 2, gravity = { 0, -9.81 } }
  keep(sys:body { mass = 1, inertia = 1, position = function(_, q) return { q[2], 0 } end, angle = callback() })
  keep(sys.ground)
  sys:particle { mass = 1, position = random(3) == 1 and callback() or function(_, q) return { q[1], q[2] } end }
  sys:constraint { f = random(3) == 1 and callback() or function(_, q) return q[1] ^ 2 + q[2] ^ 2 - 1 end, name = "rod" }
  keep(sys)
  local ds, interaction = sys:lagrangian { q0 = { 1, 0 } }
  local relation, law = interaction:relation(), interaction:nonSmoothLaw()
  return ds, relation, law, ns.MoreauJeanOSI(0.5)
end

function models.compiled()
  local f = ns.compile(function(_, x, out) out[1], out[2] = x[2], -math.sin(x[1]) end, { native = false })
  keep(f)
  return ns.FirstOrderNonLinearDS({ 1, 0 }, f), ns.FirstOrderLinearTIR({ { 1, 0 } }, { { 1 }, { 0 } }), ns.RelayNSL(1),
    ns.EulerMoreauOSI(0.5)
end

local names = require "sorted_names"(models)

local function build()
  local ds, relation, law, osi = models[pick(names)]()
  local nsds, td = ns.NonSmoothDynamicalSystem(0, 1), ns.TimeDiscretisation(0, 0.1)
  local inter = ns.Interaction(law, relation)
  nsds:insertDynamicalSystem(ds)
  nsds:link(inter, ds)
  local simu = (class_of(osi) == "RungeKuttaOSI" and ns.EventDriven or ns.TimeStepping)(nsds, td, osi)
  for _, x in ipairs { ds, relation, law, nsds, inter, osi, td, simu } do keep(x) end
end

for i = 1, count do
  if not only or only[i] then
    math.randomseed(seed, i)
    if log then io.stderr:write(i, "\n") end
    depth = 0
    if i % 40 == 1 then pcall(build) else call_something() end
    if random(50) == 1 then collectgarbage() end
    if random(400) == 1 then
      pool, classes, tables, kinds = {}, {}, {}, {}
      pcall(ns.plot.close)
      collectgarbage()
    end
  end
end
io.stderr:write(("%d calls, %d with those from inside of callbacks, %d without an error\n"):format(count, made, good_calls))

-- nslua: nonsmooth dynamical systems. Returns one table and sets no global.
local _ENV = require "nslua.base.env"()
local core = require "nslua.core"
local lazy = require "nslua.base.lazy"
require "nslua.sweep.settings" -- it keeps the words that the script was started with

local hidden = { class_support = true, class_callbacks = true, dae_support = true, adjoint = true, engine = true,
  process_support = true, thin_support = true, curve_support = true, compile_support = true, solution_methods = true,
  result_meta = true,
  result_fields_meta = true, file_support = true, on = true, pcall = true, number_support = true,
  graph_support = true, simulation_methods = true, motion_support = true, versions = true, optimise_support = true,
  worker_support = true, journal_support = true, exchange_support = true, mode = true,
  discrete_support = true, contact_support = true }

local names -- read when a name is asked for that is not there
local function strict(who)
  return function(...)
    names = names or require "nslua.base.names"
    return names.strict(who)(...)
  end
end
core.on("unknown", function(class, what, known, name, sure)
  local caller = debug.getinfo(3, "S")
  if name:find "^_" or not caller or require "nslua.base.where".is_ours(caller) then return nil end
  names = names or require "nslua.base.names"
  return names.of_object(class, what, known, name, sure)
end)

core.on("option", function(...) return require "nslua.base.option_tables".respell(...) end)
core.on("events", function(...) return require "nslua.base.event_options".lists(...) end)
core.on("compile", function(simulation) require "nslua.compile".again(simulation) end)
core.on("compile one", function(...) return require "nslua.compile".one(...) end)
core.on("lost path", function(...) return require "nslua.compile".lose(...) end)
core.on("contacts", function(...)
  return require "nslua.contact.links".relink(core.graph_support, core.contact_support, ...)
end)
core.on("managers", function(...)
  local links = package.loaded["nslua.contact.links"]
  if links then links.clone(core.graph_support, core.contact_support, ...) end
end)
core.on("idle managers", function(...)
  local links = package.loaded["nslua.contact.links"]
  return links and links.idle(core.graph_support, core.contact_support, ...)
end)
core.on("columns", function(...) return require "nslua.base.column_names"(...) end)

local ns = {}
for name, value in pairs(core) do
  if not hidden[name] then ns[name] = value end
end

ns.class = require "nslua.class"(core)

-- The rest is read when it is first used.
local drawing -- what nslua.animation has for solutions
ns.animation = lazy.table(function()
  local animation
  animation, drawing = require "nslua.animation"(core)
  return animation
end, strict "ns.animation")
ns.contact = lazy.table(function() return require "nslua.contact"(ns, core) end, strict "ns.contact")
ns.control = lazy.table(function() return require "nslua.control" end, strict "ns.control")
ns.design = lazy.table(function() return require "nslua.sweep.design" end, strict "ns.design")
ns.dynamics = lazy.table(function() return require "nslua.dynamics" end, strict "ns.dynamics")
ns.fmi = lazy.table(function() return require "nslua.fmi" end, strict "ns.fmi")
ns.mechanics = lazy.table(function() return require "nslua.mechanics"(ns, core.motion_support) end,
  strict "ns.mechanics")
lazy.functions(ns,
  "KneeJointR PivotJointR PrismaticJointR CylindricalJointR PlanarJointR FixedJointR JointStopR JointFrictionR "
    .. "CouplerJointR",
  function() return require "nslua.mechanics.joint_relations"(ns).classes end)
ns.notebook = lazy.table(function() return require "nslua.notebook".notebook end, strict "ns.notebook")
lazy.functions(ns, "display progress interact", function() return require "nslua.notebook" end)
ns.plot = lazy.table(function() return require "nslua.plot" end, strict "ns.plot")
ns.polygon = lazy.table(function() return require "nslua.contact.polygon" end, strict "ns.polygon")
lazy.functions(ns, "quad", function() return { quad = require "nslua.analysis.quadrature" } end)
lazy.functions(ns, "spline interp1 interp2", function() return require "nslua.analysis.curve" end)
lazy.functions(ns, "polyfit polyval polyroots", function() return require "nslua.analysis.polynomial" end)
lazy.functions(ns, "histogram unique", function() return require "nslua.analysis.histogram" end)
lazy.functions(ns, "std var quantile median argsort", function() return require "nslua.analysis.statistics" end)
for file, list in pairs { signals = "clock pwm sawtooth table_of_time follow", sensor = "LinearSensor",
  controller = "Actuator PID", hysteresis = "Hysteresis", surface = "SlidingSurfaceR",
  sliding = "LinearSMC ExplicitLinearSMC LinearSMCOT2 Twisting RegularTwisting ExplicitTwisting SuperTwisting "
    .. "ExplicitSuperTwisting",
  observer = "LuenbergerObserver SlidingReducedOrderObserver",
  manager = "ControlManager ControlZOHSimulation ControlLsodarSimulation" } do
  lazy.functions(ns, list, function() return require("nslua.control." .. file) end)
end
lazy.functions(ns, "least_squares", function()
  return { least_squares = require "nslua.optimise.least_squares" }
end)
lazy.functions(ns, "circuit", function() return { circuit = require "nslua.circuit"(ns) } end)
for noun, domain in pairs { driveline = "rotation", translational = "translation" } do
  lazy.functions(ns, noun, function() return { [noun] = require "nslua.driveline"(ns, noun, domain) } end)
end
lazy.functions(ns, "fit", function() return { fit = require "nslua.optimise.fit" } end)
lazy.functions(ns, "optimal_control", function()
  return { optimal_control = require "nslua.optimise.control" }
end)
for name, file in pairs { sweep = "sweep", montecarlo = "sweep.montecarlo", sobol_indices = "sweep.sensitivity",
  basins = "sweep.basins" } do
  lazy.functions(ns, name, function() return require("nslua." .. file) end)
end
lazy.functions(ns, "minimize", function() return { minimize = require "nslua.optimise.minimise" } end)
lazy.functions(ns, "dae consistent diagnose", function() return require "nslua.dae"(ns, core.dae_support) end)
lazy.functions(ns, "load save", function() return require "nslua.files"(ns, core.file_support) end)
lazy.functions(ns.numerics, "load_dump replay", function() return require "nslua.dump"(ns) end)
lazy.functions(ns.numerics, "global_friction", function() return require "nslua.global_friction"(ns) end)
lazy.functions(ns.numerics, "model", function() return { model = require "nslua.model"(ns) } end)

local animation, methods = ns.animation, core.solution_methods
lazy.functions(methods, "plot", function() return { plot = require "nslua.plot".solution } end)
lazy.functions(methods, "animate animate3d html", function()
  lazy.settle(animation)
  return drawing
end)
function core.recorder(...)
  lazy.settle(animation)
  return drawing.recorder(...)
end
function methods.save(self, file) return ns.save(file, self) end
lazy.functions(core.simulation_methods, "compile", function() return require "nslua.compile" end)
lazy.functions(core.simulation_methods, "gradient", function()
  return { gradient = require "nslua.gradient" }
end)
local result_methods = {}
lazy.functions(result_methods, "names column plot html save sensitivity", function()
  local results = require "nslua.results"
  results.write = ns.save
  return results.methods
end)
lazy.functions(core.result_meta, "__tostring", function() return require "nslua.results" end)
lazy.functions(core.result_fields_meta, "__tostring", function()
  return { __tostring = require "nslua.results".fields }
end)
core.result_meta.__index, core.result_meta.__name = result_methods, "result"
local optional = { t = true, y = true, sol = true, t_events = true, y_events = true, values = true, flag = true,
  errors = true, q = true, v = true, lambda = true, S = true,
  sensitivities = true, dt_events = true } -- fields that only some results have
setmetatable(result_methods, { __index = function(known, name)
  return require "nslua.base.where".missing(known, name, "result", optional)
end })
ns.help = function(...) return require "nslua.help"(...) end

setmetatable(ns.numerics, { __index = strict "ns.numerics" })
return setmetatable(ns, { __index = strict "ns" })

-- nslua.base.names: messages about a name that nslua does not have. For a name of Siconos the message says what to
-- use in its place; for another name, which name of nslua is nearest.
--
-- docs/porting.md shows the two lists line by line under "Names that are not here"; a spec compares them.

local names = {}

-- Names of siconos.kernel and its companions: { name, what to use here }. A name that ends in * stands for every
-- name that begins with the part before *.
names.module = {
  { "Model", "`ns.NonSmoothDynamicalSystem(t0, T)`" },
  { "SiconosVector", "`ns.vector { ... }`" },
  { "SimpleMatrix", "`ns.matrix { { ... }, ... }`" },
  { "array", "`ns.vector { ... }`, `ns.matrix { { ... }, ... }`" },
  { "LsodarOSI", "`ns.RungeKuttaOSI(rtol, atol)` with `ns.EventDriven`" },
  { "Hem5OSI", "`ns.RungeKuttaOSI(rtol, atol)` with `ns.EventDriven`" },
  { "NewMarkAlphaOSI", "`ns.RungeKuttaOSI(rtol, atol)` with `ns.EventDriven`" },
  { "ZeroOrderHoldOSI", "`ns.ControlZOHSimulation(t0, T, h)`, whose inputs are held exactly" },
  { "GlobalFrictionContact", "`ns.FrictionContact(dim)` with `ns.MoreauJeanGOSI`" },
  { "OSNSMultipleImpact", "`ns.MultipleImpactNSL` with `ns.EventDriven`" },
  { "MLCPProjectOnConstraints", "nothing: `ns.TimeSteppingDirectProjection` has it by itself" },
  { "NewtonEulerFrom1DLocalFrameR", "`ns.NewtonEuler1DR`" },
  { "NewtonEulerFrom3DLocalFrameR", "`ns.NewtonEuler3DR`" },
  { "SpaceFilter", "`ns.contact`; in space `ns.contact.space`" },
  { "MechanicsHdf5Runner", '`sol:save "run.h5"`; `sol:animate { ... }`' },
  { "EventsManager", "nothing: `simu:events()` lists what happened" },
  { "FrictionContactProblem", "`ns.numerics.fc3d { W = W, q = q, mu = mu }`, `ns.numerics.fc2d`" },
  { "SolverOptions", "options of the problem: `ns.LCP { tolerance = 1e-12, solver = \"lemke\" }`" },
  { "SICONOS_LCP_LEMKE", '`ns.LCP { solver = "lemke" }`' },
  { "SICONOS_LCP_PIVOT", '`ns.LCP { solver = "pivot" }`' },
  { "SICONOS_LCP_BARD", '`ns.LCP { solver = "principal" }`' },
  { "SICONOS_LCP_MURTY", '`ns.LCP { solver = "principal" }`' },
  { "SICONOS_LCP_PGS", '`ns.LCP { solver = "pgs" }`' },
  { "SICONOS_LCP_NSGS", '`ns.LCP { solver = "pgs" }`' },
  { "SICONOS_LCP_RPGS", '`ns.LCP { solver = "pgs" }`' },
  { "SICONOS_LCP_PSOR", '`ns.LCP { solver = "psor" }`' },
  { "SICONOS_LCP_ENUM", '`ns.LCP { solver = "enumerate" }`' },
  { "SICONOS_LCP_NEWTONMIN", '`ns.LCP { solver = "newton_min" }`' },
  { "SICONOS_LCP_NEWTON_MIN_FBLSA", '`ns.LCP { solver = "newton_min" }`' },
  { "SICONOS_LCP_NEWTON_FB_FBLSA", '`ns.LCP { solver = "newton_fb" }`' },
  { "SICONOS_LCP_*", 'the solver by its name: `ns.LCP { solver = "pivot" }`; nothing for the default' },
  { "SICONOS_RELAY_*", 'the solver by its name: `ns.Relay { solver = "lemke" }`; nothing for the default' },
  { "SICONOS_MLCP_*", 'the solver by its name: `ns.MLCP { solver = "pivot" }`; nothing for the default' },
  { "SICONOS_AVI_*", "nothing: `ns.AVI()` takes its solver by itself" },
  { "SICONOS_FRICTION_*", "nothing: `ns.FrictionContact(dim)` takes its solver by itself; `ns.numerics.fc3d` has "
    .. "a choice" },
  { "SICONOS_GLOBAL_FRICTION_*", "nothing: `ns.FrictionContact(dim)` takes its solver by itself" },
  { "SICONOS_GENERIC_MECHANICAL_*", "nothing: `ns.GenericMechanical()` takes its solver by itself" },
  { "SICONOS_NCP_*", "`ns.numerics.mcp { F = F, z0 = z0 }`: its bounds are 0 and infinity when none are given" },
  { "SICONOS_MCP_*", "`ns.numerics.mcp { F = F, lower = lower }`" },
  { "SICONOS_TS_*", "nothing: a linear model takes one iteration; `osi:setLinearlyImplicit(true)` for one of "
    .. "nonlinear mechanics" },
  { "SICONOS_OSNSP_*", "nothing: accelerations, impacts and positions have their problems by themselves" },
  { "SICONOS_DPARAM_*", "options of the problem: `ns.LCP { tolerance = 1e-12 }`" },
  { "SICONOS_IPARAM_*", "options of the problem: `ns.LCP { max_iterations = 1000 }`" },
  { "SICONOS_*", 'none: solvers are named by options, `ns.LCP { solver = "lemke" }`' },
}

-- Methods of any of its classes.
names.methods = {
  { "setNewtonOptions", "nothing: a linear model takes one iteration; `osi:setLinearlyImplicit(true)` for one of "
    .. "nonlinear mechanics" },
  { "numericsSolverOptions", 'options of the problem: `ns.LCP { tolerance = 1e-12, solver = "pivot" }`' },
  { "setSolverId", 'options of the problem: `ns.LCP { solver = "pivot" }`' },
  { "setNumericsSolverOptions", 'options of the problem: `ns.LCP { tolerance = 1e-12, solver = "pivot" }`' },
  { "setKeepLambdaAndYState", "nothing: a step starts from the multipliers of the last one" },
  { "setMStorageType", "nothing: sparse matrices are kept sparse" },
  { "setNumericsMatrixStorageType", "nothing: sparse matrices are kept sparse" },
  { "setMaxSize", "nothing: room is made for the model" },
  { "insertIntegrator", "`ns.TimeStepping(nsds, td, osi, osnspb)`" },
  { "insertNonSmoothProblem", "`ns.TimeStepping(nsds, td, osi, osnspb)`" },
  { "associate", "`ns.TimeStepping(nsds, td, osi, osnspb)`: one integrator for all systems" },
  { "setNonSmoothDynamicalSystemPtr", "`ns.TimeStepping(nsds, td, osi, osnspb)`" },
  { "setSimulation", "`ns.TimeStepping(nsds, td, osi, osnspb)`" },
  { "setUseRelativeConvergenceCriteron", "nothing: the test of Newton's method is relative" },
  { "setNewtonUpdateInteractionsPerIteration", "nothing: relations are evaluated in every iteration" },
  { "setUseGamma", "nothing: gamma alone is enough" },
  { "setIsWSymmetricDefinitePositive", "nothing: the factors are chosen by the matrix" },
  { "eventsManager", "`simu:events()` lists what happened" },
  { "processEvents", "`simu:nextStep()`" },
  { "number", "`ds:name()`" },
  { "setConstraintTol", "`simu:setConstraintTolerance(tolerance, iterations)`" },
  { "setConstraintTolUnilateral", "`simu:setConstraintTolerance(tolerance, iterations)`" },
  { "setProjectionMaxIteration", "`simu:setConstraintTolerance(tolerance, iterations)`" },
  { "topology", "none: `nsds:display()` shows the graph" },
  { "setX0Ptr", "`ds:setX0(x0)`, which copies; `ds:x0()` is a live view" },
  { "setXPtr", "`ds:setX(x)`, which copies; `ds:x()` is a live view" },
  { "setQPtr", "`ds:setQ(q)`, which copies: the state stands in the engine's own vectors; `ds:q()` is a live view" },
  { "setVelocityPtr", "`ds:setVelocity(v)`, which copies: the state stands in the engine's own vectors; "
    .. "`ds:velocity()` is a live view" },
  { "setQ0Ptr", "`ds:setQ0(q0)`, which copies; `ds:q0()` is a live view" },
  { "setVelocity0Ptr", "`ds:setVelocity0(v0)`, which copies; `ds:velocity0()` is a live view" },
  { "setPPtr", "`ds:setP(p)`, which copies; `ds:p()` is a live view" },
  { "setRhs", "none: nothing takes a right-hand side beside the system's own; "
    .. "`ds:rhs()` is a view to write to" },
  { "setRhsPtr", "none: nothing takes a right-hand side beside the system's own; "
    .. "`ds:rhs()` is a view to write to" },
  { "forcesMemory", "none: forces are not kept from step to step; "
    .. "`ds:computeForces(t, ds:qMemory(), ds:velocityMemory())` gives them, t being the start of the step" },
}

-- ---- the nearest name ----

-- The number of insertions, deletions, changes and swaps of neighbours that turn a into b (the distance of Damerau
-- and Levenshtein); nil when it is more than `most`.
local function distance(a, b, most)
  if math.abs(#a - #b) > most then return nil end
  local rows = { {}, {}, {} } -- the row before the last one, the last one, this one
  for j = 0, #b do rows[2][j] = j end
  for i = 1, #a do
    local before, last, row = rows[1], rows[2], rows[3]
    row[0] = i
    for j = 1, #b do
      local same = a:byte(i) == b:byte(j)
      local best = math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (same and 0 or 1))
      if i > 1 and j > 1 and a:byte(i) == b:byte(j - 1) and a:byte(i - 1) == b:byte(j) then
        best = math.min(best, before[j - 2] + 1)
      end
      row[j] = best
    end
    rows = { last, row, before }
  end
  local found = rows[2][#b]
  return found <= most and found or nil
end

-- The name in the list that is nearest to `name`; nil when none is near. Capitals and underscores are ignored.
function names.nearest(name, list)
  local function plain(s) return s:lower():gsub("_", "") end
  local wanted, best, least = plain(name), nil, nil
  local most = math.max(1, #wanted // 3)
  for _, candidate in ipairs(list) do
    local other = plain(candidate)
    local far = distance(wanted, other, math.min(most, #wanted - 1)) -- a letter at least is the same
    local held = #wanted >= 4 and #other >= 4 and (other:find(wanted, 1, true) or wanted:find(other, 1, true))
    if not far and held then far = most + math.abs(#wanted - #other) end
    if far and (not least or far < least or far == least and candidate < best) then best, least = candidate, far end
  end
  return best
end

-- ---- messages ----

-- What to use in place of a name of the list, as plain text; nil when the name is not in the list.
function names.instead(list, name)
  for _, entry in ipairs(list) do
    local stem = entry[1]:match "^(.*)%*$"
    if entry[1] == name or stem and name:sub(1, #stem) == stem then return (entry[2]:gsub("`", "")) end
  end
end

local function sorted_keys(t)
  local list = {}
  for key in next, t do
    if type(key) == "string" and not key:find "^_" then list[#list + 1] = key end
  end
  table.sort(list)
  return list
end

-- The end of a message, from the text of an entry: "there is none here: ...", "nothing is needed in its place: ..."
-- or "in its place: ...".
local function place(instead)
  local none, nothing = instead:match "^none: (.*)", instead:match "^nothing: (.*)"
  if none then return "there is none here: " .. none end
  if nothing then return "nothing is needed in its place: " .. nothing end
  return "in its place: " .. instead
end

local habits = { T = "transpose", inverse = "inv", len = "size", length = "size" } -- names that other tools have

local function message(who, what, name, instead, list)
  local text = ("%s: it has no %s'%s'"):format(who, what, name)
  if instead then return ("%s; %s"):format(text, place(instead)) end
  local near = names.nearest(name, list)
  for _, known in ipairs(list) do
    if known == habits[name] then near = known end
  end
  return near and ("%s; the nearest is '%s'"):format(text, near) or text, near == nil
end

--- The message about a name of Siconos, of its module or of a method; nil when neither list has the name.
function names.of_siconos(name)
  local instead = names.instead(names.module, name) or names.instead(names.methods, name)
  return instead and ("'%s' is a name of Siconos; %s"):format(name, place(instead)) or nil
end

-- The message for the table `t` of a module, which does not have the name.
function names.of_module(who, t, name)
  return (message(who, "", name, names.instead(names.module, name), sorted_keys(t)))
end

-- The message for an object of a class, whose methods, or what else `what` says, are in the table `known`. When it is
-- not `sure` that the name is wrong, nil unless a name that is known is near.
function names.of_object(class, what, known, name, sure)
  local instead = names.instead(names.methods, name)
  local text, open = message(class, what, name, instead, sorted_keys(known))
  return (sure or instead or not open) and text or nil
end

local MOST = 16 -- names in a message: two lines of a terminal

-- The same for a class that is written in Lua. When no method has a name that is near, it lists the methods.
function names.of_class(class, methods, name)
  local list = sorted_keys(methods)
  local text, open = message(class, "method ", name, names.instead(names.methods, name), list)
  if not open then return text end
  return ("%s; it has %s%s"):format(text, table.concat(list, ", ", 1, math.min(#list, MOST)),
    #list > MOST and (" and %d more"):format(#list - MOST) or "")
end

-- An __index for the table of a module: it raises for a name that the table does not have. Two kinds of keys give
-- nil as in any table: names that begin with an underscore, and keys that are not strings.
function names.strict(who)
  return function(t, name)
    if type(name) ~= "string" or name:find "^_" then return nil end
    error(names.of_module(who, t, name), 2)
  end
end

return names

-- Laws made from their tables, and a step that shows what one does.
local ns = require "nslua"
local internal = require "nslua.internal"

local laws = {}

-- The classes, as a list, and by name.
laws.classes = internal.law_classes()
for _, class in ipairs(laws.classes) do laws.classes[class.name] = class end

function laws.field(class, name)
  for _, field in ipairs(class.fields) do
    if field.name == name then return field end
  end
end

-- A number of a field's range, another one for each `which`.
function laws.number(field, which)
  local least, most = math.max(field.least, -10), math.min(field.most, 10)
  if least == most then return least end
  return least + (most - least) * (0.25 * which + 0.1) % (most - least)
end

-- Arguments for the constructor of a class: 2 components, other counts 1, vectors that grow, matrices with 2 rows.
function laws.arguments(class)
  local list, vectors = {}, 0
  for i, name in ipairs(class.arguments) do
    local field = laws.field(class, (name:gsub("%?", "")))
    if field.type == "count" then
      list[i] = math.max(math.tointeger(field.least), i == 1 and 2 or 1)
    elseif field.type == "number" then
      list[i] = laws.number(field, 1)
    elseif field.type == "vector" then
      vectors = vectors + 1
      list[i] = { vectors - 3, vectors - 3 }
    else
      list[i] = { { 1, 0.5 }, { -1, 1 } }
    end
  end
  return list
end

function laws.make(class, arguments)
  return ns[class.name](table.unpack(arguments or laws.arguments(class)))
end

-- A simulation of one system with as many states as the law has components, y = x or the velocities of y = q.
function laws.simulation(law, problem, osi)
  local n, class = law:size(), laws.classes[getmetatable(law)]
  local nsds = ns.NonSmoothDynamicalSystem(0, 1)
  local ds, relation
  if class.goes_with.first_order then
    ds, relation = ns.FirstOrderLinearTIDS(ns.ones(n), ns.zeros(n, n)), ns.FirstOrderLinearTIR(ns.eye(n), ns.eye(n))
  else
    ds, relation = ns.LagrangianLinearTIDS(ns.zeros(n), -1 * ns.ones(n), ns.eye(n)), ns.LagrangianLinearTIR(ns.eye(n))
  end
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(law, relation, "only"), ds)
  osi = osi or (class.goes_with.first_order and ns.EulerMoreauOSI or ns.MoreauJeanOSI)(0.5)
  local needs = internal.law_table(law).needs
  if needs.exchange then return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), ns.RungeKuttaOSI(1e-8, 1e-8), problem), ds end
  return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), osi, problem or (needs.polyhedron and ns.AVI() or nil)), ds
end

-- One step of a mass of each component with unit masses, from positions q and velocities v, h = 0.1: velocities, impulses.
function laws.impact(law, q, v, osi)
  local n = law:size()
  local ds = ns.LagrangianLinearTIDS(q, v, ns.eye(n))
  local nsds = ns.NonSmoothDynamicalSystem(0, 1)
  local inter = ns.Interaction(law, ns.LagrangianLinearTIR(ns.eye(n)))
  nsds:insertDynamicalSystem(ds)
  nsds:link(inter, ds)
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), osi or ns.MoreauJeanOSI(0.5))
  simu:energy()
  simu:computeOneStep()
  return ds:velocity():totable(), inter:lambda(1):totable(), simu
end

return laws

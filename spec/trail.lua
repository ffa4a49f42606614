-- The steps of a simulation, to the last bit.
local trail = {}

-- All numbers of systems (states, inputs) and of interactions (outputs, multipliers), as text.
function trail.bits(systems, interactions)
  local parts = {}
  local function add(v)
    for i = 1, #v do parts[#parts + 1] = ("%a"):format(v[i]) end
  end
  for _, ds in ipairs(systems) do add(ds:x()) add(ds:r()) end
  for _, inter in ipairs(interactions) do add(inter:y(0)) add(inter:lambda()) end
  return table.concat(parts, " ")
end

-- The number of the step, then the numbers of all objects of a simulation.
function trail.state(simu)
  local nsds, systems, interactions = simu:nsds(), {}, {}
  for i = 1, nsds:numberOfDynamicalSystems() do systems[i] = nsds:dynamicalSystem(i) end
  for i = 1, nsds:numberOfInteractions() do interactions[i] = nsds:interaction(i) end
  return simu:step() .. " " .. trail.bits(systems, interactions)
end

-- The results of state(simu) (default trail.state) after each remaining step; and the first line of a step's error, if any.
function trail.of(simu, state)
  local rows = {}
  while simu:hasNextEvent() do
    local good, err = pcall(simu.computeOneStep, simu)
    if not good then return rows, tostring(err):match "^[^\n]*" end
    simu:nextStep()
    rows[#rows + 1] = (state or trail.state)(simu)
  end
  return rows
end

return trail

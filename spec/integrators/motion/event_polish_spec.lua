-- Bodies between many contacts with friction: impulses that are exact, and forces that stay when they are not unique.
local ns = require "nslua"

-- A body of 2 to 4 coordinates among 2 to 4 contacts in random directions, which all touch it.
local function wedged(seed, pushed)
  math.randomseed(seed)
  local n, contacts = math.random(2, 4), math.random(2, 4)
  local function row()
    local x = {}
    for j = 1, n do x[j] = math.random(-8, 8) / 4 end
    return x
  end
  local v, force, rows = row(), row(), {}
  local ds = ns.LagrangianLinearTIDS(ns.zeros(n), v, ns.eye(n))
  if pushed then ds:setFExtPtr(force) end
  local nsds = ns.NonSmoothDynamicalSystem(0, 1)
  nsds:insertDynamicalSystem(ds)
  for i = 1, contacts do
    local law = ns.NewtonImpactFrictionNSL(0, 0, 1 + math.random(0, 8) / 4, 2)
    rows[2 * i - 1], rows[2 * i] = row(), row()
    nsds:link(ns.Interaction(law, ns.LagrangianLinearTIR { rows[2 * i - 1], rows[2 * i] }, "c" .. i), ds)
  end
  local integrator = ns.RungeKuttaOSI()
  integrator:setMaxEvents(500)
  local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), integrator)
  simu:energy()
  return simu, ds, rows
end

local seeds = 60

describe("a body in a wedge of contacts with friction #once", function()
  it("has velocities after an impact that are 0 to rounding, or not 0", function()
    local stopped, ended = 0, 0
    for seed = 1, seeds do
      local simu, ds, rows = wedged(seed)
      if pcall(simu.computeOneStep, simu) then
        local v = ds:velocity()
        ended = ended + 1
        for _, row in ipairs(rows) do
          local u = 0
          for j = 1, #row do u = u + row[j] * v[j] end
          u = math.abs(u)
          assert.is_true(u <= 3e-14 or u >= 1e-6, ("seed %d: u = %g"):format(seed, u))
          if u < 1e-6 then stopped = stopped + 1 end
        end
      end
    end
    assert.is_true(ended >= 0.9 * seeds)
    assert.is_true(stopped >= 3 * seeds)
  end)

  it("rests on forces that are not unique, without events that do not end, or the run says why it can not", function()
    local ended = 0
    for seed = 1, seeds do
      local simu = wedged(seed, true)
      local start = simu:energy().total
      local good, message = pcall(simu.run, simu)
      if good then
        ended = ended + 1
        assert.is_true(#simu:events() <= 400, ("seed %d: %d events"):format(seed, #simu:events()))
        local e = simu:energy()
        local exchanged = start + math.abs(e.friction) + math.abs(e.impacts) + math.abs(e.forces)
        assert.is_true(math.abs(e.numerical) <= 1e-9 * exchanged, ("seed %d: energy %g"):format(seed, e.numerical))
      else
        message = tostring(message)
        assert.is_true((message:find("not unique", 1, true) or message:find("Painleve", 1, true)) ~= nil, message)
      end
    end
    assert.is_true(ended >= 0.8 * seeds)
  end)
end)

--
-- bench_heap.lua
-- Disks poured into a box, with friction: time of a step while they land and afterwards; its growth with the size.
--
local ns = require "nslua"
local directory = arg[0]:match("^(.*/)[^/]*$") or "./"
local common = dofile(directory .. "common.lua")

local R, g, h, mu, tolerance = 0.05, 9.81, 2e-3, 0.4, 1e-4

-- n disks in loose rows above the floor of a box, radii between 0.8 R and R.
local function pour(n, T)
  local columns = math.ceil(math.sqrt(n))
  local nsds, spacing = ns.NonSmoothDynamicalSystem(0, T), 2.2 * R
  local contacts = ns.contact.manager { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, mu, 2), reach = 0.6 * R }
  local systems = {}
  for i = 0, n - 1 do
    local row, radius = i // columns, R * (0.8 + 0.02 * (i * 7 % 11))
    local m = 1000 * math.pi * radius ^ 2
    local ds = ns.LagrangianLinearTIDS({ spacing * (i % columns + 0.5 + 0.5 * (row % 2)), spacing * (row + 0.5), 0 },
      { 0, 0, 0 }, ns.diag { m, m, m * radius ^ 2 / 2 })
    ds:setFExtPtr { 0, -m * g, 0 }
    nsds:insertDynamicalSystem(ds)
    contacts:add_disk(ds, radius)
    systems[#systems + 1] = ds
  end
  contacts:add_line(ns.contact.line({ 0, 0 }, { 0, 1 }))
  contacts:add_line(ns.contact.line({ 0, 0 }, { 1, 0 }))
  contacts:add_line(ns.contact.line({ (columns + 0.5) * spacing, 0 }, { -1, 0 }))
  local osi, osnspb = ns.MoreauJeanOSI(0.5), ns.FrictionContact(2, { tolerance = tolerance })
  osi:setLinearlyImplicit(true)
  contacts:update()
  return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, h), osi, osnspb), contacts, osnspb, systems
end

-- A run to rest: seconds of a step in the first half (landing) and the second, the slowest step, the final speed.
local function measure(n)
  local T = 2.5 * math.sqrt(2 * 2.2 * R * math.sqrt(n) / g)
  local simu, contacts, osnspb, systems = pour(n, T)
  local half, spent, slowest, sweeps, rows = simu:numberOfSteps() // 2, { 0, 0 }, 0, 0, 0
  local last = os.clock()
  for k in simu:steps() do
    contacts:update()
    local now = os.clock()
    local part = k <= half and 1 or 2
    spent[part], slowest, last = spent[part] + now - last, math.max(slowest, now - last), now
    local info = osnspb:info()
    if info then sweeps = sweeps + info.iterations end
    rows = math.max(rows, osnspb:size())
  end
  local fastest = 0
  for _, ds in ipairs(systems) do fastest = math.max(fastest, math.abs(ds:velocity()[2])) end
  local steps = simu:numberOfSteps()
  return { landing = spent[1] / half, resting = spent[2] / (steps - half), slowest = slowest, steps = steps,
           rows = rows, sweeps = sweeps / steps, fastest = fastest }
end

local rows, before = {}, nil
for _, n in ipairs { 100, 300, 1000 } do
  local m = measure(n)
  local exponent = "-"
  if before then
    local step = (m.landing + m.resting) / (before.landing + before.resting)
    exponent = ("%.2f"):format(math.log(step) / math.log(n / before.n))
  end
  rows[#rows + 1] = { n, m.steps, m.rows, ("%.1f"):format(m.landing * 1e3),
                      ("%.1f"):format(m.resting * 1e3), ("%.0f"):format(m.slowest * 1e3), ("%.0f"):format(m.sweeps),
                      ("%.1e"):format(m.fastest), exponent }
  before = { n = n, landing = m.landing, resting = m.resting }
end
common.table(("Disks poured into a box, milliseconds a step, contacts solved to %g"):format(tolerance), {
  "disks", "steps", "rows at most", "landing", "after", "slowest", "sweeps a step", "speed left", "exponent" }, rows)

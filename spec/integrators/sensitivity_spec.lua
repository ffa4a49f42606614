local ns = require "nslua"
local relays = require "random_relays"

-- An EventDriven run of one system and its links { interaction, ds }, on a grid of `steps` steps up to T.
local function run(T, steps, ds, links, sensitivities)
  local nsds = ns.NonSmoothDynamicalSystem(0, T)
  nsds:insertDynamicalSystem(ds)
  for _, link in ipairs(links) do nsds:link(link, ds) end
  return ns.EventDriven(nsds, ns.TimeDiscretisation(0, T / steps), ns.RungeKuttaOSI()):run { sensitivities = sensitivities }
end

-- x' = a - b sign x from x0: the parameters are b of the system and the bounds -b, b of lambda.
local function sign(x0, sensitivities)
  local ds, law = ns.FirstOrderLinearTIDS({ x0 }, { { 0 } }, { 2 }), ns.RelayNSL(1, -1, 1)
  return run(2, 4, ds, { ns.Interaction(law, ns.FirstOrderLinearTIR({ { 1 } }, { { 1 } }), "sign") }, sensitivities(ds, law))
end

describe("the derivatives of a run", function()
  it("are right through a switch", function()
    local sol = sign(-1, function(ds, law) return { "x0", { ds, "b" }, { law, "lb" }, { law, "ub" } } end)
    local S = sol.S[#sol]
    assert.near(1 / 3, S[1][1], 1e-10)
    assert.near(1.7777777777777777, S[1][2], 1e-10)
    assert.near(-1.5555555555555556, S[1][4] - S[1][3], 1e-10)
    assert.near(-1 / 3, sol.events[1].dt[1], 1e-10)
    assert.near(1, sol.S[1][1][1], 0)
  end)

  it("have the time of an event that is exactly at a time of the grid", function()
    for _, h in ipairs { 0.5, 1, 0.75 } do -- x' = z t - sign x slides until z t = 1, at t = 2
      local ds = ns.FirstOrderNonLinearDS { x0 = { 0.6 }, f = function(t, _, z, f) f[1] = z[1] * t end, z = { 0.5 } }
      local relation = ns.FirstOrderLinearTIR({ { 1 } }, { { 1 } })
      local sol = run(4, math.floor(4 / h), ds, { ns.Interaction(ns.RelayNSL(1), relation, "sign") }, { "z", "x0" })
      local leave = sol.events[#sol.events]
      assert.equal("leave", leave.kind)
      assert.near(-4, leave.dt[1], 1e-8)
      assert.near(0, leave.dt[2], 1e-9)
    end
    for _, x0 in ipairs { -1.5, -1.5 * (1 + 2 ^ -52), -1.5 * (1 - 2 ^ -52), -1.5 * (1 + 1e-14), -1.5 * (1 - 1e-14) } do
      local sol = sign(x0, function(_, law) return { "x0", { law, "ub" } } end) -- x' = 3 up to t = 1/2
      assert.near(1 / 3, sol.S[#sol][1][1], 1e-10)
      assert.near(-1 / 3, sol.events[1].dt[1], 1e-10)
      assert.near(1 / 6, sol.S[#sol][1][2], 1e-10)
    end
  end)

  it("begin at 0 where the rates by a parameter do, in stiff models", function()
    local ds = ns.FirstOrderLinearTIDS({ 1, 0 }, { { -1e4, 0 }, { 1, -1 } })
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    local sol = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 1), ns.RadauOSI(1e-12)):run {
      sensitivities = { { ds, "A", 2, 2 }, "x0" } }
    local a, S = 1e4, sol.S[#sol] -- x2 = (exp(b t) - exp(-a t)) / (a + b), b = -1
    assert.near(math.exp(-1) / (a - 1) - math.exp(-1) / (a - 1) ^ 2, S[2][1], 1e-12)
    assert.near(math.exp(-1), S[2][3], 1e-9)
    assert.near(0, S[1][2], 1e-15)
  end)

  it("leave the run as it is where a guard is 0 at the start", function()
    local one = require("random_sensitive").draw(243)
    local simu, parameters = one.build(one.p)
    local list = {}
    for _, terms in ipairs(parameters) do list[#list + 1] = { table.unpack(terms[1], 2) } end
    local plain, sol = one.build(one.p):run(), simu:run { sensitivities = list }
    for i, event in ipairs(plain.events) do assert.equal(event.t, sol.events[i].t) end
  end)

  it("have a row on both sides of an event", function()
    local sol = sign(-1, function() return { "x0" } end)
    local slopes = sol:sensitivity "x0[1]"
    for k = 1, #sol do
      local after = sol.t[k] > sol.events[1].t or (k > 1 and sol.t[k] == sol.t[k - 1])
      assert.near(after and 1 / 3 or 1, slopes[k][1], 1e-10)
    end
  end)

  it("follow a guard that moves in time", function()
    local ds = ns.FirstOrderNonLinearDS({ -1 }, function(t, _, _, f) f[1] = math.cos(t) + 2 end)
    local relation = ns.FirstOrderNonLinearR {
      h = function(t, x, _, _, y) y[1] = x[1] - math.sin(2 * t) / 2 end,
      g = function(_, _, lambda, _, r) r[1] = lambda[1] end,
    }
    local sol = run(2, 3, ds, { ns.Interaction(ns.RelayNSL(1, -1, 1), relation) }, { "x0" })
    assert.near(0.3276276878016179, sol.events[1].t, 1e-10)
    assert.near(0.36586771714650107, sol.S[#sol][1][1], 1e-9)
  end)

  it("agree with the monodromy of the unit disc", function()
    local ds = ns.FirstOrderNonLinearDS({ math.exp(-1), 0 }, function(_, x, _, f) f[1], f[2] = x[1], x[2] end)
    local relation = ns.FirstOrderNonLinearR {
      h = function(_, x, _, _, y) y[1] = x[1] * x[1] + x[2] * x[2] - 1 end,
      g = function(_, x, lambda, _, r)
        local w = 2 * math.pi * lambda[1]
        r[1], r[2] = w * x[2], -w * x[1]
      end,
    }
    local sol = run(1.7, 4, ds, { ns.Interaction(ns.RelayNSL(1, -1, 1), relation) }, { "x0" })
    local exact = { { 63.72940157006457, 5.206033336759013 }, { -26.462586699119026, -1.6915427703581223 } }
    for i = 1, 2 do
      for j = 1, 2 do assert.near(exact[i][j], sol.S[#sol][i][j], 1e-7) end
    end
  end)

  it("go through a long sequence of crossings", function()
    local ds, law = ns.FirstOrderLinearTIDS({ 0, 1 }, { { 0, 1 }, { -1, 0 } }), ns.RelayNSL(1, -0.5, 0.3)
    local relation = ns.FirstOrderLinearTIR({ { 1, 0 } }, { { 0 }, { 1 } })
    local sol = run(20, 7, ds, { ns.Interaction(law, relation) }, { { law, "lb" } })
    assert.near(-1.030181751120041, sol.S[#sol][1][1], 1e-6)
    assert.near(7.80245871872573, sol.S[#sol][2][1], 1e-6)
  end)

  it("agree with central differences of random models with relays", function()
    local function final(o)
      local simu, ds = relays.simulation(o, function(nsds)
        return ns.EventDriven(nsds, ns.TimeDiscretisation(0, o.T / 3), ns.RungeKuttaOSI())
      end)
      local kinds = {}
      for i, event in ipairs(simu:run().events) do kinds[i] = event.kind .. event.component end
      return ds:x():copy(), table.concat(kinds, " ")
    end
    local count = (tonumber(os.getenv "NSLUA_SENSITIVITIES") or 60) // 10
    local compared = 0
    for k = 1, count do
      local o = relays.system(k)
      local simu = relays.simulation(o, function(nsds)
        return ns.EventDriven(nsds, ns.TimeDiscretisation(0, o.T / 3), ns.RungeKuttaOSI())
      end)
      local sol = simu:run { sensitivities = { "x0" } }
      local S, state, events = sol.S[#sol], final(o)
      for i = 1, #state do assert.equal(state[i], sol.x[#sol][i]) end -- the plain run, to the last bit
      local j = 1 + k % #o.x0
      local least, at = math.huge, o.x0[j]
      for _, h in ipairs { 1e-4, 1e-5, 1e-6 } do
        local x, same = {}, true
        for _, part in ipairs { -2, -1, 1, 2 } do
          o.x0[j] = at + part * h
          local kinds
          x[part], kinds = final(o)
          same = same and kinds == events
        end
        o.x0[j] = at
        local off, size = 0, 1e-3
        for i = 1, #state do
          local slope = (8 * (x[1][i] - x[-1][i]) - (x[2][i] - x[-2][i])) / (12 * h)
          off, size = math.max(off, math.abs(slope - S[i][j])), math.max(size, math.abs(slope))
        end
        if same then least = math.min(least, off / size) end
      end
      if least < math.huge then
        compared = compared + 1
        assert.is_true(least < 2e-7, ("model %d: %g"):format(k, least))
      end
    end
    assert.is_true(compared >= 0.8 * count)
  end)

  it("change with the units by powers of two", function()
    local function decay(unit, time)
      local ds = ns.FirstOrderLinearTIDS({ -unit }, { { -0.3 / time } }, { 2 * unit / time })
      local law = ns.RelayNSL(1, -unit / time, unit / time)
      local sol = run(2 * time, 4, ds, { ns.Interaction(law, ns.FirstOrderLinearTIR({ { 1 } }, { { 1 } })) },
        { "x0", { ds, "b" }, { law, "ub" } })
      return sol.S[#sol]
    end
    local one, other = decay(1, 1), decay(2 ^ -40, 2 ^ 30)
    assert.equal(one[1][1], other[1][1])
    assert.near(one[1][2], other[1][2] / 2 ^ 30, 1e-12)
    assert.near(one[1][3], other[1][3] / 2 ^ 30, 1e-12)
  end)

  it("jump with the state", function()
    -- A mass against a stop without restitution: 0 <= x1 _|_ lambda >= 0 of x1' = x2 has an impulse where the switch closes.
    local ds = ns.FirstOrderLinearTIDS({ 1 }, { { -1 } }, { -1 })
    local law = ns.ComplementarityConditionNSL(1)
    local sol = run(2, 4, ds, { ns.Interaction(law, ns.FirstOrderLinearTIR({ { 1 } }, { { 1 } })) }, { "x0", { ds, "b" } })
    assert.near(math.log(2), sol.events[1].t, 1e-10)
    assert.near(0.5, sol.events[1].dt[1], 1e-9)
    assert.near(0, sol.S[#sol][1][1], 1e-12)
    assert.near(0, sol.S[#sol][1][2], 1e-12)
  end)

  it("tell events that have none", function()
    local function grazing()
      -- x1 = cos t touches the surface x1 = -1 from above
      local ds = ns.FirstOrderLinearTIDS({ 1, 0 }, { { 0, 1 }, { -1, 0 } })
      local relation = ns.FirstOrderLinearTIR { C = { { 1, 0 } }, B = { { 0 }, { 1 } }, e = { 1 - 1e-14 } }
      return run(6, 3, ds, { ns.Interaction(ns.RelayNSL(1, -1e-3, 0), relation, "touch") }, { "x0" })
    end
    local ok, message = pcall(grazing)
    assert.is_true(ok or message:find("the event of 'touch' at t=%d%.%d+ grazes") ~= nil, message)
  end)

  it("tell a start on a switching surface", function()
    assert.has_error(function() sign(0, function() return { "x0" } end) end,
      "sensitivities: the run starts at t=0 where 'sign' switches, and a parameter decides on which side; on_grazing = "
        .. '"one-sided" takes the side that the run goes (t=0 step 1)')
    local sol = sign(0, function() return { "x0", on_grazing = "one-sided" } end)
    assert.near(1, sol.S[#sol][1][1], 0)
  end)
end)

-- Circuits from their parts: closed forms, published runs of machines, random circuits against node equations, errors.
local campaign = require "campaign"
local circuits = require "random_circuits"
local message = require "expect".message_of
local ns = require "nslua"

local pi = math.pi

local function series(source)
  return ns.circuit():voltage("V1", "in", "0", source):resistor("R1", "in", "out", 2)
end

local function last(c, options, name)
  local columns = c:run(options)
  return columns[name][#columns]
end

describe("ns.circuit", function()
  it("charges a capacitor through a resistor", function()
    local c = series(10):capacitor("C1", "out", "0", 0.5, { initial = 1 })
    assert.near(10 - 9 * math.exp(-1), last(c, { stop = 1, step = 0.1 }, "v.out"), 1e-7)
    assert.equal("circuit 'circuit' of 3 parts and 2 nodes", tostring(c))
  end)

  it("takes circuits without capacitors and inductors", function()
    local c = ns.circuit():voltage("V1", "a", "0", { amplitude = 10, frequency = 50 })
    c:resistor("R1", "a", "b", 1):diode("D1", "b", "c", { forward = 1 }):resistor("R2", "c", "0", 3)
    local columns, sol = c:run { stop = 0.04, step = 1e-3 }
    for k = 1, #columns.t do
      local v = 10 * math.sin(100 * math.pi * columns.t[k])
      assert.near(math.max(0, (v - 1) / 4 * 3), columns["v.c"][k], 1e-9)
    end
    local knee = math.asin(0.1) / (100 * math.pi)
    assert.equal(4, #sol.events)
    assert.near(knee, sol.events[1].t, 1e-12)
    assert.near(0.01 - knee, sol.events[2].t, 1e-12)
  end)

  it("names columns by nodes and parts, and closes the account of powers", function()
    local c = series { amplitude = 10, frequency = 1 }
    local columns = c:inductor("L1", "out", "0", 1, { initial = 0.5 }):run { stop = 1, step = 0.05 }
    assert.same({ "t", "i.V1", "v.in", "i.R1", "v.out", "i.L1", "p.V1", "p.R1", "p.L1" }, columns:names())
    local power = columns["p.V1"] + columns["p.R1"] + columns["p.L1"]
    for i = 1, #columns do assert.near(0, power[i], 1e-13) end
    assert.near(0.5, columns["i.L1"][1], 0)
    assert.near(-columns["i.V1"][7], columns["i.L1"][7], 1e-15)
  end)

  it("rectifies, with the exact times of a diode", function()
    local w, R, C = 100 * pi, 100, 1e-3
    local c = ns.circuit():voltage("V1", "in", "0", { amplitude = 10, frequency = 50 }):diode("D1", "in", "out")
      :capacitor("C1", "out", "0", C):resistor("R1", "out", "0", R)
    local _, sol = c:run { stop = 0.02, step = 1e-3 }
    assert.same({ "D1", "open" }, { sol.events[1].name, sol.events[1].kind })
    assert.near((pi - math.atan(w * R * C)) / w, sol.events[1].t, 1e-9)
  end)

  it("couples inductors, transforms, and controls sources", function()
    -- an ideal transformer of ratio 2 loads the source with 4 R
    local c = series(10):transformer("T1", "out", "0", "load", "0", 2):resistor("R2", "load", "0", 3)
      :capacitor("C1", "load", "0", 1e-3)
    assert.near(10 * 12 / 14 / 2, last(c, { stop = 1, step = 0.1 }, "v.load"), 1e-7)
    -- coupled inductors in series aid each other: L1 + L2 + 2 M
    local k = ns.circuit():voltage("V1", "a", "0", 1):inductor("L1", "a", "b", 1):inductor("L2", "b", "0", 4)
      :couple("L1", "L2", 0.5)
    assert.near(1 / 7, last(k, { stop = 1, step = 0.1 }, "i.L1"), 1e-9)
    for _, kind in ipairs { "vcvs", "vccs", "ccvs", "cccs" } do
      local one = ns.circuit():voltage("V1", "a", "0", 3):resistor("R1", "a", "0", 2)
      if kind:find "^v" then one[kind](one, "X1", "b", "0", "a", "0", 5) else one[kind](one, "X1", "b", "0", "R1", 5) end
      one:resistor("R2", "b", "c", 4):capacitor("C1", "c", "0", 1):resistor("R3", "c", "0", 1e9)
      local sensed = kind:find "^v" and 3 or 1.5
      local columns = one:run { stop = 1, step = 0.1 }
      local name = kind:find "vs$" and "v.b" or "i.X1"
      assert.near(5 * sensed, columns[name][5], 1e-9)
    end
  end)

  it("has zeners and amplifiers with limits", function()
    local function clamped(source)
      local c = ns.circuit():voltage("V1", "in", "0", source):resistor("R1", "in", "out", 10)
        :zener("Z1", "0", "out", 5, { forward = 0.7 }):capacitor("C1", "out", "0", 1e-3)
      return last(c, { stop = 1, step = 0.1 }, "v.out")
    end
    assert.near(-0.7, clamped(-10), 1e-9)
    assert.near(5, clamped(10), 1e-9)
    assert.near(3, clamped(3), 1e-7)
    local function amplified(source)
      local c = ns.circuit():voltage("V1", "in", "0", source):resistor("R1", "x", "0", 1):resistor("R2", "out", "x", 3)
        :opamp("A1", "in", "x", "out", { limits = { -10, 10 } }):resistor("R3", "out", "y", 1)
        :capacitor("C1", "y", "0", 1e-3)
      return last(c, { stop = 1, step = 0.1 }, "v.out")
    end
    assert.near(8, amplified(2), 1e-9)
    assert.near(10, amplified(3), 1e-9)
    assert.near(-10, amplified(-4), 1e-9)
    local follower = ns.circuit():voltage("V1", "in", "0", 2):opamp("A1", "in", "x", "x"):resistor("R1", "x", "y", 1)
      :capacitor("C1", "y", "0", 0.1)
    assert.near(2 * (1 - math.exp(-10)), last(follower, { stop = 1, step = 0.1 }, "v.y"), 1e-7)
  end)

  -- A buck converter from V through a coil L into R beside C; on: the gate. With 1 A or more it conducts all the time.
  local function buck(gate, kind)
    local c = ns.circuit():voltage("V1", "in", "0", 10)
    c[kind or "switch"](c, "S1", "in", "x", gate)
    return c:diode("D1", "0", "x"):inductor("L1", "x", "out", 1e-3):capacitor("C1", "out", "0", 1e-4)
      :resistor("R1", "out", "0", 4)
  end

  it("switches by clocks at their exact times, and by functions", function()
    local T, duty = 1e-4, 0.4
    local clocked = buck { period = T, duty = duty }
    local columns = clocked:run { stop = 20 * T, step = T / 3 }
    local jumps = {} -- there are rows on both sides of an instant
    for i = 2, #columns do
      if columns.t[i] == columns.t[i - 1] and math.abs(columns["v.x"][i] - columns["v.x"][i - 1]) > 9 then
        jumps[#jumps + 1] = columns.t[i]
      end
    end
    assert.equal(39, #jumps)
    for k, t in ipairs(jumps) do assert.equal(k // 2 * T + k % 2 * duty * T, t) end
    local x = last(clocked, { stop = 20 * T, step = T / 3 }, "v.out")
    for _, kind in ipairs { "igbt", "mosfet" } do
      assert.near(x, last(buck({ period = T, duty = duty }, kind), { stop = 20 * T, step = T / 3 }, "v.out"), 1e-6)
    end
    local free = buck(function(t) return t / T % 1 < duty end)
    assert.near(x, last(free, { stop = 20 * T, step = T / 30 }, "v.out"), 1e-4)
    columns = buck({ period = T, duty = duty }):run { stop = 300 * T, step = 10 * T }
    local mean, n = 0, 0
    for i = #columns // 2, #columns do mean, n = mean + columns["v.out"][i], n + 1 end
    assert.near(10 * duty, mean / n, 0.1)
  end)

  it("has amplifiers with positive feedback, which go to their limits", function()
    local R, C = 1e4, 1e-7
    local c = ns.circuit():opamp("A1", "p", "m", "out", { limits = { -10, 10 } }):resistor("R1", "out", "p", R)
      :resistor("R2", "p", "0", R):resistor("R3", "out", "m", R):capacitor("C1", "m", "0", C, { initial = 0.1 })
    local _, sol = c:run { stop = 0.02, step = 1e-4 }
    assert.is_true(#sol.events > 10)
    for i = 2, #sol.events do
      assert.near(math.abs(sol.events[i].t - sol.events[i - 1].t), R * C * math.log(3), 1e-9)
    end
  end)

  it("sees a clock whose part of a period is short beside a fast mode", function()
    local c = ns.circuit():voltage("V1", "in", "0", { amplitude = 10, frequency = 50 })
      :switch("S1", "in", "a", { period = 0.02, delay = 0.005, duty = 0.05 }, { conductance = 1e-6 })
      :resistor("R1", "a", "b", 10):inductor("L1", "b", "0", 1e-4)
    local columns = c:run { start = 0.024, stop = 0.028, step = 1e-4 }
    local most = 0
    for i = 1, #columns do
      if columns.t[i] > 0.0252 and columns.t[i] < 0.0258 then most = math.max(most, columns["i.L1"][i]) end
      if columns.t[i] < 0.025 or columns.t[i] > 0.0261 then assert.near(0, columns["i.L1"][i], 1e-4) end
    end
    assert.near(1, most, 0.02)
  end)

  -- By hand: L i' + R i = V sin(w t) from i = 0 at the angle alpha until the current ends.
  it("fires thyristors before a coil, which go out where the current ends", function()
    local V, L, R, w = 100, 0.02, 10, 100 * pi
    local phi, Z = math.atan(w * L / R), math.sqrt(R * R + w * w * L * L)
    for _, alpha in ipairs { 0.3, 1, 2 } do
      local function current(angle)
        return V / Z * (math.sin(angle - phi) - math.sin(alpha - phi) * math.exp(-(angle - alpha) / math.tan(phi)))
      end
      local lo, hi = alpha + 0.1, 2 * pi
      for _ = 1, 60 do
        local middle = (lo + hi) / 2
        if current(middle) > 0 then lo = middle else hi = middle end
      end
      local c = ns.circuit():voltage("V1", "a", "0", { amplitude = V, frequency = 50 })
        :thyristor("T1", "a", "b", { period = 0.02, delay = alpha / w, duty = 0.05 })
        :inductor("L1", "b", "x", L):resistor("R1", "x", "0", R)
      local columns, sol = c:run { stop = 0.04, step = 1e-3 }
      assert.equal(2, #sol.events)
      for k, e in ipairs(sol.events) do assert.near((lo + 2 * pi * (k - 1)) / w, e.t, 1e-8) end
      for i = 1, #columns do
        local angle = w * columns.t[i] % (2 * pi)
        local wanted = angle > alpha and angle < lo and current(angle) or 0
        assert.near(wanted, columns["i.L1"][i], 1e-5)
      end
    end
  end)

  -- The mean voltage of a bridge whose current never ends: 3 sqrt(3) V / pi cos(alpha), 2 V / pi cos(alpha).
  it("has bridges of thyristors", function()
    local V, T, alpha = 100, 0.02, pi / 6
    for _, phases in ipairs { 1, 3 } do
      local c = ns.circuit()
      if phases == 1 then c:voltage("V1", "a", "b", { amplitude = V, frequency = 50 }) end
      for k = 1, phases == 1 and 2 or 3 do
        local node = ("abc"):sub(k, k)
        local from = phases == 1 and (k - 1) * T / 2 or T / 12 + (k - 1) * T / 3
        if phases == 3 then c:voltage("V" .. k, node, "n", { amplitude = V, frequency = 50, phase = -2 * pi * (k - 1) / 3 }) end
        from = from + alpha / (2 * pi) * T
        c:thyristor("P" .. k, node, "p", { period = T, delay = from % T, duty = 0.3 })
          :thyristor("N" .. k, "0", node, { period = T, delay = (from + T / 2) % T, duty = 0.3 })
      end
      c:inductor("L1", "p", "x", 0.1):resistor("R1", "x", "0", 10)
      local columns = c:run { stop = 0.2, step = T / 200 }
      local mean = 0
      for i = 2, #columns do
        local h = columns.t[i] - columns.t[i - 1]
        if columns.t[i] > 0.16 + 1e-9 then mean = mean + h * (columns["i.L1"][i] + columns["i.L1"][i - 1]) / 2 / 0.04 end
      end
      local wanted = (phases == 1 and 2 or 3 * math.sqrt(3)) * V / pi * math.cos(alpha) / 10
      assert.near(wanted, mean, 1e-3 * wanted)
    end
  end)

  -- By hand: three pulses at the neutral; from one gate to the next L i' + R i = V sin(w t + 30 degrees + alpha).
  it("turns thyristors off whose gates end where the next ones begin", function()
    local V, R, L, w, T = 100, 10, 0.3, 100 * pi, 0.02
    local phi, Z = math.atan(w * L / R), math.sqrt(R * R + w * w * L * L)
    for _, as in ipairs { "clock", "function" } do
      for k = 1, as == "clock" and 2 or 1 do
        local first = pi / 6 + k * 0.1 -- the angle of a phase at which its gate begins
        local c = ns.circuit()
        for j = 0, 2 do
          local node, gate = "a" .. j, { period = T, duty = 1 / 3, delay = first / w + j * T / 3 }
          c:voltage("V" .. j, node, "0", { amplitude = V, frequency = 50, phase = -j * 2 * pi / 3 })
          local function is_on(t) return t >= gate.delay and (t - gate.delay) / T % 1 < gate.duty end
          c:thyristor("T" .. j, node, "p", as == "clock" and gate or is_on)
        end
        local columns = c:inductor("L1", "p", "x", L):resistor("R1", "x", "0", R):run { stop = 3 * T, step = T / 5 }
        local i, from = 0, first
        for j = 1, 9 do
          local span = math.min(2 * pi / 3, 6 * pi - first - (j - 1) * 2 * pi / 3)
          i = V / Z * math.sin(from + span - phi) + (i - V / Z * math.sin(from - phi)) * math.exp(-span / math.tan(phi))
        end
        assert.near(i, columns["i.L1"][#columns], 1e-7)
      end
    end
  end)

  it("goes on with time stepping, and takes a system for other simulations", function()
    local c = buck(true)
    local columns = c:columns(c:simulation({ stop = 0.1, step = 1e-4, method = ns.TimeStepping,
      integrator = ns.EulerMoreauOSI(1) }):run())
    assert.near(10, columns["v.out"][#columns], 1e-6)
    local ds, interactions, nsds = c:system(0, 1)
    assert.equal(ds, nsds:dynamicalSystem(1))
    assert.equal(#interactions, nsds:numberOfInteractions())
    assert.near(10, c:columns(c:attach(ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), ns.RadauOSI())):run())
      ["v.out"][3], 1e-3)
  end)

  it("has one column of a part that is made of several", function()
    local c = ns.circuit():voltage("V1", "a", "0", { amplitude = 10, frequency = 50 })
    c:triac("T1", "a", "b", { period = 0.01, duty = 0.05, delay = 0.003 }):resistor("R1", "b", "0", 10)
    local columns = c:run { stop = 0.04, step = 1e-3 }
    for k = 1, #columns.t do
      assert.near(columns["i.R1"][k], columns["i.T1"][k], 1e-12)
      assert.near(columns["i.T1_1"][k] - columns["i.T1_2"][k], columns["i.T1"][k], 1e-12)
      assert.near(columns["p.T1_1"][k] + columns["p.T1_2"][k], columns["p.T1"][k], 1e-12)
    end
    for _, kind in ipairs { "mosfet", "igbt" } do -- current of a coil goes back through the body
      local h = ns.circuit():voltage("V1", "p", "0", 10):inductor("L1", "x", "o", 1e-4, { initial = -1 })
      h[kind](h, "Q1", "p", "x", { period = 1e-4 }, { resistance = 0.1, forward = 0.7, body = kind == "igbt" or nil })
      h[kind](h, "Q2", "x", "0", { period = 1e-4, delay = 5e-5 }, { resistance = 0.1, body = kind == "igbt" or nil })
      h:resistor("R1", "o", "0", 1):cccs("F1", "0", "s", "Q1", 2):resistor("R2", "s", "0", 1)
      local of, body = h:run { stop = 2e-4, step = 1e-6 }, 0
      for k = 1, #of.t do
        assert.near(of["i.Q1_channel"][k] - of["i.Q1_body"][k], of["i.Q1"][k], 1e-12)
        assert.near(2 * of["i.Q1"][k], of["v.s"][k], 1e-12) -- the whole controls
        assert.near(-of["i.V1"][k], of["i.Q1"][k], 1e-9)
        body = math.max(body, of["i.Q1_body"][k])
      end
      assert.equal(kind == "igbt", body > 0.1) -- the channel of a mosfet takes it
      assert.is_true(h:switching_losses("Q1", { on = 1, off = 1, voltage = 1, current = 1 }).count > 0)
    end
  end)

  it("has steps and ramps, with both sides of their jumps", function()
    for _, jump in ipairs { 0.7, 0.5, 0.5 + 1e-9 } do -- on the grid, beside its times, and between them
      local c = series { step = 5, time = jump, offset = 1 }:capacitor("C1", "out", "0", 0.25)
      local columns, sol = c:run { stop = 2, step = 0.5, integrator = ns.RungeKuttaOSI(1e-12) }
      local rows, tau = #sol, 0.5
      local wanted = 1 * (1 - math.exp(-2 / tau)) + 5 * (1 - math.exp(-(2 - jump) / tau))
      assert.near(wanted, columns["v.out"][rows], 1e-9)
      local ds, _, graph = c:system(0, 2) -- in a simulation with another grid, too
      local own = c:attach(ns.EventDriven(graph, ns.TimeDiscretisation(0, 2), ns.RungeKuttaOSI(1e-12)))
      own:run()
      assert.near(wanted, ds:x()[1], 1e-9)
      local sides = {}
      for k = 1, rows do
        if sol.t[k] == jump then sides[#sides + 1] = columns["v.in"][k] end
      end
      assert.same({ 1, 6 }, sides)
    end
    local c = series { ramp = 6, duration = 2, time = 1 }:capacitor("C1", "in", "0", 0.5):capacitor("C2", "out", "0", 1)
    local columns = c:run { stop = 4, step = 0.5 } -- a loop of capacitors takes the slope of the source
    assert.same({ 0, 0.5, 1, 1, 1.5, 2, 2.5, 3, 3, 3.5, 4 }, columns.t:totable())
    for k, wanted in ipairs { 0, 0, 0, 1.5, 1.5, 1.5, 1.5, 1.5, 0, 0, 0 } do
      assert.near(wanted, columns["i.C1"][k], 1e-12)
    end
  end)

  it("compiles sources that are sines, without a change of a bit", function()
    local c = ns.circuit():voltage("V1", "in", "0", { amplitude = 10, frequency = 50 }):diode("D1", "in", "out")
      :capacitor("C1", "out", "0", 1e-3):resistor("R1", "out", "0", 100)
    local _, sol = c:run { stop = 0.05, step = 1e-3 }
    local ds, _, graph = c:system(0, 0.05)
    local integrator = ns.RadauOSI()
    integrator:setAmbiguity "leave"
    local plain = c:attach(ns.EventDriven(graph, ns.TimeDiscretisation(0, 0.05 / 50), integrator)):run()
    assert.same(sol.x[#sol]:totable(), ds:x():totable())
    assert.same(sol.lambda:totable(), plain.lambda:totable())
  end)

  it("places the times of the grid at the corners of sources", function()
    local c = series({ high = 5, rise = 0.01, fall = 0.02, width = 0.3, period = 1, delay = 0.123 })
      :capacitor("C1", "out", "0", 0.1)
    local columns = c:run { stop = 2, step = 0.25 }
    local at = {}
    for i = 1, #columns do at[("%.6f"):format(columns.t[i])] = true end
    for _, t in ipairs { 0.123, 0.133, 0.433, 0.453, 1.123, 1.133, 1.433, 1.453 } do
      assert.is_true(at[("%.6f"):format(t)], t)
    end
    local ramp = series({ times = { 0, 1, 2 }, values = { 0, 1, 1 } }):capacitor("C1", "out", "0", 0.5)
    assert.near(math.exp(-1), last(ramp, { stop = 1, step = 0.5 }, "v.out"), 1e-7) -- t - 1 + exp(-t) at 1
  end)

  it("reduces loops of capacitors and cuts of inductors", function()
    local c = series(10):capacitor("C1", "out", "0", 0.2):capacitor("C2", "out", "0", 0.3)
    assert.near(10 * (1 - math.exp(-1)), last(c, { stop = 1, step = 0.1 }, "v.out"), 1e-7)
    local L = series(10):inductor("L1", "out", "x", 1):inductor("L2", "x", "0", 3)
    assert.near(5 * (1 - math.exp(-0.5)), last(L, { stop = 1, step = 0.1 }, "i.L2"), 1e-7)
    local driven = series({ amplitude = 2, frequency = 1 }):capacitor("C1", "in", "0", 0.25)
      :capacitor("C2", "out", "0", 1)
    local columns = driven:run { stop = 1, step = 0.1 }
    assert.near(2 * 2 * pi * 0.25, columns["i.C1"][#columns], 1e-9)
  end)
end)

describe("ns.circuit, machines of the Modelica Standard Library,", function()

  -- The largest difference of named columns from a reference file, over the largest value of each column.
  local function difference(c, options, file, names)
    options.integrator = options.integrator or ns.RungeKuttaOSI()
    local columns = c:columns(c:simulation(options):run { rows = "grid" })
    local reference, worst = ns.load("spec/reference/" .. file), 0
    for k, column in ipairs(names) do
      local wanted = reference:column(reference:names()[k + 1])
      local most = ns.norm(wanted, math.huge)
      for i = 1, #reference do
        local row = math.floor(reference.t[i] / options.step + 0.5) + 1
        worst = math.max(worst, math.abs(math.abs(columns[column][row]) - math.abs(wanted[i])) / most)
      end
    end
    return worst
  end

  it("the triac with a snubber", function()
    local c = ns.circuit():voltage("V1", "in", "0", { amplitude = 5, frequency = 2 }):resistor("R1", "in", "u", 20)
      :resistor("R2", "u", "s", 100):capacitor("C1", "s", "0", 0.005):triac("T1", "u", "0",
        { period = 0.25, duty = 0.5, delay = 0.1 }, { forward = 0.8, resistance = 1e-5, conductance = 1e-5 })
    assert.is_true(difference(c, { stop = 2, step = 0.008 }, "machine_triac.csv", { "v.s" }) < 2e-4)
  end)

  it("the rectifier with six diodes #once", function()
    local c, V = ns.circuit(), 400 * math.sqrt(2 / 3)
    local law = { forward = 2, resistance = 1e-3, conductance = 1e-3 }
    for k = 1, 3 do
      c:voltage("E" .. k, "e" .. k, "star", { amplitude = V, frequency = 50, phase = -(k - 1) * 2 * pi / 3 })
      c:inductor("L" .. k, "e" .. k, "a" .. k, 60e-6)
      c:diode("D" .. k, "a" .. k, "P", law):diode("D" .. k + 3, "M", "a" .. k, law)
    end
    c:capacitor("C1", "P", "0", 30e-3, { initial = 200 * math.sqrt(2) })
    c:capacitor("C2", "0", "M", 30e-3, { initial = 200 * math.sqrt(2) }):current("I1", "P", "M", 500)
    assert.is_true(difference(c, { stop = 0.1, step = 0.0004, integrator = ns.RadauOSI() }, "machine_rectifier_b6.csv",
      { "v.P", "v.M", "i.L2", "i.L3" }) < 1e-4)
  end)
end)

describe("ns.circuit, random circuits,", function()
  it("are the implicit Euler steps of the node equations #once", function()
    local n, report = campaign(25, 0.025)
    local compared = 0
    for seed = 1, n do
      math.randomseed(seed)
      local nodes, h, steps = math.random(2, 6), 0.05, 30
      local list = circuits.parts(nodes, math.random(0, 4))
      local c = circuits.build(list)
      local good, simu = pcall(c.simulation, c, { stop = h * steps, step = h, method = ns.TimeStepping,
        integrator = ns.EulerMoreauOSI(1) })
      if not good then assert.matches("at least one capacitor or inductor that is free", simu) end
      local reference = good and not circuits.has_driven_loop(list, nodes) and circuits.reference(list, nodes, h, steps)
      if reference then
        compared = compared + 1
        local sol = simu:run()
        local columns = c:columns(sol)
        for _, name in ipairs(sol:names()) do
          local x = reference[name]
          if x then assert.near(x, sol[name][#sol], 1e-9 * (1 + math.abs(x)), "seed " .. seed .. " " .. name) end
        end
        local sum, size = ns.zeros(#sol), ns.zeros(#sol)
        for _, name in ipairs(columns:names()) do
          if name:find "^p%." then sum, size = sum + columns[name], size + columns[name]:map(math.abs) end
        end
        for i = 2, #sol do assert.is_true(math.abs(sum[i]) <= 1e-9 * size[i]) end
      end
    end
    assert.is_true(compared > n / 2)
    report("circuits", compared)
  end)
end)

describe("ns.circuit refuses", function()
  it("parts that are wrong", function()
    local c = series(1)
    assert.equal("resistor 'R1': there is a part 'R1' already, a resistor", message(c, "resistor", "R1", "a", "b", 1))
    assert.equal("resistor: name: expected letters, digits and underscores, got 'R.1'",
      message(c, "resistor", "R.1", "a", "b", 1))
    assert.equal("resistor 'R2': R: expected a positive number, got -1", message(c, "resistor", "R2", "a", "b", -1))
    assert.equal("capacitor 'C2': C: expected a number, got nil", message(c, "capacitor", "C2", "a", "b"))
    assert.equal("inductor 'L2': L: expected a finite number, got inf",
      message(c, "inductor", "L2", "a", "b", math.huge))
    assert.equal("capacitor 'C2': unknown option 'v0' (known: initial)",
      message(c, "capacitor", "C2", "a", "b", 1, { v0 = 1 }))
    assert.equal("resistor 'R2': options: expected a table, got number", (message(c, "diode", "R2", "a", "b", 1)
      :gsub("diode", "resistor")))
    assert.equal("resistor 'R2': expected two different nodes, got 'a' twice",
      message(c, "resistor", "R2", "a", "a", 1))
    assert.equal("resistor 'R2': node: expected a name, got nil", message(c, "resistor", "R2", "a", nil, 1))
    assert.equal("resistor 'R2': node: expected a name without blanks and points, got 'a.b'",
      message(c, "resistor", "R2", "a.b", "c", 1))
    assert.equal("triac: name: expected letters, digits and underscores, got nil", message(c, "triac"))
    assert.equal("mosfet: name: expected letters, digits and underscores, got nil", message(c, "mosfet"))
    assert.equal("igbt 'Q1': body: expected true or false, got 1", message(c, "igbt", "Q1", "a", "b", true, { body = 1 }))
    c:resistor("Q1_body", "a", "b", 1)
    assert.equal("mosfet 'Q1': there is a part 'Q1_body' already, a resistor",
      message(c, "mosfet", "Q1", "a", "b", true))
    assert.equal("mosfet 'Q2': forward: expected 0 or more, got -1",
      message(c, "mosfet", "Q2", "a", "b", true, { forward = -1 }))
    assert.has_no.errors(function() c:mosfet("Q2", "a", "b", true) end) -- nothing was left of the one before
    assert.equal("transformer 'T1': n: expected a number other than 0",
      message(c, "transformer", "T1", "a", "b", "c", "d", 0))
    assert.equal("cccs 'F1': part: expected the name of a part, got 'R9'",
      message(c, "cccs", "F1", "a", "b", "R9", 1))
    assert.equal("couple: first: expected the name of an inductor, got 'R1'", message(c, "couple", "R1", "L2", 0.5))
    local L = ns.circuit():inductor("L1", "a", "0", 1):inductor("L2", "b", "0", 1)
    assert.equal("couple: expected two inductors, got 'L1' twice", message(L, "couple", "L1", "L1", 0.5))
    assert.equal("couple: k: expected a number between -1 and 1, not 0, got 1", message(L, "couple", "L1", "L2", 1))
    assert.equal("couple: 'L2' and 'L1' are coupled already", message(L:couple("L1", "L2", 0.9), "couple", "L2", "L1", 0.1))
    L:inductor("L3", "b", "0", 4):couple("L2", "L3", 0.9):couple("L1", "L3", -0.9)
    assert.equal("circuit: couplings of L1, L2, L3: expected numbers k whose matrix is positive definite",
      message(L, "system"))
    assert.equal("circuit: name: expected a string, got 3", (select(2, pcall(ns.circuit, { name = 3 }))
      :gsub("^[^\n]-:%d+: ", "", 1)))
    assert.equal("diode 'D1': forward: expected 0 or more, got -1",
      message(c, "diode", "D1", "a", "b", { forward = -1 }))
    assert.equal("diode 'D1': expected resistance * conductance below 1, got 2",
      message(c, "diode", "D1", "a", "b", { resistance = 2, conductance = 1 }))
    assert.equal("opamp 'A1': limits: expected two numbers, got 3",
      message(c, "opamp", "A1", "a", "b", "c", { limits = { 1, 2, 3 } }))
    assert.equal("opamp 'A1': out: expected a node other than the ground", message(c, "opamp", "A1", "a", "b", "gnd"))
    assert.equal("thyristor 'T1': gate: expected true, false, a function of time or a table with period, got nil",
      message(c, "thyristor", "T1", "a", "b"))
  end)

  it("circuits that have no motion", function()
    assert.equal("circuit: it has no parts", message(ns.circuit(), "system"))
    local c = series(1):capacitor("C1", "out", "0", 1):resistor("R2", "x", "y", 1)
    assert.equal("circuit: nothing joins nodes 'x', 'y' to the ground '0'", message(c, "system"))
    local two = series(1):capacitor("C1", "out", "0", 1):voltage("V2", "in", "0", 2)
    assert.equal("circuit: sources contradict each other: a loop of voltage sources, or a cut of current sources",
      message(two, "system"))
    local wild = series { step = 1, time = 1 }:capacitor("C1", "in", "0", 1):capacitor("C2", "out", "0", 1)
    assert.equal("circuit: C1 and a source form a loop of capacitors or a cut of inductors: it needs the derivative of "
      .. "the source, which jumps; add a resistance (u1)", message(wild, "system"))
    local open = series(1):capacitor("C1", "out", "0", 1):diode("D1", "out", "x"):diode("D2", "y", "x")
      :diode("D3", "0", "y")
    assert.has_no.errors(function() open:system() end)
    local given = series(10):capacitor("C1", "out", "0", 0.2, { initial = 1 })
      :capacitor("C2", "out", "0", 0.3, { initial = 2 })
    assert.matches("^circuit: C[12]: initial: it follows from the other parts, as [12]; got [12]$",
      message(given, "system"))
  end)

  it("initial values that do not fit the start", function()
    local c = ns.circuit():voltage("V1", "a", "0", { amplitude = 1, frequency = 1 }):resistor("R1", "a", "b", 1)
      :capacitor("C1", "a", "0", 1, { initial = 1 }):capacitor("C2", "b", "0", 1)
    assert.equal("circuit: C1: initial: it follows from the other parts, as 0; got 1", message(c, "system"))
    assert.has_no.errors(function() c:system(0.25) end)
  end)

  it("an ideal switch that opens while the current of a coil flows through it", function()
    for _, kind in ipairs { "switch", "igbt" } do
      local c = series(10):inductor("L1", "out", "x", 1)[kind](series(10):inductor("L1", "out", "x", 1), "S1", "x", "0",
        { period = 1, duty = 0.5 })
      assert.matches("circuit: S1 opens at t=0.5 while the current 3.1606 of L1 flows through it; put a resistor or a "
        .. "diode beside it$", message(c, "run", { stop = 2, step = 0.1 }))
    end
  end)

  it("runs that fail, with the place of the call and the nodes that float", function()
    local function message_of(source, options)
      local c = ns.circuit():voltage("V1", "a", "b", source):diode("D1", "a", "p", options)
        :diode("D2", "b", "p", options):diode("D3", "0", "a", options):diode("D4", "0", "b", options)
        :resistor("R1", "p", "0", 100):capacitor("C1", "p", "0", 1e-3)
      local few = ns.RadauOSI()
      few:setMaxEvents(1)
      return select(2, pcall(function() c:run { stop = 0.1, step = 0.05, integrator = few } end))
    end
    local sine, here = { amplitude = 10, frequency = 50 }, "^%S*circuit_spec.lua:%d+: "
    assert.matches(here .. "EventDriven: .*%); nodes 'a', 'b' can float while diodes and switches block: give these a "
      .. "conductance, as 1e%-9$", message_of(sine))
    assert.matches(here .. "EventDriven: .*%)$", message_of(sine, { conductance = 1e-9 }))
    local few, leak = ns.RadauOSI(), { conductance = 1e-9 }
    few:setMaxEvents(1)
    local coil = ns.circuit():voltage("V1", "a", "0", sine):inductor("L1", "a", "b", 1e-3):diode("D1", "b", "p", leak)
      :diode("D2", "m", "b", leak):resistor("R1", "p", "m", 10):voltage("V2", "m", "0", 0)
    assert.matches("%); L1 behind the leaks of D1, D2 has a time constant of 2e%-12 s: leave their conductance out, or "
      .. "put a resistor beside L1$", message(coil, "run", { stop = 0.1, step = 0.05, integrator = few }))
    assert.matches(here .. "relation .*: no value$", message_of(function(t)
      if t > 0.05 then error("no value", 0) end
      return math.sin(t)
    end))
  end)

  it("runs and solutions that do not fit", function()
    local c = series(1):capacitor("C1", "out", "0", 1)
    assert.equal("columns: expected a solution of this circuit: call simulation, system or run first",
      message(c, "columns", 1))
    assert.equal("attach: expected a simulation of this circuit: call system first", message(c, "attach", 1))
    assert.equal("simulation: stop: expected a time after start = 0, got -1",
      message(c, "simulation", { stop = -1, step = 1 }))
    assert.equal("simulation: step: expected a number, got nil", message(c, "simulation", { stop = 1 }))
    assert.equal("simulation: method: expected a function such as ns.EventDriven, got 'x'",
      message(c, "simulation", { stop = 1, step = 1, method = "x" }))
    assert.equal("simulation: integrator: expected an integrator, got 1",
      message(c, "simulation", { stop = 1, step = 1, integrator = 1 }))
    assert.equal("system: t0: expected a number, got 'x'", message(c, "system", "x"))
    assert.equal("system: T: expected a time after t0 = 1, got 0", message(c, "system", 1, 0))
    c:system()
    assert.equal("attach: expected a simulation, got nil", message(c, "attach"))
    assert.equal("columns: sol: expected a solution with 1 states, got number", (message(c, "columns", 1)
      :gsub("got 1$", "got number")))
    assert.equal("resistor: expected a circuit before a colon, as in c:resistor(...)",
      (select(2, pcall(c.resistor)):gsub("^[^\n]-:%d+: ", "", 1)))
  end)
end)

-- Derivatives of circuits by the values of parts, against central differences of runs.
local campaign = require "campaign"
local circuits = require "random_circuits"
local message = require "expect".message_of
local ns = require "nslua"

local function tight()
  local integrator = ns.RungeKuttaOSI(1e-12)
  integrator:setAmbiguity "leave"
  return integrator
end

-- Compares the derivatives at the end by the number `name` with differences of order 4. make(value) makes the circuit.
local function compare(make, value, name, options, tolerance)
  local o = { sensitivities = { name } }
  for key, one in pairs(options) do o[key] = one end
  local _, _, S = make(value):run(o)
  local h, at = value * 1e-3, {}
  for _, k in ipairs { -2, -1, 1, 2 } do
    local _, sol = make(value + k * h):run(options)
    at[k] = sol.x[#sol]
  end
  local record = S[name]
  for i, state in ipairs(record:names()) do
    if i > 1 then
      local function f(k) return at[k][i - 1] end
      local wanted, here = (8 * (f(1) - f(-1)) - (f(2) - f(-2))) / (12 * h), record[state][#record]
      local terms = (math.abs(f(1)) + math.abs(f(-1))) / value * 1e-3
      for row = 1, #record do terms = math.max(terms, math.abs(record[state][row])) end
      assert.near(wanted, here, tolerance * terms, ("%s by %s"):format(state, name))
    end
  end
end

-- A buck converter whose coil runs empty in each period.
local function buck(v)
  return ns.circuit():voltage("V1", "in", "0", v.V1 or 10):switch("S1", "in", "x", { period = 1e-4, duty = 0.3 })
    :diode("D1", "0", "x", { forward = v.F or 0.5 }):inductor("L1", "x", "out", v.L1 or 1e-4)
    :capacitor("C1", "out", "0", v.C1 or 1e-5, { initial = v.U or 1 }):resistor("R1", "out", "0", v.R1 or 20)
end

local sine = { amplitude = 100, frequency = 50 }

-- Circuits whose currents end by themselves: a rectifier of one pulse against a voltage, phase control of alternating
-- current, whose gate is a function, and a bridge of six thyristors.
local latching = {
  one = function(v)
    return ns.circuit():voltage("V1", "a", "0", sine):thyristor("T1", "a", "b", { period = 0.02, delay = 0.003, duty = 0.05 })
      :resistor("R1", "b", "x", v.R1 or 10):inductor("L1", "x", "y", v.L1 or 0.02):voltage("E1", "y", "0", v.E1 or 30)
      :capacitor("C1", "x", "y", 1e-5, { initial = v.U or 1 }):resistor("R2", "x", "y", 100)
  end,
  phase = function(v)
    local function gate(t) return math.sin(200 * math.pi * t - 2) > 0.7 end
    return ns.circuit():voltage("V1", "a", "0", sine):triac("T1", "a", "b", gate)
      :resistor("R1", "b", "x", v.R1 or 10):inductor("L1", "x", "0", v.L1 or 0.02)
  end,
  three = function(v)
    local c = ns.circuit()
    for k = 1, 3 do
      c:voltage("V" .. k, "a" .. k, "0", { amplitude = 100, frequency = 50, phase = -2 * math.pi * (k - 1) / 3 })
      local delay = 1 / 300 + (k - 1) / 150
      c:thyristor("T" .. k, "a" .. k, "p", { period = 0.02, delay = delay, duty = 0.3 })
      c:thyristor("T" .. k + 3, "n", "a" .. k, { period = 0.02, delay = (delay + 0.01) % 0.02, duty = 0.3 })
    end
    return c:resistor("R1", "p", "q", v.R1 or 5):inductor("L1", "q", "n", v.L1 or 0.01):resistor("R2", "n", "0", 1e4)
  end,
}

local values = { V1 = { "V1", 10 }, F = { "D1.forward", 0.5 }, L1 = { "L1", 1e-4 }, C1 = { "C1", 1e-5 },
  U = { "C1.initial", 1 }, R1 = { "R1", 20 } }

describe("nslua.circuit.sensitivity", function()
  it("differentiates by values of parts, through clocks and the events of diodes #once", function()
    for _, key in ipairs(require "sorted_names"(values)) do
      local name, value = table.unpack(values[key])
      compare(function(number) return buck { [key] = number } end, value, name,
        { stop = 5e-4, step = 1e-4, integrator = tight() }, 1e-4)
    end
  end)

  it("moves all numbers of a part together: pairs of ideal mosfets, with and without leaks #once", function()
    for _, pair in ipairs { { 0, 0 }, { 0.01, 1e-9 } } do
      local function bridge(v)
        local o = { resistance = pair[1], conductance = pair[2] }
        return ns.circuit():voltage("V1", "in", "0", v.V1 or 12)
          :mosfet("Q1", "in", "x", { period = 1e-4, duty = 0.4 }, o)
          :mosfet("Q2", "x", "0", { period = 1e-4, duty = 0.5, delay = 0.45e-4 }, o)
          :inductor("L1", "x", "out", v.L1 or 1e-4):capacitor("C1", "out", "0", 1e-5):resistor("R1", "out", "0", v.R1 or 20)
      end
      for key, value in pairs { V1 = 12, L1 = 1e-4, R1 = 20 } do
        compare(function(number) return bridge { [key] = number } end, value, key, { stop = 1.7e-4, step = 1e-5 }, 1e-5)
      end
      local options = { stop = 1.7e-4, step = 1e-5, parameters = { "V1" }, terminal = function(x) return x[1] end }
      local _, gradient = bridge {}:gradient(options)
      local high, low = bridge { V1 = 12.01 }:gradient(options), bridge { V1 = 11.99 }:gradient(options)
      assert.near((high - low) / 0.02, gradient[1], 1e-6)
    end
  end)

  -- 1e-9 S beside 100 S: the matrices change by less than their rounding. The derivative is that at 1e-5 S, which differences tell.
  it("goes by conductances that matrices do not show #once", function()
    local name, options = "Q2.conductance", { stop = 6e-5, step = 1e-5 }
    local function bridge(conductance)
      return ns.circuit():voltage("V1", "in", "0", 12)
        :mosfet("Q1", "in", "x", { period = 1e-4, duty = 0.4 }, { resistance = 0.01, conductance = 1e-9 })
        :mosfet("Q2", "x", "0", { period = 1e-4, duty = 0.5, delay = 0.45e-4 }, { resistance = 0.01, conductance = conductance })
        :inductor("L1", "x", "out", 1e-4):capacitor("C1", "out", "0", 1e-5):resistor("R1", "out", "0", 20)
    end
    local function derivative(conductance)
      local _, _, S = bridge(conductance):run { stop = options.stop, step = options.step, sensitivities = { name } }
      return S[name]["i.L1"][#S[name]]
    end
    compare(bridge, 1e-5, name, options, 1e-3)
    assert.near(derivative(1e-5), derivative(1e-9), 1e-3 * math.abs(derivative(1e-5)))
  end)

  it("goes through the ends of currents of thyristors #once", function()
    for _, case in ipairs { { "one", "R1", 10, 0.025 }, { "one", "L1", 0.02, 0.025 }, { "phase", "L1", 0.02, 0.016 },
      { "three", "L1", 0.01, 0.007 } } do
      local name, key, value, stop = table.unpack(case)
      local options = { stop = stop, step = 1e-3, integrator = tight() }
      compare(function(number) return latching[name] { [key] = number } end, value, key, options, 1e-6)
    end
  end)

  it("carries gradients back through gates and the ends of currents #once", function()
    local function cost(v, parameters)
      return latching.one(v):gradient { stop = 0.025, step = 1e-3, integrator = tight(), parameters = parameters or { "R1" },
        cost = function(_, x) return x[1] ^ 2 end, terminal = function(x) return x[1] end }
    end
    local names, keys, at = { "R1", "L1", "E1", "C1.initial" }, { "R1", "L1", "E1", "U" }, { 10, 0.02, 30, 1 }
    local value, gradient = cost({}, names)
    assert.is_true(value > 1e-3)
    for i, key in ipairs(keys) do
      local h = at[i] * 1e-4
      local wanted = (cost { [key] = at[i] + h } - cost { [key] = at[i] - h }) / (2 * h)
      assert.near(wanted, gradient[i], 1e-5 * math.abs(wanted) + 1e-9)
    end
  end)

  it("differentiates random circuits #once", function()
    local n, report = campaign(4, 0.01)
    math.randomseed(77)
    local compared, tried = 0, 0
    while compared < n do
      tried = tried + 1
      local list = circuits.parts(math.random(2, 4), math.random(0, 2))
      local plain = {}
      for _, part in ipairs(list) do
        if type(part[5]) == "number" then plain[#plain + 1] = part end
      end
      local part = plain[math.random(#plain)]
      local value = part[5]
      local function make(number)
        part[5] = number
        local c = circuits.build(list)
        part[5] = value
        return c
      end
      if pcall(make(value).system, make(value)) then
        compare(make, value, part[2], { stop = 1, step = 0.1, integrator = tight() }, 1e-4)
        compared = compared + 1
      end
      assert.is_true(tried < 20 * n)
    end
    report("derivatives of circuits", n)
  end)

  it("gives gradients of costs, and parameters for fits", function()
    local function charge(R) return ns.circuit():voltage("V1", "a", "0", { amplitude = 2, frequency = 0.5 })
      :resistor("R1", "a", "b", R):capacitor("C1", "b", "0", 0.5) end
    local options = { stop = 1, step = 0.1, integrator = tight(), parameters = { "R1", "C1" },
      terminal = function(x) return x[1] ^ 2 end }
    local value, gradient = charge(2):gradient(options)
    local function cost(R)
      local _, sol = charge(R):run { stop = 1, step = 0.1, integrator = tight() }
      return sol.x[#sol][1] ^ 2
    end
    assert.near(cost(2), value, 1e-9)
    assert.near((cost(2.001) - cost(1.999)) / 0.002, gradient[1], 1e-6)
    local _, sol = charge(3):run { stop = 1, step = 0.1 }
    local data = { t = {}, ["u.C1"] = {} }
    for i = 2, #sol do data.t[i - 1], data["u.C1"][i - 1] = sol.t[i], sol.x[i][1] end
    local c = charge(2)
    local simu = c:simulation { stop = 1, step = 0.1 }
    local fit = ns.fit { simulation = simu, data = data, parameters = { c:parameter "R1" } }
    assert.near(3, fit.x[1], 1e-5)
  end)

  it("tells what it does not do", function()
    local c = buck {}
    local o = { stop = 1e-4, step = 1e-4 }
    local function asked(name) o.sensitivities = { name } return message(c, "run", o) end
    assert.equal("sensitivities: expected the name of a part, as \"R1\" or \"D1.resistance\", got 'R9'", asked "R9")
    assert.equal("sensitivities: diode 'D1' has no number 'value'", asked "D1")
    assert.equal("sensitivities: resistance of diode 'D1' is 0 and tells no size for a difference; give it a small value",
      asked "D1.resistance")
    o.sensitivities = {}
    assert.equal("sensitivities: expected a list of names of parts, got table", message(c, "run", o))
    assert.equal("gradient: parameters: expected a list of names of parts, got nil",
      message(c, "gradient", { stop = 1e-4, step = 1e-4 }))
    assert.equal("parameter: expected a simulation of this circuit: call simulation or system first",
      message(buck {}, "parameter", "R1"))
    local divider = ns.circuit():voltage("V1", "a", "0", 1):resistor("R1", "a", "b", 1):capacitor("C1", "b", "0", 1)
    divider:simulation { stop = 1, step = 0.1 }
    local good, err = pcall(divider:parameter "R1".set, -1)
    assert.is_false(good)
    assert.matches("parameter: R1: expected a number above 0, got -1", err, 1, true)
    divider:parameter "V1".set(-1)
  end)
end)

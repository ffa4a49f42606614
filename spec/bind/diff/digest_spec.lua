-- What an object holds is told by a digest: a compiled method follows the fields of its self.
local ns = require "nslua"
local tape = require("bind.traces").tape

local function simulation(ds, T)
  local nsds = ns.NonSmoothDynamicalSystem(0, T or 1)
  nsds:insertDynamicalSystem(ds)
  return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.125), ns.EulerMoreauOSI(1))
end

-- x' = what the method gives, as it is in the field or table that `read` looks into.
local function growth(read, init)
  local Growth = ns.class(ns.FirstOrderNonLinearDS)
  Growth.computef = tape(function(self, _, _, _, d) d[1] = read(self) end)
  local ds = Growth { 0 }
  init(ds)
  return ds, Growth
end

describe("a compiled method follows the fields of its self:", function()
  local cases = {
    number = { function(self) return self.k end, function(ds) ds.k = 1 end, function(ds) ds.k = 2 end },
    boolean = { function(self) return self.on and 2 or 1 end, function(ds) ds.on = false end, function(ds) ds.on = true end },
    text = { function(self) return self.what == "b" and 2 or 1 end, function(ds) ds.what = "a" end,
      function(ds) ds.what = "b" end },
    ["new field"] = { function(self) return self.k or 1 end, function() end, function(ds) ds.k = 2 end },
    ["table"] = { function(self) return self.p.gains[2] end, function(ds) ds.p = { gains = { 0, 1 } } end,
      function(ds) ds.p.gains[2] = 2 end },
    vector = { function(self) return self.v[2] end, function(ds) ds.v = ns.vector { 0, 1 } end, function(ds) ds.v[2] = 2 end },
    matrix = { function(self) return self.gains[1][2] end, function(ds) ds.gains = ns.matrix { { 0, 1 } } end,
      function(ds) ds.gains[1][2] = 2 end },
    rawset = { function(self) return self.p.k end, function(ds) ds.p = { k = 1 } end, function(ds) rawset(ds.p, "k", 2) end },
  }
  for name, case in pairs(cases) do
    it("a " .. name, function()
      local ds = growth(case[1], case[2])
      local simu = simulation(ds)
      for step = 1, 4 do
        if step == 3 then case[3](ds) end
        simu:computeOneStep()
        simu:nextStep()
      end
      assert.equal(0.125 * (1 + 1 + 2 + 2), ds:x()[1])
    end)

    it("a " .. name .. ", of its clone alone", function()
      local ds = growth(case[1], case[2])
      local simu = simulation(ds, 0.5)
      local copy = simu:clone()
      simu:run()
      if name ~= "table" and name ~= "vector" and name ~= "matrix" and name ~= "rawset" then case[3](ds) end -- those are shared
      copy:run()
      assert.equal(0.5, copy:nsds():dynamicalSystem(1):x()[1])
      simu = simulation(growth(case[1], case[2]), 0.5)
      copy = simu:clone()
      case[3](copy:nsds():dynamicalSystem(1))
      copy:run()
      assert.equal(1, copy:nsds():dynamicalSystem(1):x()[1])
    end)
  end

  it("what its class holds", function()
    local ds, Growth = growth(function(self) return self.k end, function() end)
    Growth.k = 1
    local simu = simulation(ds, 0.5)
    simu:computeOneStep()
    simu:nextStep()
    Growth.k = 2
    simu:run()
    assert.equal(0.125 * 7, ds:x()[1])
  end)

  it("also when Lua calls it, with an object or a table; what it was before has a trace already", function()
    local c = tape(function(p, x) return p.k * x end)
    local p = { k = 2 }
    assert.equal(6, c(p, 3))
    p.k = 5
    assert.equal(15, c(p, 3))
    p.k = 2
    assert.equal(6, c(p, 3))
    assert.equal(2, #c:traces())
    local ds = ns.FirstOrderNonLinearDS { x0 = { 0 } }
    ds.k = 3
    assert.equal(9, c(ds, 3))
    ds.k = 4
    assert.equal(12, c(ds, 3))
  end)

  it("an error where it changes all the time", function()
    local c = tape(function(p, x) return p.k * x end)
    local p = { k = 0 }
    local good, err = pcall(function()
      for k = 1, 1001 do
        p.k = k
        c(p, 3)
      end
    end)
    assert.is_false(good)
    assert.matches("compile: more than 1000 sets of sizes, objects and values of variables: what changes from call to call must be "
      .. "numbers or vectors among the arguments", err, 1, true)
  end)

  it("not what the engine keeps there: parameters z, which are arguments", function()
    local Growth = ns.class(ns.FirstOrderNonLinearDS)
    Growth.computef = tape(function(_, _, _, z, d) d[1] = z[1] end)
    local ds = Growth { 0 }
    ds:setzPtr(ns.vector { 1 })
    local simu = simulation(ds)
    for k = 1, 4 do
      ds:z()[1] = k
      simu:computeOneStep()
      simu:nextStep()
    end
    assert.equal(0.125 * 10, ds:x()[1])
    assert.equal(1, #Growth.computef:traces())
  end)
end)

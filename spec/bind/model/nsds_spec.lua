-- NonSmoothDynamicalSystem: inserting, linking, finding, use after close().
local ns = require "nslua"
local models = require "bind.models"
local message = models.message

local function new(T) return ns.NonSmoothDynamicalSystem(0, T or 1) end

describe("NonSmoothDynamicalSystem", function()
  it("needs an interval of time", function()
    local function check(text, ...)
      assert.equal("NonSmoothDynamicalSystem: " .. text, message(ns.NonSmoothDynamicalSystem, ...))
    end
    check("t0: expected a finite number, got no value")
    check("T: expected a finite number, got no value", 0)
    check("T: expected a time after t0 = 0.0, got 0.0", 0, 0)
    check("T: expected a time after t0 = 1.0, got 0.5", 1, 0.5)
    check("T: expected a finite number, got number inf", 0, math.huge)
    check("t0: expected a finite number, got number nan", 0 / 0, 1)
    check("t0: expected a finite number, got string", "0", 1)
  end)

  it("takes a system once, and in one graph only", function()
    local a, b, ds = new(), new(), ns.FirstOrderLinearTIDS { 1 }
    a:insertDynamicalSystem(ds)
    assert.equal("ds 1", ds:name())
    assert.equal("insertDynamicalSystem: dynamical system 'ds 1' is already in this NonSmoothDynamicalSystem",
      message(a.insertDynamicalSystem, a, ds))
    assert.equal("insertDynamicalSystem: dynamical system 'ds 1' is already in another NonSmoothDynamicalSystem",
      message(b.insertDynamicalSystem, b, ds))
    assert.matches("dynamical system expected, got vector of 1", message(a.insertDynamicalSystem, a, ns.vector(1)))
    assert.equal(1, a:numberOfDynamicalSystems())
    assert.equal(0, b:numberOfDynamicalSystems())
  end)

  it("links an interaction once, with systems that are in it", function()
    local simu, inter, ds = models.relay()
    local nsds = simu:nsds()
    local other = ns.FirstOrderLinearTIDS { 1, 2 }
    local function link(...) return message(nsds.link, nsds, ...) end
    assert.equal("link: interaction 'interaction 1' is already linked", link(inter, ds))
    local second = ns.Interaction(ns.RelayNSL(1), inter:relation())
    assert.equal("link: dynamical system '?' is not in this NonSmoothDynamicalSystem (insertDynamicalSystem it first)", -- luacheck: no max line length
      link(second, other))
    new():insertDynamicalSystem(other)
    assert.equal("link: dynamical system 'ds 1' is not in this NonSmoothDynamicalSystem (insertDynamicalSystem it first)", -- luacheck: no max line length
      link(second, ds, other))
    assert.equal("link: the two dynamical systems are the same ('ds 1')", link(second, ds, ds))
    assert.matches("Interaction expected, got FirstOrderLinearTIDS", link(ds, inter))
    assert.matches("dynamical system expected, got Interaction", link(second, inter))
    inter:relation():close()
    assert.equal("link: relation 'FirstOrderLinearTIR' is closed", link(second, ds))
    assert.equal(1, nsds:numberOfInteractions())
  end)

  it("refuses a relation whose callbacks are written for another number of states", function()
    local makers = {
      [ns.FirstOrderLinearTIDS] = { "FirstOrderType1R", "FirstOrderType2R", "FirstOrderNonLinearR" },
      [function(x) return ns.LagrangianDS(x, x) end] = { "LagrangianScleronomousR", "LagrangianRheonomousR" },
      [function(x) return ns.LagrangianLinearTIDS(x, x, ns.eye(#x)) end] = { "LagrangianCompliantR", "NewtonEulerR" },
    }
    for make, names in pairs(makers) do
      for _, name in ipairs(names) do
        local nsds, one, two = new(), make { 1, 2, 3 }, make { 1, 2 }
        two:setName "cart"
        nsds:insertDynamicalSystem(one)
        nsds:insertDynamicalSystem(two)
        local first_order = name:find "FirstOrder"
        local function link(states, ...)
          local relation = ns[name] { h = print, g = first_order and print, states = states, name = "belt" }
          return message(nsds.link, nsds, ns.Interaction(ns.EqualityConditionNSL(1), relation), ...)
        end
        local text = "relation 'belt': expected %d state%s, which its callbacks are written for, got %d of dynamical system"
        assert.equal(text:format(2, "s", 3) .. " 'ds 1'", link(2, one))
        assert.equal(text:format(1, "", 2) .. " 'cart'", link(1, two))
        assert.equal(text:format(3, "s", 5) .. "s 'cart' and 'ds 1'", link(3, two, one))
        assert.equal(0, nsds:numberOfInteractions())
        nsds:link(ns.Interaction(ns.EqualityConditionNSL(1), ns[name] { h = print, g = first_order and print,
          states = 5 }), one, two)
        nsds:link(ns.Interaction(ns.EqualityConditionNSL(1), ns[name] { h = print, g = first_order and print,
          states = 3 }), one)
        assert.equal(2, nsds:numberOfInteractions())
      end
    end
    assert.equal("LagrangianRheonomousR: states: expected a positive number, got 0",
      message(ns.LagrangianRheonomousR, { h = print, states = 0 }))
    assert.equal("LagrangianRheonomousR: states: expected at most 2147483647, got 1000000000000",
      message(ns.LagrangianRheonomousR, { h = print, states = 1000000000000 }))
    assert.equal("LagrangianRheonomousR: states: expected an integer, got number 1.5",
      message(ns.LagrangianRheonomousR, { h = print, states = 1.5 }))
  end)

  it("links an interaction after a link of it that failed", function()
    local nsds = new()
    local one, two, three = ns.FirstOrderLinearTIDS { 1, 2 }, ns.FirstOrderLinearTIDS { 1 }, ns.FirstOrderLinearTIDS { 1 }
    for i, ds in ipairs { one, two, three } do
      ds:setz(i == 3 and { 7, 8, 9, 10 } or { i })
      nsds:insertDynamicalSystem(ds)
    end
    local function relation(columns)
      return ns.FirstOrderLinearTIR { C = ns.zeros(1, columns), B = ns.zeros(columns, 1) }
    end
    local alone = ns.Interaction(ns.RelayNSL(1), relation(2))
    assert.matches("got 1 x 2", message(nsds.link, nsds, alone, one, two))
    nsds:link(alone, one)
    local both = ns.Interaction(ns.RelayNSL(1), ns.FirstOrderNonLinearR {
      C = { { 0, 0 } }, B = { { 0 }, { 0 } }, h = function(_, _, _, z, y) y[1] = #z + z[5] end, states = 2,
    })
    assert.matches("got 3 of dynamical systems", message(nsds.link, nsds, both, one, two))
    nsds:link(both, two, three)
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.EulerMoreauOSI(1), ns.Relay())
    simu:initialize()
    assert.equal(5 + 10, both:y(0)[1])
  end)

  it("unlinks an interaction between steps, and links it anew", function()
    local ball = ns.LagrangianLinearTIDS({ 0 }, { 0 }, { { 1 } })
    ball:setFExtPtr { -1 }
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ball)
    local floor = ns.Interaction(ns.NewtonImpactNSL(0), ns.LagrangianLinearTIR { { 1 } }, "floor")
    local roof = ns.Interaction(ns.NewtonImpactNSL(0), ns.LagrangianLinearTIR({ { -1 } }, { 10 }), "roof")
    assert.error_matches(function() nsds:unlink(floor) end,
      "unlink: interaction 'floor' is not linked in this NonSmoothDynamicalSystem")
    nsds:link(floor, ball)
    nsds:link(roof, ball)
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.MoreauJeanOSI(0.5))
    local speeds = {}
    for k in simu:steps() do
      speeds[k] = ball:velocity()[1]
      if k == 2 then
        nsds:unlink(floor)
        assert.equal(1, nsds:numberOfInteractions())
        assert.equal(roof, nsds:interaction(1))
        assert.matches("not linked", tostring(floor))
      elseif k == 5 then
        nsds:link(floor, ball)
        assert.equal(floor, nsds:interaction "floor")
      end
    end
    assert.same({ 0, 0 }, { speeds[1], speeds[2] })
    assert.near(-0.3, speeds[5], 1e-15)
    assert.equal(0, speeds[6])
  end)

  it("unlinks several at once, as one after the other, or none of them", function()
    local unlink, links = require "nslua.core".graph_support.unlink, {}
    local nsds, ball = new(), ns.LagrangianLinearTIDS({ 0 }, { 0 }, { { 1 } })
    nsds:insertDynamicalSystem(ball)
    for i = 1, 5 do
      links[i] = ns.Interaction(ns.NewtonImpactNSL(0), ns.LagrangianLinearTIR { { 1 } }, "floor " .. i)
      if i < 5 then nsds:link(links[i], ball) end
    end
    unlink(nsds, {})
    assert.equal(4, nsds:numberOfInteractions())
    assert.equal("unlink: interaction 'floor 5' is not linked in this NonSmoothDynamicalSystem",
      message(unlink, nsds, { links[1], links[5] }))
    assert.equal(links[1], nsds:interaction(1))
    unlink(nsds, { links[3], links[1] })
    assert.equal(2, nsds:numberOfInteractions())
    assert.same({ links[2], links[4] }, { nsds:interaction(1), nsds:interaction(2) })
    assert.matches("not linked", tostring(links[3]))
    nsds:link(links[1], ball)
    assert.equal(links[1], nsds:interaction(3))
  end)

  it("finds by number and by name", function()
    local simu, inter, ds = models.relay()
    local nsds = simu:nsds()
    assert.equal(ds, nsds:dynamicalSystem(1))
    assert.equal(ds, nsds:dynamicalSystem "ds 1")
    assert.equal(inter, nsds:interaction "interaction 1")
    assert.equal("dynamicalSystem: expected a number in 1..1, got 2", message(nsds.dynamicalSystem, nsds, 2))
    assert.equal("interaction: expected a number in 1..1, got 0", message(nsds.interaction, nsds, 0))
    assert.equal("dynamicalSystem: no dynamical system is called 'x' (known: ds 1)", message(nsds.dynamicalSystem, nsds, "x"))
    assert.equal("interaction: no interaction is called 'x' (known: none)", message(new().interaction, new(), "x"))
    local many, names = new(), {}
    for i = 1, 8 do
      many:insertDynamicalSystem(ns.FirstOrderLinearTIDS { 1 })
      names[i] = "ds " .. i
      local tail = i > 6 and table.concat(names, ", ", 1, 6) .. ", ..." or table.concat(names, ", ")
      assert.equal(("dynamicalSystem: no dynamical system is called 'x' (known: %s)"):format(tail),
        message(many.dynamicalSystem, many, "x"))
    end
    assert.equal("interaction: number: expected an integer, got nil", message(nsds.interaction, nsds, nil))
  end)

  it("lets parameters be given until a link relies on their number", function()
    local nsds, ds = new(), ns.FirstOrderLinearTIDS { 1 }
    nsds:insertDynamicalSystem(ds)
    ds:setz { 1, 2 }
    local inter = ns.Interaction(ns.RelayNSL(1), ns.FirstOrderType1R {
      h = function(_, x, z, y) y[1] = x[1] + z[2] end, g = function(_, lambda, _, r) r[1] = -lambda[1] end,
    })
    nsds:link(inter, ds)
    assert.equal("FirstOrderLinearTIDS: z: expected a vector of 2, got a list of 3", message(ds.setz, ds, { 1, 2, 3 }))
    ds:setz { 3, 4 }
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.EulerMoreauOSI(1), ns.Relay())
    simu:initialize()
    assert.equal(5, inter:y(0)[1])
  end)

  it("raises after close() and closes with its scope", function()
    local nsds = new()
    do
      local scoped <close> = nsds
      assert.equal(nsds, scoped)
    end
    assert.equal("NonSmoothDynamicalSystem (closed)", tostring(nsds))
    for _, name in ipairs { "insertDynamicalSystem", "link", "t0", "T", "dynamicalSystem", "interaction",
      "numberOfInteractions", "display", "close" } do
      assert.equal("NonSmoothDynamicalSystem is closed", message(nsds[name], nsds), name)
    end
    assert.equal("NonSmoothDynamicalSystem is closed",
      message(ns.TimeStepping, nsds, ns.TimeDiscretisation(0, 1), ns.EulerMoreauOSI(1)))
  end)
end)

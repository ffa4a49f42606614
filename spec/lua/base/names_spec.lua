-- Names that are not there: what is said of them, and what must go on as if nothing were said.
local host = require "host"
local ns = require "nslua"
local names = require "nslua.base.names"
local message = require "expect".message

describe("a name that ns does not have", function()
  it("is an error that says what stands in its place", function()
    assert.equal([[ns: it has no 'SICONOS_LCP_LEMKE'; in its place: ns.LCP { solver = "lemke" }]],
      message(function() return ns.LCP(ns.SICONOS_LCP_LEMKE) end))
    assert.equal("ns: it has no 'SICONOS_FRICTION_3D_NSGS'; nothing is needed in its place: ns.FrictionContact(dim) takes its "
      .. "solver by itself; ns.numerics.fc3d has a choice", message(function() return ns.SICONOS_FRICTION_3D_NSGS end))
    assert.equal("ns: it has no 'OSNSMultipleImpact'; in its place: ns.MultipleImpactNSL with ns.EventDriven",
      message(function() return ns.OSNSMultipleImpact() end))
    assert.equal("ns: it has no 'Model'; in its place: ns.NonSmoothDynamicalSystem(t0, T)",
      message(function() return ns.Model(0, 1) end))
  end)

  it("is an error at the line that asks, which names the nearest", function()
    local good, err = pcall(load("local ns = ...\n\nreturn ns.EulerMoreuOSI(1)", "@user.lua"), ns)
    assert.is_false(good)
    assert.equal("user.lua:3: ns: it has no 'EulerMoreuOSI'; the nearest is 'EulerMoreauOSI'", err)
    assert.equal("ns: it has no 'relaynsl'; the nearest is 'RelayNSL'", message(function() return ns.relaynsl end))
    assert.equal("ns: it has no 'quux'", message(function() return ns.quux end))
    assert.equal("ns.numerics: it has no 'LCP'; the nearest is 'lcp'", message(function() return ns.numerics.LCP end))
    assert.equal("ns.contact: it has no 'planes'; the nearest is 'plane'", message(function() return ns.contact.planes end))
    assert.equal("ns.plot: it has no 'savfig'; the nearest is 'savefig'", message(function() return ns.plot.savfig end))
    for _, where in ipairs { "ns.polygon.intrsection", "ns.polygon.intrsection" } do -- its file is read by the first
      local lazily, text = pcall(load("local ns = ...\n\nreturn " .. where, "@user.lua"), ns)
      assert.is_false(lazily)
      assert.equal("user.lua:3: ns.polygon: it has no 'intrsection'; the nearest is 'intersection'", text)
    end
    assert.matches("^ns.mechanics: it has no 'sistem'; the nearest is 'system'", message(function() return ns.mechanics.sistem end))
  end)

  it("is found again with a letter changed, left out, put in or swapped #once", function()
    local list = {}
    for name in pairs(ns) do if #name >= 6 and name:find "^%a" then list[#list + 1] = name end end
    table.sort(list)
    math.randomseed(4)
    local found = 0
    for _, name in ipairs(list) do
      for kind = 1, 4 do
        local at = math.random(2, #name - 1)
        local a, b = name:sub(1, at - 1), name:sub(at + 1)
        local typo = kind == 1 and a .. "q" .. b or kind == 2 and a .. b or kind == 3 and a .. "q" .. name:sub(at)
          or a .. name:sub(at + 1, at + 1) .. name:sub(at, at) .. name:sub(at + 2)
        if rawget(ns, typo) == nil then
          local said = message(function() return ns[typo] end)
          if said:find(("the nearest is '%s'"):format(name), 1, true) then found = found + 1
          else assert.matches("the nearest is '", said, 1, true) end
        else
          found = found + 1
        end
      end
    end
    assert.is_true(found > 0.95 * 4 * #list, found .. " of " .. 4 * #list)
  end)

  it("is nil to rawget, pairs, and where Lua itself asks", function()
    assert.is_nil(rawget(ns, "quux"))
    assert.is_nil(ns._quux)
    assert.is_nil(ns.__call)
    assert.is_nil(ns[1])
    for name, value in pairs(ns) do assert.equal(value, ns[name]) end
    assert.equal(0, #ns)
    local mine = setmetatable({}, { __index = ns })
    assert.equal(ns.vector, mine.vector)
    ns.quux = 3
    assert.equal(3, ns.quux)
    ns.quux = nil
    assert.has_error(function() return ns.quux end)
    assert.is_false((pcall(require, "nslua.quux")))
  end)

  it("leaves the prompt's Tab key and help at work", function()
    local complete = require "nslua.repl.complete"
    local session = { get = function(name) return name == "ns" and ns or nil end, names = function() return { ns = true } end }
    local insert, shown = complete.at("ns.RelayN", session, {}, 80)
    assert.equal("SL", insert or shown)
    assert.is_nil(complete.at("ns.quux", session, {}, 80))
    assert.is_nil(complete.at("ns.quux.", session, {}, 80))
    assert.is_nil((require "nslua.help".text "quux"))
    assert.matches("Methods of Relay:", (require "nslua.help".text(ns.Relay)), 1, true)
  end)
end)

describe("a method that an object does not have", function()
  local function system() return ns.LagrangianDS({ 1 }, { 0 }) end

  it("is an error that says what stands in its place, or which is nearest", function()
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    local ds = ns.FirstOrderLinearTIDS({ 1 }, { { -1 } })
    nsds:insertDynamicalSystem(ds)
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.EulerMoreauOSI(1))
    assert.equal("TimeStepping: it has no method 'setNewtonOptions'; nothing is needed in its place: a linear model takes one "
      .. "iteration; osi:setLinearlyImplicit(true) for one of nonlinear mechanics",
      message(function() simu:setNewtonOptions(1) end))
    assert.equal([[LCP: it has no method 'numericsSolverOptions'; in its place: options of the problem: ]]
      .. [[ns.LCP { tolerance = 1e-12, solver = "pivot" }]], message(function() return ns.LCP():numericsSolverOptions() end))
    assert.equal("TimeStepping: it has no method 'computeOneStp'; the nearest is 'computeOneStep'",
      message(function() simu:computeOneStp() end))
    assert.equal("NonSmoothDynamicalSystem: it has no method 'topology'; there is none here: nsds:display() shows the graph",
      message(function() nsds:topology() end))
    assert.equal("FirstOrderLinearTIDS: it has no method 'setBPtr'; the nearest is 'setbPtr'",
      message(function() ds:setBPtr { 1 } end))
    local good, err = pcall(load("local o = ...\no:quux()", "@user.lua"), ns.RelayNSL(1, 0, 1))
    assert.is_false(good)
    assert.equal("user.lua:2: RelayNSL: it has no method 'quux'", err)
  end)

  it("is told for every kind of object, with the nearest one that there is", function()
    local nsds, ds = ns.NonSmoothDynamicalSystem(0, 1), system()
    nsds:insertDynamicalSystem(ds)
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.5), ns.MoreauJeanOSI(0.5))
    local sol, told = simu:run(), 0
    for _, object in ipairs { ns.vector { 1 }, ns.eye(2), ns.sparse { { 1 } }, ns.rng(1), sol, simu, nsds, ds, ns.RelayNSL(1, 0, 1),
      ns.FirstOrderNonLinearR(), ns.MoreauJeanOSI(0.5), ns.LCP(),
      ns.Interaction(ns.RelayNSL(1, 0, 1), ns.FirstOrderNonLinearR()) } do
      local index = debug.getmetatable(object).__index
      local methods = type(index) == "table" and index or select(2, debug.getupvalue(index, 1))
      for name in pairs(methods) do
        local wrong = name:gsub("^(..)(.)(.)", "%1%3%2") -- two letters change places
        if #name > 5 and rawget(methods, wrong) == nil then
          local near = message(function() return object[wrong] end):match("it has no .- '" .. wrong .. "'; the nearest is '(.-)'$")
          assert.truthy(near and (rawget(methods, near) or near == name), wrong)
          told = told + (near == name and 1 or 0)
        end
      end
    end
    assert.is_true(told > 150, told)
    assert.equal("vector: it has no method 'nrom'; the nearest is 'norm'", message(function() return ns.vector { 1 }:nrom() end))
    assert.equal("matrix: it has no method 'T'; the nearest is 'transpose'", message(function() return ns.eye(2):T() end))
    assert.equal("solution: it has no column or method 'plto'; the nearest is 'plot'", message(function() sol:plto() end))
    assert.equal("solution: it has no column or method 'q11'; the nearest is 'q1'", message(function() return sol.q11 end))
    assert.equal("LagrangianDS: it has no method 'velcoity'; the nearest is 'velocity'", message(function() ds:velcoity() end))
  end)

  it("says of each method of Siconos' LagrangianDS why it is not there", function()
    for name, reason in pairs { setQPtr = "ds:setQ(q), which copies", setVelocityPtr = "ds:setVelocity(v), which copies",
      setQ0Ptr = "ds:setQ0(q0), which copies", setVelocity0Ptr = "ds:setVelocity0(v0), which copies",
      setPPtr = "ds:setP(p), which copies", setRhs = "ds:rhs() is a view to write to", setRhsPtr = "ds:rhs() is a view to write to",
      forcesMemory = "ds:computeForces(t, ds:qMemory(), ds:velocityMemory()) gives them" } do
      local ds = system()
      local said = message(function() return ds[name](ds, { 1 }) end)
      assert.matches(("LagrangianDS: it has no method '%s'; "):format(name), said, 1, true)
      assert.matches(reason, said, 1, true)
    end
  end)

  it("is, of Siconos' LagrangianDS, none that nothing is said of", function()
    local ds, told, here = system(), 0, 0
    for name in ([[
      acceleration boundaryConditions computeFExt computeFGyr computeFInt computeForces computeJacobianFGyrq
      computeJacobianFGyrqDot computeJacobianFIntq computeJacobianFIntqDot computeJacobianRhsx computeJacobianqDotForces
      computeJacobianqForces computeKineticEnergy computeMass computePostImpactVelocity computeRhs dimension display fExt
      fGyr fInt forces forcesMemory initMemory initRhs init_forces init_generalized_coordinates init_inverse_mass
      initializeNonSmoothInput inverseMass jacobianFGyrq jacobianFGyrqDot jacobianFIntq jacobianFIntqDot jacobianqDotForces
      jacobianqForces mass p pMemory q q0 qMemory reactionToBoundaryConditions resetAllNonSmoothParts resetNonSmoothPart
      resetToInitialState setBoundaryConditions setComputeFExtFunction setComputeFGyrFunction setComputeFIntFunction
      setComputeJacobianFGyrqDotFunction setComputeJacobianFGyrqFunction setComputeJacobianFIntqDotFunction
      setComputeJacobianFIntqFunction setComputeMassFunction setFExtPtr setFGyrPtr setFIntPtr setJacobianFGyrqDotPtr
      setJacobianFGyrqPtr setJacobianFIntqDotPtr setJacobianFIntqPtr setMassPtr setP setPPtr setQ setQ0 setQ0Ptr setQPtr
      setReactionToBoundaryConditions setRhs setRhsPtr setVelocity setVelocity0 setVelocity0Ptr setVelocityPtr swapInMemory
      updatePlugins update_inverse_mass velocity velocity0 velocityMemory]]):gmatch "%S+" do
      local good, method = pcall(function() return ds[name] end)
      if good then assert.equal("function", type(method), name)
      else assert.matches("LagrangianDS: it has no method '" .. name .. "'; %l+ ", method) end
      told, here = told + (good and 0 or 1), here + (good and 1 or 0)
    end
    assert.same({ 8, 75 }, { told, here })
    for _, level in ipairs { 0, 2 } do
      assert.equal("p: level: impulses are on level 1 alone", message(ds.p, ds, level))
    end
  end)

  it("is given by what is said of it: forces at the start of a step", function()
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    local ds = ns.LagrangianDS { q0 = { 1 }, v0 = { 2 }, fInt = function(t, q, v, _, f) f[1] = t + 3 * q[1] + v[1] end }
    nsds:insertDynamicalSystem(ds)
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.25), ns.MoreauJeanOSI(0.5))
    for step = 1, 3 do
      local t, before = simu:startingTime(), ds:computeForces(simu:startingTime()):copy()
      simu:computeOneStep()
      assert.equal(before, ds:computeForces(t, ds:qMemory(), ds:velocityMemory()), step)
      simu:nextStep()
    end
  end)

  it("is nil where it may be a field of the user, or a callback", function()
    local Pendulum = ns.class(ns.LagrangianDS, "pendulum")
    function Pendulum:init() self.length = self.length or 3 end
    local ds = Pendulum { q0 = { 1 }, v0 = { 0 } }
    assert.equal(3, ds.length)
    assert.is_nil(ds.count)
    ds.count = (ds.count or 0) + 1
    assert.equal(1, ds.count)
    assert.is_nil(ds.settings)
    assert.is_nil(ds.inertia)
    ds.setting, ds.setUp = 4, function() return 5 end
    assert.equal(5, ds:setUp())
    assert.is_nil(ds.velcoity) -- near a method, but an object of a class
    assert.is_nil(system().count)
    assert.is_nil(ns.FirstOrderNonLinearR().computeh)
    assert.has_error(function() return ds.setDown end, "LagrangianDS: it has no method 'setDown'")
  end)
end)

describe("the list of Siconos' names", function()
  it("is what docs/porting.md shows, line by line", function()
    local page = host.read(host.root .. "/docs/porting.md"):match "\n## Names that are not here\n(.-\n)\n## "
    local function table_of(title)
      local rows = {}
      for line in (page .. "\n"):match("| " .. title .. " | here |\n|%-%-%-|%-%-%-|\n(.-)\n\n"):gmatch "[^\n]+" do
        local name, here = line:match "^| `([^`]*)` | (.*) |$"
        rows[#rows + 1] = { name, here }
      end
      return rows
    end
    assert.same(names.module, table_of "Siconos: names of a module")
    assert.same(names.methods, table_of "Siconos: methods")
  end)

  it("holds no name that is here", function()
    for _, entry in ipairs(names.module) do assert.is_nil(rawget(ns, entry[1]), entry[1]) end
    local every = {}
    for class, meta in pairs(debug.getregistry()) do
      local methods = type(class) == "string" and type(meta) == "table" and rawget(meta, "__index")
      if type(methods) == "function" then methods = select(2, debug.getupvalue(methods, 1)) end
      if type(methods) == "table" then
        for name in next, methods do every[name] = class end
      end
    end
    assert.truthy(every.setQ and every.computeOneStep)
    for _, entry in ipairs(names.methods) do assert.is_nil(every[entry[1]], entry[1]) end
  end)

  it("names what is here: each constructor of ns runs, each method is one", function()
    local every, count = {}, 0
    for _, meta in pairs(debug.getregistry()) do
      local methods = type(meta) == "table" and rawget(meta, "__index")
      if type(methods) == "function" then methods = select(2, debug.getupvalue(methods, 1)) end
      for name in next, type(methods) == "table" and methods or {} do every[name] = true end
    end
    for _, list in ipairs { names.module, names.methods } do
      for _, entry in ipairs(list) do
        for code in entry[2]:gmatch "`([^`]*)`" do
          if code:find "^ns%.%u%w* { %w+ = [^}]*}$" then
            assert(load("return function(ns) return " .. code .. " end"))()(ns)
            count = count + 1
          end
          for path in code:gmatch "%f[%w]ns%.([%w_.]+)" do
            local value = ns
            for key in path:gmatch "[^.]+" do value = value[key] end
            assert.truthy(value, path)
          end
          for method in code:gmatch ":([%a_]%w*)" do assert.is_true(every[method], method) end
        end
      end
    end
    assert.is_true(count > 15)
  end)
end)

-- Objects made in Lua, by the name that messages have for them.
local function objects()
  local system = ns.mechanics.system { coordinates = 1 }
  local law, canvas = ns.NewtonImpactFrictionNSL(0, 0, 0.3, 2), nil
  local nsds = ns.NonSmoothDynamicalSystem(0, 1)
  local model = ns.numerics.model()
  local frame = ns.mechanics.ReferenceFrame "N"
  return {
    figure = ns.plot.figure(), axes = ns.plot.figure():gca(), model = model, expression = model:variable() + 1,
    animation = ns.animation { frames = 1, draw = function(_, c) canvas = c end }, canvas = canvas,
    ["contact manager"] = ns.contact.manager { nsds = nsds, law = law, reach = 1 },
    ["contact manager in space"] = ns.contact.space { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, 0.3, 3), reach = 1 },
    line = ns.contact.line({ 0, 0 }, { 0, 1 }), plane = ns.contact.plane({ 0, 0, 0 }, { 0, 0, 1 }),
    ["mechanics.system"] = system, ["mechanics.body"] = system.ground,
    ["mechanics.frame"] = frame, ["mechanics.point"] = ns.mechanics.Point "O", ["mechanics.vector"] = frame.x,
    dae = ns.dae("radau", function(_, y, yd) return { yd[1] + y[1] } end),
    result = ns.solve_ivp(function(_, y) return { -y[1] } end, { 0, 1 }, { 1 }),
  }
end

describe("a method that an object made in Lua does not have", function()
  it("is an error at the line that asks, with what there is", function()
    for name, object in pairs(objects()) do
      local good, err = pcall(load("local o = ...\n\no:quux()", "@user.lua"), object)
      assert.is_false(good, name)
      assert.matches(("user.lua:3: %s: it has no method 'quux'; it has "):format(name), err, 1, true)
      assert.is_nil(object._quux)
      assert.is_nil(object[1.5])
    end
  end)

  it("is an error that names the nearest", function()
    local all = objects()
    assert.equal("figure: it has no method 'save_fig'; the nearest is 'savefig'", message(function() all.figure:save_fig() end))
    assert.equal("mechanics.system: it has no method 'freebody'; the nearest is 'free_body'",
      message(function() all["mechanics.system"]:freebody {} end))
    assert.equal("result: it has no method 'column_names'; the nearest is 'column'",
      message(function() all.result:column_names() end))
  end)

  it("is none of the fields that only some results have", function()
    local result = objects().result
    assert.same({}, { result.sol, result.t_events, result.y_events, result.values })
  end)
end)

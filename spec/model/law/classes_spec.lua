-- What holds for the table of every law; a law that is added is looked at without a word here.
local ns = require "nslua"
local host = require "host"
local internal = require "nslua.internal"
local laws = require "model.law.laws"
local message = require "bind.models".message

-- What a call raises, nil for nothing.
local function failure(f, ...)
  local good, text = pcall(f, ...)
  return not good and tostring(text) or nil
end

local problems = { "LCP", "Relay", "MLCP", "Equality", "AVI", "FrictionContact", "GenericMechanical" }

-- Whether a step is refused, and why.
local function refusal(law, problem, osi)
  local text = failure(function() laws.simulation(law, problem, osi):computeOneStep() end)
  return text and text:find("interaction 'only' ", 1, true) and text or nil
end

describe("every law's table", function()
  for _, class in ipairs(laws.classes) do
    local function each(f)
      for _, field in ipairs(class.fields) do f(field) end
    end

    describe("of " .. class.name, function()
      it("has fields of their own places, and a first name for each", function()
        local names, places = {}, {}
        each(function(field)
          assert.is_nil(names[field.name])
          assert.is_true(field.offset >= 0 and field.offset < class.bytes)
          names[field.name] = field
          if not field.alias then
            assert.is_nil(places[field.offset])
            places[field.offset] = field
          end
        end)
        each(function(field)
          if field.alias then assert.equal(field.type, places[field.offset].type) end
          assert.falsy(field.alias and (field.state or field.constant))
          assert.falsy(field.state and field.constant)
          if field.setter and not field.alias then assert.is_true(field.state or field.constant) end
        end)
        assert.is_true(names.size ~= nil and names.lb ~= nil and names.ub ~= nil and names.equalities ~= nil)
      end)

      it("names fields as arguments of the constructor", function()
        assert.is_true(#class.arguments > 0)
        for _, name in ipairs(class.arguments) do assert.truthy(laws.field(class, (name:gsub("%?", ""))), name) end
      end)

      it("has known needs and goes with some relation", function()
        local of = internal.law_table(laws.make(class))
        assert.is_true(of.needs.bits > 0 and of.needs.bits < 8192)
        assert.is_true(class.goes_with.bits > 0 and class.goes_with.bits < 8)
        assert.is_true(of.constrained >= 0 and of.constrained <= laws.make(class):size())
        if class.joint then assert.is_true(class.unilateral) end
      end)

      it("groups all rows, with the bounds of the object", function()
        local law = laws.make(class)
        local row, lb, ub = 1, law:lb(), law:ub()
        for _, group in ipairs(internal.law_table(law).groups) do
          if group.dim == 1 then assert.same({ lb[row], ub[row] }, { group.lower, group.upper }) end
          assert.is_true(group.dim >= 1 and group.mu >= 0)
          row = row + group.dim
        end
        assert.equal(law:size() + 1, row)
      end)

      it("has a method for each field that is not hidden, and no other", function()
        local law, expected = laws.make(class), { display = true, close = true }
        each(function(field)
          if field.hidden then return end
          expected[field.name] = true
          if field.setter then expected["set" .. field.name:sub(1, 1):upper() .. field.name:sub(2)] = true end
        end)
        for name in pairs(debug.getregistry()[class.name].__index) do
          assert.is_true(expected[name], name)
          expected[name] = nil
        end
        assert.same({}, expected)
        assert.equal(class.name, getmetatable(law))
      end)

      it("shows its numbers, and words whose {fields} are there", function()
        local text = tostring(laws.make(class))
        assert.truthy(text:find(class.name .. " of size %d"))
        assert.falsy(text:find "[{}]")
      end)

      -- The values of all fields that scripts see, arrays as tables.
      local function values(law)
        local list = {}
        each(function(field)
          if field.hidden then return end
          local value = law[field.name](law)
          list[field.name] = type(value) == "userdata" and value:totable() or value
        end)
        return list
      end

      -- Sets every field that may be set, to values that depend on `which`.
      local function set_all(law, which)
        each(function(field)
          if not field.setter or field.alias then return end
          local setter = law["set" .. field.name:sub(1, 1):upper() .. field.name:sub(2)]
          if field.type == "number" then
            setter(law, laws.number(field, which))
            assert.equal(laws.number(field, which), law[field.name](law))
          else
            local value = {}
            for i = 1, #law[field.name](law) do value[i] = (field.name == "lb" and -1 or 1) * (which + i) end
            setter(law, value)
            assert.same(value, law[field.name](law):totable())
          end
        end)
      end

      it("has fields that are got as they were set, and cloned", function()
        local law = laws.make(class)
        set_all(law, 2)
        local clone = internal.law_clone(law)
        local before = values(law)
        assert.same(before, values(clone))
        assert.equal(tostring(law), tostring(clone))
        set_all(clone, 3)
        assert.same(before, values(law))
        each(function(field)
          if field.type == "number" and field.setter then
            local setter = "set" .. field.name:sub(1, 1):upper() .. field.name:sub(2)
            for _, beyond in ipairs { field.least - 1, field.most + 1 } do
              assert.truthy(message(law[setter], law, beyond):find(setter .. ": " .. field.name .. ": expected ", 1, true))
            end
          end
        end)
        assert.same(before, values(law))
      end)

      it("raises when there is no memory, and leaves the law that is cloned as it is", function()
        local law = laws.make(class)
        local before = values(law)
        local function until_it_works(f)
          for n = 0, 200 do
            local came, good, result = internal.failing(n, false, f)
            if not came then
              assert.is_true(good)
              assert.same(before, values(result))
              return
            end
            assert.is_false(good)
            assert.equal("not enough memory", result:match "not enough memory")
          end
          error "it goes on failing"
        end
        until_it_works(function() return laws.make(class) end)
        until_it_works(function() return internal.law_clone(law) end)
        assert.same(before, values(law))
      end)

      it("has state that checkpoints give back, and constants of which others are refused", function()
        local directory = host.new_directory()
        local file = directory .. "/law.ckpt"
        local law = laws.make(class)
        set_all(law, 2)
        local simu = laws.simulation(law)
        simu:computeOneStep()
        simu:nextStep()
        simu:save_state(file)
        local before, at = values(law), simu:step()
        set_all(law, 3)
        simu:computeOneStep()
        simu:load_state(file)
        each(function(field)
          if field.state then assert.same(before[field.name], values(law)[field.name]) end
        end)
        assert.equal(at, simu:step())
        local other = laws.make(class)
        laws.simulation(other):load_state(file)
        each(function(field)
          if field.state then assert.same(before[field.name], values(other)[field.name]) end
        end)
        for i, name in ipairs(class.arguments) do
          if laws.field(class, (name:gsub("%?", ""))).constant then
            local arguments = laws.arguments(class)
            if math.type(arguments[i]) == "integer" then arguments[i] = arguments[i] - 1
            elseif type(arguments[i]) == "number" then arguments[i] = arguments[i] + 1
            elseif type(arguments[i][1]) == "number" then arguments[i][1] = arguments[i][1] - 1
            else arguments[i][1][1] = arguments[i][1][1] + 1 end
            local another = laws.simulation(laws.make(class, arguments))
            assert.truthy(message(another.load_state, another, file):find("is of another model", 1, true))
          end
        end
        host.remove(directory)
      end)

      it("is taken by some one-step problem, and refused by the others with one that takes it", function()
        local taken = 0
        for _, name in ipairs(problems) do
          local text = refusal(laws.make(class), ns[name]())
          taken = taken + (text and 0 or 1)
          if text then
            assert.truthy(text:find(("%s: interaction 'only' has a %s; use "):format(name, class.name), 1, true), text)
            for advised in text:match("use (.*)$"):gmatch "%u%w+" do
              assert.is_nil(refusal(laws.make(class), ns[advised]()), advised)
            end
          end
        end
        assert.is_true(taken > 0)
      end)
    end)
  end
end)

-- The laws that each one takes, as they were told in the reference.
local taken = {
  LCP = { "ComplementarityConditionNSL", "NewtonImpactNSL" },
  Relay = { "ComplementarityConditionNSL", "NewtonImpactNSL", "EqualityConditionNSL", "RelayNSL" },
  MLCP = { "ComplementarityConditionNSL", "NewtonImpactNSL", "EqualityConditionNSL", "RelayNSL",
    "MixedComplementarityConditionNSL" },
  Equality = { "EqualityConditionNSL" },
  AVI = { "ComplementarityConditionNSL", "NewtonImpactNSL", "EqualityConditionNSL", "RelayNSL",
    "MixedComplementarityConditionNSL", "NormalConeNSL" },
  FrictionContact = { "NewtonImpactFrictionNSL" },
  GenericMechanical = { "ComplementarityConditionNSL", "NewtonImpactNSL", "EqualityConditionNSL", "RelayNSL",
    "MixedComplementarityConditionNSL", "NewtonImpactFrictionNSL" },
}
local first = { "ComplementarityConditionNSL", "EqualityConditionNSL", "RelayNSL", "MixedComplementarityConditionNSL",
  "NormalConeNSL", "NewtonImpactNSL", "NewtonImpactFrictionNSL" }

local function has(list, name)
  for _, other in ipairs(list) do
    if other == name then return true end
  end
  return false
end

describe("laws are taken", function()
  it("by one-step problems", function()
    for problem, list in pairs(taken) do
      for _, name in ipairs(first) do
        local refused = refusal(laws.make(laws.classes[name]), ns[problem]()) ~= nil
        assert.equal(not has(list, name), refused, problem .. " " .. name)
      end
    end
  end)

  it("by schemes of positions and of events: joints and contacts with restitution", function()
    for _, name in ipairs(first) do
      local class = laws.classes[name]
      local law = laws.make(class)
      if class.goes_with.velocities then
        local n = law:size()
        for _, osi in ipairs { ns.SchatzmanPaoliOSI(0.5), ns.D1MinusLinearOSI() } do
          local ds = ns.LagrangianLinearTIDS(ns.zeros(n), ns.zeros(n), ns.eye(n))
          local nsds = ns.NonSmoothDynamicalSystem(0, 1)
          nsds:insertDynamicalSystem(ds)
          nsds:link(ns.Interaction(law, ns.LagrangianLinearTIR(ns.eye(n)), "only"), ds)
          local text = failure(ns.TimeStepping, nsds, ns.TimeDiscretisation(0, 0.1), osi)
          local expected = not (name == "NewtonImpactNSL" or name == "EqualityConditionNSL")
          assert.equal(expected, text ~= nil and text:find("interaction 'only' has a " .. name, 1, true) ~= nil, name)
        end
      end
    end
  end)

  it("by relations of their sort", function()
    for _, class in ipairs(laws.classes) do
      local law = laws.make(class)
      local n = law:size()
      local function link(relation, ds)
        local nsds = ns.NonSmoothDynamicalSystem(0, 1)
        nsds:insertDynamicalSystem(ds)
        return failure(nsds.link, nsds, ns.Interaction(law, relation), ds)
      end
      local mass = function() return ns.LagrangianLinearTIDS(ns.zeros(n), ns.zeros(n), ns.eye(n)) end
      local texts = {
        first_order = link(ns.FirstOrderLinearTIR(ns.eye(n), ns.eye(n)), ns.FirstOrderLinearTIDS(ns.zeros(n), ns.zeros(n, n))),
        velocities = link(ns.LagrangianLinearTIR(ns.eye(n)), mass()),
        positions = link(ns.LagrangianCompliantLinearTIR(ns.eye(n), ns.eye(n)), mass()),
      }
      for _, sort in ipairs { "first_order", "velocities", "positions" } do
        if class.goes_with[sort] then assert.is_nil(texts[sort])
        else assert.truthy(texts[sort]:find("link: a " .. class.name .. " can not act through a ", 1, true)) end
      end
    end
  end)
end)

-- What holds for the tables of every class of systems, relations and boundary conditions; one that is added is looked at
-- without a word here.
local ns = require "nslua"
local internal = require "nslua.internal"

local function slot_of(class, brief)
  for _, slot in ipairs(class.slots) do
    if slot.brief == brief then return slot end
  end
end

for _, class in ipairs(internal.classes()) do
  describe("the table of " .. class.name, function()
    it("has coefficients first, and no field that a run changes and that is constant", function()
      local first, names = true, {}
      for _, field in ipairs(class.fields) do
        first = first and field.type == "coef"
        assert.equal(first, field.type == "coef" and not field.alias, field.name)
        assert.falsy(field.state and field.constant, field.name)
        assert.falsy(field.alias and (field.state or field.constant), field.name)
        if field.run then assert.is_true(field.state, field.name) end
        local given = field.type == "coef" and not field.alias or field.type == "callback"
        if given then assert.is_true(field.constant, field.name) end
        names[field.type .. field.name] = (names[field.type .. field.name] or 0) + 1
      end
      for name, count in pairs(names) do assert.equal(1, count, name) end
    end)

    it("has slots for its callbacks, and Jacobians of these", function()
      for _, field in ipairs(class.fields) do
        if field.type == "callback" then assert.truthy(slot_of(class, field.name), field.name) end
      end
      for _, slot in ipairs(class.slots) do
        assert.equal("compute", slot.name:sub(1, 7))
        assert.truthy(slot.args:find "^[xlvz]*$")
        assert.truthy((slot.rows .. slot.cols):find "^[nm13][nmp1]$")
        assert.equal(slot.of == nil, slot.by == nil)
        if slot.of then
          assert.truthy(slot_of(class, slot.of), slot.name)
          assert.is_true(slot.by == "x" or slot.by == "l")
          assert.truthy(slot_of(class, slot.of).args:find(slot.by), slot.name)
        end
      end
    end)

    it("is a constructor of ns, with the callbacks that ns.class knows", function()
      assert.is_function(ns[class.name])
      local derived = ns.class(ns[class.name])
      for _, slot in ipairs(class.slots) do derived[slot.name] = function() end end
      if #class.slots > 0 then
        assert.has_error(function() derived.computeNothing = function() end end)
      end
    end)
  end)
end

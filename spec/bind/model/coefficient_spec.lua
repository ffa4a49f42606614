-- Methods, option tables and clones out of the tables of classes.
local ns = require "nslua"
local internal = require "nslua.internal"
local message = require "bind.models".message

-- An object of a class, without data.
local function make(class)
  local noun, name = class.noun, class.name
  if noun == "relation" then return ns[name] { name = "r" } end
  if name == "HarmonicBC" then return ns.HarmonicBC({ 1 }, 0, 1, 1, 0) end
  if noun == "boundary condition" then return ns[name] { 1 } end
  if name == "NewtonEulerDS" then return ns.NewtonEulerDS({ 0, 0, 0, 1, 0, 0, 0 }, { 0, 0, 0, 0, 0, 0 }, 1, ns.eye(3)) end
  local mechanical = class.arguments[1] == "q0"
  if name == "LagrangianLinearDiagonalDS" then return ns[name]({ 0 }, { 0 }, { 1 }) end
  if mechanical then return ns[name]({ 0 }, { 0 }) end
  return ns[name] { 0 }
end

local function capital(name) return name:sub(1, 1):upper() .. name:sub(2) end

for _, class in ipairs(internal.classes()) do
  describe(class.name, function()
    it("has a method for each field, and one that sets it where it may be", function()
      local object = make(class)
      for _, field in ipairs(class.fields) do
        local setter, name = field.name:len() == 1 and field.type ~= "vector" and field.name or capital(field.name), field.name
        if name == "z" then setter = "z" end
        if not field.hidden and (field.type == "coef" or field.type == "vector" or field.type == "text") then
          assert.is_function(object[name], name)
          if field.setter then assert.is_function(object["set" .. setter], setter) end
          local shares = field.setter and (field.type == "coef" or name == "z")
          if shares then assert.is_function(object["set" .. setter .. "Ptr"], setter) end
        end
      end
      object:setName "thing"
      assert.equal("thing", object:name())
    end)

    it("has a setter for each callback, which takes a function, a symbol or nil", function()
      local object = make(class)
      for _, slot in ipairs(class.slots) do
        local ending = slot.name:sub(8)
        if ending == "e" or ending == "f" then ending = capital(ending) end
        local who = "setCompute" .. capital(slot.name):sub(8):gsub("^.*$", ending) .. "Function"
        local set = object[who]
        assert.is_function(set, who)
        set(object, function() end)
        set(object, nil)
        assert.equal(who .. ": callback: expected a function, or a library and a symbol, got number 3.0", message(set, object, 3))
      end
    end)

    it("knows the keys of its option table", function()
      if class.noun == "boundary condition" then return end
      local text = message(ns[class.name], { nothing = 1 })
      assert.matches(class.name .. ": unknown option 'nothing' (known: ", text, 1, true)
      for _, slot in ipairs(class.slots) do assert.matches("[ ,(]" .. slot.brief .. "[,)]", text) end
      for _, name in ipairs(class.arguments) do assert.matches("[ ,(]" .. name .. "[,)]", text) end
      assert.matches(" z, name", text, 1, true)
    end)
  end)
end

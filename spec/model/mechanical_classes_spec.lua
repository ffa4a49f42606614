-- The classes of mechanical systems: what each of them has.
local ns = require "nslua"
local message = require "bind.models".message

local make = {
  LagrangianDS = function(o) return ns.LagrangianDS { q0 = { 1, 2 }, v0 = { 3, 4 }, z = o.z, name = o.name } end,
  LagrangianLinearTIDS = function(o) return ns.LagrangianLinearTIDS { q0 = { 1, 2 }, v0 = { 3, 4 }, z = o.z, name = o.name } end,
  LagrangianLinearDiagonalDS = function(o)
    return ns.LagrangianLinearDiagonalDS { q0 = { 1, 2 }, v0 = { 3, 4 }, stiffness = { 1, 1 }, z = o.z, name = o.name }
  end,
  NewtonEulerDS = function(o)
    return ns.NewtonEulerDS { q0 = { 0, 0, 1, 1, 0, 0, 0 }, v0 = { 1, 2, 3, 4, 5, 6 }, mass = 1, inertia = ns.eye(3), z = o.z,
      name = o.name }
  end,
}

-- The coefficients that each class has, of those that some class has.
local all = { "mass", "K", "C", "fInt", "fGyr", "jacobianFIntq", "jacobianFIntqDot", "jacobianFGyrq", "jacobianFGyrqDot" }
local has = {
  LagrangianDS = { mass = true, fInt = true, fGyr = true, jacobianFIntq = true, jacobianFIntqDot = true, jacobianFGyrq = true,
    jacobianFGyrqDot = true },
  LagrangianLinearTIDS = { mass = true, K = true, C = true },
  LagrangianLinearDiagonalDS = { mass = true, K = true, C = true },
  NewtonEulerDS = { fInt = true, jacobianFIntq = true, jacobianFIntqDot = true },
}

describe("the classes of mechanical systems", function()
  for name, maker in pairs(make) do
    it("take their coefficients and refuse those of others: " .. name, function()
      local ds = maker {}
      local nv, nq = #ds:velocity(), #ds:q()
      for _, coefficient in ipairs(all) do
        local setter = "set" .. coefficient:sub(1, 1):upper() .. coefficient:sub(2)
        local vector = coefficient == "fInt" or coefficient == "fGyr"
        local value = vector and ns.zeros(nv) or ns.zeros(nv, coefficient:find "q$" and nq or nv)
        for _, ending in ipairs { "", "Ptr" } do
          if has[name][coefficient] then
            ds[setter .. ending](ds, value)
          else
            assert.matches(("%s: it has no method '%s%s'"):format(name, setter, ending),
              message(function() return ds[setter .. ending] end), 1, true)
          end
        end
      end
    end)

    it("show the parts of the state, its memory and their parameters: " .. name, function()
      local ds = maker { z = { 7, 8 }, name = "it" }
      assert.equal("it", ds:name())
      assert.same({ 7, 8 }, ds:z():totable())
      local x, nq = ds:x(), #ds:q()
      for i = 1, nq do assert.equal(x[i], ds:q()[i]) end
      for i = 1, #ds:velocity() do assert.equal(x[nq + i], ds:velocity()[i]) end
      assert.same(ds:q():totable(), ds:qMemory():totable())
      assert.same(ds:velocity():totable(), ds:velocityMemory():totable())
      ds:setVelocity(2 * ds:velocity())
      assert.equal(2 * ds:velocityMemory()[1], ds:velocity()[1])
      ds:resetToInitialState()
      assert.same(ds:x0():totable(), ds:x():totable())
      assert.has_error(function() ds:setVelocity { 1 } end)
    end)
  end
end)

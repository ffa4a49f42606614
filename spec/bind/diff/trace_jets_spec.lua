-- Higher derivatives of a traced function: the tape's are the plain function's, to the bit; one that is not finite is an error.
local ns = require "nslua"
local motion = require "nslua.core".motion_support
local message = require "bind.models".message

local function f(t, q)
  return { q[1] * q[2] * math.sin(t * q[3]), q[3] ^ 3 / q[1], math.exp(q[2]) * q[1] ^ 1.5 }
end

describe("jets of a traced function", function()
  it("are the plain function's", function()
    local q, v, a, w = { 0.7, -1.3, 0.4 }, { 1, -2, 0.5 }, { 0.1, 0, 3 }, { 1, -2, 0.25 }
    for _, call in ipairs { { motion.twist, 2, v, a }, { motion.bowl, w } } do
      local rest = table.move(call, 2, #call, 1, {})
      local plain = { call[1](f, 0.6, q, 3, table.unpack(rest)) }
      local traced = { call[1](ns.compile(f), 0.6, q, 3, table.unpack(rest)) }
      for k = 1, #plain do assert.equal(plain[k], traced[k]) end
    end
  end)

  it("are errors where they are not finite", function()
    local g = ns.compile(function(_, q) return { q[1], q[1] ^ 1.5 } end)
    assert.equal("f[2]: a higher derivative is not finite", message(motion.bowl, g, 0, { 0 }, 2, { 0, 1 }))
  end)
end)

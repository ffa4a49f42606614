-- What the specs of dual numbers share.
local assert = require "luassert"

local duals = {}

-- The error of f(...) matches the pattern.
function duals.fails(pattern, f, ...)
  local ok, err = pcall(f, ...)
  assert.is_false(ok)
  assert.matches(pattern, tostring(err))
end

function duals.rows(m)
  local t = {}
  for i = 1, m:rows() do t[i] = m[i]:totable() end
  return t
end

local sin, cos, exp = math.sin, math.cos, math.exp

-- No replacement is left in the table math.
function duals.math_is_back()
  assert.equal(sin, math.sin)
  assert.equal(cos, math.cos)
  duals.fails("number expected, got table", exp, {})
  assert.equal(exp, math.exp)
end

return duals

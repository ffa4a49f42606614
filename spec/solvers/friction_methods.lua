-- What the specs of single friction methods share.
local assert = require "luassert"
local ns = require "nslua"
local random_friction = dofile "spec/random_friction.lua"

local methods = { random_friction = random_friction }

function methods.solve(p, solver, more)
  local options = { W = p.W, q = p.q, mu = p.mu, solver = solver }
  for key, value in pairs(more or {}) do options[key] = value end
  return ns.numerics[p.dim == 2 and "fc2d" or "fc3d"](options)
end

-- Solves random problems of a kind that the method is made for, alone, and asks for the least share of them; `name`:
-- what results call it.
function methods.check_share(solver, name, dim, kind, share)
  math.randomseed(23)
  local solved, count = 0, 12
  for _ = 1, count do
    local p = random_friction.problem(kind, dim, math.random(1, 5))
    local a = methods.solve(p, solver)
    if a.success then
      solved = solved + 1
      assert.is_true(random_friction.residual(p, a.r) <= 1.01e-8)
      assert.is_true(a.solver == name or a.iterations == 0)
    end
  end
  assert.is_true(solved >= share * count, solved .. " of " .. count)
end

-- A test for each kind of `shares`, in each of the dimensions; `it` as busted has it.
function methods.check_shares(it, solver, name, dims, shares)
  for _, dim in ipairs(dims) do
    for _, kind in ipairs(random_friction.names) do
      if shares[kind] then
        it(("solves %dD %s problems"):format(dim, kind), function()
          methods.check_share(solver, name, dim, kind, shares[kind])
        end)
      end
    end
  end
end

return methods

-- What the specs of single methods for rows and contacts share.
local assert = require "luassert"
require "nslua"
local internal = require "nslua.internal"
local random_mixed = require "random_mixed"

local parts = { random_mixed = random_mixed }

-- Solves random problems by a method alone, and asks for the least share of them.
function parts.check_share(method, kind, matrix, share, groups)
  math.randomseed(51)
  local solved, count = 0, 12
  for _ = 1, count do
    local p = random_mixed.problem(kind, matrix, math.random(#random_mixed.kinds[kind], groups or 12))
    p.sparse = method == "heap" -- which is for large problems, with their sparse matrix
    local a = internal.mixed_part(p, method)
    if a.measure <= 1e-10 then
      solved = solved + 1
      assert.is_true(random_mixed.residual(p, a.z) <= 1e-9)
    end
  end
  assert.is_true(solved >= share * count, solved .. " of " .. count)
end

-- A test for each kind, of the share of problems that each kind of matrix is to have solved; `it` as busted has it.
function parts.check_shares(it, method, kinds, shares)
  for kind in kinds:gmatch "%S+" do
    it("solves " .. kind, function()
      for matrix, share in pairs(shares) do parts.check_share(method, kind, matrix, share) end
    end)
  end
end

return parts

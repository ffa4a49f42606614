-- Random matrices and checks, shared by the specs of linear algebra.
local assert = require "luassert"
local ns = require "nslua"

local matrices = {}

function matrices.random(m, n)
  local A = ns.matrix(m, n)
  for i = 1, m do
    for j = 1, n do A[i][j] = 2 * math.random() - 1 end
  end
  return A
end

function matrices.random_vector(n)
  local t = {}
  for i = 1, n do t[i] = 2 * math.random() - 1 end
  return ns.vector(t)
end

function matrices.diag(t)
  local D = ns.matrix(#t, #t)
  for i = 1, #t do D[i][i] = t[i] end
  return D
end

function matrices.eye(n)
  local A = ns.matrix(n, n)
  for i = 1, n do A[i][i] = 1 end
  return A
end

function matrices.T(A) return A:transpose() end

function matrices.small(X, bound)
  local norm = ns.norm(X)
  assert.is_true(norm <= bound, ("norm %g above %g"):format(norm, bound))
end

function matrices.orthonormal(Q)
  matrices.small(matrices.T(Q) * Q - matrices.eye(Q:cols()), 1e-13 * (1 + Q:cols()))
end

matrices.fails = require "expect".fails

matrices.shapes = {{1, 1}, {1, 5}, {5, 1}, {3, 3}, {7, 4}, {4, 7}, {20, 20}, {40, 11}, {11, 40}, {40, 40}}

-- m x n of rank r
function matrices.of_rank(m, n, r) return matrices.random(m, r) * matrices.random(r, n) end

return matrices

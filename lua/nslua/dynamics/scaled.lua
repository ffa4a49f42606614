-- nslua.dynamics.scaled: equations whose rows and unknowns have units of their own. They are solved with scaled rows
-- and unknowns; the scales are powers of two, so that units change no bit.
local core = require "nslua.core"
local times = require "nslua.base.blocks".times

-- SINGULAR: singular values of scaled equations below this part of the largest count as 0.
local scaled = { SINGULAR = 1e-11 }

local function power(size) return size > 0 and 2.0 ^ -math.floor(math.log(size, 2)) or 1 end

-- The scales of the equations and of the unknowns: rows and columns are brought to a largest entry near 1.
function scaled.scales(K)
  local rows, cols = {}, {}
  for i = 1, K:rows() do rows[i] = 1 end
  for j = 1, K:cols() do cols[j] = 1 end
  for _ = 1, 4 do
    for i = 1, #rows do
      local size = 0
      for j = 1, #cols do size = math.max(size, math.abs(K[i][j]) * rows[i] * cols[j]) end
      rows[i] = rows[i] * power(size)
    end
    for j = 1, #cols do
      local size = 0
      for i = 1, #rows do size = math.max(size, math.abs(K[i][j]) * rows[i] * cols[j]) end
      cols[j] = cols[j] * power(size)
    end
  end
  return rows, cols
end

-- K with scaled rows and columns, and these scales.
function scaled.matrix(K)
  local rows, cols = scaled.scales(K)
  return times(K, rows, cols), rows, cols
end

-- X of least norm (in scaled unknowns) with K X = R, and the rank of K.
function scaled.least(K, R)
  if R:cols() == 0 then return core.zeros(K:cols(), 0) end
  local S, rows, cols = scaled.matrix(K)
  local X, rank = core.lstsq(S, times(R, rows), scaled.SINGULAR)
  return times(X, cols), rank
end

-- Whether a square matrix is regular.
function scaled.regular(K)
  local _, rank = scaled.least(K, core.zeros(K:rows(), 1))
  return rank == K:cols()
end

-- A basis of the null space in columns; all of the space for A = 0.
function scaled.null(A)
  if A:rows() == 0 or A:norm(math.huge) == 0 then return core.eye(A:cols()) end
  local S, _, cols = scaled.matrix(A)
  return times(core.null(S, scaled.SINGULAR), cols)
end

return scaled

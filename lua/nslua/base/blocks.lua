-- nslua.base.blocks: rows and columns of matrices, by lists of their numbers or of factors; nil: all of them.
local core = require "nslua.core"

local blocks = {}

-- Writes the elements of A into the rows and columns of another matrix.
function blocks.put(to, A, rows, cols)
  for i = 1, A:rows() do
    for j = 1, A:cols() do to[rows and rows[i] or i][cols and cols[j] or j] = A[i][j] end
  end
end

-- The matrix of these rows and columns of A.
function blocks.pick(A, rows, cols)
  local out = core.zeros(rows and #rows or A:rows(), cols and #cols or A:cols())
  for i = 1, out:rows() do
    for j = 1, out:cols() do out[i][j] = A[rows and rows[i] or i][cols and cols[j] or j] end
  end
  return out
end

-- A with row i times rows[i] and column j times cols[j]; nil: times 1.
function blocks.times(A, rows, cols)
  local out = A:copy()
  for i = 1, A:rows() do
    for j = 1, A:cols() do out[i][j] = A[i][j] * (rows and rows[i] or 1) * (cols and cols[j] or 1) end
  end
  return out
end

return blocks

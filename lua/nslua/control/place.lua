-- nslua.control.place: gains that give a closed loop the poles that are asked for.
--
-- Schur method (Varga, IEEE Trans. Autom. Control 26, 1981): the last block of a Schur form gets its one or two poles
-- by a gain of small norm, then it moves to the top, and the next block is the last. Where rounding moves its poles,
-- which may be sensitive, a closed loop with well-conditioned eigenvectors is sought. With few inputs the poles are
-- sensitive whatever the gain: the errors grow exponentially with n / m (He, Laub and Mehrmann 1995; Mehrmann and Xu,
-- Linear Algebra Appl. 240, 1996).
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local spectrum = require "nslua.dynamics.spectrum"
local system = require "nslua.control.system"
local where = require "nslua.base.where"

local fail, describe, reject = arguments.fail, arguments.describe, arguments.reject

local place = {}

-- Poles that are farther off than this part of the largest one are sought by eigenvectors, too; so often each one is
-- chosen, and a gain is refined.
local ACCURATE, SWEEPS = 1e-12, 6

-- A pole: a number, { re, im }, or a table with re and im.
local function pole_of(value, who, i)
  if type(value) == "number" and value - value == 0 then return { re = value, im = 0 } end
  local re = type(value) == "table" and (value.re or value[1])
  local im = type(value) == "table" and (value.im or value[2] or 0)
  reject(type(re) ~= "number" or type(im) ~= "number" or re - re ~= 0 or im - im ~= 0, value,
    "%s: poles[%d]: expected a number or { re, im }", who, i)
  return { re = re, im = im }
end

-- The poles as real ones, and pairs by their members with im > 0.
local function poles_of(list, n, who)
  if type(list) ~= "table" and not core.isvector(list) or #list ~= n then
    fail("%s: poles: expected a list of %d, one for each state, got %s", who, n,
      (type(list) == "table" or core.isvector(list)) and "one of " .. #list or describe(list))
  end
  local reals, pairs_, lower = {}, {}, {}
  for i = 1, n do
    local pole = pole_of(list[i], who, i)
    table.insert(pole.im == 0 and reals or pole.im > 0 and pairs_ or lower, pole)
  end
  for _, pole in ipairs(pairs_) do
    local found
    for k, other in ipairs(lower) do
      if other.re == pole.re and other.im == -pole.im then found = k end
    end
    if not found then fail("%s: poles: %g + %gi comes without its conjugate", who, pole.re, pole.im) end
    table.remove(lower, found)
  end
  if lower[1] then fail("%s: poles: %g - %gi comes without its conjugate", who, lower[1].re, -lower[1].im) end
  return reals, pairs_
end

-- ---- gains of a block ----

-- F with the eigenvalue `pole` of G + B F; G is 1 x 1, B one row.
local function one_pole(G, B, pole, least)
  local b = B:row(1)
  local size = b:norm()
  if size <= least then return nil end
  return (b * ((pole - G[1][1]) / (size * size))):column()
end

-- The matrices with sum s and product p of eigenvalues that are near the 2 x 2 block G.
local function targets(G, s, p)
  local list, half = {}, s / 2
  local square = half * half - p -- of half the distance of the poles
  local root = math.sqrt(math.abs(square))
  if square >= 0 then
    for _, sign in ipairs { 1, -1 } do
      list[#list + 1] = { { half + sign * root, G[1][2] }, { 0, half - sign * root } }
      list[#list + 1] = { { half + sign * root, 0 }, { G[2][1], half - sign * root } }
    end
  else
    local ratio = G[1][2] ~= 0 and G[2][1] ~= 0 and math.sqrt(math.abs(G[1][2] / G[2][1])) or 1
    for _, sign in ipairs { 1, -1 } do
      list[#list + 1] = { { half, sign * root * ratio }, { -sign * root / ratio, half } }
      list[#list + 1] = { { half, sign * root }, { -sign * root, half } }
    end
  end
  return list
end

-- F (m x 2) of small norm with the eigenvalues of G + B F; G is 2 x 2, B has two rows. U diag(sigma) V' = B.
local function two_poles(G, B, s, p, least)
  local U, sigma, V = B:svd()
  if sigma[1] <= least then return nil end
  local H, candidates = U:transpose() * G * U, {}
  if #sigma == 1 then
    U = core.hstack(U, core.matrix { { -U[2][1] }, { U[1][1] } })
    H = U:transpose() * G * U
  end
  if H[2][1] ~= 0 then
    local m11 = s - H[2][2]
    local m12 = (m11 * H[2][2] - p) / H[2][1]
    candidates[1] = core.matrix { { (m11 - H[1][1]) / sigma[1], (m12 - H[1][2]) / sigma[1] } }
  end
  if #sigma > 1 and sigma[2] > least then
    for _, M in ipairs(targets(H, s, p)) do
      candidates[#candidates + 1] = core.matrix { { (M[1][1] - H[1][1]) / sigma[1], (M[1][2] - H[1][2]) / sigma[1] },
        { (M[2][1] - H[2][1]) / sigma[2], (M[2][2] - H[2][2]) / sigma[2] } }
    end
  end
  local best
  for _, K in ipairs(candidates) do
    if K:isfinite() and (not best or K:norm() < best:norm()) then best = K end
  end
  return best and V:slice(1, V:rows(), 1, best:rows()) * best * U:transpose()
end

-- ---- the Schur form ----

-- The sizes of the blocks on the diagonal, from the top: list of { first, size }.
local function blocks_of(S)
  local list, i = {}, 1
  while i <= S:rows() do
    local size = i < S:rows() and S[i + 1][i] ~= 0 and 2 or 1
    list[#list + 1] = { first = i, size = size }
    i = i + size
  end
  return list
end

-- Brings the blocks with these numbers to the bottom, behind all others.
local function to_bottom(S, Z, blocks, numbers)
  local chosen, last = {}, {}
  for _, k in ipairs(numbers) do last[k] = true end
  for k, block in ipairs(blocks) do
    for i = block.first, block.first + block.size - 1 do chosen[i] = not last[k] end
  end
  return core.ordschur(S, Z, chosen)
end

-- The numbers of the blocks, from `first` on, that take the next `size` poles: the last block, or two real ones.
local function choose(blocks, first, size)
  local reals = {}
  for k = #blocks, first, -1 do
    if blocks[k].size == size and (size == 1 or k == #blocks) then return { k } end
    if blocks[k].size == 1 then
      reals[#reals + 1] = k
      if size == 2 and #reals == 2 then return reals end
    elseif size == 2 then
      return { k }
    end
  end
end

-- Adds to the gain F what gives the last `size` rows the next poles; `done` rows at the top have theirs.
local function assign(state, size, s, p, who)
  local S, n = state.S, state.S:rows()
  local rows = state.Z:slice(1, n, n - size + 1, n):transpose() * state.B
  local G = S:slice(n - size + 1, n, n - size + 1, n)
  local least = state.least
  local f = size == 1 and one_pole(G, rows, s, least) or size == 2 and two_poles(G, rows, s, p, least)
  if not f then
    local last = G[size][size]
    if size == 2 and G[2][1] ~= 0 then last = (G[1][1] + last) / 2 end
    fail("%s: a mode near %g is not controllable: no gain moves it", who, last)
  end
  state.F = state.F + f * state.Z:slice(1, n, n - size + 1, n):transpose()
  local last_columns = S:slice(1, n, n - size + 1, n)
  last_columns:assign(last_columns + state.Z:transpose() * state.B * f)
  if size == 2 then -- the block in Schur form again
    local R, Q = core.schur(S:slice(n - 1, n, n - 1, n))
    for _, M in ipairs { S, state.Z } do
      local columns = M:slice(1, n, n - 1, n)
      columns:assign(columns * Q)
    end
    S:slice(n - 1, n, n - 1, n):assign(R)
  end
  local chosen = {}
  for i = 1, n do chosen[i] = i <= state.done or i > n - size end
  state.S, state.Z = core.ordschur(S, state.Z, chosen)
  state.done = state.done + size
end

-- Poles in the order in which they are given away: a single real one first, then pairs of real ones, then complex
-- pairs.
local function steps_of(reals, pairs_)
  local steps, first = {}, #reals % 2
  if first == 1 then steps[1] = { 1, reals[1].re, 0 } end
  for i = first + 1, #reals, 2 do
    steps[#steps + 1] = { 2, reals[i].re + reals[i + 1].re, reals[i].re * reals[i + 1].re }
  end
  for _, pole in ipairs(pairs_) do steps[#steps + 1] = { 2, 2 * pole.re, pole.re * pole.re + pole.im * pole.im } end
  return steps
end

-- K by Schur's form.
local function by_schur(A, B, reals, pairs_, who)
  local S, Z = core.schur(A)
  local state = { S = S, Z = Z, B = B, F = core.zeros(B:cols(), A:rows()), done = 0, least = 2 ^ -46 * B:norm() }
  for _, step in ipairs(steps_of(reals, pairs_)) do
    local blocks, first = blocks_of(state.S), 1
    while blocks[first] and blocks[first].first <= state.done do first = first + 1 end
    state.S, state.Z = to_bottom(state.S, state.Z, blocks, choose(blocks, first, step[1]))
    assign(state, step[1], step[2], step[3], who)
  end
  return state.F * -1
end

-- ---- eigenvectors ----

-- An orthonormal basis of the vectors v with M v = 0; M has more columns than rows.
local function kernel(M)
  local r, n = M:rows(), M:cols()
  return core.hstack(M:transpose(), core.zeros(n, n - r)):qr():slice(1, n, r + 1, n)
end

-- K by eigenvectors that are as orthogonal as they can be: each in turn is the vector that A and B allow for its pole
-- nearest to what is orthogonal to the others (Kautsky, Nichols and Van Dooren, Int. J. Control 41, 1985, method 0);
-- u + iv of a pair are two real columns. nil: there are none.
local function by_eigenvectors(A, B, reals, pairs_)
  local n, m = A:rows(), B:cols()
  local Q, R = B:qr()
  if m > n or core.rcond(R) < 2 ^ -40 then return nil end
  local left = m < n and kernel(B:transpose()):transpose() or core.zeros(0, n)
  local one, rng, poles, first = core.eye(n), core.rng(1), {}, 1
  local X, L = core.zeros(n, n), core.zeros(n, n)
  for _, list in ipairs { reals, pairs_ } do
    for _, pole in ipairs(list) do
      local M, width = left * (A - pole.re * one), list == reals and 1 or 2
      if width == 2 then M = core.block { { M, left * pole.im }, { left * -pole.im, M } } end
      poles[#poles + 1] = { first = first, width = width, W = m < n and kernel(M) or core.eye(width * n) }
      L[first][first] = pole.re
      if width == 2 then
        L[first + 1][first + 1], L[first][first + 1], L[first + 1][first] = pole.re, pole.im, -pole.im
      end
      first = first + width
    end
  end
  local function choose_vector(pole, y)
    local x = pole.W * (pole.W:transpose() * y)
    x = x * (1 / x:norm())
    for i = 1, pole.width * n do X[(i - 1) % n + 1][pole.first + (i - 1) // n] = x[i] end
  end
  for _, pole in ipairs(poles) do
    local y = core.zeros(pole.width * n)
    for i = 1, #y do y[i] = rng:normal() end
    choose_vector(pole, y)
  end
  for _ = 1, SWEEPS do
    for _, pole in ipairs(poles) do
      local rows, list = X:inv(), {}
      for k = 1, pole.width do list[k] = rows:row(pole.first + k - 1) end
      choose_vector(pole, core.concatenate(list))
    end
  end
  return core.solve(R, Q:transpose() * (A - X * L * X:inv()))
end

-- ---- what became of a gain ----

-- Gives each pole the eigenvalue re + i im that is nearest to it: list of { number of it, pole }, for a pair twice;
-- and the largest distance, as a part of the largest pole or eigenvalue.
local function match(re, im, reals, pairs_)
  local list, taken, worst, size = {}, {}, 0, 0
  for _, poles in ipairs { reals, pairs_, pairs_ } do
    for _, pole in ipairs(poles) do
      local best, at = math.huge, 1
      for k = 1, #re do
        local d = math.sqrt((re[k] - pole.re) ^ 2 + (math.abs(im[k]) - pole.im) ^ 2)
        if not taken[k] and d < best then best, at = d, k end
      end
      taken[at], list[#list + 1] = true, { at, pole }
      worst = math.max(worst, best)
      size = math.max(size, math.abs(re[at]), math.abs(im[at]), math.abs(pole.re), pole.im)
    end
  end
  return list, worst / size, size
end

-- What became of the gain K: the poles of A - B K, their largest distance from those asked for, and what a rounding
-- of K alone may move them by to first order, |y' B| eps |K| |x|, as parts of the largest one; x, y: eigenvectors,
-- y' x = 1. And a gain with poles that are right to first order, where there is one: K and the sum of v y', y' B v =
-- the distance of the pole, v as small as it can be. Of a pair x and y are complex, in two columns and rows.
local function check(A, B, K, reals, pairs_)
  local re, im, X = core.eig(A - B * K)
  im = im or core.zeros(#re)
  local list, off, size = match(re, im, reals, pairs_)
  local info = { poles = spectrum.values(A - B * K), error = off, rounding = math.huge }
  local good, Y = where.try(X.inv, X)
  if not good then return info end
  local W, better, moved = Y * B, K:copy(), 0
  local G = W:abs() * K:abs()
  for k = 1, #re do
    moved = math.max(moved, (im[k] ~= 0 and 2 or 1) * G:row(k):dot(X:column(k):abs()))
  end
  for _, one in ipairs(list) do
    local k, pole, v, u = one[1], one[2], nil, nil
    local w, by = W:row(k), re[k] - one[2].re
    if im[k] == 0 and pole.im == 0 then
      v = w * (by / w:dot(w))
    elseif im[k] > 0 and pole.im > 0 then
      local q, more = W:row(k + 1), im[k] - pole.im
      local part = 2 / (w:dot(w) + q:dot(q))
      v, u = (w * by - q * more) * part, (w * more + q * by) * part
    end
    if v then better = better + v:outer(Y:row(k)) end
    if u then better = better + u:outer(Y:row(k + 1)) end
  end
  info.rounding = 2 ^ -53 * moved / size
  return info, better:isfinite() and better or nil
end

-- The gain, moved by Newton's method as long as that brings the poles nearer to those asked for.
local function refine(A, B, K, reals, pairs_)
  local info, better = check(A, B, K, reals, pairs_)
  for _ = 1, SWEEPS do
    if info.error <= info.rounding or not better then break end
    local next_info, next_better = check(A, B, better, reals, pairs_)
    if next_info.error >= info.error then break end
    K, info, better = better, next_info, next_better
  end
  return K, info
end

-- Poles that are farther off than this part of the largest one are not the ones that were asked for.
local LOST = 0.1

-- K such that A - B K has the poles, and what became of them.
function place.place(...)
  local who = "control.place"
  local A, B, _, poles = system.split(who, ...)
  local reals, pairs_ = poles_of(poles, A:rows(), who)
  table.sort(reals, function(a, b) return a.re < b.re end)
  local K, info = refine(A, B, by_schur(A, B, reals, pairs_, who), reals, pairs_)
  local good, other = false, nil
  if info.error > ACCURATE then good, other = where.try(by_eigenvectors, A, B, reals, pairs_) end
  if good and other then
    local second, found = refine(A, B, other, reals, pairs_)
    if found.error < info.error then K, info = second, found end
  end
  if info.error > LOST then
    fail("%s: the poles are off by %.2g of the largest one: a rounding of K alone may move them by %.2g of it; for "
      .. "%d states and %d inputs they are too sensitive: ask for others, or for more inputs, or use control.lqr",
      who, info.error, info.rounding, A:rows(), B:cols())
  end
  return K, info
end

-- The same for one input, where the gain is unique.
function place.acker(...)
  local who = "control.acker"
  local A, B, _, poles = system.split(who, ...)
  if B:cols() ~= 1 then fail("%s: B: expected one column, got %d; use control.place", who, B:cols()) end
  return place.place(A, B, poles)
end

return place

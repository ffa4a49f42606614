-- nslua.derivative_array: consistent values of differential-algebraic equations of index 2 and 3.
--
-- F(t, y, y') = 0 hides equations: those that its derivatives with respect to time imply. The derivative array
-- collects F, dF/dt and, for index 3, d2F/dt2 along y(s) = y + y1 s + y2 s^2 / 2 + y3 s^3 / 6. Gauss and Newton's
-- method solves it for the algebraic unknowns and for y1, y2, y3; what the array leaves open becomes least.
--
-- Campbell, Least squares completions for nonlinear differential algebraic equations, Numer. Math. 65, 1993;
-- Brenan, Campbell and Petzold, Numerical Solution of Initial-Value Problems in DAEs, 1996, section 2.5.

local blocks = require "nslua.base.blocks"
local where = require "nslua.base.where"

return function(ns)
  -- Singular values below this fraction of the largest are rounding, and count as 0. Rows and columns are scaled, so
  -- each entry has an error of one rounding, 2^-53, and a matrix of 15 to 50 rows one of a few; regular starts were
  -- seen with singular values of 4e-11.
  local RANK = 2.0 ^ -44
  local RANK_OF_REST = 1e-10 -- the same for what the array asks of unknowns that have a derivative
  local SHARE = 1e-6 -- how far unknowns that have a derivative may be moved, as a fraction of each (besides atol)
  -- Smaller moves of unknowns that have a derivative, in units of what is allowed, are rounding: they change nothing
  -- but zeros, whose tiny values would then be entries of the array and spoil its scaling.
  local LEAST_MOVE = 2.0 ^ -52 / SHARE
  local ITERATIONS = 15
  local EPSILON = 2.0 ^ -52
  local SWEEPS = 20 -- of the scaling; after them the logarithms are settled to well below 1
  local CONVERGED, STALLED = 1e-13, 1e-8 -- relative corrections at which Newton's method ends; if they don't fall
  local NOTHING = 1e-4 -- corrections below this part of atol (of derivatives: of atol / time) are none
  local ROUNDING = 2.0 ^ -49 -- rounding error of a difference, relative to the terms of what is subtracted
  local LEVELS = 60 -- most halvings of the length of a difference
  local FAR = 2.0 ^ 20 -- the first length of a difference is at most this many times the span

  -- ---- differences ----

  -- The derivative at 0 of f, which returns a vector and the sizes of its components' terms (nil: it has no value);
  -- with `twice` the second derivative. It is computed by central differences with lengths h, h/2, ..., twice
  -- extrapolated. Each component takes the length at which neighbouring results agree best, and is done when they
  -- agree to rounding. Returns it, the shortest of these lengths, and the errors.
  local function differentiate(f, h, twice)
    local before, R, finer, best, off, at, worse = nil, nil, nil, nil, {}, {}, 0
    local middle = twice and f(0)
    for _ = 1, LEVELS do
      local ahead, size = f(h)
      local back = ahead and f(-h)
      local D = back and not twice and (ahead - back) / (2 * h)
      if back and twice then D = (ahead + back - 2 * middle) / h ^ 2 end
      local R_new = D and before and (4 * D - before) / 3
      local finer_new = R_new and R and (16 * R_new - R) / 15
      if finer_new and finer then
        local better, done = false, true
        best = best or ns.vector(finer_new)
        for i = 1, #best do
          local change = math.abs(finer_new[i] - finer[i])
          if change < (off[i] or math.huge) then best[i], off[i], at[i], better = finer_new[i], change, h, true end
          done = done and off[i] <= ROUNDING * size[i] / (twice and h ^ 2 or h)
        end
        worse = better and 0 or worse + 1
        if done or worse > 5 then break end
      end
      before, R, finer = D, R_new, finer_new
      h = h / 2
    end
    local shortest = math.huge
    for i = 1, best and #best or 0 do
      if best[i] ~= 0 and off[i] > 0 then shortest = math.min(shortest, at[i]) end
    end
    return best, shortest < math.huge and shortest or h, off
  end

  -- ---- the array ----

  -- y and its derivatives at s: p, p', p''.
  local function on_path(z, s)
    local p = z.y + s * z[1] + s ^ 2 / 2 * z[2]
    local p1, p2 = z[1] + s * z[2], z[2]
    if z[3] then p, p1, p2 = p + s ^ 3 / 6 * z[3], p1 + s ^ 2 / 2 * z[3], p2 + s * z[3] end
    return p, p1, p2
  end

  -- dF/dt along the path at s, and the sizes of its terms; nil where F can not be evaluated. `slope(t, p, p1)` is the
  -- derivative by t alone.
  local function rate(self, z, s)
    local p, p1, p2 = on_path(z, s)
    local F, A, B = self.evaluate(self.t + s, p, p1)
    if not F then return nil end
    local value, size = A * p1 + B * p2, A:abs() * p1:abs() + B:abs() * p2:abs()
    return self.slope and value + self.slope(self.t + s, p, p1) or value, size, A, B
  end

  -- The derivative of F by t alone as a function of (t, y, y'); nil when F does not depend on t.
  local function slope_of(self, z)
    local F = self.evaluate(self.t, z.y, z[1])
    local function moved(s)
      local G = self.evaluate(self.t + s, z.y, z[1])
      return G, G and G:abs() + F:abs()
    end
    local same = true
    for _, part in ipairs { 0.37, -0.11, 1e-3 } do
      same = same and self.evaluate(self.t + part * self.h, z.y, z[1]) == F
    end
    if same then return nil end
    local _, h = differentiate(moved, self.h)
    return function(t, y, y1)
      local function at(s) return (self.evaluate(t + s, y, y1)) end
      return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)
    end
  end

  -- (A - B) / h, without entries that are rounding.
  local function difference(A, B, h)
    return ((A - B) / h):mul((A - B):abs():gt(64 * EPSILON * ns.maximum(A:abs(), B:abs())))
  end

  -- The values of the array, a list of vectors, its derivatives by y, y1, ...: blocks[k][m], n x n or 0; and the
  -- errors of the last of the values.
  local function array_of(self, z)
    local F, A, B = self.evaluate(self.t, z.y, z[1])
    local first = F and rate(self, z, 0)
    if not first then return nil end
    if self.order == 1 then return { F, first }, { { A, B, 0 }, { 0, A, B } }, {} end
    local second, h, errors = differentiate(function(s) return rate(self, z, s) end, self.h)
    if not second then return nil end
    self.h = math.min(self.h, 2 ^ 8 * h)
    local _, _, A1, B1 = rate(self, z, 4 * h)
    local _, _, A0, B0 = rate(self, z, -4 * h)
    local dA, dB = difference(A1, A0, 8 * h), difference(B1, B0, 8 * h)
    return { F, first, second }, { { A, B, 0, 0 }, { dA, A + dB, B, 0 }, { 0, 2 * dA, A + 2 * dB, B } }, errors
  end

  -- The rounding error of each row of the array.
  local function row_errors(self, z, parts, errors)
    local list = {}
    for k, row in ipairs(parts) do
      local size = ns.zeros(self.n)
      for m, part in ipairs(row) do
        if part ~= 0 then size = size + part:abs() * (m == 1 and z.y or z[m - 1]):abs() end
      end
      list[k] = k == 3 and EPSILON * size + ns.vector(errors) or EPSILON * size
    end
    return ns.concatenate(list)
  end

  -- ---- linear algebra ----

  -- The entries of J that are not 0, as a list {row, column, log2}.
  local function entries_of(J)
    local entries = {}
    for i, row in ipairs(J:totable()) do
      for j, x in ipairs(row) do
        if x ~= 0 then entries[#entries + 1] = { i, j, math.log(math.abs(x), 2) } end
      end
    end
    return entries
  end

  -- shift[k] = - the mean over the entries with entry[at] == k of log2 plus the other shift.
  local function balance(entries, at, other, shift, count)
    local sum, number = {}, {}
    for k = 1, count do sum[k], number[k] = 0, 0 end
    for _, entry in ipairs(entries) do
      local k = entry[at]
      sum[k], number[k] = sum[k] + entry[3] + other[entry[3 - at]], number[k] + 1
    end
    for k = 1, count do shift[k] = number[k] > 0 and -sum[k] / number[k] or 0 end
  end

  -- shift[k] = - the largest over the entries with entry[at] == k of log2 plus the other shift, a whole number.
  local function raise(entries, at, other, shift, count)
    for k = 1, count do shift[k] = math.huge end
    for _, entry in ipairs(entries) do
      local k = entry[at]
      shift[k] = math.min(shift[k], -math.floor(entry[3] + other[entry[3 - at]] + 0.5))
    end
    for k = 1, count do shift[k] = shift[k] < math.huge and shift[k] or 0 end
  end

  -- Powers of two for the rows and columns of J. First the logarithms of its entries get the least squares, so that
  -- units drop out (Curtis and Reid, On the automatic scaling of matrices for Gaussian elimination, J. Inst. Maths
  -- Applics 10, 1972), then the largest entries of rows and columns become about 1.
  local function equilibrate(entries, m, n)
    local row, column = {}, {}
    for j = 1, n do column[j] = 0 end
    for _ = 1, SWEEPS do
      balance(entries, 1, column, row, m)
      balance(entries, 2, row, column, n)
    end
    for _ = 1, 3 do
      raise(entries, 1, column, row, m)
      raise(entries, 2, row, column, n)
    end
    for i = 1, m do row[i] = 2.0 ^ row[i] end
    for j = 1, n do column[j] = 2.0 ^ column[j] end
    return ns.vector(row), ns.vector(column)
  end

  -- The same by the largest entries alone: entries that are rounding, which have a part in the least squares, do not
  -- count (Ruiz, A scaling algorithm to equilibrate both rows and columns norms in matrices, RAL-TR-2001-034).
  local function even_out(entries, m, n)
    local shift, counts = { {}, {} }, { m, n }
    for side = 1, 2 do
      for k = 1, counts[side] do shift[side][k] = 0 end
    end
    for _ = 1, SWEEPS do
      local most = { {}, {} }
      for _, entry in ipairs(entries) do
        local size = entry[3] + shift[1][entry[1]] + shift[2][entry[2]]
        for side = 1, 2 do most[side][entry[side]] = math.max(most[side][entry[side]] or size, size) end
      end
      for side = 1, 2 do
        for k, size in pairs(most[side]) do shift[side][k] = shift[side][k] - size / 2 end
      end
    end
    for side = 1, 2 do
      for k, power in ipairs(shift[side]) do shift[side][k] = 2.0 ^ math.floor(power + 0.5) end
    end
    return ns.vector(shift[1]), ns.vector(shift[2])
  end

  -- A row of J that is 0, as of a constraint on kept unknowns alone, gets its power of two from its entries for
  -- the kept unknowns: then they are as large as in the other rows, whatever the unit of the equation is.
  local function scale_rows_of_kept(J, kept, row)
    local empty, usual = {}, 0
    for i = 1, #J do
      if J[i]:norm(math.huge) == 0 then
        empty[#empty + 1] = i
      else
        usual = math.max(usual, row[i] * kept[i]:norm(math.huge))
      end
    end
    for _, i in ipairs(empty) do
      local most = kept[i]:norm(math.huge)
      if most > 0 then row[i] = 2.0 ^ math.floor(math.log((usual > 0 and usual or 1) / most, 2) + 0.5) end
    end
  end

  -- The pseudo-inverse of J: the matrix `inverse`, the rank, and the singular vectors, of which those of U beyond the
  -- rank are what J can't reach; all for rows and columns that are scaled by powers of two.
  local function decompose_by(scaling, J, kept)
    local m, n = J:shape()
    local row, column = scaling(entries_of(J), m, n)
    scale_rows_of_kept(J, kept, row)
    local U, s, V = ns.svd(blocks.times(J, row, column), "full")
    local rank, weight = 0, ns.zeros(n, m)
    for k = 1, #s do
      if s[k] > RANK * s[1] then rank, weight[k][k] = rank + 1, 1 / s[k] end
    end
    local inverse = V * weight * U:transpose()
    return { U = U, V = V, inverse = inverse, rank = rank, row = row, column = column, m = m, n = n }
  end

  -- That of the array. Where its rank is below one that was seen before, entries of rounding may have spoilt the
  -- scaling: the other one is tried.
  local function decompose(self, J, kept)
    local D = decompose_by(equilibrate, J, kept)
    local other = D.rank < (self.rank or 0) and decompose_by(even_out, J, kept)
    if other and other.rank > D.rank then D = other end
    self.rank = math.max(self.rank or 0, D.rank)
    return D
  end

  -- The least solution of J x = b, and the part of the scaled b along each direction that J can't reach; 0 where it
  -- is rounding.
  local function solve(D, b)
    local scaled, left = D.row:mul(b), {}
    local along, noise = D.U:transpose() * scaled, 8 * EPSILON * scaled:norm(1)
    for k = D.rank + 1, D.m do left[k - D.rank] = math.abs(along[k]) > noise and along[k] or 0 end
    return (D.inverse * scaled):mul(D.column), left
  end

  -- The error of each unknown of the least solution that follows from these errors of the rows.
  local function solution_errors(D, errors)
    return (D.inverse:abs() * D.row:mul(errors)):mul(D.column)
  end

  -- ---- Newton's method ----

  -- Flattens the array: values b, and its Jacobian by the unknowns that are solved for and by those that are kept.
  local function flatten(self, values, parts)
    local all, free, kept, allowed = ns.block(parts), {}, {}, {}
    for j = 1, all:cols() do
      if j > self.n or self.algebraic[j] then free[#free + 1] = j
      else kept[#kept + 1], allowed[#allowed + 1] = j, self.allowed[j] end
    end
    local K = blocks.times(blocks.pick(all, nil, kept), nil, allowed)
    return ns.concatenate(values), blocks.pick(all, nil, free), K
  end

  -- The least changes of the kept unknowns, in units of what is allowed, that fulfil what the free ones can't.
  -- Returns them, the largest, and what remains.
  local function project(D, left, kept)
    local rows, count, rest = D.m - D.rank, kept:cols(), 0
    if rows == 0 or count == 0 then
      for k = 1, rows do rest = math.max(rest, math.abs(left[k])) end
      return {}, 0, rest
    end
    local along_U = D.U:transpose() * blocks.times(kept, D.row)
    local U, s, V = ns.svd(along_U:slice(D.rank + 1, D.m, 1, count), "full")
    local change, most = {}, 0
    for j = 1, count do change[j] = 0 end
    for k = 1, rows do
      local along = 0
      for i = 1, rows do along = along + U[i][k] * left[i] end
      if k <= #s and s[k] > RANK_OF_REST * s[1] and s[k] > 0 then
        for j = 1, count do change[j] = change[j] + V[j][k] * along / s[k] end
      end
    end
    for j = 1, count do most = math.max(most, math.abs(change[j])) end
    return change, most, rest
  end

  -- The name of the equation that is not fulfilled: its number, and how often it was differentiated. Of the rows in
  -- which a good part remains the last one is the hidden equation; the others take part since it follows from them.
  local function name_row(self, D, left)
    local PART = 0.3
    local sums, row = D.U:slice(1, D.m, D.rank + 1, D.m) * ns.vector(left), 1
    for i = 1, D.m do
      if math.abs(sums[i]) > PART * sums:norm(math.huge) then row = i end
    end
    local times, number = (row - 1) // self.n, (row - 1) % self.n + 1
    if times == 0 then return ("equation %d"):format(number) end
    return ("equation %d, differentiated %s with respect to time,"):format(number, times == 1 and "once" or "twice")
  end

  -- Whether a place of the solution is needed: an algebraic unknown, or a derivative that the equations contain.
  local function is_needed(place, counted)
    return place.level == 0 or (place.level == 1 and counted[place.unknown])
  end

  -- The first needed place that the array leaves open; nil when there is none.
  local function left_open(self, D, counted)
    for j, place in ipairs(self.places) do
      if is_needed(place, counted) and D.V[j]:slice(D.rank + 1, D.n):norm(math.huge) > 1e-5 then return place end
    end
  end

  -- The longest time that an equation gives: the terms of its derivatives, with the unknowns in their place, by those
  -- of the unknowns. 0 when there is none.
  local function time_scale(self, z)
    local _, A, B = self.evaluate(self.t, z.y, z[1])
    local of_y, of_y1, longest = A:abs() * z.y:abs(), B:abs() * z.y:abs(), 0
    for i = 1, self.n do
      if of_y[i] > 0 then longest = math.max(longest, of_y1[i] / of_y[i]) end
    end
    return longest
  end

  -- Which unknowns have a derivative in the equations.
  local function with_derivative(self, B)
    local counted = {}
    for j = 1, self.n do counted[j] = B:column(j):any() end
    return counted
  end

  -- Moves the unknowns that are kept by these changes, in units of what is allowed; not by roundings of how much they
  -- change in the time `time`.
  local function move_kept(self, z, change, time)
    local y, rates, k = z.y, z[1], 0
    for j = 1, change[1] and self.n or 0 do
      if not self.algebraic[j] then
        k = k + 1
        local move = change[k] * self.allowed[j]
        local least = EPSILON * time * math.abs(rates[j])
        if math.abs(change[k]) > LEAST_MOVE and math.abs(move) > least then y[j] = y[j] - move end
      end
    end
  end

  -- ---- derivatives by parameters ----

  -- All elements of a matrix, row by row.
  local function elements_of(M) return ns.vector(M:reshape(1, -1)) end

  -- The derivatives of the array by parameters, a list of its rows of p numbers. by(t, y, y1): the derivatives of F,
  -- n x p.
  local function array_by(self, z, by, p)
    local function flat(s)
      local y, y1 = on_path(z, s)
      local good, M = where.try(by, self.t + s, y, y1)
      if not good then return nil end
      local v = elements_of(M)
      return v, v:abs()
    end
    local second = self.order > 1 and (differentiate(flat, self.h, true)) or nil
    local parts = { (flat(0)), (differentiate(flat, self.h)), second }
    local rows = {}
    for k = 1, self.order + 1 do
      if not parts[k] then return nil end
      for i = 1, self.n do rows[#rows + 1] = parts[k]:slice((i - 1) * p + 1, i * p) end
    end
    return rows
  end

  -- The derivatives along the path of F_y and F_y', of order `twice and 2 or 1`, without entries that are
  -- rounding. nil: none.
  local function rates_of_jacobians(self, z, twice)
    local n = self.n
    local function flat(s)
      local y, y1 = on_path(z, s)
      local F, A, B = self.evaluate(self.t + s, y, y1)
      if not F then return nil end
      local v = ns.concatenate { elements_of(A), elements_of(B) }
      return v, v:abs()
    end
    local D, h, off = differentiate(flat, self.h, twice)
    if not D then return nil end
    local _, size = flat(0)
    for i = 1, #D do
      local noise = 16 * (off[i] or 0) + 64 * EPSILON * size[i] / (twice and h ^ 2 or h)
      D[i] = math.abs(D[i]) > noise and D[i] or 0
    end
    return D:slice(1, n * n):reshape(n, n), D:slice(n * n + 1, 2 * n * n):reshape(n, n)
  end

  -- The derivatives of the array by y, y1, ..., exact but for rounding: what Newton's method can do without. nil:
  -- none.
  local function exact_blocks(self, z)
    local _, A, B = self.evaluate(self.t, z.y, z[1])
    local dA, dB = rates_of_jacobians(self, z)
    if not dA then return nil end
    if self.order == 1 then return { { A, B, 0 }, { dA, A + dB, B } } end
    local ddA, ddB = rates_of_jacobians(self, z, true)
    if not ddA then return nil end
    return { { A, B, 0, 0 }, { dA, A + dB, B, 0 }, { ddA, 2 * dA + ddB, A + 2 * dB, B } }
  end

  -- The derivatives of y by parameters (n x p), consistent at first order: the rows of `given` of unknowns that have
  -- a derivative with the least changes, in units of what is allowed, that fulfil the array; the changes of the
  -- algebraic unknowns follow. nil and the reason.
  local function slopes(self, z, given, by)
    local values, parts = array_of(self, z), exact_blocks(self, z)
    if not values or not parts then return nil, "the equations can not be differentiated" end
    local p, _, free, kept = given:cols(), flatten(self, values, parts)
    local rows = by and array_by(self, z, by, p)
    if by and not rows then return nil, "the equations can not be differentiated" end
    local D, S = decompose(self, free, kept), ns.matrix(given)
    for j = 1, p do
      local wanted, k = {}, 0
      for i = 1, self.n do
        if not self.algebraic[i] then wanted[#wanted + 1] = given[i][j] / self.allowed[i] end
      end
      local function right(change)
        local b = {}
        for i = 1, #free do
          local sum = rows and rows[i][j] or 0
          for m = 1, #wanted do sum = sum + kept[i][m] * (wanted[m] - (change[m] or 0)) end
          b[i] = sum
        end
        return b
      end
      local _, left = solve(D, right {})
      local change, _, rest = project(D, left, kept)
      local x = solve(D, right(change))
      if rest > 1e-6 then return nil, name_row(self, D, left) .. " can not be fulfilled" end
      for i = 1, self.n do
        if not self.algebraic[i] then
          k = k + 1
          S[i][j] = (wanted[k] - (change[k] or 0)) * self.allowed[i]
        end
      end
      for m, place in ipairs(self.places) do
        if place.level == 0 then S[place.unknown][j] = -x[m] end
      end
    end
    return S
  end

  local function make(o)
    local self = { evaluate = function(...)
      local good, F, A, B = where.try(o.evaluate, ...)
      if good then return F, A, B end
    end, t = o.t, n = #o.y, order = o.order, algebraic = o.algebraic, allowed = {}, places = {} }
    for j = 1, self.n do
      local bound = o.allowed and o.allowed[j] or SHARE * math.abs(o.y[j]) + o.atol[j]
      if not o.algebraic[j] then self.allowed[j] = bound end
    end
    for level = 0, o.order + 1 do
      for j = 1, self.n do
        if level > 0 or o.algebraic[j] then self.places[#self.places + 1] = { level = level, unknown = j } end
      end
    end
    return self
  end

  -- Newton's method for consistent values, from those in z, which it changes. True; or nil and the reason.
  local function newton(self, z, o)
    if not self.evaluate(self.t, z.y, z[1]) then return nil, "the equations can not be evaluated" end
    local scale = time_scale(self, z)
    if o.span > 0 then scale = math.max(o.span, math.min(scale, FAR * o.span)) end
    self.h = (scale > 0 and scale or 1) / 8
    local time = o.span > 0 and o.span or 8 * self.h
    self.slope = slope_of(self, z)
    local D, left, most, rest, counted
    local last = math.huge
    for k = 1, ITERATIONS do
      local values, parts, errors = array_of(self, z)
      if not values then return nil, "the equations can not be differentiated" end
      local b, free, kept = flatten(self, values, parts)
      counted = counted or with_derivative(self, parts[1][2])
      D = decompose(self, free, kept)
      local x, change
      x, left = solve(D, b)
      change, most, rest = project(D, left, kept)
      local noise = k > 1 and solution_errors(D, row_errors(self, z, parts, errors)) or nil
      local before = last
      last = 0
      for j, place in ipairs(self.places) do
        local target, i = place.level == 0 and z.y or z[place.level], place.unknown
        target[i] = target[i] - x[j]
        if noise and self.tidy and place.level > 0 and math.abs(target[i]) <= noise[j] then target[i] = 0 end
        if is_needed(place, counted) then
          local little = math.max(noise and 16 * noise[j] or 0, NOTHING * o.atol[i] / time ^ place.level)
          local off = math.max(0, math.abs(x[j]) - little)
          last = math.max(last, off == 0 and 0 or off / math.max(math.abs(target[i]), off))
        end
      end
      if most <= 1 then move_kept(self, z, change, time) end
      if last <= CONVERGED or (last >= before / 2 and last <= STALLED) then break end
    end
    local open = left_open(self, D, counted)
    if open then
      local what = open.level == 0 and "unknown" or "the derivative of unknown"
      return nil, ("the equations do not determine %s %d"):format(what, open.unknown)
    end
    if most > 1 or most ~= most or rest > 1e-6 then
      return nil, name_row(self, D, left) .. " is not fulfilled: unknowns that have a derivative would have to change"
    end
    if last > STALLED then return nil, "Newton finds no consistent values" end
    return true
  end

  -- consistent{evaluate= (t, y, yd) -> F, dF/dy, dF/dyd or nil; t=, y=, yd= (guesses), algebraic= (list of booleans),
  -- order= (index - 1), span= (a length of time, at most as long as the equations are smooth; 0: not known), atol=}:
  -- the consistent y and yd; or nil and the reason. Unknowns that have a derivative are kept, or moved by 1e-6 and
  -- atol at most. With given= (n x p) and by= ((t, y, y') -> dF/dparameters, n x p; nil: 0) a third value: the
  -- derivatives of y by parameters, with those rows of `given` that belong to unknowns that have a derivative, but
  -- for the least change that makes them consistent, in units of 1e-6 |y| + atol, or of the list allowed=, which
  -- replaces this bound of moves, too.
  return function(o)
    local function start(way)
      local self = make(o)
      local z = { y = ns.vector(o.y), ns.vector(way.tidy and ns.zeros(#o.y) or o.yd) }
      for k = 2, o.order + 1 do z[k] = ns.zeros(self.n) end
      self.tidy = way.tidy
      for j = 1, way.clean and self.n or 0 do
        if not self.algebraic[j] and math.abs(z.y[j]) <= self.allowed[j] then z.y[j] = 0 end
      end
      return self, z
    end
    -- Numbers that are rounding spoil the scaling of the array: first without values that are, then without
    -- derivatives that are.
    local self, z, good, why
    for _, way in ipairs { { clean = true }, { clean = true, tidy = true }, {} } do
      self, z = start(way)
      local reason
      good, reason = newton(self, z, o)
      why = why or reason
      if good then break end
    end
    if not good then return nil, why end
    if not o.given then return z.y, z[1] end
    local S
    S, why = slopes(self, z, o.given, o.by)
    if not S then return nil, why end
    return z.y, z[1], S
  end
end

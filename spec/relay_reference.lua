-- The exact run of a piecewise linear system with relays, x' = A x + b + B lambda, y = C x + d, lambda = lb where y > 0, ub where
-- y < 0, between them where y = 0. It shares nothing with the library: Taylor series of the linear motion in each mode, first roots
-- by bounds of the series, and all modes tried at an event (Filippov's solutions in the sense of Stewart 1990).
local reference = {}

local TERMS = 24 -- of a Taylor series over a piece with |F| s <= 1/2: 0.5^24 / 24! = 1e-31
local ABOVE, BELOW, SLIDE = 1, 2, 3 -- y > 0, y < 0, y = 0
local abs, max = math.abs, math.max

-- Solves the small system M x = q by elimination with pivots; nil when M is singular to 1e-10 of its entries.
local function solve(M, q)
  local n, size = #q, 0
  for i = 1, n do for j = 1, n do size = max(size, abs(M[i][j])) end end
  for k = 1, n do
    local p = k
    for i = k + 1, n do if abs(M[i][k]) > abs(M[p][k]) then p = i end end
    if abs(M[p][k]) <= 1e-10 * size then return nil end
    M[k], M[p], q[k], q[p] = M[p], M[k], q[p], q[k]
    for i = k + 1, n do
      local f = M[i][k] / M[k][k]
      for j = k, n do M[i][j] = M[i][j] - f * M[k][j] end
      for j = 1, #q[i] do q[i][j] = q[i][j] - f * q[k][j] end
    end
  end
  for k = n, 1, -1 do
    for c = 1, #q[k] do
      local s = q[k][c]
      for j = k + 1, n do s = s - M[k][j] * q[j][c] end
      q[k][c] = s / M[k][k]
    end
  end
  return q
end

-- The mode of all rows: F with z' = F z, z = (x, 1), and the rows of lambda by z; nil when its matrix is singular.
local function motion(o, mode)
  local n, m, slide = #o.x0, #o.C, {}
  local lambda = {}
  local function empty() local r = {}; for j = 1, n + 1 do r[j] = 0 end; return r end
  for i = 1, m do
    lambda[i] = empty()
    if mode[i] == SLIDE then slide[#slide + 1] = i else lambda[i][n + 1] = mode[i] == ABOVE and o.lb[i] or o.ub[i] end
  end
  local F = {}
  for i = 1, n do
    F[i] = empty()
    for j = 1, n do F[i][j] = o.A[i][j] end
    F[i][n + 1] = o.b[i]
    for k = 1, m do F[i][n + 1] = F[i][n + 1] + o.B[i][k] * lambda[k][n + 1] end
  end
  if #slide > 0 then -- C (F z + B_S lambda_S) = 0
    local M, q = {}, {}
    for a, i in ipairs(slide) do
      M[a], q[a] = {}, empty()
      for c, k in ipairs(slide) do
        M[a][c] = 0
        for r = 1, n do M[a][c] = M[a][c] + o.C[i][r] * o.B[r][k] end
      end
      for j = 1, n + 1 do for r = 1, n do q[a][j] = q[a][j] - o.C[i][r] * F[r][j] end end
    end
    q = solve(M, q)
    if not q then return nil end
    for a, k in ipairs(slide) do
      lambda[k] = q[a]
      for i = 1, n do for j = 1, n + 1 do F[i][j] = F[i][j] + o.B[i][k] * q[a][j] end end
    end
  end
  return F, lambda
end

-- The terms F^k z / k!, k = 0 .. TERMS, and the first ones of |F|^k |z| / k!, which tell what is rounding.
local function series(F, z)
  local n, terms, sizes = #F, { [0] = z }, { [0] = {} }
  for j = 1, n + 1 do sizes[0][j] = abs(z[j]) end
  for k = 1, TERMS do
    local old, new, large, larger = terms[k - 1], {}, sizes[k - 1], {}
    for i = 1, n do
      local s, a, row = 0, 0, F[i]
      for j = 1, n + 1 do s, a = s + row[j] * old[j], a + abs(row[j]) * large[j] end
      new[i], larger[i] = s / k, a / k
    end
    new[n + 1], larger[n + 1] = 0, 0
    terms[k], sizes[k] = new, larger
  end
  terms.sizes = sizes
  return terms
end

local function sum(terms, s)
  local z, n = {}, #terms[0]
  for i = 1, n do
    local v = 0
    for k = TERMS, 0, -1 do v = v * s + terms[k][i] end
    z[i] = v
  end
  return z
end

-- The coefficients of a row by z along the series, and the sizes of their terms.
local function coefficients(row, terms, offset)
  local c, size = {}, {}
  for k = 0, TERMS do
    local v, a = 0, 0
    for j = 1, #row do v, a = v + row[j] * terms[k][j], a + abs(row[j]) * terms.sizes[k][j] end
    if k == 0 then v, a = v + offset, a + abs(offset) end
    c[k], size[k] = v, a
  end
  return c, size
end

-- The sign of the function just after s = 0, and the order of its first coefficient that is not rounding.
local function leading(c, size, from)
  for k = from, 6 do
    if abs(c[k]) > 1e-10 * size[k] then return c[k] > 0 and 1 or -1, k end
  end
  return 0, 7
end

local function value(c, s, from)
  local v = 0
  for k = TERMS, from, -1 do v = v * s + c[k] end
  return v
end

-- The first root in (0, length] of sum_{k >= from} c_k s^(k - from), which is positive at 0.
local function first_root(c, from, length)
  local slope = 0
  for k = TERMS, from + 1, -1 do slope = slope * length + (k - from) * abs(c[k]) end
  local function search(a, b)
    local middle = (a + b) / 2
    if value(c, middle, from) > slope * (b - a) / 2 then return nil end
    if value(c, a, from) > 0 and value(c, b, from) <= 0 and b - a < 1e-3 * length or b - a < 1e-8 * length then
      if value(c, b, from) > 0 then return nil end -- closer than 1e-8: it grazes
      for _ = 1, 80 do
        middle = (a + b) / 2
        if value(c, middle, from) > 0 then a = middle else b = middle end
      end
      return b
    end
    return search(a, middle) or search(middle, b)
  end
  return search(0, length)
end

-- Whether the rows of a mode go where it says from z on; at lists the rows that were at a bound or at y = 0.
local function consistent(o, mode, at, z)
  local F, lambda = motion(o, mode)
  if not F then return false end
  local terms = series(F, z)
  for i in pairs(at) do
    if mode[i] == SLIDE then
      local low, above = coefficients(lambda[i], terms, -o.lb[i])
      local high, below = coefficients(lambda[i], terms, -o.ub[i])
      if leading(low, above, 0) < 0 or leading(high, below, 0) > 0 then return false end
    else
      local c, size = coefficients(o.C1[i], terms, 0)
      local sign = leading(c, size, 1)
      if sign == 0 or (sign > 0) ~= (mode[i] == ABOVE) then return false end
    end
  end
  return F, lambda, terms
end

-- All modes that go on from z, where `at` is the set of rows at y = 0.
local function modes(o, mode, at, z)
  local found, rows = {}, {}
  for i in pairs(at) do rows[#rows + 1] = i end
  table.sort(rows)
  local try = table.move(mode, 1, #mode, 1, {})
  local function visit(k)
    if k > #rows then
      if consistent(o, try, at, z) then found[#found + 1] = table.move(try, 1, #try, 1, {}) end
      return
    end
    for side = ABOVE, SLIDE do
      try[rows[k]] = side
      visit(k + 1)
    end
  end
  visit(1)
  return found
end

local function norm(F)
  local largest = 0
  for i = 1, #F do
    local s = 0
    for j = 1, #F do s = s + abs(F[i][j]) end
    largest = max(largest, s)
  end
  return largest
end

-- Where the last 30 events took less than 1e-9 T, their rows slide from then on, if that is a mode.
local function accumulated(o, events, mode, z, t)
  local first = events[#events - 29]
  if not first or t - first.t > 1e-9 * o.T then return nil end
  local rows, slide = {}, table.move(mode, 1, #mode, 1, {})
  for k = #events - 29, #events do
    rows[events[k].row] = true
    slide[events[k].row] = SLIDE
  end
  return consistent(o, slide, rows, z) and slide, rows
end

-- reference.run{ A, b, B, C, d, lb, ub, x0, T, limit = 2000 }: status ("done", "ambiguous": several modes go on, "none": no mode
-- does, "limit": more events), t, x there, events: { t, row, from, to, x }, and accumulations: their times.
function reference.run(o)
  local n, m, t = #o.x0, #o.C, 0
  o.C1 = {}
  for i = 1, m do o.C1[i] = table.move(o.C[i], 1, n, 1, {}); o.C1[i][n + 1] = o.d[i] end
  local z, events, accumulations, mode, at = table.move(o.x0, 1, n, 1, {}), {}, {}, {}, {}
  z[n + 1] = 1
  local function out(status)
    return { status = status, t = t, x = table.move(z, 1, n, 1, {}), events = events, accumulations = accumulations, mode = mode }
  end
  for i = 1, m do
    local y, size = 0, 0
    for j = 1, n + 1 do y, size = y + o.C1[i][j] * z[j], size + abs(o.C1[i][j] * z[j]) end
    mode[i] = y > 0 and ABOVE or BELOW
    if abs(y) <= 1e-13 * size then at[i] = true end
  end
  local fresh = at -- rows whose function is 0 at the start of the piece
  while true do
    if next(at) then
      local all = modes(o, mode, at, z)
      if #all ~= 1 then
        local result = out(#all == 0 and "none" or "ambiguous")
        result.modes = all
        return result
      end
      for i in pairs(at) do
        if mode[i] ~= all[1][i] and t > 0 then
          events[#events + 1] = { t = t, row = i, from = mode[i], to = all[1][i], x = table.move(z, 1, n, 1, {}) }
        end
      end
      mode, fresh, at = all[1], at, {}
      local slide, rows = accumulated(o, events, mode, z, t)
      if slide then
        accumulations[#accumulations + 1], mode, fresh = t, slide, rows
      elseif #events > (o.limit or 2000) then
        return out "limit"
      end
    end
    local F, lambda = motion(o, mode)
    local piece = math.min(0.5 / norm(F), o.T - t)
    local terms, first, row = series(F, z), piece, nil
    for i = 1, m do
      local function watch(line, offset, sign)
        local c, size = coefficients(line, terms, offset)
        for k = 0, TERMS do c[k] = sign * c[k] end
        local from = 0
        if fresh[i] then
          local _, k = leading(c, size, mode[i] == SLIDE and 0 or 1)
          from = k
        end
        local s = from < 7 and first_root(c, from, first)
        if s and s < first then first, row = s, i end
      end
      if mode[i] == SLIDE then
        watch(lambda[i], -o.lb[i], 1)
        watch(lambda[i], -o.ub[i], -1)
      else
        watch(o.C1[i], 0, mode[i] == ABOVE and 1 or -1)
      end
    end
    fresh = {}
    z, t = sum(terms, first), t + first
    if not row then
      if t >= o.T - 1e-14 * o.T then t = o.T return out "done" end
    else
      for i = 1, m do
        local y, size = 0, 0
        for j = 1, n + 1 do y, size = y + o.C1[i][j] * z[j], size + abs(o.C1[i][j] * z[j]) end
        if i == row or mode[i] == SLIDE or abs(y) <= 1e-12 * size then at[i] = true end
      end
    end
  end
end

return reference

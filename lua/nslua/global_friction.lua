-- ns.numerics.global_friction: contacts with friction, stated in the velocities v of all bodies:
--   M v = H r + q,  u = H' v + b,  Coulomb's law between u and r at each contact.
-- M is cut into the parts that nothing ties together, which are bodies; each has its factors. The problem in r alone
-- has W = H' M^-1 H and goes to ns.numerics.fc2d or fc3d; the answer is judged by the three equations above.

local arguments = require "nslua.base.arguments"
local lists = require "nslua.base.lists"
local where = require "nslua.base.where"

local who = "global_friction"
local default_tolerance = 1e-10

local function fail(text, ...) arguments.fail(who .. ": " .. text, ...) end

return function(ns)
  -- The argument as a sparse matrix with so many rows (nil: any).
  local function sparse(given, name, rows)
    local good, S = where.try(ns.sparse, given)
    local entry = not good and tostring(S):match ": (%S+ is %S+)$"
    if entry then fail("%s: %s", name, entry) end
    if given == nil or not good then fail("%s: expected a matrix", name) end
    if rows and S:rows() ~= rows then fail("%s: expected %d rows, got %d", name, rows, S:rows()) end
    return S
  end

  -- Lists of the entries of each row: {columns, values}.
  local function rows_of(S)
    local rows, i, j, v = {}, S:triplets()
    for k = 1, S:rows() do rows[k] = { {}, {} } end
    for e = 1, #i do
      local row = rows[i[e]]
      row[1][#row[1] + 1], row[2][#row[2] + 1] = j[e], v[e]
    end
    return rows
  end

  -- The columns of H that have entries in the rows of a part, and these entries as a matrix.
  local function columns_at(part, H)
    local columns, place = {}, {}
    for _, k in ipairs(part) do
      for _, c in ipairs(H[k][1]) do
        if not place[c] then
          columns[#columns + 1] = c
          place[c] = #columns
        end
      end
    end
    local at = ns.zeros(#part, math.max(1, #columns))
    for row, k in ipairs(part) do
      for e, c in ipairs(H[k][1]) do at[row][place[c]] = at[row][place[c]] + H[k][2][e] end
    end
    return columns, at
  end

  -- The factors of each part of M, as a function that solves M x = y.
  local function factors(M, parts)
    local rows, lu, place = rows_of(M), {}, {}
    for p, part in ipairs(parts) do
      local i, j, v = {}, {}, {}
      for row, k in ipairs(part) do place[k] = row end
      for row, k in ipairs(part) do
        for e, c in ipairs(rows[k][1]) do i[#i + 1], j[#j + 1], v[#v + 1] = row, place[c], rows[k][2][e] end
      end
      local good, found = where.try(function()
        return ns.sparse { rows = #part, cols = #part, i = i, j = j, v = v }:lu()
      end)
      if not good then fail("M is singular (in row %d)", part[1]) end
      lu[p] = found
    end
    return lu
  end

  local function solve_parts(lu, parts, y)
    local x = ns.zeros(#y)
    for p, part in ipairs(parts) do
      local own = ns.zeros(#part)
      for row, k in ipairs(part) do own[row] = y[k] end
      own = lu[p]:solve(own)
      for row, k in ipairs(part) do x[k] = own[row] end
    end
    return x
  end

  -- H' M^-1 H
  local function reduced(H, lu, parts)
    local rows, i, j, v = rows_of(H), {}, {}, {}
    for p, part in ipairs(parts) do
      local columns, at = columns_at(part, rows)
      local W = #columns > 0 and at:transpose() * lu[p]:solve(at)
      for a, r in ipairs(columns) do
        local row = W[a]
        for b, c in ipairs(columns) do
          if row[b] ~= 0 then i[#i + 1], j[#j + 1], v[#v + 1] = r, c, row[b] end
        end
      end
    end
    return ns.sparse { rows = H:cols(), cols = H:cols(), i = i, j = j, v = v }
  end

  -- The largest |M v - H r - q| of a row over its terms.
  local function imbalance(M, H, q, v, r)
    local terms = {}
    for k = 1, #v do terms[k] = { q[k], math.abs(q[k]) } end
    local function add(S, sign, x)
      local i, j, value = S:triplets()
      for e = 1, #i do
        local t, row = sign * value[e] * x[j[e]], terms[i[e]]
        row[1], row[2] = row[1] + t, row[2] + math.abs(t)
      end
    end
    add(H, 1, r)
    add(M, -1, v)
    local worst = 0
    for _, t in ipairs(terms) do
      if t[2] > 0 then worst = math.max(worst, math.abs(t[1]) / t[2]) end
    end
    return worst
  end

  -- The squared distance of r from its image by the natural map of a contact; `shifted`: the one that projects on the
  -- cone of space, else the normal is moved to at least 0 and the tangents to their bound.
  local function squared(r, u, m, shifted)
    local x, y, z = r[1] - u[1], r[2] - u[2], r[3] - u[3]
    local t, n = math.sqrt(y^2 + z^2), math.max(0, x)
    if shifted then
      x = x - m * math.sqrt(u[2]^2 + u[3]^2)
      n = t <= m * x and x or m * t <= -x and 0 or (x + m * t) / (1 + m^2)
    end
    local factor = t > m * n and m * n / t or 1
    return (r[1] - n)^2 + (r[2] - factor * y)^2 + (r[3] - factor * z)^2
  end

  -- The natural residual of ns.numerics.fc2d and fc3d, with the u of v; and by the nearer of both maps, in which the
  -- rounding of a sticking velocity does not count mu times.
  local function natural(dim, mu, r, u)
    local sum, least = 0, 0
    for k = 0, #r - dim, dim do
      local m = type(mu) == "number" and mu or mu[k // dim + 1]
      local force = { r[k + 1], r[k + 2], dim == 3 and r[k + 3] or 0 }
      local velocity = { u[k + 1], u[k + 2], dim == 3 and u[k + 3] or 0 }
      local own = squared(force, velocity, m, dim == 3)
      sum, least = sum + own, least + math.min(own, squared(force, velocity, m, false))
    end
    return math.sqrt(sum), math.sqrt(least)
  end

  local function solve(p)
    p = arguments.options(p, "numerics." .. who)
    local dim = p.dim == nil and 3 or p.dim
    if dim ~= 2 and dim ~= 3 then fail("dim: expected 2 or 3, got %s", tostring(dim)) end
    local M = sparse(p.M, "M")
    local n = M:rows()
    if M:cols() ~= n then fail("M: expected a square matrix, got %d x %d", n, M:cols()) end
    local H = sparse(p.H, "H", n)
    local m = H:cols()
    if m == 0 or m % dim ~= 0 then
      fail("H: expected a number of columns that is a multiple of %d, got %d", dim, m)
    end
    local q = ns.vector(arguments.numbers(p.q, n, who, "q"))
    local b = p.b == nil and ns.zeros(m) or ns.vector(arguments.numbers(p.b, m, who, "b"))
    local parts = lists.parts(n, M:triplets())
    local lu, transposed = factors(M, parts), H:transpose()
    local free = solve_parts(lu, parts, q)
    local name = dim == 2 and "fc2d" or "fc3d"
    local good, answer = where.try(ns.numerics[name], {
      W = reduced(H, lu, parts), q = transposed * free + b, mu = p.mu, solver = p.solver, tolerance = p.tolerance,
      max_iterations = p.max_iterations, r0 = p.r0 })
    if not good then where.fail((where.bare(tostring(answer), name):gsub("^" .. name, who, 1))) end
    local load = H * answer.r + q
    local v = solve_parts(lu, parts, load)
    v = v + solve_parts(lu, parts, load - M * v)
    local u = transposed * v + b
    answer.v, answer.u, answer.w, answer.dynamics = v, u, u, imbalance(M, H, q, v, answer.r)
    local least
    answer.residual, least = natural(dim, p.mu, answer.r, u)
    answer.relative = answer.residual / answer.scale
    if answer.success and least / answer.scale > 100 * (p.tolerance or default_tolerance) then
      answer.success, answer.status = false, "singular"
      answer.message = "the answer of the problem in r alone does not hold for v: M is nearly singular"
    end
    return answer
  end

  return { global_friction = solve }
end

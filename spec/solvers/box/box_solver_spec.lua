require "nslua"
local box = require("nslua.internal").box
local boxes = dofile "spec/solvers/boxes.lua"
local reference = dofile "spec/reference/box_problems.lua"
local inf, nan = math.huge, 0 / 0

local function solve(p, method)
  p.method = method
  return box(p)
end

local function seeded(seed, count, visit)
  math.randomseed(seed)
  for _, kind in ipairs(boxes.sorted_keys(boxes.kinds)) do
    for _, bound in ipairs(boxes.sorted_keys(boxes.bounds)) do
      for _ = 1, count do visit(kind, bound) end
    end
  end
end

describe("the box solver on random problems", function()
  it("gives right answers, finds one whenever enumeration does, and always for compact boxes #once", function()
    local solved, failed = 0, 0
    seeded(7, 60, function(kind, bound)
      local p = boxes.problem(kind, bound, math.random(1, 6))
      local oracle, answer = solve(p, "enumerate"), solve(p, "default")
      local label = kind .. " " .. bound .. " " .. answer.status
      if answer.status == "NS_OK" then
        solved = solved + 1
        assert.is_true(boxes.violation(p, answer.z) <= 1e-13, label)
        assert.are_not.equal("NS_ENOSOL", oracle.status, label)
      else
        failed = failed + 1
        assert.are_not.equal("NS_OK", oracle.status, label)
        assert.are_not.equal("compact", bound, label)
      end
      if oracle.status == "NS_OK" then assert.is_true(boxes.violation(p, oracle.z) <= 1e-13, label) end
    end)
    assert.is_true(solved > 1800 and failed > 200)
  end)

  it("solves compact boxes by pivoting alone, whatever the matrix, up to n = 25", function()
    math.randomseed(3)
    for _, kind in ipairs(boxes.sorted_keys(boxes.kinds)) do
      for _ = 1, 6 do
        local p = boxes.problem(kind, "compact", math.random(8, 25))
        local answer = solve(p, "pivot")
        assert.equal("NS_OK", answer.status, kind)
        assert.is_true(boxes.violation(p, answer.z) <= 1e-13, kind)
      end
    end
  end)

  it("finds the unique solution of positive definite problems from any guess", function()
    math.randomseed(11)
    for _ = 1, 200 do
      local p = boxes.problem("positive_definite", "with_free", math.random(1, 6))
      local a = solve(p, "default")
      p.guess = nil
      local b, c = solve(p, "pivot"), solve(p, "enumerate")
      assert.is_true(c.solutions <= 1)
      for i = 1, #p.q do
        assert.near(c.z[i], a.z[i], 1e-9 * (1 + math.abs(c.z[i])))
        assert.near(c.z[i], b.z[i], 1e-9 * (1 + math.abs(c.z[i])))
      end
    end
  end)

  it("takes no pivot from the solution as a guess", function()
    seeded(5, 6, function(kind, bound)
      local p = boxes.problem(kind, bound, math.random(1, 6))
      local first = solve(p, "default")
      if first.status ~= "NS_OK" or kind:find "semidef" or kind == "rank_deficient" then return end
      p.guess = first.z
      local again = solve(p, "default")
      assert.is_true(again.warm, kind .. " " .. bound)
      assert.equal(0, again.iterations)
      for i = 1, #p.q do assert.near(first.z[i], again.z[i], 1e-10 * math.max(1, math.abs(first.z[i]))) end
    end)
  end)

  it("gives the same bits for the same input and allocates nothing", function()
    seeded(9, 4, function(kind, bound)
      local p = boxes.problem(kind, bound, math.random(1, 8))
      local a, b = solve(p, "default"), solve(p, "default")
      assert.equal(a.status, b.status)
      assert.equal(0, a.allocations)
      for i = 1, #p.q do
        assert.equal(string.pack("d", a.z[i]), string.pack("d", b.z[i]))
        assert.equal(string.pack("d", a.w[i]), string.pack("d", b.w[i]))
      end
    end)
  end)

  it("keeps the answer when rows and columns are measured in other units", function()
    math.randomseed(21)
    for _ = 1, 100 do
      local n = math.random(2, 6)
      local p = boxes.problem("positive_definite", "compact", n)
      local r, c, s = {}, {}, { M = {}, q = {}, lower = {}, upper = {} }
      for i = 1, n do r[i], c[i] = 2.0 ^ math.random(-30, 30), 2.0 ^ math.random(-30, 30) end
      for i = 1, n do
        s.M[i] = {}
        for j = 1, n do s.M[i][j] = r[i] * p.M[i][j] * c[j] end
        s.q[i], s.lower[i], s.upper[i] = r[i] * p.q[i], p.lower[i] / c[i], p.upper[i] / c[i]
      end
      p.guess = nil
      local a, b = solve(p, "default"), solve(s, "default")
      for i = 1, n do assert.near(a.z[i], b.z[i] * c[i], 1e-11) end
    end
  end)
end)

-- Blocks between which there are only entries that are rounding, some of them 0.
describe("the box solver on blocks with rounding between them", function()
  local blocks = {
    positive_definite = boxes.kinds.positive_definite,
    equations = function(n) -- rows of the last third have no entries in its columns
      local M = boxes.kinds.positive_definite(n)
      for i = n - n // 3 + 1, n do
        for j = 1, n do M[i][j] = j > n - n // 3 and 0 or -M[j][i] end
      end
      return M
    end,
    triangular = function(n)
      return boxes.matrix(n, function(i, j) return i == j and 1 + math.random() or i > j and 2 * math.random() - 1 or 0 end)
    end,
  }
  local rounding = {
    ["of all sizes"] = function() return 10.0 ^ -math.random(18, 90) end,
    ["of all sizes, half of it 0"] = function() return math.random() < 0.5 and 0 or 10.0 ^ -math.random(18, 90) end,
    ["below its square"] = function() return 10.0 ^ -math.random(33, 60) end,
  }

  -- A problem, and the same one without rounding; the order of the variables is mixed.
  local function pair(kind, noise)
    local n, of, at = math.random(5, 14), {}, {}
    local size = { n // 2, n - n // 2 }
    local M = { blocks[kind](size[1]), blocks[kind](size[2]) }
    for i = 1, n do table.insert(of, math.random(i), i) end
    for i = 1, n do at[i] = of[i] <= size[1] and { 1, of[i] } or { 2, of[i] - size[1] } end
    local p, clean = { M = {}, q = {}, lower = {}, upper = {} }, { M = {} }
    for i = 1, n do
      p.M[i], clean.M[i] = {}, {}
      for j = 1, n do
        local inside = at[i][1] == at[j][1]
        clean.M[i][j] = inside and M[at[i][1]][at[i][2]][at[j][2]] or 0
        p.M[i][j] = inside and clean.M[i][j] or (2 * math.random() - 1) * noise()
      end
      p.q[i] = 2 * math.random() - 1
      p.lower[i], p.upper[i] = boxes.bounds.with_free(1)
    end
    clean.q, clean.lower, clean.upper = p.q, p.lower, p.upper
    return p, clean
  end

  local function in_other_units(p)
    local n, r, c, s = #p.q, {}, {}, { M = {}, q = {}, lower = {}, upper = {} }
    for i = 1, n do r[i], c[i] = 2.0 ^ math.random(-60, 60), 2.0 ^ math.random(-60, 60) end
    for i = 1, n do
      s.M[i] = {}
      for j = 1, n do s.M[i][j] = r[i] * p.M[i][j] * c[j] end
      s.q[i], s.lower[i], s.upper[i] = r[i] * p.q[i], p.lower[i] / c[i], p.upper[i] / c[i]
    end
    return s, c
  end

  local count = require "campaign"(15, 0.01)
  for _, kind in ipairs(boxes.sorted_keys(blocks)) do
    for _, name in ipairs(boxes.sorted_keys(rounding)) do
      it("solves what it solves without, and has the same bits in other units: " .. kind .. ", " .. name .. " #once", function()
        math.randomseed(61)
        local asked, solved, missed = 0, 0, 0
        for k = 1, count do
          local p, clean = pair(kind, rounding[name])
          local s, c = in_other_units(p)
          for _, method in ipairs { "default", "lemke", "newton_min", "newton_fb", "interior", "branch", "principal" } do
            local a, b, alone = solve(p, method), solve(s, method), solve(clean, method)
            local label = ("%s %d: %s"):format(method, k, a.status)
            assert.equal(a.status, b.status, label)
            for i = 1, #c do assert.equal(a.z[i], b.z[i] * c[i], label) end
            if alone.status == "NS_OK" then
              assert.are_not.equal("NS_ENOSOL", a.status, label)
              missed = missed + (method == "default" and a.status ~= "NS_OK" and 1 or 0)
              asked, solved = asked + 1, solved + (a.status == "NS_OK" and 1 or 0)
            end
            if a.status == "NS_OK" then assert.is_true(boxes.violation(p, a.z) <= 1e-11, label) end
          end
        end
        assert.is_true(missed <= 0.02 * count, missed .. " of " .. count) -- none in a short run
        assert.is_true(asked > 4 * count and solved >= 0.9 * asked, solved .. " of " .. asked)
      end)
    end
  end
end)

-- The constant parts are those of a solution, to rounding: it may solve no longer, but nothing proves that none does.
describe("the box solver on problems with a solution that rounding may hide", function()
  local function planted(kind, noise)
    local n = math.random(2, 7)
    local M, z, p = boxes.kinds[kind](n), {}, { q = {}, lower = {}, upper = {} }
    p.M = boxes.matrix(n, function(i, j)
      local small = noise and i ~= j and (M[i][j] == 0 or math.random() < 0.3)
      return small and (2 * math.random() - 1) * 10.0 ^ -math.random(noise, noise + 20) or M[i][j]
    end)
    for i = 1, n do
      local l, u = boxes.bounds.with_free(1)
      local place, w = math.random(3), 0
      if place == 1 and l > -inf then z[i], w = l, math.random()
      elseif place == 2 and u < inf then z[i], w = u, -math.random()
      else z[i] = math.max(l, math.min(u, 2 * math.random() - 1)) end
      p.lower[i], p.upper[i], p.q[i] = l, u, w
    end
    for i = 1, n do
      for j = 1, n do p.q[i] = p.q[i] - p.M[i][j] * z[j] end
    end
    return p
  end

  local count = require "campaign"(100, 0)
  for _, kind in ipairs { "skew", "semidefinite", "integer", "integer_semidefinite", "any", "rank_deficient" } do
    it("never tells that there is none: " .. kind .. " #once", function()
      math.randomseed(72)
      local solved = 0
      for k = 1, count do
        local p = planted(kind, ({ false, 18, 33, 60 })[k % 4 + 1])
        for _, method in ipairs { "default", "branch", "enumerate" } do
          local a = solve(p, method)
          assert.are_not.equal("NS_ENOSOL", a.status, method .. " " .. k)
          solved = solved + (method == "default" and a.status == "NS_OK" and 1 or 0)
        end
      end
      assert.is_true(solved >= 0.95 * count, solved .. " of " .. count)
    end)
  end
end)

describe("the box solver on problems with a planted solution", function()
  local planted = dofile "spec/solvers/planted.lua"
  local count = require "campaign"(3, 0.002)
  for _, kind in ipairs(boxes.sorted_keys(planted.kinds)) do
    it("tells no wrong answer and no wrong proof, whatever the units: " .. kind .. " #once", function()
      math.randomseed(202)
      local asked, solved = 0, 0
      for _, bound in ipairs(boxes.sorted_keys(planted.bounds)) do
        for _, noise in ipairs(boxes.sorted_keys(planted.rounding)) do
          for k = 1, 4 * count do
            local p, plain, back = planted.problem(kind, bound, noise, ({ 0, 20, 240, 480 })[k % 4 + 1], math.random(2, 9))
            local a, label = solve(p, "default"), ("%s, rounding %s, %d"):format(bound, noise, k)
            if noise ~= "everywhere" then assert.are_not.equal("NS_ENOSOL", a.status, label) end
            if a.status == "NS_OK" then assert.is_true(boxes.violation(plain, back(a.z)) <= 1e-10, label) end
            asked, solved = asked + 1, solved + (a.status == "NS_OK" and 1 or 0)
          end
        end
      end
      assert.is_true(solved >= 0.97 * asked, solved .. " of " .. asked)
    end)
  end

  -- Rows 1 to 4, 6 and 7 are multiples of one; row 5 holds, and its entries are rounding.
  it("finds one where a row of rounding that holds has the largest part of q, and no answer far out", function()
    local v, s = { 4, 2, -2, -4, 0, 2, -2 }, { 1, 0.5, -0.5, -1, 0, 0.5, -0.5 }
    local M = boxes.matrix(7, function(i, j) return s[i] * v[j] end)
    M[1][5], M[2][5], M[5][5], M[5][7] = -0x1.8p-74, 0x1p-132, -0x1p-136, 0x1p-110
    local p = { M = M, q = { 2, 3.5, -4.5, -3, 2, 1.5, -1.5 }, lower = { 0, 0, 0, 0, 0, -inf, -inf },
      upper = { 1, 1.5, 1, inf, inf, inf, inf } }
    for _, method in ipairs { "default", "pivot", "interior", "newton_fb" } do
      local a = solve(p, method)
      for i = 1, 7 do assert.is_true(a.status ~= "NS_OK" or math.abs(a.z[i]) < 1e9, method) end
      if method == "default" then assert.equal("NS_OK", a.status) end
    end
  end)

  -- z = -2, 0.5, 0.5 solves it with q[1] = 1 + 2^-191.
  it("proves nothing from a row whose settled terms cancel, however small its others are", function()
    local p = { M = { { 0, -2, -0x1p-190 }, { 2, 0, 2 }, { 0, 0x1p-112, 0 } }, q = { 1, 3, -2 }, lower = { -inf, 0.5, 0 },
      upper = { inf, 0.5, 0.5 } }
    for _, method in ipairs { "default", "enumerate", "branch" } do
      local a = solve(p, method)
      assert.is_false(a.status == "NS_ENOSOL" or a.status == "NS_OK", method .. ": " .. a.status)
    end
    p.q[1], p.M[1][3] = 3, 0 -- there is none, whatever the rounding
    assert.equal("NS_ENOSOL", solve(p, "default").status)
  end)
end)

describe("the box solver on reference problems", function()
  for _, p in ipairs(reference) do
    it(p.name, function()
      local answer, pivot = solve(p, "default"), solve(p, "pivot")
      if not p.solvable then
        assert.equal("NS_ENOSOL", answer.status)
        assert.equal("NS_ERAY", pivot.status)
        return
      end
      assert.equal("NS_OK", answer.status)
      assert.equal("NS_OK", pivot.status)
      assert.is_true(boxes.violation(p, answer.z) <= 1e-13)
      assert.is_true(boxes.violation(p, pivot.z) <= 1e-13)
      if p.name == "lcp_CPS_1" then return end -- not unique
      for i = 1, #p.q do assert.near(p.z[i], answer.z[i], 1e-9 * (1 + math.abs(p.z[i]))) end
    end)
  end
end)

describe("components that stand alone", function()
  it("keep the guess at a tie (clutch)", function()
    local a = box { M = { { 0 } }, q = { 0 }, lower = { 0 }, upper = { 1 }, guess = { 1 } }
    assert.same({ 1 }, a.z)
    assert.equal("NS_OK", a.status)
    assert.same({ 0.25 }, box { M = { { 0 } }, q = { 0 }, upper = { 1 }, guess = { 0.25 } }.z)
    assert.same({ 1 }, box { M = { { 0 } }, q = { 0 }, upper = { 1 }, guess = { 7 } }.z)
  end)
  it("keep it among coupled ones too", function()
    local M = { { 2, 0, 1 }, { 0, 0, 0 }, { 1, 0, 3 } }
    local a = box { M = M, q = { -1, 0, -1 }, upper = { 9, 1, 9 }, guess = { 0, 0.75, 0 } }
    assert.equal(0.75, a.z[2])
    assert.near(0.4, a.z[1], 1e-15)
    assert.near(0.2, a.z[3], 1e-15)
  end)
  it("go to the bound that q points away from", function()
    local p = { M = { { 0, 0 }, { 0, 0 } }, q = { 1e-300, -1e-300 }, lower = { -2, -2 }, upper = { 3, 3 } }
    p.guess = { 3, -2 }
    assert.same({ -2, 3 }, box(p).z)
  end)
  it("have no solution on an unbounded side", function()
    assert.equal("NS_ENOSOL", box { M = { { 0 } }, q = { -1 } }.status)
    assert.equal("NS_ENOSOL", box { M = { { 0, 0 }, { 0, 1 } }, q = { -1, 1 } }.status)
  end)
end)

describe("one variable", function()
  it("takes the root, the bound, or of three solutions the nearest to the guess", function()
    assert.same({ 1.5 }, box { M = { { 2 } }, q = { -3 } }.z)
    assert.same({ 0 }, box { M = { { 2 } }, q = { 3 } }.z)
    for guess, z in pairs { [-0.9] = -1, [0.1] = 0.25, [0.9] = 1 } do
      local a = box { M = { { -2 } }, q = { 0.5 }, lower = { -1 }, upper = { 1 }, guess = { guess } }
      assert.same({ z }, a.z)
      assert.equal("closed form", a.solver)
    end
  end)
  it("says when there is no solution", function()
    assert.equal("NS_ENOSOL", box { M = { { -1 } }, q = { -1 } }.status)
    assert.equal("no solution", box { M = { { -1 } }, q = { -1 } }.message)
    assert.equal("NS_ENOSOL", box { M = { { 1e-320 } }, q = { -1 } }.status)
  end)
end)

describe("a solution that is not unique", function()
  it("is the guess when that solves a singular problem", function()
    local M = { { 1, 1, 0 }, { 1, 1, 0 }, { 0, 0, 1 } }
    local a = box { M = M, q = { -1, -1, -1 }, guess = { 0.25, 0.75, 1 } }
    assert.same({ 0.25, 0.75, 1 }, a.z)
    assert.equal("guess", a.solver)
  end)
  it("is the nearest isolated one for two variables", function()
    local p = { M = { { 0, 1 }, { 1, 0 } }, q = { -1, -1 }, lower = { 0, 0 }, upper = { 3, 3 } }
    p.guess = { 3, 0.2 }
    assert.same({ 3, 0 }, box(p).z)
    p.guess = { 0.2, 3 }
    assert.same({ 0, 3 }, box(p).z)
  end)
end)

describe("wrong data", function()
  local function status(p) return box(p).status end
  it("has a status of its own and gives no numbers", function()
    assert.equal("NS_ENAN", status { M = { { nan } }, q = { 0 } })
    assert.equal("NS_ENAN", status { M = { { 1 } }, q = { inf } })
    assert.equal("NS_ENAN", status { M = { { 1 } }, q = { 1 }, lower = { nan } })
    assert.equal("NS_EARG", status { M = { { 1 } }, q = { 1 }, lower = { 1 }, upper = { 0 } })
    assert.equal("NS_EARG", status { M = { { 1 } }, q = { 1 }, lower = { inf } })
    assert.equal("NS_EARG", status { M = { { 1 } }, q = { 1 }, lower = { -inf }, upper = { -inf } })
    local a = box { M = { { 1, nan }, { 0, 1 } }, q = { 1, 1 } }
    assert.is_true(a.z[1] ~= a.z[1] and a.w[2] ~= a.w[2])
    assert.equal("not a finite number", a.message)
  end)
  it("does not mind a guess that is none", function()
    local a = box { M = { { 2, 1 }, { 1, 2 } }, q = { -3, -3 }, guess = { nan, inf } }
    assert.same({ 1, 1 }, a.z)
    assert.same({ 0 }, box { M = { { 0 } }, q = { 0 }, guess = { inf } }.z)
  end)
  it("of the wrong shape raises", function()
    assert.has_error(function() box { M = { { 1 } }, q = { 1, 2 } } end)
    local function ragged() box { M = { { 1, 2 }, { 3 } }, q = { 1, 2 } } end
    local function worded() box { M = { { 1 } }, q = { true } } end
    assert.error_matches(ragged, "M%[2%]: expected 2 numbers, got 1")
    assert.error_matches(worded, "q%[1%]: expected a number, got boolean")
  end)
end)

-- Problems that have a solution and that paths of pivots do not find one of.
describe("where paths of pivots fail", function()
  local function signed() return math.random() * 2 - 1 end
  local function zeros(n) return boxes.matrix(n, function() return 0 end) end

  -- q with which z, w solve the problem; w_i is above 0 where a bounded z_i is at 0.
  local function planted(M, free)
    local z, q = {}, {}
    for i = 1, #M do z[i] = i <= free and signed() or math.max(0, signed()) end
    for i = 1, #M do
      q[i] = i > free and z[i] == 0 and math.random() or 0
      for j = 1, #M do q[i] = q[i] - M[i][j] * z[j] end
    end
    return q
  end

  local function bounded(M, q, free)
    local p = { M = M, q = q, lower = {}, upper = {} }
    for i = 1, #M do p.lower[i], p.upper[i] = i <= free and -inf or 0, inf end
    return p
  end

  local function solved(p)
    local a = solve(p, "default")
    assert.equal("NS_OK", a.status)
    assert.is_true(boxes.violation(p, a.z) <= 1e-11)
    return a
  end

  -- M = [H G' B'; -G 0 0; -B 0 0], the last row of G being the first one again.
  local function saddle(n, equations, rows)
    local size = n + equations + rows
    local M = zeros(size)
    for i = 1, n do
      for j = 1, i do
        local h = i == j and n or signed()
        M[i][j], M[j][i] = h, h
      end
    end
    for k = n + 1, size do
      for j = 1, n do
        local again = k == n + equations
        M[k][j] = again and M[n + 1][j] or signed()
        M[j][k] = -M[k][j]
      end
    end
    return M
  end

  it("an equation that stands there twice does no harm, and one that contradicts another is told", function()
    math.randomseed(31)
    for _, n in ipairs { 4, 9, 30 } do
      local free = n + n // 2
      local M = saddle(n, n // 2, n)
      local p = bounded(M, planted(M, free), free)
      solved(p)
      p.q[free] = p.q[free] + 1
      assert.are_not.equal("NS_OK", solve(p, "default").status)
    end
  end)

  it("free variables need not be unique", function()
    math.randomseed(32)
    for _, m in ipairs { 4, 12, 40 } do
      local free = m + m // 3
      local M = zeros(free + m)
      for i = 1, free do
        for j = free + 1, free + m do
          M[i][j] = signed()
          M[j][i] = -M[i][j]
        end
      end
      for i = free + 1, free + m do M[i][i] = 1 end
      solved(bounded(M, planted(M, free), free))
    end
  end)

  -- Bodies on a line, some of them a million times as heavy as others, and more contacts than bodies.
  local function chain(n)
    local bodies, mass, speed, H = n // 3, {}, {}, {}
    for k = 1, bodies do mass[k], speed[k] = 10 ^ (6 * math.random() - 3), signed() end
    for i = 1, n do
      local a, b = math.random(bodies), math.random(bodies)
      H[i] = { [a] = 1 }
      if a ~= b then H[i][b] = -1 end
    end
    local q = {}
    local M = boxes.matrix(n, function(i, j)
      local sum = 0
      for k, h in pairs(H[i]) do sum = sum + h * (H[j][k] or 0) / mass[k] end
      return sum
    end)
    for i = 1, n do
      q[i] = 0
      for k, h in pairs(H[i]) do q[i] = q[i] + h * speed[k] end
    end
    return { M = M, q = q }
  end

  it("masses far apart and more contacts than they can tell apart #once", function()
    math.randomseed(33)
    local names = {}
    for _, n in ipairs { 60, 90, 150, 250 } do
      local a = solved(chain(n))
      names[#names + 1] = a.solver
    end
    local all = table.concat(names, " ")
    assert.truthy(all:find "newton" or all:find "proximal", all)
  end)

  it("games of two players", function()
    math.randomseed(34)
    local n, M = 20, zeros(20)
    for i = 1, n do
      for j = 1, n do
        if (i <= n // 2) ~= (j <= n // 2) then M[i][j] = 0.1 + math.random() end
      end
    end
    local q = {}
    for i = 1, n do q[i] = -1 end
    solved { M = M, q = q }
  end)
end)

describe("special cases", function()
  it("solves nothing, equations and fixed variables", function()
    assert.equal("NS_OK", box { M = {}, q = {} }.status)
    local a = box { M = { { 0, 1 }, { -2, 0 } }, q = { -3, 8 }, lower = { -inf, -inf } }
    assert.same({ 4, 3 }, a.z)
    local b = box { M = { { 2, 1 }, { 1, 2 } }, q = { 1, 1 }, lower = { -5, 3 }, upper = { 5, 3 } }
    assert.same({ -2, 3 }, b.z)
    assert.equal(5, b.w[2])
  end)
  it("reports a singular equation", function()
    local a = box { M = { { 1, 1 }, { 1, 1 } }, q = { 1, 2 }, lower = { -inf, -inf } }
    assert.equal("NS_ESINGULAR", a.status)
  end)
  it("gives exact zeros where the law says 0", function()
    local a = box { M = { { 3, 1, 0 }, { 1, 7, 1 }, { 0, 1, 11 } }, q = { -1 / 3, -1 / 7, 1 }, upper = { 9, 9, 9 } }
    assert.equal(0, a.w[1])
    assert.equal(0, a.w[2])
    assert.equal(0, a.z[3])
    assert.is_true(a.w[3] > 0)
  end)
end)

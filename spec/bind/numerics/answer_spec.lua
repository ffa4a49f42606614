-- Options of the functions of ns.numerics: what each of them says when they are wrong.
local ns = require "nslua"
local numerics = ns.numerics
local inf, nan = math.huge, 0 / 0

local M, q = { { 2, 1 }, { 1, 2 } }, { -5, -6 }

-- Good options, the name of the square matrix among them, and of the vector that goes with it.
local functions = {
  lcp = { good = { M = M, q = q }, matrix = "M", vector = "q" },
  box = { good = { M = M, q = q, lower = 0, upper = 1 }, matrix = "M", vector = "q" },
  normal_cone = { good = { M = M, q = q, H = { { 1, 1 } }, K = { -1 } }, matrix = "M", vector = "q" },
  fc2d = { good = { W = M, q = q, mu = 0.5 }, vector = "q" },
  mlcp = { good = { A = M, B = M, C = M, D = { { -1, 0 }, { 0, -1 } }, a = q, b = q }, vector = "a" },
}

describe("options of ns.numerics", function()
  for name, case in pairs(functions) do
    local f = numerics[name]

    -- The message for good options with one changed; `false`: left out.
    local function said(key, value)
      local o = {}
      for k, v in pairs(case.good) do o[k] = v end
      if value == false then o[key] = nil else o[key] = value end
      local ok, text = pcall(f, o)
      assert.is_false(ok, ("%s takes %s = %s"):format(name, key, value))
      return (text:gsub("^[^:]+:%d+: ", ""))
    end
    local function says(text, key, value) assert.equal(name .. ": " .. text, said(key, value)) end

    it("good ones are taken by " .. name, function() assert.is_boolean(f(case.good).success) end)

    it("are one table for " .. name, function()
      for _, wrong in ipairs { true, "M", 3 } do
        local ok, text = pcall(f, wrong)
        assert.is_false(ok)
        assert.matches(name .. ": options: expected one table, got " .. type(wrong), text, 1, true)
      end
      assert.matches("options: expected one table, got nil", select(2, pcall(f)), 1, true)
      assert.matches("^" .. name .. ": unknown option 'nonsense' %(known: .*tolerance, max_iterations",
        said("nonsense", 1))
    end)

    it("that are numbers have ranges in " .. name, function()
      says("tolerance: expected a number between 0 and 1, got 0", "tolerance", 0)
      says("tolerance: expected a number between 0 and 1, got 1", "tolerance", 1)
      says("tolerance: expected a number between 0 and 1, got -0.5", "tolerance", -0.5)
      assert.matches("^" .. name .. ": tolerance", said("tolerance", nan))
      assert.matches("^" .. name .. ": tolerance", said("tolerance", "small"))
      says("max_iterations: expected an integer of 1 or more, got 0", "max_iterations", 0)
      assert.matches("^" .. name .. ": max_iterations", said("max_iterations", 1 << 40))
      assert.matches("^" .. name .. ": max_iterations", said("max_iterations", 1.5))
    end)

    it("solvers are listed by " .. name, function()
      says("solver: expected a name, got boolean", "solver", true)
      assert.matches("^" .. name .. ": unknown solver 'simplex' %(known: default, ", said("solver", "simplex"))
    end)

    it("vectors have their size and are finite in " .. name, function()
      local key = case.vector
      says(key .. ": expected a vector of 2, got nil", key, false)
      says(key .. ": expected a vector of 2, got vector of 3", key, ns.vector(3))
      says(key .. "[2] is nan", key, { 1, nan })
      says(key .. "[1] is -inf", key, { -inf, 1 })
    end)

    if case.matrix then
      it("matrices are square, dense and finite in " .. name, function()
        local key = case.matrix
        says(key .. ": expected a square matrix, got 1 x 2 matrix", key, { { 1, 2 } })
        says(key .. "[1][2] is nan", key, { { 1, nan }, { 0, 1 } })
        says(key .. "[2][1] is inf", key, { { 1, 0 }, { inf, 1 } })
        says("the problem is empty", key, ns.matrix(0, 0))
      end)
    end
  end
end)

describe("results of ns.numerics", function()
  local words = { ok = true, ray = true, ["no solution"] = true, ["iteration limit"] = true, singular = true }

  it("have success, status and message, time and residual", function()
    for name, case in pairs(functions) do
      local r = numerics[name](case.good)
      assert.is_true(words[r.status], r.status)
      assert.equal(r.success, r.status == "ok")
      assert.equal(r.success, r.message == "solved")
      assert.is_true(r.time >= 0 and r.residual >= 0)
      assert.equal("integer", math.type(r.iterations))
    end
  end)

  it("of a run that was cut short say so", function()
    local r = numerics.box { M = { { 1, 5 }, { -5, 1 } }, q = { -1, 1 }, lower = -1, upper = 1, solver = "pgs",
      max_iterations = 1 }
    assert.same({ false, "iteration limit", "the limit of iterations or of time was reached" },
      { r.success, r.status, r.message })
  end)
end)

local ns = require "nslua"
local internal = require "nslua.internal"

describe("memory", function()
  it("comes zeroed, an empty block too", function()
    for _, n in ipairs { 0, 1, 7, 1000 } do
      assert.is_true(internal.allocates(n, 8))
      assert.is_true(internal.allocates(8, n))
    end
  end)

  it("is refused when the size overflows, without asking for it", function()
    local before = internal.alloc_count()
    for _, pair in ipairs { { math.maxinteger, 2 }, { 2, math.maxinteger }, { 1 << 32, 1 << 32 }, { -1, 1 },
                            { 1 << 62, 2 }, { -1, -1 } } do
      assert.is_false(internal.allocates(pair[1], pair[2]))
    end
    assert.equal(before, internal.alloc_count())
  end)

  it("keeps its bytes when it grows and shrinks, and when it can not", function()
    for _, pair in ipairs { { 10, 1000 }, { 1000, 10 }, { 10, 10 }, { 0, 100 }, { 100, 0 } } do
      assert.is_true(internal.resizes(pair[1], pair[2]))
    end
    assert.same({ true, nil }, { internal.resizes(100, -1) })
    assert.equal(2, select("#", internal.resizes(100, -1)))
    local came, good, same = internal.failing(1, false, internal.resizes, 100, 1000)
    assert.same({ true, true, true }, { came, good, same })
  end)

  it("is counted", function()
    local before = internal.alloc_count()
    internal.allocates(3, 8)
    assert.equal(before + 1, internal.alloc_count())
    internal.resizes(3, 8)
    assert.equal(before + 3, internal.alloc_count())
  end)
end)

-- Fails every allocation in turn, alone and together with those after it: the call raises or does without.
local function every_allocation(f)
  local count = 0
  for _, on in ipairs { false, true } do
    for n = 0, 5000 do
      local came, good, result = internal.failing(n, on, f)
      if not came then
        assert.is_true(good, result)
        count = math.max(count, n)
        break
      end
      if not good then assert.matches("not enough memory", tostring(result)) end
    end
  end
  f()
  return count
end

describe("without memory", function()
  local A = ns.matrix { { 4, 1, 0 }, { 1, 3, 1 }, { 0, 1, 5 } }
  local S = ns.sparse { rows = 3, cols = 3, i = { 1, 2, 3, 1 }, j = { 1, 2, 3, 3 }, v = { 4, 3, 2, 1 } }
  local cases = {
    ["the dense solver"] = function() return ns.solve(A, { 1, 2, 3 }) end,
    ["eigenvalues"] = function() return ns.eig(A) end,
    ["least squares"] = function() return ns.lstsq(A, { 1, 2, 3 }) end,
    ["singular values"] = function() return ns.svd(A) end,
    ["the exponential"] = function() return ns.expm(A) end,
    ["an LU"] = function() return ns.lu(A):solve { 1, 2, 3 } end,
    ["a sparse product"] = function() return S * S end,
    ["a complementarity problem"] = function() return ns.numerics.lcp { M = A, q = { -1, 2, -3 } } end,
    ["contacts"] = function() return ns.numerics.fc3d { W = A, q = { -1, 0.2, 0.1 }, mu = 0.3 } end,
    ["the plane by pivots"] = function()
      return ns.numerics.fc2d { W = { { 2, 1 }, { 1, 3 } }, q = { -1, 0.2 }, mu = 0.3, solver = "lcp" }
    end,
    ["a polyhedron"] = function()
      return ns.numerics.normal_cone { M = A, q = { -1, 2, -3 }, H = { { 1, 1, 1 } }, K = { -1 } }
    end,
    ["a simulation"] = function()
      local simu = require "models".simulation { systems = { ns.FirstOrderLinearTIDS({ 1 }, { { -1 } }) } }
      simu:computeOneStep()
    end,
  }
  for title, f in pairs(cases) do
    it(title .. " says so, and works again afterwards", function()
      assert.is_true(every_allocation(f) >= (title == "the exponential" and 0 or 1))
    end)
  end
end)

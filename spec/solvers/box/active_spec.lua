local boxes = require "solvers.boxes"
require "nslua"
local internal = require "nslua.internal"
local inf = math.huge

local function try(p, more)
  local o = { M = p.M, q = p.q, lower = p.lower, upper = p.upper }
  for key, value in pairs(more) do o[key] = value end
  return internal.active(o)
end

local M = { { 2, 1 }, { 1, 2 } }

describe("one active set", function()
  it("is right, or the answer says why not", function()
    math.randomseed(11)
    local count = {}
    for _, kind in ipairs(boxes.sorted_keys(boxes.kinds)) do
      for _ = 1, 40 do
        local n = math.random(1, 7)
        local p, set = boxes.problem(kind, "one_or_two_sided", n), {}
        for i = 1, n do set[i] = math.random(-1, 1) end
        local a = try(p, { set = set })
        count[a.status] = (count[a.status] or 0) + 1
        if a.status == "NS_OK" then
          assert.is_true(a.backward <= 1e-13)
          assert.is_true(boxes.violation(p, a.z) <= 1e-12)
          for i = 1, n do
            if set[i] < 0 then assert.equal(p.lower[i], a.z[i]) end
            if set[i] > 0 then assert.equal(p.upper[i], a.z[i]) end
          end
        elseif a.status == "NS_ENOSOL" then
          local open = false
          for i = 1, n do
            open = open or set[i] < 0 and p.lower[i] == -inf or set[i] > 0 and p.upper[i] == inf
          end
          assert.is_true(open)
        end
      end
    end
    for _, status in ipairs { "NS_OK", "NS_ENOSOL", "NS_ENOCONV", "NS_ESINGULAR" } do
      assert.is_true((count[status] or 0) > 0, status)
    end
  end)

  it("of a solution found by enumeration is accepted", function()
    math.randomseed(12)
    for _ = 1, 40 do
      local p = boxes.problem("positive_definite", "compact", math.random(1, 6))
      p.method, p.guess = "enumerate", nil
      local r = internal.box(p)
      assert.equal("NS_OK", r.status)
      local a = try(p, { point = r.z })
      assert.equal("NS_OK", a.status)
      for i = 1, #p.q do assert.near(r.z[i], a.z[i], 1e-10) end
    end
  end)

  it("is that of a point: on or beyond a bound", function()
    local p = { M = boxes.kinds.zero(5), q = { 0, 0, 0, 0, 0 }, lower = { 0, 0, 0, 0, 1 }, upper = { 1, 1, 1, 1, 1 } }
    assert.same({ -1, -1, 0, 1, -1 }, try(p, { point = { -3, 0, 0.5, 1, 1 } }).set)
  end)

  it("is solved in each row to the rounding of its own terms, also where all of them are rounding of other rows", function()
    local matrix = { -- of a body that slides, turned: what joins both parts of it is rounding, and so is all of the second part
      { 0.5882737879766052, -4.2543772163121074e-21, 0.019619851925582577, -1.694403482553254e-82, 2.776110665815252e-79 },
      { -4.2543772163121074e-21, 0.5882535787006522, -2.168404344971009e-18, 0.008495645093021776, 0.003923970385116516 },
      { 0.019619851925582577, -2.168404344971009e-18, 10, -8.636168555094442e-80, 1.4149498560666735e-76 },
      { 5.0832104476597626e-82, 0.008495645093021774, 2.590850566528333e-79, 5, 4.0244465209578653e-23 },
      { 5.552221331630505e-79, 0.003923970385116516, 2.8298997121333477e-76, -2.682964347305244e-23, 4 } }
    local q = { -0.008495709211125345, -5.817751548098997e-39, 2.6829643473052437e-20, -1.4149498560666738e-73,
      6.908934844075556e-77 }
    local free = { -inf, -inf, -inf, -inf, -inf }
    local p = { M = matrix, q = q, lower = free, upper = { inf, inf, inf, inf, inf } }
    local a = try(p, { set = { 0, 0, 0, 0, 0 } })
    assert.equal("NS_OK", a.status)
    assert.is_true(a.backward <= 1e-13)
    for _, method in ipairs { "enumerate", "default" } do
      p.method = method
      assert.equal("NS_OK", internal.box(p).status, method)
    end
  end)

  it("that is wrong tells which components, and repairs all or one", function()
    local N = { { 1, -2 }, { -2, 1 } }
    -- between z is (-1, -1), and w < 0 at (0, 0)
    local p = { M = N, q = { -1, -1 } }
    local a = try(p, { set = { 0, 0 } })
    assert.same({ "NS_ENOCONV", 2, { -1, -1 } }, { a.status, a.wrong, a.repaired })
    assert.same({ -1, -1 }, a.z:totable())
    a = try(p, { set = { 0, 0 }, single = true })
    assert.same({ 2, { -1, 0 } }, { a.wrong, a.repaired })
    -- beyond the upper bound
    p = { M = N, q = { 1, 1 }, lower = { -5, -5 }, upper = { 0.5, 0.5 } }
    a = try(p, { set = { 0, 0 } })
    assert.same({ "NS_ENOCONV", 2, { 1, 1 } }, { a.status, a.wrong, a.repaired })
    -- w = q < 0 at the lower bound: both have to leave it
    a = try({ M = M, q = { -5, -6 } }, { set = { -1, -1 } })
    assert.same({ "NS_ENOCONV", 2, { 0, 0 } }, { a.status, a.wrong, a.repaired })
    assert.same({ -5, -6 }, a.w:totable())
  end)

  it("whose point, moved into the box, is a solution is accepted with that", function()
    local a = try({ M = M, q = { -5, -6 }, upper = { 1, 1 } }, { set = { 0, 0 } })
    assert.same({ "NS_OK", { 1, 1 }, { -2, -3 } }, { a.status, a.z:totable(), a.w:totable() })
  end)

  it("never moves a component that is fixed", function()
    local a = try({ M = M, q = { -5, -1 }, upper = { 0, 1 } }, { set = { -1, -1 } })
    assert.same({ "NS_ENOCONV", 1, { -1, 0 } }, { a.status, a.wrong, a.repaired })
  end)

  it("that is singular, infinite or too large is refused", function()
    assert.equal("NS_ESINGULAR", try({ M = { { 0 } }, q = { 1 } }, { set = { 0 } }).status)
    assert.equal("NS_ESINGULAR", try({ M = { { 1, 1 }, { 1, 1 } }, q = { 1, 2 } }, { set = { 0, 0 } }).status)
    local three = { { 1, 2, 3 }, { 4, 5, 6 }, { 7, 8, 9 } }
    assert.equal("NS_ESINGULAR", try({ M = three, q = { 1, 0, 0 } }, { set = { 0, 0, 0 } }).status)
    assert.equal("NS_ENOSOL", try({ M = M, q = { 1, 1 } }, { set = { 1, -1 } }).status)
    local near = { M = { { 1, 1 }, { 1, 1 + 1e-6 } }, q = { -1, 1 }, lower = { -inf, -inf } }
    assert.equal("NS_OK", try(near, { set = { 0, 0 }, tolerance = 1e-9 }).status)
    assert.equal("NS_ESINGULAR", try(near, { set = { 0, 0 }, tolerance = 1e-9, growth = 100 }).status)
  end)

  it("of any order finds its factorisation", function()
    math.randomseed(13)
    for _, n in ipairs { 1, 2, 3, 15, 16, 17, 21, 40 } do
      local p = boxes.problem("positive_definite", "with_free", n)
      for i = 1, n do p.lower[i], p.upper[i] = -inf, inf end
      local a = try(p, { point = p.q })
      assert.equal("NS_OK", a.status)
      for i = 1, n do assert.near(0, a.w[i], 1e-11) end
    end
  end)
end)

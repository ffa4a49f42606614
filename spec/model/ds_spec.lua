-- What all dynamical systems have: start, memory, reset; when the states of two-step schemes hold, and when they do not.
local ns = require "nslua"
local moving = require "moving"

local makers = {
  FirstOrderLinearTIDS = function() return ns.FirstOrderLinearTIDS({ 1, 2 }, { { -1, 0 }, { 0, -2 } }), ns.EulerMoreauOSI(0.5) end,
  FirstOrderNonLinearDS = function()
    return ns.FirstOrderNonLinearDS({ 1, 2 }, function(_, x, _, f) f[1], f[2] = x[2], -x[1] end), ns.EulerMoreauOSI(0.5)
  end,
  LagrangianDS = function() return ns.LagrangianDS({ 1 }, { 2 }, { { 1 } }), ns.MoreauJeanOSI(0.5) end,
  LagrangianLinearTIDS = function() return ns.LagrangianLinearTIDS({ 1 }, { 2 }, { { 1 } }, { { 4 } }), ns.MoreauJeanOSI(0.5) end,
}

-- An oscillator under the two-step scheme.
local function two_step(h)
  local ds = ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } }, { { 4 } })
  return moving.simulate { systems = { ds }, T = 2, h = h, osi = ns.SchatzmanPaoliOSI(0) }, ds
end

local function take(simu, n)
  for _ = 1, n do
    simu:computeOneStep()
    simu:nextStep()
  end
end

describe("a dynamical system", function()
  for name, make in pairs(makers) do
    it("keeps a copy of its start, and comes back to it without input: " .. name, function()
      local ds, osi = make()
      local simu = moving.simulate { systems = { ds }, T = 1, h = 0.1, osi = osi }
      local x, start = ds:x(), ds:x():totable()
      simu:run()
      assert.not_same(start, x:totable())
      assert.same(start, ds:x0():totable())
      ds:resetToInitialState()
      assert.same(start, x:totable()) -- the view that was taken before
      for _, r in ipairs(ds:r():totable()) do assert.equal(0, r) end
    end)

    it("that is closed is named by the step: " .. name, function()
      local ds, osi = make()
      ds:setName "gone"
      local simu = moving.simulate { systems = { ds }, T = 1, h = 0.1, osi = osi }
      take(simu, 1)
      ds:close()
      assert.error_matches(function() simu:computeOneStep() end, "dynamical system 'gone' is closed", 1, true)
    end)
  end

  it("has a name for messages when it was given none", function()
    local simu = moving.simulate { systems = { (makers.LagrangianDS()) }, T = 1, h = 0.1 }
    assert.equal("ds 1", simu:nsds():dynamicalSystem(1):name())
    assert.equal("", makers.LagrangianDS():name())
  end)
end)

describe("the states before a step of a two-step scheme", function()
  -- q_{k+1} - 2 q_k + q_{k-1} = -4 h^2 q_k, which the scheme holds as long as its memory does.
  local function recurrence(simu, ds, h)
    local first = ds:q()[1]
    take(simu, 1)
    local second = ds:q()[1]
    take(simu, 1)
    return math.abs(ds:q()[1] - 2 * second + first + 4 * h * h * second)
  end

  it("are those that it left", function()
    local simu, ds = two_step(0.01)
    for _ = 1, 20 do assert.is_true(recurrence(simu, ds, 0.01) < 1e-15) end
  end)

  it("hold when a step is computed again, and through a clone and a checkpoint", function()
    local simu, ds = two_step(0.01)
    take(simu, 5)
    local copy = simu:clone()
    local name = os.tmpname()
    simu:save_state(name)
    take(simu, 3)
    take(copy, 1)
    for _ = 1, 3 do copy:computeOneStep() end
    copy:nextStep()
    take(copy, 1)
    assert.equal(ds:q()[1], copy:nsds():dynamicalSystem(1):q()[1])
    local other, same = two_step(0.01)
    other:load_state(name)
    take(other, 3)
    assert.equal(ds:q()[1], same:q()[1])
    os.remove(name)
  end)

  it("are forgotten when the state is written: the step is a first one then", function()
    local h, simu, ds = 0.01, two_step(0.01)
    take(simu, 5)
    ds:q()[1], ds:velocity()[1] = 3, -1
    take(simu, 1)
    assert.near(3 - h - h * h / 2 * 12, ds:q()[1], 1e-14)
  end)

  it("are forgotten by a reset", function()
    local simu, ds = two_step(0.01)
    take(simu, 7)
    local q = ds:q()[1]
    simu:reset()
    take(simu, 7)
    assert.equal(q, ds:q()[1])
  end)
end)

describe("a right-hand side", function()
  local random = math.random
  local function real() return 2 * random() - 1 end

  -- (q', M^-1 F) or M^-1 f with the rows times r and the unknowns times s, the unknowns' units taken out again.
  local function slopes(kind, n, M, f, r, s, sparse)
    local matrix, force, zeros = {}, {}, {}
    for i = 1, n do
      matrix[i], force[i], zeros[i] = {}, r[i] * f[i], 0
      for j = 1, n do matrix[i][j] = r[i] * M[i][j] / s[j] end
    end
    if sparse then matrix = ns.sparse(matrix) end
    local ds
    if kind == "first order" then
      ds = ns.FirstOrderLinearTIDS(zeros)
      ds:setbPtr(force)
      ds:setMPtr(matrix)
    else
      ds = ns.LagrangianLinearTIDS(zeros, zeros, matrix)
      ds:setFExtPtr(force)
    end
    ds:computeRhs(0)
    local out, rhs = {}, ds:rhs():totable()
    for i = 1, n do out[i] = rhs[#rhs - n + i] / s[i] end
    return out
  end

  it("has the same bits in all units of rows and unknowns", function()
    math.randomseed(7)
    for _ = 1, 200 do
      for _, kind in ipairs { "first order", "mechanics" } do
        local n, M, f, ones, r, s = random(2, 6), {}, {}, {}, {}, {}
        for i = 1, n do
          M[i], f[i], ones[i] = {}, real(), 1
          r[i], s[i] = 2.0 ^ random(-100, 100), 2.0 ^ random(-100, 100)
          for j = 1, n do M[i][j] = (i == j or random() < 0.7) and real() or 0 end
        end
        for _, sparse in ipairs { false, true } do
          assert.same(slopes(kind, n, M, f, ones, ones, sparse), slopes(kind, n, M, f, r, s, sparse))
        end
      end
    end
  end)
end)

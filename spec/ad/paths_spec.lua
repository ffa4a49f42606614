-- Functions known by their paths: the path that holds at a point, its values and derivatives.
local ns = require "nslua"
local traces = require "bind.traces"
local ex = require "expressions"
local tape = traces.tape

describe("functions known by their paths", function()
  it("take the path that holds at each point: one that begins alike, and with other signs of guards", function()
    local c = tape(function(x) -- four ways
      local y = 3 * x[1]
      if x[1] > 0 then y = y + x[2] end
      if x[2] > x[1] then return y * x[2] end
      return y - x[2]
    end)
    local points = { { 1, 2 }, { -1, 2 }, { 2, 1 }, { -1, -2 } }
    local values, slopes = { 10, -6, 6, -1 }, { { 6, 7 }, { 6, -3 }, { 3, 0 }, { 3, -1 } }
    for _ = 1, 2 do -- the paths are made, and then known
      for i, x in ipairs(points) do
        assert.equal(values[i], c(ns.vector(x)))
        assert.same(slopes[i], c:jacobian(1, ns.vector(x))[1]:totable())
      end
    end
    assert.equal(4, #c:traces()[1].paths)
  end)

  it("differentiate by each argument, at the point asked for", function()
    local c = ns.compile(function(t, x, lambda, r)
      r[1], r[2] = t * x[1] * lambda[1], x[2] ^ 2 + lambda[2]
    end)
    for k = 1, 4 do -- one argument after the other, and then elsewhere: nothing is left over
      local x, l, r = ns.vector { k, 2 }, ns.vector { 3, k }, ns.vector { 0, 0 }
      assert.same({ k * 3, 0 }, { c:jacobian(1, k, x, l, r)[1][1], c:jacobian(1, k, x, l, r)[2][1] })
      assert.same({ k * 3, 0 }, c:jacobian(2, k, x, l, r)[1]:totable())
      assert.same({ 0, 4 }, c:jacobian(2, k, x, l, r)[2]:totable())
      assert.same({ k * k, 0 }, c:jacobian(3, k, x, l, r)[1]:totable())
      assert.same({ 0, 1 }, c:jacobian(3, k, x, l, r)[2]:totable())
      assert.same({ 0, 0 }, c:jacobian(4, k, x, l, r)[1]:totable())
    end
  end)

  it("give what the tape gives where native partials are not finite", function()
    local c, p = ns.compile(function(x) return { math.sqrt(x[1]) + x[2], x[2] } end),
      tape(function(x) return { math.sqrt(x[1]) + x[2], x[2] } end)
    local J, K = c:jacobian(1, ns.vector { 0, 1 }), p:jacobian(1, ns.vector { 0, 1 })
    for i = 1, 2 do assert.same(K[i]:totable(), J[i]:totable()) end
    assert.same({ math.huge, 1 }, J[1]:totable())
    assert.same({ 0, 1 }, J[2]:totable())
  end)

  it("have the values of random functions, and their derivatives", function()
    math.randomseed(20240613)
    local checked = 0
    for k = 1, ex.count do
      local e = ex.random()
      local f = ex.compile(e.inputs, e.entries, e.outputs)
      local good, want = pcall(f, ns.vector(e.x))
      local c = tape(f)
      local traced, got = pcall(c, ns.vector(e.x))
      if good and traced then -- one may raise at the points of trial: an integer quotient by 0
        checked = checked + 1
        for i = 1, #want do assert.is_true(ex.same(want[i], got[i]), k) end
        local dual, J = pcall(ns.jacobian, f, e.x)
        local mine = c:jacobian(1, ns.vector(e.x))
        for i = 1, dual and #want or 0 do
          for j = 1, e.inputs do
            if J[i][j] == J[i][j] then assert.is_true(ex.same(J[i][j], mine[i][j]), k) end
          end
        end
      elseif good then
        assert.matches("compile: value", got)
      end
    end
    assert.is_true(checked > ex.count / 2, checked)
  end)
end)

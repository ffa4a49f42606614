-- Sums and products of vectors of dual numbers: derivatives in closed form, of first and of second order.
local ns = require "nslua"

local p = { 2, -3, 0.5 }

local function near(expected, got)
  assert.is_true((ns.vector(expected) - got):norm() < 1e-14, tostring(got))
end

describe("vectors of dual numbers", function()
  it("have the gradients of sum, dot and norm", function()
    near({ 1, 1, 1 }, ns.gradient(function(x) return x:sum() end, p))
    near({ 4, -6, 1 }, ns.gradient(function(x) return x:dot(x) end, p))
    near({ 7, 8, 9 }, ns.gradient(function(x) return x:dot { 7, 8, 9 } end, p))
    near(ns.vector(p) / ns.vector(p):norm(), ns.gradient(function(x) return x:norm() end, p))
    near({ 1, -1, 1 }, ns.gradient(function(x) return x:norm(1) end, p))
    near({ 0, -1, 0 }, ns.gradient(function(x) return x:norm(math.huge) end, p))
  end)

  it("have no slope at a norm of 0, and that of one of several largest moduli", function()
    near({ 0, 0 }, ns.gradient(function(x) return x:norm() + x:norm(1) end, { 0, 0 }))
    near({ 1, 0 }, ns.gradient(function(x) return x:norm(math.huge) end, { 3, 3 }))
  end)

  it("have the Hessians of dot and norm", function()
    local v, H = ns.vector(p), ns.hessian(function(x) return x:norm() end, p)
    local exact = (ns.eye(3) - v:outer(v) / v:dot(v)) / v:norm()
    assert.is_true((H - exact):norm() < 1e-14)
    assert.is_true((ns.hessian(function(x) return x:dot(x) end, p) - 2 * ns.eye(3)):norm() < 1e-14)
  end)

  it("leave out entries of 0 of a matrix, whatever they meet", function()
    local A = ns.matrix { { 0, 2 }, { 3, 0 } }
    local J = ns.jacobian(function(x) return A * x:map(math.sqrt) end, { 4, 9 })
    assert.same({ { 0, 2 / 6 }, { 3 / 4, 0 } }, J:totable())
  end)
end)

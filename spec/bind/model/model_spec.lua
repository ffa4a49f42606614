-- What systems and relations share: coefficients that are copied or shared, names, parameters, option tables.
local ns = require "nslua"
local message = require "bind.models".message

local makers = {
  FirstOrderLinearTIDS = function() return ns.FirstOrderLinearTIDS({ 1, 2 }, ns.eye(2)) end,
  FirstOrderLinearTIR = function() return ns.FirstOrderLinearTIR({ { 1, 0 } }, { { 0 }, { 1 } }) end,
}

describe("a coefficient", function()
  it("that is set is a copy, one that is shared follows", function()
    local ds, A = makers.FirstOrderLinearTIDS(), ns.matrix { { 1, 2 }, { 3, 4 } }
    ds:setA(A)
    A[1][1] = 7
    ds:computeRhs(0)
    assert.same({ 1 * 1 + 2 * 2, 3 * 1 + 4 * 2 }, ds:rhs():totable())
    ds:setAPtr(A)
    A[1][1] = 9
    ds:computeRhs(0)
    assert.same({ 9 * 1 + 2 * 2, 3 * 1 + 4 * 2 }, ds:rhs():totable())
    A = nil -- luacheck: ignore
    collectgarbage()
    collectgarbage()
    ds:computeRhs(0)
    assert.same({ 13, 11 }, ds:rhs():totable())
  end)

  it("may be a view with any strides", function()
    local big, ds = ns.matrix(4, 6), makers.FirstOrderLinearTIDS()
    for i = 1, 4 do
      for j = 1, 6 do big[i][j] = 10 * i + j end
    end
    ds:setAPtr(big:slice(2, 3, 4, 5))
    ds:setbPtr(big:column(6):slice(3, 1, -2))
    ds:computeRhs(0)
    assert.same({ 24 + 2 * 25 + 36, 34 + 2 * 35 + 16 }, ds:rhs():totable())
    big[2][4] = 0
    ds:computeRhs(0)
    assert.equal(2 * 25 + 36, ds:rhs()[1])
  end)

  it("of the wrong size leaves the one before", function()
    local ds = makers.FirstOrderLinearTIDS()
    assert.equal("FirstOrderLinearTIDS: A: expected a 2 x 2 matrix, got 3 x 3 sparse matrix",
      message(ds.setA, ds, ns.sparse(ns.eye(3))))
    assert.equal("FirstOrderLinearTIDS: A: expected a 2 x 2 matrix, got 2 x 3 matrix",
      message(ds.setAPtr, ds, ns.matrix(2, 3)))
    ds:computeRhs(0)
    assert.same({ 1, 2 }, ds:rhs():totable())
  end)
end)

for kind, make in pairs(makers) do
  describe(kind, function()
    it("has a name of at most 63 bytes", function()
      local o = make()
      for _, n in ipairs { 0, 1, 62, 63, 64, 500 } do
        o:setName(("n"):rep(n))
        assert.equal(("n"):rep(math.min(n, 63)), o:name())
      end
      assert.matches("^setName: name: expected a string, got number", (message(o.setName, o, 3)))
    end)

    it("copies parameters that are set, shares those that are given", function()
      local o, z = make(), ns.vector { 1, 2 }
      o:setz(z)
      z[1] = 5
      assert.same({ 1, 2 }, o:z():totable())
      o:setzPtr(z)
      z[1] = 6
      assert.same({ 6, 2 }, o:z():totable())
      assert.equal(kind .. ": z[2] is nan", message(o.setz, o, { 1, 0 / 0 }))
      assert.equal(kind .. ": z: expected a vector, got string", message(o.setz, o, "z"))
      assert.same({ 6, 2 }, o:z():totable())
    end)

    it("has no parameters that a live view gives with gaps, since they would stay behind it", function()
      local o, other = make(), ns.FirstOrderLinearTIDS { 1, 2, 3, 4 }
      local said = kind .. ": z: expected all elements or neighbours of a live view, got one in 2, which would not follow it "
        .. "(give more of them, or copy())"
      assert.equal(said, message(o.setzPtr, o, other:x()(1, 4, 2)))
      assert.is_nil(o:z())
      o:setzPtr(other:x()(3, 4))
      other:x()[3] = 7
      assert.same({ 7, 4 }, o:z():totable())
      o:setzPtr(other:x()(1, 4, 2):copy())
      other:x()[3] = 8
      assert.same({ 1, 7 }, o:z():totable())
      o:setzPtr(ns.eye(2):row(2)) -- no view of an object: its values
      assert.same({ 0, 1 }, o:z():totable())
      o:setz(other:x()(1, 4, 2)) -- asks for a copy
      assert.same({ 1, 8 }, o:z():totable())
    end)

    it("tells an option table by its strings as keys, and names the options that it knows", function()
      local text = message(ns[kind], { nonsense = 1 })
      assert.matches("^" .. kind .. ": unknown option 'nonsense' %(known: .*z, name%)$", text)
      assert.matches("^" .. kind .. ": unknown option '1' %(known: ", (message(ns[kind], { 1, name = "a" })))
      assert.matches("^" .. kind .. ": unknown option 'table' %(known: ", (message(ns[kind], { [{}] = 1, name = "a" })))
      assert.not_matches("unknown option", (message(ns[kind], {})))
    end)
  end)
end

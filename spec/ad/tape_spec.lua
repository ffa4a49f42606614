-- Tapes: values to the last bit, derivatives in both modes against dual numbers, along lines against jets.
local ns = require "nslua"
local ex = require "expressions"
local internal = require "nslua.internal"

-- Evaluates entries at x.
local function tape(e, direction, from, count)
  local zeros = {}
  for i = 1, e.inputs do zeros[i] = 0 end
  return internal.tape(e.inputs, e.entries, e.outputs, ns.vector(e.x), ns.vector(direction or zeros), from or 1,
    count or e.inputs)
end

local function values_of(e)
  local f = ex.compile(e.inputs, e.entries, e.outputs)
  local good, y = pcall(f, e.x)
  return good and y
end

local function one(name, a, b)
  return { inputs = 2, entries = { { name, 1, 2 } }, outputs = { 3 }, x = { a, b or 0.75 } }
end

describe("tape", function()
  setup(function() math.randomseed(20240611) end)

  it("has each operation of Lua, its value to the last bit and its slopes those of dual numbers #once", function()
    local points = { -2.5, -1.0, -0.75, -0.0, 0.0, 1e-300, 0.3, 1.0, 2.0, 2.5, 700.0, 1e200 }
    for _, name in ipairs(ex.names) do
      for _, a in ipairs(points) do
        for _, b in ipairs(ex.arity[name] == 2 and points or { 0.75 }) do
          local e = one(name, a, b)
          local plain, t = values_of(e), tape(e)
          if plain then
            local what = ("%s(%g, %g)"):format(name, a, b)
            assert.is_true(ex.same(plain[1], t.value[1]), what)
            assert.is_true(ex.same(1 / plain[1], 1 / t.value[1]), what)
            local good, J = pcall(ns.jacobian, (ex.compile(2, e.entries, e.outputs)), e.x)
            for j = 1, 2 do
              if good then assert.is_true(ex.same(J[1][j], t.forward[1][j]), what .. " by " .. j) end
            end
          end
        end
      end
    end
  end)

  it("gives random expressions the values of Lua and the derivatives of dual numbers", function()
    local checked, listed = 0, {}
    for _, name in ipairs(ex.names) do
      if name ~= "IDIV" then listed[#listed + 1] = name end -- its partials are nan with dual numbers where its operand's are
    end
    for _ = 1, ex.count do
      local e = ex.random { names = listed }
      local plain, t = values_of(e), tape(e)
      if plain then
        for i, v in ipairs(plain) do assert.is_true(ex.same(v, t.value[i])) end
        local f, source = ex.compile(e.inputs, e.entries, e.outputs)
        local good, J = pcall(ns.jacobian, f, e.x)
        if good then
          checked = checked + 1
          for i = 1, #e.outputs do
            for j = 1, e.inputs do
              assert.is_true(ex.same(J[i][j], t.forward[i][j]), ("%a %a %s"):format(J[i][j], t.forward[i][j], source)) end
          end
        end
      end
    end
    assert.is_true(checked > ex.count / 4)
  end)

  it("has one Jacobian in forward and in reverse mode", function()
    -- Operations by which rounding grows little.
    local tame = { "ADD", "SUB", "MUL", "SIN", "COS", "ATAN", "NEG", "TANH", "MAX", "MIN", "ABS", "PART" }
    local checked = 0
    for _ = 1, ex.count do
      local e = ex.random { names = tame, entries = math.random(1, 15) }
      local t = tape(e)
      if t.reverse then
        checked = checked + 1
        for i = 1, #e.outputs do
          local scale = 1
          for j = 1, e.inputs do scale = math.max(scale, math.abs(t.forward[i][j])) end
          for j = 1, e.inputs do
            local a, b = t.forward[i][j], t.reverse[i][j]
            assert.is_true(ex.same(a, b) or math.abs(a - b) <= 1e-10 * scale, ("%g and %g"):format(a, b))
          end
        end
      end
    end
    assert.is_true(checked > ex.count / 4)
  end)

  it("takes as many inputs as it has: more than a chunk, and some of them alone", function()
    local n, entries = 37, { { "MUL", 1, 1 } }
    for i = 2, 37 do
      entries[#entries + 1] = { "SIN", i }
      entries[#entries + 1] = { "ADD", n + #entries - 1, n + #entries }
    end
    local x = {}
    for i = 1, n do x[i] = i / 10 end
    local e = { inputs = n, entries = entries, outputs = { n + #entries, 5 }, x = x }
    local t = tape(e)
    for j = 1, n do
      local want = j == 1 and 2 * x[1] or math.cos(x[j])
      for _, mode in ipairs { "jacobian", "forward", "reverse" } do
        assert.equal(want, t[mode][1][j])
        assert.equal(j == 5 and 1 or 0, t[mode][2][j])
      end
    end
    local part = tape(e, nil, 4, 11)
    assert.equal(11, part.jacobian:cols())
    for _, mode in ipairs { "jacobian", "forward", "reverse" } do
      for j = 1, 11 do assert.equal(t[mode][1][j + 3], part[mode][1][j]) end
    end
  end)

  it("keeps a partial that is 0 at 0, whatever the factor", function()
    -- sqrt(x1) at 0 spoils the derivative by x1 alone.
    local e = { inputs = 2, entries = { { "SQRT", 1 }, { "ADD", 3, 2 } }, outputs = { 4 }, x = { 0, 1 } }
    local t = tape(e)
    assert.equal(math.huge, t.jacobian[1][1])
    assert.equal(1, t.jacobian[1][2])
    assert.is_nil(t.reverse)
    -- x^2 with a constant exponent: no logarithm of a negative number.
    t = tape { inputs = 1, entries = { { 3.0 }, { "POW", 1, 2 } }, outputs = { 3 }, x = { -2 } }
    assert.equal(-8, t.value[1])
    assert.equal(12, t.jacobian[1][1])
  end)

  it("has no partials behind a step, whatever is before it", function()
    for _, name in ipairs { "FLOOR", "CEIL", "WHOLE", "IDIV" } do
      local t = tape({ inputs = 1, entries = { { "SQRT", 1 }, { name, 2, 1 } }, outputs = { 3 }, x = { 0 } }, { 1 })
      assert.equal(0, t.jacobian[1][1])
      assert.equal(0, t.first[1])
      assert.equal(0, t.second[1])
    end
  end)

  it("differentiates twice along a line, as jets do", function()
    local checked = 0
    for _ = 1, ex.count do
      local e = ex.random { smooth = true }
      local w, plain = {}, values_of(e)
      for i = 1, e.inputs do w[i] = math.random() * 2 - 1 end
      local t = tape(e, w)
      local f = ex.compile(e.inputs, e.entries, e.outputs, true)
      local good, first, second = pcall(internal.along, f, ns.vector(plain), false, 0, ns.vector(e.x), ns.vector(w), false)
      if good then
        checked = checked + 1
        for i = 1, #e.outputs do
          assert.is_true(ex.same(first[i], t.first[i]))
          assert.is_true(ex.close(second[i], t.second[i], 1e-12))
        end
      end
    end
    assert.is_true(checked > ex.count / 4)
  end)

  it("records equal operations once, and drops what no output needs", function()
    local e = { inputs = 2, x = { 1, 2 }, outputs = { 7, 8 }, entries = {
      { 3.0 }, { 3.0 }, { "MUL", 1, 3 }, { "MUL", 1, 4 }, { "ADD", 5, 2 }, { "ADD", 6, 2 }, { "SIN", 1 }, { -0.0 } } }
    local t = tape(e)
    assert.equal(2, t.steps)
    assert.equal(1, t.constants)
    assert.same({ 5, 5 }, t.value:totable())
    -- 0 and -0 are two constants.
    t = tape { inputs = 0, entries = { { 0.0 }, { -0.0 } }, outputs = { 1, 2 }, x = {} }
    assert.equal(2, t.constants)
    assert.equal(-math.huge, 1 / t.value[2])
  end)

  -- Values to the last bit with the signs of zeros, and derivatives, beside Lua's; the number of operations.
  local function simplified(steps, entries, points)
    local outputs = {}
    for i = 1, #entries do outputs[i] = 2 + i end
    for _, x in ipairs(points) do
      local e = { inputs = 2, entries = entries, outputs = outputs, x = x }
      local plain, t = values_of(e), tape(e)
      assert.equal(steps, t.steps)
      for i, v in ipairs(plain) do
        local what = ("value %d at %g, %g"):format(i, x[1], x[2])
        assert.is_true(ex.same(v, t.value[i]), what)
        assert.is_true(ex.same(1 / v, 1 / t.value[i]), what)
      end
      local J = ns.jacobian((ex.compile(2, entries, outputs)), x)
      for i = 1, #entries do
        for j = 1, 2 do assert.is_true(ex.same(J[i][j], t.forward[i][j]), ("derivative %d by %d"):format(i, j)) end
      end
    end
  end

  local points = { { 0.3, 1.7 }, { -2.5, 4 }, { 1.5, 1.5 }, { 0.0, 0.0 }, { -0.0, 0.0 }, { 0.0, -0.0 }, { -0.0, -0.0 },
    { 1e-310, 3 }, { 1e200, -1e200 }, { 123456.75, -9e8 } }

  it("takes an operation that another gives to the last bit from there", function()
    simplified(5, { { "SUB", 1, 2 }, { "SUB", 2, 1 }, { "SIN", 3 }, { "SIN", 4 }, { "COS", 3 }, { "COS", 4 } }, points)
    simplified(5, { { "NEG", 1 }, { "SIN", 1 }, { "SIN", 3 }, { "COS", 3 }, { "COS", 1 }, { "NEG", 3 }, { "SIN", 8 },
      { "ADD", 2, 3 } }, points)
    simplified(2, { { 1.0 }, { "MUL", 1, 3 }, { "MUL", 3, 2 }, { "DIV", 1, 3 }, { -1.0 }, { "MUL", 1, 7 }, { "DIV", 2, 7 },
      { "MUL", 7, 2 } }, points)
    simplified(2, { { -1.0 }, { 1.0 }, { "MUL", 3, 4 }, { "MUL", 4, 3 }, { "DIV", 4, 3 }, { "DIV", 3, 3 }, { "MUL", 3, 3 } },
      points)
    simplified(2, { { "ADD", 1, 2 }, { "ADD", 2, 1 }, { "MUL", 1, 2 }, { "MUL", 2, 1 } }, points)
    simplified(6, { { "NEG", 1 }, { "NEG", 2 }, { "ADD", 1, 4 }, { "SUB", 1, 4 }, { "ADD", 3, 2 }, { "SUB", 3, 2 },
      { "ADD", 2, 1 } }, points)
    simplified(4, { { 8.0 }, { "DIV", 1, 3 }, { 0.125 }, { "MUL", 5, 1 }, { -0.25 }, { "DIV", 2, 7 }, { 3.0 }, { "DIV", 1, 9 },
      { 0.0 }, { "ADD", 1, 11 } }, points)
  end)

  it("tells where derivatives are the same everywhere", function()
    local function told(entries, from, count)
      return tape({ inputs = 3, entries = entries, outputs = { 3 + #entries }, x = { 0, 0, 0 } }, nil, from, count).constant_slopes
    end
    assert.is_true(told({ { "SUB", 1, 2 }, { 3.0 }, { "MUL", 5, 4 }, { "DIV", 6, 5 }, { "NEG", 7 } }, 1, 3))
    assert.is_false(told({ { "MUL", 1, 2 } }, 1, 1))
    assert.is_true(told({ { "MUL", 1, 2 } }, 3, 1))
    assert.is_true(told({ { "SIN", 2 }, { "ADD", 4, 1 } }, 1, 1))
    assert.is_false(told({ { "SIN", 2 }, { "ADD", 4, 1 } }, 1, 2))
    assert.is_false(told({ { 2.0 }, { "DIV", 4, 1 } }, 1, 1))
    assert.is_false(told({ { "MAX", 1, 2 } }, 1, 2))
    local constant = 0
    for _ = 1, ex.count do
      local e = ex.random { names = { "ADD", "SUB", "MUL", "DIV", "NEG", "SIN" }, entries = math.random(1, 6) }
      local t = tape(e)
      for _ = 1, t.constant_slopes and 3 or 0 do
        constant = constant + 1
        for i = 1, e.inputs do e.x[i] = math.random() * 4 - 2 end
        local there = tape(e)
        for i = 1, #e.outputs do
          for j = 1, e.inputs do assert.is_true(ex.same(t.forward[i][j], there.forward[i][j])) end
        end
      end
    end
    assert.is_true(constant > ex.count / 20, constant)
  end)

  it("holds thousands of operations, and a tape of none", function()
    local entries = { { "SIN", 1 } }
    for i = 2, 5000 do entries[i] = { i % 2 == 0 and "COS" or "SIN", i } end
    local t = tape { inputs = 1, entries = entries, outputs = { 5001 }, x = { 0.5 } }
    local x = 0.5
    for i = 1, 5000 do x = i % 2 == 0 and math.cos(x) or math.sin(x) end
    assert.equal(5000, t.steps)
    assert.equal(x, t.value[1])
    t = tape { inputs = 3, entries = {}, outputs = { 2, 2 }, x = { 1, 2, 3 } }
    assert.same({ 2, 2 }, t.value:totable())
    assert.same({ 0, 1, 0 }, t.jacobian[2]:totable())
    assert.equal(0, tape { inputs = 0, entries = {}, outputs = {}, x = {} }.steps)
  end)

  it("allocates nothing while it is evaluated", function()
    for _ = 1, 20 do assert.equal(0, tape(ex.random()).allocations) end
  end)

  it("is not made when there is no memory", function()
    local entries = {}
    for i = 1, 300 do entries[i] = i % 3 == 0 and { i / 7 } or { "MUL", i, i > 2 and 2 or 1 } end
    local failures = 0
    for n = 1, 60 do
      local _, good, err = internal.failing(n, false, internal.tape, 2, entries, { 302 }, ns.vector { 1, 2 },
        ns.vector { 0, 0 }, 1, 2)
      if not good then
        failures = failures + 1
        assert.matches("not enough memory", err)
      end
    end
    assert.is_true(failures > 10)
  end)
end)

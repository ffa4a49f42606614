-- A tape as C source: compiled, it gives the values of the tape to the last bit, and its Jacobian.
local ns = require "nslua"
local ex = require "expressions"
local internal = require "nslua.internal"

local function interpreted(e)
  local zeros = {}
  for i = 1, e.inputs do zeros[i] = 0 end
  return internal.tape(e.inputs, e.entries, e.outputs, ns.vector(e.x), ns.vector(zeros), 1, e.inputs)
end

local programs = {}
for _, program in ipairs { "cc", "clang", "tcc" } do
  if os.execute("command -v " .. program .. " >/dev/null 2>&1") then programs[#programs + 1] = program end
end

-- Compares the compiled source with the tape at each of the points e.xs; returns the numbers of finite values and partials.
local function compare(e, program)
  local xs, m, finite, partials = {}, #e.outputs, 0, 0
  for k, x in ipairs(e.xs) do xs[k] = ns.vector(x) end
  local results, source = internal.tape_native(e.inputs, e.entries, e.outputs, xs, program)
  for k, result in ipairs(results) do
    e.x = e.xs[k]
    local t, value, J = interpreted(e), result[1], result[2]
    for i = 1, m do
      assert.is_true(ex.same(t.value[i], value[i]), ("%s: %a and %a\n%s"):format(program, t.value[i], value[i], source))
      finite = finite + (value[i] - value[i] == 0 and 1 or 0)
      for j = 1, J and e.inputs or 0 do
        local got, want = J[i + (j - 1) * m], t.forward[i][j]
        if got - got == 0 then -- else the tape is asked: it tells a partial of 0 from one that does not exist
          partials = partials + 1
          assert.is_true(ex.close(want, got, 1e-14), ("%s: %a and %a\n%s"):format(program, want, got, source))
        end
      end
    end
  end
  return finite, partials
end

describe("source of a tape", function()
  setup(function() math.randomseed(20240612) end)

  it("gives the same values to the last bit, and the same derivatives", function()
    for _, program in ipairs(programs) do
      local finite, partials = 0, 0
      for _ = 1, 2 do -- long ones: a compiler takes its time for each
        local e = ex.random { inputs = 5, entries = 150, outputs = 40 }
        e.xs = { e.x, { 0.5, 1, -0.25, 2, 0.125 }, { 0, 0, 0, 0, 0 }, { -1, 0.3, 0.7, 1e-3, 5 } }
        local a, b = compare(e, program)
        finite, partials = finite + a, partials + b
      end
      assert.is_true(finite > 20, program)
      assert.is_true(partials > 50, program)
    end
  end)

  it("has every operation", function()
    local entries, outputs = {}, {}
    for i, name in ipairs(ex.names) do
      entries[i] = { name, 1, 2 }
      outputs[i] = 2 + i
    end
    for _, program in ipairs(programs) do
      local xs = { { 0.3, 0.75 }, { -0.6, 0.4 }, { 0.9, -2.5 }, { 0, 1 }, { -0.0, -1 } }
      compare({ inputs = 2, entries = entries, outputs = outputs, xs = xs }, program)
    end
  end)

  it("calls for a sine and a cosine at once, also where one of them is a derivative #once", function()
    local function calls(entries, outputs)
      local source = internal.tape_source(2, entries, outputs)
      local value, jacobian = source:match "(void tape_value.-\n}\n)(void tape_jacobian.*)"
      local count = {}
      for i, text in ipairs { value, jacobian } do
        count[2 * i - 1] = select(2, text:gsub("sine_cosine%(", ""))
        count[2 * i] = select(2, text:gsub("SIN%(", "")) + select(2, text:gsub("COS%(", ""))
      end
      return count
    end
    local both = { { "ADD", 1, 2 }, { "COS", 3 }, { "SIN", 3 } }
    assert.same({ 1, 0, 1, 0 }, calls(both, { 4, 5 }))
    assert.same({ 0, 1, 1, 0 }, calls({ { "SIN", 1 } }, { 3 }))
    assert.same({ 0, 1, 0, 1 }, calls({ { 0.5 }, { "SIN", 3 } }, { 4 })) -- of a constant, by nothing
    local mirrored = { { "SUB", 1, 2 }, { "SUB", 2, 1 }, { "SIN", 3 }, { "SIN", 4 }, { "COS", 4 } }
    assert.same({ 0, 2, 2, 0 }, calls({ { "SIN", 1 }, { "COS", 2 } }, { 3, 4 }))
    local xs = { { 0.3, 0.75 }, { 2, 2 }, { 0, -0.0 }, { -0.0, 0 }, { 1e22, -3 }, { 1e-310, 1 }, { 7e5, 0.1 } }
    for _, program in ipairs(programs) do
      compare({ inputs = 2, entries = both, outputs = { 4, 5 }, xs = xs }, program)
      compare({ inputs = 2, entries = mirrored, outputs = { 5, 6, 7 }, xs = xs }, program)
    end
  end)

  it("has every constant to the last bit, those that are not finite too", function()
    local entries, outputs = {}, {}
    for i, c in ipairs { 0.1, -0.0, 0.0, 1 / 3, 1e308, 4.9e-324, math.pi, math.huge, -math.huge, 0 / 0, -2^53 } do
      entries[2 * i - 1], entries[2 * i] = { c }, { "DIV", 2 * i, 1 }
      outputs[2 * i - 1], outputs[2 * i] = 2 * i, 2 * i + 1
    end
    for _, program in ipairs(programs) do compare({ inputs = 1, entries = entries, outputs = outputs, xs = { { 1 } } }, program) end
  end)

  it("includes no header, and no text of ours but numbers and names of operations", function()
    local source = internal.tape_source(2, { { "MUL", 1, 2 }, { 0.5 }, { "SIN", 3 } }, { 4, 5, 2 })
    assert.is_nil(source:find("#include", 1, true))
    assert.matches("out%[0%] = v2;\n  out%[1%] = v4;\n  out%[2%] = v1;\n", source)
    assert.matches("const double v2 = 0x1p%-1;", source)
  end)

  it("is compiled where there is no input, no output, no operation #once", function()
    for _, program in ipairs(programs) do
      compare({ inputs = 0, entries = { { 2.5 } }, outputs = { 1 }, xs = { {} } }, program)
      compare({ inputs = 2, entries = {}, outputs = {}, xs = { { 1, 2 } } }, program)
      compare({ inputs = 2, entries = {}, outputs = { 2, 1, 2 }, xs = { { 1, 2 } } }, program)
    end
  end)

  it("has no Jacobian when that would be long, and is not written for a long tape", function()
    local entries = { { "SIN", 1 } }
    for i = 2, 4000 do entries[i] = { i % 2 == 0 and "COS" or "SIN", i } end
    local source, jacobian = internal.tape_source(1, entries, { 4001 })
    assert.is_string(source)
    assert.is_true(jacobian)
    entries[4001] = { "SIN", 4001 }
    local none, message = internal.tape_source(1, entries, { 4002 })
    assert.is_nil(none)
    assert.is_string(message)
    entries = { { "ADD", 1, 2 } }
    for i = 2, 300 do entries[i] = { "ADD", 100 + i - 1, (i - 1) % 100 + 1 } end
    source, jacobian = internal.tape_source(100, entries, { 400 })
    assert.is_string(source)
    assert.is_false(jacobian)
  end)

  it("is not written when there is no memory", function()
    local entries = {}
    for i = 1, 300 do entries[i] = i % 3 == 0 and { i / 7 } or { "MUL", i, i > 2 and 2 or 1 } end
    local failures = 0
    for n = 1, 80 do
      local _, good, text, message = internal.failing(n, false, internal.tape_source, 2, entries, { 302 })
      if not good or not text then
        failures = failures + 1
        assert.matches("not enough memory", good and message or text)
      end
    end
    assert.is_true(failures > 10)
  end)
end)

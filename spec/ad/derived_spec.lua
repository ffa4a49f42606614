-- Derivatives of y = x1^2 x2 + lambda1, from an owner that logs what it is asked for: c: a call, p: a pass with dual numbers,
-- s and S: a trace (S: of the known value), f: an error is forgotten, g: the given Jacobian, 3: the missing one.
local internal = require "nslua.internal"

local with_duals = { duals = true }

local function ask(does, options) return { internal.derived(does, options or with_duals) } end

local function count_traces(points)
  local log = internal.derived(("jm"):rep(points), with_duals)
  return select(2, log:gsub("S", ""))
end

describe("the derivatives of a callback", function()
  it("take one call and one pass at a point", function()
    assert.same({ "cp", 0, 30, 9 }, ask "vj")
    assert.same({ "cp", 0, 30, 9 }, ask "jj")
    assert.same({ "cpcp", 0, 40, 16 }, ask "jmj")
    assert.same({ "cpcp", 0, 30, 9 }, ask "jrj")
    assert.same({ "cpp", 0, 48, 9 }, ask "ja")
    assert.same({ "", 0, 0, 0 }, ask "l")
  end)

  it("ask for a trace after twelve points, and eight times later when there is none", function()
    for points, traces in pairs { [12] = 0, [13] = 1, [109] = 1, [110] = 2 } do
      assert.equal(traces, count_traces(points))
    end
  end)

  it("are by the trace from the first point on in a run after a long one", function()
    local function passes(...)
      local log = internal.derived(table.concat({ ... }, "n"), { duals = true, traced = true })
      return select(2, log:gsub("p", ""))
    end
    local function run(points) return ("jm"):rep(points) end
    assert.equal(12, passes(run(52), run(13)))
    assert.equal(12 + 10, passes(run(51), run(10)))
    assert.equal(12 + 10, passes(run(60), run(13), run(10)))
  end)

  it("are not asked for again where the callback does not accept dual numbers", function()
    assert.same({ "scpf", 1 }, { table.unpack(ask("e", {}), 1, 2) })
    assert.same({ "scpf", 1 }, { table.unpack(ask("ee", {}), 1, 2) })
    assert.same({ "c", -1 }, { table.unpack(ask("v", { failed = -1 }), 1, 2) })
    assert.same({ "cf", -1 }, { table.unpack(ask("a", { failed = -1 }), 1, 2) })
  end)

  it("of a matrix are differences at last", function()
    assert.same({ "cpcp", 0, 30, 9 }, ask("jj", { duals = true, matrix = true }))
    for does, log in pairs { j = "cpfcccc", jj = "cpfcccccccc" } do
      local told, result, a, b = internal.derived(does, { matrix = true })
      assert.same({ log, 0 }, { told, result })
      assert.near(30, a, 1e-7)
      assert.near(9, b, 1e-7)
    end
    assert.equal("cccc", ask("j", { native = true, matrix = true })[1])
  end)

  it("are given, or told to be missing", function()
    assert.same({ "g", 0, 7, 0 }, ask("j", { duals = true, given = true }))
    assert.same({ "scp", 0, 30, 9 }, ask("e", { duals = true, given = true }))
    assert.same({ "3", -1 }, { table.unpack(ask("j", { native = true }), 1, 2) })
  end)
end)

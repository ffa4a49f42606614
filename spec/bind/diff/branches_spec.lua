-- Compiled functions that branch: a tree of paths, with the bits of the plain function on each.
local ns = require "nslua"
local branching = require "branching"
local campaign = require "campaign"
local ex = require "expressions"
local traces = require "bind.traces"
local message = require "bind.models".message
local tape, fails = traces.tape, traces.fails

-- The compiled function has the values of f, a function of a number, at all points, twice, and the derivatives of dual numbers.
-- Returns the number of paths.
local function follows(f, points)
  local c = tape(f)
  for _ = 1, 2 do
    for _, x in ipairs(points) do
      local want, got = f(x), c(x)
      assert.is_true(ex.same(want, got), ("at %g: %.17g and %.17g"):format(x, want, got))
      local dual, J = pcall(ns.jacobian, function(v) return { f(v[1]) } end, { x })
      if dual then assert.is_true(ex.close(J[1][1], c:jacobian(1, x)[1][1], 1e-14), x) end
    end
  end
  return #c:traces()[1].paths
end

local nan = 0 / 0
local points = { 1, -1, 0.5, 0, -0.0, 2, 3, 2.5, -3.5, 1e300, math.huge, -math.huge, nan, 7 }

describe("a compiled function", function()
  it("branches by each comparison, on either side", function()
    assert.equal(2, follows(function(x) return x < 1 and x * x or 2 * x end, points))
    assert.equal(2, follows(function(x) return x <= 1 and x * x or 2 * x end, points))
    assert.equal(2, follows(function(x) return 1 < x and x * x or 2 * x end, points))
    assert.equal(2, follows(function(x) return 0.5 >= x and x * x or 2 * x end, points))
    assert.equal(2, follows(function(x)
      local above = x > -1
      return not above and x * x or 2 * x
    end, points))
    assert.equal(3, follows(function(x) return (x > 1 or x < -1) and x * x or 2 * x end, points))
  end)

  it("branches by == and ~=, of which Lua never tells", function()
    assert.equal(2, follows(function(x) return x == 0 and 7 or 1 / x end, points))
    assert.equal(2, follows(function(x) return x ~= 0.5 and x or 1 / x end, points))
    assert.equal(2, follows(function(x) return 3 == x and x + 1 or 2 * x end, points))
    assert.equal(2, follows(function(x) return x ~= x and 7 or 2 * x end, points))
    local k, list = 2, { 1e300 }
    assert.equal(2, follows(function(x)
      if x == k then return x * x elseif x * 2 == 2 * k + 3 then return -x end
      return x == "a" and 3 or x
    end, points))
    assert.equal(2, follows(function(x)
      local y = x + 0
      if y == list[1] then return y * 2 end
      return y * 3 -- the register has the traced number again
    end, points))
    assert.equal(2, follows(function(x) return math.floor(x) == 2 and x * 3 or x end, { 1, 2, 2.5, 3, -2 }))
  end)

  it("takes an element of a table by an integer that a value gives", function()
    local list, rows = { 10, 20, 30 }, { { 1, 2 }, { 3, 4 } }
    local few = { 1.5, 2.5, 3, 0.25, 1, 17 }
    assert.equal(5, follows(function(x) return (list[math.floor(x)] or 0) * x end, few))
    assert.equal(4, follows(function(x) return (list[x] or -1) * x end, { 1, 2, 2.5, 7.5, 3 }) - 1)
    assert.equal(2, follows(function(x) return rows[1 + math.floor(x) % 2][2] * x end, few))
    assert.equal(3, follows(function(x)
      local i = math.floor(x) -- an index, and a number
      local t = {}
      t[i] = x * i
      return t[i] + (t[3] or 0) * i
    end, { 1.5, 2.5, 3.5, 2.25 }))
    assert.equal(2, follows(function(x) return ns.vector { 5, 6 }[math.ceil(x)] * x end, { 0.5, 1.5 }))
    assert.equal(9, tape(function(v) return v[math.floor(v[1])] * v[1] end)(ns.vector { 3, 0, 3 }))
  end)

  it("runs loops whose rounds depend on values, ends them early, returns early", function()
    assert.equal(5, follows(function(x)
      local sum = 0
      for i = 1, x do sum = sum + x / i end
      return sum
    end, { 1.5, 2.5, 3, 0.25, 1, -3 }))
    follows(function(x)
      local sum = 0
      for i = math.floor(x), 1, -math.ceil(x) do sum = sum + x * i end
      return sum
    end, { 1.5, 2.5, 7.5, 0.25, 1 })
    follows(function(x)
      local n = 0
      while x > 1 do x, n = x / 2, n + 1 end
      repeat x = x * x until x < 0.3
      return x * n
    end, { 0.5, 3, 20, 0.01 })
    follows(function(x)
      for i, limit in ipairs { -2, 0, 2 } do
        if x < limit then return x * i end
        if x == 7 then break end
      end
      return x ^ 2
    end, { -3, -1, 1, 3, 7 })
    local c = tape(function(x, y)
      if x < 0 then return end
      y[1] = x
      if x > 1 then return y end
    end)
    for _, x in ipairs { -1, 0.5, 2, -1, 2, 0.5 } do
      local y = ns.vector { 9, 8 }
      assert.equal(x > 1 and y or nil, (c(x, y)))
      assert.same({ x < 0 and 9 or x, 8 }, y:totable())
    end
  end)

  it("follows helpers, closures, objects, sorting, protected calls and the library", function()
    local function sign(v) return v > 0 and 1 or v == 0 and 0 or -1 end
    local spline = setmetatable({ k = 3 }, { __call = function(self, v) return v == 2 and self.k or v end })
    local class = { f = function(self, v) return v == self.k and 1 or v * v end }
    local object = setmetatable({ k = 2 }, { __index = class })
    follows(function(x)
      local function twice(v) return v == 1 and 5 or 2 * v end
      local list = { 2, x, 1, x * x }
      table.sort(list)
      local _, y = pcall(function(v) return v == -1 and 3 or v end, x)
      return sign(x) * twice(x) + spline(x) + list[1] * list[4] + y + object:f(x)
    end, { 1, -1, 2, 0.5, 3 })
    follows(function(x)
      local n = math.tointeger(x)
      local a = type(x) == "number" and tonumber(x) or 0
      return a + (n and 10 or 20) + (math.type(x) == "float" and 1 or 2) * x + (rawequal(x, 3.0) and 1 or 0)
    end, { 1.0, 2.5, 3.0, -0.5 })
    follows(function(x) return (select(math.floor(x), x, 2 * x, 7)) end, { 1.5, 2.5, 3 })
    follows(function(x)
      local t = rawset({ 1, 2, 3 }, math.floor(x), 5 * x)
      return t[2] * x + rawget(t, math.floor(x)) + select("#", table.unpack(t, math.floor(x)))
    end, { 1.5, 2.5, 3, 2.25 })
    follows(function(x) return coroutine.wrap(function() return x == 2 and 5 or x end)() end, { 1, 2 })
  end)

  it("raises what the function raises, with the values in the text", function()
    local function f(x)
      if x < 0 then error(("pressure %.2f is negative"):format(x)) end
      if x > 9 then error("too hot: " .. x) end
      return math.sqrt(x)
    end
    local c = tape(f)
    assert.equal(2, c(4))
    for _ = 1, 2 do
      for _, x in ipairs { -1.5, 10.5, -2.5 } do
        assert.equal(select(2, pcall(f, x)), select(2, pcall(c, x)))
        assert.equal(3, c(9))
      end
    end
    assert.equal(1, #c:traces()[1].paths)
  end)

  it("tells its paths and how often they were taken", function()
    local c = tape(function(x) return x > 1 and (x > 2 and x or 2 * x) or 3 end)
    for _, x in ipairs { 0, 0, 0, 1.5, 3, 3 } do c(x) end
    local list = {}
    for i, p in ipairs(c:traces()[1].paths) do list[i] = { p.guards, p.count, p.operations, p.native } end
    assert.same({ { 1, 3, 1, false }, { 2, 1, 3, false }, { 2, 2, 2, false } }, list)
  end)

  it("does not mind functions that an earlier trace has left", function()
    local kept = {}
    local first = tape(function(x)
      kept[1] = kept[1] or function(v) return v == 2 and 5 or v end
      return x > 1 and x or 2 * x
    end)
    first(1)
    assert.equal(2, follows(function(x) return kept[1](x) end, { 1, 2, 3 }))
    assert.equal(2, kept[1](1) + kept[1](1))
  end)

  it("is called by itself", function()
    local c
    c = tape(function(n) return n <= 1 and 1 or n * c(n - 1) end)
    assert.equal(120, c(5))
    assert.equal(6, c(3))
    assert.equal(120, c(5))
  end)
end)

describe("a compiled function refuses", function()
  local effects = ": a compiled callback must have no side effects"
  local count, log = 0, { calls = 0 }

  it("side effects, by name", function()
    fails(function(x)
      count = count + 1
      return x
    end, 1, "compile: the callback assigns to the variable 'count' outside of it" .. effects, 1)
    local function add() count = count + 1 end
    fails(function(x)
      if x > 0 then add() end
      return x
    end, -1, "compile: the callback assigns to the variable 'count' outside of it" .. effects, 1)
    fails(function(x)
      log.calls = log.calls + 1
      return x
    end, 1, "compile: the callback assigns to 'log.calls'" .. effects, 1)
    fails(function(x)
      branches_calls = 1 -- luacheck: ignore
      return x
    end, 1, "compile: the callback assigns to the global 'branches_calls'" .. effects, 1)
    for name, f in pairs { print = function(x) print(x) return x end, ["io.write"] = function(x) io.write(x) return x end,
      ["file:write"] = function(x) io.stderr:write "x" return x end, ["os.remove"] = function(x) os.remove "x" return x end } do
      fails(f, 0, "compile: the callback calls " .. name .. effects, 1)
    end
    assert.equal(0, count)
    local old = 5 -- an assignment that changes nothing is none
    assert.equal(7, tape(function(x) old = 5 return x + old end)(2)) -- luacheck: ignore
  end)

  it("more than 64 paths, and loops that do not end", function()
    local c = tape(function(x)
      local n = 0
      for i = 1, x do n = n + i end
      return n
    end)
    for x = 1, 64 do assert.equal(x * (x + 1) / 2, c(x)) end
    assert.equal("compile: more than 64 paths: the callback branches, or counts rounds of a loop, in too many ways; what depends "
      .. "on the values belongs in ns.interp1, math.floor, math.max or math.min", message(c, 65))
    assert.equal(6, c(3))
    c = ns.compile(function(x) return x > 0 and x or x == -1 and 2 or 3 end, { paths = 2, native = false })
    assert.equal(4, c(1) + c(-2))
    assert.matches("compile: more than 2 paths", message(c, -1))
    for _, f in ipairs { function(x) return x > 0 and x or 3 end, function(x) return x == 0 and x or 3 end } do
      assert.matches("^compile: a branch on a traced value", message(ns.compile(f, { paths = 1 }), 1))
    end
    local long = { "return function(x)" }
    for i = 1, 70000 do long[#long + 1] = "x = x + k x = x - 1" end
    local huge = assert(load("local k = 1 " .. table.concat(long, "\n") .. " return x end", "=huge"))()
    assert.equal("huge:1: compile: the callback and the functions that it calls have more than 262144 instructions",
      message(tape(huge), 1))
    fails(function(x)
      while x < 1 do x = x / 2 end
      return x
    end, 1, "compile: more than 10000 comparisons in one call: does a loop end?", 0.5)
  end)

  it("paths that give results of different forms", function()
    local c = tape(function(x) if x > 0 then return x end return x, 2 end)
    assert.equal(1, c(1))
    assert.equal("compile: the callback gives 2 values here and 1 on another path: all paths must give the same", message(c, -1))
    assert.equal(2, c(2))
    local text = "compile: the callback gives its values in one way here and in another one on another path: return numbers, a " ..
      "list, a vector or rows, or fill the last argument, on all paths"
    c = tape(function(x, y) if x > 0 then return { x, 2 } end y[1] = x end)
    assert.same({ 1, 2 }, c(1, ns.vector(2)))
    assert.equal(text, message(c, -1, ns.vector(2)))
    c = tape(function(x) if x > 0 then return x, 2 end return { x, 2 } end)
    assert.equal(1, c(1))
    assert.equal(text, message(c, -1))
  end)
end)

describe("random functions with branches", function()
  local count, tell = campaign(60, 1)

  local function compare(c, f, x, slopes, source)
    local good, want = pcall(f, ns.vector(x))
    local made, got = pcall(c, ns.vector(x))
    if good and not made and tostring(got):find("more than 64 paths", 1, true) then return false end
    assert.equal(good, made, ("%s\n%s"):format(got, source))
    if not good then return true end
    for i = 1, 2 do
      assert.is_true(ex.same(want[i], got[i]), ("%d: %.17g and %.17g at %g, %g, %g\n%s")
        :format(i, want[i], got[i], x[1], x[2], x[3], source))
    end
    local dual, J = pcall(ns.jacobian, f, x)
    dual = dual and slopes
    local mine = dual and c:jacobian(1, ns.vector(x))
    for i = 1, dual and 2 or 0 do
      for j = 1, 3 do
        assert.is_true(J[i][j] ~= J[i][j] or ex.close(J[i][j], mine[i][j], 1e-12), ("d%d/d%d: %.17g and %.17g at %g, %g, %g\n%s")
          :format(i, j, J[i][j], mine[i][j], x[1], x[2], x[3], source))
      end
    end
    return true
  end

  it("have the bits of plain ones on tapes, and the derivatives of dual numbers", function()
    math.randomseed(20250801)
    local tried = 0
    for k = 1, count do
      local equal = k % 2 == 0
      local f, source = branching.random(equal)
      local c = tape(f)
      for _ = 1, 25 do
        if not compare(c, f, branching.point(), not equal, source) then break end
        tried = tried + 1
      end
    end
    assert.is_true(tried > 15 * count)
    tell("points of random functions with branches", tried)
  end)

  it("have them in native code too #once", function()
    math.randomseed(20250802)
    for _ = 1, math.max(2, count // 100) do
      local f, source = branching.random(false)
      local c = traces.native(f)
      for _ = 1, 6 do
        if not compare(c, f, branching.point(), true, source) then break end
      end
    end
  end)
end)

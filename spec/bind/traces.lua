-- What the specs of compiled functions share.
local ns = require "nslua"
local assert = require "luassert"

local traces = {}

-- f compiled to a tape alone: no compiler is run.
function traces.tape(f) return ns.compile(f, { native = false }) end

-- f called by C, as a metamethod in Lua is: its instructions are not watched.
function traces.hide(f)
  local object = setmetatable({}, { __shl = function(_, list) return { f(table.unpack(list)) } end })
  return function(...) return table.unpack(object << { ... }) end
end

-- f compiled to native code, by tcc when there is one: it takes a tenth of the time of cc. A tape where there is neither.
local quick = os.execute "command -v tcc >/dev/null 2>&1" and { native = "tcc" } or nil
function traces.native(f) return ns.compile(f, quick) end

-- The error of f(...) is this text, after the place of the line of f that is `line` lines below its first one.
function traces.fails(f, line, text, ...)
  local good, err = pcall(traces.tape(f), ...)
  assert.is_false(good, text)
  local info = debug.getinfo(f, "S")
  assert.equal(("%s:%d: %s"):format(info.short_src, info.linedefined + line, text), err)
end

-- f(x) returns a number, a list or a vector: its trace has the same values to the last bit (or to a tolerance) and the
-- derivatives of dual numbers.
function traces.same(f, x, tolerance)
  local c = traces.tape(f)
  local want, got = f(ns.vector(x)), c(ns.vector(x))
  if type(want) == "number" then want, got = { want }, { got } end
  assert.equal(#want, #got)
  for i = 1, #want do
    assert.is_true(want[i] == got[i] or math.abs(want[i] - got[i]) <= (tolerance or 0),
      ("value %d: %.17g and %.17g"):format(i, want[i], got[i]))
  end
  local J = ns.jacobian(type(f(ns.vector(x))) == "number" and function(v) return { f(v) } end or f, x)
  local mine = c:jacobian(1, ns.vector(x))
  assert.equal(J:rows(), (mine:rows()))
  for i = 1, #want do
    for j = 1, #x do
      assert.is_true(math.abs(J[i][j] - mine[i][j]) <= 1e-14 * (1 + math.abs(J[i][j])),
        ("derivative %d by %d: %.17g and %.17g"):format(i, j, J[i][j], mine[i][j]))
    end
  end
end

-- The number of VM instructions that f(...) runs in Lua functions, and what it returns.
function traces.instructions(f, ...)
  local function count(g, ...)
    local n = 0
    debug.sethook(function() n = n + 1 end, "", 1)
    local results = table.pack(g(...))
    debug.sethook()
    return n, results
  end
  local n, results = count(f, ...)
  return n - count(rawlen, ""), table.unpack(results, 1, results.n)
end

return traces

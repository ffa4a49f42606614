-- Random expressions for the specs of tapes, as entries of a tape and as a Lua function. Their number is NSLUA_RANDOM
-- (default 200).
local expressions = {}
local random = math.random

expressions.count = tonumber(os.getenv "NSLUA_RANDOM" or 200)

-- The Lua form of each operation of the tape.
expressions.lua = {
  ADD = "(%s + %s)", SUB = "(%s - %s)", MUL = "(%s * %s)", DIV = "(%s / %s)", NEG = "(-%s)", POW = "(%s ^ %s)",
  CPOW = "pow(%s, %s)", IDIV = "(%s // %s)", MOD = "(%s %% %s)", FMOD = "fmod(%s, %s)", SIN = "sin(%s)", COS = "cos(%s)",
  TAN = "tan(%s)", ASIN = "asin(%s)", ACOS = "acos(%s)", ATAN = "atan(%s, %s)", EXP = "exp(%s)", LOG = "log(%s)",
  LOG2 = "log(%s, 2)", LOG10 = "log(%s, 10)", SQRT = "sqrt(%s)", ABS = "abs(%s)", SINH = "sinh(%s)", COSH = "cosh(%s)",
  TANH = "tanh(%s)", FLOOR = "(floor(%s) + 0.0)", CEIL = "(ceil(%s) + 0.0)", WHOLE = "(modf(%s) + 0.0)",
  PART = "select(2, modf(%s))", MAX = "max(%s, %s)", MIN = "min(%s, %s)",
}

local functions = "local sin, cos, tan, asin, acos, atan, exp, log, sqrt, abs, floor, ceil, modf, max, min, fmod = math.sin, "
  .. "math.cos, math.tan, math.asin, math.acos, math.atan, math.exp, math.log, math.sqrt, math.abs, math.floor, math.ceil, "
  .. "math.modf, math.max, math.min, math.fmod\nlocal pow, sinh, cosh, tanh = math.pow, math.sinh, math.cosh, math.tanh\n"

-- The operations that this Lua has; the compatibility functions may be absent; mirrors, curves, comparisons are none of Lua.
local all, arity = require("nslua.internal").tape_operations()
local names = {}
for _, name in ipairs(all) do
  local absent = { MIRROR = true, PIECE = true, LESS = true, AT_MOST = true, EQUAL = true, CPOW = not math.pow,
    SINH = not math.sinh, COSH = not math.cosh, TANH = not math.tanh }
  if not absent[name] then names[#names + 1] = name end
end
expressions.names, expressions.arity = names, arity

-- The Lua function of entries (spec of nslua.internal.tape): function(x) return {...} end, or with a vector to fill.
function expressions.compile(inputs, entries, outputs, fills)
  local text = {}
  for i = 1, inputs do text[i] = ("x[%d]"):format(i) end
  local lines = {}
  for i, e in ipairs(entries) do
    local value
    if type(e[1]) == "number" then value = ("%.17g"):format(e[1])
    else value = expressions.lua[e[1]]:format(text[e[2]], text[e[3]]) end
    if type(e[1]) == "number" and math.type(e[1]) == "float" and value:match "^%-?%d+$" then value = value .. ".0" end
    lines[i] = ("v[%d] = %s"):format(i, value)
    text[inputs + i] = ("v[%d]"):format(i)
  end
  local results = {}
  for i, o in ipairs(outputs) do results[i] = fills and ("y[%d] = %s"):format(i, text[o]) or text[o] end
  local ending = fills and table.concat(results, "; ") or "return { " .. table.concat(results, ", ") .. " }"
  local source = ("%sreturn function(x, y)\nlocal v = {}\n%s\n%s\nend"):format(functions, table.concat(lines, "\n"), ending)
  return assert(load(source, "=expression"))(), source
end

-- {inputs=, entries=, outputs=, x=}. smooth: without steps and kinks; names: the operations to use (default: all).
function expressions.random(o)
  o = o or {}
  local steps = { IDIV = true, MOD = true, FMOD = true, FLOOR = true, CEIL = true, WHOLE = true, PART = true, MAX = true,
    MIN = true, ABS = true }
  local inputs, entries, outputs, x = o.inputs or random(1, 6), {}, {}, {}
  local function constant() return { random() < 0.3 and random(-3, 3) + 0.0 or random() * 4 - 2 } end
  for i = 1, o.entries or random(1, 25) do
    local list = o.names or names
    local name = list[random(#list)]
    if o.smooth and steps[name] then name = "MUL" end
    if random() < 0.15 then entries[i] = constant()
    else entries[i] = { name, random(inputs + i - 1), random(inputs + i - 1) } end
  end
  for i = 1, o.outputs or random(1, 4) do outputs[i] = random(math.max(1, inputs + #entries - 5), inputs + #entries) end
  for i = 1, inputs do x[i] = random() * 3 - 1 end
  return { inputs = inputs, entries = entries, outputs = outputs, x = x }
end

function expressions.same(a, b) return a == b or (a ~= a and b ~= b) end

-- Whether a and b agree to a relative tolerance.
function expressions.close(a, b, tolerance)
  return expressions.same(a, b) or math.abs(a - b) <= tolerance * (math.abs(a) + math.abs(b))
end

return expressions

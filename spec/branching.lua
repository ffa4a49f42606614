-- Random Lua functions with branches, loops, tables, early returns, closures and jumps, for the specs of compiled functions.
local branching = {}
local random = math.random
local equal -- whether conditions have == and ~=

local function pick(...) return (select(random(select("#", ...)), ...)) end

-- A number: of the inputs, the variables a and b, constants.
local function number(depth)
  if depth <= 0 then return pick("x[1]", "x[2]", "x[3]", "a", "b", "0.5", "1", "2", "-1.25", "k") end
  local u, v = number(depth - 1), number(depth - 1 - random(0, 1))
  local form = pick("(U + V)", "(U - V)", "(U * V)", "(U / (1 + V * V))", "max(U, V)", "min(U, V, 1)", "abs(U)", "floor(U)",
    "ceil(V)", "fmod(U, 3)", "(U % 2)", "(U // 2)", "(-(U))", "sin(U)", "exp(0 - abs(U))", "t[1 + floor(abs(U)) % 3]",
    "t[floor(min(3, max(1, U)))]", "pick(U)", "((CONDITION) and U or V)", "w[1 + floor(U) % 2]", "(U)^2",
    "s.p", "s['q ' .. 1]", "s[(CONDITION) and 'p' or 'r']", "several(U, V)", "several(pair(U))", "(pair(V))", "select(2, pair(U))",
    "nest(U)(V)", "(U // 0.3)", "(floor(U) // 2 + floor(V) % 3)", "((6 ~ 3) * U)", "(tointeger(floor(U)) or V)",
    "fmod(floor(U), 3)", "modf(U)", "(select(2, modf(V)))", "steps(U, V)", "object(U)", "(object + V)", "pow(U, 2)")
  form = form:gsub("CONDITION", function() return branching.condition(depth - 1) end)
  return (form:gsub("[UV]", { U = u, V = v }))
end

function branching.condition(depth)
  local u, v = number(math.min(depth, 1)), number(0)
  local form = pick("U < V", "U <= V", "U > V", "U >= V", "not (U < 0.5)", "U > 0 and V > U", "U < 0 or V < 1")
  if equal and random() < 0.5 then form = pick("U == V", "U ~= V", "U == 0", "U ~= 1", "floor(U) == 1", "U ~= U", "0.5 == V") end
  return (form:gsub("[UV]", { U = u, V = v }))
end

local function block(depth, indent)
  local lines = {}
  local function add(text, ...) lines[#lines + 1] = indent .. text:format(...) end
  for _ = 1, random(1, 3) do
    local kind = depth > 0 and random(12) or random(3)
    if kind <= 2 then
      add("%s = %s", pick("a", "b"), number(2))
    elseif kind == 3 then
      local forms = { "s.p = %s", "s['q ' .. 1] = %s", "w[1] = %s", "s.r, a = a, %s", "do local c <close> = closer a = a + %s end" }
      add(forms[random(#forms)], number(1))
    elseif kind == 4 then
      add("if %s then\n%s", branching.condition(1), block(depth - 1, indent .. "  "))
      if random() < 0.5 then add("elseif %s then\n%s", branching.condition(1), block(depth - 1, indent .. "  ")) end
      if random() < 0.7 then add("else\n%s", block(depth - 1, indent .. "  ")) end
      add "end"
    elseif kind == 5 then
      add("for i = 1, min(4, %s) do\n%s\n%s  a = a + i * %s\n%send", number(1), block(0, indent .. "  "), indent, number(0), indent)
    elseif kind == 6 then
      add("do local n = 0 while (%s) and n < 3 do n = n + 1 a, b = a / 2 + n, %s end end", branching.condition(1), number(1))
    elseif kind == 7 then
      add("if %s then return { %s, a } end", branching.condition(1), number(1))
    elseif kind == 8 then
      add("for i = 1, 3 do if %s then goto on end a = a + i * %s ::on:: end", branching.condition(1), number(0))
    elseif kind == 9 then
      add("do local n = 0 repeat local v = %s n, b = n + 1, b + v until n > 2 or %s end", number(1), branching.condition(0))
    elseif kind == 10 then
      local order = pick("", ", function(p, q) return p > q end")
      add("do local l = { %s, a, 1 } sort(l%s) insert(l, b) b = l[1] - remove(l) end", number(1), order)
    elseif kind == 11 then
      add("do local k <const> = %s local function f(v) k2 = v * k return v + k2 end a = f(b) b = f(a) end", number(1))
    else
      add("for i, v in ipairs(t) do if %s then b = b + v * i end if v > a then break end end", branching.condition(0))
    end
  end
  return table.concat(lines, "\n")
end

-- What the functions call.
local prelude = [[
local sin, exp, abs, floor, ceil = math.sin, math.exp, math.abs, math.floor, math.ceil
local max, min, fmod, tointeger, modf = math.max, math.min, math.fmod, math.tointeger, math.modf
local sort, insert, remove = table.sort, table.insert, table.remove
local k, t = 0.75, { 1.5, -2, 3 }
local closer = setmetatable({}, { __close = function() end })
local function pick(v) if v > 1 then return 3 elseif v < 1 then return v * v end return 2 * v end
local function pair(v) return v * 0.5, v > 0 and v or 1 end
local function several(...)
  local n, u, v = select("#", ...), ...
  for _, w in ipairs { ... } do n = n + w end
  return n * u - (v or 0)
end
local function nest(v)
  local kept = v
  return function(w) kept = kept + w return (function() return kept * v end)() end
end
local function steps(u, v)
  local sum = 0
  for w in coroutine.wrap(function() for i = 1, 3 do if u > i then return end coroutine.yield(v * i) end end) do sum = sum + w end
  return sum
end
local function pow(v, n) return n == 0 and 1 or v * pow(v, n - 1) end
local class = { __add = function(self, v) return self.k + v end }
function class:__call(v) return v < self.k and v or self.k * v end
local object = setmetatable({ k = 0.5 }, class)
]]

-- A function of a vector of three numbers that returns a list of two, and its source. with_equal: it may compare by ==, which dual
-- numbers do not hear of.
function branching.random(with_equal)
  equal = with_equal
  local source = prelude .. ("return function(x)\n  local a, b, w, k2 = x[1], 1, { x[2], x[3] * x[1] }, 0\n"
    .. "  local s = { p = x[2], ['q 1'] = 2, r = x[1] + x[3] }\n%s\n  return { a, b + k2 }\nend"):format(block(2, "  "))
  return assert(load(source, "=branching"))(), source
end

-- A point on the borders of branches, or near them.
function branching.point()
  local x = {}
  for i = 1, 3 do x[i] = random() < 0.5 and random(-4, 6) / 2 or random() * 5 - 2 end
  return x
end

return branching

-- Random Lua functions with branches, loops, tables and early returns, for the specs of compiled functions.
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
    "t[floor(min(3, max(1, U)))]", "pick(U)", "((CONDITION) and U or V)", "w[1 + floor(U) % 2]", "(U)^2")
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
    local kind = depth > 0 and random(7) or random(2)
    if kind <= 2 then
      add("%s = %s", pick("a", "b"), number(2))
    elseif kind == 3 then
      add("if %s then\n%s", branching.condition(1), block(depth - 1, indent .. "  "))
      if random() < 0.5 then add("elseif %s then\n%s", branching.condition(1), block(depth - 1, indent .. "  ")) end
      if random() < 0.7 then add("else\n%s", block(depth - 1, indent .. "  ")) end
      add "end"
    elseif kind == 4 then
      add("for i = 1, min(4, %s) do\n%s\n%s  a = a + i * %s\n%send", number(1), block(0, indent .. "  "), indent, number(0), indent)
    elseif kind == 5 then
      add("do local n = 0 while (%s) and n < 3 do n = n + 1 a, b = a / 2 + n, %s end end", branching.condition(1), number(1))
    elseif kind == 6 then
      add("if %s then return { %s, a } end", branching.condition(1), number(1))
    else
      add("for i, v in ipairs(t) do if %s then b = b + v * i end if v > a then break end end", branching.condition(0))
    end
  end
  return table.concat(lines, "\n")
end

-- A function of a vector of three numbers that returns a list of two, and its source. with_equal: it may compare by ==, which dual
-- numbers do not hear of.
function branching.random(with_equal)
  equal = with_equal
  local source = ("local sin, exp, abs, floor, ceil, max, min, fmod = math.sin, math.exp, math.abs, math.floor, math.ceil, "
    .. "math.max, math.min, math.fmod\nlocal k, t = 0.75, { 1.5, -2, 3 }\n"
    .. "local function pick(v) if v > 1 then return 3 elseif v < 1 then return v * v end return 2 * v end\n"
    .. "return function(x)\n  local a, b, w = x[1], 1, { x[2], x[3] * x[1] }\n%s\n  return { a, b }\nend"):format(block(2, "  "))
  return assert(load(source, "=branching"))(), source
end

-- A point on the borders of branches, or near them.
function branching.point()
  local x = {}
  for i = 1, 3 do x[i] = random() < 0.5 and random(-4, 6) / 2 or random() * 5 - 2 end
  return x
end

return branching

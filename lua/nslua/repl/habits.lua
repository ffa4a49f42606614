-- nslua.repl.habits: what to write in Lua for a line in the manner of another language that Lua cannot read.

local habits = {}

-- Two symbols without a blank between them, none of which Lua has.
local pairs_of_symbols = {
  ["!="] = "x ~= y", ["**"] = "x ^ y", ["&&"] = "a and b", ["||"] = "a or b", ["++"] = "x = x + 1",
  ["+="] = "x = x + 1", ["-="] = "x = x - 1", ["*="] = "x = x * 2", ["/="] = "x = x / 2",
}

-- Words that begin a statement whose first line ends with a colon in Python.
local blocks = {
  ["for"] = "for i = 1, 3 do ... end", ["while"] = "while x > 0 do ... end", ["if"] = "if x > 0 then ... end",
  ["def"] = "function f(x) ... end", ["elif"] = "elseif x > 0 then", ["else"] = "else",
}

local function follows(a, b)
  return b ~= nil and a.to + 1 == b.from
end

-- What a token and its neighbours mean in another language.
local function at(tokens, i)
  local before, token, after = tokens[i - 1], tokens[i], tokens[i + 1]
  if follows(token, after) and pairs_of_symbols[token.text .. after.text:sub(1, 1)] then
    return pairs_of_symbols[token.text .. after.text:sub(1, 1)]
  end
  if token.text == "@" then return "A * B for the product of matrices" end
  if token.text == "[" and (not before or before.text == "=" or before.text == "(") then
    return "{ 1, 2, 3 } for a list, ns.vector { 1, 2, 3 } for numbers to compute with"
  end
end

-- Whether the tokens are the first line of a block in Python. The colon of a method may end a line of Lua, too, but
-- only after "do" or "then".
local function opens_block(tokens)
  for _, token in ipairs(tokens) do
    if token.text == "do" or token.text == "then" then return false end
  end
  return blocks[tokens[1].text] ~= nil and tokens[#tokens].text == ":"
end

-- Of statements that Lua does not have, and of blocks.
local function of_statement(tokens)
  local first, second = tokens[1], tokens[2]
  local named = second ~= nil and second.name
  if first.text == "import" and named or first.text == "from" and named then return 'local ns = require "nslua"' end
  if first.text == "print" and named then return "print(x)" end
  if first.text == "def" and named or opens_block(tokens) then return blocks[first.text] end
end

-- Names that Python has from the start or that its users import.
local names = {
  np = "ns, as in ns.linspace", numpy = "ns, as in ns.linspace", scipy = "ns, as in ns.solve_ivp",
  plt = "ns.plot, as in ns.plot.plot(x, y)", len = "#x", range = "for i = 1, n do ... end", str = "tostring(x)",
  float = "tonumber(x)", int = "math.floor(x)", array = "ns.vector { 1, 2, 3 }",
  enumerate = "for i, x in ipairs(list) do ... end",
}

-- What to write for the global that the message of an error says is nil; nil when it is no known name.
function habits.of_message(message)
  local name = message:match "^[^\n]*attempt to %a+ a nil value %(global '([%w_]+)'%)"
  return name and names[name]
end

-- What to write in Lua for the tokens of a text with an error (see nslua.repl.source); nil when nothing in it is a
-- known habit.
function habits.advice(tokens)
  if #tokens == 0 then return nil end
  local advice = of_statement(tokens)
  for i = 1, #tokens do advice = advice or at(tokens, i) end
  return advice
end

return habits

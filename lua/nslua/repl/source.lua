-- nslua.repl.source: the grammar of Lua, as far as the prompt needs it: tokens, incomplete chunks, top-level locals.
local habits = require "nslua.repl.habits"

local source = {}

-- ---- tokens ----

local function long_bracket_end(text, at, level)
  local _, last = text:find("]" .. level .. "]", at, true)
  return last
end

-- The last place of the quoted string that starts at `at`; nil when it is not closed on its line.
local function quoted_end(text, at)
  local quote, i = text:sub(at, at), at + 1
  while i <= #text do
    local c = text:sub(i, i)
    if c == "\\" then
      i = i + 2
    elseif c == quote then
      return i
    elseif c == "\n" then
      return nil
    else
      i = i + 1
    end
  end
end

local symbols = { "^%.%.%.", "^%.%.", "^::", "^//", "^<<", "^>>", "^==", "^~=", "^<=", "^>=", "^%p" }

-- One token at `at`, no blank: its kind ("name", "number", "string", "comment", "symbol") and its last place, which
-- is nil for a string or comment that is not closed; and where the contents of a string start.
local function token_at(text, at)
  local long = text:match("^%-%-%[(=*)%[", at)
  if long then return "comment", long_bracket_end(text, at, long) end
  if text:find("^%-%-", at) then
    local newline = text:find("\n", at, true)
    return "comment", newline and newline - 1
  end
  long = text:match("^%[(=*)%[", at)
  if long then return "string", long_bracket_end(text, at, long), at + #long + 2 end
  if text:find("^[\"']", at) then return "string", quoted_end(text, at), at + 1 end
  local _, last = text:find("^[%a_][%w_]*", at)
  if last then return "name", last end
  _, last = text:find("^0[xX][%x%.]*", at)
  if not last then _, last = text:find("^%.?%d[%d%.]*", at) end
  if last then
    local _, exponent = text:find("^[eEpP][+-]?%d+", last + 1)
    return "number", exponent or last
  end
  for _, pattern in ipairs(symbols) do
    _, last = text:find(pattern, at)
    if last then return "symbol", last end
  end
  return "symbol", at
end

-- Calls f(kind, from, to) for each token of a text, comments too; to one that is open at the end `to` is that end.
function source.each(text, f)
  local at = text:find "%S"
  while at do
    local kind, last = token_at(text, at)
    if not last and text:find("^[\"']", at) then last = text:find("\n", at, true) end -- it ends with its line
    f(kind, at, last or #text)
    at = last and text:find("%S", last + 1)
  end
end

-- The tokens of a text, comments left out: a list of { text=, from=, to=, name= (whether it is one) }. The texts of
-- strings have their quotes, so that a text tells symbols and words of Lua from all others. The second result is
-- what is open at the end, "string" or "comment", with the place where the contents of the string start.
function source.tokens(text)
  local list, at = {}, 1
  while true do
    at = text:find("%S", at)
    if not at then return list end
    local kind, last, contents = token_at(text, at)
    if not last then return list, kind, contents end
    if kind ~= "comment" then
      list[#list + 1] = { name = kind == "name", text = text:sub(at, last), from = at, to = last }
    end
    at = last + 1
  end
end

-- Whether the text ends with a semicolon.
function source.silent(text)
  local tokens = source.tokens(text)
  return #tokens > 0 and tokens[#tokens].text == ";"
end

-- ---- locals ----

local opens = { ["function"] = 1, ["do"] = 1, ["if"] = 1, ["repeat"] = 1, ["("] = 1, ["{"] = 1, ["["] = 1,
  ["end"] = -1, ["until"] = -1, [")"] = -1, ["}"] = -1, ["]"] = -1 }

-- Whether token i is the name of a field, a method or a label, which may be a word of Lua.
local function is_field(tokens, i)
  local before = tokens[i - 1] and tokens[i - 1].text
  return before == "." or before == ":" or before == "goto"
end

-- Reads "local a <const>, b = " from token i on. Returns the names, the last token before "=" (or the last of the
-- statement), and whether values are given. nil for a variable that is not kept: one with <close>.
local function local_names(tokens, i)
  local names = {}
  repeat
    i = i + 1
    names[#names + 1] = tokens[i].text
    if tokens[i + 1] and tokens[i + 1].text == "<" then
      if tokens[i + 2].text == "close" then return nil end
      i = i + 3
    end
    i = i + 1
  until not (tokens[i] and tokens[i].text == ",")
  return names, i - 1, tokens[i] ~= nil and tokens[i].text == "="
end

-- Changes each top-level `local` of the text into an assignment to a field of the table named `keeper`, so that
-- later lines know the variable. Lines keep their numbers. A variable with <close> is not changed. `text` must be a
-- valid chunk.
function source.keep_locals(text, keeper)
  local tokens, parts, done, depth = source.tokens(text), {}, 0, 0
  local function replace(from, to, with)
    local between = text:sub(from, to)
    local newlines = between:gsub("[^\n]", "")
    parts[#parts + 1] = text:sub(done + 1, from - 1) .. with .. newlines
    done = to
  end
  for i, token in ipairs(tokens) do
    local field = is_field(tokens, i)
    if not field and token.text == "local" and depth == 0 then
      if tokens[i + 1].text == "function" then
        replace(token.from, tokens[i + 2].from - 1, "function " .. keeper .. ".")
      else
        local names, last, given = local_names(tokens, i)
        if names then
          local targets = keeper .. "." .. table.concat(names, ", " .. keeper .. ".")
          replace(token.from, tokens[last].to, targets .. (given and " " or " = nil;"))
        end
      end
    end
    if not field then depth = depth + (opens[token.text] or 0) end
  end
  return table.concat(parts) .. text:sub(done + 1)
end

-- ---- chunks ----

-- Whether more lines can complete the text. A string in quotes goes on only after a backslash at the end of the
-- line.
local function incomplete(text, message)
  if message:find("unfinished string", 1, true) then return text:find "\\$" ~= nil end
  return message:find "<eof>'?$" ~= nil
end

-- Compiles an expression, "=expression", or statements, whose top-level locals go to `keeper`. `name` is the name of
-- the chunk in messages. After an error: nil, the message, and whether more lines can complete the text.
function source.compile(text, env, keeper, name)
  name = "=" .. (name or "stdin")
  local expression, equals = text:gsub("^%s*=", "", 1)
  local chunk, message = load("return " .. expression, name, "t", env)
  if chunk then return chunk end
  local more = incomplete(text, message)
  if equals == 0 then
    chunk, message = load(text, name, "t", env)
    if chunk and text:find("local", 1, true) then
      chunk = load(source.keep_locals(text, keeper), name, "t", env) or chunk
    end
  end
  if chunk then return chunk end
  local advice = habits.advice(source.tokens(text))
  if advice then return nil, ("%s; in Lua: %s"):format(message, advice), false end
  return nil, message, more or incomplete(text, message)
end

-- ---- cells ----

-- Words that can stand at the start of an expression.
local starts = { ["nil"] = true, ["true"] = true, ["false"] = true, ["function"] = true, ["not"] = true }
local reserved = {}
for word in ([[and break do else elseif end for goto if in local or repeat return then until while]]):gmatch "%a+" do
  reserved[word] = true
end

local TRIES = 8 -- most places at which the last expression of a cell is looked for

-- The tokens at which a last expression may begin, the last first: at the start of a line or after ";", outside of
-- blocks and brackets.
local function last_starts(text)
  local tokens, list, depth = source.tokens(text), {}, 0
  for i, token in ipairs(tokens) do
    local before = tokens[i - 1]
    local first = not before or before.text == ";" or text:sub(before.to + 1, token.from - 1):find("\n", 1, true)
    if first and i > 1 and depth == 0 and not reserved[token.text] then table.insert(list, 1, token) end
    if not is_field(tokens, i) then depth = depth + (opens[token.text] or 0) end
  end
  return list
end

-- Whether a token cannot continue the expression before it, so that a statement ends there in any case.
local function begins_anew(token)
  return token.name or token.text:find "^%.?%d" or token.text == "#" or starts[token.text]
end

-- Compiles a cell of a notebook: as source.compile does, but the last expression of several statements is returned,
-- too.
function source.compile_cell(text, env, keeper, name)
  local chunk, message, more = source.compile(text, env, keeper, name)
  if load("return " .. text, "=", "t", env) or text:find "^%s*=" then return chunk, message, more end
  for i, token in ipairs(last_starts(text)) do
    if i > TRIES then break end
    local variant = text:sub(1, token.from - 1) .. "return " .. text:sub(token.from)
    if (not chunk or begins_anew(token)) and load(variant, "=", "t", env) then
      return (source.compile(variant, env, keeper, name))
    end
  end
  return chunk, message, more
end

-- The blanks with which the next line of an incomplete text begins: two for each block or bracket that is open.
function source.indent(text)
  local tokens, depth = source.tokens(text), 0
  for i, token in ipairs(tokens) do
    if not is_field(tokens, i) then depth = depth + (opens[token.text] or 0) end
  end
  return ("  "):rep(depth)
end

return source

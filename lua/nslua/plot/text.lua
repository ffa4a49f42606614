-- nslua.plot.text: the texts of a picture, as gnuplot takes them.
--
-- A text is shown as it is: no character in it works as a command or markup of gnuplot. Two notations of matplotlib
-- are understood:
--   \lambda, \Omega, \times ...   the character of that name; an unknown name is not changed
--   $x_1$, $t^{2k}$               mathematics: letters in italics, _ and ^ lower and raise the next character or
--                                 {group}; \dot, \frac and the others of `commands` below. A single $, or a formula
--                                 with unbalanced braces, is not changed
-- The parts of a text:  { text =, italic =, bold = }  or  { sub = parts, super = parts }  or, for a fraction,
-- { above = parts, below = parts }.

local letters = require "nslua.plot.letters"

local text = {}

local names = {
  alpha = "α", beta = "β", gamma = "γ", delta = "δ", epsilon = "ε", varepsilon = "ε", zeta = "ζ", eta = "η",
    theta = "θ",
  iota = "ι", kappa = "κ", lambda = "λ", mu = "μ", nu = "ν", xi = "ξ", pi = "π", rho = "ρ", sigma = "σ", tau = "τ",
  upsilon = "υ", phi = "φ", varphi = "φ", chi = "χ", psi = "ψ", omega = "ω", Gamma = "Γ", Delta = "Δ", Theta = "Θ",
  Lambda = "Λ", Xi = "Ξ", Pi = "Π", Sigma = "Σ", Upsilon = "Υ", Phi = "Φ", Psi = "Ψ", Omega = "Ω",
  times = "×", cdot = "·", pm = "±", leq = "≤", le = "≤", geq = "≥", ge = "≥", neq = "≠", approx = "≈", infty = "∞",
  partial = "∂", nabla = "∇", sum = "∑", prod = "∏",
  int = "∫", sqrt = "√", perp = "⊥", to = "→", rightarrow = "→", circ = "°",
  degree = "°", ["in"] = "∈", ell = "ℓ", dots = "…", ldots = "…", cdots = "⋯", forall = "∀", exists = "∃", mid = "|",
  ll = "≪", gg = "≫", sim = "∼", propto = "∝", equiv = "≡", langle = "⟨", rangle = "⟩", ast = "∗", prime = "′",
  leftarrow = "←", Rightarrow = "⇒", subset = "⊂", cup = "∪", cap = "∩", mp = "∓", quad = "  ", qquad = "    ",
  hbar = "ℏ", emptyset = "∅", Vert = "‖", lVert = "‖", rVert = "‖", vert = "|", lvert = "|", rvert = "|",
}

local functions = {}
for name in ("sin cos tan exp log ln min max sign arcsin arccos arctan sinh cosh tanh det"):gmatch "%a+" do
  functions[name] = true
end

-- The text as valid UTF-8, without control characters other than line ends.
local function clean(s)
  local parts, at = {}, 1
  while at <= #s do
    local _, bad = utf8.len(s, at)
    parts[#parts + 1] = s:sub(at, (bad or #s + 1) - 1)
    if not bad then break end
    parts[#parts + 1] = "\u{FFFD}"
    at = bad + 1
  end
  return (table.concat(parts):gsub("\r\n?", "\n"):gsub("\t", "    "):gsub("[%z\1-\9\11-\31\127]", " "))
end

local function named(s)
  return (s:gsub("\\(%a+)", function(name) return names[name] end))
end

-- The characters of a formula, as parts; nil when its braces do not match.
local formula

-- Commands with groups after them: how many, and the parts that stand for them. Each gets the parts of its groups,
-- and the text of the first.
local commands = {}

-- The length in bytes of the first character of s.
local function first_length(s) return #s:match "^[^\128-\191]?[\128-\191]*" end

-- A sign above the first character of the group: a combining character after it.
local accents = { dot = "\u{307}", ddot = "\u{308}", hat = "\u{302}", widehat = "\u{302}", bar = "\u{304}",
  overline = "\u{304}", tilde = "\u{303}", vec = "\u{20D7}" }
for name, sign in pairs(accents) do
  commands[name] = { 1, function(_, inside)
    if inside[1] and inside[1].text then
      local cut = first_length(inside[1].text)
      inside[1].text = inside[1].text:sub(1, cut) .. sign .. inside[1].text:sub(cut + 1)
    end
    return inside
  end }
end

-- Words as they stand, upright.
for name in ("mathrm text textrm operatorname mathsf"):gmatch "%a+" do
  commands[name] = { 1, function(words, inside)
    if name ~= "text" and name ~= "textrm" and words:find "[\\_^{}]" then
      for _, part in ipairs(inside) do part.italic = nil end
      return inside
    end
    return { { text = words } }
  end }
end

-- Makes parts bold; letters are upright too, unless `slanted`.
local function embolden(parts, slanted)
  for _, part in ipairs(parts) do
    if part.text then part.bold, part.italic = true, slanted and part.italic or nil end
    for _, inside in pairs { part.sub or false, part.super or false, part.above or false, part.below or false } do
      if inside then embolden(inside, slanted) end
    end
  end
  return parts
end

-- Letters of sets of numbers; others stand as they are, upright.
local doubled = { C = "ℂ", H = "ℍ", N = "ℕ", P = "ℙ", Q = "ℚ", R = "ℝ", Z = "ℤ" }
commands.mathbb = { 1, function(words) return { { text = (words:gsub("%u", doubled)) } } end }

commands.mathbf = { 1, function(_, inside) return embolden(inside) end }
commands.textbf = { 1, function(words) return { { text = words, bold = true } } end }
commands.boldsymbol = { 1, function(_, inside) return embolden(inside, true) end }
commands.bm = commands.boldsymbol

-- The parts in parentheses, unless they are one number, one letter or one word.
local function enclosed(parts)
  local simple = true
  for _, part in ipairs(parts) do simple = simple and (not part.text or part.text:find "^[%w\128-\255]+$") end
  if simple then
    local slanted = 0
    for _, part in ipairs(parts) do slanted = slanted + (part.italic and 1 or 0) end
    local first = parts[1] and parts[1].text
    if slanted <= 1 or slanted == 2 and (first == "d" or first == "∂") then return parts end
  end
  local list = table.move(parts, 1, #parts, 2, { { text = "(" } })
  list[#list + 1] = { text = ")" }
  return list
end

-- A root stands on the line: √(a + b).
commands.sqrt = { 1, function(_, inside)
  local list = enclosed(inside)
  return table.move(list, 1, #list, 2, { { text = "√" } })
end }
commands.frac = { 2, function(_, above, below) return { { above = above, below = below } } end }
commands.dfrac, commands.tfrac = commands.frac, commands.frac

local function nothing() return {} end
commands.left, commands.right = { 0, nothing }, { 0, nothing }
for name in ("big Big bigl bigr Bigl Bigr displaystyle limits"):gmatch "%a+" do commands[name] = { 0, nothing } end

local blanks = { [","] = " ", [";"] = " ", [":"] = " ", [" "] = " ", ["!"] = "" } -- "\," and the like

local group, command_at

function group(s, at)
  at = s:match("^%s*()", at)
  local inside = s:match("^%b{}", at)
  if inside then return formula(inside:sub(2, -2)), at + #inside end
  local command, after = command_at(s, at)
  if command then return command, after end
  local one = s:match("^\\%a+", at) or s:match("^[^\\{}_^]" .. "[\128-\191]*", at)
  if not one then return nil end
  return formula(one), at + #one
end

-- The parts of a command at a place and the place after it; nil when it is none, false when a group is missing.
function command_at(s, at)
  local name = s:match("^\\(%a+)", at)
  local command = name and commands[name]
  if not command then return nil end
  local groups, start = {}, at + 1 + #name
  local after = start
  for k = 1, command[1] do
    groups[k], after = group(s, after)
    if not groups[k] then return false end
  end
  local words = s:match("^%s*(%b{})", start)
  words = words and words:sub(2, -2) or s:sub(start, after - 1):match "^%s*(.*)$"
  return command[2](words, table.unpack(groups)), after
end

local function script_of(s, at, parts)
  local script = {}
  while at <= #s do
    local sign = s:sub(at, at)
    local key = sign == "_" and "sub" or sign == "^" and "super"
    if not key or script[key] then break end
    local inside, after = group(s, at + 1)
    if not inside then return nil end
    script[key], at = inside, after
  end
  parts[#parts + 1] = script
  return at
end

function formula(s)
  local parts, at = {}, 1
  while at and at <= #s do
    local c = s:sub(at, at)
    if c == "_" or c == "^" then
      at = script_of(s, at, parts)
    elseif c == "{" then
      local inside, after = group(s, at)
      if not inside then return nil end
      table.move(inside, 1, #inside, #parts + 1, parts)
      at = after
    elseif c == "}" then
      return nil
    elseif c == "\\" and blanks[s:sub(at + 1, at + 1)] then
      parts[#parts + 1] = { text = blanks[s:sub(at + 1, at + 1)] }
      at = s:match("^ *()", at + 2) - 2 -- in mathematics a blank after it stands for nothing
      at = at + 2
    elseif c == "\\" and s:find("^[{}%%_$#&|]", at + 1) then
      local sign = s:sub(at + 1, at + 1)
      parts[#parts + 1] = { text = sign == "|" and "‖" or sign }
      at = at + 2
    elseif commands[s:match("^\\(%a+)", at) or ""] then
      local found, after = command_at(s, at)
      if not found then return nil end
      table.move(found, 1, #found, #parts + 1, parts)
      at = after
    else
      local name = s:match("^\\(%a+)", at)
      local known = name and (names[name] or functions[name] and name)
      local one = known or s:match("^[^\\]" .. "[\128-\191]*", at) or "\\"
      local letter = one:find "^%a$" or (known and name:find "^%l" and one:find "^[\206\207]")
      parts[#parts + 1] = { text = one, italic = letter and true or nil }
      if one == "-" then parts[#parts].text = "−" end
      at = at + (known and #name + 1 or #one)
      if known then
        local after = s:match("^%s+()[%w\\]", at) -- past the blank that ends a name
        if after and functions[name] then parts[#parts].text = one .. " " end
        at = after or at
      end
    end
  end
  return at and parts
end

-- The parts of a text.
function text.parse(s)
  local parts, at = {}, 1
  s = clean(s)
  while at <= #s do
    local from, to, inside = s:find("%$([^$%s][^$\n]*)%$", at)
    local math = from and not inside:find "%s$" and formula(inside)
    if not math then
      parts[#parts + 1] = { text = named(s:sub(at, to or #s)) }
      at = (to or #s) + 1
    else
      if from > at then parts[#parts + 1] = { text = named(s:sub(at, from - 1)) } end
      table.move(math, 1, #math, #parts + 1, parts)
      at = to + 1
    end
  end
  return parts
end

-- The parts with fractions on the line: (a + b)/c.
local function on_line(parts)
  local list = {}
  for _, part in ipairs(parts) do
    if part.above then
      local above, below = enclosed(on_line(part.above)), enclosed(on_line(part.below))
      table.move(above, 1, #above, #list + 1, list)
      list[#list + 1] = { text = "/" }
      table.move(below, 1, #below, #list + 1, list)
    else
      list[#list + 1] = part
    end
  end
  return list
end

-- ---- for gnuplot ----

-- A string in double quotes for gnuplot that stands for exactly these bytes. Special bytes are written as octal
-- codes. A digit after such a code is written as a code too, since gnuplot would read it as part of the number.
function text.literal(s)
  local function code(c) return ("\\%03o"):format(c:byte()) end
  return '"' .. s:gsub("([^%w .,:;=+*/()<>\128-\255-])(%d*)", function(c, digits)
    return code(c) .. digits:gsub("%d", code)
  end) .. '"'
end

-- A text of one line as a string of gnuplot, without markup.
function text.line(s) return text.literal((clean(s):gsub("\n", " "))) end

local width_of

-- After "@" the first of two scripts takes no width: the narrower one.
local function enhanced(parts)
  local out = {}
  for _, part in ipairs(on_line(parts)) do
    if part.text then
      local escaped = part.text:gsub("[\\{}^_@&~]", "\\%0")
      local face = (part.bold and ":Bold" or "") .. (part.italic and ":Italic" or "")
      out[#out + 1] = face ~= "" and "{/" .. face .. " " .. escaped .. "}" or escaped
    else
      local below = part.sub and "_{" .. enhanced(part.sub) .. "}"
      local above = part.super and "^{" .. enhanced(part.super) .. "}"
      if below and above then
        local wide = width_of(part.sub) > width_of(part.super)
        out[#out + 1] = "@" .. (wide and above .. below or below .. above)
      else
        out[#out + 1] = below or above
      end
    end
  end
  return table.concat(out)
end

local function plain(parts)
  local out = {}
  for _, part in ipairs(on_line(parts)) do
    if part.text then
      out[#out + 1] = part.text
    else
      if part.sub then out[#out + 1] = "_" .. plain(part.sub) end
      if part.super then out[#out + 1] = "^" .. plain(part.super) end
    end
  end
  return table.concat(out)
end

-- A text as a string of gnuplot with its markup; without markup when `bare`.
function text.quote(s, bare)
  local parts = text.parse(s)
  return text.literal(bare and plain(parts) or enhanced(parts))
end

-- ---- sizes ----

local SMALL = 0.8 -- the size of what is raised, lowered or in a fraction

local BOLD = 1.12 -- bold letters of DejaVu Sans are so many times as wide

-- The width of parts in em.
function width_of(parts)
  local sum = 0
  for _, part in ipairs(on_line(parts)) do
    if part.text then sum = sum + letters.width(part.text) * (part.bold and BOLD or 1)
    else sum = sum + SMALL * math.max(width_of(part.sub or {}), width_of(part.super or {})) end
  end
  return sum
end

-- The parts of each line of a text.
local function lines_of(parts)
  local lines = { {} }
  for _, part in ipairs(parts) do
    if part.text then
      local first = true
      for piece in (part.text .. "\n"):gmatch "(.-)\n" do
        if not first then lines[#lines + 1] = {} end
        first = false
        if piece ~= "" then table.insert(lines[#lines], { text = piece, italic = part.italic, bold = part.bold }) end
      end
    else
      table.insert(lines[#lines], part)
    end
  end
  return lines
end

local UP, DOWN = 0.80, 0.35 -- how far a line reaches above and below the feet of its letters, in em
local HIGHER, LOWER, ACCENT = 1.05, 0.5, 1 -- the same with raised and lowered letters, and with signs above letters
local BAR, RAISED, LOWERED = 0.30, 0.52, -0.62 -- heights of a fraction's bar and of the feet of its parts, in em
local AROUND = 0.12 -- the bar is longer than the parts by it, at each end

local limited = { ["∑"] = true, ["∏"] = true } -- signs whose limits stand above and below them
local LIMIT, LIMIT_UP, LIMIT_DOWN = 0.7, 0.85, -0.72 -- the size of such limits and the heights of their feet, in em

-- A line without fractions and limits is one piece. Each fraction is two, and a bar; a sign with limits is 2 or 3.
local function set_line(parts)
  local line = { width = 0, up = UP, down = DOWN, pieces = {}, bars = {} }
  local run, skip = {}, nil
  local function close()
    if #run == 0 then return end
    table.insert(line.pieces, { x = line.width, y = 0, scale = 1, parts = run })
    line.width, run = line.width + width_of(run), {}
  end
  -- Puts lists of parts, { parts, height, scale }, one above the other, and returns the left end and their width.
  local function stack(rows, around)
    local wide, left = 0, line.width + 0.1
    for _, row in ipairs(rows) do wide = math.max(wide, row[3] * width_of(row[1]) + 2 * around) end
    for _, row in ipairs(rows) do
      local x = left + (wide - row[3] * width_of(row[1])) / 2
      table.insert(line.pieces, { x = x, y = row[2], scale = row[3], parts = row[1] })
      line.up, line.down = math.max(line.up, row[2] + row[3] * UP + 0.12), math.max(line.down, row[3] * DOWN - row[2])
    end
    line.width = left + wide + 0.1
    return left, wide
  end
  for k, part in ipairs(parts) do
    local limits = part.text and limited[part.text] and parts[k + 1]
    if part == skip then skip = nil
    elseif limits and (limits.sub or limits.super) then
      close()
      local rows = { { { part }, 0, 1 } }
      if limits.sub then rows[#rows + 1] = { limits.sub, LIMIT_DOWN, LIMIT } end
      if limits.super then rows[#rows + 1] = { limits.super, LIMIT_UP, LIMIT } end
      stack(rows, 0)
      skip = limits
    elseif part.above then
      close()
      local left, wide = stack({ { part.above, RAISED, SMALL }, { part.below, LOWERED, SMALL } }, AROUND)
      table.insert(line.bars, { left, left + wide, BAR })
    else
      run[#run + 1] = part
      if part.super then line.up = math.max(line.up, HIGHER) end
      if part.sub then line.down = math.max(line.down, LOWER) end
      if part.text and part.text:find "\204[\128-\191]" then line.up = math.max(line.up, ACCENT) end
    end
  end
  close()
  for _, piece in ipairs(line.pieces) do piece.quoted, piece.parts = text.literal(enhanced(piece.parts)), nil end
  return line
end

local known_lines = setmetatable({}, { __mode = "v" }) -- a text is set once, though its size is asked for often

-- The lines of a text: each has its width, how far it reaches up and down, and its pieces { x, y, scale, quoted } and
-- bars { from, to, height }, in em from the left end of the feet of its letters.
function text.set(s)
  local found = known_lines[s]
  if not found then
    found = {}
    for i, parts in ipairs(lines_of(text.parse(s))) do found[i] = set_line(parts) end
    known_lines[s] = found
  end
  return found
end

text.LINE = UP + DOWN -- the height of a line, in em

-- The text with ends of lines in place of blanks, so that no line is wider than `width` em, where that can be.
-- Formulas are not broken.
function text.wrap(s, width)
  if text.size(s) <= width then return s end
  local lines = {}
  for line in (s .. "\n"):gmatch "(.-)\n" do
    local now, open, word = "", false, ""
    local function put()
      local longer = now == "" and word or now .. " " .. word
      if now ~= "" and text.size(longer) > width then lines[#lines + 1], longer = now, word end
      now, word = longer, ""
    end
    for c in line:gmatch "." do
      if c == "$" then open = not open end
      if c == " " and not open then put() else word = word .. c end
    end
    put()
    lines[#lines + 1] = now
  end
  return table.concat(lines, "\n")
end

-- The width of a text in em, and its height in lines. A line with a fraction counts for more than one.
function text.size(s)
  local widest, height = 0, 0
  for _, line in ipairs(text.set(s)) do
    widest, height = math.max(widest, line.width), height + line.up + line.down
  end
  return widest, height / text.LINE
end

return text

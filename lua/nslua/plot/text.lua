-- nslua.plot.text: the texts of a picture, as gnuplot takes them.
--
-- A text is shown as it is: no character in it works as a command or markup of gnuplot. Two notations of matplotlib
-- are understood:
--   \lambda, \Omega, \times ...   the character of that name; an unknown name is not changed
--   $x_1$, $t^{2k}$               mathematics: letters in italics, _ and ^ lower and raise the next character or
--                                 {group}. A single $, or a formula with unbalanced braces, is not changed
-- The parts of a text:  { text =, italic = }  or  { sub = parts, super = parts }.

local text = {}

local names = {
  alpha = "α", beta = "β", gamma = "γ", delta = "δ", epsilon = "ε", varepsilon = "ε", zeta = "ζ", eta = "η",
    theta = "θ",
  iota = "ι", kappa = "κ", lambda = "λ", mu = "μ", nu = "ν", xi = "ξ", pi = "π", rho = "ρ", sigma = "σ", tau = "τ",
  upsilon = "υ", phi = "φ", varphi = "φ", chi = "χ", psi = "ψ", omega = "ω", Gamma = "Γ", Delta = "Δ", Theta = "Θ",
  Lambda = "Λ", Xi = "Ξ", Pi = "Π", Sigma = "Σ", Upsilon = "Υ", Phi = "Φ", Psi = "Ψ", Omega = "Ω",
  times = "×", cdot = "·", pm = "±", leq = "≤", le = "≤", geq = "≥", ge = "≥", neq = "≠", approx = "≈", infty = "∞",
  partial = "∂", nabla = "∇", sum = "∑", int = "∫", sqrt = "√", perp = "⊥", to = "→", rightarrow = "→", circ = "°",
  degree = "°", ["in"] = "∈", ell = "ℓ",
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

local function group(s, at)
  local inside = s:match("^%b{}", at)
  if inside then return formula(inside:sub(2, -2)), at + #inside end
  local one = s:match("^\\%a+", at) or s:match("^[^\\{}_^]" .. "[\128-\191]*", at)
  if not one then return nil end
  return formula(one), at + #one
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
    else
      local name = s:match("^\\(%a+)", at)
      local known = name and (names[name] or functions[name] and name)
      local one = known or s:match("^[^\\]" .. "[\128-\191]*", at) or "\\"
      local letter = one:find "^%a$" or (known and name:find "^%l" and one:find "^[\206\207]")
      parts[#parts + 1] = { text = one, italic = letter and true or nil }
      if one == "-" then parts[#parts].text = "−" end
      at = at + (known and #name + 1 or #one)
      if known then at = s:match("^%s+()[%w\\]", at) or at end -- the blank that ends a name
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

local function enhanced(parts)
  local out = {}
  for _, part in ipairs(parts) do
    if part.text then
      local escaped = part.text:gsub("[\\{}^_@&~]", "\\%0")
      out[#out + 1] = part.italic and "{/:Italic " .. escaped .. "}" or escaped
    else
      if part.sub and part.super then out[#out + 1] = "@" end
      if part.sub then out[#out + 1] = "_{" .. enhanced(part.sub) .. "}" end
      if part.super then out[#out + 1] = "^{" .. enhanced(part.super) .. "}" end
    end
  end
  return table.concat(out)
end

local function plain(parts)
  local out = {}
  for _, part in ipairs(parts) do
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

-- The width of a character in em, as DejaVu Sans has it, roughly.
local function width_of(c)
  if c:find "^[iljI.,:;|!'()%[%] ]$" then return 0.36 end
  if c:find "^[ftr/\\-]$" then return 0.4 end
  if c:find "^[mwMW@%%]$" then return 0.97 end
  if c:find "^[+=<>~#^]$" or c == "−" or c == "×" or c == "±" or c == "∞" then return 0.84 end
  return c:find "^%u$" and 0.72 or c:find "^%d$" and 0.64 or 0.62
end

-- Width in em and number of lines, as a sans-serif font has them, roughly.
function text.size(s)
  local widest, lines = 0, 0
  for line in (plain(text.parse(s)) .. "\n"):gmatch "(.-)\n" do
    local width = 0
    for _, code in utf8.codes(line) do width = width + width_of(utf8.char(code)) end
    widest, lines = math.max(widest, width), lines + 1
  end
  return widest, lines
end

return text

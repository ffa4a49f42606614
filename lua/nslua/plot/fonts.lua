-- nslua.plot.fonts: the characters that the fonts of this machine have.
--
-- gnuplot's cairo terminals can draw a character without a font as a black area over the whole picture. It becomes a
-- box before gnuplot sees it. SVG files and windows keep it: who shows them may have the font.

local letters = require "nslua.plot.letters"
local process = require "nslua.core".process_support

local fonts = {}

local BOX = "□" -- DejaVu Sans has it

-- The ranges of codes in what fc-list prints of charsets, "20-7e a0 3c0-3ff": a list of { first, last }.
function fonts.ranges(charsets)
  local list, seen = {}, {}
  for first, last in charsets:gmatch "(%x+)%-?(%x*)" do
    local key = first .. "-" .. last
    if not seen[key] then
      seen[key] = true
      list[#list + 1] = { tonumber(first, 16), tonumber(last ~= "" and last or first, 16) }
    end
  end
  return list
end

local ranges -- of the fonts here; false: fontconfig does not tell them

local function ranges_here()
  if ranges == nil then
    local result = process.run({ "fc-list", "--format", "%{charset}\\n" }, "")
    ranges = result and result.status == 0 and result.out:find "%x" and fonts.ranges(result.out) or false
  end
  return ranges
end

-- Whether a font here has the character of this code; true when nobody knows.
function fonts.has(code)
  if letters.is_known(code) then return true end
  for _, range in ipairs(ranges_here() or { { code, code } }) do
    if code >= range[1] and code <= range[2] then return true end
  end
  return false
end

local has = {} -- by character

local function is_there(character)
  if has[character] == nil then
    local _, bad = utf8.len(character)
    has[character] = bad ~= nil or fonts.has(utf8.codepoint(character))
  end
  return has[character]
end

local told = {} -- characters that have been reported

-- The text with boxes for characters that no font here has. The first time it also tells which these are.
function fonts.shown(who, text)
  local missing = {}
  text = text:gsub("[\xC2-\xF4][\x80-\xBF]+", function(character)
    if is_there(character) then return nil end
    if not told[character] then missing[#missing + 1], told[character] = character, true end
    return BOX
  end)
  if #missing > 0 then
    io.stderr:write(("nslua: %s: no font here has %s; boxes stand for them (Chinese, Japanese and Korean: "
      .. "apt install fonts-noto-cjk)\n"):format(who, table.concat(missing, " ")))
  end
  return text
end

return fonts

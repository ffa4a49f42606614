-- nslua.plot.letters: how wide the characters of a text are, so that a text has its room before it is drawn.
--
-- The widths are of DejaVu Sans, in 1/1000 of the size of the font. Upright and slanted letters are as wide.

local letters = {}

-- The characters from the blank to the tilde, in the order of their codes.
local ascii = { 318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636, 636,
  636,
  636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656,
  557, 863, 748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500, 500, 613, 635,
  550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592,
  525, 636, 337, 636, 838 }

-- Other characters, by their widths.
local others = {
  [227] = "′", [318] = "·", [338] = "ι", [390] = "⟨⟩", [413] = "ℓ", [500] = "°–‖", [517] = "∂", [521] = "∫",
  [541] = "ε", [544] = "ζ", [550] = "ç", [557] = "Γ", [558] = "ξ", [559] = "ν", [578] = "χ", [579] = "υ",
  [589] = "κ", [590] = "•", [592] = "γλ", [602] = "πτ─", [611] = "Υ", [612] = "δθοö", [613] = "äàâ",
  [615] = "éèê", [630] = "ß", [632] = "ΞΣ∃", [634] = "ησℏüñ", [635] = "ρ", [636] = "μ", [637] = "√", [638] = "β",
  [659] = "α", [660] = "φψ", [669] = "∇", [674] = "∑", [684] = "ΔΛ∀", [714] = "∝", [732] = "∪∩", [752] = "Π",
  [764] = "Ω", [787] = "ΘΦΨ", [833] = "∞", [837] = "ω", [838] = "×±≤≥≠≈→∼≡∗←⇒⊂∓−", [871] = "⊥∈∅",
  [1000] = "…⋯—", [1047] = "≪≫",
}

local widths = {}
for k, width in ipairs(ascii) do widths[31 + k] = width end
for width, list in pairs(others) do
  for _, code in utf8.codes(list) do widths[code] = width end
end

local USUAL, FULL = 640, 1000 -- of a character that is not in the list; of one of East Asia

-- The width of a character, by its code.
local function width_of(code)
  if widths[code] then return widths[code] end
  if code >= 0x300 and code < 0x370 or code == 0x20D7 then return 0 end -- a sign above the character before it
  return code >= 0x2E80 and FULL or USUAL
end

-- Whether DejaVu Sans has the character of this code for certain.
function letters.is_known(code) return widths[code] ~= nil end

-- The width of a text of one line, in sizes of the font.
function letters.width(s)
  local sum = 0
  for _, code in utf8.codes(s) do sum = sum + width_of(code) end
  return sum / 1000
end

return letters

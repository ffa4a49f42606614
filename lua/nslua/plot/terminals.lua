-- nslua.plot.terminals: the terminals of gnuplot. terminals.setup has for each the command that sets it up for a
-- figure of w x h inches, dots per inch and the size of the font in points; terminals.unit its units.

local format = require "nslua.core".number_support.format
local floor = math.floor

local function number(x) return format("%.6g", x) end

local terminals = { setup = {} }
local setup = terminals.setup

-- Units of terminals that differ from the usual ones: `point` is the pointsize of 6/72 inch, `letter` the font size
-- of 1/72 inch. With `own_labels` the numbers at ticks are texts of the picture: gnuplot's SVG has them too low.
local units = { svg = { point = 0.8, letter = 96 / 72, own_labels = true } }
local usual_units = { point = 1, letter = 1 }

function terminals.unit(terminal) return units[terminal] or usual_units end

function setup.png(w, h, dpi, _, font)
  return ('set terminal pngcairo size %d,%d enhanced font "DejaVu Sans,%s" fontscale %s linewidth %s ' ..
    'pointscale %s dashlength %s background "#FFFFFF"'):format(floor(w * dpi + 0.5), floor(h * dpi + 0.5),
      number(font),
      number(dpi / 96),
    number(dpi / 72), number(dpi / 72), number(0.8))
end

function setup.svg(w, h, _, _, font)
  return ('set terminal svg size %d,%d enhanced font "DejaVu Sans, Helvetica, Arial, sans-serif,%s" linewidth %s ' ..
    'dashlength 0.6 background "#FFFFFF"'):format(floor(w * 96 + 0.5), floor(h * 96 + 0.5),
      number(font * 96 / 72),
    number(96 / 72))
end

function setup.pdf(w, h, _, _, font)
  return ('set terminal pdfcairo size %sin,%sin enhanced font "DejaVu Sans,%s" fontscale 1 linewidth 1 ' ..
    'pointscale 1 background "#FFFFFF"'):format(number(w), number(h), number(font))
end

function setup.sixel(w, h, dpi, _, font)
  return ('set terminal sixelgd size %d,%d enhanced truecolor font "DejaVu Sans,%s" fontscale %s ' ..
    'linewidth %s'):format(floor(w * dpi + 0.5), floor(h * dpi + 0.5), number(font), number(dpi / 96),
      number(dpi / 72))
end

function setup.dumb(_, _, _, figure)
  return ("set terminal dumb noenhanced mono size %d,%d"):format(figure.columns or 79, figure.lines or 24)
end

local function window(name)
  return function(w, h, _, _, font)
    return ('set terminal %s size %d,%d enhanced font "DejaVu Sans,%s" title "nslua" persist'):format(name,
      floor(w * 100 + 0.5), floor(h * 100 + 0.5), number(font))
  end
end
for _, name in ipairs { "qt", "wxt", "x11", "aqua" } do setup[name] = window(name) end

-- The command of setup for a figure whose paper is not white: transparent, or of another colour.
function terminals.on_paper(command, terminal, figure)
  local paper = figure.face and (' background "%s"'):format(figure.face)
  if figure.transparent then paper = terminal == "svg" and "" or " transparent" end
  return paper and (command:gsub(' background "#FFFFFF"', paper)) or command
end

return terminals

-- nslua.notebook.controls: the sliders, menus and boxes of ns.interact as HTML, with the script that asks the kernel.

local core = require "nslua.core"
local html = require "nslua.web.html"

local controls = {}

local _, here = ...
local directory = here:match "^(.*[/\\])" or "./"

local escape = html.escape

local function number(x) return (core.number_support.format("%.17g", x)) end

local inputs = {}

function inputs.range(item)
  local places = 'min="%s" max="%s" step="%s" value="%s"'
  places = places:format(number(item.low), number(item.high), number(item.step), number(item.value))
  local element = '<input type="range" data-name="%s" data-kind="number" %s style="width:16em">'
  return element:format(escape(item.name), places)
end

function inputs.number(item)
  return ('<input type="number" data-name="%s" data-kind="number" step="any" value="%s">'):format(escape(item.name),
    number(item.value))
end

function inputs.check(item)
  return ('<input type="checkbox" data-name="%s" data-kind="check"%s>'):format(escape(item.name),
    item.value and " checked" or "")
end

function inputs.menu(item)
  local parts = { ('<select data-name="%s" data-kind="text">'):format(escape(item.name)) }
  for _, choice in ipairs(item.choices) do
    parts[#parts + 1] = ("<option%s>%s</option>"):format(choice == item.value and " selected" or "", escape(choice))
  end
  return table.concat(parts) .. "</select>"
end

local function script() return html.asset(directory .. "controls.js", "interact") end

-- The controls of the list, and below them `shown`, which is HTML; `id` is the name of the set for the kernel.
function controls.html(id, list, shown)
  local parts = { ('<div id="%s"><table>'):format(id) }
  for _, item in ipairs(list) do
    parts[#parts + 1] = ('<tr><td style="text-align:right">%s</td><td>%s</td><td><output></output></td></tr>'):format(
      escape(item.name), inputs[item.kind](item))
  end
  local rest = '</table><div class="nslua-shown">%s</div></div>\n<script>\n%s\nnsluaControls(%s);\n</script>'
  parts[#parts + 1] = rest:format(shown, script(), html.json(id))
  return table.concat(parts)
end

return controls

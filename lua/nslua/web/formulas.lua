-- nslua.web.formulas: formulas between dollar signs in the texts of pages, drawn by KaTeX. A page with a formula
-- embeds KaTeX with its style and the fonts that the formulas need; so it is one file that needs no network. The
-- build finds the directory of KaTeX. Without KaTeX a page shows the source of its formulas.

local core = require "nslua.core"

local formulas = { directory = core.versions().katex }

-- The content of a file of KaTeX; nil when there is none.
local function content(name)
  local file = formulas.directory and io.open(formulas.directory .. "/" .. name, "rb")
  if not file then return nil end
  local bytes = file:read "a"
  file:close()
  return bytes
end

-- The version of KaTeX; nil when it is not there.
function formulas.version()
  local script = content "katex.min.js"
  return script and (script:match 'version:"([%d.]+)"' or "of unknown version")
end

-- Appends the formulas of a text to `list`: what stands between two dollar signs on one line and neither begins nor
-- ends with a blank. base.js has the same rule.
local function find(text, list)
  for inside in text:gmatch "%$([^$%s][^$\n]*)%$" do
    if not inside:find "%s$" then list[#list + 1] = inside end
  end
end

-- The formulas of the texts of a record; packed numbers hold none.
function formulas.of(value, list)
  list = list or {}
  if type(value) == "string" then find(value, list)
  elseif type(value) == "table" and not (value.base64 or value.base85) then
    for _, one in pairs(value) do formulas.of(one, list) end
  end
  return list
end

-- Fonts that nearly every formula needs, and those that commands ask for: a pattern of a command's name, fonts.
local always = { "Main-Regular", "Math-Italic" }
local sizes = { "Size1-Regular", "Size2-Regular", "Size3-Regular", "Size4-Regular" }
local by_command = {
  { "^[dt]?frac$", sizes }, { "^sqrt$", sizes }, { "^left$", sizes }, { "^[bB]igg?[lrm]?$", sizes },
  { "^sum$", sizes }, { "^prod$", sizes }, { "^i*o?int$", sizes }, { "^begin$", sizes }, { "^wide", sizes },
  { "^over", sizes }, { "^under", sizes }, { "^big", sizes }, { "^[dt]?binom$", sizes },
  { "bf$", { "Main-Bold" } }, { "^bold", { "Main-Bold", "Math-BoldItalic" } },
  { "^bm$", { "Main-Bold", "Math-BoldItalic" } },
  { "it$", { "Main-Italic" } }, { "^emph$", { "Main-Italic" } },
  { "cal$", { "Caligraphic-Regular" } }, { "frak$", { "Fraktur-Regular" } }, { "scr$", { "Script-Regular" } },
  { "sf$", { "SansSerif-Regular" } }, { "tt$", { "Typewriter-Regular" } },
}

-- Commands whose signs are in the fonts above. All others embed the font of the AMS, which has the rest.
local usual = {}
for name in ([[
  alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi pi varpi rho
  varrho sigma varsigma tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi
  Psi Omega dot ddot hat vec bar tilde mathrm text textrm operatorname sin cos tan exp log ln max min lim arctan
  frac dfrac tfrac sqrt left right sum prod int cdot cdots ldots dots times pm mp le leq ge geq ne neq approx
  equiv sim infty partial nabla in to rightarrow leftarrow Rightarrow quad qquad perp parallel mid prime circ
  ell lVert rVert langle rangle mathbf mathit mathcal mathsf mathtt boldsymbol limits star ast bullet top bot
  forall exists cup cap subset]])
  :gmatch "%a+" do
  usual[name] = true
end

-- The set of the fonts that formulas need, by name.
local function fonts_of(list)
  local set = {}
  local function need(names) for _, name in ipairs(names) do set[name] = true end end
  need(always)
  for _, formula in ipairs(list) do
    for name in formula:gmatch "\\(%a+)" do
      for _, row in ipairs(by_command) do
        if name:find(row[1]) then need(row[2]) end
      end
      if not usual[name] then need { "AMS-Regular" } end
    end
  end
  return set
end
formulas.fonts_of = fonts_of

-- The style of KaTeX with the fonts of the set inside. A font that is not embedded is left out: the browser takes
-- another one.
local function style(css, set, base64)
  return (css:gsub("@font%-face%s*(%b{})", function(rule)
    local name = rule:match "KaTeX_([%w-]+)%.woff2"
    local bytes = set[name] and content("fonts/KaTeX_" .. name .. ".woff2")
    if not bytes then return "" end
    local source = ("src:url(data:font/woff2;base64,%s) format('woff2')"):format(base64(bytes))
    return "@font-face" .. rule:gsub("src:[^;}]*", function() return source end)
  end))
end

-- What a page with these formulas embeds: { script =, style = }; nil when it needs nothing or KaTeX is not there.
-- `base64` is the function that encodes bytes.
function formulas.embedded(list, base64)
  if #list == 0 then return nil end
  local script, css = content "katex.min.js", content "katex.min.css"
  if not script or not css or script:lower():find("</script", 1, true) then return nil end
  return { script = script, style = style(css, fonts_of(list), base64) }
end

return formulas

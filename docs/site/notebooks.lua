-- The pages that nbconvert makes of notebooks, so that they need no file of this machine.
local formulas = require "nslua.web.formulas"

local notebooks = {}

-- Where pages find MathJax when KaTeX is not there.
local MATHJAX = "https://cdnjs.cloudflare.com/ajax/libs/mathjax/2.7.7/latest.js?config=TeX-AMS_CHTML-full,Safe"

local KATEX = [[
<link rel="stylesheet" href="katex/katex.min.css">
<script src="katex/katex.min.js"></script>
<script src="katex/contrib/auto-render.js"></script>
<script>
const texts = ".text_cell_render, .jp-RenderedMarkdown, .rendered_latex, .jp-RenderedLatex";
addEventListener("DOMContentLoaded", () =>
  document.querySelectorAll(texts).forEach((element) => renderMathInElement(element, {
    throwOnError: false, delimiters: [
    { left: "$$", right: "$$", display: true }, { left: "$", right: "$", display: false },
    { left: "\\(", right: "\\)", display: false }, { left: "\\[", right: "\\]", display: true },
    { left: "\\begin{equation}", right: "\\end{equation}", display: true },
    { left: "\\begin{align}", right: "\\end{align}", display: true } ] })));
</script>
]]

--- The files of KaTeX that the pages load, below its directory; an empty list when it is not there.
function notebooks.files()
  return formulas.version() and { "katex.min.js", "katex.min.css", "contrib/auto-render.js", "fonts" } or {}
end

--- The text of a page of nbconvert with formulas by KaTeX, beside it in katex/, or else by MathJax from the network;
--- without the script that loads widgets.
function notebooks.movable(text)
  local scripts = formulas.version() and KATEX or ('<script src="%s"></script>\n'):format(MATHJAX)
  text = text:gsub('<script src="[^"]*/require[%w.]*js"></script>', "")
  return (text:gsub('<script src="[^"]*/mathjax/[^"]*">%s*</script>', function() return scripts end, 1))
end

return notebooks

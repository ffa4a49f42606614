-- The pages that nbconvert makes of notebooks, so that they need no file of this machine.
local formulas = require "nslua.web.formulas"

local notebooks = {}

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

--- The text of a page of nbconvert in the folder shown/, with formulas by KaTeX, which is beside it, in katex/;
--- without KaTeX they stay as they are written. It has no script that loads widgets. A link to a page or a script of
--- the repository leads to its page on the site, outside of the frame. `place(path)`: the place on the site of a file
--- in the repository, or nil.
function notebooks.movable(text, place)
  local scripts = formulas.version() and KATEX or ""
  text = text:gsub('<script src="[^"]*/require[%w.]*js"></script>', "")
  text = text:gsub('<script src="[^"]*/mathjax/[^"]*">%s*</script>', function() return scripts end, 1)
  return (text:gsub('<a href="([^":#]+)(#?[^"]*)"', function(path, anchor)
    local target = place("notebooks/" .. path)
    return target and '<a target="_top" href="../' .. target:gsub("%.md$", ".html") .. anchor .. '"'
  end))
end

return notebooks

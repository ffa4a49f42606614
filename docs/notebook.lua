-- Makes notebooks from pages of docs/: texts become cells of text, blocks of Lua cells of code. Each block runs after
-- those before it, as in a notebook. Prints the paths that it has written.
--
--   nslua docs/notebook.lua [DIRECTORY]

local html = require "nslua.web.html"

local root = arg[0]:match "^(.*)docs/notebook%.lua$" or "./"

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "a"
  file:close()
  return text
end

local pages = { { "tutorial", "docs/tutorial.md" }, { "converter", "docs/howto/converter.md" } }

-- The cells of a page in a folder: { kind = "markdown" or "code", text = }.
local function cells_of(text, folder)
  local cells, open, lines = {}, nil, {}
  local function finish(kind)
    local body = table.concat(lines, "\n"):gsub("^%s*\n", ""):gsub("%s+$", "")
    if body ~= "" then cells[#cells + 1] = { kind = kind, text = body } end
    lines = {}
  end
  for line in text:gmatch "(.-)\n" do
    local fence = line:match "^```(%w*)$"
    if open == "lua" and fence then
      finish "code"
      open = nil
    elseif open then
      lines[#lines + 1] = line
      if fence then open = nil end
    elseif fence == "lua" then
      finish "markdown"
      open = "lua"
    elseif not line:find "^<!%-%-" then
      open = fence
      lines[#lines + 1] = fence and "```" .. (fence == "repl" and "" or fence) or
        line:gsub("%]%(([^)#:]+%.md)", "](../" .. folder .. "%1"):gsub("%w+/%.%./", "")
    end
  end
  finish "markdown"
  return cells
end

-- A cell as JSON, in the layout that Jupyter itself writes.
local function cell_json(cell, i)
  local lines = {}
  for line, ending in cell.text:gmatch "([^\n]*)(\n?)" do
    if line ~= "" or ending ~= "" then lines[#lines + 1] = "    " .. html.json(line .. ending) end
  end
  local code = cell.kind == "code"
  local form = '  {\n   "cell_type": "%s",\n%s   "id": "c%02d",\n   "metadata": {},\n%s   "source": [\n%s\n   ]\n  }'
  return form:format(cell.kind, code and '   "execution_count": null,\n' or "", i,
    code and '   "outputs": [],\n' or "", table.concat(lines, ",\n"))
end

local function write(name, page)
  local parts = {}
  for i, cell in ipairs(cells_of(read(root .. page), page:match "^.*/")) do parts[i] = cell_json(cell, i - 1) end
  local target = (arg[1] or root .. "notebooks") .. "/" .. name .. ".ipynb"
  local file = assert(io.open(target, "wb"))
  file:write('{\n "cells": [\n', table.concat(parts, ",\n"), "\n ],\n", [[
 "metadata": {
  "kernelspec": {
   "display_name": "nslua",
   "language": "lua",
   "name": "nslua"
  },
  "language_info": {
   "name": "lua"
  }
 },
 "nbformat": 4,
 "nbformat_minor": 5
}
]])
  file:close()
  print(target)
end

for _, one in ipairs(pages) do write(one[1], one[2]) end

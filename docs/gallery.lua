-- Draws the gallery: runs each command of docs/gallery.md and looks whether it drew what the page shows.
--
--   nslua docs/gallery.lua [--page FILE] [--into DIR] [--only TEXT]
--
-- The commands are the lines of the page that are "    nslua scripts/NAME.lua ... --plot docs/gallery/PLACE"; with
-- --into the pictures go to DIR/PLACE. A picture that no command drew, and one that the page does not show, are
-- errors: the page is then not true. Pictures in space that the machine can not draw stay as they are.

local options = require "nslua.options"

local opt = options.parse(arg, {
  about = "Draws the pictures of the gallery.",
  { "page", value = "FILE", default = "docs/gallery.md", help = "the page with the commands" },
  { "into", value = "DIR", default = "docs/gallery", help = "where the pictures go" },
  { "only", value = "TEXT", default = "", help = "only the commands with this text in them" },
})
local DPI = "72" -- of pictures that are looked at in a page

local function give_up(text, ...)
  io.stderr:write("gallery: ", text:format(...), "\n")
  os.exit(1, true)
end

local function read(path)
  local file, message = io.open(path, "rb")
  if not file then give_up("%s", message) end
  local text = file:read "a"
  file:close()
  return text
end

-- The commands of a page, as lists of words, each with its place.
local function commands(page)
  local list = {}
  for line in page:gmatch "[^\n]+" do
    local words, place = line:match "^    nslua (scripts/%S+%.lua.-) %-%-plot docs/gallery/([%w_]+)$"
    if words and line:find(opt.only, 1, true) then
      local command = { place = place }
      for word in words:gmatch "%S+" do command[#command + 1] = word end
      list[#list + 1] = command
    end
  end
  return list
end

-- Runs one; adds the files that it says it has drawn, "PLACE/NAME.png", to the set.
local function draw(command, drawn)
  local interpreter = 0
  while arg[interpreter - 1] do interpreter = interpreter - 1 end
  local directory = opt.into .. "/" .. command.place
  local line = { "env", "NSLUA_DPI=" .. DPI, arg[interpreter], table.unpack(command) }
  line[#line + 1], line[#line + 2] = "--plot", directory
  local result, message = require "nslua.core".process_support.run(line)
  if not result then give_up("%s", message) end
  if result.status ~= 0 then give_up("%s: %s", command[1], result.err) end
  for no, name in result.out:gmatch "(n?o?t? ?)drawn: [^\n:]*/([%w_]+%.png)" do
    drawn[command.place .. "/" .. name] = no == "" and 1 or 0
  end
  for line_out in result.out:gmatch "not drawn: [^\n]*" do print(line_out) end
end

local page = read(opt.page)
local list, drawn, shown, count = commands(page), {}, {}, 0
if #list == 0 then give_up("no command in %s", opt.page) end
for _, command in ipairs(list) do
  print(table.concat(command, " "))
  draw(command, drawn)
end
for place, name in page:gmatch "%]%(gallery/([%w_]+)/([%w_]+%.png)%)" do
  local picture = place .. "/" .. name
  local mine = opt.only == ""
  for _, command in ipairs(list) do mine = mine or command.place == place end
  if mine and not drawn[picture] then give_up("%s shows %s, which no command draws", opt.page, picture) end
  shown[picture] = true
end
for picture, one in pairs(drawn) do
  if not shown[picture] then give_up("%s does not show %s, which is drawn", opt.page, picture) end
  count = count + one
end
print(("%d pictures in %s"):format(count, opt.into))

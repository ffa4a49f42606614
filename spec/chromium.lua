-- A headless Chromium for the specs of pages, driven by spec/browser.py; optional.
local assert = require "luassert"
local host = require "host"
local html = require "nslua.web.html"
local page = require "page"

local chromium = {}

-- The first of these programs that is installed.
local function find(...)
  for _, name in ipairs { ... } do
    local out = host.run("command -v " .. name)
    if out ~= "" then return name end
  end
end

local browser, python = find("chromium", "chromium-browser", "google-chrome"), find "python3"

-- nil when a browser can show pages, else the reason why not.
chromium.missing = not browser and "needs chromium, which is not installed"
  or not python and "needs python3, which is not installed" or nil

local directory, input, output -- of the running browser

local function start()
  directory = host.new_directory()
  assert(os.execute("mkfifo " .. directory .. "/out"))
  input = assert(io.popen(("env -u LD_PRELOAD %s %s/spec/browser.py %s >%s/out 2>%s/err"):format(python,
    host.quote(host.root), browser, directory, directory), "w"))
  output = assert(io.open(directory .. "/out"))
end

-- Ends the browser, if one runs. To be called when the specs that use it are done.
function chromium.close()
  if not directory then return end
  input:close()
  output:close()
  host.remove(directory)
  directory = nil
end

-- Performs the steps (see browser.py) on the page at that path. Returns the results of the eval steps, in order, and the
-- summary { files =, outside = { addresses asked for }, errors = { messages } }.
function chromium.drive(path, steps)
  if not directory then start() end
  input:write(html.json { page = path }, "\n")
  for _, step in ipairs(steps) do input:write(html.json(step), "\n") end
  input:write(html.json { ["end"] = true }, "\n")
  input:flush()
  local values = {}
  while true do
    local line = output:read "l"
    if not line then
      local err = host.read(directory .. "/err")
      chromium.close()
      error("browser.py: " .. err, 2)
    end
    local value = page.json(line)
    if type(value) == "table" and value.files then return values, value end
    values[#values + 1] = value
  end
end

-- The results of the steps, in which a string stands for an eval. The page must have no error and ask for nothing.
function chromium.calm(path, steps)
  for i, step in ipairs(steps) do
    if type(step) == "string" then steps[i] = { eval = step } end
  end
  local values, summary = chromium.drive(path, steps)
  assert.same({ files = 1, outside = {}, errors = {} }, summary)
  return values
end

return chromium

-- The files for an editor that docs/install.md shows: settings, a task, a snippet.
local host = require "host"
local page = require "page"

local text = host.read "docs/install.md":match "\n## Editors\n(.*)$":match "^(.-)\n## " or
  host.read "docs/install.md":match "\n## Editors\n(.*)$"

-- The blocks of JSON, as texts.
local function blocks()
  local list = {}
  for block in text:gmatch "\n\n    {\n.-\n    }\n" do list[#list + 1] = block end
  return list
end

describe("the files for VS Code #once", function()
  local all = blocks()

  it("are JSON", function()
    assert.equal(3, #all)
    for _, block in ipairs(all) do assert.is_table(page.json(block)) end
  end)

  it("have a task whose pattern finds the file and the line of an error", function()
    local task = page.json(all[2]).tasks[1]
    assert.same({ "nslua", "process", "${file}" }, { task.command, task.type, task.args[1] })
    local pattern = task.problemMatcher.pattern
    assert.equal("^nslua: (.+\\.lua):(\\d+): (.*)$", pattern.regexp)
    local directory = host.new_directory()
    host.write(directory .. "/bad.lua", "\nerror 'oh'\n")
    local _, err = host.nslua_run(directory .. "/bad.lua")
    assert.matches("^nslua: .+%.lua:2: oh\n", err)
    host.remove(directory)
  end)

  it("have a snippet that runs with its proposals", function()
    local snippet = page.json(all[3])["nslua simulation"]
    local script = table.concat(snippet.body, "\n"):gsub("%${%d:([^}]*)}", "%1")
    local directory = host.new_directory()
    host.write(directory .. "/a.lua", script)
    local out, err = host.nslua_run(directory .. "/a.lua")
    assert.equal("", err)
    assert.matches("^solution %(completed%)", out)
    host.remove(directory)
  end)
end)

-- The files of lua/nslua need each other without a circle, also by what they load only when it is asked for.
local host = require "host"

describe("the files of lua/nslua", function()
  it("need each other without a circle", function()
    local needs, state = {}, {}
    for file in host.run("cd lua && find nslua -name '*.lua'"):gmatch "[^\n]+" do
      local module = file:gsub("%.lua$", ""):gsub("/init$", ""):gsub("/", ".")
      local list = {}
      for line in io.lines("lua/" .. file) do
        for name in line:gsub("%-%-.*", ""):gmatch 'require *%(?"(nslua[%w_.]*)"' do
          if name ~= module then list[#list + 1] = name end -- repl.script puts its own name into the code of a user
        end
      end
      needs[module] = list
    end
    local function visit(module, path)
      path = path .. " -> " .. module
      assert.not_equal("open", state[module], path)
      if state[module] then return end
      state[module] = "open"
      for _, name in ipairs(needs[module] or {}) do visit(name, path) end
      state[module] = "done"
    end
    for module in pairs(needs) do visit(module, "") end
    assert.truthy(state["nslua.mechanics.joints"])
  end)
end)

-- What an optional module asks of the core: it loads only beside one whose functions are those that it was built for.
local message = require "bind.models".message
local with = require "expect".with

-- A module opened anew from its file, with `core` in the place of nslua.core.
local function opened(path, name, core)
  with(package.loaded, "nslua.core", core, function() assert(package.loadlib(path, "luaopen_nslua_" .. name))() end)
end

describe("an optional module", function()
  for _, name in ipairs { "sundials", "hdf5", "nlopt", "ipopt", "mpi" } do
    local path = package.searchpath("nslua." .. name, package.cpath)
    local test = path and it or function(text) pending(text .. " (not built)") end

    test("names itself when the core has nothing for it: nslua." .. name, function()
      for _, core in ipairs { {}, { engine = 3 }, { engine = {} }, "no table" } do
        assert.matches("nslua%." .. name .. ": nslua%.core has no functions of version %d+ for it: build and install both anew$",
          message(opened, path, name, core))
      end
    end)

    test("opens as often as it is asked to: nslua." .. name, function()
      local core = require "nslua.core"
      for _ = 1, 3 do opened(path, name, core) end
    end)
  end
end)

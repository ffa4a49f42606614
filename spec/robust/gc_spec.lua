-- Collecting all garbage at every point of the API changes no bit of a result.
local host = require "host"
local short = require "robust.short"

local modes = os.getenv "NSLUA_SOAK" and { "incremental", "generational" } or nil

describe("a full collection at every call", function()
  local directory
  setup(function() directory = host.new_directory() end)
  teardown(function() host.remove(directory) end)

  local function result(prefix, name, arguments)
    local csv = directory .. "/run.csv"
    os.remove(csv)
    local out, err, status = host.run(("%s %s scripts/%s.lua %s --csv %s"):format(prefix, host.quote(host.nslua) .. "%s", name,
      arguments, csv):format(prefix == "" and "" or (" -e 'package.path = %q .. package.path' -l robust.gc_stress"):format(
      host.root .. "/spec/?.lua;")))
    assert.equal("", err)
    assert.equal(0, status)
    return out .. (host.read(csv) or "")
  end

  for i, run in ipairs(short) do
    local name, arguments, slow = table.unpack(run)
    if slow == 20 and not modes then goto continue end
    it(("changes nothing: %s %s"):format(name, arguments), function()
      local expected = result("", name, arguments)
      for _, mode in ipairs(modes or { i % 2 == 0 and "incremental" or "generational" }) do
        assert.equal(expected, result("NSLUA_GC=" .. mode, name, arguments))
      end
    end)
    ::continue::
  end
end)

-- Every file, page and text under a locale with a decimal comma: the same bytes as in the C locale.
local host = require "host"

-- The locale NAME, compiled into a directory for LOCPATH; nil when the system has no sources of locales.
local function compile(directory, source)
  local _, _, status = host.run(("localedef -i %s -f UTF-8 %s/%s.UTF-8"):format(source, host.quote(directory), source))
  return status == 0 and source .. ".UTF-8" or nil
end

describe("in a locale with another decimal point", function()
  local directory
  setup(function() directory = host.new_directory() end)
  teardown(function() host.remove(directory) end)

  local function run(locale, name, other)
    os.execute(("mkdir -p %s/%s/out"):format(directory, name))
    local place = ("%s/%s"):format(directory, name)
    local command = "cd %s && LOCPATH=%s LUA_PATH='lua/?.lua;lua/?/init.lua;spec/?.lua;;' %s spec/robust/locale.lua %s %s/out %s"
    local out, err, status = host.run(command:format(host.quote(host.root), directory, host.quote(host.nslua), locale, place,
      other or ""))
    assert.equal("", err)
    assert.equal(0, status)
    host.write(place .. "/printed", (out:gsub(place:gsub("%p", "%%%0"), "PLACE")))
    return place
  end

  for _, source in ipairs { "de_DE" } do
    it("all that is written is the same: " .. source, function()
      local locale = compile(directory, source)
      if not locale then return pending "needs localedef and the sources of locales" end
      local plain = run("C", "plain")
      local there = run(locale, source, plain .. "/out")
      run("C", "back", there .. "/out")
      assert.equal("", (host.run(("cd %s && diff -r plain/out %s/out | head -c 3000"):format(directory, source))))
      assert.equal("", (host.run(("cd %s && diff plain/out back/out"):format(directory))))
      assert.equal(host.read(directory .. "/back/printed"), host.read(there .. "/printed"))
    end)
  end
end)

-- The version: src/base/version.h has it, other files say the same.
local host = require "host"
local ns = require "nslua"

describe("the version", function()
  local version = host.read "src/base/version.h":match '#define NS_VERSION "(%d+%.%d+%.%d+)"'

  it("is that of the module and of the interpreter", function()
    assert.equal("nslua " .. version, ns._VERSION)
    assert.equal(("nslua %s "):format(version), host.nslua_run("-v"):match "^nslua %S+ ")
  end)

  it("is that of the rockspec, of the manual page and of the newest release in CHANGELOG.md", function()
    local spec = {}
    assert(loadfile(("nslua-%s-1.rockspec"):format(version), "t", spec))()
    assert.equal(version .. "-1", spec.version)
    assert.equal(("nslua-%s-1.rockspec\n"):format(version), (host.run("ls *.rockspec")))
    assert.equal(version, host.read "docs/nslua.1":match '^%.TH NSLUA 1 "[^"]*" "nslua (%S+)"')
    assert.equal(version, host.read "CHANGELOG.md":match "\n## (%d+%.%d+%.%d+)")
  end)
end)

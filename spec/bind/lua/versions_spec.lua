-- core.versions(), which the doctor prints.
local core = require "nslua.core"

describe("core.versions()", function()
  it("gives texts, a new table each time", function()
    local versions = core.versions()
    for name, text in pairs(versions) do
      assert.is_string(text)
      assert.is_true(name == "lapack" or name == "suitesparse" or name == "blas" or name == "katex", name)
    end
    assert.matches("^%d+%.%d+%.%d+$", versions.lapack)
    assert.matches("^%d+%.%d+%.%d+$", versions.suitesparse)
    versions.lapack = nil
    assert.is_string(core.versions().lapack)
  end)
end)

local core = require "nslua.core"

describe("versions of the libraries", function()
  it("are those of LAPACK and SuiteSparse, and what the BLAS says", function()
    local versions = core.versions()
    local major = tonumber(versions.lapack:match "^(%d+)%.%d+%.%d+$")
    assert.is_true(major >= 3)
    assert.is_true(tonumber(versions.suitesparse:match "^(%d+)%.%d+%.%d+$") >= 4)
    assert.is_true(versions.blas == nil or #versions.blas > 3)
  end)

  it("are no part of the public table", function()
    assert.is_nil(rawget(require "nslua", "versions"))
  end)
end)

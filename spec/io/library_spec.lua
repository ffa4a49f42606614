local host = require "host"

require "nslua"
local symbol = require("nslua.internal").library_symbol

describe("io.library", function()
  it("finds a function and calls it", function()
    assert.is_true(symbol("libm.so.6", "cos"))
    assert.equal(math.cos(0.5), symbol("libm.so.6", "cos", 0.5))
  end)

  it("opens a library by its path", function()
    local directory = host.new_directory()
    host.write(directory .. "/f.c", "double twice(double x) { return 2 * x; }\n")
    local _, err, code = host.run(("cd %s && cc -shared -fPIC -o f.so f.c"):format(directory))
    assert.equal("", err)
    assert.equal(0, code)
    assert.equal(6.5, symbol(directory .. "/f.so", "twice", 3.25))
    assert.has_error(function() symbol(directory .. "/f.so", "thrice") end,
      ("library '%s/f.so' has no symbol 'thrice'"):format(directory))
    host.remove(directory)
  end)

  it("says which library cannot be opened and why", function()
    assert.has_error(function() symbol("/no/such.so", "f") end,
      "cannot open library '/no/such.so': cannot open shared object file: No such file or directory")
    local path = host.root .. "/Makefile"
    local good, message = pcall(symbol, path, "f")
    assert.is_false(good)
    assert.equal(("cannot open library '%s': "):format(path), message:match "^.-': ")
    assert.matches("invalid ELF header$", message)
  end)

  it("says which symbol is missing", function()
    assert.has_error(function() symbol("libm.so.6", "no_such_function") end,
      "library 'libm.so.6' has no symbol 'no_such_function'")
  end)
end)

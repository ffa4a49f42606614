-- Optional modules: what is said where nslua.sundials is absent or does not load.
local ns = require "nslua"

local fails = require "expect".fails

-- f() where modules in C are looked for in cpath, and nslua.sundials is not loaded.
local function without(cpath, f)
  local old, loaded = package.cpath, package.loaded["nslua.sundials"]
  package.cpath, package.loaded["nslua.sundials"] = cpath, nil
  local ok, message = pcall(f)
  package.cpath, package.loaded["nslua.sundials"] = old, loaded
  assert(ok, message)
end

local function solve(method) return ns.solve_ivp(function(_, y) return { -y[1] } end, { 0, 1 }, { 1 }, { method = method }) end

describe("an optional module", function()
  it("that is absent: the message names what was asked for, how to get it, what does without", function()
    without("/nowhere/?.so", function()
      local text = "solve_ivp: method '%s' is in the module nslua.sundials, which is not installed: it is built when the " ..
        "headers of "
        .. "SUNDIALS 6 are there (Debian: apt-get install libsundials-dev, then make and make install; or, where nslua came "
        .. "as a package, apt-get install nslua-sundials); %s"
      fails(text:format("CVODE_BDF", "'BDF' and 'Radau' solve the same problems"), solve, "CVODE_BDF")
      fails(text:format("CVODE_Adams", "'DOP853' solves the same problems"), solve, "CVODE_Adams")
      assert.is_true(solve("BDF").success)
    end)
  end)

  it("that does not load: the message says why", function()
    local name = os.tmpname()
    io.open(name, "w"):write("no module"):close()
    without(name, function() fails("solve_ivp: method 'CVODE_BDF': ", solve, "CVODE_BDF") end)
    os.remove(name)
  end)
end)

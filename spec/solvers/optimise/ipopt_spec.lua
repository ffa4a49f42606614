-- The module of IPOPT: it loads, prints nothing, reads no file of options.
local host = require "host"

local here = package.searchpath("nslua.ipopt", package.cpath)
local test = here and it or function(name) pending(name .. " (nslua.ipopt is not built: make optimisers)") end

describe("nslua.ipopt", function()
  test("prints nothing and reads no file of options", function()
    local directory = host.new_directory()
    host.write(directory .. "/ipopt.opt", "max_iter 0\nprint_level 12\n")
    local code = [[local ns = require "nslua"
      local best = ns.optimal_control { states = { "x" }, controls = { "u" }, rhs = function(_, u) return { u.u } end,
        start = { x = 0 }, goal = { x = 1 }, T = 1, cost = function(_, u) return u.u ^ 2 end, elements = 4 }
      print(best)]]
    host.write(directory .. "/a.lua", code)
    local out, err = host.run(("cd %s && %s a.lua"):format(host.quote(directory), host.quote(host.nslua)))
    host.remove(directory)
    assert.equal("", err)
    assert.equal("optimal control (an optimum was found): cost = 1, T = 1, 0 switches\n", out)
  end)
end)

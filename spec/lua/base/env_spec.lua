-- A script, and a session, may have variables that are called as functions of Lua are.
local host = require "host"

-- Globals of Lua that a line of code does not need by itself.
local names = {}
for name in pairs(_G) do
  if type(name) == "string" and (package.loaded[name] or type(_G[name]) == "function") and name ~= "print" then
    names[#names + 1] = name
  end
end
local spoilt = table.concat(names, ", ") .. " = 5" .. (", 5"):rep(#names - 1) .. "\n"

local work = [[
  local sys = ns.mechanics.system { gravity = { 0, -9.81 } }
  local body = sys:free_body { mass = 1, inertia = 1 }
  sys:pin(body, { -0.5, 0 }, sys.ground, nil, "pin")
  local y = ns.solve_ivp(sys:embedded { q0 = { 0.5, 0, 0 }, independent = { 3 } }.f, { 0, 1 }, { 0, 0 }).y
  print(y, ns.polygon.intersection { { 1, 0, 1 }, { -1, 0, 0 }, { 0, 1, 1 }, { 0, -1, 0 } })
  print(ns.dae("radau", function(_, x, xd, r) r[1] = xd[1] + x[1] end):solve({ 0, 1 }, { 1 }, { -1 }).message)
  ns.plot.plot({ 1, 2 }, { 3, 4 })
  print(#ns.plot.gcf():commands())
  print(ns.compile(function(x) return x[1] ^ 2 end)({ 3 }))
]]

describe("globals of a script with the names of functions of Lua", function()
  it("do not reach the files of nslua, also those that are read later", function()
    local clean = ("local ns, print = require 'nslua', print\n%s"):format(work)
    local expected, err = host.nslua_run("-", clean)
    assert.equal("", err)
    assert.matches("%d", expected)
    local out, message = host.nslua_run("-", "local ns, print = require 'nslua', print\n" .. spoilt .. work)
    assert.equal("", message)
    assert.equal(expected, out)
  end)

  it("do not end a session, nor change what it shows", function()
    local session = "x = 1\nx + 1\nns.vector{1,2}\n{a = 1}\nlocal y = 3\ny\n?fsolve\nnil + 1\n" .. work
    local expected, complaint = host.nslua_run("-i", session)
    assert.matches("> 3\n", expected)
    assert.matches("attempt to perform arithmetic on a nil value", complaint)
    local out, err, status = host.nslua_run("-i", spoilt .. session)
    assert.equal((complaint:gsub("%[%d+%]:%d+", "input")), (err:gsub("%[%d+%]:%d+", "input")))
    assert.equal(expected, (out:gsub("> ", "", 1)))
    assert.equal(0, status)
  end)
end)

describe("nslua.base.env", function()
  it("is that of the files of nslua alone, which require finds as ever", function()
    local env = require "nslua.base.env"()
    assert.equal(_G, env._G)
    assert.equal(env, require "nslua.base.env"())
    local searchers = #package.searchers
    package.loaded["nslua.web.html"] = nil
    assert.is_table((require "nslua.web.html"))
    assert.equal(searchers, #package.searchers)
    local good, message = pcall(require, "nslua.none")
    assert.is_false(good)
    assert.matches("module 'nslua.none' not found", message, 1, true)
  end)

  it("names the file that can not be read", function()
    local directory = host.new_directory()
    os.execute("mkdir " .. directory .. "/nslua")
    local file = io.open(directory .. "/nslua/broken.lua", "w")
    file:write "local = 1"
    file:close()
    require "nslua"
    local path = package.path
    package.path = directory .. "/?.lua;" .. path
    local good, message = pcall(require, "nslua.broken")
    package.path = path
    host.remove(directory)
    assert.is_false(good)
    assert.matches("error loading module 'nslua.broken' from file '" .. directory .. "/nslua/broken.lua':\n\t", message, 1, true)
  end)
end)

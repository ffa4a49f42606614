-- nslua.base.lazy: tables and functions that are read at their first use, and that `require "nslua"` reads little.
local host = require "host"
local lazy = require "nslua.base.lazy"

describe("a lazy table", function()
  local loads, loaded, t
  before_each(function()
    loads = 0
    loaded = setmetatable({ one = 1, two = 2 }, { __name = "thing", __call = function(_, x) return 10 * x end })
    t = lazy.table(function()
      loads = loads + 1
      return loaded
    end)
  end)

  it("is loaded once, by a key", function()
    assert.equal(0, loads)
    assert.equal(2, t.two)
    assert.is_nil(t.three)
    assert.equal(1, t.one)
    assert.equal(1, loads)
    assert.equal(getmetatable(loaded), getmetatable(t))
  end)

  it("is loaded by pairs, and shows everything", function()
    local seen = {}
    for name, value in pairs(t) do seen[name] = value end
    assert.same({ one = 1, two = 2 }, seen)
    assert.equal(1, loads)
  end)

  it("is loaded by a call and by an assignment, which stays", function()
    assert.equal(70, t(7))
    t.one = 11
    assert.equal(11, t.one)
    local other = lazy.table(function() return { one = 1, two = 2 } end)
    other.one = 11
    assert.same({ 11, 2 }, { other.one, other.two })
  end)

  it("says that a table of functions can not be called", function()
    local plain = lazy.table(function() return { f = 1 } end)
    local ok, message = pcall(function() plain(3) end)
    assert.is_false(ok)
    assert.equal("a table of functions was called; call one of its functions: help lists them, as in help(ns.plot)",
      (message:gsub("^[^ ]*: ", "")))
  end)

  it("is loaded by settle, for rawget and next", function()
    assert.is_nil(next(t))
    assert.equal(t, lazy.settle(t))
    assert.equal(1, rawget(t, "one"))
    local plain = { 5 }
    assert.equal(plain, lazy.settle(plain))
    assert.equal(1, loads)
  end)

  it("raises what loading raises, each time, and loads when it can", function()
    local bad = true
    local fails = lazy.table(function()
      if bad then error("not there", 0) end
      return { x = 3 }
    end)
    assert.has_error(function() return fails.x end, "not there")
    assert.has_error(function() return fails.x end, "not there")
    bad = false
    assert.equal(3, fails.x)
  end)
end)

describe("a lazy function", function()
  it("loads once for all names, and stays the same value", function()
    local loads, to = 0, {}
    lazy.functions(to, "add fail", function()
      loads = loads + 1
      return { add = function(a, b) return a + b, "more" end, fail = function() error("blamed", 2) end }
    end)
    local add = to.add
    assert.equal(0, loads)
    assert.same({ 5, "more" }, { to.add(2, 3) })
    assert.equal(add, to.add)
    local line = debug.getinfo(1, "l").currentline + 1
    local good, message = pcall(function() to.fail() end)
    assert.is_false(good)
    assert.matches("lazy_spec.lua:" .. line .. ": blamed$", message)
    assert.equal(1, loads)
  end)
end)

describe("require 'nslua'", function()
  it("reads the files of no part before its use", function()
    local code = [[local ns = require "nslua"
      local function count()
        local n = 0
        for name in pairs(package.loaded) do n = n + (name:find "^nslua%." and 1 or 0) end
        return n
      end
      local before = count()
      local line = ns.contact.line({ 0, 0 }, { 0, 1 })
      print(before, count() - before, package.loaded["nslua.mechanics"], ns.mechanics.system ~= nil)]]
    local out, err = host.nslua_run("-e " .. host.quote(code))
    assert.equal("", err)
    assert.equal("5\t15\tnil\ttrue\n", out) -- core, lazy, class, env, sweep.settings; then contact, its shapes, what it needs
  end)
end)

local host = require "host"

describe("scripts/boost_converter.lua", function()
  it("finds where the current begins to rest, and where it flows on", function()
    local out, err, status = host.nslua_run "scripts/boost_converter.lua"
    assert.same({ "", 0 }, { err, status })
    local first, second = out:match "1: sequence at p = (%S+).-2: sequence at p = (%S+)"
    assert.near(0.13127326114, tonumber(first), 1e-9)
    assert.near(0.59155334128, tonumber(second), 1e-9)
  end)

  it("finds the period doubling of current control, and the branch of doubled period", function()
    local out, err, status = host.nslua_run "scripts/boost_converter.lua --control current"
    assert.same({ "", 0 }, { err, status })
    assert.near(1.7059824906, tonumber(out:match "1: period doubling at p = (%S+)"), 1e-8)
    assert.near(2.3721347718, tonumber(out:match "of doubled period: branch of.-1: sequence at p = (%S+) %(open close%)"), 1e-8)
  end)
end)

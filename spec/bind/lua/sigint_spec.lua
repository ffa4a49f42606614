-- SIGINT during a call of ns.numerics; spec/bind/simulation/run_spec.lua has it for runs.
local host = require "host"

-- Runs code, which prints "ready" when it is to be interrupted; one SIGINT goes to it then. Its output.
local function interrupted(code)
  local directory = host.new_directory()
  local script, log = directory .. "/script.lua", directory .. "/log"
  host.write(script, code)
  host.run(([[
    %s %s > %s 2>&1 & pid=$!
    for _ in $(seq 400); do grep -q ready %s && break; sleep 0.01; done
    sleep 0.1
    kill -INT $pid
    wait $pid]]):format(host.nslua, script, log, log))
  local out = host.read(log)
  host.remove(directory)
  return out
end

describe("Ctrl-C", function()
  it("stops the enumeration of a hopeless problem, and the script goes on", function()
    local out = interrupted [[
      local ns = require "nslua"
      io.stdout:setvbuf "no"
      local n = 20
      local M, q = ns.zeros(n, n), ns.vector(n)
      for i = 1, n do
        q[i] = -1 - i / 7
        for j = 1, n do M[i][j] = -math.sin(i * j + 0.3) end
      end
      print "ready"
      for _ = 1, 100 do
        local good, message = pcall(ns.numerics.lcp, { M = M, q = q, solver = "enumerate" })
        if not good then print(message:match "lcp: .*") break end
      end
      local r = ns.numerics.lcp { M = { { 2 } }, q = { -1 } }
      print(r.success, r.z[1])]]
    assert.equal("ready\nlcp: interrupted\ntrue\t0.5\n", out)
  end)

  it("in the function of a nonlinear problem comes through as it does elsewhere", function()
    local out = interrupted [[
      local ns = require "nslua"
      io.stdout:setvbuf "no"
      print "ready"
      local good, message = pcall(ns.numerics.mcp, { F = function() while true do end end, z0 = { 1 } })
      print(good, tostring(message):match "interrupted")]]
    assert.equal("ready\nfalse\tinterrupted\n", out)
  end)
end)

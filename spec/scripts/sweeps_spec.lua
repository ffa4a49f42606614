-- scripts/impact_diagram.lua, basins.lua, clutch_sweep.lua: small variants.
local host = require "host"
local ns = require "nslua"

describe("the scripts with sweeps", function()
  local directory
  setup(function() directory = host.new_directory() end)
  teardown(function() host.remove(directory) end)

  local function run(words)
    local out, err, status = host.run(("cd %s && %s scripts/%s"):format(host.quote(host.root), host.quote(host.nslua),
      words:gsub("FILE", directory .. "/out.npz")))
    assert.same({ "", 0 }, { err, status })
    return out
  end

  it("impact_diagram: below the grazing at A = c all periods are the same", function()
    assert.equal("sweep of 6 tasks: 6 done, 0 failed\n",
      run "impact_diagram.lua --values 6 --transient 60 --keep 4 --file FILE")
    local t = ns.load(directory .. "/out.npz")
    assert.is_true(math.abs(t.x[1][1] - t.x[1][4]) < 1e-3) -- x goes from -0.5 to 0.5
    assert.equal(0.3, t.A[6])
  end)

  it("basins: there are two", function()
    assert.truthy(run "basins.lua --side 6":find "^basins of 2 attractors: ")
  end)

  it("clutch_sweep: the larger the torque, the shorter the disks slip", function()
    assert.equal("sweep of 16 tasks: 16 done, 0 failed\n", run "clutch_sweep.lua --side 4 --h 0.05 --file FILE")
    local t = ns.load(directory .. "/out.npz")
    assert.is_true(t.slipping[13] < t.slipping[1])
    for k = 1, 16 do assert.is_true(t.heat[k] >= 0) end
  end)
end)

-- ns.save, ns.load and sol:save of .h5 files.
local hdf5 = require "hdf5"
local host = require "host"
local models = require "bind.models"
local ns = require "nslua"
local message = models.message
local it = hdf5.it

describe("bind.files_hdf5", function()
  local directory
  setup(function() directory = host.new_directory() end)
  teardown(function() host.remove(directory) end)

  local function path(name) return directory .. "/" .. name end

  it("gives a run back as .npz does, with its outcome", function()
    local sol = models.relay(0.1):run()
    sol:save(path "run.h5")
    sol:save(path "run.npz")
    ns.save(path "other.hdf5", sol)
    local run, npz = ns.load(path "run.h5"), ns.load(path "run.npz")
    assert.equal(tostring(npz), tostring(run))
    for _, name in ipairs(sol:names()) do assert.equal(hdf5.bits(npz[name]), hdf5.bits(run[name])) end
    local attributes, stats = run:attributes(), { status = "completed" }
    for name, value in pairs(sol.stats) do stats[name] = value end
    stats.seconds = nil -- the same run gives the same file
    assert.same(stats, attributes)
    assert.equal("integer", math.type(attributes.rows))
    assert.same(attributes, ns.load(path "other.hdf5"):attributes())
    run:save(path "again.h5")
    assert.same(attributes, ns.load(path "again.h5"):attributes())
    assert.is_true(host.read(path "run.h5") == host.read(path "again.h5"))
    assert.same({}, npz:attributes())
    assert.equal(sol.x1:copy(), run:plot().panels[1].artists[1].columns[2])
  end)

  it("keeps what a run that failed has said", function()
    local ds = ns.FirstOrderNonLinearDS({ 1 }, function(t) if t > 0.5 then error "stop here" end end)
    local sol = require "models".simulation { systems = { ds } }:run { partial = true }
    sol:save(path "failed.h5")
    local attributes = ns.load(path "failed.h5"):attributes()
    assert.equal("failed", attributes.status)
    assert.equal(sol.message, attributes.message)
    assert.matches("stop here", attributes.message)
  end)

  it("takes arrays by name", function()
    ns.save(path "a.h5", { t = { 1, 2 }, b = { 1 }, a = { { 1, 2 }, { 3, 4 } } })
    assert.same({ "t", "a", "b" }, ns.load(path "a.h5"):names())
    assert.equal(ns.matrix { { 1, 2 }, { 3, 4 } }, ns.load(path "a.h5").a)
    assert.equal("save: 'x.h5': expected a table of arrays by name, got one array; .npy holds one",
      message(ns.save, "x.h5", ns.eye(2)))
    assert.equal("save: a: expected a vector or a matrix, got string", message(ns.save, "x.h5", { a = "b" }))
    assert.equal("save: 'x.h': expected a name that ends in .csv, .npy, .npz, .h5, .nc or .mat",
      message(ns.save, "x.h", { a = { 1 } }))
    assert.equal("load: 'h5': expected a name that ends in .csv, .npy, .npz, .h5, .nc or .mat", message(ns.load, "h5"))
  end)

  it("leaves nothing behind of files that cannot be read", function()
    host.write(path "bad.h5", "hello")
    for _ = 1, 20 do assert.has_error(function() ns.load(path "bad.h5") end) end
    collectgarbage()
    assert.equal("cannot read '" .. path "bad.h5" .. "': it is not an HDF5 file, or is cut off",
      message(ns.load, path "bad.h5"))
  end)
end)

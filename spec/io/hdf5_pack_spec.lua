-- HDF5 files that are written: exact, in order, under any name, the same bytes for the same contents.
local hdf5 = require "hdf5"
local host = require "host"
local ns = require "nslua"
local it = hdf5.it

describe("io.hdf5_pack", function()
  local directory
  setup(function() directory = host.new_directory() end)
  teardown(function() host.remove(directory) end)

  local function path(name) return directory .. "/" .. name end

  local function back(data)
    ns.save(path "a.h5", data)
    local record = ns.load(path "a.h5")
    for name, value in pairs(data) do
      local array = type(value) == "table" and ns.vector(value) or value
      assert.equal(hdf5.bits(array), hdf5.bits(record:column(name)), name)
    end
    return record
  end

  it("keeps every bit and every shape #once", function()
    local A = ns.matrix { { 0.1, -0.0, 1 / 0 }, { 5e-324, 0 / 0, -2 } }
    local many = ns.linspace(0, 1, 200001) -- several chunks
    back { odd = hdf5.odd, A = A, row = ns.matrix { { 1, 2 } }, col = ns.matrix { { 1 }, { 2 } }, none = ns.vector(0),
      flat = ns.matrix(0, 3), thin = ns.matrix(3, 0), many = many, wide = ns.matrix(2, 70000), tall = ns.ones(1000, 130) }
    ns.save(path "s.h5", { s = ns.vector(hdf5.odd)(1, 9, 2), At = A:transpose() })
    assert.equal(hdf5.bits(ns.vector(hdf5.odd)(1, 9, 2):copy()), hdf5.bits(ns.load(path "s.h5").s))
    assert.same({}, back {}:names())
  end)

  it("keeps every name, and their order", function()
    local names = { "t", "", "/", ".", "..", "a b", "a b/é", "a//b", "a/b", "a_b", "a_b~2", "b/", "dx", "dx/dt", "dx/dt/dt", "z/1",
      "z/0", "\xff", ("n"):rep(300), "nslua_rows", "nslua_name", "x~2" }
    local data, arrays = {}, {}
    for i, name in ipairs(names) do data[name], arrays[i] = { i }, { i } end
    back(data)
    require "nslua.core".file_support.save_h5(path "n.h5", names, arrays)
    local record = ns.load(path "n.h5")
    assert.same(names, record:names())
    for i, name in ipairs(names) do assert.equal(i, record:column(name)[1]) end
  end)

  it("takes a name twice", function()
    require "nslua.core".file_support.save_h5(path "d.h5", { "x", "x", "x" }, { { 1 }, { 2 }, { 3 } })
    local record = ns.load(path "d.h5")
    assert.same({ "x", "x", "x" }, record:names())
    assert.equal(1, record.x[1])
  end)

  it("makes a group of a slash, for others to read", function()
    ns.save(path "g.h5", { ["body/x"] = { 1, 2 }, ["body/y"] = { 3 } })
    local dump, _, status = host.run("h5dump -d /body/x " .. path "g.h5")
    if status ~= 0 then return pending "h5dump is not here" end
    assert.matches("DATASPACE  SIMPLE { ( 2 ) / ( 2 ) }", dump, 1, true)
    assert.matches("(0): 1, 2", dump, 1, true)
  end)

  it("gives the same bytes for the same contents #once", function()
    ns.save(path "one.h5", { t = { 1, 2 }, ["g/x"] = ns.eye(3) })
    local second = os.time()
    while os.time() == second do end -- no time of day is in the file
    ns.load(path "one.h5"):save(path "two.h5")
    assert.is_true(host.read(path "one.h5") == host.read(path "two.h5"))
  end)

  it("is read by h5py", function()
    if (select(3, host.run "/usr/bin/python3 -c 'import h5py'")) ~= 0 then return pending "h5py is not here" end
    ns.save(path "p.h5", { odd = hdf5.odd, A = ns.matrix { { 1, 2, 3 }, { 4, 5, 6 } }, ["a b/é"] = { 7 } })
    local out, err = host.run(("cd %s && /usr/bin/python3 -c '%s'"):format(directory, [[
import h5py
f = h5py.File("p.h5", "r")
print(f["A"][:].tolist(), f["a b/é"][0], f["odd"].dtype, f["odd"].fletcher32, f["odd"][:].tobytes().hex())
g = h5py.File("q.h5", "w")
g["odd"] = f["odd"][:]
g.create_dataset("A", data=f["A"][:], compression="gzip")]]))
    assert.equal("", err)
    assert.equal("[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]] 7.0 float64 True " .. hdf5.bits(hdf5.odd):gsub(".", function(c)
      return ("%02x"):format(c:byte())
    end) .. "\n", out)
    local record = ns.load(path "q.h5")
    assert.equal(hdf5.bits(hdf5.odd), hdf5.bits(record.odd))
    assert.equal(ns.matrix { { 1, 2, 3 }, { 4, 5, 6 } }, record.A)
  end)
end)

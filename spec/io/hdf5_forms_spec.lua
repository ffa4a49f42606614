-- .nc and .mat files: written by nslua, read by nslua and, where they are installed, by the tools that they are for.
local hdf5 = require "hdf5"
local host = require "host"
local ns = require "nslua"
local models = require "bind.models"
local it = hdf5.it

-- The output of a program of Python that has these modules; nil when there is none.
local function python(modules, code)
  for _, name in ipairs { "python3", "/usr/bin/python3" } do
    local _, _, status = host.run(("%s -c 'import %s'"):format(name, modules))
    if status == 0 then
      local out, err, code_of = host.run(name .. " -", code)
      assert.equal(0, code_of, err)
      return out
    end
  end
end

describe("files of netCDF and of MATLAB", function()
  local directory
  setup(function() directory = host.new_directory() end)
  teardown(function() host.remove(directory) end)

  local function path(name) return directory .. "/" .. name end

  local arrays = { t = { 0, 1, 2 }, A = { { 1, 2, 3 }, { 4, 5, 6 } }, ["q[1]"] = { 7, 8, 9 }, ["q(1)"] = { 7, 8 },
    ["group/x"] = { 1, 2 } }

  it("give a run back to the last bit", function()
    local sol = models.relay(0.1):run()
    for _, ending in ipairs { "nc", "mat" } do
      sol:save(path("run." .. ending))
      local run = ns.load(path("run." .. ending))
      assert.same(sol:names(), run:names())
      for _, name in ipairs(sol:names()) do assert.equal(hdf5.bits(sol[name]), hdf5.bits(run[name])) end
      assert.equal("completed", run:attributes().status)
      run:save(path("again." .. ending))
      assert.is_true(host.read(path("run." .. ending)) == host.read(path("again." .. ending)))
    end
  end)

  it("give arrays back under their names", function()
    for _, ending in ipairs { "nc", "mat" } do
      ns.save(path("a." .. ending), arrays)
      local back = ns.load(path("a." .. ending))
      assert.equal(ns.matrix(arrays.A), back.A)
      for _, name in ipairs { "t", "q[1]", "q(1)", "group/x" } do assert.equal(ns.vector(arrays[name]), back[name]) end
    end
    assert.equal("columns (3 rows): t, A, group/x, q(1), q[1]", tostring(ns.load(path "a.nc"))) -- dim_2 has no values
    assert.same({ dim_2 = "a dimension of netCDF" }, ns.load(path "a.nc"):unread())
    assert.equal("columns (3 rows): t, A, group/x, q(1), q[1]", tostring(ns.load(path "a.mat")))
  end)

  it("have the heads that they are known by", function()
    ns.save(path "b.mat", { t = { 1 } })
    local head = host.read(path "b.mat"):sub(1, 520)
    assert.equal("MATLAB 7.3 MAT-file, Platform: GLNXA64, ", head:sub(1, 40))
    assert.equal("\0\2IM", head:sub(125, 128))
    assert.equal("\137HDF\r\n\26\n", head:sub(513, 520))
  end)

  it("are not streams", function()
    assert.has_error(function() models.relay(0.1):run { stream = path "s.nc" } end)
  end)

  it("of netCDF have the time as coordinate, for ncdump #once", function()
    if host.run "command -v ncdump" == "" then pending "netcdf-bin is not installed" end
    models.relay(0.1):run():save(path "dump.nc")
    local out, err = host.run("ncdump -h " .. path "dump.nc")
    assert.equal("", err)
    assert.matches("dimensions:\n\tt = %d+ ;", out)
    assert.matches("double t%(t%) ;", out)
    assert.matches("double lambda1%(t%) ;", out)
    ns.save(path "a.nc", arrays)
    out, err = host.run("ncdump -v A " .. path "a.nc")
    assert.equal("", err)
    assert.matches("dim_2 = 2 ;", out)
    assert.matches("double A%(dim_2, t%) ;", out)
    assert.matches("A =\n  1, 2, 3,\n  4, 5, 6 ;", out)
  end)

  it("of netCDF are read by xarray and netCDF4 #once", function()
    ns.save(path "a.nc", arrays)
    local out = python("xarray, netCDF4", ([[
import xarray
run = xarray.open_dataset("%s")
print(list(run.coords), run.A.dims, float(run.A.sel(t=1)[1]), float(run["q[1]"].sel(t=2)))
print(run.to_dataframe().shape)]]):format(path "a.nc"))
    if not out then pending "python3-xarray and python3-netcdf4 are not installed" end
    assert.equal("['t'] ('dim_2', 't') 5.0 9.0\n(6, 3)\n", out)
  end)

  it("of MATLAB are read by hdf5storage and h5py #once", function()
    ns.save(path "a.mat", arrays)
    local out = python("hdf5storage, h5py", ([[
import hdf5storage, h5py
data = hdf5storage.loadmat("%s")
print(sorted(data), data["A"].tolist(), data["t"].shape, data["q_1__2"].ravel().tolist())
print(h5py.File("%s")["A"].attrs["MATLAB_class"])]]):format(path "a.mat", path "a.mat"))
    if not out then pending "python3-hdf5storage is not installed" end
    assert.equal("['A', 'group_x', 'q_1_', 'q_1__2', 't'] [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]] (3, 1) [7.0, 8.0, 9.0]\n"
      .. "b'double'\n", out)
  end)

  it("and the others are read by NumPy and pandas #once", function()
    local sol = models.relay(0.1):run()
    for _, ending in ipairs { "csv", "npz", "h5" } do sol:save(path("p." .. ending)) end
    local out = python("pandas, h5py", ([[
import numpy, pandas, h5py
csv, npz, h5 = pandas.read_csv("%s/p.csv"), numpy.load("%s/p.npz"), h5py.File("%s/p.h5")
print((csv.x1.to_numpy() == npz["x1"]).all(), (npz["x1"] == h5["x1"][:]).all(), csv.set_index("t").shape[0] == len(npz["t"]))]])
      :format(directory, directory, directory))
    if not out then pending "python3-pandas and python3-h5py are not installed" end
    assert.equal("True True True\n", out)
  end)
end)

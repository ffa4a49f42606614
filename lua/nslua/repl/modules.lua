-- nslua.repl.modules: the optional modules of nslua, and which of them are there. `nslua --version` and
-- `nslua --doctor` tell of them. A module is built when the headers of its library are installed.

local _ENV = require "nslua.base.env"()

local modules = {}

-- Module, library, what it is for, Debian's package with the headers; in the order of the libraries' names.
modules.list = {
  { "nslua.hdf5", "HDF5", ".h5, .nc and .mat files", "libhdf5-dev" },
  { "nslua.ipopt", "IPOPT", "model:minimize and optimal control", "coinor-libipopt-dev" },
  { "nslua.mpi", "MPI", "sweeps by mpirun", "libopenmpi-dev" },
  { "nslua.nlopt", "NLopt", "ns.minimize", "libnlopt-dev" },
  { "nslua.sundials", "SUNDIALS", "a second solver of DAEs", "libsundials-dev" },
}

--- Loads an optional module. Returns the library's version or true; or nil and a message, which is nil too when there
--- is no such module.
function modules.load(name)
  local good, module = pcall(require, name)
  if good then return module.version or true end
  return nil, package.searchpath(name, package.cpath) and tostring(module):match "^[^\n]*" or nil
end

--- One line on all: "with HDF5 1.10.8, NLopt; without IPOPT, SUNDIALS".
function modules.line()
  local with, without = {}, {}
  for _, entry in ipairs(modules.list) do
    local name, library = entry[1], entry[2]
    local version = modules.load(name)
    if version then with[#with + 1] = type(version) == "string" and library .. " " .. version or library
    else without[#without + 1] = library end
  end
  local halves = {}
  if #with > 0 then halves[1] = "with " .. table.concat(with, ", ") end
  if #without > 0 then halves[#halves + 1] = "without " .. table.concat(without, ", ") end
  return table.concat(halves, "; ")
end

return modules

rockspec_format = "3.0"
package = "nslua"
version = "0.1.0-1"
source = { url = "git+file://." }
description = {
  summary = "Nonsmooth dynamical systems: switches, impacts, friction, diodes, relays",
  detailed = "A C engine with the classes of Siconos as Lua userdata; time stepping, complementarity problems, ODE and DAE.",
  license = "MIT",
}
dependencies = { "lua ~> 5.4" }
-- OpenBLAS is not named: LuaRocks does not look where Debian has its header. Used where they are there: SUNDIALS 6 (ida/ida.h), HDF5 1.10 (hdf5.h).
external_dependencies = {
  LAPACKE = { header = "lapacke.h" },
  KLU = { header = "suitesparse/klu.h" },
  CMINPACK = { header = "cminpack-1/cminpack.h" },
  EDITLINE = { header = "editline/readline.h" },
  ZLIB = { header = "zlib.h" },
}
build = {
  type = "make",
  build_target = "all",
  install_variables = { PREFIX = "$(PREFIX)", BINDIR = "$(BINDIR)", LUADIR = "$(LUADIR)", LIBDIR = "$(LIBDIR)" },
}

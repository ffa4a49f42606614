-- nslua.internal: engine functions for specs alone (spec/internal), which the core of the build directory has.
local core = assert(package.searchpath("nslua.core", package.cpath))
return assert(package.loadlib(core, "luaopen_nslua_internal"))()

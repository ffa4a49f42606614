-- nslua: nonsmooth dynamical systems. Returns one table and sets no global.
local core = require "nslua.core"

local ns = {}
for name, value in pairs(core) do ns[name] = value end

return ns

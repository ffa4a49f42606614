-- nslua: nonsmooth dynamical systems. Returns one table and sets no global.
local core = require "nslua.core"

local hidden = { class_support = true, class_callbacks = true, dae_support = true, versions = true }

local ns = {}
for name, value in pairs(core) do
  if not hidden[name] then ns[name] = value end
end

ns.class = require "nslua.class"(core)
ns.numerics.model = require "nslua.model"(ns)
ns.polygon = require "nslua.polygon"
ns.contact = require "nslua.contact"(ns)
require "nslua.dump"(ns)
require "nslua.dae"(ns, core.dae_support)
ns._VERSION = "nslua 0.1.0"

return ns

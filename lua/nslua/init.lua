-- nslua: nonsmooth dynamical systems. Returns one table and sets no global.
local core = require "nslua.core"

local hidden = { class_support = true, class_callbacks = true, dae_support = true, engine = true,
  process_support = true, solution_methods = true, file_support = true, motion_support = true, versions = true }

local ns = {}
for name, value in pairs(core) do
  if not hidden[name] then ns[name] = value end
end

ns.class = require "nslua.class"(core)
ns.numerics.model = require "nslua.model"(ns)
ns.polygon = require "nslua.polygon"
ns.contact = require "nslua.contact"(ns)
ns.animation = require "nslua.animation_lazy"(core)
require "nslua.dump"(ns)
require "nslua.dae"(ns, core.dae_support)
ns.mechanics = require "nslua.mechanics"(ns, core.motion_support)
ns.help = function(...) return require "nslua.help"(...) end
require "nslua.files"(ns, core.file_support)
ns.plot = require "nslua.plot_lazy"(core.solution_methods)
ns._VERSION = "nslua 0.1.0"

return ns

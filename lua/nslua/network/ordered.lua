-- nslua.network.ordered: pairs in the order of the names, so that sums and choices are the same in every process. The
-- order of `pairs` is not: Lua takes a new seed for its hashes in each.
local lists = require "nslua.base.lists"

return function(t)
  local names, i = lists.keys(t), 0
  return function()
    i = i + 1
    return names[i], t[names[i]]
  end
end

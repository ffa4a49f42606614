-- nslua.network.ordered: pairs in the order of the names, so that sums and choices are the same in every process. The
-- order of `pairs` is not: Lua takes a new seed for its hashes in each.

return function(t)
  local names, i = {}, 0
  for name in pairs(t) do names[#names + 1] = name end
  if #names > 1 then table.sort(names) end
  return function()
    i = i + 1
    return names[i], t[names[i]]
  end
end

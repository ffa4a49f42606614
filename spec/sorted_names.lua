-- The keys of a table, sorted, so that specs run over it in the same order each time.
return function(t)
  local names = {}
  for name in pairs(t) do names[#names + 1] = name end
  table.sort(names)
  return names
end

-- The lines of the commands of a figure that match a pattern.
return function(fig, pattern)
  local list = {}
  for line in fig:commands():gmatch "[^\n]+" do
    if line:find(pattern) then list[#list + 1] = line end
  end
  return list
end

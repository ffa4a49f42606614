-- nslua.plot.share: panels that share an axis x or y.
--
-- One of them is the root: its limits and ticks are used by all. The others have it in their table `shares`. Every
-- panel keeps the scale (linear or logarithmic) itself; it is the same in all.

local share = {}

-- The panel whose limits and ticks of the axis hold for `axes`.
function share.root(axes, axis) return axes.shares[axis] or axes end

-- The panels that share the axis with `axes`, itself included.
function share.members(axes, axis)
  local root, list = share.root(axes, axis), {}
  for _, other in ipairs(axes.figure.panels) do
    if share.root(other, axis) == root then list[#list + 1] = other end
  end
  return #list > 0 and list or { axes }
end

-- Lets `axes`, and all that share the axis with it, share the axis of `others`.
function share.join(axes, others, axis)
  local root = share.root(others, axis)
  if root == share.root(axes, axis) then return end
  for _, one in ipairs(share.members(axes, axis)) do
    root.limits[axis] = root.limits[axis] or one.limits[axis]
    one.shares[axis], one.logs[axis], one.symlogs[axis] = root, root.logs[axis], root.symlogs[axis]
  end
end

-- Sets the scale of an axis in all panels that share it: logarithmic, "symlog" by a table, or neither.
function share.set_scale(axes, axis, log, symlog)
  for _, one in ipairs(share.members(axes, axis)) do one.logs[axis], one.symlogs[axis] = log, symlog end
end

return share

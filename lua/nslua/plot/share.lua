-- nslua.plot.share: panels that share their x axis.
--
-- One of them is the root: its limits and ticks are used by all. The others have it in their field share_x. Every
-- panel keeps the scale (linear or logarithmic) itself; it is the same in all.

local share = {}

-- The panels that share the axis with `axes`, itself included. Only x can be shared.
function share.members(axes, axis)
  if axis ~= "x" then return { axes } end
  local root, list = axes.share_x or axes, {}
  for _, other in ipairs(axes.figure.panels) do
    if (other.share_x or other) == root then list[#list + 1] = other end
  end
  return #list > 0 and list or { axes }
end

-- Lets `axes`, and all that share its x axis, share the x axis of `others`.
function share.join(axes, others)
  local root = others.share_x or others
  if root == (axes.share_x or axes) then return end
  for _, one in ipairs(share.members(axes, "x")) do
    root.limits.x = root.limits.x or one.limits.x
    one.share_x, one.logs.x = root, root.logs.x
  end
end

-- Sets whether an axis is logarithmic, in all panels that share it.
function share.set_log(axes, axis, on)
  for _, one in ipairs(share.members(axes, axis)) do one.logs[axis] = on end
end

return share

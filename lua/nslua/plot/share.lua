-- nslua.plot.share: panels with one axis x.
--
-- One of them is the root, whose limits and ticks are those of all; the others have it as share_x. The scale is kept
-- by each, and is the same in all.

local share = {}

-- The panels whose axis is one with that of `axes`, itself too: of x all that share it.
function share.members(axes, axis)
  if axis ~= "x" then return { axes } end
  local root, list = axes.share_x or axes, {}
  for _, other in ipairs(axes.figure.panels) do
    if (other.share_x or other) == root then list[#list + 1] = other end
  end
  return #list > 0 and list or { axes }
end

-- From now on `axes` and those that share theirs have the axis x of `others`.
function share.join(axes, others)
  local root = others.share_x or others
  if root == (axes.share_x or axes) then return end
  for _, one in ipairs(share.members(axes, "x")) do
    root.limits.x = root.limits.x or one.limits.x
    one.share_x, one.logs.x = root, root.logs.x
  end
end

return share

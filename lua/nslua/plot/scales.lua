-- nslua.plot.scales: how numbers are spread over an axis: evenly, by their logarithms, or "symlog": evenly around 0
-- and by logarithms beyond a threshold, on both sides.
--
-- A scale is false (linear), true (logarithmic) or a table { threshold, share, base } of symlog: `share` is the
-- length of the even part on each side, in lengths of a power of the base.

local format = require "nslua.core".number_support.format

local scales = {}

-- The scale of an axis of a panel.
function scales.of(axes, axis) return axes.symlogs[axis] or axes.logs[axis] or false end

-- The length of the even part over the threshold.
local function even_part(scale) return scale.share / (1 - 1 / scale.base) end

-- Where x stands on a symlog axis, in any unit.
function scales.forward(scale, x)
  local at, even = math.abs(x), even_part(scale)
  if at <= scale.threshold then return x * even end
  local far = scale.threshold * (even + math.log(at / scale.threshold) / math.log(scale.base))
  return x < 0 and -far or far
end

-- The number that stands there.
function scales.inverse(scale, y)
  local at, even = math.abs(y), even_part(scale)
  if at <= scale.threshold * even then return y / even end
  local x = scale.threshold * scale.base ^ (at / scale.threshold - even)
  return y < 0 and -x or x
end

-- Where x is between the limits l: 0 at the first, 1 at the second.
function scales.fraction(x, l, scale)
  if scale == true then return x > 0 and math.log(x / l[1]) / math.log(l[2] / l[1]) or -1 end
  if not scale then return (x - l[1]) / (l[2] - l[1]) end
  local a, b = scales.forward(scale, l[1]), scales.forward(scale, l[2])
  return (scales.forward(scale, x) - a) / (b - a)
end

-- The number there, as fraction() has it; for scales that are not symlog.
function scales.at(part, l, scale)
  if scale == true then return l[1] * (l[2] / l[1]) ^ part end
  return l[1] + part * (l[2] - l[1])
end

-- Numbers near the given ones that stand between dots of a picture, on an axis from `start` to `stop` with dots of
-- the width `dot`. Edges of colour in the middle of dots would look blurred. gnuplot puts the place 0 in the middle
-- of the first dot.
function scales.on_dots(list, l, scale, start, stop, dot)
  if scale and scale ~= true then return list end
  local result = {}
  for i = 1, #list do
    local place = start + scales.fraction(list[i], l, scale) * (stop - start)
    result[i] = scales.at(((math.floor(place / dot) + 0.5) * dot - start) / (stop - start), l, scale)
  end
  return result
end

-- What gnuplot is told of an axis ("x", "y2") with this scale; nil for a linear one.
function scales.command(axis, scale)
  if not scale then return nil end
  if scale == true then return "set logscale " .. axis .. " 10" end
  local name, t, even, base = axis:sub(1, 1), scale.threshold, even_part(scale), scale.base
  return format("set nonlinear %s via abs(%s) <= %.17g ? %s*%.17g : "
    .. "sgn(%s)*%.17g*(%.17g + log(abs(%s)/%.17g)/log(%.17g)) "
    .. "inverse abs(%s) <= %.17g ? %s/%.17g : sgn(%s)*%.17g*%.17g**(abs(%s)/%.17g - %.17g)", axis, name, t, name,
      even,
    name, t, even, name, t, base, name, t * even, name, even, name, t, base, name, t, even)
end

return scales

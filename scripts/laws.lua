-- The laws as graphs, and the cones of a linear complementarity problem in the plane.
--
--   complementarity:  0 <= y _|_ lambda >= 0
--   relay:            lambda = lb where y > 0, ub where y < 0, between them where y = 0
--   an LCP of size 2: w = M z + q, 0 <= w _|_ z >= 0: q lies in a cone of two of e_1, e_2, -M e_1, -M e_2,
--                     one of e_i and -M e_i for each i
--
-- [2 1; 1 2] is a P-matrix: its four cones fill the plane once. [1 2; 2 1] is none: the points between (-1, -2) and
-- (-2, -1) lie in three cones, all others in one. [-1 0; 0 1] leaves the half plane q_1 < 0 empty and covers the
-- other one twice. The script counts the solutions for q on a circle with the solver that finds them all.

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "Draws the graphs of the laws and the cones of three matrices; counts solutions on a circle of q.",
  { "points", default = 360, min = 4, max = 100000, help = "points on the circle" },
  pictures.option,
})

local MATRICES = { { "P-matrix", { { 2, 1 }, { 1, 2 } } }, { "three solutions", { { 1, 2 }, { 2, 1 } } },
  { "none, or two", { { -1, 0 }, { 0, 1 } } } }

-- How many of the points on the unit circle, between the axes of the cones, have 0, 1, 2 ... solutions.
local function counts(M, points)
  local by_number = {}
  for k = 1, points do
    local angle = 2 * math.pi * (k - 0.5) / points + 1e-3
    local found = ns.numerics.solutions { M = M, q = { math.cos(angle), math.sin(angle) } }
    by_number[#found.isolated] = (by_number[#found.isolated] or 0) + 1
  end
  return by_number
end

for _, entry in ipairs(MATRICES) do
  local by_number, text = counts(entry[2], math.tointeger(opt.points)), {}
  for number = 0, 4 do
    if by_number[number] then text[#text + 1] = ("%d solutions: %d"):format(number, by_number[number]) end
  end
  print(("%-16s %s"):format(entry[1], table.concat(text, ", ")))
end

-- ---- pictures ----

local function axes(plot, title, xlabel, ylabel)
  plot.axhline(0, { color = "gray", linewidth = 0.6 })
  plot.axvline(0, { color = "gray", linewidth = 0.6 })
  plot.title(title)
  plot.xlabel(xlabel)
  plot.ylabel(ylabel)
  plot.xlim(-1.5, 1.5)
  plot.ylim(-1.5, 1.5)
end

local function graphs(plot)
  local figure = plot.figure { figsize = { 9, 3.2 } }
  local thick = { color = "C0", linewidth = 2.5 }
  plot.subplot(1, 3, 1)
  axes(plot, "Complementarity", "y", "$\\lambda$")
  plot.plot({ 0, 0, 1.5 }, { 1.5, 0, 0 }, thick)
  plot.subplot(1, 3, 2)
  axes(plot, "Relay on [-1, 1]", "y", "$\\lambda$")
  plot.plot({ -1.5, 0, 0, 1.5 }, { 1, 1, -1, -1 }, thick)
  plot.subplot(1, 3, 3)
  axes(plot, "Equation", "y", "$\\lambda$")
  plot.plot({ 0, 0 }, { -1.5, 1.5 }, thick)
  return figure
end

-- The cone of u and v, cut off far outside of the picture.
local function cone(plot, u, v, color)
  local function far(x)
    local size = math.max(math.abs(x[1]), math.abs(x[2])) / 4
    return x[1] / size, x[2] / size
  end
  local u1, u2 = far(u)
  local v1, v2 = far(v)
  local middle1, middle2 = far { u1 + v1, u2 + v2 }
  plot.fill({ 0, u1, 2 * middle1, v1 }, { 0, u2, 2 * middle2, v2 }, { color = color, alpha = 0.35 })
end

local function cones(plot)
  local figure = plot.figure { figsize = { 9, 3.4 } }
  for i, entry in ipairs(MATRICES) do
    local M = entry[2]
    plot.subplot(1, 3, i)
    local first, second = { { 1, 0 }, { -M[1][1], -M[2][1] } }, { { 0, 1 }, { -M[1][2], -M[2][2] } }
    for a, u in ipairs(first) do
      for b, v in ipairs(second) do cone(plot, u, v, "C" .. 2 * (a - 1) + b - 1) end
    end
    axes(plot, entry[1], "$q_1$", "$q_2$")
    plot.axis "equal"
  end
  return figure
end

pictures.draw(opt.plot, { graphs = graphs, cones = cones })

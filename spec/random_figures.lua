-- Figures with random titles, labels, ranges, panels, legends, logarithmic axes, bars of colour and twins.
local ns = require "nslua"

local words = { "a", "of", "speed", "angle", "torque", "contact", "energy", "$\\lambda$", "$x_{12}$", "over time", "mean",
  "the first", "$\\frac{dv}{dt}$", "maximum", "wall", "[m/s]", "$\\dot q^2$", "W", "friction", "slip", "$\\mu = 0.3$" }

-- A text of one to n words.
local function words_of(random, n)
  local list = {}
  for i = 1, random(n) do list[i] = words[random(#words)] end
  return table.concat(list, " ")
end

-- Numbers of a random range: of any size, beside 0 or around it.
local function range_of(random)
  local size = 10.0 ^ random(-9, 9) * random(1, 99)
  local from = random(3) == 1 and 0 or (random(100) - 50) / 25 * size
  return from, from + size
end

local function curve(random, log)
  local n, lo, hi = random(2, 60), range_of(random)
  if log then lo, hi = 10.0 ^ random(-8, 0), 10.0 ^ random(1, 6) end
  local a, b, c = random(), random(), random()
  return ns.linspace(0, 1, n):map(function(s)
    local part = 0.5 + 0.5 * math.sin(9 * a * s + 6 * b) * (c + (1 - c) * s)
    return log and lo * (hi / lo) ^ part or lo + (hi - lo) * part
  end), n
end

local function draw_curves(random, ax, legend)
  local from, to = range_of(random)
  local log = random(4) == 1
  for _ = 1, random(4) do
    local y, n = curve(random, log)
    local x = ns.linspace(from, to, n)
    local options = { label = legend and words_of(random, 2) or nil }
    if random(4) == 1 then ax:scatter(x, y, options) else ax:plot(x, y, options) end
  end
  if log then ax:yscale "log" elseif random(8) == 1 then ax:yscale "symlog" end
end

local function draw_field(random, ax)
  local rows, cols = random(2, 8), random(2, 8)
  local lo, hi = range_of(random)
  local z = ns.matrix(rows, cols)
  for i = 1, rows do
    for j = 1, cols do z[i][j] = lo + (hi - lo) * random() end
  end
  ax:pcolormesh(z):colorbar { label = random(2) == 1 and words_of(random, 2) or nil }
end

local function draw_bars(random, ax)
  local names, values = {}, {}
  for i = 1, random(2, 5) do names[i], values[i] = words_of(random, 1), random() * 10.0 ^ random(-3, 5) end
  ax:bar(names, values)
  if random(3) == 1 then ax:xticks { rotation = 45 } end
end

local function draw_violins(random, ax)
  local list, names = {}, {}
  for i = 1, random(4) do list[i], names[i] = curve(random), words_of(random, 1) end
  local upright = random(2) == 1
  ax:violinplot(list, { vert = upright, labels = random(2) == 1 and names or nil, showmedians = true })
end

local function draw_polar(random, ax, legend)
  local _, size = range_of(random)
  local theta = ns.linspace(0, 2 * math.pi, 40)
  for k = 1, random(3) do
    ax:plot(theta, theta:map(function(a) return math.abs(size * math.sin(k * a)) end), { label = legend and words_of(random, 2) })
  end
  if random(3) == 1 then ax:scatter({ 0, 1 }, { size, size }, { c = { size, 2 * size } }):colorbar() end
  if random(3) == 1 then ax:theta_zero_location "N":theta_direction(-1) end
  if legend then ax:legend() end
end

-- Moves and shows lines around a panel, and puts another panel into it.
local function dress(random, ax, alone)
  local places = { true, false, { "outward", random(12) }, "zero", "center" } -- in a small panel numbers would touch a legend
  local last = alone and 5 or 3
  if random(3) == 1 then
    ax:spines { left = places[random(last)], bottom = places[random(last)], top = random(2) == 1 }
  elseif alone and random(2) == 1 then
    local inner = ax:inset_axes { 0.1 * random(0, 5), 0.1 * random(0, 5), 0.4, 0.4 }
    draw_curves(random, inner, false)
    ax:indicate_inset_zoom(inner)
  end
end

-- Draws one panel.
local function draw_panel(random, ax, alone)
  local kind, legend = random(8), random(2) == 1
  if kind == 7 then draw_polar(random, ax:make_polar "random", alone and legend) elseif kind == 8 then draw_violins(random, ax)
  elseif kind == 1 then draw_field(random, ax) elseif kind == 2 then draw_bars(random, ax)
  else draw_curves(random, ax, legend) end
  if random(2) == 1 then ax:title(words_of(random, alone and 6 or 3)) end
  if random(2) == 1 then ax:xlabel(words_of(random, 3)) end
  if random(2) == 1 then ax:ylabel(words_of(random, 2)) end
  if kind < 7 then dress(random, ax, alone) end
  if kind > 2 and kind < 7 and random(5) == 1 then
    local twin = random(2) == 1 and ax:twinx():ylabel "twin" or ax:twiny():xlabel "twin"
    draw_curves(random, twin, false)
  end
  if kind > 2 and kind < 7 and legend then
    ax:legend { loc = random(4) == 1 and "outside" or nil, ncol = random(4) == 1 and 2 or nil }
  end
end

-- The figure of a seed.
return function(seed)
  math.randomseed(seed)
  local random = math.random
  local rows, cols = random(3), random(3)
  local fig = ns.plot.figure { title = random(2) == 1 and words_of(random, 6) or nil }
  if random(8) == 1 then
    local ax = fig:subplot(1, 1, 1, { projection = "3d" })
    ax:plot3D(curve(random):slice(1, 2), curve(random):slice(1, 2), curve(random):slice(1, 2), { label = words_of(random, 2) })
    ax:title(words_of(random, 4)):xlabel "x":ylabel "y":zlabel "z":legend()
    return fig
  end
  for i = 1, rows * cols do draw_panel(random, fig:subplot(rows, cols, i), rows * cols == 1) end
  return fig
end

-- A quarter of a car drives over a bump: a passive damper, and a sky-hook damper that is switched by a sampled
-- controller.
--
--   ms zs'' = -k (zs - zu) - c (zs' - zu'),   mu zu'' = k (zs - zu) + c (zs' - zu') - kt (zu - r(t))
--
-- The damper's c is low; the controller adds the force of a stronger one, F = -(c_high - c_low) (zs' - zu') as it was
-- at the last sample, where zs' (zs' - zu') > 0, so that it brakes the body as a damper that hangs on the sky would,
-- and 0 elsewhere. ms = 250, mu = 40, k = 16000, kt = 160000, c from 300 to 2500; the bump is 0.08 (1 - cos) / 2 over
-- 0.25 s, from 0.5 s on.

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "A quarter car over a bump, with passive dampers and a sky-hook damper.",
  { "h", default = 0.002, above = 0, max = 0.05, help = "period of the controller" },
  { "delay", default = 0, min = 0, max = 0.1, help = "delay of the damper" },
  { "T", default = 4, min = 1, max = 20, help = "end of the run" },
  pictures.motion, pictures.option,
})
local ms, mu, k, kt, low, high = 250, 40, 16000, 160000, 300, 2500

local on_bump = ns.table_of_time { times = { 0, 0.5, 0.75 }, values = { 0, 1, 0 } }

local function road(t) return on_bump(t) * 0.04 * (1 - math.cos(8 * math.pi * (t - 0.5))) end

-- x = (zs, zu, zs', zu'). law(y): the force between the masses.
local function run(c, law)
  local car = ns.FirstOrderLinearDS({ 0, 0, 0, 0 }, { { 0, 0, 1, 0 }, { 0, 0, 0, 1 },
    { -k / ms, k / ms, -c / ms, c / ms }, { k / mu, -(k + kt) / mu, c / mu, -c / mu } })
  car:setComputebFunction(function(t, _, b) b[4] = kt / mu * road(t) end)
  local sim, sensor = ns.ControlLsodarSimulation(0, opt.T, opt.h, 1e-10, 1e-13), ns.LinearSensor(car)
  sim:addDynamicalSystem(car)
  ns.follow(sim, on_bump)
  sim:addSensor(sensor, opt.h)
  sim:addActuator(ns.Actuator(sensor, { 0, 0, 1 / ms, -1 / mu }, { law = law, delay = opt.delay, name = "damper" }),
    opt.h)
  return sim:run()
end

local function passive() return { 0 } end

local function sky_hook(_, y)
  local relative = y[3] - y[4]
  return { y[3] * relative > 0 and -(high - low) * relative or 0 }
end

local list = { { "soft", run(low, passive) }, { "hard", run(high, passive) }, { "sky-hook", run(low, sky_hook) } }
for _, one in ipairs(list) do
  local name, sol = one[1], one[2]
  local body, squares = 0, 0
  for i = 1, #sol do
    local x = sol.x[i]
    local c = name == "hard" and high or low
    local F = name == "sky-hook" and sol["damper." .. (opt.delay > 0 and "out" or "u") .. "[1]"][i] or 0
    local a = (-k * (x[1] - x[2]) - c * (x[3] - x[4]) + F) / ms
    squares = squares + a * a
    if sol.t[i] > 1.5 then body = math.max(body, math.abs(x[1])) end
  end
  print(("%-8s rms acceleration %.8f, body %.9f after the bump"):format(name, math.sqrt(squares / #sol), body))
end

pictures.draw(opt.plot, {
  run = function(plot)
    local fig, axes = plot.subplots(2, 1, { figsize = { 7, 6 } })
    for i, one in ipairs(list) do
      axes[1]:plot(one[2].t, one[2].x1, { label = one[1], color = "C" .. i - 1 })
      axes[2]:plot(one[2].t, one[2].x2, { color = "C" .. i - 1 })
    end
    axes[1]:ylabel("body"):title("A quarter car over a bump"):legend()
    axes[2]:ylabel("wheel"):xlabel "$t$"
    return fig
  end,
})

-- The three cars side by side; positions are from rest, 10 times as large.
pictures.animate(opt.animate, function()
  local rows = {}
  for i = 1, #list[1][2] do
    rows[i] = { i, list[1][2].t[i] }
    for j, one in ipairs(list) do rows[i][2 * j + 1], rows[i][2 * j + 2] = one[2].x1[i], one[2].x2[i] end
  end
  local panel = { ylabel = "body" }
  for j, one in ipairs(list) do panel[j] = { label = one[1], y = pictures.column(rows, 2 * j + 1) } end
  return {
    frames = pictures.frames(rows, 60), title = "A quarter car over a bump", speed = 0.5,
    draw = function(row, canvas)
      local r = 10 * road(row[2])
      for j, one in ipairs(list) do
        local x, body, wheel = 2 * j, 2.2 + 10 * row[2 * j + 1], 0.6 + 10 * row[2 * j + 2]
        canvas:line(x - 0.8, r, x + 0.8, r, { linewidth = 3 })
        canvas:spring(x, wheel, x, body, { color = "muted" })
        canvas:circle(x, wheel, 0.4, { fill = "orange" })
        canvas:rectangle(x, body + 0.25, 1.4, 0.5, { fill = "blue", color = "ink" })
        canvas:text(x, body + 0.25, one[1])
      end
    end,
    plot = { t = pictures.column(rows, 2), panels = { panel } },
  }
end)

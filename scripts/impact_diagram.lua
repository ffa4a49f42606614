-- The bifurcation diagram of an oscillator that is driven against a hard wall, by a sweep over the amplitude A:
--
--   x'' + c x' + x = A cos(w t),   x <= 1,   x'+ = -e x'- at the wall
--
-- A task starts at rest and gives x at the beginning of the last periods. Tasks are independent: the file has the
-- same bits with any number of workers.

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "A bifurcation diagram by a sweep. Without --file and --plot nothing is written.",
  { "c", default = 0.1, above = 0, help = "damping" },
  { "e", default = 0.8, above = 0, max = 1, help = "restitution" },
  { "w", default = 1, above = 0, help = "frequency" },
  { "values", default = 2000, min = 2, max = 100000, help = "number of values of A" },
  { "transient", default = 150, min = 0, help = "periods that are left out" },
  { "keep", default = 40, min = 1, help = "periods that are kept" },
  { "file", value = "FILE", help = "the table: .csv, .npz or .h5" },
  pictures.option,
})
local c, e, w, transient, keep = opt.c, opt.e, opt.w, math.tointeger(opt.transient), math.tointeger(opt.keep)
local period = 2 * math.pi / w

local sweep = ns.sweep {
  parameters = { A = ns.linspace(0.05, 0.3, math.tointeger(opt.values)) },
  file = opt.file,
  timeout = 20,
  run = function(p)
    local r = ns.solve_ivp(function(t, x) return { x[2], p.A * math.cos(w * t) - x[1] - c * x[2] } end,
      { 0, (transient + keep) * period }, { 0, 0 }, {
        t_eval = ns.linspace(transient * period, (transient + keep - 1) * period, keep),
        events = { name = "wall", direction = -1, g = function(_, x) return 1 - x[1] end,
          apply = function(_, x) return { x[1], -e * x[2] } end },
      })
    return { x = r.y[1] }
  end,
}
print(sweep)
for i, failure in ipairs(sweep:failures()) do
  if i <= 3 then print(failure.task, failure.error) end
end

pictures.draw(opt.plot, {
  diagram = function()
    local t = sweep:table()
    local A, x = {}, {}
    for k = 1, #t do
      for j = 1, keep do A[#A + 1], x[#x + 1] = t.A[k], keep > 1 and t.x[k][j] or t.x[k] end
    end
    local fig = ns.plot.figure { figsize = { 8, 5 } }
    fig:subplot(1, 1, 1):plot(A, x, { linestyle = "", marker = ".", markersize = 0.8, color = "C0" })
      :xlabel "A":ylabel "$x$ at the beginning of a period"
    return fig
  end,
})

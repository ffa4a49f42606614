-- The basins of attraction of a mass in two wells, with a hard wall behind one of them, by a sweep over starts:
--
--   x'' = -c x' + x - x^3,   x <= wall,   x'+ = -e x'- at the wall
--
-- Every motion ends in x = -1 or in x = 1. The boundary of the basins is wound up by the impacts.

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "Basins of attraction by a sweep. Without --file and --plot nothing is written.",
  { "c", default = 0.1, above = 0, help = "damping" },
  { "e", default = 0.7, min = 0, max = 1, help = "restitution" },
  { "wall", default = 1.3, above = 1, help = "place of the wall" },
  { "side", default = 200, min = 2, max = 2000, help = "starts along each side of the picture" },
  { "file", value = "FILE", help = "the table: .csv, .npz or .h5" },
  pictures.option,
})
local c, e, wall, side = opt.c, opt.e, opt.wall, math.tointeger(opt.side)

local basins = ns.basins {
  parameters = { x = ns.linspace(-2.5, wall - 1e-3, side), v = ns.linspace(-2, 2, side) },
  file = opt.file,
  timeout = 20,
  tolerance = 0.2, -- the ends are not quite at rest: the two wells are 2 apart
  run = function(p)
    local r = ns.solve_ivp(function(_, x) return { x[2], -c * x[2] + x[1] - x[1] ^ 3 } end, { 0, 60 }, { p.x, p.v }, {
      rtol = 1e-6, atol = 1e-9,
      events = { name = "wall", direction = -1, g = function(_, x) return wall - x[1] end,
        apply = function(_, x) return { x[1], -e * x[2] } end },
    })
    return r.y[1][r.y:cols()] > 0 and 1 or -1
  end,
}
print(basins)

pictures.draw(opt.plot, {
  basins = function() return basins:plot("x", "v", { title = "Which of the two wells a start leads to" }) end,
})

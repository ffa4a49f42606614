-- A Cuk converter from 12 V to a negative voltage, from the mean values.
--
--   L1 i1' = V - (1 - s) u1,   L2 i2' = -s u1 - u2,   L1 = L2 = 1 mH, V = 12 V
--   C1 u1' = (1 - s) i1 + s i2,   C2 u2' = i2 - u2 / R,   C1 = 10 uF, C2 = 100 uF, R = 10 Ohm
--
-- with s = 1 in the part d of each period of 20 us, as long as the diode carries i1 - i2 > 0 while s = 0. On the mean
-- u2 = -V d / (1 - d), i2 = u2 / R, u1 = V - u2 and i1 = u2^2 / (R V). The reports are of the last period.

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "A Cuk converter. Without --plot nothing is drawn.",
  { "d", default = 0.4, help = "duty cycle" },
  { "periods", default = 500, help = "length of the run" },
  { "csv", value = "FILE", help = "write the columns there" },
  pictures.option,
})

local period, V, R = 2e-5, 12, 10
local mean = -V * opt.d / (1 - opt.d)
local c = ns.circuit():voltage("V1", "in", "0", V):inductor("L1", "in", "x", 1e-3, { initial = mean * mean / R / V })
c:switch("S1", "x", "0", { period = period, duty = opt.d }):capacitor("C1", "x", "y", 1e-5, { initial = V - mean })
c:diode("D1", "y", "0"):inductor("L2", "y", "out", 1e-3, { initial = mean / R })
c:capacitor("C2", "out", "0", 1e-4, { initial = mean }):resistor("R1", "out", "0", R)

local columns, sol = c:run { stop = opt.periods * period, step = period }
local wave = { frequency = 1 / period }
local output, input = c:harmonics("v.out", wave), c:harmonics("i.L1", wave)
print(("output: %.5f V (on the mean %.5f), input current %.5f A (%.5f)"):format(output.mean, mean, input.mean,
  mean * mean / R / V))
print(("state at the end: %s"):format(sol.x[#sol]))
if opt.csv then ns.save(opt.csv, columns) end

pictures.draw(opt.plot, {
  run = function() return c:plot({ "v.out", "i.L1", "i.L2" }, { title = "Cuk converter" }) end,
})

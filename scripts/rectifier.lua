-- A rectifier with six diodes between a three-phase grid and two capacitors with a current load, after the six-pulse
-- rectifier of the Modelica Standard Library.
--
--   e_k = 400 sqrt(2/3) sin(100 pi t - 2 pi (k - 1) / 3),   e_k - v_k = L i_k',   L = 60 uH,   k = 1, 2, 3
--   C u_P' = i_P - 500,   C u_M' = i_M - 500,   C = 30 mF, u = 200 sqrt 2 at the start
--   each diode: i = 1e-3 S v below 2 V, v = 2 V + 1e-3 Ohm (i - 2e-3 A) above
--
-- The harmonics of the grid's current are those of orders 6 n +- 1.

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "A rectifier with six diodes. Without --plot nothing is drawn.",
  { "T", default = 0.1, help = "end of the run, s" },
  { "h", default = 4e-4, help = "step of the grid, s" },
  { "csv", value = "FILE", help = "write the columns there" },
  pictures.option,
})

local c, diode = ns.circuit(), { forward = 2, resistance = 1e-3, conductance = 1e-3 }
for k = 1, 3 do
  c:voltage("E" .. k, "e" .. k, "star",
    { amplitude = 400 * math.sqrt(2 / 3), frequency = 50, phase = -2 * math.pi * (k - 1) / 3 })
  c:inductor("L" .. k, "e" .. k, "v" .. k, 60e-6)
  c:diode("D" .. k, "v" .. k, "P", diode):diode("D" .. k + 3, "M", "v" .. k, diode)
end
c:capacitor("C1", "P", "0", 30e-3, { initial = 200 * math.sqrt(2) })
c:capacitor("C2", "0", "M", 30e-3, { initial = 200 * math.sqrt(2) }):current("I1", "P", "M", 500)

local columns, sol = c:run { stop = opt.T, step = opt.h }
local voltage = columns["v.P"] - columns["v.M"]
print(("%d events; voltage at the end: %.4f V"):format(#sol.events, voltage[#voltage]))
if opt.T >= 0.02 then
  local current = c:harmonics("i.L1", { frequency = 50, count = 13 })
  print(("current of the grid: %.2f A (rms), total harmonic distortion %.4f"):format(current.rms, current.thd))
  for _, k in ipairs { 1, 5, 7, 11, 13 } do print(("  harmonic %2d: %8.3f A"):format(k, current.amplitude[k])) end
  local efficiency = c:efficiency({ "E1", "E2", "E3" }, "I1", { span = 0.02 })
  print(("efficiency over the last period: %.4f"):format(efficiency))
end
if opt.csv then ns.save(opt.csv, columns) end

pictures.draw(opt.plot, {
  run = function() return c:plot({ "v.P", "v.M", "v.v1", "i.L1", "i.L2", "i.L3" }, { title = "Six diodes" }) end,
})

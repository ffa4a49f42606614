-- A full bridge of four transistors with body diodes feeds a coil and a resistor from 100 V with a square wave.
--
--   L i' = v - R i,   v = +-100 V,   L = 20 mH, R = 5 Ohm, 50 Hz
--
-- Each transistor is off for a dead time before its partner goes on, so that they never short the source. When a
-- transistor goes off, the coil's current goes on through the body diode of its partner: v changes there at once, as
-- long as the current does not end within the dead time. In the periodic motion then
--
--   i = -100 V / R tanh(R T / (4 L)) where v becomes +100 V.

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "A full bridge with dead time. Without --plot nothing is drawn.",
  { "dead", default = 1e-4, help = "dead time, s" },
  { "periods", default = 10, help = "length of the run" },
  { "csv", value = "FILE", help = "write the columns there" },
  pictures.option,
})

local function tanh(x) return 1 - 2 / (math.exp(2 * x) + 1) end

local T, V, R, L = 0.02, 100, 5, 0.02
local on = 0.5 - opt.dead / T -- part of the period
local first, second = { period = T, delay = opt.dead, duty = on }, { period = T, delay = T / 2 + opt.dead, duty = on }
local c = ns.circuit():voltage("V1", "p", "0", V)
c:mosfet("Q1", "p", "a", first):mosfet("Q2", "a", "0", second)
c:mosfet("Q3", "p", "b", second):mosfet("Q4", "b", "0", first)
c:inductor("L1", "a", "x", L):resistor("R1", "x", "b", R)

local columns = c:run { stop = opt.periods * T, step = T / 200 }
local current = c:harmonics("i.L1", { frequency = 1 / T })
local least, by_hand = columns["i.L1"]:min(), -V / R * tanh(R * T / (4 * L))
print(("current: %.6f A at least (by hand %.6f), %.4f A rms, total harmonic distortion %.4f"):format(least, by_hand,
  current.rms, current.thd))
local function mean(name) return c:harmonics(name, { frequency = 1 / T }).mean end
print(("mean currents: source %.4f A, transistor Q1 %.4f A, its body diode %.4f A"):format(-mean "i.V1", mean "i.Q1",
  mean "i.Q1_body"))
if opt.csv then ns.save(opt.csv, columns) end

pictures.draw(opt.plot, {
  run = function() return c:plot({ "v.a", "v.b", "i.L1", "i.Q1", "i.Q1_body" }, { title = "Full bridge" }) end,
})

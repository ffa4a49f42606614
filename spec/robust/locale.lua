-- Writes each kind of file once: nslua spec/robust/locale.lua LOCALE DIRECTORY [OTHER]. Its output must also be the same in
-- every locale. OTHER: a directory written by a run in another locale; its files are read here.
local ns = require "nslua"
local internal = require "nslua.internal"
local core = require "nslua.core"

local name, directory, other = arg[1], arg[2], arg[3]
assert(os.setlocale(name, "all"), "no such locale")
local point = ("%.1f"):format(0.5):sub(2, -2)
assert(name == "C" or point ~= ".", "this locale has a decimal point")

local function path(file) return directory .. "/" .. file end

local function write(file, text)
  local handle = assert(io.open(path(file), "wb"))
  handle:write(text)
  handle:close()
end

local numbers = ns.vector { 0.5, -1.25e-7, 1 / 3, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 1e22, 123456.789,
  4.35 }

local function relay()
  local ds = ns.FirstOrderLinearTIDS({ 1.03 }, { { -0.3 } })
  local nsds = ns.NonSmoothDynamicalSystem(0, 1.5)
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(ns.RelayNSL(1, -1.5, 1), ns.FirstOrderLinearTIR({ { 1 } }, { { 1.1 } })), ds)
  return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.EulerMoreauOSI(0.5), ns.Relay())
end

-- ---- arrays, runs, checkpoints, dumps ----

local simu = relay()
local sol = simu:run { stream = path "stream.csv", checkpoint = path "state", every = "1.5s" }
for _, kind in ipairs { "csv", "npy", "npz", "html" } do
  if kind == "html" then sol:html(path "run.html", { title = "run" }) else sol:save(path("run." .. kind)) end
end
simu:osnspb():dump(path "dump.lua")
print(ns.numerics.replay(path "dump.lua").z)
ns.save(path "numbers.csv", { numbers = numbers })
require "nslua.options".write_csv(path "table.csv", { "a,b", "x" }, { { 0.1, "1.5" }, { -2.5e-9, "it; \"so\"" } })
for _, place in ipairs { directory, other } do
  local back = ns.load(place .. "/numbers.csv").numbers
  for i = 1, #numbers do assert(back[i] == numbers[i], "numbers.csv") end
  assert(ns.load(place .. "/table.csv").x[1] == 1.5, "table.csv")
  local again = relay()
  again:load_state(place .. "/state")
  print(again:step())
end
write("semicolons.csv", "a;b\n1;0,5\n")
print(ns.load(path "semicolons.csv").b)

print(ns.solve_ivp(function(t, y) return { -y[1] } end, { 0.5, 1.25 }, { 1 }))

print(select(2, pcall(ns.EulerMoreauOSI, 2.5)))
print(select(2, pcall(function() ns.NonSmoothDynamicalSystem(0.5, 0.25) end)))

-- ---- pages, films, pictures ----

local function animation(file)
  return ns.animation { frames = 4, fps = 7.5, title = "0.5", unit = "s", xlabel = "x", xlim = { -1.5, 1.5 },
    ylim = { -0.75, 0.8 }, draw = function(k, c)
      c:line(0, 0, 0.3 * k, 0.1, { linewidth = 1.5, linestyle = "dashed" })
      c:text(0.1, 0.2, 0.25)
      c:trace("t", k / 10, 0, { seconds = 0.35 })
    end, file = file and path(file) }
end
print(animation "film.html")
animation():save(path "film.gif", { width = 120, height = 100, fps = 7.5 })
ns.animation.interact { values = { 0.5, 1.5 }, parameter = "p", draw = function(v, c) c:point(v, 0) end,
  file = path "interact.html" }

local fig, ax = ns.plot.subplots()
ax:plot(numbers(1, 3), { 0.1, 0.2, 0.35 }, { linewidth = 1.5, label = 0.5 })
ax:text(0.1, 0.15, 0.75)
ax:set_xticks { 0.25, 0.5 }
local other_figure, axes = ns.plot.subplots()
axes:semilogy({ 0.1, 0.2 }, { 1e-3, 0.7 })
local space = ns.plot.figure()
ns.plot.subplot(1, 1, 1, { projection = "3d" }):plot3D({ 0.1, 0.2 }, { 0.1, 0.3 }, { 0.5, 0.7 })
for i, f in ipairs { fig, other_figure, space } do
  write(("figure%d.gp"):format(i), f:commands())
  write(("figure%d.svg.gp"):format(i), f:commands "svg")
end
fig:savefig(path "figure.png")

-- ---- native code ----

local f = ns.compile(function(x) return 1.5 * x ^ 2 + math.sin(0.1 * x) end)
assert(f(2.5) == 1.5 * 2.5 ^ 2 + math.sin(0.1 * 2.5))
print(f:traces()[1].native)
local _, source = internal.tape_native(1, {}, { 1 }, { ns.vector { 0.5 } }, "cc")
write("tape.c", source)

-- ---- texts ----

print(numbers, ns.matrix { { 0.5, 1 } })
print(simu, simu:nsds(), simu:osi(), simu:timeDiscretisation(), sol, ns.RelayNSL(1, -0.5, 2), ns.NewtonImpactNSL(0.5))
print(ns.NewtonImpactFrictionNSL(0.5, 0, 0.3, 2), ns.RungeKuttaOSI(1e-5), select(2, pcall(ns.vector, 0.5)))
print(core.process_support.rows { numbers })
for _, x in ipairs { 0.1, 5e-324, 1e300 / 3, 1e23 } do print(internal.number_format(x)) end
local options = require "nslua.options"
local list = { { "h", default = 0.1, above = 0, max = 0.75 }, { "file", value = "FILE" } }
print(options.read({ "--h", "0.5" }, list).h == 0.5, options.read({ "--h=0,5" }, list))
print(options.read({ "--h", "2" }, list))
print(options.help("s", list))
print(select(2, pcall(ns.solve_ivp, function() error "stop" end, { 0.5, 1.5 }, { 0.25 })):match "^[^\n]*")
print(pcall(ax.set_xlim, ax, 0.5, 0.5))

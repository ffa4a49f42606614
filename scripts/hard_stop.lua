-- Two carts on a line, tied to a wall and to each other by springs; a cart cannot pass through the wall or the other
-- cart.
--
--   m1 x1'' = -k1 x1 + k2 (x2 - x1) + u1 - u2      0 <= x1      _|_ u1 >= 0    (the wall)
--   m2 x2'' = -k2 (x2 - x1) + u2                   0 <= x2 - x1 _|_ u2 >= 0    (the other cart)
--
-- that is x'' = A x + B u, 0 <= C x _|_ u >= 0, with m1 = m2 = k1 = k2 = 1 and x(0) = (1, 3.5), v(0) = 0.
--
-- A step of the semi-explicit Euler method, with the contact at its end:
--
--   x_{k+1} = x_k + h v_k + h^2 A x_k + h^2 B u,     0 <= C x_{k+1} _|_ u >= 0
--   v_{k+1} = v_k + h A x_k + h B u                  --variant maths: x_{k+1} = x_k + h v_{k+1}
--   v_{k+1} = v_k + h A x_{k+1} + h B u              --variant code: with the new position
--
-- --form direct solves each step as a complementarity model. --form nsds states a first-order system of z = (x, v),
--   M z' = F z + r,  r = [h B; B] u,  F = [h A  1; A  0],  M = [1 0; 0 1] (maths) or [1 0; -h A 1] (code)
-- whose Euler scheme with theta = 0, M (z_{k+1} - z_k) = h F z_k + h r, is the same: h A in F and -h A in M give the
-- term h^2 A of the method.

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "Two carts with hard stops. Without --csv, --animate and --plot nothing is written.",
  { "variant", default = "maths", choices = { "maths", "code" }, help = "which position drives the new velocity" },
  { "form", default = "direct", choices = { "direct", "nsds" }, help = "how a step is stated" },
  { "h", default = 0.1, min = 1e-5, max = 1, help = "length of a step" },
  { "T", default = 10, above = 0, max = 1000, help = "end of the run" },
  { "every", default = 1, min = 1, help = "write each so many steps" },
  { "csv", value = "FILE", help = "write the run there" },
  pictures.motion,
  pictures.option,
})
local h, N, every = opt.h, math.floor(opt.T / opt.h + 0.5), opt.every // 1
local TOUCH = 1e-9 -- a contact force below this is rounding: at rest x, v and u are 0 to rounding

local m1, m2, k1, k2 = 1, 1, 1, 1
local A = ns.matrix { { -(k1 + k2) / m1, k2 / m1 }, { k2 / m2, -k2 / m2 } }
local B = ns.matrix { { 1 / m1, -1 / m1 }, { 0, 1 / m2 } }
local C = ns.matrix { { 1, 0 }, { -1, 1 } }
local x0, v0 = ns.vector { 1, 3.5 }, ns.vector { 0, 0 }

-- Both return a function that makes a step and returns x, v, u at its end.
local forms = {}

function forms.direct()
  local model = ns.numerics.model()
  local x, v = model:parameter(x0, "x"), model:parameter(v0, "v")
  local u = model:variables(2, { lower = 0, name = "u" })
  local x_next = x + h * v + h ^ 2 * A * x + h ^ 2 * B * u
  local v_next = v + h * A * (opt.variant == "maths" and x or x_next) + h * B * u
  model:complements(C * x_next, u)
  return function()
    model:solve()
    local new_x, new_v = model:value(x_next), model:value(v_next)
    x:set(new_x)
    v:set(new_v)
    return new_x, new_v, model:value(u)
  end
end

function forms.nsds()
  local one, zero = ns.eye(2), ns.zeros(2, 2)
  local dyn = ns.FirstOrderLinearTIDS(ns.concatenate { x0, v0 }, ns.block { { h * A, one }, { A, zero } })
  dyn:setMPtr(ns.block { { one, zero }, { opt.variant == "maths" and zero or -h * A, one } })
  local relation = ns.FirstOrderLinearTIR(ns.hstack { C, zero }, ns.vstack { h * B, B })
  local stop = ns.Interaction(ns.ComplementarityConditionNSL(2), relation)
  local nsds = ns.NonSmoothDynamicalSystem(0, N * h)
  nsds:insertDynamicalSystem(dyn)
  nsds:link(stop, dyn)
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, h), ns.EulerMoreauOSI(0), ns.LCP())
  return function()
    simu:computeOneStep()
    local z, u = dyn:x():copy(), stop:lambda(0):copy()
    simu:nextStep()
    return z:slice(1, 2), z:slice(3, 4), u
  end
end

local step = forms[opt.form]()
local rows = { { 0, 0, x0[1], x0[2], v0[1], v0[2], 0, 0, "00" } }
local contacts, last, deepest = {}, "00", 0
for k = 1, N do
  local x, v, u = step()
  local active = (u[1] > TOUCH and "1" or "0") .. (u[2] > TOUCH and "1" or "0")
  deepest = math.max(deepest, -x[1], x[1] - x[2])
  local row = { k, k * h, x[1], x[2], v[1], v[2], u[1], u[2], active }
  if active ~= last then contacts[#contacts + 1] = row end
  last = active
  if k % every == 0 then rows[#rows + 1] = row end
end

print(("%s (%s), h = %g, %d steps\n"):format(opt.variant, opt.form, h, N))
print "     k          t             x1             x2             v1             v2   contact"
local words = { ["00"] = "none", ["10"] = "wall", ["01"] = "carts", ["11"] = "both" }
for i, row in ipairs(contacts) do
  if i <= 12 then
    local numbers = { table.unpack(row, 1, 6) }
    print(("%6d %10.6g %14.8g %14.8g %14.8g %14.8g"):format(table.unpack(numbers)), words[row[9]])
  end
end
if #contacts > 12 then print(("   ... %d more changes of contact"):format(#contacts - 12)) end
print(("\ndeepest penetration: %.1e"):format(deepest))

options.save_csv(opt.csv, { "k", "t", "x1", "x2", "v1", "v2", "u1", "u2", "active" }, rows)

pictures.draw(opt.plot, {
  run = function(plot)
    local column = {}
    for j = 2, 8 do
      column[j] = {}
      for i, row in ipairs(rows) do column[j][i] = row[j] end
    end
    local fig = plot.figure { figsize = { 7, 6 } }
    local format = #rows <= 150 and "-o" or "-"
    local above = fig:subplot(2, 1, 1)
    above:plot(column[2], column[3], format, { label = "$x_1$", markersize = 2 })
      :plot(column[2], column[4], format, { label = "$x_2$", markersize = 2 }):axhline(0)
      :title(("Positions, $h = %g$"):format(h)):legend()
    fig:subplot(2, 1, 2, { sharex = above }):step(column[2], column[7], { label = "$u_1$: the wall" })
      :step(column[2], column[8], { label = "$u_2$: the carts" }):title "Contact forces":xlabel "$t$":legend()
    return fig
  end,
})

-- The carts and their springs, the wall at 0: carts touch when x1 = x2, the second is drawn its width further.
pictures.animate(opt.animate, function()
  local wide = 0.8 -- of a cart
  return {
    frames = pictures.frames(rows, 60), title = "Two carts with hard stops",
    background = function(canvas)
      canvas:ground(0, 0, 0, 1.2)
      canvas:ground(0, 0, x0[2] + 2.2 * wide + 0.6, 0)
    end,
    draw = function(row, canvas)
      local first, second = row[3], row[4] + wide
      canvas:spring(0, 0.55, first, 0.55, { color = "muted" })
      canvas:spring(first + wide, 0.55, second, 0.55, { color = "muted" })
      canvas:rectangle(first + wide / 2, 0.4, wide, 0.6, { fill = "blue", color = "ink" })
      canvas:rectangle(second + wide / 2, 0.4, wide, 0.6, { fill = "orange", color = "ink" })
      for _, left in ipairs { first, second } do
        canvas:circle(left + 0.2 * wide, 0.08, 0.08, { fill = "muted" })
        canvas:circle(left + 0.8 * wide, 0.08, 0.08, { fill = "muted" })
      end
    end,
    plot = { t = pictures.column(rows, 2), panels = {
      { ylabel = "positions", { label = "x1", y = pictures.column(rows, 3) },
        { label = "x2", y = pictures.column(rows, 4) } },
      { ylabel = "forces", { label = "wall", y = pictures.column(rows, 7), step = "pre" },
        { label = "carts", y = pictures.column(rows, 8), step = "pre" } } } },
  }
end)

-- The plotting cells of the notebooks that this project began with, written in Lua, call by call.
local boxes = require "picture_boxes"
local ns = require "nslua"
local plt = ns.plot

teardown(function() plt.close() end)

-- Draws the current figure, whose texts must have their room.
local function drawn()
  local svg = plt.picture "svg"
  assert.equal("", table.concat(boxes.faults(svg), "\n"))
  return svg
end

local t = ns.linspace(0, 20, 200)
local data = ns.matrix(200, 6)
for i = 1, 200 do
  for j = 1, 6 do data[i][j] = j == 1 and t[i] or math.sin(t[i] * j / 3) / j end
end
local function column(j) return data:column(j) end
local zeros, ones, line = ns.zeros(2), ns.ones(2), ns.vector { -1, 1 }

describe("the plotting cells of the documents #once", function()
  it("the clutch: lines in space", function()
    plt.figure { figsize = { 12, 5 } }
    local ax = plt.subplot(1, 1, 1, { projection = "3d" })
    ax:plot3D(line, zeros, ones)
    ax:plot3D(zeros, line, zeros)
    ax:set_xlabel("τ")
    ax:set_ylabel("Δω")
    ax:set_zlabel("λ")
    ax:set_zlim(0., 1.05)
    ax:set_xlim(-10., 10)
    ax:set_ylim(-10., 10)
    drawn()
  end)

  it("the clutch: the implicit surface", function()
    local fig = plt.figure { figsize = { 10, 5 } }
    local ax = fig:add_subplot(111, { projection = "3d" })
    ax:set_zlim3d(-1, 1):set_xlim3d(-1, 1):set_ylim3d(-1, 1)
    ax:implicit(function(x, y, z) return z * x + (1 - z) * y end, { alpha = 0.5 })
    ax:plot3D(line, zeros, ones)
    ax:plot3D(zeros, line, zeros)
    drawn()
  end)

  it("the clutch: four panels over the time, and the constraint", function()
    plt.figure { figsize = { 10, 20 } }
    plt.subplot(411)
    plt.title("distance")
    plt.plot(column(1), column(2))
    plt.grid()
    plt.subplot(412)
    plt.title("rotation speed ω1 & ω2")
    plt.plot(column(1), column(3), { label = "ω1" })
    plt.plot(column(1), column(4), { label = "ω2" })
    plt.legend()
    plt.grid()
    plt.subplot(413)
    plt.title("switching variable λ")
    plt.plot(column(1), column(6))
    plt.grid()
    plt.subplot(414)
    plt.title("Torque τ ")
    plt.plot(column(1), column(5))
    plt.grid()
    drawn()
    plt.figure { figsize = { 10, 5 } }
    plt.title("Constraint evolution (time plot) (λ)*τ + (1-λ)*(Cω)")
    plt.plot(column(1), column(2), { label = "const. = 0" })
    plt.legend()
    plt.grid()
    drawn()
  end)

  it("the clutch: the normal cone", function()
    plt.figure { figsize = { 10, 5 } }
    plt.plot(column(1), column(2), { linewidth = 3, color = "red", label = "y(λ) at step k" })
    plt.plot(column(1), column(3), { linewidth = 3, color = "blue" })
    plt.plot(column(1), column(4), "b", { linewidth = 3, color = "blue", label = "Normal cone" })
    plt.xlabel("λ")
    plt.ylabel("y")
    plt.legend { loc = "center left", bbox_to_anchor = { 1, 0.5 } }
    plt.grid(true)
    drawn()
    plt.figure { figsize = { 10, 5 } }
    plt.axes { xlim = { -0.1, 1.1 }, ylim = { -10, 10 } }
    plt.plot({}, {})
    drawn()
  end)

  it("the linkage: three panels, the animation's first picture, the comparison", function()
    local fig, axes = plt.subplots(3, 1, { sharex = true })
    fig:set_size_inches(10.0, 6.0)
    local three = ns.matrix(200, 3)
    for i = 1, 200 do
      for j = 1, 3 do three[i][j] = data[i][j + 1] end
    end
    axes[1]:plot(t, three)
    axes[2]:plot(t, column(5))
    axes[3]:plot(t, three)
    axes[1]:legend { "$q_1$", "$q_2$", "$q_3$" }
    axes[2]:legend { "$u_1$" }
    axes[3]:legend { "$\\cdot\\hat{n}_x$", "$\\cdot\\hat{n}_y$" }
    axes[1]:set_ylabel("Angle [deg]")
    axes[2]:set_ylabel("Angular Rate [deg/s]")
    axes[3]:set_ylabel("Distance [m]")
    axes[3]:set_xlabel("Time [s]")
    fig:tight_layout()
    drawn()
    local ax
    fig, ax = plt.subplots()
    fig:set_size_inches({ 10.0, 10.0 })
    ax:set_aspect("equal")
    ax:grid()
    ax:plot({ 0, 0.5, 2, 3 }, { 0, 0.5, 0.7, 0 }, { color = "black", marker = "o", markerfacecolor = "blue", markersize = 10 })
    ax:set_title(("Time = %.2f seconds"):format(0))
    ax:set_xlim({ -1.0, 3.0 })
    ax:set_ylim({ -1.0, 1.0 })
    ax:set_xlabel("$x$ [m]")
    ax:set_ylabel("$y$ [m]")
    drawn()
    ax = select(2, plt.subplots())
    ax:plot(t, column(2), "C0", t, column(3), "C1", t, column(4), "C2")
    ax:legend { "solve_ivp", "solve_ivp + fsolve", "IDA" }
    drawn()
  end)

  it("the jump: streamlines, states over the time and in the plane, regions", function()
    plt.figure { figsize = { 8, 8 } }
    plt.streamplot({ -2, 2 }, { -2, 2 }, function(x, y) return y > 0 and 1 or -1, x > 0 and -1 or 1 end, { cmap = "magma" })
    assert.truthy(plt.gcf():commands():find("with lines lw 1 lc rgb variable", 1, true))
    plt.colorbar()
    plt.xlabel("x₁")
    plt.ylabel("x₂")
    drawn()
    plt.figure()
    plt.plot(t, data, { lw = 3 })
    plt.xlabel("t"):ylabel("x")
    drawn()
    plt.figure()
    plt.plot(column(2), column(3), { lw = 3 })
    plt.set { xlabel = "x₁", ylabel = "x₂", xlim = { -1.2, 0.5 } }
    plt.axis("equal")
    drawn()
    plt.figure()
    plt.fill({ 0, 1, 1 }, { 0, 0, 1 })
    plt.fill({ -1, 0, -1 }, { 0, 0, 1 })
    plt.xlim(-1.5, 1.5):ylim(-1.5, 1.5)
    drawn()
  end)

  it("the link: the angle, the path, the shapes", function()
    plt.figure()
    plt.plot(t, column(2) * (180 / math.pi))
    drawn()
    plt.figure()
    plt.plot(column(2), column(3), "o")
    drawn()
    local _, ax = plt.subplots()
    ax:plot({}, {}, { linewidth = 10 })
    ax:plot({}, {}, "s", { markersize = 20 })
    ax:plot(column(2), column(3))
    drawn()
  end)
end)

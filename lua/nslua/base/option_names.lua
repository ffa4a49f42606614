-- nslua.base.option_names: the options of the functions and methods that are written in Lua. The functions check
-- their option tables against this list, and the prompt completes from it.
--
-- Names are those under `ns`; "class:method" is a method of the objects of a class (the __name of their metatable).
-- A method of axes or of a figure is a function of ns.plot too.

local LINE = "label color linestyle linewidth marker markersize markerfacecolor markeredgecolor markevery alpha "
  .. "hollow zorder"
local AREA = "color alpha edgecolor linewidth label zorder"
local BAR = AREA .. " align capsize tick_label"
local FACE = "color cmap alpha edgecolor linewidth label shade"
local MOTION = "file title draw background speed loop interpolate xlim ylim aspect axes xlabel ylabel fps"
local SPACE = "file title speed loop unit camera plot label accuracy"
local FORM = "q0 v0 t0 index stabilised baumgarte"
local STEPS = "rtol atol first_step max_step max_steps"
local SET = "xlabel ylabel zlabel title xlim ylim zlim xscale yscale zscale xticks yticks zticks grid axis legend"

local TASKS = "setup file workers on with seed resume timeout retries memory chunk order progress"

local FLOW = "simulation rhs events method rtol atol args t0 parameter value"

local names = {
  ["animation"] = MOTION .. " frames times unit plot",
  ["animation.interact"] = MOTION .. " parameter values",
  ["animation.timeplot"] = "file title xlabel t panels points",
  ["animation:save"] = "width height fps",
  ["solution:animate"] = MOTION .. " rows unit plot",
  ["animation.space"] = SPACE .. " bodies world frames places forces values times fps",
  ["solution:animate3d"] = SPACE .. " space bodies world values fps",
  ["recorder:animate3d"] = "file title speed loop unit camera plot",
  ["contact manager in space:recorder"] = "fps speed forces color values label accuracy",
  ["animation in space:save"] = "width height fps time",

  ["LinearSensor"] = "name delay noise quantisation dropout seed",
  ["LuenbergerObserver"] = "name model",
  ["SlidingReducedOrderObserver"] = "name model",
  ["control.bode_plot"] = "omega input output title figsize dpi",
  ["control.frequency_response"] = "input output",
  ["control.nyquist_plot"] = "omega input output title figsize dpi",
  ["control.root_locus_plot"] = "gains input output title figsize dpi",
  ["control.step_plot"] = "T input title figsize dpi",
  ["control.step_response"] = "input",
  ["consistent"] = "residual t y ydot algebraic",
  ["contact.manager"] = "nsds law reach",
  ["contact.space"] = "nsds law reach",
  ["dae"] = STEPS .. " algebraic index consistent jac events args sensitivities compile",
  ["design.latin_hypercube"] = "seed",
  ["design.random"] = "seed",
  ["design.sobol"] = "seed",
  ["dynamics.continuation"] = FLOW .. " guess scale period section autonomous segments drift symmetry transient "
    .. "tol max_iterations range step max_step max_points",
  ["branch:switch"] = "step max_points side",
  ["orbit:slope"] = "size",
  ["dynamics.diagram"] = FLOW .. " guess scale values period phase section transient keep follow both "
    .. "workers on progress",
  ["dynamics.equilibrium"] = "simulation nsds rhs guess t all args value period scale",
  ["dynamics.linearise"] = "simulation nsds rhs at inputs outputs mode args value",
  ["dynamics.lyapunov"] = FLOW .. " guess scale time window transient values workers on progress",
  ["dynamics.poincare"] = FLOW .. " guess scale section period phase count skip",
  ["dynamics.periodic"] = FLOW .. " guess scale period section autonomous segments drift symmetry transient "
    .. "tol max_iterations",
  ["diagnose"] = "residual t y ydot",

  ["fmi.export"] = "kind name files libraries",
  ["fmi.model"] = "name description author version copyright license parameters inputs outputs locals states setup "
    .. "rhs events method rtol atol start stop step tolerance save restore",
  ["notebook.options"] = "pictures dpi",
  [":gradient"] = "cost terminal parameters method memory",
  ["least_squares"] = "bounds jac loss f_scale ftol xtol gtol max_nfev x_scale args",
  ["numerics.global_friction"] = "M H q b mu dim solver tolerance max_iterations r0",
  ["minimize"] = "method bounds constraints grad tol max_nfev seed args",
  ["fit"] = "simulation model data parameters start bounds noise sensitivities loss f_scale tol max_nfev starts "
    .. "seed workers on progress",
  ["optimal_control"] = "states controls relays rhs cost terminal path parameters bounds start goal T elements "
    .. "phases stages control_degree guess accuracy max_elements tol max_iterations",
  ["sweep:plot"] = "x y z by bins cmap limits figsize dpi title",
  ["montecarlo"] = "run samples max_samples rtol atol confidence quantiles " .. TASKS,
  ["sobol_indices"] = "ranges run n result " .. TASKS,
  ["basins"] = "parameters run tolerance " .. TASKS,
  ["basins:plot"] = "figsize dpi title cmap",
  ["sweep"] = "parameters run " .. TASKS .. " reduce wait",
  ["quad"] = "rtol atol max_intervals",
  ["interp1"] = "x y kind outside ends slopes", ["interp2"] = "x y z kind outside", ["spline"] = "ends slopes",

  ["KneeJointR"] = "point absolute bodies name",
  ["PivotJointR"] = "point axis absolute bodies name",
  ["PrismaticJointR"] = "axis absolute bodies name",
  ["CylindricalJointR"] = "point axis absolute bodies name",
  ["PlanarJointR"] = "axis absolute bodies name",
  ["FixedJointR"] = "bodies name",
  ["mechanics.load"] = "nsds q base gravity damping packages",
  ["mechanics.join"] = "name axis stops restitution friction radius force damping",
  ["mechanics.system"] = "coordinates dimension gravity frame origin compile",
  ["mechanics.system:particle"] = "name mass position",
  ["mechanics.system:body"] = "name mass inertia position angle orientation", -- angle: plane; orientation: space
  ["mechanics.system:free_body"] = "name mass inertia",
  ["mechanics.system:force"] = "on at value",
  ["mechanics.system:torque"] = "on value",
  ["mechanics.system:spring"] = "from p1 to p2 stiffness damping length",
  ["mechanics.system:constraint"] = "name f rows",
  ["mechanics.system:lagrangian"] = "q0 v0 t0 name",
  ["mechanics.system:insert"] = "q0 v0 t0 name",
  ["mechanics.system:dae"] = FORM,
  ["mechanics.system:solve_dae"] = FORM .. " " .. STEPS,
  ["mechanics.system:embedded"] = "q0 v0 t0 independent",
  ["mechanics.system:kane"] = "speeds kinematics dependent nonholonomic",

  ["model:variable"] = "lower upper start name",
  ["model:variables"] = "lower upper start name",
  ["model:constraint"] = "lower upper",
  ["model:minimize"] = "tolerance max_iterations",
  ["model:solve"] = "solver tolerance max_iterations warm",

  ["plot.figure"] = "figsize dpi title facecolor",
  ["plot.subplots"] = "sharex sharey figsize dpi title subplot_kw",
  ["plot.axes"] = "projection polar " .. SET,
  ["plot.solution"] = "figsize dpi title",
  ["figure:subplot"] = "projection polar sharex sharey",
  ["figure:suptitle"] = "fontsize color",
  ["figure:picture"] = "dpi transparent facecolor",
  ["figure:savefig"] = "dpi transparent facecolor bbox_inches",
  ["figure:subplots_adjust"] = "left right bottom top wspace hspace",
  ["figure:show"] = "terminal width height",
  ["axes:step"] = LINE .. " where",
  ["axes:scatter"] = "s c color marker cmap vmin vmax alpha label hollow edgecolor zorder",
  ["axes:fill"] = AREA,
  ["axes:fill_between"] = "color alpha label where zorder",
  ["axes:bar"] = BAR .. " width bottom yerr",
  ["axes:barh"] = BAR .. " height left xerr",
  ["axes:axline"] = "slope label color linestyle linewidth alpha",
  ["axes:stairs"] = "baseline fill label color linestyle linewidth alpha",
  ["axes:hist2d"] = "bins range density cmap vmin vmax",
  ["axes:matshow"] = "cmap vmin vmax origin extent aspect interpolation",
  ["axes:pcolor"] = "cmap vmin vmax shading",
  ["axes:bar_label"] = "fmt fontsize padding color",
  ["axes:hist"] = "bins range density cumulative histtype " .. AREA,
  ["axes:errorbar"] = LINE .. " xerr yerr fmt capsize ecolor elinewidth",
  ["axes:boxplot"] = "positions widths labels whis vert showfliers showmeans color label",
  ["axes:violinplot"] = "positions widths labels vert showmeans showmedians showextrema points bw_method color alpha "
    .. "label",
  ["axes:stem"] = LINE .. " bottom",
  ["axes:axvspan"] = AREA,
  ["axes:axhspan"] = AREA,
  ["axes:heatmap"] = "cmap limits",
  ["axes:pcolormesh"] = "cmap vmin vmax shading",
  ["axes:imshow"] = "cmap vmin vmax origin extent aspect interpolation",
  ["axes:contourf"] = "levels cmap",
  ["axes:colorbar"] = "label ticks",
  ["axes:contour"] = "levels color cmap linewidth linestyle label alpha",
  ["axes:quiver"] = "color scale linewidth label",
  ["axes:quiverkey"] = "labelpos color",
  ["axes:streamplot"] = "color cmap density linewidth label alpha",
  ["axes:surface"] = FACE,
  ["axes:implicit"] = "bounds n " .. FACE,
  ["axes:text"] = "color align valign fontsize rotation bbox transform",
  ["axes:annotate"] = "xy xytext color align valign fontsize arrowprops bbox rotation",
  ["axes:title"] = "fontsize color loc",
  ["axes:grid"] = "which axis color linestyle linewidth alpha",
  ["axes:legend"] = "loc ncol labels fontsize title frameon framealpha facecolor edgecolor labelcolor bbox_to_anchor",
  ["axes:tick_params"] = "axis labelsize labelcolor labelrotation direction bottom left labelbottom labelleft",
  ["axes:hlines"] = "color linestyle linewidth label alpha",
  ["axes:vlines"] = "color linestyle linewidth label alpha",
  ["axes:fill_betweenx"] = "color alpha label",
  ["axes:stackplot"] = "labels colors alpha",
  ["axes:pie"] = "labels colors explode startangle radius autopct",
  ["axes:table"] = "text row_labels col_labels loc cell_align col_widths colors fontsize",
  ["axes:xscale"] = "linthresh linscale base",
  ["axes:yscale"] = "linthresh linscale base",
  ["axes:indicate_inset_zoom"] = "color edgecolor linewidth alpha",
  ["axes:spines"] = "left right top bottom",
  ["axes:set"] = SET,
  ["axes:xlim"] = "left right",
  ["axes:ylim"] = "bottom top",
  ["axes:zlim"] = "bottom top",
}

for name in ("plot semilogx semilogy loglog"):gmatch "%S+" do names["axes:" .. name] = LINE .. " drawstyle" end
names["axes:plot3D"] = LINE
names["axes:axhline"] = "label color linestyle linewidth alpha zorder xmin xmax"
names["axes:axvline"] = "label color linestyle linewidth alpha zorder ymin ymax"
for axis in ("xyz"):gmatch "." do
  names["axes:" .. axis .. "label"] = "fontsize color rotation"
  names["axes:" .. axis .. "ticks"] = "fontsize color rotation" .. (axis == "x" and " align" or "")
end

return names

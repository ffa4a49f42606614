-- nslua.repl.options: the options that functions and methods of nslua take in a table, for the prompt to complete.
-- Each row has the options and then the names in `ns` that take them. "class:name" is a method of objects of the
-- class (the __name of their metatable), ":name" a method of any object. The rows that stand here are of functions
-- in C; a spec compares them with what these accept.

local rows = {
  { "tolerance max_iterations solver", "AVI", "Equality", "FrictionContact", "GenericMechanical", "LCP", "MLCP",
    "Relay", "RollingFrictionContact" },
  { "x0 A b M z name", "FirstOrderLinearDS", "FirstOrderLinearTIDS" },
  { "C D B F e z name", "FirstOrderLinearR", "FirstOrderLinearTIR" },
  { "x0 f jacobianfx M z name", "FirstOrderNonLinearDS" },
  { "h g Jachx Jacglambda Jachlambda Jacgx C D B K states z name", "FirstOrderNonLinearR" },
  { "h g Jachx Jacglambda C B states z name", "FirstOrderType1R" },
  { "h g Jachx Jacglambda Jachlambda C D B states z name", "FirstOrderType2R" },
  { "C D F e z name", "LagrangianCompliantLinearTIR" },
  { "h Jachq Jachlambda C D states z name", "LagrangianCompliantR" },
  { "q0 v0 mass fInt fExt fGyr jacobianFIntq jacobianFIntqDot jacobianFGyrq jacobianFGyrqDot potential z name",
    "LagrangianDS" },
  { "q0 v0 stiffness damping mass fExt potential z name", "LagrangianLinearDiagonalDS" },
  { "q0 v0 mass K C fExt potential z name", "LagrangianLinearTIDS" },
  { "C F e z name", "LagrangianLinearTIR" },
  { "h Jachq hDot dotJachq C states z name", "LagrangianRheonomousR", "NewtonEulerR" },
  { "h Jachq dotJachq C states z name", "LagrangianScleronomousR" },
  { "h z name shape R R1 R2 L1 L2 corner point normal along side",
    "Lagrangian2d2DR", "NewtonEuler1DR", "NewtonEuler3DR", "NewtonEuler5DR", "NewtonEuler6DR" },
  { "q0 v0 mass inertia fExt fInt jacobianFIntq jacobianFIntqDot mExt mInt jacobianMIntq jacobianMIntv "
    .. "potential z name", "NewtonEulerDS" },
  { "fprime args xtol maxfev full_output", "fsolve" },
  { "M q lower upper solver tolerance max_iterations omega z0", "numerics.box", "numerics.relay" },
  { "W q mu solver tolerance max_iterations r0", "numerics.fc2d", "numerics.fc3d" },
  { "W q mu mu_r solver tolerance max_iterations r0", "numerics.rolling_fc2d", "numerics.rolling_fc3d" },
  { "W q mu mu_spin solver tolerance max_iterations r0", "numerics.spinning_fc3d" },
  { "W q mu mu_r mu_spin solver tolerance max_iterations r0", "numerics.rolling_spinning_fc3d" },
  { "W q groups tolerance max_iterations z0", "numerics.generic_mechanical" },
  { "M q solver tolerance max_iterations omega z0", "numerics.lcp" },
  { "F J lower upper z0 tolerance max_iterations max_time restarts solver", "numerics.mcp" },
  { "A B C D a b solver tolerance max_iterations omega u0 v0", "numerics.mlcp" },
  { "M q H K lower upper z0 tolerance max_iterations solver", "numerics.normal_cone" },
  { "M q lower upper", "numerics.solutions" },
  { "lower upper", "numerics.uniqueness" },
  { "jac args tol maxfev", "root" },
  { "rcond", "solve" },
  { "nsds grid integrator problem rtol atol h_min h_max compile", "EventDriven", "TimeStepping",
    "TimeSteppingCombinedProjection", "TimeSteppingDirectProjection" },
  { "method rtol atol t_eval dense_output events max_step first_step max_steps jac jac_sparsity args "
    .. "sensitivities compile", "solve_ivp" },
  { "rows cols i j v", "sparse" },
  { "every progress partial record checkpoint stream resume observe dense sensitivities rows solver", ":run" },
}

-- Functions in Lua. A method of axes or of a figure is a function of ns.plot too.
local names = require "nslua.base.option_names"
for name, options in pairs(names) do
  local method = name:match "^axes:(.*)" or name:match "^figure:(.*)"
  rows[#rows + 1] = { options, name, method and "plot." .. method }
end
rows[#rows + 1] = { names["figure:subplot"], "figure:add_subplot" }
rows[#rows + 1] = { names["plot.solution"], "solution:plot", "columns:plot" }
rows[#rows + 1] = { names["animation.timeplot"], "solution:html" }

return rows

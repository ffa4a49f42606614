-- Entry, sliding, exit. (a) exact. (b) closed antiderivatives with roots to 34 digits; check: 80-bit extrapolation integrator with located
-- events.
return {
  a_entry = { 0.41421356237309503, tolerance = 1e-10 },
  a_exit = { 1, tolerance = 1e-09 },
  a_x_3 = { 2, tolerance = 1e-09 },
  a_s_0p75 = { 0.75, tolerance = 1e-08 },
  b_times = { { 0.4480775326360005, 0.7297276562269663, 3.3231163036778026, 3.8713203098167597, 6.464708957267596, 7.012912963406553,
    9.60630161085739 }, tolerance = 1e-09 },
  b_kinds = { { "entry", "exit", "entry", "exit", "entry", "exit", "entry" }, tolerance = 0 },
  b_x_10 = { 0, tolerance = 1e-09 },
  b_area = { 2.4786730844070446, tolerance = 1e-08 },
}

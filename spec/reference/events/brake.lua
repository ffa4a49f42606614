-- Brake with stick and slip. Closed antiderivatives, roots to 34 digits; check: 80-bit extrapolation integrator with located events.
return {
  times = { { 2.017609848283204, 2.2689280275926285, 3.366662407757486 }, tolerance = 1e-09 },
  kinds = { { "stop", "start", "cross" }, tolerance = 0 },
  v_4 = { -0.22480791227718935, tolerance = 1e-09 },
  x_4 = { 1.764126324707501, tolerance = 1e-09 },
  work = { 0.9564054189416282, tolerance = 1e-09 },
  v_1p5 = { 0.6535985998102599, tolerance = 1e-09 },
}

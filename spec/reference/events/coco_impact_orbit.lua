-- Hard impact oscillator: one-impact orbit and grazing. Closed form of the flow, two equations (impact phase, velocity) solved to 34 digits,
-- multipliers by the saltation matrix; check: the 80-bit integrator returns to the fixed point; multipliers by differences.
return {
  a_state = { { 0.8708351574636171, 1.7038211363751643 }, tolerance = 1e-09 },
  a_t_impact = { 0.07595216493831239, tolerance = 1e-09 },
  a_v = { { 1.695732937594882, -1.3565863500759057 }, tolerance = 1e-09 },
  a_multipliers = { { { -0.5842953143415296, 0.0056003514924735575 }, { -0.5842953143415296, -0.0056003514924735575 } }, tolerance = 1e-07 },
  c_dstate_dA = { { 0.04394247414615729, 1.6362478421359055 }, tolerance = 1e-06 },
  b_A_graze = { 0.1, tolerance = 1e-09 },
  b_state = { { 0, 1 }, tolerance = 1e-09 },
}

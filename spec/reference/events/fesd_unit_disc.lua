-- Switch on the unit circle (FESD example). Closed form in polar coordinates; check: matrix exponentials and saltation matrix, 34 digits.
return {
  t_switch = { 1, tolerance = 1e-10 },
  x_2 = { { 2.718281828459045, 0 }, tolerance = 1e-09 },
  x_1p7 = { { -0.6222838090769394, -1.915192634646805 }, tolerance = 1e-09 },
}

-- Oscillator with a jumping force: a long sequence of crossings. Closed form (arcs of circles around (-a, 0)), 34 digits; check: 80-bit
-- extrapolation integrator with located events.
return {
  t_cross = { { 2.214297435588181, 4.77297650022224, 6.987273935810421, 9.54595300044448, 11.760250436032662, 14.31892950066672,
    16.533226936254902, 19.09190600088896 }, tolerance = 1e-10 },
  x_20 = { { 0.5959572206783322, 0.2210831753956539 }, tolerance = 1e-09 },
  period = { 4.77297650022224, tolerance = 1e-10 },
}

-- Painleve's rod: states without a solution and with several. Closed form: p = 1 + 3 cos^2 + 3 mu sgn(u) sin cos, b = -g + w^2 sin; tan(theta)
-- = (3 mu -+ sqrt(9 mu^2 - 16))/2.
return {
  mu_critical = { 1.3333333333333333, tolerance = 1e-12 },
  angles = { { 0.6523581397843682, 1.3820857960113346 }, tolerance = 1e-10 },
  p = { { 5.5, -0.5, -0.5, -0.6324801149653211, 0.3258147646336672, 0.78604050437852 }, tolerance = 1e-10 },
  b = { { -9.81, -9.81, 15.645844122715712, -6.0818436561310945, -9.81, 2.175638465105075 }, tolerance = 1e-09 },
  count = { { 1, 0, 2, 0, 1, 1 }, tolerance = 0 },
  N = { { { 1.7836363636363637 }, {}, { 0, 31.291688245431423 }, {}, { 30.109132749186372 }, { 0 } }, tolerance = 1e-09 },
  impulse_2 = { { 0.375, 0.625 }, tolerance = 1e-08 },
  after_2 = { { -0.375, 0.375, 0.5303300858899106 }, tolerance = 1e-08 },
}

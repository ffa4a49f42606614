-- Impact oscillator: orbit and multipliers. Closed form of the flow, two equations (impact phase, velocity) solved to 34 digits,
-- multipliers by the saltation matrix; check: 80-bit integrator and differences.
return {
  state = { { -0.6523759000145717, 0.07134713192326629 }, tolerance = 1e-09 },
  t_impact = { 1.1287362570311643, tolerance = 1e-09 },
  v_before = { 0.5006724925491702, tolerance = 1e-09 },
  monodromy = { { { -0.915581551153503, -3.1822720311281185 }, { 0.12823476346153118, -0.10324412979575978 } }, tolerance = 1e-07 },
  multipliers = { { { -0.5094128404746314, 0.49305666981334284 }, { -0.5094128404746314, -0.49305666981334284 } }, tolerance = 1e-07 },
  det = { 0.502606321687856, tolerance = 1e-09 },
  w2p4_state = { { -0.9815853805764185, 0.1485027452489719 }, tolerance = 1e-08 },
  w2p4_moduli = { { 0.7018446152786766, 0.7018446152786766 }, tolerance = 1e-07 },
}

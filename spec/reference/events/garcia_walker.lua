-- Simplest walking model: gait and multipliers. Newton on the step map with an 80-bit extrapolation integrator; check: DOP853 at
-- rtol 1e-13; multipliers by differences of order 4 in 80 bits. Published: theta = 0.200310900544287 (Garcia and others 1998).
return {
  state = { { 0.20031090054424708, -0.19983247300495235 }, tolerance = 1e-09 },
  step_time = { 3.882463752851374, tolerance = 1e-08 },
  multipliers = { { { -0.19009985042930094, 0.5575987389195217 }, { -0.19009985042930094, -0.5575987389195217 } }, tolerance = 1e-05 },
}

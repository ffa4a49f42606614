-- Two balls and a spring on the floor. Matrix exponential of the linear flow with 34 and 50 digits, impacts located to all digits; check:
-- 80-bit extrapolation integrator.
return {
  n = { 2, tolerance = 0 },
  times = { { 0.4038550218769218, 0.42331696881470665 }, tolerance = 1e-09 },
  x_1 = { { 0.24684188672883528, 1.228210312008501, -2.3798395214664336, -3.1140923936237557 }, tolerance = 1e-07 },
  impulse = { 14.12606808490981, tolerance = 1e-07 },
  energy = { 23.8865437443897, tolerance = 1e-07 },
}

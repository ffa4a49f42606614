-- Block on a shaken inclined plate. Closed antiderivatives, roots to 34 digits; check: 80-bit extrapolation integrator with located events.
return {
  times = { { 0.02148150822560337, 0.07585596092239394, 0.08924829672829687, 0.18021089625049697, 0.23288225370360305, 0.24632792940778653,
    0.3372905289299866, 0.3899618863830927, 0.4034075620872762, 0.4943701616094763, 0.5470415190625824, 0.5604871947667659 },
    tolerance = 1e-09 },
  kinds = { { "slip up", "stick", "slip down", "cross up", "stick", "slip down", "cross up", "stick", "slip down", "cross up", "stick",
    "slip down" }, tolerance = 0 },
  r_1 = { -0.02757004605398445, tolerance = 1e-10 },
  v_1 = { 0.02833999551875016, tolerance = 1e-09 },
  drift = { -0.004682316939411002, tolerance = 1e-10 },
  stick_fraction = { 0.08559783006125603, tolerance = 1e-08 },
}

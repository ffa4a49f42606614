-- Sign spiral with finite-time accumulation. Exact rational recursion: |x1| + |x2| falls with rate 2, each quadrant shrinks the distance by
-- 1/3; t_k = 1: (2/3) 3^-(k-1).
return {
  times = { { 0.3333333333333333, 0.7777777777777778, 0.9259259259259259, 0.9753086419753086, 0.9917695473251029, 0.9972565157750343,
    0.9990855052583447, 0.9996951684194483, 0.9998983894731495, 0.9999661298243832, 0.999988709941461, 0.9999962366471536 },
    tolerance = 1e-09 },
  t_accumulate = { 1, tolerance = 1e-08 },
  x_0p9 = { { -0.12222222222222222, -0.07777777777777778 }, tolerance = 1e-09 },
  x_2 = { { 0, 0 }, tolerance = 1e-09 },
  s_2 = { { 0, 0 }, tolerance = 1e-08 },
}

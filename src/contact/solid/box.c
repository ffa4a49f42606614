/*
** box.c
** A box about the origin, along the axes of its body; x runs fastest among its corners. It may be rounded.
*/
#include "contact/solid.h"

static NsStatus make_box(NsSolid *solid, const double *numbers, int npoints, const double *points, NsError *err) {
  double corners[24];
  (void)npoints, (void)points;
  for (int i = 0; i < 8; i++)
    for (int k = 0; k < 3; k++) corners[3 * i + k] = (i >> k & 1 ? 0.5 : -0.5) * numbers[k];
  return ns_solid_make_hull(solid, 8, corners, numbers[3], err);
}

const NsSolidClass ns_solid_box = {
    .name = "box", .corner = "corner", .numbers = {"lx", "ly", "lz", "rounding"}, .rounding = true, .make = make_box};

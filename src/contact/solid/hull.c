/*
** hull.c
** The convex hull of points. It may be rounded.
*/
#include "contact/solid.h"

static NsStatus make_hull(NsSolid *solid, const double *numbers, int npoints, const double *points, NsError *err) {
  return ns_solid_make_hull(solid, npoints, points, numbers[0], err);
}

const NsSolidClass ns_solid_hull = {
    .name = "hull", .corner = "corner", .numbers = {"rounding"}, .rounding = true, .points = true, .make = make_hull};

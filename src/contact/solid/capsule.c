/*
** capsule.c
** A capsule around the origin: all points that are at most R from a segment along the third axis.
*/
#include "contact/solid.h"

static NsStatus make_capsule(NsSolid *solid, const double *numbers, int npoints, const double *points, NsError *err) {
  double low[3] = {0, 0, -numbers[1] / 2}, high[3] = {0, 0, numbers[1] / 2};
  (void)npoints, (void)points, (void)err;
  return ns_solid_make_segment(solid, low, high, numbers[0]);
}

const NsSolidClass ns_solid_capsule = {.name = "capsule", .corner = "end", .numbers = {"R", "length"}, .make = make_capsule};

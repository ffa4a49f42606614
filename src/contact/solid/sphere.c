/*
** sphere.c
** A sphere around the origin of its body: a rounded point.
*/
#include "contact/solid.h"

static NsStatus make_sphere(NsSolid *solid, const double *numbers, int npoints, const double *points, NsError *err) {
  static const double origin[3] = {0, 0, 0};
  (void)npoints, (void)points, (void)err;
  return ns_solid_make_point(solid, origin, numbers[0]);
}

const NsSolidClass ns_solid_sphere = {.name = "sphere", .corner = "", .numbers = {"R"}, .make = make_sphere};

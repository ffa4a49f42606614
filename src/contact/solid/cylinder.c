/*
** cylinder.c
** A cylinder about the origin, along the third axis of its body.
*/
#include "contact/solid.h"

static NsStatus make_cylinder(NsSolid *solid, const double *numbers, int npoints, const double *points, NsError *err) {
  NsSolidRing ring = {numbers[0], {{0, 0, -numbers[1] / 2}, {0, 0, numbers[1] / 2}}, {{0, 0, -1}, {0, 0, 1}}};
  double angles[NS_SOLID_SIDES];
  (void)npoints, (void)points, (void)err;
  for (int i = 0; i < NS_SOLID_SIDES; i++) angles[i] = 2 * acos(-1) * i / NS_SOLID_SIDES;
  return ns_solid_make_prism(solid, &ring, NS_SOLID_SIDES, angles);
}

const NsSolidClass ns_solid_cylinder = {
    .name = "cylinder", .corner = "corner", .numbers = {"R", "length"}, .make = make_cylinder};

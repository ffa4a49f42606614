/*
** shape.c
** What the shapes of contacts share, and their table.
*/
#include "model/shape/shape.h"

#include <string.h>

#define X(name) extern const NsShapeClass ns_shape_##name;
NS_SHAPE_LIST(X)
#undef X

const NsShapeClass *const ns_shape_classes[NS_SHAPES] = {
#define X(name) &ns_shape_##name,
    NS_SHAPE_LIST(X)
#undef X
};

double ns_shape_drop(const NsContact *contact, const double *p, double *foot) {
  const double *n = contact->normal;
  double way[3] = {p[0] - contact->point[0], p[1] - contact->point[1], p[2] - contact->point[2]};
  double distance = ns_shape_dot(way, n);
  for (int i = 0; i < 3; i++) foot[i] = p[i] - distance * n[i];
  return distance;
}

void ns_shape_directions(const NsContact *contact, const double *normal, double d[MOST_ROWS][SPACE]) {
  memcpy(d[0], normal, sizeof d[0]);
  if (contact->rows > 1) ns_contact_tangents(normal, d[1], d[2]);
}

/*
** cap_plane.c
** A cap of a capsule, a ball around a point of a body, on a plane of the world. A capsule is the convex hull of its two caps: it is on
** its side of a plane when both are, so that two contacts are a capsule, standing, tilted or lying.
*/
#include "model/shape/shape.h"

const NsShapeClass ns_shape_cap_plane = {.name = "cap_plane",
                                         .bodies = 1,
                                         .turns = true,
                                         .numbers = {{"R", NS_SHAPE_RADIUS, offsetof(NsContact, R1)},
                                                     {"corner", NS_SHAPE_POINT, offsetof(NsContact, corner)},
                                                     {"point", NS_SHAPE_POINT, offsetof(NsContact, point)},
                                                     {"normal", NS_SHAPE_DIRECTION, offsetof(NsContact, normal)}},
                                         .gap = ns_shape_fixed_ball_gap,
                                         .rate = ns_shape_fixed_ball_rate,
                                         .curve = ns_shape_fixed_ball_curve};

/*
** corner_plane.c
** A point of a body on a plane of the world: a ball of radius 0.
*/
#include "model/shape/shape.h"

const NsShapeClass ns_shape_corner_plane = {.name = "corner_plane",
                                            .bodies = 1,
                                            .turns = true,
                                            .numbers = {{"corner", NS_SHAPE_POINT, offsetof(NsContact, corner)},
                                                        {"point", NS_SHAPE_POINT, offsetof(NsContact, point)},
                                                        {"normal", NS_SHAPE_DIRECTION, offsetof(NsContact, normal)}},
                                            .gap = ns_shape_fixed_ball_gap,
                                            .rate = ns_shape_fixed_ball_rate,
                                            .curve = ns_shape_fixed_ball_curve};

/*
** computeh.c
** The callback computeh sets the frame of the contact.
*/
#include "model/shape/shape.h"

const NsShapeClass ns_shape_computeh = {.name = "computeh"};

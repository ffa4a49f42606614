/*
** contact.h
** Contact frames in space: the Jacobian from the velocities of rigid bodies to the velocity at the contact, and the gaps of
** ready-made shapes.
*/
#ifndef NS_MODEL_CONTACT_H
#define NS_MODEL_CONTACT_H

#include <stdbool.h>

#include "base/function.h"

/* X(code, name, number of bodies, whether the bodies need quaternions); the comment lists the members of NsContact used. */
#define NS_CONTACT_LIST(X)                                                                                                     \
  X(NS_CONTACT_USER, "computeh", 0, false)               /* computeh sets the frame */                                         \
  X(NS_CONTACT_SPHERE_PLANE, "sphere_plane", 1, false)   /* R1, point, normal */                                               \
  X(NS_CONTACT_SPHERE_SPHERE, "sphere_sphere", 2, false) /* R1, R2 */                                                          \
  X(NS_CONTACT_CORNER_PLANE, "corner_plane", 1, true)    /* corner, point, normal */

typedef enum NsContactShape {
#define X(code, name, bodies, turns) code,
  NS_CONTACT_LIST(X)
#undef X
      NS_CONTACT_SHAPES
} NsContactShape;

/* The touching points pc1 of body 1 and pc2 of body 2 (or the world), and the unit normal nc, which points to body 1. */
typedef struct NsContactFrame {
  double pc1[3], pc2[3], nc[3];
} NsContactFrame;

/*
** A contact between a body and the world, or between two bodies. A body has 7 coordinates (position; unit quaternion, scalar
** first), a particle has 3; nx counts all. `rows` is 1 (the normal) or 3 (the normal and two tangents). `frame` holds the
** frame of the last evaluation.
*/
typedef struct NsContact {
  NsContactShape shape;
  int rows, nx;
  double R1, R2, corner[3], point[3], normal[3]; /* the normal of a plane has length 1 */
  NsContactFrame frame;
} NsContact;

const char *ns_contact_shape_name(NsContactShape shape);

/* The ready-made shape with this name (never NS_CONTACT_USER); NS_CONTACT_SHAPES: there is none. */
NsContactShape ns_contact_shape(const char *name);

/* Whether the contact can have nx coordinates. *what: a text for messages that says which numbers of coordinates it takes. */
bool ns_contact_fits(const NsContact *contact, int nx, const char **what);

/*
** Two unit vectors that make a right-handed frame with the unit vector n, (1, 0, 0) and (0, 1, 0) for n = (0, 0, 1).
** They are smooth functions of n except at n = (0, 0, -1); a tangent field that is smooth on the whole sphere does not exist.
** Frisvad, Building an orthonormal basis from a 3D unit vector without normalization, 2012.
*/
void ns_contact_tangents(const double *n, double *t1, double *t2);

/*
** Writes C (rows x nx, column-major) so that, for q' = T(q) v, C q' = (v1 - v2) along nc and the tangents: v1 is the velocity
** of pc1 as a point of body 1, v2 the velocity of pc2 as a point of body 2 (the world: 0).
*/
void ns_contact_rows(const NsContact *contact, const double *q, double *C);

/* Writes the gap of a ready-made shape and contact->frame. Returns 0, or 1 when the centres of two spheres coincide. */
int ns_contact_gap(NsContact *contact, const double *q, double *gap);

/* The function h of a ready-made contact: the value is (gap, 0, 0), the Jacobian by x is C. The contact is borrowed. */
NsFunction ns_contact_function(NsContact *contact);

#endif

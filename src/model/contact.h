/*
** contact.h
** Contact frames in space: the rows that tie velocities of rigid bodies to those of a contact, and ready-made geometry.
*/
#ifndef NS_MODEL_CONTACT_H
#define NS_MODEL_CONTACT_H

#include <stdbool.h>

#include "base/function.h"

/* X(code, name, bodies, quaternions needed). */
#define NS_CONTACT_LIST(X)                                                                                                     \
  X(NS_CONTACT_USER, "computeh", 0, false)               /* the frame is set by computeh */                                    \
  X(NS_CONTACT_SPHERE_PLANE, "sphere_plane", 1, false)   /* R1, point, normal */                                               \
  X(NS_CONTACT_SPHERE_SPHERE, "sphere_sphere", 2, false) /* R1, R2 */                                                          \
  X(NS_CONTACT_CORNER_PLANE, "corner_plane", 1, true)    /* corner, point, normal */

typedef enum NsContactShape {
#define X(code, name, bodies, turns) code,
  NS_CONTACT_LIST(X)
#undef X
      NS_CONTACT_SHAPES
} NsContactShape;

/* The points of both bodies (of the world: body 2) that touch, and the unit normal, which points to body 1. */
typedef struct NsContactFrame {
  double pc1[3], pc2[3], nc[3];
} NsContactFrame;

/*
** A contact between a body and the world, or between two bodies: nx coordinates of one or two rigid bodies
** (position, unit quaternion with the scalar first: 7) or of particles (3). `rows` is 1 (the normal) or 3 (two
** tangents too). `frame` is that of the last evaluation.
*/
typedef struct NsContact {
  NsContactShape shape;
  int rows, nx;
  double R1, R2, corner[3], point[3], normal[3]; /* the normal of a plane has length 1 */
  NsContactFrame frame;
} NsContact;

const char *ns_contact_shape_name(NsContactShape shape);

/* The shape of a name, NS_CONTACT_SHAPES when there is none; not NS_CONTACT_USER. */
NsContactShape ns_contact_shape(const char *name);

/*
** Whether the contact goes with nx coordinates. `what`, for messages: which ones it goes with.
*/
bool ns_contact_fits(const NsContact *contact, int nx, const char **what);

/*
** Two unit vectors that make a right-handed frame with the unit vector n, (1, 0, 0) and (0, 1, 0) for n = (0, 0, 1).
** They are smooth functions of n but at n = (0, 0, -1): no field on the sphere does better.
** Frisvad, Building an orthonormal basis from a 3D unit vector without normalization, 2012.
*/
void ns_contact_tangents(const double *n, double *t1, double *t2);

/*
** C (rows x nx, column-major): what C q' is, for q' = T(q) v, is the velocity of pc1 as a point of body 1 less that of
** pc2 as a point of body 2 (or 0), along nc and the tangents.
*/
void ns_contact_rows(const NsContact *contact, const double *q, double *C);

/* The gap of a ready-made shape; fills contact->frame. Returns 0; 1 when the centres of two spheres coincide. */
int ns_contact_gap(NsContact *contact, const double *q, double *gap);

/* A ready-made contact as a relation's h: value (gap, 0, 0), and C by x. The contact is borrowed. */
NsFunction ns_contact_function(NsContact *contact);

#endif

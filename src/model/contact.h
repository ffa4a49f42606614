/*
** contact.h
** Contact frames in space and in the plane: the Jacobian from the velocities of rigid bodies to the velocity at the contact, and the gaps
** of ready-made shapes.
*/
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/function.h"
#include "contact/surface.h"

/*
** X(NAME): model/shape/NAME.c (features.c: the shapes of corners, edges, faces and rims) defines `const NsShapeClass ns_shape_NAME`. To add a shape: write
** its file, and add its name here. The first one is the callback computeh, which sets the frame itself.
*/
#define NS_SHAPE_LIST(X)                                                                                                       \
  X(computeh)                                                                                                                  \
  X(sphere_plane)                                                                                                              \
  X(sphere_sphere)                                                                                                             \
  X(corner_plane)                                                                                                              \
  X(cap_plane)                                                                                                                 \
  X(point_face)                                                                                                                \
  X(face_point)                                                                                                                \
  X(point_line)                                                                                                                \
  X(line_point)                                                                                                                \
  X(point_point)                                                                                                               \
  X(line_line)                                                                                                                 \
  X(line_face)                                                                                                                 \
  X(face_line)                                                                                                                 \
  X(ring_face)                                                                                                                 \
  X(face_ring)                                                                                                                 \
  X(ring_line)                                                                                                                 \
  X(line_ring)                                                                                                                 \
  X(ring_point)                                                                                                                \
  X(point_ring)                                                                                                                \
  X(ring_ring)

enum {
#define X(name) NS_SHAPE_AT_##name,
  NS_SHAPE_LIST(X)
#undef X
      NS_SHAPES
};

/* The most rows of a contact, and those of a contact in the plane. */
enum { NS_CONTACT_ROWS = 6, NS_CONTACT_PLANE_ROWS = 2 };

/* The touching points pc1 of body 1 and pc2 of body 2 (or the world), and the unit normal nc, which points to body 1. */
typedef struct NsContactFrame {
  double pc1[3], pc2[3], nc[3];
} NsContactFrame;

/*
** A contact between a body and the world, or between two bodies. A body has 7 coordinates (position; unit quaternion, scalar
** first), a particle has 3; nx counts all. `rows` is 1 (the normal), 3 (with two tangents) or 5 (with the angular velocities about these), or 6 (also about the normal). With 2 rows,
** the normal (n_x, n_y) and the tangent (n_y, -n_x), it is a contact in the plane of bodies with the coordinates (x, y, angle), and shapes see
** their places with z = 0. `frame` holds the frame of the last evaluation.
*/
typedef struct NsContact {
  int shape; /* index in ns_shape_classes */
  int rows, nx;
  double R1, R2, L1, L2;                                    /* L1, L2: lengths of edges; 0: without an end */
  double corner[3], along[3], point[3], normal[3], side[3]; /* along, normal, side: unit vectors */
  NsContactFrame frame;
  NsSurface surface; /* that which a ball or a capsule goes on along beyond the features */

  /* the last evaluation of a ready-made shape; whoever changes the numbers above, or nx, sets `known` to false */
  struct {
    bool known;
    double at[14], gap;
    NsContactFrame frame;
  } last;
} NsContact;

/*
** What a shape is made of: a member of NsContact, under its name for scripts. RADIUS: positive; ROUNDING: 0 or more, 0 when it is not given; POINT;
** DIRECTION: its length becomes 1.
*/
typedef enum NsShapeKind { NS_SHAPE_RADIUS, NS_SHAPE_ROUNDING, NS_SHAPE_POINT, NS_SHAPE_DIRECTION } NsShapeKind;
typedef struct NsShapeNumber {
  const char *name;
  NsShapeKind kind;
  size_t offset; /* in NsContact */
} NsShapeNumber;
enum { NS_SHAPE_NUMBERS = 8 };

struct NsShapeCurve; /* model/shape/shape.h */

/* A shape: a pair of bodies, or a body and the world, that touch. */
typedef struct NsShapeClass {
  const char *name;
  int bodies;  /* 1, 2; 0: both are possible */
  bool turns;  /* the bodies need quaternions */
  bool slides; /* the touching point slides along a body: the rate of the gap is not the velocity of the bodies' points there */
  NsShapeNumber numbers[NS_SHAPE_NUMBERS]; /* the list ends with it, or before, at a name that is NULL */

  /* The gap at q, and contact->frame. 1: there is none at q, `failure` tells why. NULL: computeh sets the frame. */
  int (*gap)(NsContact *contact, const double *q, double *gap);
  const char *failure; /* NULL: it never fails */

  /* How the frame, which belongs to q, changes along w: pc1, pc2 and nc of *rate. False: unknown at q. NULL: never known. */
  bool (*rate)(const NsContact *contact, const double *q, const double *w, NsContactFrame *rate);

  /* How the rows change along w (contact->nx); rows: zeros at first. False: there are no derivatives at q. NULL: there are never. */
  bool (*curve)(const NsContact *contact, const double *q, const double *w, struct NsShapeCurve *rows);
} NsShapeClass;

extern const NsShapeClass *const ns_shape_classes[NS_SHAPES];

static inline const NsShapeClass *ns_contact_shape(const NsContact *contact) {
  return ns_shape_classes[contact->shape];
}

/* Whether a ready-made shape sets the frame, not computeh. */
static inline bool ns_contact_is_ready(const NsContact *contact) {
  return ns_contact_shape(contact)->gap != NULL;
}

/* The numbers of q that shapes see: in the plane the positions with z = 0, which are written to `room` (6). */
const double *ns_contact_places(const NsContact *contact, const double *q, double *room);

/* The number of bodies of a linked contact. */
int ns_contact_bodies(const NsContact *contact);

static inline bool ns_contact_in_plane(const NsContact *contact) {
  return contact->rows == NS_CONTACT_PLANE_ROWS;
}

/* Whether a shape is ready-made and fits the rows: in the plane none whose bodies need quaternions. */
bool ns_contact_takes(const NsContact *contact, int shape);

/* The index of the ready-made shape with this name that the contact takes; NS_SHAPES: there is none. */
int ns_contact_find_shape(const NsContact *contact, const char *name);

/* Whether the contact can have nx coordinates. *what: a text for messages that says which numbers of coordinates it takes. */
bool ns_contact_fits(const NsContact *contact, int nx, const char **what);

/*
** Two unit vectors that make a right-handed frame with the unit vector n: (1, 0, 0) and (0, 1, 0) for n = (0, 0, 1), (1, 0, 0) and (0, -1, 0) for
** n = (0, 0, -1). A field of tangents that is smooth on the whole sphere does not exist (Poincare 1885). Those of Frisvad, Building an
** orthonormal basis from a 3D unit vector without normalization, 2012, turn twice around (0, 0, -1), which is the normal of each body that
** another one lies on: rounding would turn them from one iterate to the next. So they hold where n_z >= NS_TANGENTS_BELOW. Below that they
** turn by the angle of f = w^2 - c (1 + 4 i |w|^2 / RIM), where c = APART (1 - |w|^2 / RIM)^2 and w is stereographic,
** w = (n_x + i n_y) / (1 - n_z): |w|^2 = RIM at n_z = BELOW, and f has two simple roots at |w| = 0.28, 31 degrees from (0, 0, -1), and
** 22 degrees beside the plane of x and z: no common direction.
*/
#define NS_TANGENTS_BELOW (-0.5)
#define NS_TANGENTS_RIM   (1. / 3)
#define NS_TANGENTS_APART 0.1
void ns_contact_tangents(const double *n, double *t1, double *t2);

/*
** Writes C (rows x nx, column-major) so that, for q' = T(q) v, C q' = (v1 - v2) along nc and the tangents: v1 is the velocity
** of pc1 as a point of body 1, v2 the velocity of pc2 as a point of body 2 (the world: 0); and of 5 or 6 rows those behind the third one
** belong to the angular velocity w1 - w2 along the tangents and the normal.
*/
void ns_contact_rows(const NsContact *contact, const double *q, double *C);

/*
** The same of ready-made contacts, without C: u (rows) = v1 - v2 at q, for the velocities v[0], v[1] of the bodies (3 of a position and 3 of the turn in a
** body's own axes; a particle has 3, and a body in the plane). Evaluates the frame, unless the last evaluation was there. 1: there is none at q.
*/
int ns_contact_velocity(NsContact *contact, const double *q, const double *const *v, double *u);

/*
** Of the first row at q, unless it is not there (1): own (2): what each body adds to its velocity; *terms: the sum of the sizes of the terms of C q.
*/
int ns_contact_gap_terms(NsContact *contact, const double *q, const double *const *v, double *own, double *terms);

/*
** bias (rows) += the derivative of C(q + s w) w by s at s = 0, of a ready-made contact, exactly. False: the shape does not tell it at q;
** then nothing is added.
*/
bool ns_contact_add_bias(NsContact *contact, const double *q, const double *w, double *bias);

/*
** A length that is not below the arms of the frame, from the bodies' positions to the touching points. `at`: of the frame at q, which relations that share
** the contact may have left elsewhere; 0 where a ready-made one has no gap.
*/
double ns_contact_lever(const NsContact *contact, const double *q);
double ns_contact_lever_at(NsContact *contact, const double *q);

/* The function h of a ready-made contact: the value is (gap, 0, ...), the Jacobian by x is C. The contact is borrowed. */
NsFunction ns_contact_function(NsContact *contact);

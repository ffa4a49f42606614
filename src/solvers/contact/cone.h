/*
** cone.h
** The cones of contacts, one table for each. To add a cone: write its NsConeClass in cone_NAME.c, add its name to NS_CONE_LIST.
*/
#pragma once

#include <math.h>
#include <stdbool.h>

/* X(NAME): cone_NAME.c defines `const NsConeClass ns_cone_NAME`. A cone stands behind those that embed into it. */
#define NS_CONE_LIST(X)                                                                                                        \
  X(plane)                                                                                                                     \
  X(space)                                                                                                                     \
  X(rolling_plane)                                                                                                             \
  X(spinning_space)                                                                                                            \
  X(rolling_space)                                                                                                             \
  X(rolling_spinning)

/* The most discs and rows of a cone. */
enum { NS_CONE_DISCS = 3, NS_CONE_MOST = 1 + 2 * NS_CONE_DISCS };

typedef struct NsConeClass NsConeClass;

/* A contact alone: its diagonal block of W (column-major, borrowed), and what the cone's `prepare` computes from it. */
typedef struct NsConeContact {
  const NsConeClass *cone;
  const double *W;
  double inverse[9]; /* the inverse of a block of 2 or 3 rows, if it is regular */
  double mu[NS_CONE_DISCS], rho;
  bool regular;
} NsConeContact;

/*
** The forces of a contact: a normal r_0 >= 0, and discs |r_D| <= mu_D r_0, of one row (an interval) or of two. The law: a
** contact is open (r = 0, u_0 >= 0) or closed (u_0 = 0); in each disc of a closed one u_D = 0, or r_D = -mu_D r_0 u_D / |u_D|.
** Rows of the first disc have the unit of the normal; each further disc has a unit of its own, in which its mu counts.
*/
struct NsConeClass {
  const char *name; /* of the function in ns.numerics that solves contacts of this cone alone */
  int dim;          /* number of rows */
  int discs;
  int first[NS_CONE_DISCS + 1];           /* the first row of each disc, then dim */
  const char *coefficient[NS_CONE_DISCS]; /* the names of the mu in scripts */
  unsigned takes; /* NS_TAKES_PLANE if all discs are intervals, else NS_TAKES_SPACE: what a method must take */

  /* Moves x to the nearest point of the cone. ns_cone_project does it for every cone. */
  void (*project)(const NsConeClass *cone, const double *mu, double *x);

  /*
  ** The natural map x = P(r, u): r = P if and only if r, u obey the law. rho: the step length. ns_cone_clip and ns_cone_shift do
  ** it for every cone.
  */
  void (*natural)(const NsConeClass *cone, const double *mu, double rho, const double *r, const double *u, double *x);

  /* Prepares c, whose other members are set. NULL: nothing to do. */
  void (*prepare)(NsConeContact *c);

  /*
  ** Solves u = W r + b with the law for one contact. On entry r is the previous force. Of several solutions the choice is: the
  ** one with the modes of r; else the first of open, stick, slide; of sliding ones the nearest to r. False: none is found, and
  ** r is a step from the previous force (ns_cone_contact_step).
  */
  bool (*solve)(const NsConeContact *c, const double *b, double *r);
};

#define X(name) extern const NsConeClass ns_cone_##name;
NS_CONE_LIST(X)
#undef X

/* The index of each cone in ns_cones, and their number. */
enum {
#define X(name) NS_CONE_AT_##name,
  NS_CONE_LIST(X)
#undef X
      NS_CONES
};
extern const NsConeClass *const ns_cones[NS_CONES];

/* The cone with this number of rows and of discs; NULL: there is none. */
const NsConeClass *ns_cone_find(int dim, int discs);

/* The index in ns_cones. */
int ns_cone_index(const NsConeClass *cone);

/*
** The first cone into which a and b embed: its discs are as many, and each is as large, so that rows which a contact lacks are
** added to it. a NULL: b. NULL: there is none.
*/
const NsConeClass *ns_cone_join(const NsConeClass *a, const NsConeClass *b);

/* The row of cone `into` that row i of a contact of `cone` becomes; and the inverse, -1 for a row that is added. */
int ns_cone_embed(const NsConeClass *cone, const NsConeClass *into, int i);
int ns_cone_source(const NsConeClass *cone, const NsConeClass *into, int i);

/* The number of rows of disc k, and the length of the vector x in it. */
static inline int ns_cone_width(const NsConeClass *cone, int k) {
  return cone->first[k + 1] - cone->first[k];
}
static inline double ns_disc_length(const double *x, int width) {
  return width > 1 ? sqrt(x[0] * x[0] + x[1] * x[1]) : fabs(x[0]);
}

/* sum mu_D |u_D| */
double ns_cone_slip(const NsConeClass *cone, const double *mu, const double *u);

/* The function `project` of a cone. */
void ns_cone_project(const NsConeClass *cone, const double *mu, double *x);

/* Moves x into the cone: the normal to at least 0, then each disc to its bound. */
void ns_cone_admit(const NsConeClass *cone, const double *mu, double *x);

/*
** Natural maps. clip: r - rho u, its normal moved to at least 0, then each disc to its bound. shift: the projection of
** r - rho (u + sum mu_D |u_D| e_0) on the cone. Acary, Bremond and Huber 2018 (friction.h), section 3; De Saxce and Feng, Math.
** Comput. Modelling 28, 1998.
*/
void ns_cone_clip(const NsConeClass *cone, const double *mu, double rho, const double *r, const double *u, double *x);
void ns_cone_shift(const NsConeClass *cone, const double *mu, double rho, const double *r, const double *u, double *x);

/*
** The Alart-Curnier map F = r - P(r - rho u) of a contact, where P moves the normal to at least 0 and then each disc to its
** bound; `point` = P, and its derivative D (dim x dim, column-major) for Newton's method. Alart and Curnier, Comput. Methods
** Appl. Mech. Engrg. 92, 1991.
*/
typedef struct NsConePiece {
  double F[NS_CONE_MOST], point[NS_CONE_MOST], D[NS_CONE_MOST * NS_CONE_MOST];
} NsConePiece;
void ns_cone_piece(const NsConeClass *cone, const double *mu, double rho, const double *r, const double *u, NsConePiece *out);

/* to = z moved to the modes that `piece` has: 0 if it is open; each disc as it is if it sticks, else to its bound. */
void ns_cone_snap(const NsConeClass *cone, const double *mu, const NsConePiece *piece, const double *z, double *to);

/* Fills c for a block W of a contact. rho: the step length of the natural map (ns_mixed_prepare). */
void ns_cone_contact_set(NsConeContact *c, const NsConeClass *cone, const double *W, const double *mu, double rho);

/* The function `solve` of cones that have no closed form: see cone_rolling_space.c. */
bool ns_cone_contact_newton(const NsConeContact *c, const double *b, double *r);

/* A projected step r - rho (u + sum mu_D |u_D| e_0) from r, for blocks without a solution. */
void ns_cone_contact_step(const NsConeContact *c, const double *b, double *r);

/* Solves A x = b for n <= NS_CONE_MOST unknowns (A: n x n, column-major, destroyed; x: b, then x). False: A is singular. */
bool ns_cone_linear(int n, double *A, double *x);

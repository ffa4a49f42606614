/*
** mixed_methods.h
** The methods behind mixed.h, each for what it can take. Private to mixed*.c.
*/
#ifndef NS_SOLVERS_CONTACT_MIXED_METHODS_H
#define NS_SOLVERS_CONTACT_MIXED_METHODS_H

#include <math.h>

#include "base/arena.h"
#include "linalg/sparse_lu.h"
#include "solvers/box/active.h"
#include "solvers/box/box_solver.h"
#include "solvers/contact/friction_local.h"
#include "solvers/contact/mixed_measure.h"

/* ---- mixed_chain.c ---- */

/* Solves one problem after another; its memory grows with them. */
typedef struct NsMixedChain NsMixedChain;

/* NS_ENOMEM; *out is NULL on failure. */
NsStatus ns_mixed_chain_new(NsMixedChain **out);
void ns_mixed_chain_free(NsMixedChain *chain);
NsMixedOptions *ns_mixed_chain_options(NsMixedChain *chain);

/* As ns_mixed_solve for a connected problem in balanced units, whose data were checked. */
NsStatus ns_mixed_chain_solve(NsMixedChain *chain, const NsMixedProblem *p, const NsMixedKinds *kinds, const double *guess,
                              double *z, double *w, NsSolverInfo *info);

/* Whether z, in place of the answer of the problem just solved, is good enough; w is work. */
bool ns_mixed_chain_holds(NsMixedChain *chain, const NsMixedProblem *p, const NsMixedKinds *kinds, const double *z, double *w);

/* The steps rho (ngroups) of the last problem with contacts. */
const double *ns_mixed_chain_steps(const NsMixedChain *chain);

/* ---- mixed_scale.c ---- */

/* Some groups of a problem, closed under what W connects, in units of their own: w' = 2^unit_w w, z' = 2^unit_z z. */
typedef struct NsMixedScaled {
  NsArena arena;
  int capacity;
  ptrdiff_t room;   /* entries of W */
  NsMixedProblem p; /* points at what follows */
  NsMixedGroup *groups;
  int *row;                     /* of the given problem */
  int *unit_w, *unit_z, *place; /* by rows; place of a given row among them */
  double *W, *q, *guess, *z, *w;
  NsSparse *sparse;
} NsMixedScaled;

/*
** Fills s with the groups group[0 .. count - 1] (increasing) of p, whose rows start at first[g]; units only where there
** is a contact: then every group's own block is near 1 (rows and columns alike) and the largest of q and the bounds is
** 1/2 .. 1. Makes room when it is larger than any before. NS_ENOMEM, NS_ETOOLARGE.
*/
NsStatus ns_mixed_scale(NsMixedScaled *s, const NsMixedProblem *p, const int *first, const int *group, int count, bool contacts,
                        const double *guess);
void ns_mixed_scaled_release(NsMixedScaled *s);

/* ---- mixed_system.c ---- */

/* J = A W + B, A and B diagonal by groups, W sparse: the pattern of whole blocks, its analysis, its factors. */
typedef struct NsMixedSystem {
  NsArena arena;
  int capacity;
  int *group, *first, *mark; /* group of a row, first row of a group; work */
  NsSparse *J;
  NsSparseLu *lu;
} NsMixedSystem;

/* The pattern for p; analysed anew only when it is another than before. NS_ENOMEM, NS_ETOOLARGE. */
NsStatus ns_mixed_system_begin(NsMixedSystem *system, const NsMixedProblem *p);

/* Factors J; the block (dim x dim, column-major) of group g is at 9 g. NS_ESINGULAR, NS_ENAN, NS_ENOMEM. */
NsStatus ns_mixed_system_factor(NsMixedSystem *system, const NsMixedProblem *p, const double *A, const double *B);
void ns_mixed_system_solve(NsMixedSystem *system, int n, double *x);
void ns_mixed_system_release(NsMixedSystem *system);

/* ---- methods; z holds a point and becomes the answer, or what the method ends with ---- */

/* Zero-initialised valid, grown by the method, released by ns_mixed_*_release. */
typedef struct NsMixedNewton {
  NsArena arena;
  NsMixedSystem system; /* of a sparse problem */
  double *A, *B;
  int sparse_capacity;
  NsLu *lu;
  int capacity;
  double *J, *F, *point, *at, *candidate, *w, *best;
} NsMixedNewton;

/*
** Semismooth Newton on the natural map of rows and that of Alart and Curnier of contacts, at most `steps` from z, dense
** or, where a sparse W of more than NS_MIXED_DENSE_ROWS rows is given, by sparse factors; then z is the best point seen
** and w its output. NS_OK when its measure is within tolerance, after as many steps as make it smaller unless v->early;
** NS_ENOCONV, NS_EMAXITER, NS_ENOMEM.
** Alart and Curnier, Comput. Methods Appl. Mech. Engrg. 92, 1991.
*/
NsStatus ns_mixed_newton(NsMixedNewton *newton, const NsMixedView *v, int steps, double *z, double *w, NsSolverInfo *info);
void ns_mixed_newton_release(NsMixedNewton *newton);

typedef struct NsMixedPlane {
  NsArena arena;
  NsBox *box;
  int capacity;
  int *first;
  double *M, *q, *lower, *upper, *guess, *y, *w;
} NsMixedPlane;

/* Contacts in the plane and rows, dense W, as one box problem; its status. */
NsStatus ns_mixed_plane(NsMixedPlane *plane, const NsMixedView *v, double *z, NsSolverInfo *info);
void ns_mixed_plane_release(NsMixedPlane *plane);

typedef struct NsMixedInterior {
  NsArena arena;
  NsMixedSystem system;
  int capacity;
  double *x, *y, *dx, *dy, *c;  /* 3 by groups: the pairs, the step, what their products are to change by */
  double *A, *B;                /* 9 by groups */
  double *z, *w, *step, *shift; /* n; shift: what is added to q, or the centre of a proximal step */
  bool associated;
  double weight; /* of a proximal step; 0: none */
  double extra;  /* added to W, in its own units */
} NsMixedInterior;

/*
** Rows and contacts in the plane, sparse W: the complementarity problem in r_n, mu r_n + r_T, mu r_n - r_T >= 0 and u_n,
** u_T+, u_T- >= 0, u_T = u_T+ - u_T-, by Mehrotra's predictor and corrector without a feasible start, each step from
** W + D with D diagonal by groups, from z moved into the cones. z becomes a point near a solution, for Newton to finish.
** After short steps more is added to W for the step, up to 1e-3 of the contacts' own blocks. NS_OK when it is measured
** within 1e-13 (v->early: within tolerance), or the products are zero to rounding; NS_EMAXITER, NS_ENOCONV, NS_ENOMEM,
** NS_EINTR; NS_ESIZE for contacts in space or a dense W.
** Mehrotra, SIAM J. Optim. 2, 1992; Wright, Primal-Dual Interior-Point Methods, 1997, chapters 8 and 10.
*/
NsStatus ns_mixed_interior(NsMixedInterior *interior, const NsMixedView *v, double *z, NsSolverInfo *info);

/*
** The same method for the associated problem, u_n + mu |u_T| at the z given, -(u + mu |u_T| e_n) normal to the cone at
** r: convex where W is positive semidefinite, and with the solution as its fixed point; one round.
** De Saxce and Feng, Math. Comput. Modelling 28, 1998; Acary, Cadoux, Lemarechal and Malick, ZAMM 91, 2011.
*/
NsStatus ns_mixed_associated(NsMixedInterior *interior, const NsMixedView *v, double *z, NsSolverInfo *info);

/*
** The same method for the problem with weight / rho (z - the z given) added to w: one step of the proximal point
** method, NS_OK when the products are as small as they get and at most 1e-14 of their scale.
** Rockafellar, SIAM J. Control Optim. 14, 1976.
*/
NsStatus ns_mixed_proximal(NsMixedInterior *interior, const NsMixedView *v, double weight, double *z, NsSolverInfo *info);
void ns_mixed_interior_release(NsMixedInterior *interior);

/* Some of the equations solved for as many of their unknowns: rows[k] gives z[cols[k]]. */
typedef struct NsMixedReduction {
  NsArena arena;
  NsLu *lu; /* of the block of rows and cols */
  int capacity, rank, equations;
  int *rows, *cols;
  double *A, *b; /* n x n, n: W and q with those unknowns eliminated; columns cols are as they were */
  double *block, *X, *scale;
} NsMixedReduction;

/*
** Eliminates the unknowns of the equations from the dense W. Where their block is singular as many as it has rank, the
** others staying at z, and *all is false: the equations left over may not hold. NS_ENOMEM, NS_ETOOLARGE.
*/
NsStatus ns_mixed_reduce(NsMixedReduction *reduction, const NsMixedProblem *p, const double *z, bool *all);

/* Sets the eliminated unknowns of z so that their equations hold; w is work and w = W z + q after it. */
void ns_mixed_recover(const NsMixedReduction *reduction, const NsMixedProblem *p, double *z, double *w);
void ns_mixed_reduction_release(NsMixedReduction *reduction);

/* A chain for contacts and its matrix. */
typedef struct NsMixedSlot {
  struct NsFrictionChain *chain;
  struct NsBlock *W;
} NsMixedSlot;

/*
** Contacts of one dimension alone, of which v says that they are connected and in balanced units, by the chain of
** friction_chain.h; its status and info.
*/
typedef struct NsMixedContacts {
  NsMixedSlot slot[2][NS_MIXED_SLOTS + 1]; /* by dim - 2 and by contacts, of full pattern; 0: all larger ones */
  NsArena arena;
  int capacity;
  double *mu;
} NsMixedContacts;

NsStatus ns_mixed_contacts(NsMixedContacts *contacts, const NsMixedView *v, double *z, double *w, NsSolverInfo *info);
void ns_mixed_contacts_release(NsMixedContacts *contacts);

typedef struct NsMixedEmbed {
  NsArena arena;
  int capacity;
  NsMixedReduction reduction;
  NsMixedScaled scaled;
  NsMixedContacts contacts;
  int *place;            /* n: where z_i is among the unknowns of the contacts; -1 nowhere */
  double *sign, *offset; /* n: z_i = offset_i + sign_i r_place */
  double *q, *guess, *r, *rho, *w;
  NsMixedGroup *groups;
  int *first, *number; /* of the groups */
  NsArena matrix;
  int order;        /* that W has room for */
  double *W;        /* the embedded matrix, dense */
  NsSparse *sparse; /* or sparse */
} NsMixedEmbed;

/*
** As contacts of dimension kinds.dim: equations eliminated, other rows as contacts without friction (one bound) or with
** a given normal force (two bounds), missing tangents added. *exact: the embedded problem has a solution if and only if
** the problem has. NS_ESIZE when the equations are too many to eliminate; else the status of the friction solver.
*/
NsStatus ns_mixed_embed(NsMixedEmbed *embed, const NsMixedView *v, double *z, bool *exact, NsSolverInfo *info);
void ns_mixed_embed_release(NsMixedEmbed *embed);

typedef struct NsMixedSweeps {
  NsArena arena;
  int capacity, groups;
  NsContact *contact;         /* groups */
  double *block;              /* 9 groups */
  double *before, *direction; /* capacity: of conjugate gradients */
} NsMixedSweeps;

/* Gauss-Seidel sweeps over the groups, forwards and backwards in turn, until the measure is within tolerance. */
NsStatus ns_mixed_sweeps(NsMixedSweeps *sweeps, const NsMixedView *v, int count, double *z, double *w, NsSolverInfo *info);
/*
** Sweeps as the steps of a nonlinear conjugate gradient method: after each the point goes on along the directions of
** those before, beta of Fletcher and Reeves, unless the sweep has changed more than the last. NS_OK when the measure is
** within tolerance, before `least` sweeps within a tenth of it; NS_EMAXITER, NS_ENOCONV, NS_EINTR, NS_ENOMEM.
** Silcowitz, Niebe and Erleben, Visual Computer 26, 2010.
*/
NsStatus ns_mixed_conjugate(NsMixedSweeps *sweeps, const NsMixedView *v, int least, int count, double *z, double *w,
                            NsSolverInfo *info);
void ns_mixed_sweeps_release(NsMixedSweeps *sweeps);

#endif

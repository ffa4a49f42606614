/*
** boundary.h
** Boundary conditions: prescribed velocities of a mechanical system.
*/
#pragma once

#include "model/class.h"
#include "model/coef.h"

/*
** X(NAME): `const NsModelClass ns_boundary_NAME`; its name in scripts is `ns_boundary_NAME_text`. The velocity is: general:
** numbers or a function of time; fixed: 0; harmonic: a + b cos(omega t + phi).
*/
#define NS_BOUNDARY_LIST(X)                                                                                                    \
  X(general)                                                                                                                   \
  X(fixed)                                                                                                                     \
  X(harmonic)

#define X(name)                                                                                                                \
  extern const NsModelClass ns_boundary_##name;                                                                                \
  extern const char ns_boundary_##name##_text[];
NS_BOUNDARY_LIST(X)
#undef X

/* The index of each class in ns_boundary_classes, and the number of classes. */
enum {
#define X(name) NS_BOUNDARY_AT_##name,
  NS_BOUNDARY_LIST(X)
#undef X
      NS_BOUNDARY_CLASSES
};
extern const NsModelClass *const ns_boundary_classes[];

/* v[index[i]] = velocity[i] at the end of every step. Systems may share one; it is counted by reference (`keepers`). */
typedef struct NsBoundary {
  const NsModelClass *class;
  char name[NS_NAME_SIZE];
  int n;            /* how many velocities */
  int *index;       /* n different indices, from 0 */
  NsCoef velocity;  /* n: constant, shared, or a function of time */
  double *harmonic; /* nharmonic = 4 n: a, b, omega, phi of a + b cos(omega t + phi); NULL: not harmonic */
  int nharmonic;
  int keepers; /* number of references */
} NsBoundary;

/* Makes a boundary condition with velocities 0; the caller holds the one reference. NS_ENOMEM. */
NsStatus ns_boundary_new(NsBoundary **boundary, const NsModelClass *class, int n, const int *index);

/* Adds a reference; drops one, and frees with the last. NULL is allowed. */
void ns_boundary_keep(NsBoundary *boundary);
void ns_boundary_free(NsBoundary *boundary);

/* Set the velocities: n numbers; a + b cos(omega t + phi) (4 n parameters, copied); a function of time. NS_ENOMEM. */
NsStatus ns_boundary_set_values(NsBoundary *boundary, NsSource source);
NsStatus ns_boundary_set_harmonic(NsBoundary *boundary, const double *parameters);
NsStatus ns_boundary_set_function(NsBoundary *boundary, NsFunction function);

/* Keeps the present velocities as constants. Called before their source or function is destroyed. */
void ns_boundary_freeze(NsBoundary *boundary);

/* The largest index; -1 when there is none. */
int ns_boundary_last(const NsBoundary *boundary);

/* Brings the velocities to time t; `owner` is the system's name. NS_ENAN, NS_ECALLBACK. */
NsStatus ns_boundary_update(NsBoundary *boundary, const char *owner, double t, NsError *err);

/*
** I is the set of indices; a NULL boundary does nothing. impose: v[I] = velocity. hold: w[I] = 0. pick: out (n) = w[I].
** isolate: rows and columns I of W (nv x nv) become rows and columns of the identity.
*/
void ns_boundary_impose(const NsBoundary *boundary, double *v);
void ns_boundary_hold(const NsBoundary *boundary, double *w);
void ns_boundary_isolate(const NsBoundary *boundary, int nv, double *W);
void ns_boundary_pick(const NsBoundary *boundary, const double *w, double *out);

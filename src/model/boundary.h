/*
** boundary.h
** Boundary conditions: velocities of a mechanical system that are prescribed.
*/
#ifndef NS_MODEL_BOUNDARY_H
#define NS_MODEL_BOUNDARY_H

#include "model/class.h"
#include "model/coef.h"

/*
** X(name): each is `const NsModelClass ns_boundary_NAME`, whose name for scripts is `ns_boundary_NAME_text`: numbers or a
** function of time; rest; a + b cos(omega t + phi).
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

/* The place of each in ns_boundary_classes, and how many there are. */
enum {
#define X(name) NS_BOUNDARY_AT_##name,
  NS_BOUNDARY_LIST(X)
#undef X
      NS_BOUNDARY_CLASSES
};
extern const NsModelClass *const ns_boundary_classes[];

/* v[index[i]] = velocity[i] at the end of every step. Systems may share one: it lives as long as somebody keeps it. */
typedef struct NsBoundary {
  const NsModelClass *class;
  char name[NS_NAME_SIZE];
  int n;            /* how many velocities */
  int *index;       /* n, from 0, each once */
  NsCoef velocity;  /* n: constant, shared, or a function of time */
  double *harmonic; /* nharmonic = 4 n: a, b, omega, phi of a + b cos(omega t + phi); NULL */
  int nharmonic;
  int keepers;
} NsBoundary;

/* Makes one that prescribes 0, kept by the caller alone. NS_ENOMEM. */
NsStatus ns_boundary_new(NsBoundary **boundary, const NsModelClass *class, int n, const int *index);

/* One more keeper; one less, the last of whom frees it. NULL is fine. */
void ns_boundary_keep(NsBoundary *boundary);
void ns_boundary_free(NsBoundary *boundary);

/* What is prescribed: numbers, a + b cos(omega t + phi) (4 n numbers, copied), a function of time. NS_ENOMEM. */
NsStatus ns_boundary_set_values(NsBoundary *boundary, NsSource source);
NsStatus ns_boundary_set_harmonic(NsBoundary *boundary, const double *parameters);
NsStatus ns_boundary_set_function(NsBoundary *boundary, NsFunction function);

/* The present velocities stay, whatever they came from, which is about to go. */
void ns_boundary_freeze(NsBoundary *boundary);

/* The largest index; -1 when there is none. */
int ns_boundary_last(const NsBoundary *boundary);

/* Brings the velocities to time t; `owner` is the system's name. NS_ENAN, NS_ECALLBACK. */
NsStatus ns_boundary_update(NsBoundary *boundary, const char *owner, double t, NsError *err);

/*
** All of these do nothing for NULL. impose: v (of a system) gets the velocities. hold: w is 0 in their rows. isolate:
** the rows and columns of W (nv x nv) become those of the identity. pick: out (n) = w in their rows.
*/
void ns_boundary_impose(const NsBoundary *boundary, double *v);
void ns_boundary_hold(const NsBoundary *boundary, double *w);
void ns_boundary_isolate(const NsBoundary *boundary, int nv, double *W);
void ns_boundary_pick(const NsBoundary *boundary, const double *w, double *out);

#endif

/*
** sundials_session.h
** Shared by IDA and CVODE: vectors, matrix, linear solver, and the last failure of an evaluation. Only for the files of the
** module.
*/
#pragma once

#include <math.h>
#include <nvector/nvector_serial.h>
#include <sundials/sundials_context.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include "base/engine.h"

enum { NS_SUNDIALS_VECTORS = 5 };

typedef struct NsSundials {
  SUNContext context;
  N_Vector vector[NS_SUNDIALS_VECTORS]; /* NULL: not wanted */
  SUNMatrix J;                          /* dense, with its solver; NULL: not wanted */
  SUNLinearSolver solver;
  NsError trouble; /* the last failure of an evaluation, at t_trouble */
  double t_trouble;
  bool failed; /* whether the last evaluation failed */
} NsSundials;

/* Makes the context and the first `count` vectors, of n zeros each. False: there is no memory. */
static inline bool ns_sundials_open(NsSundials *s, int n, int count) {
  bool good = SUNContext_Create(NULL, &s->context) == 0;
  for (int i = 0; i < count && good; i++) {
    s->vector[i] = N_VNew_Serial(n, s->context);
    good = s->vector[i] != NULL;
    if (good) N_VConst(0, s->vector[i]);
  }
  return good;
}

static inline bool ns_sundials_take_matrix(NsSundials *s, int n) {
  s->J = SUNDenseMatrix(n, n, s->context);
  if (s->J) s->solver = SUNLinSol_Dense(s->vector[0], s->J, s->context);
  return s->solver != NULL;
}

/* Frees everything; the solver's own memory, which uses it, must be freed before. */
static inline void ns_sundials_close(NsSundials *s) {
  if (s->solver) SUNLinSolFree(s->solver);
  if (s->J) SUNMatDestroy(s->J);
  for (int i = 0; i < NS_SUNDIALS_VECTORS; i++)
    if (s->vector[i]) N_VDestroy(s->vector[i]);
  if (s->context) SUNContext_Free(&s->context);
}

/* Records how an evaluation at t ended. Returns the library's code: 0 good, 1 try a shorter step, -1 stop. */
static inline int ns_sundials_answer(NsSundials *s, double t, NsStatus status) {
  s->failed = status != NS_OK;
  if (s->failed) s->trouble.status = status, s->t_trouble = t;
  return status == NS_OK ? 0 : status == NS_ENAN || status == NS_ERETRY ? 1 : -1;
}

/* Reports the recorded failure as the reason why the run ended. */
static inline NsStatus ns_sundials_blame(const NsSundials *s, NsError *err) {
  if (err) *err = s->trouble;
  return s->trouble.status == NS_ERETRY ? NS_ECALLBACK : s->trouble.status;
}

/* Whether the last failed evaluation was close to t: steps that hardly advance are then due to it. */
static inline bool ns_sundials_blocked(const NsSundials *s, double t) {
  return s->trouble.status != NS_OK && fabs(s->t_trouble - t) <= 1e-8 * fabs(t);
}

/* An error handler that prints nothing: the library's own writes to stderr. */
static inline void ns_sundials_say_nothing(int code, const char *module, const char *function, char *message, void *context) {
  (void)code, (void)module, (void)function, (void)message, (void)context;
}

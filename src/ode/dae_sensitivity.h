/*
** dae_sensitivity.h
** Derivatives of the solution of F(t, y, y', parameters) = 0 by parameters, beside the steps of its solver.
*/
#pragma once

#include "ode/dae_method.h"

/*
** S = dy/dparameters (n x p, column-major) obeys the linear equations dF/dy' S' = -dF/dy S - dF/dparameters along the solution.
** variational.h integrates them by Radau IIA along the last step of the solver, one step after the other, with their own error
** control. The solver is only read: its steps are the same as without S. Hairer and Wanner II, section VI.1; Cao, Li, Petzold and
** Serban, SIAM J. Sci. Comput. 24(3), 2003.
*/
typedef struct NsDaeSensitivityProblem {
  const NsDaeMethod *method;
  const void *solver; /* borrowed; it has been started */
  NsDaeProblem dae;   /* what the solver solves: n, residual, rtol, atol and index are used; copied, its arrays borrowed */
  int p;              /* at least 1 */

  /* P (n x p; it arrives zeroed) = dF/dparameters. NULL: 0. It fails as the residual does. */
  NsStatus (*by_parameters)(void *context, double t, const double *y, const double *yd, double *P, NsError *err);

  /*
  ** All Jacobians at once: Fyd = dF/dy' and Fy = dF/dy (n x n), P as above (NULL: not wanted). *known false: it can not tell them here, and
  ** the Jacobians of the residual and by_parameters are taken. NULL: it never can.
  */
  NsStatus (*jacobians)(void *context, double t, const double *y, const double *yd, double *Fyd, double *Fy, double *P,
                        bool *known, NsError *err);
  void *context;
  double rtol; /* of S (variational.h); 0: the solver's rtol, 1e-13 at least */
  /*
  ** p: the parameters, read now; NULL: all 0. A column is not resolved below a rounding of its unknowns for a change of the parameter by itself:
  ** what y and the equations tell of it is noise there. 0: a parameter without a size.
  */
  const double *parameters;
} NsDaeSensitivityProblem;

typedef struct NsDaeSensitivity NsDaeSensitivity;

/* NS_ENOMEM, NS_ETOOLARGE; *sensitivity is NULL on failure. */
NsStatus ns_dae_sensitivity_new(NsDaeSensitivity **sensitivity, const NsDaeSensitivityProblem *problem);
void ns_dae_sensitivity_free(NsDaeSensitivity *sensitivity);

/* Puts S (n x p, copied) at the solver's present time: at its start, and after a jump. */
void ns_dae_sensitivity_start(NsDaeSensitivity *sensitivity, const double *S);

/*
** Takes S to t, which is in the last step of the solver or at its end. NS_ENOSOL with a message that begins with "sensitivities:";
** NS_ECALLBACK, NS_EINTR, NS_ENOMEM.
*/
NsStatus ns_dae_sensitivity_reach(NsDaeSensitivity *sensitivity, double t, NsError *err);

/* S (n x p) where it is. pace (n): the largest |y'| since the last start. sizes (n): the largest |y| + atol / rtol. Owned by *sensitivity. */
const double *ns_dae_sensitivity_matrix(const NsDaeSensitivity *sensitivity);
const double *ns_dae_sensitivity_pace(const NsDaeSensitivity *sensitivity);
const double *ns_dae_sensitivity_sizes(const NsDaeSensitivity *sensitivity);

/* As ns_dae_go_to, with S. */
NsStatus ns_dae_sensitivity_go_to(NsDaeSensitivity *sensitivity, double t_stop, NsError *err);

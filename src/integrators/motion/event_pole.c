/*
** event_pole.c
** Watches for the pole of the forces while contacts slip (Painleve). With the friction that slips eliminated, the forces lambda of
** the active rows obey y'' = b + A lambda = 0, where A is not symmetric. The motion may change A until it is singular: for a single
** contact its coefficient p in y'' = b + p lambda falls to 0. Near there lambda grows without bound while b < 0, and beyond it no
** forces (b < 0) or several (b > 0) fit to the laws. The guard is det A, in the sense of the start of the mode.
** Genot and Brogliato, New results on Painleve paradoxes, Eur. J. Mech. A/Solids 18, 1999.
*/
#include <math.h>
#include <string.h>

#include "integrators/motion/event_pole.h"

#include "integrators/motion/event_active.h"

/*
** The mode ends where det A falls below this part of its value at the start of the mode, or of LARGE when that is larger. 1e-10:
** the time left to the pole is about 1e-10 of the way, which can still be resolved, and rounding of det A is 1e-15.
*/
static const double POLE = 1e-10, LARGE = 1e-3;

/* Rows count as dependent from the start below this value of det A: there is no pole to watch. */
static const double DEPENDENT = 1e-12;

/* A = H X of the active rows, in units of the rows that are powers of two; own: the product of the sums of |terms| of its A_kk. */
static void form_pole(const NsEventDriven *ed, double *A, double *own) {
  size_t n = (size_t)ed->mode->nactive;
  double *x = ed->p;
  int first = 0, exponent = 0;
  *own = 1;
  memcpy(A, ed->W, n * n * sizeof *A);
  for (size_t k = 0; k < n; k++) {
    int row = ed->mode->active[k];
    double one = 1, terms = 0;
    memset(x, 0, (size_t)ed->Nv * sizeof *x);
    ns_motion_add_input(ed->motion, 1, &row, &one, x);
    for (int j = 0; j < ed->Nv; j++) terms += fabs(ed->now->H[row + (size_t)j * (size_t)ed->m] * x[j]);
    if (terms > 0 && isfinite(terms)) (void)frexp(terms, &exponent);
    if (k == 0) first = exponent;
    int apart = exponent - first;
    double unit = ldexp(1, -(apart - (apart & 1)) / 2);
    for (size_t i = 0; i < n; i++) A[i + k * n] *= unit, A[k + i * n] *= unit;
    terms *= unit * unit;
    *own *= terms > 0 ? ldexp(terms, -first) : 1;
  }
  for (size_t k = 0; k < n * n; k++) A[k] = ldexp(A[k], -first);
}

/* det A by Gauss's elimination with row interchanges; A is destroyed. */
static double pole_determinant(int n, double *A) {
  double det = 1;
  for (int k = 0; k < n; k++) {
    int best = k;
    for (int i = k + 1; i < n; i++)
      if (fabs(A[i + k * n]) > fabs(A[best + k * n])) best = i;
    double pivot = A[best + k * n];
    det *= best == k ? pivot : -pivot;
    if (pivot == 0) return 0;
    for (int j = k; j < n; j++) {
      double swap = A[best + j * n];
      A[best + j * n] = A[k + j * n];
      A[k + j * n] = swap;
      for (int i = k + 1; i < n && j > k; i++) A[i + j * n] -= A[i + k * n] / pivot * swap;
    }
  }
  return det;
}

/* det A over the product of the sums of |terms| of its diagonal. */
static double measure_pole(const NsEventDriven *ed) {
  double own;
  form_pole(ed, ed->pole_matrix, &own);
  return pole_determinant(ed->mode->nactive, ed->pole_matrix) / own;
}

static bool contact_slips(const NsMotionMode *mode, int row) {
  return ns_motion_friction_is(mode, row, FRICTION_SLIP) && mode->rows[row].friction.normal >= 0 &&
         mode->rows[row].friction.mu > 0;
}

void ns_ed_pole_begin(NsEventDriven *ed) {
  NsMotionMode *mode = ed->mode;
  bool slips = false;
  mode->pole_size = 0;
  for (int k = 0; k < mode->nacting; k++) slips = slips || contact_slips(mode, mode->acting[k]);
  if (!slips || mode->nactive == 0) return;
  double size = measure_pole(ed);
  if (fabs(size) > DEPENDENT) mode->pole_size = size;
}

double ns_ed_pole_guard(const NsEventDriven *ed, int row) {
  (void)row;
  double size = fabs(ed->mode->pole_size), value = measure_pole(ed);
  return (ed->mode->pole_size > 0 ? value : -value) - POLE * fmax(size, LARGE);
}

int ns_ed_pole_contact(const NsEventDriven *ed) {
  const NsMotionMode *mode = ed->mode;
  int contact = -1;
  double most = 0;
  for (int k = 0; k < mode->nacting; k++) {
    int row = mode->acting[k];
    if (!contact_slips(mode, row)) continue;
    /* the powers of the contacts compare, whatever their units */
    double power = mode->rows[row].friction.mu * fabs(mode->multiplier[mode->rows[row].friction.normal]) *
                   ns_ed_sliding_speed(ed, row);
    if (contact < 0 || power > most) most = power, contact = mode->rows[row].friction.normal;
  }
  return contact;
}

/*
** modes.c
** Which modes follow at a time, verified by a finite element: in first order the choice by rates; else a guess by an implicit
** Euler step (one complementarity problem); where these fail, all modes of the rows in question.
*/
#include <math.h>
#include <string.h>

#include "integrators/fesd/fesd.h"

/* A row with |y| below this part of its terms counts as y = 0. 1e-10: located switches have y below 1e-15, data may be worse. */
static const double TIE = 1e-10;

/* Part of its terms by which y may violate its law at the start of a step; as in EventDriven. */
static const double INCONSISTENT = 1e-6;

/* Euler steps of the guesses, as parts of the length of an element. */
static const double guesses[] = {0x1p-5, 0x1p-10, 0x1p-20};

/*
** A trial element is shortened by 4 at most so many times; from WRONG on, modes whose nodes are all violated are rejected. Modes that
** are right by the rates are tried with elements down to 2^-40 of the length, where switches count as an accumulation.
*/
enum { MAX_SHORTER = 11, MAX_SHORTER_BY_RATES = 20, WRONG = 4 };

/* All modes are tried for up to so many rows: 3^6 = 729 trials. */
enum { MAX_ENUMERATED = 6 };

/* ---- the start of a step ---- */

/* Whether y of a row depends on a state whose derivative is in no equation; such states need not be consistent at the start. */
static bool on_algebraic(const NsFesd *w, int row) {
  for (int j = 0; j < w->N; j++) {
    bool derivative = false;
    for (int i = 0; i < w->N && !derivative; i++) derivative = w->point.M[i + (size_t)j * (size_t)w->N] != 0;
    if (!derivative && w->point.C[row + (size_t)j * (size_t)w->m] != 0) return true;
  }
  return false;
}

/* Whether y of a row is not determined by the differential states alone. */
static bool row_is_direct(const NsFesd *w, int row) {
  for (int j = 0; j < w->m; j++)
    if (w->point.D[row + (size_t)j * (size_t)w->m] != 0) return true;
  return on_algebraic(w, row);
}

static const char *fesd_row_name(const NsFesd *w, int row) {
  int first;
  return w->base.nsds->interactions[ns_fesd_interaction(w, row, &first)]->name;
}

/* The mode that belongs to a multiplier. */
static int mode_by_lambda(double lambda, double lower, double upper) {
  return lambda <= lower ? MODE_LOWER : lambda >= upper ? MODE_UPPER : MODE_ACTIVE;
}

static void begin_row(NsFesd *w, int row) {
  const NsFesdRows *rows = &w->rows;
  double y = w->end.y[row], size = w->end.y_size[row];
  bool has_lower = isfinite(w->end.lower[row]), has_upper = isfinite(w->end.upper[row]);
  rows->mode[row] = mode_by_lambda(w->end.lambda[row], w->end.lower[row], w->end.upper[row]);
  if (w->end.lower[row] == w->end.upper[row] && !rows->fixed[row]) rows->mode[row] = MODE_ACTIVE; /* moving bounds meet */
  rows->clear[row] = 0;
  rows->tie[row] = (has_lower || has_upper) && !rows->fixed[row];
  if (size < NS_FESD_FADED || row_is_direct(w, row)) return;
  if ((y > INCONSISTENT * size && !has_lower) || (y < -INCONSISTENT * size && !has_upper)) w->broken = true;
  if (y > TIE * size && has_lower) rows->mode[row] = MODE_LOWER, rows->tie[row] = false;
  if (y < -TIE * size && has_upper) rows->mode[row] = MODE_UPPER, rows->tie[row] = false;
}

NsStatus ns_fesd_begin_modes(NsFesd *w, NsError *err) {
  w->anew = w->first;
  w->broken = false;
  if (w->motion) return ns_fesd_begin_contacts(w, err);
  for (int a = 0; a < w->m; a++) begin_row(w, a);
  w->anew = w->anew || w->broken;
  return NS_OK;
}

void ns_fesd_mark_ties(NsFesd *w, NsFesdGuard guard) {
  const NsFesdRows *rows = &w->rows;
  for (int a = 0; a < w->m; a++) {
    bool bounded = ns_fesd_bounded(w->end, a) && !rows->fixed[a];
    rows->clear[a] = 0;
    bool near = rows->mode[a] == MODE_ACTIVE || w->end.y_size[a] < NS_FESD_FADED || fabs(w->end.y[a]) <= TIE * w->end.y_size[a];
    rows->tie[a] = bounded && (a == guard.row || near);
  }
}

/* ---- trial elements ---- */

/* Whether a tie row is violated at the first node; *all: whether some row is violated at every node. */
static bool trial_is_bad(const NsFesd *w, const NsFesdElement *e, bool *all) {
  bool bad = false;
  *all = false;
  for (int a = 0; a < w->m; a++) {
    int node = ns_fesd_first_node(w);
    if (!w->rows.tie[a] || !ns_fesd_violated(w, e, a, node, NULL)) continue;
    bad = true;
    while (node <= w->tableau.s + 1 && ns_fesd_violated(w, e, a, node, NULL)) node++;
    if (node > w->tableau.s + 1) *all = true;
  }
  return bad;
}

/* The time from the start of an element for which its tie rows certainly keep their modes. */
static double clear_time(const NsFesd *w, const NsFesdElement *e) {
  return w->node[ns_fesd_first_node(w)] * e->h;
}

/* Tries the present modes with up to `most` elements of length h, h / 4, ... that show what they tell. *good: they can follow. */
static NsStatus try_elements(NsFesd *w, double h, int most, bool *good, NsError *err) {
  *good = false;
  for (int i = 0; i < most; i++, h /= 4) {
    bool all;
    NsFesdElement *e = ns_fesd_next(w);
    if (!e) return ns_fail(err, NS_ENOMEM, "not enough memory");
    e->h = h;
    NsStatus status = ns_fesd_solve(w, e, err);
    bool resolved = false;
    if (status == NS_OK) status = ns_fesd_resolve(w, e, &resolved, err);
    if (!ns_fesd_worth_retrying(status)) return status;
    if (!resolved || e->pieces > 1) continue;
    *good = !trial_is_bad(w, e, &all);
    for (int a = 0; a < w->m; a++)
      if (w->rows.tie[a]) w->rows.clear[a] = clear_time(w, e);
    w->solved = *good && i == 0;
    if (*good || (all && i >= WRONG && most == MAX_SHORTER)) return NS_OK;
  }
  return NS_OK;
}

/* Tries the present modes. */
static NsStatus try_modes(NsFesd *w, double h, bool *good, NsError *err) {
  NsStatus status = try_elements(w, h, MAX_SHORTER, good, err);
  if (status == NS_OK && *good && !w->motion) status = ns_fesd_follows(w, good, err);
  return status;
}

/* ---- guesses ---- */

/* Linearises an implicit Euler step of length h: dx = step + X lambda, y = Wd lambda + q. */
static NsStatus linearise_euler(NsFesd *w, double h, NsError *err) {
  const NsFesdPoint *point = &w->point;
  const NsFesdNewton *newton = &w->newton;
  const NsFesdGuess *guess = &w->guess;
  const NsFesdNode *end = &w->end;
  int N = w->N, m = w->m;
  NsStatus status = ns_fesd_equations(w, w->t + h, end->x, end->lambda, true, err);
  if (status != NS_OK) return status;
  for (size_t i = 0; i < (size_t)N * (size_t)N; i++) guess->W[i] = point->M[i] - h * point->A[i];
  for (size_t i = 0; i < (size_t)N * (size_t)m; i++) guess->X[i] = h * point->B[i];
  for (int i = 0; i < N; i++) {
    guess->step[i] = h * point->F[i];
    for (int a = 0; a < m; a++) guess->step[i] -= guess->X[i + (size_t)a * (size_t)N] * end->lambda[a];
  }
  ns_lu_set_order(newton->lu, N);
  status = ns_lu_factor_fair(newton->lu, guess->W, N);
  if (status != NS_OK) return ns_fail(err, status, "FESDOSI: the matrix M - h df/dx is singular at t=%.10g", w->t);
  ns_lu_solve(newton->lu, m, guess->X, N);
  ns_lu_solve(newton->lu, 1, guess->step, N);
  for (int a = 0; a < m; a++) {
    guess->q[a] = point->hold[a];
    for (int k = 0; k < N; k++) guess->q[a] += point->C[a + (size_t)k * (size_t)m] * guess->step[k];
    for (int b = 0; b < m; b++) {
      size_t at = (size_t)a + (size_t)b * (size_t)m;
      guess->q[a] -= point->D[at] * end->lambda[b];
      guess->Wd[at] = point->D[at];
      for (int k = 0; k < N; k++) guess->Wd[at] += point->C[a + (size_t)k * (size_t)m] * guess->X[k + (size_t)b * (size_t)N];
    }
  }
  return NS_OK;
}

/* Solves the linearised Euler step: *z points at the multipliers. */
static NsStatus solve_euler(NsFesd *w, double h, const double **z, NsError *err) {
  const NsFesdGuess *guess = &w->guess;
  NsStepProblem problem = {
      .n = w->m, .W = guess->Wd, .q = guess->q, .guess = w->end.lambda, .lower = guess->lower, .upper = guess->upper};
  NsStatus status = linearise_euler(w, h, err);
  if (status == NS_OK) status = ns_fesd_bounds(w, w->t + h, guess->lower, guess->upper, err);
  if (status != NS_OK) return status;
  status = w->solver.solve(w->solver.context, &problem, z);
  if (status == NS_OK) return NS_OK;
  return ns_fail(err, status,
                 "FESDOSI: the complementarity problem that guesses the modes has no accepted solution at t=%.10g: %s", w->t,
                 ns_status_message(status));
}

/* Sets the modes of the tie rows as an Euler step of length h has them. */
static NsStatus guess_modes(NsFesd *w, double h, NsError *err) {
  const NsFesdRows *rows = &w->rows;
  const double *z;
  if (w->motion) return ns_fesd_guess_contacts(w, err);
  NsStatus status = solve_euler(w, h, &z, err);
  for (int a = 0; a < w->m && status == NS_OK; a++)
    if (rows->tie[a]) rows->mode[a] = mode_by_lambda(z[a], w->guess.lower[a], w->guess.upper[a]);
  return status;
}

NsStatus ns_fesd_pass(NsFesd *w, double h, NsError *err) {
  const double *z;
  NsStatus status = solve_euler(w, h, &z, err);
  if (status != NS_OK) return status;
  for (int i = 0; i < w->N; i++) {
    w->end.x[i] += w->guess.step[i];
    for (int a = 0; a < w->m; a++) w->end.x[i] += w->guess.X[i + (size_t)a * (size_t)w->N] * z[a];
  }
  for (int a = 0; a < w->m; a++) {
    w->end.lambda[a] = z[a];
    w->rows.mode[a] = mode_by_lambda(z[a], w->guess.lower[a], w->guess.upper[a]);
  }
  return NS_OK;
}

/* ---- all modes ---- */

/* Goes to the next choice of modes for the tie rows; false after the last one. */
static bool next_choice(NsFesd *w) {
  const NsFesdRows *rows = &w->rows;
  for (int a = 0; a < w->m; a++) {
    if (!rows->tie[a]) continue;
    int mode = rows->mode[a];
    do mode++;
    while (mode == MODE_UPPER && !isfinite(w->end.upper[a]));
    if (mode <= MODE_UPPER) return rows->mode[a] = mode, true;
    rows->mode[a] = isfinite(w->end.lower[a]) ? MODE_LOWER : MODE_ACTIVE;
  }
  return false;
}

static NsStatus enumerate_modes(NsFesd *w, double h, bool *good, NsError *err) {
  int ties = 0;
  for (int a = 0; a < w->m; a++) {
    if (!w->rows.tie[a]) continue;
    ties++;
    w->rows.mode[a] = isfinite(w->end.lower[a]) ? MODE_LOWER : MODE_ACTIVE;
  }
  if (ties == 0 || ties > MAX_ENUMERATED) return NS_OK;
  do {
    NsStatus status = try_modes(w, h, good, err);
    if (status != NS_OK || *good) return status;
  } while (next_choice(w));
  return NS_OK;
}

static bool has_ties(const NsFesd *w) {
  for (int a = 0; a < w->m; a++)
    if (w->rows.tie[a]) return true;
  return false;
}

/*
** The modes by rates. At a time of the grid at which no switch was located, the present modes go on where they are one of several
** possible ones: lambda has touched its bound. *good: there are modes.
*/
static NsStatus fesd_choose_or_go_on(NsFesd *w, double h, bool keep, bool *good, NsError *err) {
  bool found;
  NsStatus status = ns_fesd_choose_by_rates(w, &found, err);
  if (w->ambiguous && keep && !w->anew && w->reached < 0) {
    NsError why = {NS_OK, ""};
    memcpy(w->rows.mode, w->rows.before, (size_t)w->m * sizeof *w->rows.mode);
    NsStatus present = try_modes(w, h, good, &why);
    if (present != NS_OK || !*good) return status;
    w->ambiguous = false;
    if (err) *err = why;
    return NS_OK;
  }
  return status == NS_OK && found ? try_elements(w, h, MAX_SHORTER_BY_RATES, good, err) : status;
}

NsStatus ns_fesd_choose(NsFesd *w, double h, bool keep, NsError *err) {
  const NsFesdRows *rows = &w->rows;
  bool good = false;
  NsStatus status = NS_OK;
  size_t bytes = (size_t)w->m * sizeof *rows->mode;
  memcpy(rows->before, rows->mode, bytes);
  w->solved = false;
  bool ties = has_ties(w), open = ties && (w->motion || ns_fesd_undecided(w));
  if (keep && !w->broken && (!w->anew || !ties) && !open) {
    status = try_elements(w, h, MAX_SHORTER, &good, err);
    if (status != NS_OK || good) return status;
  }
  if (!w->motion && (ties || w->broken)) {
    status = fesd_choose_or_go_on(w, h, keep, &good, err);
    if (status != NS_OK || good) return status;
    memcpy(rows->mode, rows->before, bytes);
  }
  if (keep && open && !w->anew) {
    status = try_modes(w, h, &good, err);
    if (status != NS_OK || good) return status;
  }
  for (size_t g = 0; g < sizeof guesses / sizeof *guesses; g++) {
    memcpy(rows->mode, rows->before, bytes);
    status = guess_modes(w, guesses[g] * h, err);
    if (!ns_fesd_worth_retrying(status)) return status;
    if (status != NS_OK) continue;
    status = try_modes(w, h, &good, err);
    if (status != NS_OK || good) return status;
  }
  memcpy(rows->mode, rows->before, bytes);
  status = enumerate_modes(w, h, &good, err);
  if (status != NS_OK || good) return status;
  int row = 0;
  while (row < w->m - 1 && !rows->tie[row]) row++;
  memcpy(rows->mode, rows->before, bytes);
  return ns_fail(err, NS_ENOCONV, "FESDOSI: no modes of the laws are consistent after t=%.10g, at interaction '%s'", w->t,
                 w->m > 0 ? fesd_row_name(w, row) : "");
}

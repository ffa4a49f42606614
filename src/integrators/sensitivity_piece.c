/*
** sensitivity_piece.c
** S along a piece of smooth motion: S' = J S + P with J = F_u and P = F_p at the nodes of the piece, interpolated between them.
*/
#include <float.h>
#include <math.h>
#include <string.h>

#include "integrators/sensitivity_tape.h"

enum {
  PIECE_HALVINGS = 6,  /* a piece is halved at most so often to resolve J and P */
  ROUNDINGS = 8,       /* rounding errors of a rate, in spacings of its size */
  COLUMN_TRIALS = 12,  /* displacements that are tried for a column: down to 16^-12 of its size */
  PIECE_STEPS = 100000 /* limit of steps in a piece */
};

/*
** Central differences of order 4 displace a number by this part of its size. On functions that change at the scale of that size
** their errors are then 1e-11 by truncation and 1e-13 by rounding.
*/
static const double PART = 1.0 / 256;

/*
** The differences of order 2 with one and with two displacements may differ by three times this part: then the error of the differences of
** order 4 is about its square, 1e-10.
*/
static const double ROUGH = 1e-5;

/*
** An element of J or P counts with at least this part of its row's largest rate by the size of the displaced number. Rounding
** errors, 1e-13 of that, do not look like truncation then.
*/
static const double LEAST_ELEMENT = 1e-3;

/*
** S does not change in pieces below this part of t (2^16 spacings): where sliding in space stops, J grows as 1/|u| in ever shorter
** pieces. What is left out is 1e-11 of t times a rate that the stop sets to 0.
*/
static const double SHORTEST = 0x1p-36;

/* See size_of_columns; 1/100 as in ode/variational.c. */
static const double NEIGHBOURS = 0.01;

/* A state below this part of its neighbours' size is one that is held at 0: differences by displacements of its own size have no digits. */
static const double HELD = 0x1p-16;

/* A column that has fallen below this part of its largest size has no digits: 1e-30, the square of a rounding error. */
static const double DECAYED = 1e-30;

/* J and P count as resolved where their interpolation changes S by less than this part of its size, in units of rtol. */
static const double RESOLVED = 10;

/* ---- J and P at a point ---- */

/* A number that is displaced: of u, or (lin != NULL) of the model. */
typedef struct Displaced {
  NsParameter of;
  double at;
  uint64_t seen;
  const NsLinearisation *lin;
  double size;        /* of the number, a power of 2 */
  double *part;       /* of the size: the displacement that was good last, 0: none */
  const double *most; /* n: largest elements of the column so far, NULL: not known */
} Displaced;

/* The rates with the number displaced by e are in s->value. */
static NsStatus displaced_rate(NsSensitivity *s, const NsLinearisation *lin, double t, const double *u, const Displaced *d,
                               double e, NsError *err) {
  ns_sensitivity_set(s, &d->of, d->at + e, d->seen);
  NsStatus status = d->lin ? lin->reread(lin->context, t, err) : NS_OK;
  return status == NS_OK ? lin->rate(lin->context, t, u, s->value, err) : status;
}

/*
** What the last rates count as: the largest so far; where multipliers hold a state they cancel the other terms, of which rounding remains.
*/
static double rate_size(const NsSensitivity *s, const double *terms, int i) {
  return fmax(fmax(s->rate_most[i], fabs(s->value[i])), terms ? terms[i] : 0);
}

static const double *rate_terms(const NsLinearisation *lin) {
  return lin->rate_terms ? lin->rate_terms(lin->context) : NULL;
}

/*
** out (n): the differences of order 4 with the displacement `step`. *rough: a third of what the differences of order 2 with it and with
** twice of it differ, relative to the elements. The number stays displaced.
*/
static NsStatus central_differences(NsSensitivity *s, const NsLinearisation *lin, double t, const double *u, const Displaced *d,
                                    double step, double *out, double *rough, NsError *err) {
  double *far = s->diff.far;
  NsStatus status = NS_OK;
  memset(out, 0, (size_t)s->n * sizeof *out);
  memset(far, 0, (size_t)s->n * sizeof *far);
  for (int k = 0; k < 4 && status == NS_OK; k++) {
    double sign = k % 2 ? -1 : 1, *sum = k < 2 ? out : far;
    status = displaced_rate(s, lin, t, u, d, sign * (k < 2 ? step : 2 * step), err);
    for (int i = 0; i < s->n && status == NS_OK; i++) sum[i] += sign * s->value[i];
  }
  *rough = 0;
  const double *terms = status == NS_OK ? rate_terms(lin) : NULL;
  for (int i = 0; i < s->n && status == NS_OK; i++) {
    double once = out[i] / (2 * step), twice = far[i] / (4 * step), off = fabs(once - twice) / 3;
    double least = LEAST_ELEMENT * rate_size(s, terms, i) / d->size;
    out[i] = once + (once - twice) / 3;
    if (off > 0) *rough = fmax(*rough, off / fmax(fmax(fabs(out[i]), d->most ? d->most[i] : 0), least));
  }
  return status;
}

/* The next displacement after one whose differences are `rough`: the rough part falls with its square. */
static double smaller_step(double step, double rough) {
  double factor = sqrt(ROUGH / rough) / 2;
  int exponent;
  (void)frexp(fmin(fmax(factor, 1.0 / 16), 0.5), &exponent);
  return ldexp(step, exponent - 1);
}

/*
** A column of J or P at (t, u): differences with displacements that get shorter until the differences are smooth. A rate may
** change within a small part of the size of a number: friction in space with the direction of a small velocity, a driving force
** with its frequency after a long time. Where shorter displacements do not help any more the best ones count.
*/
static NsStatus displaced_column(NsSensitivity *s, const NsLinearisation *lin, double t, const double *u, const Displaced *d,
                                 double *out, NsError *err) {
  double full = PART * d->size, step = *d->part > 0 ? fmin(*d->part * d->size, full) : full;
  double rough, best = INFINITY, *kept = s->diff.kept;
  NsStatus status = NS_OK;
  for (int k = 0; k < COLUMN_TRIALS; k++) {
    status = central_differences(s, lin, t, u, d, step, out, &rough, err);
    if (status == NS_ENAN || status == NS_ERETRY) {
      step /= 16;
      continue;
    }
    if (status != NS_OK || rough <= ROUGH) break;
    bool helps = rough < best / 2;
    if (helps) best = rough, *d->part = step / d->size, memcpy(kept, out, (size_t)s->n * sizeof *kept);
    else if (best < 1.0 / 16) break;
    step = smaller_step(step, rough);
  }
  if (status != NS_OK && best < INFINITY) status = NS_OK;
  if (status == NS_OK && rough <= ROUGH) *d->part = (rough < ROUGH / 64 ? fmin(2 * step, full) : step) / d->size;
  else if (status == NS_OK) memcpy(out, kept, (size_t)s->n * sizeof *out);
  return status;
}

/* Sets what is rounding in a column of J or P to 0: no step and no piece would be short enough for the part of it that varies. */
static void drop_rounding(const NsSensitivity *s, const NsLinearisation *lin, const Displaced *d, double *column) {
  const double *terms = rate_terms(lin);
  for (int i = 0; i < s->n; i++)
    if (fabs(column[i]) <= ROUNDINGS * DBL_EPSILON * rate_size(s, terms, i) / (PART * d->size)) column[i] = 0;
}

/* The relative size of column j: the size of its largest |S| so far, in sizes of the states; state `but` is left out. */
static double relative_size(const NsSensitivity *s, int j, int but) {
  double relative = 0;
  for (int i = 0; i < s->n; i++)
    if (i != but && s->size[i] > 0) relative = fmax(relative, s->most[i + (ptrdiff_t)j * s->n] / s->size[i]);
  return relative;
}

/* What the parameters move state i where each moves the others by their sizes. */
static double neighbour_size(const NsSensitivity *s, int i) {
  double most = 0;
  for (int j = 0; j < s->p; j++) {
    double others = relative_size(s, j, i);
    if (others > 0) most = fmax(most, s->most[i + (ptrdiff_t)j * s->n] / others);
  }
  return most;
}

/*
** Column i of F_u. The size of a state is at least a part of what it moves in a step of the grid: a velocity that begins at 1e-15
** instead of 0 would else be displaced by less than the rounding of the rates. One that is only rounding beside what parameters move
** it, as the angle of a shaft that a brake holds at 0, has the size of its neighbours.
*/
static NsStatus state_column(NsSensitivity *s, const NsLinearisation *lin, double t, double *u, int i, double *out,
                             NsError *err) {
  double size = fmax(fmax(lin->size[i], fabs(u[i])), PART * lin->h * s->rate_most[i]);
  double neighbour = neighbour_size(s, i);
  if (size < HELD * neighbour) size = NEIGHBOURS * neighbour;
  if (!(size > 0)) size = 1;
  int exponent;
  (void)frexp(size, &exponent);
  Displaced d = {.of.number = &u[i], .at = u[i], .size = ldexp(1, exponent), .part = &s->diff.part[i]};
  NsStatus status = displaced_column(s, lin, t, u, &d, out, err);
  if (status == NS_OK) drop_rounding(s, lin, &d, out);
  u[i] = d.at;
  return status;
}

NsStatus ns_sensitivity_column(NsSensitivity *s, const NsLinearisation *lin, double t, const double *u, int j, double *out,
                               NsError *err) {
  const NsParameter *p = &s->parameters[j];
  double *most = s->diff.most + (ptrdiff_t)j * s->n;
  Displaced d = {.of = *p,
                 .at = *p->number,
                 .seen = p->version ? *p->version : 0,
                 .lin = lin,
                 .size = p->unit,
                 .part = &s->diff.parameter_part[j],
                 .most = most};
  NsStatus status = displaced_column(s, lin, t, u, &d, out, err);
  if (status == NS_OK) drop_rounding(s, lin, &d, out);
  ns_sensitivity_restore(p, d.at, d.seen);
  NsStatus back = lin->reread(lin->context, t, status == NS_OK ? err : NULL);
  for (int i = 0; i < s->n && status == NS_OK; i++) most[i] = fmax(most[i], fabs(out[i]));
  return status == NS_OK ? back : status;
}

/* J by differences. */
static NsStatus point_jacobian(NsSensitivity *s, const NsLinearisation *lin, double t, double *u, double *J, NsError *err) {
  NsStatus status = NS_OK;
  for (int i = 0; i < s->n && status == NS_OK; i++) status = state_column(s, lin, t, u, i, J + (ptrdiff_t)i * s->n, err);
  return status;
}

/* J (NULL: not wanted) and P (NULL: not wanted) at a point. */
static NsStatus point_terms(NsSensitivity *s, const NsLinearisation *lin, double t, double *u, double *J, double *P,
                            NsError *err) {
  bool exact = false;
  NsStatus status = NS_OK;
  memset(s->known, 0, (size_t)s->p * sizeof *s->known);
  if (lin->terms && (J || P)) status = lin->terms(lin->context, t, u, J, P, s->known, &exact, err);
  ns_sensitivity_doubt(s, s->known);
  if (status == NS_OK && J && !exact) status = point_jacobian(s, lin, t, u, J, err);
  for (int j = 0; j < s->p && P && status == NS_OK; j++)
    if (s->acts[j] && !s->known[j]) status = ns_sensitivity_column(s, lin, t, u, j, P + (ptrdiff_t)j * s->n, err);
  return status;
}

NsStatus ns_sensitivity_sample(NsSensitivity *s, const NsLinearisation *lin, const NsDenseOutput *dense, double a, double b,
                               bool parameters, NsError *err) {
  bool driven = parameters && s->driven;
  ptrdiff_t nn = (ptrdiff_t)s->n * s->n, np = (ptrdiff_t)s->n * s->p;
  NsStatus status = NS_OK;
  s->piece.fixed = lin->constant;
  for (int k = 0; k < NS_BERNSTEIN_SIZE && status == NS_OK; k++) {
    bool last = k + 1 == NS_BERNSTEIN_SIZE;
    if (s->piece.fixed && !driven && k > 0) break;
    double t = last ? b : a + ns_bernstein_node(k) * (b - a);
    status = dense->at(dense->context, t, s->direction, err);
    double *J = k == 0 || !s->piece.fixed ? s->piece.J + k * nn : NULL, *P = driven ? s->piece.P + k * np : NULL;
    if (status == NS_OK) status = point_terms(s, lin, t, s->direction, J, P, err);
  }
  return status;
}

/* size (n x p): largest |S| so far, and at least NEIGHBOURS of the relative size of the column: as the integrator of S counts it. */
static void size_of_columns(const NsSensitivity *s, double *size) {
  for (int j = 0; j < s->p; j++) {
    const double *most = s->most + (ptrdiff_t)j * s->n;
    double relative = relative_size(s, j, -1);
    for (int i = 0; i < s->n; i++) size[i + (ptrdiff_t)j * s->n] = fmax(most[i], NEIGHBOURS * relative * s->size[i]);
  }
}

/* Whether the nodes resolve J and P: the errors of S' over the piece are below the tolerance of S or of the terms of its growth. */
static bool piece_resolved(NsSensitivity *s, double h) {
  ptrdiff_t n = s->n, nn = n * n, np = n * s->p;
  double tolerance = RESOLVED * s->options->rtol, *error = s->columns.slope, *size = s->columns.P;
  if (s->piece.fixed && !s->driven) return true;
  memset(error, 0, (size_t)np * sizeof *error);
  size_of_columns(s, size);
  for (ptrdiff_t e = 0; e < nn && !s->piece.fixed; e++) {
    NsBernsteinMeasure J = ns_bernstein_measure(s->piece.J + e, nn);
    for (ptrdiff_t j = 0; j < s->p && J.most > 0; j++) {
      error[e % n + j * n] += h * J.error * s->most[e / n + j * n];
      size[e % n + j * n] += h * J.most * s->most[e / n + j * n];
    }
  }
  for (ptrdiff_t e = 0; e < np; e++) {
    if (s->acts[e / n]) error[e] += h * ns_bernstein_measure(s->piece.P + e, np).error, size[e] += h * fabs(s->piece.P[e]);
    if (error[e] > tolerance * size[e]) return false;
  }
  return true;
}

/* ---- the linear equations ---- */

/* The place of t in the piece. */
static double piece_place(const NsSensitivity *s, double t) {
  return s->piece.to > s->piece.from ? (t - s->piece.from) / (s->piece.to - s->piece.from) : 0;
}

void ns_sensitivity_jacobian(NsSensitivity *s, double t, double *J) {
  ptrdiff_t n = s->n;
  if (s->piece.fixed) memcpy(J, s->piece.J, (size_t)(n * n) * sizeof *J);
  else ns_bernstein_between(s->piece.J, n * n, n * n, piece_place(s, t), J);
}

/* An NsVariationalTerms: J and P at t, between the nodes. */
static NsStatus piece_terms(void *context, double t, double *J, double *P, double *E, NsError *err) {
  NsSensitivity *s = context;
  ptrdiff_t np = (ptrdiff_t)s->n * s->p;
  (void)E, (void)err;
  ns_sensitivity_jacobian(s, t, J);
  if (P) ns_bernstein_between(s->piece.P, np, np, piece_place(s, t), P);
  return NS_OK;
}

NsStatus ns_sensitivity_integrator(NsLinearEquations *of, const NsVariationalProblem *problem, NsError *err) {
  bool same = of->variational && of->n == problem->n && of->implicit == problem->implicit && of->forced == problem->forced;
  if (same) return NS_OK;
  ns_variational_free(of->variational);
  *of = (NsLinearEquations){NULL, problem->n, problem->implicit, problem->forced};
  NsStatus status = ns_variational_new(&of->variational, problem);
  return status == NS_OK ? NS_OK : ns_fail(err, status, "sensitivities: %s", ns_status_message(status));
}

/* X at the nodes of the whole piece that lie in the last step. */
static NsStatus keep_nodes(NsSensitivity *s, const NsLinearisation *lin, const NsDenseOutput *dense, NsError *err) {
  const NsVariationalState *state = ns_variational_state(s->equations.variational);
  ptrdiff_t size = (ptrdiff_t)s->nx * s->p;
  NsStatus status = NS_OK;
  for (int k = 0; k < NS_BERNSTEIN_SIZE && status == NS_OK && s->keeps_nodes; k++) {
    double t = dense->t_old + ns_bernstein_node(k) * (dense->t - dense->t_old);
    if (k + 1 == NS_BERNSTEIN_SIZE) t = dense->t;
    if (t < state->t_old || t > state->t) continue;
    status = ns_variational_at(s->equations.variational, t, s->columns.dense, err);
    if (status == NS_OK) status = dense->at(dense->context, t, s->direction, err);
    if (status == NS_OK) status = lin->states(lin->context, s, t, s->direction, s->columns.dense, s->nodes + k * size, err);
  }
  return status;
}

/* X at the nodes of a piece in which S does not change. */
static NsStatus hold_nodes(NsSensitivity *s, const NsLinearisation *lin, const NsDenseOutput *dense, NsError *err) {
  ptrdiff_t size = (ptrdiff_t)s->nx * s->p;
  NsStatus status = dense->at(dense->context, dense->t_old, s->direction, err);
  for (int k = 0; k < NS_BERNSTEIN_SIZE && status == NS_OK && s->keeps_nodes; k++)
    status = lin->states(lin->context, s, dense->t, s->direction, s->S, s->nodes + k * size, err);
  return status;
}

/* s->least: the relative sizes of what P adds to the columns in the piece, and DECAYED of their largest ones so far. */
static void measure_least(NsSensitivity *s) {
  ptrdiff_t n = s->n, np = n * s->p;
  for (ptrdiff_t j = 0; j < s->p; j++) {
    s->least[j] = DECAYED * relative_size(s, (int)j, -1);
    for (ptrdiff_t i = 0; i < n && s->acts[j]; i++)
      for (ptrdiff_t k = 0; k < NS_BERNSTEIN_SIZE && s->size[i] > 0; k++)
        s->least[j] = fmax(s->least[j], (s->piece.to - s->piece.from) * fabs(s->piece.P[i + j * n + k * np]) / s->size[i]);
  }
}

/* S goes from s->piece.from to s->piece.to. */
static NsStatus piece_integrate(NsSensitivity *s, const NsLinearisation *lin, const NsDenseOutput *dense, NsError *err) {
  const NsVariationalState *state = ns_variational_state(s->equations.variational);
  measure_least(s);
  ns_variational_start(s->equations.variational, s->piece.from, s->S, s->piece.to - s->piece.from);
  NsStatus status = NS_OK;
  for (int steps = 0; state->t < s->piece.to && status == NS_OK; steps++) {
    if (steps == PIECE_STEPS) return ns_fail(err, NS_EMAXITER, "sensitivities: too many steps before t=%.10g", s->piece.to);
    status = ns_variational_step(s->equations.variational, s->piece.to, err);
    if (status == NS_OK) status = keep_nodes(s, lin, dense, err);
  }
  memcpy(s->S, state->y, (size_t)s->n * (size_t)s->p * sizeof *s->S);
  return status;
}

/* S goes along [a, b], in halves where the nodes do not resolve J and P. */
static NsStatus piece_go(NsSensitivity *s, const NsLinearisation *lin, const NsDenseOutput *dense, double a, double b,
                         int halved, NsError *err) {
  NsStatus status = ns_sensitivity_sample(s, lin, dense, a, b, true, err);
  if (status != NS_OK) return status;
  double middle = a + (b - a) / 2;
  if (halved < PIECE_HALVINGS && middle > a && middle < b && !piece_resolved(s, b - a)) {
    status = piece_go(s, lin, dense, a, middle, halved + 1, err);
    return status == NS_OK ? piece_go(s, lin, dense, middle, b, halved + 1, err) : status;
  }
  s->piece.from = a, s->piece.to = b;
  return piece_integrate(s, lin, dense, err);
}

bool ns_sensitivity_holds(double t_old, double t) {
  return !(t - t_old > SHORTEST * fabs(t));
}

/*
** Takes the sizes of the unknowns and their rates at a, the start of the piece, and at its end b where one of them is 0 at the start and does not
** move there, as from rest.
*/
static NsStatus piece_sizes(NsSensitivity *s, const NsLinearisation *lin, const NsDenseOutput *dense, double a, double b,
                            NsError *err) {
  bool none = true;
  NsStatus status = NS_OK;
  for (int end = 0; end < 2 && none && status == NS_OK; end++) {
    status = dense->at(dense->context, end == 0 ? a : b, s->diff.u, err);
    if (status == NS_OK) status = ns_sensitivity_note(s, lin, end == 0 ? a : b, s->diff.u, err);
    none = false;
    for (int i = 0; i < s->n; i++) {
      s->size[i] = fmax(s->size[i], (b - a) * s->rate_most[i]);
      none = none || s->size[i] == 0;
    }
  }
  return status;
}

NsStatus ns_sensitivity_piece(NsSensitivity *s, const NsLinearisation *lin, const NsDenseOutput *dense, NsError *err) {
  double a = dense->t_old, b = dense->t;
  NsStatus status = NS_OK;
  s->t = b;
  if (s->n == 0 || s->p == 0) return NS_OK;
  ns_sensitivity_doubt(s, s->known);
  if (s->tape) return ns_run_tape_piece(s, lin, dense, err);
  if (ns_sensitivity_holds(a, b)) return hold_nodes(s, lin, dense, err);
  NsVariationalProblem problem = {.n = s->n,
                                  .p = s->p,
                                  .terms = piece_terms,
                                  .context = s,
                                  .forced = s->driven,
                                  .implicit = lin->implicit,
                                  .rtol = s->options->rtol,
                                  .size = s->size,
                                  .least = s->least};
  status = ns_sensitivity_integrator(&s->equations, &problem, err);
  if (status == NS_OK) status = piece_sizes(s, lin, dense, a, b, err);
  for (int e = 0; e < s->n * s->p; e++) s->most[e] = fmax(s->most[e], fabs(s->S[e]));
  return status == NS_OK ? piece_go(s, lin, dense, a, b, 0, err) : status;
}

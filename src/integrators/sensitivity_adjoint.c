/*
** sensitivity_adjoint.c
** The adjoint pass through a recorded run: adjoint equations along its pieces, its events transposed.
*/
#include <float.h>
#include <math.h>
#include <string.h>

#include "integrators/sensitivity_tape.h"
#include "linalg/dense.h"
#include "ode/saltation.h"

enum {
  BACK_HALVINGS = 6,  /* an interval is halved at most so often to resolve F_u, or F_p' mu within a step */
  BACK_STEPS = 100000 /* limit of steps in an interval */
};

/* F_u and F_p' mu count as resolved where their interpolation changes mu or g by less than this part of it, in units of rtol. */
static const double BACK_RESOLVED = 10;

/*
** The last Chebyshev coefficients, of degree 6 to 8, are the part r of the function; with a geometric decay those left out, from
** degree 10, are r^(10/7), and a 50th of that is integrated. A function with a kink has an r of some percent, which tells it from a
** smooth one.
*/
double ns_adjoint_integral_error(double error, double most) {
  return most > 0 ? 0.02 * most * pow(error / most, 10.0 / 7) : 0;
}

/* ---- the adjoint equations ---- */

/* An NsVariationalTerms. */
static NsStatus back_terms(void *context, double t, double *J, double *P, double *E, NsError *err) {
  (void)P, (void)E, (void)err;
  ns_sensitivity_jacobian(context, t, J);
  return NS_OK;
}

/* An NsVariationalCost. */
static NsStatus back_cost(void *context, double t, double *c, double *d, NsError *err) {
  const NsSensitivity *s = context;
  const NsRunTape *tape = s->tape;
  (void)d, (void)err;
  ns_bernstein_between(tape->c, s->n, s->n, (t - tape->from) / (tape->to - tape->from), c);
  return NS_OK;
}

/* Whether the nodes resolve F_u: what the errors change in mu over the interval is below its tolerance, or the tolerance of its terms. */
static bool back_resolved(NsSensitivity *s, double h) {
  NsRunTape *tape = s->tape;
  ptrdiff_t n = s->n, nn = n * n;
  double tolerance = BACK_RESOLVED * s->options->rtol;
  if (s->piece.fixed) return true;
  for (ptrdiff_t j = 0; j < n; j++) {
    double error = 0, size = tape->most[j];
    for (ptrdiff_t i = 0; i < n; i++) {
      NsBernsteinMeasure J = ns_bernstein_measure(s->piece.J + i + j * n, nn);
      error += h * J.error * tape->most[i];
      size += h * J.most * tape->most[i];
    }
    if (error > tolerance * size) return false;
  }
  return true;
}

/* ---- the gradient ---- */

/* Rounding error of a difference of the rates by a parameter, in units of the rates over the parameter: 256 displacements, 16 spacings. */
static const double BACK_ROUNDING = 4096 * DBL_EPSILON;

/* The same for derivatives in closed form. */
static const double VJP_ROUNDING = 16 * DBL_EPSILON;

/*
** The size of out[j] of back_vjp below which it is rounding: of F_p[j] at the sizes of rates, and of mu so far or in the run. (Where a
** motion has come to rest with a cost of 0, mu is rounding from there to the end, and all of it so far.)
*/
static double back_noise(const NsSensitivity *s, int j) {
  double sum = 0;
  if (!s->acts[j]) return 0;
  for (int i = 0; i < s->n; i++) sum += s->rate_most[i] * fmax(s->tape->most[i], s->tape->reach[i]);
  return (s->tape->exact[j] ? VJP_ROUNDING : BACK_ROUNDING) * sum / s->parameters[j].unit;
}

/* out (p) = F_p' mu at a point. */
static NsStatus back_vjp(NsSensitivity *s, double t, const double *u, const double *mu, double *out, NsError *err) {
  const NsLinearisation *lin = s->tape->lin;
  NsStatus status = NS_OK;
  memset(out, 0, (size_t)s->p * sizeof *out);
  if (lin->vjp) status = lin->vjp(lin->context, t, u, mu, out, s->tape->exact, err);
  ns_sensitivity_doubt(s, s->tape->exact);
  for (int j = 0; j < s->p && status == NS_OK; j++) {
    if (!s->acts[j] || s->tape->exact[j]) continue;
    status = ns_sensitivity_column(s, lin, t, u, j, s->columns.dense, err);
    out[j] = ns_dense_dot(s->n, s->columns.dense, 1, mu, 1);
  }
  return status;
}

/* g += the integral of F_p' mu over [a, b], within the last step of the adjoint equations. */
static NsStatus back_integral(NsSensitivity *s, const NsDenseOutput *dense, double a, double b, int halved, NsError *err) {
  NsRunTape *tape = s->tape;
  ptrdiff_t p = s->p;
  double tolerance = BACK_RESOLVED * s->options->rtol, h = b - a;
  NsStatus status = NS_OK;
  for (int k = 0; k < NS_BERNSTEIN_SIZE && status == NS_OK; k++) {
    double t = k + 1 == NS_BERNSTEIN_SIZE ? b : a + ns_bernstein_node(k) * h;
    status = ns_variational_at(tape->equations.variational, t, tape->x, err);
    if (status == NS_OK) status = dense->at(dense->context, t, s->direction, err);
    if (status == NS_OK) status = back_vjp(s, t, s->direction, tape->x, tape->q + k * p, err);
  }
  bool resolved = true;
  for (ptrdiff_t j = 0; j < p && status == NS_OK && resolved; j++) {
    NsBernsteinMeasure q = ns_bernstein_measure(tape->q + j, p);
    if (q.most <= back_noise(s, (int)j)) continue;
    double error = ns_adjoint_integral_error(q.error, q.most);
    resolved = h * error <= tolerance * (tape->sum[j] + h * q.most) + h * back_noise(s, (int)j);
  }
  double middle = a + h / 2;
  if (status == NS_OK && !resolved && halved < BACK_HALVINGS && middle > a && middle < b) {
    status = back_integral(s, dense, middle, b, halved + 1, err);
    return status == NS_OK ? back_integral(s, dense, a, middle, halved + 1, err) : status;
  }
  for (ptrdiff_t j = 0; j < p && status == NS_OK; j++) {
    NsBernsteinMeasure q = ns_bernstein_measure(tape->q + j, p);
    tape->g[j] += h * q.sum / NS_BERNSTEIN_SIZE;
    tape->sum[j] += h * q.most;
  }
  return status;
}

/* ---- the adjoint pass ---- */

/* mu and g go from s->piece.to to s->piece.from. */
static NsStatus back_integrate(NsSensitivity *s, const NsDenseOutput *dense, NsError *err) {
  NsRunTape *tape = s->tape;
  const NsVariationalState *state = ns_variational_state(tape->equations.variational);
  ns_variational_start(tape->equations.variational, s->piece.to, tape->mu, s->piece.to - s->piece.from);
  NsStatus status = NS_OK;
  for (int steps = 0; state->t > s->piece.from && status == NS_OK; steps++) {
    if (steps == BACK_STEPS) return ns_fail(err, NS_EMAXITER, "sensitivities: too many steps after t=%.10g", s->piece.from);
    status = ns_variational_step(tape->equations.variational, s->piece.from, err);
    if (status == NS_OK && s->driven) status = back_integral(s, dense, state->t, state->t_old, 0, err);
  }
  memcpy(tape->mu, state->y, (size_t)s->n * sizeof *tape->mu);
  for (int i = 0; i < s->n; i++) tape->most[i] = fmax(tape->most[i], fabs(tape->mu[i]));
  return status;
}

/* Goes from b to a, in halves where the nodes do not resolve F_u. same: s->piece.J is constant and known. */
static NsStatus back_go(NsSensitivity *s, const NsDenseOutput *dense, double a, double b, bool same, int halved, NsError *err) {
  NsStatus status = NS_OK;
  if (!same) status = ns_sensitivity_sample(s, s->tape->lin, dense, a, b, false, err);
  if (status != NS_OK) return status;
  double middle = a + (b - a) / 2;
  if (halved < BACK_HALVINGS && middle > a && middle < b && !back_resolved(s, b - a)) {
    status = back_go(s, dense, middle, b, false, halved + 1, err);
    return status == NS_OK ? back_go(s, dense, a, middle, false, halved + 1, err) : status;
  }
  s->piece.from = a, s->piece.to = b;
  return back_integrate(s, dense, err);
}

/* mu += the integral of c where the interval is too short for F_u to matter. */
static void back_hold(NsSensitivity *s, double h) {
  const NsRunTape *tape = s->tape;
  for (int i = 0; i < s->n; i++) tape->mu[i] += h * ns_bernstein_measure(tape->c + i, s->n).sum / NS_BERNSTEIN_SIZE;
}

/* Takes the mode of a piece. *same: s->piece.J belongs to the mode. */
static NsStatus back_take(NsSensitivity *s, const NsRunTapeEntry *piece, bool *same, NsError *err) {
  NsRunTape *tape = s->tape;
  const NsLinearisation *lin = tape->lin;
  bool known = tape->taken && lin->constant;
  *same = true;
  if (tape->taken == piece->mode) return *same = known, NS_OK;
  NsStatus status = lin->take(lin->context, piece->mode, piece->t_old, piece->u, same, err);
  if (status == NS_OK && s->options->places > 0) status = lin->reread(lin->context, piece->t_old, err);
  tape->taken = status == NS_OK ? piece->mode : NULL;
  *same = *same && known && lin->constant;
  return status;
}

static void back_place(NsSensitivity *s) {
  NsRunTape *tape = s->tape;
  if (tape->lin && tape->lin->place) tape->lin->place(tape->lin->context, tape->place);
}

NsStatus ns_adjoint_start(NsSensitivity *s, const double *mu_x, const double *reach, NsError *err) {
  NsRunTape *tape = s->tape;
  back_place(s);
  for (int i = 0; i < s->nx; i++) {
    int u = tape->place[i];
    tape->mu[u] = mu_x[i], tape->most[u] = fabs(mu_x[i]), tape->reach[u] = reach[i];
  }
  tape->at = tape->count - 1;
  for (int i = 0; i < s->n && tape->lin; i++) tape->size[i] = tape->lin->size[i];
  if (!tape->lin) return NS_OK;
  NsVariationalProblem problem = {.n = s->n,
                                  .terms = back_terms,
                                  .context = s,
                                  .adjoint = true,
                                  .cost = back_cost,
                                  .implicit = tape->lin->implicit,
                                  .rtol = s->options->rtol,
                                  .size = tape->size};
  return ns_sensitivity_integrator(&tape->equations, &problem, err);
}

NsStatus ns_adjoint_end_rates(NsSensitivity *s, double *rates, NsError *err) {
  NsRunTape *tape = s->tape;
  long k = tape->count - 1;
  bool same;
  back_place(s);
  while (k >= 0 && tape->entries[k].event) k--;
  memset(rates, 0, (size_t)s->nx * sizeof *rates);
  if (k < 0) return NS_OK;
  const NsRunTapeEntry *piece = &tape->entries[k];
  const double *u = piece->u + (NS_BERNSTEIN_SIZE - 1) * (ptrdiff_t)s->n;
  NsStatus status = back_take(s, piece, &same, err);
  if (status == NS_OK) status = tape->lin->rate(tape->lin->context, piece->t, u, s->value, err);
  tape->taken = NULL; /* s->piece.J does not belong to the mode yet */
  for (int i = 0; i < s->nx && status == NS_OK; i++) rates[i] = s->value[tape->place[i]];
  return status;
}

NsStatus ns_adjoint_piece(NsSensitivity *s, double a, double b, const double *c, NsError *err) {
  NsRunTape *tape = s->tape;
  if (!tape->lin) return NS_OK;
  while (tape->at >= 0 && !tape->entries[tape->at].event && tape->entries[tape->at].t_old >= b) tape->at--;
  const NsRunTapeEntry *piece = tape->at >= 0 ? &tape->entries[tape->at] : NULL;
  if (!piece || piece->event || piece->t_old > a)
    return ns_fail(err, NS_EARG, "sensitivities: the record of the run has no motion from t=%.10g to t=%.10g", a, b);
  for (int k = 0; k < NS_BERNSTEIN_SIZE; k++)
    for (int i = 0; i < s->nx; i++) tape->c[tape->place[i] + k * s->n] = c[i + k * s->nx];
  tape->from = a, tape->to = b;
  if (ns_sensitivity_holds(a, b)) return back_hold(s, b - a), NS_OK;
  NsDenseNodes nodes = {s->n, s->n, piece->t_old, piece->t, piece->u};
  NsDenseOutput dense = ns_dense_of_nodes(&nodes);
  bool same;
  NsStatus status = back_take(s, piece, &same, err);
  return status == NS_OK ? back_go(s, &dense, a, b, same, 0, err) : status;
}

/* Whether a piece has the state at t, before or after the events there. */
static bool piece_has(const NsRunTapeEntry *e, double t, bool before) {
  return !e->event && (before ? e->t_old < t && t <= e->t : e->t_old <= t && t < e->t);
}

bool ns_adjoint_state(const NsSensitivity *s, double t, bool before, double *x) {
  const NsRunTape *tape = s->tape;
  long k = tape->at < 0 ? 0 : tape->at;
  if (tape->count == 0) return s->nx == 0;
  while (k + 1 < tape->count && tape->entries[k].t <= t) k++;
  while (k >= 0 && !piece_has(&tape->entries[k], t, before)) k--;
  if (k < 0) return false;
  const NsRunTapeEntry *piece = &tape->entries[k];
  double *u = tape->x;
  ns_bernstein_between(piece->u, s->n, s->n, (t - piece->t_old) / (piece->t - piece->t_old), u);
  for (int i = 0; i < s->nx; i++) x[i] = u[tape->place[i]];
  return true;
}

int ns_adjoint_events_at(const NsSensitivity *s, double t) {
  const NsRunTape *tape = s->tape;
  int count = 0;
  for (long k = tape->at; k >= 0; k--) {
    const NsRunTapeEntry *e = &tape->entries[k];
    if (e->event && e->t == t) count += e->timed;
    else if (e->t_old < t) break;
  }
  return count;
}

/* mu and g before an event from those after it. */
static void back_event(NsSensitivity *s, const NsRunTapeEntry *e, double jump) {
  NsRunTape *tape = s->tape;
  int n = s->n;
  double *mu = tape->mu, *after = tape->x, w = e->timed ? jump + ns_dense_dot(n, e->T, 1, mu, 1) : 0;
  if (e->A) {
    memcpy(after, mu, (size_t)n * sizeof *mu);
    ns_dense_gemv(true, n, n, 1, e->A, n, after, 1, 0, mu, 1);
    for (int k = 0; k < e->columns; k++) tape->g[e->column[k]] += ns_dense_dot(n, e->B + (ptrdiff_t)k * n, 1, after, 1);
  }
  if (e->timed) ns_crossing_transposed(n, s->p, e->gu, e->gp, w, mu, tape->g);
  for (int i = 0; i < n; i++) tape->most[i] = fmax(tape->most[i], fabs(mu[i]));
}

void ns_adjoint_cross(NsSensitivity *s, double t, double jump, long from) {
  NsRunTape *tape = s->tape;
  for (; tape->at >= from; tape->at--) {
    const NsRunTapeEntry *e = &tape->entries[tape->at];
    if (e->event && e->t == t) back_event(s, e, jump);
    else if (e->t_old < t) return;
  }
}

void ns_adjoint_add(NsSensitivity *s, const double *c) {
  NsRunTape *tape = s->tape;
  for (int i = 0; i < s->nx; i++) {
    double *mu = &tape->mu[tape->place[i]], *most = &tape->most[tape->place[i]];
    *mu += c[i], *most = fmax(*most, fabs(*mu));
  }
}

void ns_adjoint_gradient(const NsSensitivity *s, double *gradient) {
  for (int j = 0; j < s->p; j++)
    gradient[j] += s->tape->g[j] + ns_dense_dot(s->n, s->S + (ptrdiff_t)j * s->n, 1, s->tape->mu, 1);
}

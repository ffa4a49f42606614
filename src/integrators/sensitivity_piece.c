/*
** sensitivity_piece.c
** S along a piece of smooth motion: S' = J S + P with J = F_u and P = F_p at the nodes of the piece, interpolated between them.
*/
#include <float.h>
#include <math.h>
#include <string.h>

#include "integrators/sensitivity_trail.h"

enum {
  PIECE_HALVINGS = 6,  /* a piece is halved at most so often to resolve J and P */
  FINER = 8,           /* a displacement is divided by 16 at most so often: to 1e-12 of the size */
  ROUNDINGS = 64,      /* rounding errors of a rate, in spacings of its size */
  PIECE_STEPS = 100000 /* limit of steps in a piece */
};

/* Central differences of order 4 displace by this part of the size: their errors are 1e-11 by truncation, 1e-13 by rounding. */
static const double PART = 1.0 / 256;

/* Differences of a column with two displacements agree up to this part: then the truncation error of the larger one is less. */
static const double AGREE = 1e-8;

/*
** S does not change in pieces below this part of t, 2^16 spacings: where sliding in space stops, J grows as 1/|u| in ever shorter
** pieces. What is left out is 1e-11 of t times a rate that the stop sets to 0.
*/
static const double SHORTEST = 0x1p-36;

/* J and P count as resolved where their interpolation changes S by less than this part of its size, in units of rtol. */
static const double RESOLVED = 10;

/* ---- J and P at a point ---- */

/* out (n) += weight * the rates; the model may have been changed. */
static NsStatus add_rate(NsSensitivity *s, const NsFrozen *frozen, double t, const double *u, double weight, double *out,
                         NsError *err) {
  NsStatus status = frozen->rate(frozen->context, t, u, s->value, err);
  for (int i = 0; i < s->n && status == NS_OK; i++) out[i] += weight * s->value[i];
  return status;
}

static const double offsets[4] = {1, -1, 2, -2}, weights[4] = {2.0 / 3, -2.0 / 3, -1.0 / 12, 1.0 / 12};

/*
** The first displacement of state i: a part of its size in the run, which is at least a part of what it moves in a step of the grid.
** A velocity that begins at 1e-15 instead of 0 would else be displaced by less than the rounding of the rates.
*/
static double first_step(const NsSensitivity *s, const NsFrozen *frozen, const double *u, int i) {
  double size = fmax(fmax(frozen->size[i], fabs(u[i])), PART * frozen->h * s->rate_most[i]);
  if (!(size > 0)) size = 1;
  int exponent;
  (void)frexp(size, &exponent);
  return ldexp(PART, exponent);
}

/* Column i of F_u by differences of order 4 with the displacement `step`. */
static NsStatus state_column(NsSensitivity *s, const NsFrozen *frozen, double t, double *u, int i, double step, double *out,
                             NsError *err) {
  double at = u[i];
  NsStatus status = NS_OK;
  memset(out, 0, (size_t)s->n * sizeof *out);
  for (int k = 0; k < 4 && status == NS_OK; k++) {
    u[i] = at + offsets[k] * step;
    status = add_rate(s, frozen, t, u, weights[k] / step, out, err);
  }
  u[i] = at;
  return status;
}

/* Whether two differences of a column agree; the finer one has the displacement `step`. */
static bool columns_agree(const NsSensitivity *s, const double *a, const double *b, double step) {
  for (int i = 0; i < s->n; i++) {
    double noise = ROUNDINGS * DBL_EPSILON * fmax(s->rate_most[i], fabs(s->value[i])) / step;
    if (!(fabs(a[i] - b[i]) <= AGREE * (fabs(a[i]) + fabs(b[i])) + noise)) return false;
  }
  return true;
}

/*
** Chooses the displacement of state i for the nodes of a piece: the first one, divided by 16 until that changes the column no more.
** A force may change within a small part of the size of a state: that of friction in space with the direction of a small velocity.
*/
static NsStatus choose_displacement(NsSensitivity *s, const NsFrozen *frozen, double t, double *u, int i, double *out,
                                    NsError *err) {
  double step = first_step(s, frozen, u, i), *finer = s->dense;
  NsStatus status = state_column(s, frozen, t, u, i, step, out, err);
  for (int k = 0; k < FINER && (status == NS_OK || status == NS_ENAN || status == NS_ERETRY); k++, step /= 16) {
    bool known = status == NS_OK;
    status = state_column(s, frozen, t, u, i, step / 16, finer, err);
    bool agree = known && status == NS_OK && columns_agree(s, out, finer, step / 16);
    if (agree) break;
    memcpy(out, finer, (size_t)s->n * sizeof *out);
  }
  s->step[i] = step / 4; /* the field may change faster within the piece */
  return status;
}

/* By differences of order 4. */
NsStatus ns_sensitivity_column(NsSensitivity *s, const NsFrozen *frozen, double t, const double *u, int j, double *out,
                               NsError *err) {
  const NsParameter *p = &s->parameters[j];
  double at = *p->number, step = PART * p->unit;
  uint64_t seen = p->version ? *p->version : 0;
  NsStatus status = NS_OK;
  memset(out, 0, (size_t)s->n * sizeof *out);
  for (int k = 0; k < 4 && status == NS_OK; k++) {
    *p->number = at + offsets[k] * step;
    if (p->version) *p->version = seen + (UINT64_C(1) << 40) + ++s->changes;
    status = frozen->reread(frozen->context, t, err);
    if (status == NS_OK) status = add_rate(s, frozen, t, u, weights[k] / step, out, err);
  }
  *p->number = at;
  if (p->version) *p->version = seen;
  NsStatus back = frozen->reread(frozen->context, t, status == NS_OK ? err : NULL);
  return status == NS_OK ? back : status;
}

/* first: at the first node of a piece, where the displacements are chosen. */
static NsStatus point_jacobian(NsSensitivity *s, const NsFrozen *frozen, double t, double *u, bool first, double *J,
                               NsError *err) {
  if (frozen->jacobian) return frozen->jacobian(frozen->context, t, u, J, err);
  NsStatus status = NS_OK;
  for (int i = 0; i < s->n && status == NS_OK; i++) {
    double *column = J + (ptrdiff_t)i * s->n;
    if (first) status = choose_displacement(s, frozen, t, u, i, column, err);
    else status = state_column(s, frozen, t, u, i, s->step[i], column, err);
  }
  return status;
}

NsStatus ns_sensitivity_sample(NsSensitivity *s, const NsFrozen *frozen, const NsCourse *course, double a, double b,
                               bool parameters, NsError *err) {
  bool driven = parameters && s->driven;
  ptrdiff_t nn = (ptrdiff_t)s->n * s->n, np = (ptrdiff_t)s->n * s->p;
  NsStatus status = NS_OK;
  s->fixed = frozen->constant;
  for (int k = 0; k < NS_BERNSTEIN_SIZE && status == NS_OK; k++) {
    bool last = k + 1 == NS_BERNSTEIN_SIZE;
    if (s->fixed && !driven && k > 0) break;
    double t = last ? b : a + ns_bernstein_node(k) * (b - a);
    status = course->at(course->context, t, s->direction, err);
    if (status == NS_OK && (k == 0 || !s->fixed))
      status = point_jacobian(s, frozen, t, s->direction, k == 0, s->J + k * nn, err);
    for (int j = 0; j < s->p && driven && status == NS_OK; j++)
      if (s->acts[j]) status = ns_sensitivity_column(s, frozen, t, s->direction, j, s->P + k * np + (ptrdiff_t)j * s->n, err);
  }
  return status;
}

/* The interpolation error of an entry whose values at the nodes are `stride` numbers apart. */
static double entry_error(const double *at, ptrdiff_t stride) {
  double v[NS_BERNSTEIN_SIZE], b[NS_BERNSTEIN_SIZE];
  for (int k = 0; k < NS_BERNSTEIN_SIZE; k++) v[k] = at[k * stride];
  return ns_bernstein_interpolate(v, b);
}

/* Whether the nodes resolve J and P: the errors of S' over the piece are below the tolerance of S or of the terms of its growth. */
static bool piece_resolved(NsSensitivity *s, double h) {
  ptrdiff_t n = s->n, nn = n * n, np = n * s->p;
  double tolerance = RESOLVED * s->options->rtol, *error = s->slope, *size = s->Pt;
  if (s->fixed && !s->driven) return true;
  memset(error, 0, (size_t)np * sizeof *error);
  memcpy(size, s->most, (size_t)np * sizeof *size);
  for (ptrdiff_t e = 0; e < nn && !s->fixed; e++) {
    double off = entry_error(s->J + e, nn), most = 0;
    for (ptrdiff_t k = 0; k < NS_BERNSTEIN_SIZE; k++) most = fmax(most, fabs(s->J[e + k * nn]));
    for (ptrdiff_t j = 0; j < s->p && most > 0; j++) {
      error[e % n + j * n] += h * off * s->most[e / n + j * n];
      size[e % n + j * n] += h * most * s->most[e / n + j * n];
    }
  }
  for (ptrdiff_t e = 0; e < np; e++) {
    if (s->acts[e / n]) error[e] += h * entry_error(s->P + e, np), size[e] += h * fabs(s->P[e]);
    if (error[e] > tolerance * size[e]) return false;
  }
  return true;
}

/* ---- the linear equations ---- */

/* s->weights = those of the values at the nodes for the point x in [0, 1] (Lagrange's form). */
static void node_weights(NsSensitivity *s, double x) {
  double sum = 0;
  for (int k = 0; k < NS_BERNSTEIN_SIZE; k++) {
    double apart = x - ns_bernstein_node(k), end = k == 0 || k + 1 == NS_BERNSTEIN_SIZE ? 0.5 : 1;
    s->weights[k] = (k % 2 ? -end : end) / apart;
    if (apart == 0) {
      memset(s->weights, 0, sizeof s->weights);
      s->weights[k] = 1;
      return;
    }
    sum += s->weights[k];
  }
  for (int k = 0; k < NS_BERNSTEIN_SIZE; k++) s->weights[k] /= sum;
}

static void between_nodes(const NsSensitivity *s, const double *nodes, ptrdiff_t count, double *out) {
  memset(out, 0, (size_t)count * sizeof *out);
  for (int k = 0; k < NS_BERNSTEIN_SIZE; k++)
    for (ptrdiff_t e = 0; e < count && s->weights[k] != 0; e++) out[e] += s->weights[k] * nodes[k * count + e];
}

void ns_sensitivity_jacobian(NsSensitivity *s, double t, double *J) {
  ptrdiff_t n = s->n;
  if (s->fixed) {
    memcpy(J, s->J, (size_t)(n * n) * sizeof *J);
    return;
  }
  node_weights(s, s->to > s->from ? (t - s->from) / (s->to - s->from) : 0);
  between_nodes(s, s->J, n * n, J);
}

/* An NsVariationalTerms: J and P at t, between the nodes. */
static NsStatus piece_terms(void *context, double t, double *J, double *P, double *E, NsError *err) {
  NsSensitivity *s = context;
  ptrdiff_t n = s->n;
  (void)E, (void)err;
  if (!s->fixed || s->driven) node_weights(s, s->to > s->from ? (t - s->from) / (s->to - s->from) : 0);
  if (s->fixed) memcpy(J, s->J, (size_t)(n * n) * sizeof *J);
  else between_nodes(s, s->J, n * n, J);
  if (P) between_nodes(s, s->P, n * s->p, P);
  return NS_OK;
}

/* Makes the integrator of the linear equations for the present n and method. */
static NsStatus take_variational(NsSensitivity *s, const NsFrozen *frozen, NsError *err) {
  if (s->variational && s->variational_n == s->n && s->implicit == frozen->implicit) return NS_OK;
  ns_variational_free(s->variational);
  s->variational = NULL;
  s->variational_n = s->n;
  s->implicit = frozen->implicit;
  NsVariationalProblem problem = {.n = s->n,
                                  .p = s->p,
                                  .terms = piece_terms,
                                  .context = s,
                                  .forced = s->driven,
                                  .implicit = frozen->implicit,
                                  .rtol = s->options->rtol,
                                  .size = s->size};
  NsStatus status = ns_variational_new(&s->variational, &problem);
  return status == NS_OK ? NS_OK : ns_fail(err, status, "sensitivities: %s", ns_status_message(status));
}

/* X at the nodes of the whole piece that lie in the last step. */
static NsStatus keep_nodes(NsSensitivity *s, const NsFrozen *frozen, const NsCourse *course, NsError *err) {
  const NsVariationalState *state = ns_variational_state(s->variational);
  ptrdiff_t size = (ptrdiff_t)s->nx * s->p;
  NsStatus status = NS_OK;
  for (int k = 0; k < NS_BERNSTEIN_SIZE && status == NS_OK && s->keeps_nodes; k++) {
    double t = course->t_old + ns_bernstein_node(k) * (course->t - course->t_old);
    if (k + 1 == NS_BERNSTEIN_SIZE) t = course->t;
    if (t < state->t_old || t > state->t) continue;
    status = ns_variational_at(s->variational, t, s->dense, err);
    if (status == NS_OK) status = course->at(course->context, t, s->direction, err);
    if (status == NS_OK) status = frozen->states(frozen->context, s, t, s->direction, s->dense, s->nodes + k * size, err);
  }
  return status;
}

/* X at the nodes of a piece in which S does not change. */
static NsStatus hold_nodes(NsSensitivity *s, const NsFrozen *frozen, const NsCourse *course, NsError *err) {
  ptrdiff_t size = (ptrdiff_t)s->nx * s->p;
  NsStatus status = course->at(course->context, course->t_old, s->direction, err);
  for (int k = 0; k < NS_BERNSTEIN_SIZE && status == NS_OK && s->keeps_nodes; k++)
    status = frozen->states(frozen->context, s, course->t, s->direction, s->S, s->nodes + k * size, err);
  return status;
}

/* S goes from s->from to s->to. */
static NsStatus piece_integrate(NsSensitivity *s, const NsFrozen *frozen, const NsCourse *course, NsError *err) {
  const NsVariationalState *state = ns_variational_state(s->variational);
  ns_variational_start(s->variational, s->from, s->S, s->to - s->from);
  NsStatus status = NS_OK;
  for (int steps = 0; state->t < s->to && status == NS_OK; steps++) {
    if (steps == PIECE_STEPS) return ns_fail(err, NS_EMAXITER, "sensitivities: too many steps before t=%.10g", s->to);
    status = ns_variational_step(s->variational, s->to, err);
    if (status == NS_OK) status = keep_nodes(s, frozen, course, err);
  }
  memcpy(s->S, state->y, (size_t)s->n * (size_t)s->p * sizeof *s->S);
  return status;
}

/* S goes along [a, b], in halves where the nodes do not resolve J and P. */
static NsStatus piece_go(NsSensitivity *s, const NsFrozen *frozen, const NsCourse *course, double a, double b, int halved,
                         NsError *err) {
  NsStatus status = ns_sensitivity_sample(s, frozen, course, a, b, true, err);
  if (status != NS_OK) return status;
  double middle = a + (b - a) / 2;
  if (halved < PIECE_HALVINGS && middle > a && middle < b && !piece_resolved(s, b - a)) {
    status = piece_go(s, frozen, course, a, middle, halved + 1, err);
    return status == NS_OK ? piece_go(s, frozen, course, middle, b, halved + 1, err) : status;
  }
  s->from = a, s->to = b;
  return piece_integrate(s, frozen, course, err);
}

bool ns_sensitivity_still(double a, double b) {
  return !(b - a > SHORTEST * fabs(b));
}

NsStatus ns_sensitivity_piece(NsSensitivity *s, const NsFrozen *frozen, const NsCourse *course, NsError *err) {
  double a = course->t_old, b = course->t;
  NsStatus status = NS_OK;
  s->t = b;
  if (s->n == 0 || s->p == 0) return NS_OK;
  if (s->trail) return ns_trail_piece(s, frozen, course, err);
  if (ns_sensitivity_still(a, b)) return hold_nodes(s, frozen, course, err);
  status = take_variational(s, frozen, err);
  if (status == NS_OK) status = course->at(course->context, a, s->u, err);
  if (status == NS_OK) status = ns_sensitivity_note(s, frozen, a, s->u, err);
  for (int e = 0; e < s->n * s->p; e++) s->most[e] = fmax(s->most[e], fabs(s->S[e]));
  return status == NS_OK ? piece_go(s, frozen, course, a, b, 0, err) : status;
}

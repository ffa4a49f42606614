/*
** signs.c
** Whether every row keeps the law of its mode along a whole element, not only at its nodes. Along the polynomial of the states,
** y and lambda belong to the smooth motion of the mode; they are interpolated by polynomials of degree 8. The bounds of these,
** less the errors of interpolation and of the states, tell the sign. Where they do not, the element is too long.
*/
#include <float.h>
#include <math.h>
#include <string.h>

#include "integrators/fesd/fesd.h"
#include "ode/bernstein.h"

enum { POINTS = NS_BERNSTEIN_SIZE, DEGREE = NS_BERNSTEIN_DEGREE };

/* A polynomial is halved so many times to tell its sign: 64 pieces. */
enum { SIGN_HALVINGS = 6 };

/* Factor of the interpolation error of (p(x) - p(0)) / x: the factor of a slope at the end of [0, 1]. */
static const double SLOPE_ERROR = DEGREE * DEGREE;

/*
** Safety factor of the error of the states, which is measured at one point. 4: a factor 2 for the other points, and 2 for terms of
** higher order.
*/
static const double STATE_SAFETY = 4;

/* y within this part of its terms of 0 at the start of an element begins at 0, as in ns_fesd_mark_ties. */
static const double BEGINS = 1e-10;

/* Part of its terms by which y or lambda may violate its bound; as at the nodes. */
static const double NOISE = 1e-12;

/* Where the first violation is beyond this place of an element, it is halved instead of being ended there. */
static const double LATE = 0.9;

/* ---- values along an element ---- */

/* A piece of an element, as places in [0, 1]. */
typedef struct Piece {
  const NsFesdElement *e;
  double from, width;
  bool last;
} Piece;

/* The place in the element of point j. */
static double place_of(const Piece *piece, int j) {
  return piece->from + piece->width * ns_bernstein_node(j);
}

static double time_of(const Piece *piece, int j) {
  return piece->e->t + place_of(piece, j) * piece->e->h;
}

/* x, and the bounds of lambda, at the points. */
static NsStatus dense_states(NsFesd *w, const Piece *piece, NsError *err) {
  NsFesdDense *c = &w->dense;
  NsStatus status = NS_OK;
  for (int j = 0; j < POINTS && status == NS_OK; j++) {
    ptrdiff_t row = (ptrdiff_t)j * w->m;
    ns_fesd_interpolate(w, 0, place_of(piece, j), w->N, piece->e->x, c->x + (ptrdiff_t)j * w->N);
    status = ns_fesd_bounds(w, time_of(piece, j), c->lower + row, c->upper + row, err);
  }
  return status;
}

/* y and lambda at point j, for the states s, by the smooth motion of the mode; rate (NULL: not wanted). */
static NsStatus dense_point(NsFesd *w, const Piece *piece, int j, const double *s, double *rate, double *y, double *lambda,
                            NsError *err) {
  size_t bytes = (size_t)w->m * sizeof *y;
  double t = time_of(piece, j);
  *w->clock = t;
  if (w->motion) {
    NsStatus status = ns_fesd_forces(w, t, s, piece->e->mode, rate, lambda, err);
    memcpy(y, w->now->y, bytes);
    return status;
  }
  const NsFlowView *now = ns_flow_view(w->flow.of);
  NsStatus status = ns_flow_evaluate(w->flow.of, t, s, rate, err);
  if (status != NS_OK) return status;
  memcpy(y, now->y, bytes);
  memcpy(lambda, now->lambda, bytes);
  for (int a = 0; a < w->m; a++) w->dense.lambda_terms[a] = fmax(w->dense.lambda_terms[a], now->lambda_terms[a]);
  return ns_flow_is_determined(w->flow.of) ? NS_OK : NS_ESINGULAR;
}

/*
** The error of the states at the points, without the one at the start of the element: s_0 + h times the integral of the rates, less s.
** Returns the point at which it is largest, by the sizes of the states; -1: there is none.
*/
static int dense_error(NsFesd *w, const Piece *piece) {
  NsFesdDense *c = &w->dense;
  int nd = w->motion ? w->N : ns_flow_view(w->flow.of)->nd;
  double largest[POINTS] = {0};
  int worst = -1;
  for (int i = 0; i < nd; i++) {
    double v[POINTS], b[POINTS], sum[POINTS + 1] = {0}, size = 0;
    for (int j = 0; j < POINTS; j++) v[j] = c->rate[j * w->N + i], size = fmax(size, fabs(c->s[j * w->N + i]));
    (void)ns_bernstein_interpolate(v, b);
    for (int k = 0; k < POINTS; k++) sum[k + 1] = sum[k] + b[k] / POINTS;
    for (int j = 1; j < POINTS; j++) {
      double value[POINTS + 1], place = ns_bernstein_node(j);
      memcpy(value, sum, sizeof value);
      for (int m = POINTS; m > 0; m--)
        for (int k = 0; k < m; k++) value[k] = (1 - place) * value[k] + place * value[k + 1];
      double way = piece->e->h * piece->width * value[0], error = c->s[i] + way - c->s[j * w->N + i];
      bool rounding = fabs(error) <= 64 * DBL_EPSILON * (size + fabs(way));
      error = c->error[j * w->N + i] = (rounding ? 0 : error) + c->carried[i];
      if (error != 0) largest[j] = fmax(largest[j], fabs(error) / (size + fabs(way)));
    }
    c->carried[i] = c->error[(POINTS - 1) * w->N + i];
  }
  for (int j = 1; j < POINTS; j++)
    if (largest[j] > (worst < 0 ? 0 : largest[worst])) worst = j;
  return worst;
}

/* The changes of y and lambda that the error of the states makes, at the point where it is largest. */
static NsStatus dense_sensitivity(NsFesd *w, const Piece *piece, NsError *err) {
  NsFesdDense *c = &w->dense;
  int m = w->m, j = dense_error(w, piece);
  memset(c->y_error, 0, (size_t)m * sizeof *c->y_error);
  memset(c->lambda_error, 0, (size_t)m * sizeof *c->lambda_error);
  if (j < 0) return NS_OK;
  for (int i = 0; i < w->N; i++) c->moved[i] = c->s[j * w->N + i] + c->error[j * w->N + i];
  NsStatus status = dense_point(w, piece, j, c->moved, NULL, c->y_error, c->lambda_error, err);
  for (int a = 0; a < m && status == NS_OK; a++) {
    c->y_error[a] = STATE_SAFETY * fabs(c->y_error[a] - c->y[j * m + a]);
    c->lambda_error[a] = STATE_SAFETY * fabs(c->lambda_error[a] - c->lambda[j * m + a]);
  }
  return status;
}

/* y and lambda at the points by the smooth motion, and their errors. */
static NsStatus dense_by_motion(NsFesd *w, const Piece *piece, NsError *err) {
  NsFesdDense *c = &w->dense;
  memset(c->lambda_terms, 0, (size_t)w->m * sizeof *c->lambda_terms);
  NsStatus status = w->motion ? NS_OK : ns_fesd_begin_flow(w, piece->e->mode, err);
  for (int j = 0; j < POINTS && status == NS_OK; j++) {
    double *s = c->s + (ptrdiff_t)j * w->N, *x = c->x + (ptrdiff_t)j * w->N;
    if (w->motion) memcpy(s, x, (size_t)w->N * sizeof *s);
    else ns_flow_gather(w->flow.of, x, s);
    status = dense_point(w, piece, j, s, c->rate + (ptrdiff_t)j * w->N, c->y + (ptrdiff_t)j * w->m,
                         c->lambda + (ptrdiff_t)j * w->m, err);
  }
  return status == NS_OK ? dense_sensitivity(w, piece, err) : status;
}

/* y and lambda at the points by the polynomials of the element, where the motion does not determine lambda. */
static NsStatus dense_by_nodes(NsFesd *w, const Piece *piece, NsError *err) {
  const NsFesdElement *e = piece->e;
  NsFesdDense *c = &w->dense;
  int m = w->m;
  size_t bytes = (size_t)m * sizeof(double);
  memset(c->y_error, 0, bytes);
  memset(c->lambda_error, 0, bytes);
  memset(c->lambda_terms, 0, bytes);
  for (int j = 0; j < POINTS; j++) {
    double *lambda = c->lambda + (ptrdiff_t)j * m;
    ns_fesd_interpolate(w, 1, place_of(piece, j), m, e->lambda, lambda);
    for (int a = 0; a < m; a++) {
      if (e->mode[a] == MODE_LOWER) lambda[a] = c->lower[j * m + a];
      if (e->mode[a] == MODE_UPPER) lambda[a] = c->upper[j * m + a];
    }
    NsStatus status = ns_fesd_equations(w, time_of(piece, j), c->x + (ptrdiff_t)j * w->N, lambda, false, err);
    if (status != NS_OK) return status;
    memcpy(c->y + (ptrdiff_t)j * m, w->point.gap, bytes);
  }
  return NS_OK;
}

/* ---- the sign of a guard ---- */

typedef enum Sign { SIGN_KEPT, SIGN_UNSURE, SIGN_BROKEN } Sign;

/* Values of a guard at the points, the value below 0 that is rounding, and their errors. */
typedef struct Guard {
  double v[POINTS];
  double noise, error;
  double begins; /* the guard begins at 0 when its first value is not above this */
  bool ends;     /* it is 0 at the end of the element */
} Guard;

/* The sign of a polynomial in [from, from + width]; *place: a point where it is broken. Overwrites b. */
static Sign polynomial_sign(int n, double *b, double low, double error, double from, double width, int halvings,
                            double *place) {
  double right[POINTS];
  bool kept = true;
  for (int k = 0; k <= n; k++) kept = kept && b[k] > low + error;
  if (kept) return SIGN_KEPT;
  if (b[0] < low - error) return *place = from, SIGN_BROKEN;
  if (b[n] < low - error) return *place = from + width, SIGN_BROKEN;
  if (halvings == 0) return SIGN_UNSURE;
  ns_bernstein_split(n, b, right);
  Sign first = polynomial_sign(n, b, low, error, from, width / 2, halvings - 1, place);
  if (first == SIGN_BROKEN) return first;
  Sign second = polynomial_sign(n, right, low, error, from + width / 2, width / 2, halvings - 1, place);
  return second == SIGN_KEPT ? first : second;
}

/* b (n numbers, of degree n - 1) = (p(1) - p(x)) / (x - 1): removes a root at 1. */
static void divide_at_end(int n, double *b) {
  for (int k = 0, j = n; k < j; k++, j--) {
    double kept = b[k];
    b[k] = b[j], b[j] = kept;
  }
  ns_bernstein_divide(n, b);
  for (int k = 0, j = n - 1; k < j; k++, j--) {
    double kept = b[k];
    b[k] = b[j], b[j] = kept;
  }
}

static Sign guard_sign(const Guard *g, double *place) {
  double b[POINTS], room[POINTS], most = 0;
  int n = DEGREE;
  for (int j = 0; j < POINTS; j++) most = fmax(most, fabs(g->v[j]));
  if (most <= g->noise) return SIGN_KEPT;
  double error = NS_BERNSTEIN_SAFETY * ns_bernstein_interpolate(g->v, b), of_state = g->error;
  if (g->ends) divide_at_end(n--, b), error *= SLOPE_ERROR, of_state *= 4;
  bool begins = g->v[0] <= g->begins;
  Sign sign = SIGN_UNSURE;
  for (int order = begins; order <= (begins ? 2 : 0); order++) {
    if (order > 0) ns_bernstein_divide(n--, b), error *= SLOPE_ERROR, of_state *= 4;
    memcpy(room, b, sizeof room);
    sign = polynomial_sign(n, room, -g->noise, error + of_state, 0, 1, SIGN_HALVINGS, place);
    if (sign == SIGN_KEPT || b[0] > error + of_state + g->noise) return sign;
  }
  return sign;
}

/* The guard of a row by the dense output; reached: it is 0 at the end. */
static Guard guard_of(const NsFesd *w, const Piece *piece, NsFesdGuard which, bool reached) {
  const NsFesdElement *e = piece->e;
  const NsFesdDense *c = &w->dense;
  int a = which.row, m = w->m;
  bool active = e->mode[a] == MODE_ACTIVE;
  double most = 0; /* the largest |bound| */
  Guard g = {.ends = reached};
  for (int j = 0; j < POINTS; j++) {
    double y = c->y[j * m + a], lambda = c->lambda[j * m + a];
    double bound = which.side == MODE_LOWER ? c->lower[j * m + a] : c->upper[j * m + a];
    most = fmax(most, fabs(bound));
    if (active) g.v[j] = which.side == MODE_LOWER ? lambda - bound : bound - lambda;
    else g.v[j] = e->mode[a] == MODE_LOWER ? y : -y;
  }
  double size = e->y_size[m + a];
  if (active) size = c->lambda_terms[a] > 0 ? c->lambda_terms[a] + most : e->lambda_size[m + a];
  g.noise = NOISE * size;
  g.error = active ? c->lambda_error[a] : c->y_error[a];
  g.begins = BEGINS * size;
  if (!active || g.v[0] <= g.begins) return g;
  /* The multiplier of the method has an error of its own, by which it may have been at its bound at the start. */
  double apart = 0;
  for (int i = 1; i <= w->tableau.s; i++) {
    double v[POINTS], b[POINTS];
    for (int j = 0; j < POINTS; j++) v[j] = c->lambda[j * m + a];
    (void)ns_bernstein_interpolate(v, b);
    apart = fmax(apart, fabs(ns_bernstein_at(DEGREE, b, w->node[i]) - e->lambda[i * m + a]));
  }
  if (w->count == 0 || w->elements[w->count - 1]->mode[a] != MODE_ACTIVE) g.begins = fmax(g.begins, apart);
  return g;
}

/* y and lambda at the points of a piece. */
static NsStatus dense_values(NsFesd *w, const Piece *piece, NsError *err) {
  NsError why = {NS_OK, ""};
  NsStatus status = dense_states(w, piece, &why);
  if (status == NS_OK) status = dense_by_motion(w, piece, &why);
  if (status == NS_OK || ns_fesd_worth_retrying(status)) return status == NS_OK ? NS_OK : dense_by_nodes(w, piece, err);
  if (err) *err = why;
  return status;
}

/* Tests the guards of a row along a piece: *first, the first place where one is broken, becomes less; *unsure. */
static void test_row(const NsFesd *w, const Piece *piece, int a, NsFesdGuard reached, double *first, bool *unsure) {
  const NsFesdElement *e = piece->e;
  bool active = e->mode[a] == MODE_ACTIVE;
  for (int side = MODE_LOWER; side <= MODE_UPPER; side += 2) {
    if (side == MODE_UPPER && !active) continue;
    if (active && !isfinite(side == MODE_LOWER ? w->end.lower[a] : w->end.upper[a])) continue;
    bool ends = piece->last && reached.row == a && (!active || reached.side == side);
    Guard guard = guard_of(w, piece, (NsFesdGuard){a, side}, ends);
    double place = 1;
    Sign sign = guard_sign(&guard, &place);
    if (sign == SIGN_BROKEN) *first = fmin(*first, piece->from + piece->width * place);
    *unsure = *unsure || sign == SIGN_UNSURE;
  }
}

NsStatus ns_fesd_signs(NsFesd *w, const NsFesdElement *e, NsFesdGuard reached, int pieces, double *cut, NsError *err) {
  const NsFesdRows *rows = &w->rows;
  double first = 2;
  bool any = false, unsure = false;
  *cut = 1;
  for (int a = 0; a < w->m; a++) any = any || (!rows->fixed[a] && ns_fesd_bounded(w->end, a));
  if (!any) return NS_OK;
  memset(w->dense.carried, 0, (size_t)w->N * sizeof *w->dense.carried);
  for (int k = 0; k < pieces && first > 1; k++) {
    Piece piece = {e, (double)k / pieces, 1. / pieces, k + 1 == pieces};
    NsStatus status = dense_values(w, &piece, err);
    if (status != NS_OK) return status;
    for (int a = 0; a < w->m; a++)
      if (!rows->fixed[a]) test_row(w, &piece, a, reached, &first, &unsure);
  }
  if (first <= 1 || unsure) *cut = first < LATE && first > 0 ? first : 0.5;
  return NS_OK;
}

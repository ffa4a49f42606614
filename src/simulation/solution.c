/*
** solution.c
** Records a run.
*/
#include "simulation/solution.h"

#include <string.h>

#include "base/memory.h"

/* Memory that is not zeroed: rows are written before they are read, and pages that are not written cost nothing. */
static double *solution_columns(long rows, int cols, bool *failed) {
  double *block = NULL;
  if (rows >= 0 && (cols == 0 || (size_t)rows <= SIZE_MAX / sizeof(double) / (size_t)cols))
    block = ns_resize(NULL, (size_t)rows * (size_t)cols, sizeof(double));
  if (!block) *failed = true;
  return block;
}

NsStatus ns_solution_new(NsSolution **out, const NsTimeStepping *ts, long capacity, int nobserved, int np) {
  *out = NULL;
  NsSolution *s = ns_alloc(1, sizeof *s);
  if (!s) return NS_ENOMEM;
  for (int i = 0; i < ts->nsds->nds; i++) s->nx += ts->nsds->ds[i]->n;
  for (int i = 0; i < ts->nsds->ninteractions; i++) s->m += ts->nsds->interactions[i]->m;
  size_t links = (size_t)ts->nsds->ninteractions;
  s->version = ts->nsds->version;
  s->ninteractions = ts->nsds->ninteractions;
  s->interactions = ns_alloc(links, sizeof(NsInteraction *));
  bool failed = !s->interactions;
  if (!failed && links > 0) memcpy(s->interactions, ts->nsds->interactions, links * sizeof(NsInteraction *));
  s->capacity = capacity;
  s->locates = ts->class->locates;
  s->t = solution_columns(capacity, 1, &failed);
  s->x = solution_columns(capacity, s->nx, &failed);
  s->lambda = solution_columns(capacity, s->m, &failed);
  s->y = solution_columns(capacity, s->m, &failed);
  s->iterations = solution_columns(capacity, 1, &failed);
  s->np = np;
  s->S = solution_columns(capacity, s->nx * np, &failed);
  s->nobserved = nobserved;
  s->observed = solution_columns(capacity, nobserved, &failed);
  if (failed) return ns_solution_free(s), NS_ENOMEM;
  *out = s;
  return NS_OK;
}

void ns_solution_free(NsSolution *s) {
  if (!s) return;
  ns_free(s->t);
  ns_free(s->x);
  ns_free(s->lambda);
  ns_free(s->y);
  ns_free(s->iterations);
  ns_free(s->observed);
  ns_free(s->S);
  ns_free(s->slopes.dt);
  ns_free(s->events);
  ns_free(s->interactions);
  ns_solution_pieces_free(&s->pieces);
  ns_free(s);
}

/* Makes room for one more row. On NS_ENOMEM the rows so far stay readable. */
static NsStatus solution_grow(NsSolution *s) {
  if (s->rows < s->capacity) return NS_OK;
  long capacity = s->capacity + s->capacity / 2 + 16;
  NsSolution grown = *s;
  double **blocks[] = {&grown.t, &grown.x, &grown.lambda, &grown.y, &grown.iterations, &grown.observed};
  double *const old[] = {s->t, s->x, s->lambda, s->y, s->iterations, s->observed};
  int cols[] = {1, s->nx, s->m, s->m, 1, s->nobserved}, count = sizeof cols / sizeof *cols;
  bool failed = false;
  for (int i = 0; i < count; i++) {
    *blocks[i] = solution_columns(capacity, cols[i], &failed);
    for (int c = 0; c < cols[i] && !failed; c++)
      memcpy(*blocks[i] + (ptrdiff_t)c * capacity, old[i] + (ptrdiff_t)c * s->capacity, (size_t)s->rows * sizeof(double));
  }
  grown.S = solution_columns(capacity, s->nx * s->np, &failed);
  if (!failed && s->rows > 0 && s->np > 0) memcpy(grown.S, s->S, (size_t)s->rows * (size_t)(s->nx * s->np) * sizeof *s->S);
  for (int i = 0; i < count; i++) ns_free(failed ? *blocks[i] : old[i]);
  ns_free(failed ? grown.S : s->S);
  if (failed) return NS_ENOMEM;
  grown.capacity = capacity;
  *s = grown;
  return NS_OK;
}

/* Writes n values into consecutive columns of one row. */
static double *solution_put(double *cell, long stride, const double *values, int n) {
  for (int i = 0; i < n; i++, cell += stride) *cell = values[i];
  return cell;
}

double *ns_solution_column(const NsSolution *s, int c) {
  if (c == 0) return s->t;
  if (c <= s->nx) return s->x + (ptrdiff_t)(c - 1) * s->capacity;
  c -= 1 + s->nx;
  if (c < s->m) return s->lambda + (ptrdiff_t)c * s->capacity;
  c -= s->m;
  if (c < s->m) return s->y + (ptrdiff_t)c * s->capacity;
  c -= s->m;
  return c == 0 ? s->iterations : s->observed + (ptrdiff_t)(c - 1) * s->capacity;
}

int ns_solution_width(const NsSolution *s) {
  return 2 + s->nx + 2 * s->m + s->nobserved;
}

void ns_solution_row(const NsTimeStepping *ts, double *row) {
  const NsNsds *nsds = ts->nsds;
  *row++ = ns_ts_time(ts);
  for (int i = 0; i < nsds->nds; i++) row = solution_put(row, 1, nsds->ds[i]->x, nsds->ds[i]->n);
  for (int i = 0; i < nsds->ninteractions; i++)
    row = solution_put(row, 1, nsds->interactions[i]->lambda, nsds->interactions[i]->m);
  for (int i = 0; i < nsds->ninteractions; i++) row = solution_put(row, 1, nsds->interactions[i]->y, nsds->interactions[i]->m);
  *row = ts->k ? ts->newton_iterations : 0;
}

/* Writes the observed numbers and S of the last row, and counts it. */
static NsStatus solution_end_row(NsSolution *s, const double *observed, const double *S) {
  size_t size = (size_t)s->nx * (size_t)s->np;
  solution_put(s->observed + s->rows, s->capacity, observed, s->nobserved);
  if (size > 0) memcpy(s->S + (size_t)s->rows * size, S, size * sizeof *S);
  s->rows++;
  return NS_OK;
}

NsStatus ns_solution_append(NsSolution *s, const NsTimeStepping *ts, double t, const double *observed, const double *S) {
  if (solution_grow(s) != NS_OK) return NS_ENOMEM;
  const NsNsds *nsds = ts->nsds;
  double *x = s->x + s->rows, *lambda = s->lambda + s->rows, *y = s->y + s->rows;
  for (int i = 0; i < nsds->nds; i++) x = solution_put(x, s->capacity, nsds->ds[i]->x, nsds->ds[i]->n);
  for (int i = 0; i < nsds->ninteractions; i++) {
    const NsInteraction *inter = nsds->interactions[i];
    lambda = solution_put(lambda, s->capacity, inter->lambda, inter->m);
    y = solution_put(y, s->capacity, inter->y, inter->m);
  }
  s->t[s->rows] = t;
  s->iterations[s->rows] = s->rows ? ts->newton_iterations : 0;
  return solution_end_row(s, observed, S);
}

NsStatus ns_solution_append_row(NsSolution *s, const double *row, const double *observed, const double *S) {
  if (solution_grow(s) != NS_OK) return NS_ENOMEM;
  s->t[s->rows] = row[0];
  solution_put(s->x + s->rows, s->capacity, row + 1, s->nx);
  solution_put(s->lambda + s->rows, s->capacity, row + 1 + s->nx, s->m);
  solution_put(s->y + s->rows, s->capacity, row + 1 + s->nx + s->m, s->m);
  s->iterations[s->rows] = row[1 + s->nx + 2 * s->m];
  return solution_end_row(s, observed, S);
}

NsStatus ns_solution_take_events(NsSolution *s, const NsEventLog *log, long first) {
  long count = log->count > first ? log->count - first : 0;
  if (count == 0) return NS_OK;
  s->events = ns_alloc((size_t)count, sizeof *s->events);
  if (!s->events) return NS_ENOMEM;
  memcpy(s->events, log->events + first, (size_t)count * sizeof *s->events);
  s->nevents = count;
  return NS_OK;
}

/* ---- values between rows ---- */

/* The first row with a time of t or later. */
static long solution_row_from(const NsSolution *s, double t) {
  long low = 0, high = s->rows;
  while (low < high) {
    long middle = low + (high - low) / 2;
    if (s->t[middle] >= t) high = middle;
    else low = middle + 1;
  }
  return low;
}

/* Column c of the nx + 2 m columns, at its first row. */
static const double *solution_block(const NsSolution *s, int c) {
  if (c < s->nx) return s->x + (ptrdiff_t)c * s->capacity;
  c -= s->nx;
  return c < s->m ? s->lambda + (ptrdiff_t)c * s->capacity : s->y + (ptrdiff_t)(c - s->m) * s->capacity;
}

/* The numbers of ns_solution_at: x, lambda, y, then S. */
static int solution_numbers(const NsSolution *s) {
  return s->nx + 2 * s->m + s->nx * s->np;
}

static double solution_number(const NsSolution *s, long row, int c) {
  int columns = s->nx + 2 * s->m;
  return c < columns ? solution_block(s, c)[row] : s->S[(size_t)row * (size_t)(s->nx * s->np) + (size_t)(c - columns)];
}

/* Fills what no piece covers from the rows `row` - 1 and `row`, on the line between them. */
static void solution_interpolate(const NsSolution *s, double t, long row, const bool *known, double *values) {
  double a = s->t[row - 1], b = s->t[row], part = (t - a) / (b - a);
  for (int c = 0; c < solution_numbers(s); c++) {
    double left = solution_number(s, row - 1, c), right = solution_number(s, row, c);
    if (!known[c]) values[c] = left + part * (right - left);
  }
}

NsStatus ns_solution_at(const NsSolution *s, double t, bool before, double *values, NsError *err) {
  int ncols = solution_numbers(s);
  if (s->rows == 0 || !(t >= s->t[0]) || !(t <= s->t[s->rows - 1]))
    return ns_fail(err, NS_EARG, "at: t: expected a time in [%.10g, %.10g], got %.10g", s->rows ? s->t[0] : 0.0,
                   s->rows ? s->t[s->rows - 1] : 0.0, t);
  long row = solution_row_from(s, t);
  if (s->t[row] == t) {
    while (!before && row + 1 < s->rows && s->t[row + 1] == t) row++;
    for (int c = 0; c < ncols; c++) values[c] = solution_number(s, row, c);
    return NS_OK;
  }
  bool *known = ns_alloc((size_t)ncols, sizeof *known), all = true;
  if (!known) return ns_fail(err, NS_ENOMEM, "not enough memory");
  ns_solution_pieces_at(&s->pieces, t, values, known);
  for (int c = 0; c < ncols; c++) all = all && known[c];
  NsStatus status = NS_OK;
  if (!all && s->locates && s->pieces.count == 0)
    status = ns_fail(err, NS_EARG,
                     "at: t: there is no row at t=%.10g, and the run kept nothing between its rows: run{dense = true} does", t);
  else if (!all) solution_interpolate(s, t, row, known, values);
  ns_free(known);
  return status;
}

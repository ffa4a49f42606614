/*
** solution.c
** Records a run.
*/
#include "simulation/solution.h"

#include "base/memory.h"

/* Memory that is not zeroed: rows are written before they are read, and pages that are not written cost nothing. */
static double *solution_columns(long rows, int cols, bool *failed) {
  double *block = NULL;
  if (rows >= 0 && (cols == 0 || (size_t)rows <= SIZE_MAX / sizeof(double) / (size_t)cols))
    block = ns_resize(NULL, (size_t)rows * (size_t)cols, sizeof(double));
  if (!block) *failed = true;
  return block;
}

NsStatus ns_solution_new(NsSolution **out, const NsTimeStepping *ts, long capacity, int nobserved) {
  *out = NULL;
  NsSolution *s = ns_alloc(1, sizeof *s);
  if (!s) return NS_ENOMEM;
  for (int i = 0; i < ts->nsds->nds; i++) s->nx += ts->nsds->ds[i]->n;
  for (int i = 0; i < ts->nsds->ninteractions; i++) s->m += ts->nsds->interactions[i]->m;
  bool failed = false;
  s->capacity = capacity;
  s->t = solution_columns(capacity, 1, &failed);
  s->x = solution_columns(capacity, s->nx, &failed);
  s->lambda = solution_columns(capacity, s->m, &failed);
  s->y = solution_columns(capacity, s->m, &failed);
  s->iterations = solution_columns(capacity, 1, &failed);
  s->nobserved = nobserved;
  s->observed = solution_columns(capacity, nobserved, &failed);
  if (failed) {
    ns_solution_free(s);
    return NS_ENOMEM;
  }
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
  ns_free(s);
}

/* Writes n values into consecutive columns of one row. */
static double *solution_put(double *cell, long stride, const double *values, int n) {
  for (int i = 0; i < n; i++, cell += stride) *cell = values[i];
  return cell;
}

int ns_solution_columns(const NsTimeStepping *ts) {
  int count = 2;
  for (int i = 0; i < ts->nsds->nds; i++) count += ts->nsds->ds[i]->n;
  for (int i = 0; i < ts->nsds->ninteractions; i++) count += 2 * ts->nsds->interactions[i]->m;
  return count;
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

void ns_solution_append(NsSolution *s, const NsTimeStepping *ts, double t, const double *observed) {
  if (s->rows == s->capacity) return;
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
  solution_put(s->observed + s->rows, s->capacity, observed, s->nobserved);
  s->rows++;
}

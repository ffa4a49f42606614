/*
** record.c
** Writes the rows of a run.
*/
#include "simulation/record.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "simulation/user_search.h"

/* ---- rows ---- */

/* Appends record->row, with what is observed and S, to the solution and to the stream, as asked. */
static NsStatus record_put(NsRecord *r, const double *observed, const double *S, bool kept, bool streamed, NsError *err) {
  const NsRunOptions *o = r->options;
  if (kept && ns_solution_append_row(r->solution, r->row, observed, S) != NS_OK)
    return ns_fail(err, NS_ENOMEM, "not enough memory for the rows of the run");
  r->last = r->row[0];
  r->owed = false;
  if (!streamed) return NS_OK;
  size_t columns = 2 + (size_t)r->solution->nx + 2 * (size_t)r->solution->m;
  memcpy(o->row, r->row, columns * sizeof *o->row);
  if (o->nobserved > 0) memcpy(o->row + columns, observed, (size_t)o->nobserved * sizeof *o->row);
  ns_stream_row(o->stream, o->row);
  return NS_OK;
}

/* A walk through the present graph beside the interactions of the solution, most of which come in the same order. */
typedef struct GraphWalk {
  const NsNsds *nsds;
  int next, row; /* the interaction that comes next, and its first row */
} GraphWalk;

/* The first row of an interaction in the present graph, which is searched from where the walk is; -1: it is not linked. */
static int row_in_graph(GraphWalk *walk, const NsInteraction *inter) {
  const NsNsds *nsds = walk->nsds;
  if (inter->owner != nsds) return -1;
  for (int k = 0; k < nsds->ninteractions; k++) {
    if (walk->next == nsds->ninteractions) walk->next = walk->row = 0;
    const NsInteraction *present = nsds->interactions[walk->next++];
    int row = walk->row;
    walk->row += present->m;
    if (present == inter) return row;
  }
  return -1;
}

/* Fills record->row from the accepted state. An interaction that is not linked any more has NaN. */
static void row_of_state(NsRecord *r) {
  const NsNsds *nsds = r->ts->nsds;
  if (nsds->version == r->solution->version) {
    ns_solution_row(r->ts, r->row);
    return;
  }
  double *at = r->row;
  *at++ = ns_ts_time(r->ts);
  for (int d = 0; d < nsds->nds; at += nsds->ds[d++]->n) memcpy(at, nsds->ds[d]->x, (size_t)nsds->ds[d]->n * sizeof *at);
  double *y = at + r->solution->m;
  for (int i = 0; i < r->solution->ninteractions; i++) {
    const NsInteraction *inter = r->solution->interactions[i];
    bool linked = inter->owner == nsds;
    int m = inter->m;
    for (int k = 0; k < m; k++) *at++ = linked ? inter->lambda[k] : NAN, *y++ = linked ? inter->y[k] : NAN;
  }
  *y = r->ts->newton_iterations;
}

/* S of the present state; NULL: there is none. */
static const double *present_slopes(const NsRecord *r) {
  return r->solution->np > 0 && r->ts->sensitivities ? ns_sensitivities_gather(r->ts->sensitivities) : NULL;
}

/* Records the present state, as ns_record_step. */
static NsStatus record_present(NsRecord *r, bool kept, NsError *err) {
  const NsTimeStepping *ts = r->ts;
  const NsRunOptions *o = r->options;
  double t = ns_ts_time(ts);
  if (r->last == t && !r->owed) return NS_OK;
  kept = kept || r->owed;
  bool streamed = o->stream && (r->owed || ts->k % o->every == 0 || !ns_ts_has_next(ts));
  if (!kept && !streamed) return NS_OK;
  NsStatus status = o->observe ? o->observe(o->observer, err) : NS_OK;
  if (status != NS_OK) return status;
  bool same = ts->nsds->version == r->solution->version;
  const double *S = present_slopes(r);
  if (kept && same && ns_solution_append(r->solution, ts, t, o->observed, S) != NS_OK)
    return ns_fail(err, NS_ENOMEM, "not enough memory for the rows of the run");
  r->last = t;
  r->owed = false;
  if (same && !streamed) return NS_OK;
  row_of_state(r);
  return record_put(r, o->observed, S, kept && !same, streamed, err);
}

/* ---- what observers see ---- */

/* Writes the values of the dense output into the systems and interactions. */
static void show_side(NsNsds *nsds, const double *values) {
  for (int d = 0; d < nsds->nds; values += nsds->ds[d++]->n) {
    memcpy(nsds->ds[d]->x, values, (size_t)nsds->ds[d]->n * sizeof *values);
    nsds->ds[d]->x_version++;
  }
  for (int e = 0; e < nsds->ninteractions; values += nsds->interactions[e++]->m)
    memcpy(nsds->interactions[e]->lambda, values, (size_t)nsds->interactions[e]->m * sizeof *values);
  for (int e = 0; e < nsds->ninteractions; values += nsds->interactions[e++]->m)
    memcpy(nsds->interactions[e]->y, values, (size_t)nsds->interactions[e]->m * sizeof *values);
}

static NsRecordClock record_clock(const NsTimeStepping *ts) {
  return (NsRecordClock){ts->k, ts->part.divided, ts->total_known, ts->part.from, ts->total, ts->energy, ts->energy_k};
}

static void set_record_clock(NsTimeStepping *ts, const NsRecordClock *clock) {
  ts->k = clock->k;
  ts->part.divided = clock->divided;
  ts->total_known = clock->total_known;
  ts->part.from = clock->from;
  ts->total = clock->total;
  ts->energy = clock->energy;
  ts->energy_k = clock->energy_k;
}

/*
** Calls the observer with x, lambda and y of the dense output at a time that the clock tells; then everything is as before. state: of the
** objects at that time; NULL: everything else is as it is now.
*/
static NsStatus observe_past(NsRecord *r, const NsRecordClock *clock, const NsSnapshot *state, const double *values,
                             NsError *err) {
  NsTimeStepping *ts = r->ts;
  if (!r->options->observe) return NS_OK;
  NsStatus status = ns_snapshot_reserve(&r->snapshot, ns_nsds_visit, ts->nsds);
  if (status != NS_OK) return ns_fail(err, status, "not enough memory");
  NsRecordClock now = record_clock(ts);
  ns_snapshot_save(&r->snapshot, ns_nsds_visit, ts->nsds);
  if (state) (void)ns_snapshot_restore(state, ns_nsds_visit, ts->nsds);
  show_side(ts->nsds, values);
  set_record_clock(ts, clock);
  status = r->options->observe(r->options->observer, err);
  set_record_clock(ts, &now);
  (void)ns_snapshot_restore(&r->snapshot, ns_nsds_visit, ts->nsds);
  for (int d = 0; d < ts->nsds->nds; d++) ts->nsds->ds[d]->x_version++;
  return status;
}

/* ---- the first row ---- */

/* The numbers of a row with S and what is observed, one after the other. */
typedef struct RowSizes {
  size_t row, S, observed;
} RowSizes;

static RowSizes row_sizes(const NsRecord *r) {
  const NsSolution *s = r->solution;
  return (RowSizes){2 + (size_t)s->nx + 2 * (size_t)s->m, (size_t)s->nx * (size_t)s->np, (size_t)r->options->nobserved};
}

/* Keeps the present state as the first row, which waits for its multipliers. */
static NsStatus record_keep_start(NsRecord *r, NsError *err) {
  const NsRunOptions *o = r->options;
  RowSizes size = row_sizes(r);
  NsStatus status = o->observe ? o->observe(o->observer, err) : NS_OK;
  if (status != NS_OK) return status;
  if (!r->start) r->start = ns_alloc(size.row + size.S + size.observed, sizeof *r->start);
  if (!r->start) return ns_fail(err, NS_ENOMEM, "not enough memory");
  const double *S = present_slopes(r);
  row_of_state(r);
  memcpy(r->start, r->row, size.row * sizeof *r->start);
  if (S) memcpy(r->start + size.row, S, size.S * sizeof *S);
  if (size.observed > 0) memcpy(r->start + size.row + size.S, o->observed, size.observed * sizeof *r->start);
  r->start_has_S = S != NULL;
  if (o->observe) {
    if (ns_snapshot_reserve(&r->start_state, ns_nsds_visit, r->ts->nsds) != NS_OK)
      return ns_fail(err, NS_ENOMEM, "not enough memory");
    ns_snapshot_save(&r->start_state, ns_nsds_visit, r->ts->nsds);
    r->start_clock = record_clock(r->ts);
  }
  if (!o->dense) r->recorder.pieces = NS_PIECES_FIRST; /* it has the multipliers of the start */
  return NS_OK;
}

NsStatus ns_record_first(NsRecord *r, NsError *err) {
  const NsRunOptions *o = r->options;
  double t0 = ns_ts_time(r->ts);
  if (o->grid && r->ts->k == 0 && ns_user_events_instant(&r->ts->user) <= t0 + ns_ts_rounding(t0)) {
    r->owed = true; /* the row at the start is that after the instants there */
    return NS_OK;
  }
  if (!r->ts->drives || r->ts->k > 0 || r->solution->m == 0) return record_present(r, true, err);
  return record_keep_start(r, err);
}

/* Whether the dense output of the last step tells the multipliers at t0: it begins there, without an event. */
static bool dense_has_start(const NsRecord *r, double t0) {
  const NsStepDense *dense = &r->ts->dense;
  if (dense->count == 0 || dense->from != t0 || r->ts->nsds->version != r->solution->version) return false;
  for (int i = 0; i < dense->count; i++) {
    const NsIslandDense *c = &dense->of[i];
    if (c->npieces == 0 || c->spans[0] != t0 || (c->nsides > 0 && c->times[0] == t0)) return false;
  }
  return true;
}

/* Puts the multipliers of the start into the first row, and observes it with them. */
static NsStatus take_start(NsRecord *r, NsError *err) {
  const NsStepDense *dense = &r->ts->dense;
  RowSizes size = row_sizes(r);
  double *start = r->start, *values = ns_alloc((size_t)dense->ncols, sizeof *values);
  if (!values) return ns_fail(err, NS_ENOMEM, "not enough memory");
  ns_step_dense_at(dense, start[0], false, false, values);
  memcpy(start + 1 + dense->nx, values + dense->nx, (size_t)dense->m * sizeof *values);
  NsStatus status = observe_past(r, &r->start_clock, &r->start_state, values, err);
  if (size.observed > 0) memcpy(start + size.row + size.S, r->options->observed, size.observed * sizeof *start);
  ns_free(values);
  return status;
}

/* Records the first row, if it waits, before any other row. */
static NsStatus record_start(NsRecord *r, NsError *err) {
  double *start = r->start;
  if (!start) return NS_OK;
  RowSizes size = row_sizes(r);
  NsStatus status = dense_has_start(r, start[0]) ? take_start(r, err) : NS_OK;
  memcpy(r->row, start, size.row * sizeof *start);
  const double *S = r->start_has_S ? start + size.row : NULL, *observed = start + size.row + size.S;
  if (status == NS_OK) status = record_put(r, observed, S, true, r->options->stream != NULL, err);
  r->recorder.pieces = r->options->dense ? NS_PIECES_ALL : NS_PIECES_NONE;
  r->start = NULL;
  ns_free(start);
  return status;
}

NsStatus ns_record_step(NsRecord *r, bool kept, NsError *err) {
  NsStatus status = r->start ? record_start(r, err) : NS_OK;
  return status == NS_OK ? record_present(r, kept, err) : status;
}

/* ---- events of the user ---- */

/* An NsRecorder's row: the present state, at an event of the user. */
static NsStatus record_user_row(void *context, bool after, NsError *err) {
  NsRecord *r = context;
  if (r->start && r->start[0] == ns_ts_time(r->ts)) /* the row at the start is that after the instants there */
    return after ? record_keep_start(r, err) : NS_OK;
  NsStatus status = record_start(r, err);
  if (r->options->grid && !(after && r->owed)) return status;
  if (status != NS_OK || (!after && !r->owed && r->last == ns_ts_time(r->ts))) return status;
  status = r->options->observe ? r->options->observe(r->options->observer, err) : NS_OK;
  if (status != NS_OK) return status;
  row_of_state(r);
  return record_put(r, r->options->observed, present_slopes(r), true, r->options->stream != NULL, err);
}

/* ---- events of the schemes ---- */

/* record->row from the values of the dense output, whose columns belong to the present graph. */
static void row_of_side(NsRecord *r, double t, const double *values) {
  const NsNsds *nsds = r->ts->nsds;
  int nx = r->solution->nx, present = r->ts->dense.m;
  GraphWalk walk = {.nsds = nsds};
  double *lambda = r->row + 1 + nx, *y = lambda + r->solution->m;
  r->row[0] = t;
  memcpy(r->row + 1, values, (size_t)nx * sizeof *values);
  for (int i = 0; i < r->solution->ninteractions; i++) {
    int first = row_in_graph(&walk, r->solution->interactions[i]);
    for (int k = 0; k < r->solution->interactions[i]->m; k++) {
      *lambda++ = first >= 0 ? values[nx + first + k] : NAN;
      *y++ = first >= 0 ? values[nx + present + first + k] : NAN;
    }
  }
  *y = 0;
}

/* An NsSideRow. The row after an event at the end of the dense output shows the state there. */
static NsStatus record_side(void *context, double t, bool after, const double *values, NsError *err) {
  NsRecord *r = context;
  if (!after && t == r->last && !r->owed) return NS_OK;
  if (after && t == r->ts->dense.to) return r->owed = true, NS_OK;
  NsRecordClock clock = record_clock(r->ts);
  clock.divided = true;
  clock.from = t;
  NsStatus status = observe_past(r, &clock, NULL, values, err);
  if (status != NS_OK) return status;
  row_of_side(r, t, values);
  const NsStepDense *dense = &r->ts->dense;
  return record_put(r, r->options->observed, values + dense->nx + 2 * dense->m, true, r->options->stream != NULL, err);
}

/* Keeps the smooth pieces of the dense output. */
static NsStatus keep_pieces(NsRecord *r, NsError *err) {
  const NsNsds *nsds = r->ts->nsds;
  const NsStepDense *dense = &r->ts->dense;
  NsStatus status = NS_OK;
  if (r->pieces_of != nsds->version + 1) {
    int *column = ns_alloc((size_t)dense->ncols, sizeof *column);
    if (!column) return ns_fail(err, NS_ENOMEM, "not enough memory");
    for (int c = 0; c < dense->ncols; c++) column[c] = c < dense->nx ? c : -1;
    int half = dense->m, slopes = dense->nx + 2 * dense->m;
    for (int c = slopes; c < dense->ncols; c++) column[c] = r->solution->nx + 2 * r->solution->m + c - slopes;
    GraphWalk walk = {.nsds = nsds};
    for (int i = 0, own = 0; i < r->solution->ninteractions; own += r->solution->interactions[i++]->m) {
      int first = row_in_graph(&walk, r->solution->interactions[i]);
      for (int k = 0; k < r->solution->interactions[i]->m && first >= 0; k++) {
        column[dense->nx + first + k] = dense->nx + own + k;
        column[dense->nx + first + half + k] = dense->nx + r->solution->m + own + k;
      }
    }
    status = ns_solution_pieces_begin(&r->solution->pieces, dense, column);
    ns_free(column);
    r->pieces_of = nsds->version + 1;
  }
  if (status == NS_OK) status = ns_solution_pieces_add(&r->solution->pieces, dense);
  return status == NS_OK ? NS_OK : ns_fail(err, status, "not enough memory");
}

NsStatus ns_record_dense(NsRecord *r, NsError *err) {
  NsStepDense *dense = &r->ts->dense;
  NsStatus status = record_start(r, err);
  if (status == NS_OK && r->options->dense && ns_step_dense_is_smooth(dense)) status = keep_pieces(r, err);
  if (status != NS_OK || r->options->grid || !ns_step_dense_has_sides(dense)) return status;
  if (dense->count > 1 && !ns_step_dense_is_smooth(dense)) return NS_OK;
  return ns_step_dense_sides(dense, record_side, r, err);
}

static NsStatus record_user_dense(void *context, NsError *err) {
  return ns_record_dense(context, err);
}

/* ---- begin and end ---- */

NsStatus ns_record_begin(NsRecord *r, NsTimeStepping *ts, NsSolution *solution, const NsRunOptions *options, NsError *err) {
  *r = (NsRecord){.ts = ts, .solution = solution, .options = options, .events = ts->log.count, .last = -INFINITY};
  r->recorder = (NsRecorder){record_user_dense, record_user_row, r, options->dense ? NS_PIECES_ALL : NS_PIECES_NONE};
  r->row = ns_alloc(row_sizes(r).row, sizeof *r->row);
  if (!r->row) return ns_fail(err, NS_ENOMEM, "not enough memory for the rows of the run");
  ts->recorder = &r->recorder;
  return NS_OK;
}

NsStatus ns_record_end(NsRecord *r, NsError *err) {
  NsStatus started = record_start(r, err);
  NsStatus status = ns_solution_take_events(r->solution, &r->ts->log, r->events);
  r->ts->recorder = NULL;
  ns_free(r->start);
  ns_free(r->row);
  ns_snapshot_free(&r->snapshot);
  ns_snapshot_free(&r->start_state);
  if (started != NS_OK) return started;
  return status == NS_OK ? NS_OK : ns_fail(err, status, "not enough memory");
}

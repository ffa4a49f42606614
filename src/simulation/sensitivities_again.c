/*
** sensitivities_again.c
** The record of a run in bounded memory: parts of it are dropped, and made again on the adjoint pass.
*/
#include <string.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "integrators/sensitivity_tape.h"
#include "simulation/sensitivities.h"
#include "simulation/time_stepping.h"

static double bytes_of_record(const NsSensitivities *s) {
  double sum = s->instant_bytes;
  for (int i = 0; i < s->count; i++) sum += (double)s->of[i]->tape->bytes;
  return sum;
}

static double bytes_of_marks(const NsSensitivities *s) {
  return s->nmarks > 0
             ? s->nmarks * (double)(s->marks[0].state.size + sizeof *s->marks + (size_t)s->options.places * sizeof(double))
             : 0;
}

static NsStatus no_memory_for_marks(NsError *err) {
  return ns_fail(err, NS_ENOMEM, "not enough memory for the record of the run");
}

static NsStatus add_mark(NsSensitivities *s, NsTimeStepping *ts, NsError *err) {
  if (s->nmarks == s->room) {
    int room = 2 * s->room + 16;
    NsSensitivityMark *more = ns_resize(s->marks, (size_t)room, sizeof *more);
    if (!more) return no_memory_for_marks(err);
    s->marks = more, s->room = room;
  }
  NsSensitivityMark *mark = &s->marks[s->nmarks];
  *mark = (NsSensitivityMark){.k = ts->k, .t = ns_ts_time(ts), .d = ns_alloc((size_t)s->options.places + 1, sizeof(double))};
  s->nmarks++;
  if (!mark->d || ns_snapshot_reserve(&mark->state, ns_ts_visit, ts) != NS_OK) return no_memory_for_marks(err);
  ns_snapshot_save(&mark->state, ns_ts_visit, ts);
  ns_sensitivities_places(s, mark->d, false);
  return NS_OK;
}

/* The part of the steps from a mark to the present step that the gap has which is there without the next mark. */
static double gap_without(const NsSensitivityMark *next, long k) {
  return (double)(next[1].k - next[-1].k) / (double)(k - next[-1].k);
}

/*
** Drops marks between the first and the last while they take more than half of the memory, but LEAST stay. Each time that one goes which leaves the
** shortest gap, as a part of the steps from there to the present one: gaps so grow with the distance from the present, and each is divided again on
** the way back. 16,000 steps are repeated 10.5 times with 8 marks, 5.7 times with 16, 3.1 times with 64: the optimal schedule for a known number of steps
** repeats them 4.6 times with 16, 2.9 times with 64 (Griewank and Walther, Algorithm 799: revolve, ACM Trans. Math. Softw. 26, 2000).
*/
enum { LEAST = 8 };
static void thin_marks(NsSensitivities *s, long k) {
  while (s->nmarks > LEAST && bytes_of_marks(s) > s->options.memory / 2) {
    int drop = 1;
    for (int i = 2; i + 1 < s->nmarks; i++)
      if (gap_without(&s->marks[i], k) < gap_without(&s->marks[drop], k)) drop = i;
    ns_sensitivity_mark_free(&s->marks[drop]);
    memmove(&s->marks[drop], &s->marks[drop + 1], (size_t)(--s->nmarks - drop) * sizeof *s->marks);
  }
}

static void drop_record(NsSensitivities *s, double t) {
  for (int i = 0; i < s->count; i++) ns_run_tape_drop(s->of[i], t);
  ns_arena_release(&s->instants);
  s->instant = NULL, s->instant_bytes = 0;
}

NsStatus ns_sensitivities_mark(NsSensitivities *s, NsTimeStepping *ts, bool last, NsError *err) {
  if (!s->options.adjoint || !(s->options.memory > 0)) return NS_OK;
  if (s->nmarks == 0) return add_mark(s, ts, err);
  double bytes = bytes_of_record(s);
  if (bytes + bytes_of_marks(s) > s->most) s->most = bytes + bytes_of_marks(s);
  if (last || bytes <= s->options.memory / 2) return NS_OK;
  for (int i = 0; i < s->count; i++)
    if (ns_run_tape_ends_with_event(s->of[i]->tape, ns_ts_time(ts))) return NS_OK; /* what is at one time stays together */
  NsStatus status = add_mark(s, ts, err);
  if (status != NS_OK) return status;
  drop_record(s, ns_ts_time(ts));
  thin_marks(s, ts->k + 1);
  return NS_OK;
}

/* ---- the adjoint pass ---- */

static NsStatus restore_simulation(NsTimeStepping *ts, const NsSnapshot *state, NsError *err) {
  if (ns_snapshot_restore(state, ns_ts_visit, ts) != NS_OK)
    return ns_fail(err, NS_EARG, "gradient: the model was changed after the run");
  ns_ts_own(ts);
  ts->dense_known = false;
  for (int d = 0; d < ts->nsds->nds; d++) ts->nsds->ds[d]->x_version++;
  return NS_OK;
}

static NsStatus keep_end(NsSensitivities *s, NsTimeStepping *ts, NsError *err) {
  if (s->at_end) return NS_OK;
  if (ns_snapshot_reserve(&s->end, ns_ts_visit, ts) != NS_OK) return no_memory_for_marks(err);
  ns_snapshot_save(&s->end, ns_ts_visit, ts);
  s->log_count = ts->log.count, s->log_kept = ts->log.kept;
  s->at_end = true;
  return NS_OK;
}

/* Records the steps up to step k, from the last mark. */
static NsStatus record_again(NsSensitivities *s, NsTimeStepping *ts, long k, NsError *err) {
  NsStatus status = NS_OK;
  ts->sensitivities = s;
  while (ts->k < k && status == NS_OK) {
    if (ns_interrupted()) status = ns_fail(err, NS_EINTR, "interrupted (t=%g step %ld)", ns_ts_time(ts), ts->k);
    if (status == NS_OK) status = ns_ts_compute_step(ts, err);
    if (status == NS_OK) status = ns_ts_next_step(ts, err);
    if (status == NS_OK) status = ns_sensitivities_mark(s, ts, ts->k == k, err);
    s->steps_again++;
  }
  ts->sensitivities = NULL;
  return status;
}

NsStatus ns_sensitivities_earlier(NsSensitivities *s, NsTimeStepping *ts, bool *any, NsError *err) {
  *any = s->nmarks > 1;
  if (!*any) return NS_OK;
  ns_sensitivities_rewind(s);
  NsStatus status = keep_end(s, ts, err);
  if (status != NS_OK) return status;
  NsSensitivityMark *last = &s->marks[--s->nmarks];
  long k = last->k;
  ns_sensitivity_mark_free(last);
  NsTimeSteppingStats stats = ts->stats;
  const NsSensitivityMark *from = &s->marks[s->nmarks - 1];
  status = restore_simulation(ts, &from->state, err);
  ns_sensitivities_places(s, from->d, true);
  if (status == NS_OK) drop_record(s, from->t), status = record_again(s, ts, k, err);
  for (int i = 0; i < s->count; i++) ns_run_tape_again(s->of[i]);
  NsStatus back = restore_simulation(ts, &s->end, status == NS_OK ? err : NULL);
  ns_sensitivities_resume(s);
  ts->log.count = s->log_count, ts->log.kept = s->log_kept;
  ts->stats = stats;
  return status == NS_OK ? back : status;
}

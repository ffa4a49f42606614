/*
** events.c
** The log of switches, and the end of infinitely many switches.
*/
#include <math.h>
#include <string.h>

#include "integrators/fesd/fesd.h"

/* An accumulation that no cycle tells is passed by implicit Euler steps of this part of a step: 4 times what counts as one. */
static const double PASS = 0x1p-38;

/* ---- the log ---- */

static NsStatus log_switch(NsFesd *w, NsEventKind kind, int row, double before, double after, NsError *err) {
  int first, e = ns_fesd_interaction(w, row, &first);
  NsEvent event = {.kind = kind, .t = w->t, .component = row - first, .before = before, .after = after};
  memcpy(event.name, w->base.nsds->interactions[e]->name, sizeof event.name);
  return ns_event_log_add(w->log, &event) == NS_OK ? NS_OK : ns_fail(err, NS_ENOMEM, "not enough memory");
}

NsStatus ns_fesd_log_changes(NsFesd *w, NsError *err) {
  const NsFesdRows *rows = &w->rows;
  for (int a = 0; a < w->m; a++) {
    int from = rows->before[a], to = rows->mode[a];
    if (from == to) continue;
    double after = to == MODE_LOWER   ? w->end.lower[a]
                   : to == MODE_UPPER ? w->end.upper[a]
                                      : w->elements[w->count]->lambda[w->m + a];
    NsEventKind kind = to == MODE_ACTIVE ? NS_EVENT_REST : NS_EVENT_RELEASE;
    if (!w->motion) kind = ns_event_kind_of_switch(w->end.lower[a], w->end.upper[a], from == MODE_ACTIVE, to == MODE_ACTIVE);
    NsStatus status = log_switch(w, kind, a, w->end.lambda[a], after, err);
    if (status != NS_OK) return status;
  }
  return NS_OK;
}

/* ---- accumulations ---- */

/* Sets the modes at the end of an accumulation: rows of the cycle whose y reached 0 are active. All its rows are undecided. */
static void end_cycle(NsFesd *w, int cycle) {
  const NsFesdRows *rows = &w->rows;
  for (int a = 0; a < w->m; a++) {
    bool output;
    rows->ended[a] = ns_event_marks_have(&w->marks, cycle, a, &output);
    rows->tie[a] = rows->tie[a] || rows->ended[a];
    if (output) rows->mode[a] = MODE_ACTIVE;
  }
}

/* Moves w->flow.s, the states at w->t, on by an implicit Euler step of length h on the constraints of the modes. */
static NsStatus move_on_constraints(NsFesd *w, double h, NsError *err) {
  const NsFesdFlow *flow = &w->flow;
  double *rate = w->dense.moved;
  NsStatus status = ns_fesd_begin_flow(w, w->rows.mode, err);
  ns_flow_gather(flow->of, w->end.x, flow->s);
  *w->clock = w->t;
  if (status == NS_OK) status = ns_flow_project(flow->of, w->t, flow->s, err);
  if (status == NS_OK) status = ns_flow_evaluate(flow->of, w->t, flow->s, rate, err);
  for (int i = 0; i < ns_flow_view(flow->of)->nd && status == NS_OK; i++) flow->s[i] += h * rate[i];
  *w->clock = w->t + h;
  return status == NS_OK ? ns_flow_project(flow->of, w->t + h, flow->s, err) : status;
}

NsStatus ns_fesd_pass_accumulation(NsFesd *w, double rest, int cycle, NsError *err) {
  const NsFesdRows *rows = &w->rows;
  double end = fmin(w->t + rest, w->t_end);
  const NsFlowView *now = ns_flow_view(w->flow.of);
  memcpy(rows->before, rows->mode, (size_t)w->m * sizeof *rows->mode);
  memcpy(w->guess.q, w->end.lambda, (size_t)w->m * sizeof *w->guess.q);
  end_cycle(w, cycle);
  NsStatus status = move_on_constraints(w, end - w->t, err);
  if (status != NS_OK) {
    memcpy(rows->mode, rows->before, (size_t)w->m * sizeof *rows->mode);
    return status;
  }
  w->t = end;
  memcpy(w->end.x, now->x, (size_t)w->N * sizeof *w->end.x);
  memcpy(w->end.lambda, now->lambda, (size_t)w->m * sizeof *w->end.lambda);
  for (int a = 0; a < w->m && status == NS_OK; a++)
    if (rows->ended[a]) status = log_switch(w, NS_EVENT_ACCUMULATE, a, w->guess.q[a], w->end.lambda[a], err);
  w->marks.count = 0;
  return status == NS_OK ? ns_fesd_measure(w, fmax(end - w->t, PASS * w->h), err) : status;
}

NsStatus ns_fesd_pass_by_euler(NsFesd *w, int row, NsError *err) {
  double h = fmin(PASS * w->h, w->t_end - w->t), before = w->end.lambda[row];
  NsStatus status = ns_fesd_pass(w, h, err);
  if (status != NS_OK) return status;
  status = log_switch(w, NS_EVENT_ACCUMULATE, row, before, w->end.lambda[row], err);
  w->t = w->t + h < w->t_end ? w->t + h : w->t_end;
  if (status == NS_OK) status = ns_fesd_measure(w, h, err);
  for (int a = 0; a < w->m; a++) w->rows.tie[a] = ns_fesd_bounded(w->end, a);
  return status;
}

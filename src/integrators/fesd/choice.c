/*
** choice.c
** The modes that follow a switch of a first-order model, by the rates of the smooth motions: the same choice as in EventDriven,
** so that both say the same where several motions are possible.
*/
#include <math.h>
#include <string.h>

#include "integrators/fesd/fesd.h"

static NsRowMode row_mode_of(int mode) {
  return mode == MODE_LOWER ? NS_ROW_LOWER : mode == MODE_UPPER ? NS_ROW_UPPER : NS_ROW_ACTIVE;
}

static int mode_of_row(NsRowMode mode) {
  return mode == NS_ROW_LOWER ? MODE_LOWER : mode == NS_ROW_UPPER ? MODE_UPPER : MODE_ACTIVE;
}

/* Whether a row is undecided: its switch was located here, or its y or its lambda is at the limit of its mode. */
static bool is_undecided(const NsFesd *w, int row) {
  const NsFesdRows *rows = &w->rows;
  if (rows->ended[row]) return true;
  if (!rows->tie[row] || rows->mode[row] != MODE_ACTIVE || row == w->reached) return rows->tie[row];
  double near = FESD_AT_BOUND * w->end.lambda_size[row];
  return w->end.lambda[row] - w->end.lower[row] <= near || w->end.upper[row] - w->end.lambda[row] <= near;
}

NsStatus ns_fesd_begin_flow(NsFesd *w, const int *mode, NsError *err) {
  NsFesdFlow *flow = &w->flow;
  NsStatus status = NS_OK;
  if (!flow->begun) status = ns_flow_begin(flow->of, w->t_k, fmin(w->h, w->data.piece), err);
  if (status != NS_OK) return status;
  flow->begun = true;
  for (int a = 0; a < w->m; a++) flow->mode[a] = row_mode_of(mode[a]);
  ns_flow_set_mode(flow->of, flow->mode);
  return NS_OK;
}

/* Evaluates the flow in the present modes at the present state, so that lambda before the switch is known. */
static NsStatus evaluate_before(NsFesd *w, NsError *err) {
  const NsFesdFlow *flow = &w->flow;
  NsStatus status = ns_fesd_begin_flow(w, w->rows.mode, err);
  if (status != NS_OK) return status;
  for (int a = 0; a < w->m; a++) flow->open[a] = is_undecided(w, a);
  ns_flow_gather(flow->of, w->end.x, flow->s);
  status = ns_flow_evaluate(flow->of, w->t, flow->s, NULL, err);
  return ns_fesd_worth_retrying(status) ? NS_OK : status;
}

bool ns_fesd_undecided(const NsFesd *w) {
  for (int a = 0; a < w->m; a++)
    if (is_undecided(w, a)) return true;
  return false;
}

NsStatus ns_fesd_follows(NsFesd *w, bool *follows, NsError *err) {
  const NsFesdFlow *flow = &w->flow;
  NsError why = {NS_OK, ""};
  NsStatus status = ns_fesd_begin_flow(w, w->rows.mode, &why);
  if (status == NS_OK) {
    ns_flow_gather(flow->of, w->end.x, flow->s);
    status = ns_mode_judge(flow->of, w->t, flow->s, w->rows.tie, follows, &why);
  }
  if (status != NS_OK) *follows = true;
  if (ns_fesd_worth_retrying(status)) return NS_OK;
  if (err) *err = why;
  return status;
}

/* Takes the states and multipliers that the flow was evaluated at. */
static NsStatus take_flow_point(NsFesd *w, NsError *err) {
  const NsFesdNode *end = &w->end;
  const NsFlowView *now = ns_flow_view(w->flow.of);
  memcpy(end->x, now->x, (size_t)w->N * sizeof *end->x);
  memcpy(end->lambda, now->lambda, (size_t)w->m * sizeof *end->lambda);
  return ns_fesd_measure(w, w->h / w->options.elements, err);
}

static void take_modes(NsFesd *w) {
  const NsFesdRows *rows = &w->rows;
  const NsFlowView *now = ns_flow_view(w->flow.of);
  for (int a = 0; a < w->m; a++) {
    int mode = mode_of_row(now->mode[a]);
    if (rows->fixed[a] || rows->mode[a] == mode) continue;
    rows->mode[a] = mode;
    rows->tie[a] = true;
  }
}

/*
** A switch to modes with constraints that the states do not fulfil: an impulse brings them there, where there is one, and the modes
** are chosen again. Where there is none, *jumped is false and the choice stays.
*/
static NsStatus jump_to_mode(NsFesd *w, NsModeChoice *choice, bool *jumped) {
  const NsFesdFlow *flow = &w->flow;
  NsError why = {NS_OK, ""};
  take_modes(w);
  NsStatus status = ns_mode_jump(flow->of, w->t, flow->s, NULL, jumped, &why);
  if (status != NS_OK || !*jumped) return *jumped = false, ns_fesd_worth_retrying(status) ? NS_OK : status;
  return ns_mode_choose(flow->of, w->t, flow->s, flow->open, (NsAmbiguity)w->options.ambiguity, choice, &why);
}

NsStatus ns_fesd_choose_by_rates(NsFesd *w, bool *found, NsError *err) {
  const NsFesdFlow *flow = &w->flow;
  NsModeChoice choice = {0};
  NsAmbiguity rule = (NsAmbiguity)w->options.ambiguity;
  NsError why = {NS_OK, ""};
  bool jumped = false;
  *found = false;
  *w->clock = w->t;
  NsStatus status = evaluate_before(w, &why);
  if (status == NS_OK && w->anew) status = ns_mode_start(flow->of, w->t, w->end.x, w->end.lambda, rule, flow->s, &choice, &why);
  else if (status == NS_OK) status = ns_mode_choose(flow->of, w->t, flow->s, flow->open, rule, &choice, &why);
  if (status == NS_OK && !w->anew) status = jump_to_mode(w, &choice, &jumped);
  w->ambiguous = status == NS_ENOSOL && choice.count > 1;
  if (w->ambiguous || !ns_fesd_worth_retrying(status)) {
    if (err) *err = why;
    return status;
  }
  if (status != NS_OK && w->broken)
    return ns_fail(err, NS_EARG, "FESDOSI: the start can not be made consistent: %.300s", why.text);
  if (status != NS_OK) return NS_OK;
  take_modes(w);
  *found = true;
  return jumped || choice.jumped ? take_flow_point(w, err) : NS_OK;
}

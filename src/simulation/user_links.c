/*
** user_links.c
** The islands of a step go from event to event one by one, and their schemes look for contacts of their own bodies, and with the world. Bodies of
** different islands are looked at along the smooth pieces that all islands have told.
*/
#include "simulation/user_links.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "contact/scene.h"
#include "integrators/link_way.h"

/* The way of all systems along a piece; x, aside: their states at a time, and those that they had. */
typedef struct IslandsWay {
  NsTimeStepping *ts;
  double from, *x, *aside;
} IslandsWay;

static void islands_set(const NsNsds *nsds, const double *x) {
  for (int d = 0; d < nsds->nds; x += nsds->ds[d++]->n) memcpy(nsds->ds[d]->x, x, (size_t)nsds->ds[d]->n * sizeof *x);
}

static void islands_lend(void *context, double t) {
  const IslandsWay *s = context;
  ns_ts_states(s->ts, false, s->aside), ns_ts_states(s->ts, false, s->x);
  ns_step_dense_at(&s->ts->dense, t, t > s->from, true, s->x);
  islands_set(s->ts->nsds, s->x);
}

static void islands_give_back(void *context) {
  const IslandsWay *s = context;
  islands_set(s->ts->nsds, s->aside);
}

/* The first change is in (*a, *b]; *b = INFINITY: there is none. */
static NsStatus islands_bracket(IslandsWay *s, double start, double *a, double *b, NsError *err) {
  const NsStepDense *dense = &s->ts->dense;
  NsStatus status = NS_OK;
  *a = start, *b = INFINITY;
  while (*a < dense->to && !(*b < INFINITY) && status == NS_OK) {
    s->from = *a;
    NsLinkWay way = {s->ts->nsds->linker, *a, ns_step_dense_next(dense, *a), islands_lend, islands_give_back, s};
    if (!(way.to > way.from)) break;
    status = ns_link_way_bracket(&way, a, b, err);
    if (status == NS_OK && *b < INFINITY) status = ns_link_way_narrow(&way, a, b, err);
    else if (*a < way.to) *b = *a;
  }
  return status;
}

/* Repeats the step up to t, or so far behind it that the change is seen there, too. */
static NsStatus islands_go_to(NsTimeStepping *ts, const NsInterval *in, double t, NsError *err) {
  const NsLinker *linker = ts->nsds->linker;
  double last = ts->dense.to, behind = NS_LINK_WAY_BEHIND * (last - in->step.t_k);
  bool changed = false;
  NsStatus status = NS_OK;
  ts->part.repeats = true;
  for (double next = t; !changed && status == NS_OK; next = fmin(t + behind, last), behind *= 8) {
    t = next;
    status = ns_ts_go_to(ts, in, t, true, err);
    if (status == NS_OK && ts->part.stop < t) break; /* an event of a law comes before */
    if (status == NS_OK) status = linker->look(linker->context, &changed, NULL, err);
    changed = changed || t >= last;
    if (changed) ts->part.stop = t, ts->part.relinks = true;
  }
  return ts->part.repeats = false, status;
}

NsStatus ns_ts_look_between_islands(NsTimeStepping *ts, const NsInterval *in, NsError *err) {
  const NsLinker *linker = ts->nsds->linker;
  double a, b, *room = ns_alloc(2 * (size_t)ts->dense.nx, sizeof *room);
  if (!room) return ns_fail(err, NS_ENOMEM, "not enough memory");
  IslandsWay s = {ts, in->step.t_k, room, room + ts->dense.nx};
  linker->homes(linker->context, ts->islands.home);
  linker->among(linker->context, NS_SCENE_BETWEEN);
  NsStatus status = islands_bracket(&s, in->step.t_k, &a, &b, err);
  if (status == NS_OK && b < ts->dense.to)
    status = ts->sensitivities ? ns_link_way_refuse(b, err) : islands_go_to(ts, in, b, err);
  linker->among(linker->context, NS_SCENE_ALL);
  return ns_free(room), status;
}

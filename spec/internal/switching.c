/*
** switching.c
** For the specs alone: the motion of a first-order model in a mode, and the choice of the mode.
*/
#include <string.h>

#include "internal.h"
#include "bind/lua/host.h"
#include "bind/model/model.h"
#include "integrators/flow/mode.h"

static const char *const mode_words[] = {"lower", "upper", "active", NULL};
static const char *const flow_jobs[] = {"start", "choose", "evaluate", "project", NULL};
enum { JOB_START, JOB_CHOOSE, JOB_EVALUATE, JOB_PROJECT };

/* The arguments of flow(), in a table. */
typedef struct FlowJob {
  int kind, rule;
  double t, h;
  NsFlow *flow;
  NsRowMode *mode; /* m */
  bool *open;      /* m */
  double *s, *sdot, *J;
  NsModeChoice choice;
} FlowJob;

static int flow_word(lua_State *L, const char *key, const char *otherwise, const char *const *words) {
  lua_getfield(L, 2, key);
  int value = luaL_checkoption(L, -1, otherwise, words);
  lua_pop(L, 1);
  return value;
}

/* Reads the lists `mode` and `open`. */
static void flow_lists(lua_State *L, FlowJob *job, int m) {
  int modes = lua_getfield(L, 2, "mode"), open = lua_getfield(L, 2, "open");
  for (int i = 0; i < m; i++, lua_settop(L, -3)) {
    if (modes == LUA_TTABLE) lua_rawgeti(L, -2, i + 1);
    else lua_pushnil(L);
    job->mode[i] = (NsRowMode)luaL_checkoption(L, -1, "active", mode_words);
    if (open == LUA_TTABLE) lua_rawgeti(L, -2, i + 1);
    else lua_pushboolean(L, 1);
    job->open[i] = lua_toboolean(L, -1);
  }
  lua_pop(L, 2);
}

static NsStatus flow_run(FlowJob *job, NsError *err) {
  const NsFlowView *view = ns_flow_view(job->flow);
  NsStatus status = ns_flow_begin(job->flow, job->t, job->h, err);
  if (status != NS_OK) return status;
  ns_flow_gather(job->flow, view->x, job->s);
  if (job->kind == JOB_START) {
    double *x = job->J, *lambda = job->J + view->n;
    memcpy(x, view->x, (size_t)view->n * sizeof *x);
    memcpy(lambda, view->lambda, (size_t)view->m * sizeof *x);
    status = ns_mode_start(job->flow, job->t, x, lambda, (NsAmbiguity)job->rule, job->s, &job->choice, err);
  } else {
    ns_flow_set_mode(job->flow, job->mode);
    if (job->kind == JOB_CHOOSE) {
      status = ns_flow_evaluate(job->flow, job->t, job->s, NULL, err);
      if (status == NS_OK)
        status = ns_mode_choose(job->flow, job->t, job->s, job->open, (NsAmbiguity)job->rule, &job->choice, err);
    }
    if (job->kind == JOB_PROJECT) status = ns_flow_project(job->flow, job->t, job->s, err);
  }
  if (status == NS_OK) status = ns_flow_evaluate(job->flow, job->t, job->s, job->sdot, err);
  return status == NS_OK ? ns_flow_jacobian(job->flow, job->t, job->s, job->J, err) : status;
}

static int flow_push(lua_State *L, const FlowJob *job) {
  const NsFlowView *view = ns_flow_view(job->flow);
  lua_newtable(L);
  nsl_internal_give(L, view->n, "x*", view->x);
  nsl_internal_give(L, view->m, "lambda* y* y_terms* lambda_terms*", view->lambda, view->y, view->y_terms, view->lambda_terms);
  nsl_internal_give(L, view->nd, "s* sdot* J#", job->s, job->sdot, job->J);
  lua_newtable(L);
  for (int i = 0; i < view->m; i++) lua_pushstring(L, mode_words[view->mode[i]]), lua_rawseti(L, -2, i + 1);
  lua_setfield(L, -2, "mode");
  nsl_internal_give(L, 0, "count: text$ jumped?", (int)job->choice.count, job->choice.text, job->choice.jumped);
  return 1;
}

/* flow(nsds, {job, t, h, mode, open, rule}): evaluates at the state and the multipliers of the graph. */
static int bind_flow(lua_State *L) {
  NsNsds *nsds = nsl_check_nsds(L, 1)->nsds;
  NsError err = {0};
  FlowJob job = {.kind = flow_word(L, "job", "evaluate", flow_jobs),
                 .rule = flow_word(L, "rule", "error", ns_ambiguity_words),
                 .t = nsl_field_number(L, 2, "t", 0),
                 .h = nsl_field_number(L, 2, "h", 1)};
  int n = 0, m = 0;
  for (int d = 0; d < nsds->nds; d++) nsds->ds[d]->node = d, ns_ds_remember(nsds->ds[d]), n += nsds->ds[d]->n;
  for (int i = 0; i < nsds->ninteractions; i++) {
    NsInteraction *inter = nsds->interactions[i];
    memcpy(inter->lambda_k, inter->lambda, (size_t)inter->m * sizeof(double));
    m += inter->m;
  }
  job.mode = lua_newuserdatauv(L, ((size_t)m + 1) * sizeof *job.mode, 0);
  job.open = lua_newuserdatauv(L, (size_t)m + 1, 0);
  job.s = nsl_push_vector(L, n + 1, NULL)->data;
  job.sdot = nsl_push_vector(L, n + 1, NULL)->data;
  job.J = nsl_push_vector(L, (lua_Integer)n * n + n + m + 1, NULL)->data;
  flow_lists(L, &job, m);
  if (ns_flow_accepts(nsds, &err) != NS_OK) return nsl_raise(L, &err);
  if (ns_flow_new(&job.flow, nsds) != NS_OK) return luaL_error(L, "not enough memory");
  NslEdge edge = nsl_enter(nsl_host(L), L, NULL, nsds);
  NsStatus status = flow_run(&job, &err);
  nsl_leave(nsl_host(L), edge);
  if (status == NS_OK) flow_push(L, &job);
  ns_flow_free(job.flow);
  return status == NS_OK ? 1 : nsl_raise_step(L, &err);
}

void nsl_internal_switching(lua_State *L) {
  nsl_set_cfunction(L, "flow", bind_flow);
}

/*
** trace_jets.c
** Higher derivatives of a traced function.
*/
#include "bind/diff/trace_jets.h"

#include <math.h>
#include <string.h>

void nsl_trace_jets(lua_State *L, NslTrace *trace, int time, double tdot, int first, int n, NsJet jet, const double *seed,
                    double *all) {
  const NslPath *path = nsl_trace_at(trace, trace->in);
  if (!path || !path->tape) {
    nsl_trace_raise(L, trace);
    return; /* it has raised */
  }
  NsTapeView view = ns_tape_view(path->tape);
  ptrdiff_t np = ns_jet_size(jet), count = np * (view.inputs + view.constants + view.steps);
  size_t bytes = (size_t)np * sizeof(double);
  double *room = lua_newuserdatauv(L, (size_t)(count > 0 ? count : 1) * sizeof(double), 0);
  memset(room, 0, (size_t)view.inputs * bytes);
  if (time >= 0) room[np * time] = tdot;
  memcpy(room + np * first, seed, (size_t)n * bytes);
  ns_tape_jet(path->tape, jet, trace->in, room);
  for (int i = 0; i < view.outputs; i++) memcpy(all + i * np, room + np * view.output[i], bytes);
  lua_pop(L, 1);
  for (ptrdiff_t k = 0; k < np * view.outputs; k++)
    if (!isfinite(all[k])) luaL_error(L, "f[%d]: a higher derivative is not finite", (int)(k / np) + 1);
}

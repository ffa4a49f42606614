/*
** trace_jets.c
** Higher derivatives of a traced function.
*/
#include "bind/diff/trace_jets.h"

void nsl_trace_jets(lua_State *L, NslTrace *trace, int time, double tdot, int first, int n, NsJet jet, const double *seed,
                    double *all) {
  const NsPath *path = ns_paths_at(&trace->fn, trace->fn.in);
  if (!path || !path->tape) {
    nsl_trace_raise(L, trace);
    return; /* it has raised */
  }
  double *room = lua_newuserdatauv(L, (ns_path_jet_room(path, jet) + 1) * sizeof *room, 0);
  ptrdiff_t bad = ns_path_jets(path, trace->fn.in, time, tdot, first, n, jet, seed, room, all);
  lua_pop(L, 1);
  if (bad >= 0) luaL_error(L, "f[%d]: a higher derivative is not finite", (int)(bad / ns_jet_size(jet)) + 1);
}

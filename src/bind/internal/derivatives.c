/*
** derivatives.c
** For the specs alone: where parameters are in a model.
*/
#include "bind/internal/internal.h"
#include "bind/lua/host.h"
#include "bind/simulation/sensitivities.h"
#include "bind/simulation/simulation.h"
#include "model/parameter_place.h"

static const char *const number_words[] = {"unknown", "A", "b", "mass", "stiffness", "damping", "fExt", "C",
                                           "D",       "e", "B", "K",    "lower",     "upper",   "law",  "z"};

static void set_count(lua_State *L, const char *key, int value) {
  lua_pushinteger(L, value);
  lua_setfield(L, -2, key);
}

/* places(simulation, parameters): a list of {kind, system, systems, first, i, j, copied, shared = the interactions with it}. */
static int internal_places(lua_State *L) {
  NsRunSensitivities asked;
  const NsNsds *nsds = nsl_check_simulation(L, 1)->ts->nsds;
  nsl_read_sensitivities(L, 2, &asked);
  lua_createtable(L, asked.p, 0);
  for (int k = 0; k < asked.p; k++) {
    NsParameterPlace place = ns_parameter_place(nsds, &asked.parameters[k]);
    int shared = 0;
    for (int e = place.first; e >= 0; e = ns_parameter_next(nsds, &place, e)) shared++;
    lua_newtable(L);
    lua_pushstring(L, number_words[place.kind]);
    lua_setfield(L, -2, "kind");
    set_count(L, "system", place.system + 1);
    set_count(L, "systems", place.systems);
    set_count(L, "first", place.first + 1);
    set_count(L, "shared", shared);
    set_count(L, "i", place.i + 1);
    set_count(L, "j", place.j + 1);
    lua_pushboolean(L, place.copied);
    lua_setfield(L, -2, "copied");
    lua_rawseti(L, -2, k + 1);
  }
  return 1;
}

void nsl_internal_derivatives(lua_State *L) {
  lua_pushcfunction(L, internal_places);
  lua_setfield(L, -2, "places");
}

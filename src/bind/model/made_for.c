/*
** made_for.c
** The systems that a relation is made for: a list that the relation anchors, whose element 0 is the number of rows.
*/
#include "bind/model/made_for.h"

/* Pushes the list of the relation at idx; false, nothing pushed, when it is made for any systems. */
static bool push_made_for(lua_State *L, int idx) {
  lua_getiuservalue(L, idx, NSL_FIELDS);
  lua_getfield(L, -1, "anchor bodies");
  lua_remove(L, -2);
  if (lua_istable(L, -1)) return true;
  lua_pop(L, 1);
  return false;
}

int nsl_made_for(lua_State *L) {
  int n = lua_gettop(L);
  nsl_check_relation(L, 1);
  lua_createtable(L, n - 2, 1);
  for (int i = 2; i <= n; i++) lua_pushvalue(L, i), lua_rawseti(L, n + 1, i - 2);
  nsl_anchor(L, 1, "bodies", n + 1);
  return 0;
}

/* Pushes the names of the n systems at stack index `first` and on, for a message about a graph: "'ds 1', 'ds 2'". */
static const char *push_linked_names(lua_State *L, const NsNsds *nsds, int first, int n) {
  const char *text = lua_pushliteral(L, "");
  for (int i = 0; i < n; i++) {
    const NsDs *ds = nsl_check_ds(L, first + i)->ds;
    const char *other = ds->owner == nsds ? "" : ds->owner ? " of another graph" : " of no graph";
    text = lua_pushfstring(L, "%s%s'%s'%s", text, i > 0 ? ", " : "", ds->name[0] ? ds->name : "?", other);
    lua_replace(L, -2);
  }
  return text;
}

void nsl_check_made_for(lua_State *L, const NsNsds *nsds, int relation, const NsLaw *law, int first, int n) {
  for (int i = 0; i < n; i++)
    if (nsl_check_ds(L, first + i)->ds->owner != nsds) return; /* ns_nsds_link tells that */
  if (!push_made_for(L, relation)) return;
  int list = lua_gettop(L), count = (int)lua_rawlen(L, list);
  const char *title = nsl_callee_title(L, &nsl_check_relation(L, relation)->callee);
  bool same = n == count;
  nsl_need_stack(L, count + 8);
  for (int i = 0; i < count; i++) {
    lua_rawgeti(L, list, i + 1);
    same = same && lua_touserdata(L, list + 2 + i) == lua_touserdata(L, first + i);
  }
  if (!same) {
    const char *wanted = push_linked_names(L, nsds, list + 2, count);
    luaL_error(L, "link: %s is made for %s%s, got %s", title, wanted, count > 1 ? " in this order" : "",
               push_linked_names(L, nsds, first, n));
  }
  lua_rawgeti(L, list, 0);
  lua_Integer rows = lua_tointeger(L, -1);
  if (rows != law->size)
    luaL_error(L, "link: %s goes with a law of size %I, got %s of size %d", title, rows, ns_law_name(law), law->size);
  lua_settop(L, list - 1);
}

void nsl_relink_made_for(lua_State *L, int map, int from, int to) {
  int top = lua_gettop(L);
  if (!nsl_is_relation(nsl_head(L, from)->type) || !push_made_for(L, from)) return;
  int n = (int)lua_rawlen(L, top + 1);
  lua_createtable(L, n, 1);
  for (int i = 0; i <= n; i++) {
    lua_rawgeti(L, top + 1, i);
    lua_pushvalue(L, -1);
    if (lua_rawget(L, map) != LUA_TNIL) lua_replace(L, -2);
    else lua_pop(L, 1);
    lua_rawseti(L, top + 2, i);
  }
  nsl_anchor(L, to, "bodies", top + 2);
  lua_settop(L, top);
}

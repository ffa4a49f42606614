/*
** reads.c
** Notes which parameters of a run's derivatives the script's functions read by themselves.
*/
#include "bind/lua/reads.h"
#include "bind/lua/open.h"

static const NslType reads_type = {.name = "nslua.reads"};

void nsl_reads_end(lua_State *L, int at) {
  int list = lua_gettop(L) + 1;
  const NslReads *reads = lua_touserdata(L, at);
  lua_getiuservalue(L, at, 1);
  for (lua_Integer i = 1; lua_istable(L, list) && lua_rawgeti(L, list, i) != LUA_TNIL; i++, lua_settop(L, list)) {
    NslHead *object = lua_touserdata(L, -1);
    if (object->reads == reads) object->reads = NULL;
  }
  lua_settop(L, list - 1);
}

static int reads_gc(lua_State *L) {
  return nsl_reads_end(L, 1), 0;
}

void nsl_open_reads(lua_State *L) {
  static const luaL_Reg meta[] = {{"__gc", reads_gc}, {NULL, NULL}};
  nsl_register_type(L, &reads_type, meta, NULL);
}

static void reads_add(NslReads *reads, const NsParameter *parameter, bool *flag) {
  const NsDs *of = parameter->number ? NULL : parameter->owner;
  if (parameter->number)
    reads->number[reads->count++] = (NslReadNumber){.number = parameter->number, .owner = parameter->owner, .flag = flag};
  else if (of)
    reads->number[reads->count++] = (NslReadNumber){.number = of->x0 + parameter->state, .initial = true, .flag = flag};
  for (int k = 0; k < parameter->ncopies; k++)
    reads->number[reads->count++] = (NslReadNumber){
        .number = parameter->copies[k].number, .owner = parameter->copies[k].owner, .flag = flag};
}

void nsl_push_reads(lua_State *L, NsParameter *of, int p) {
  size_t numbers = 0;
  for (int j = 0; j < p; j++) {
    numbers += 1 + (size_t)of[j].ncopies;
    for (int k = 0; k < of[j].nmoves; k++) numbers += 1 + (size_t)of[j].moves[k].of.ncopies;
  }
  NslReads *reads = nsl_new(L, &reads_type, sizeof *reads + numbers * sizeof(NslReadNumber) + (size_t)p, 1);
  bool *flags = (bool *)(reads->number + numbers);
  lua_newtable(L);
  lua_setiuservalue(L, -2, 1);
  reads->host = nsl_host(L);
  for (int j = 0; j < p; j++) {
    of[j].read_aside = &flags[j];
    reads_add(reads, &of[j], &flags[j]);
    for (int k = 0; k < of[j].nmoves; k++) reads_add(reads, &of[j].moves[k].of, &flags[j]);
  }
}

/* Adds our object at idx to those that are watched. */
static void reads_watch(lua_State *L, NslReads *reads, int at, int idx) {
  NslHead *object = lua_touserdata(L, idx);
  if (object->closed) return;
  object->reads = reads;
  lua_getiuservalue(L, at, 1);
  lua_pushvalue(L, idx);
  lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
  lua_pop(L, 1);
}

void nsl_reads_watch_numbers(lua_State *L, int at, int idx, const double *numbers, ptrdiff_t n) {
  NslReads *reads = lua_touserdata(L, at);
  bool holds = false;
  for (int k = 0; k < reads->count && !holds; k++) holds = nsl_read_within(reads->number[k].number, numbers, n, 1);
  if (holds) reads_watch(L, reads, at, idx);
}

void nsl_reads_watch_owner(lua_State *L, int at, int idx, const void *owner) {
  NslReads *reads = lua_touserdata(L, at);
  bool owns = false;
  for (int k = 0; k < reads->count; k++)
    if (reads->number[k].owner == owner) owns = true, reads->number[k].of = lua_touserdata(L, idx);
  if (owns) reads_watch(L, reads, at, idx);
}

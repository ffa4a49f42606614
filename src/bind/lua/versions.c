/*
** versions.c
** core.versions(): the versions of the libraries in use, for nslua.repl.doctor.
*/
#include "bind/lua/versions.h"

#include "linalg/versions.h"

static void set_version(lua_State *L, const char *name, void (*ask)(int *)) {
  int v[3] = {0, 0, 0};
  ask(v);
  lua_pushfstring(L, "%d.%d.%d", v[0], v[1], v[2]);
  lua_setfield(L, -2, name);
}

/* versions() -> { lapack=, suitesparse=, blas= (nil when unknown), katex= (the directory of KaTeX that the build found) } */
static int versions(lua_State *L) {
  lua_newtable(L);
  set_version(L, "lapack", ns_lapack_version);
  set_version(L, "suitesparse", ns_suitesparse_version);
  lua_pushstring(L, ns_blas_description());
  lua_setfield(L, -2, "blas");
#ifdef NS_KATEX
  lua_pushliteral(L, NS_KATEX);
  lua_setfield(L, -2, "katex");
#endif
  return 1;
}

void nsl_open_versions(lua_State *L) {
  lua_pushcfunction(L, versions);
  lua_setfield(L, -2, "versions");
}

/*
** versions.c
** core.versions(): the versions of the libraries in use, for nslua.repl.doctor.
*/
#include "bind/lua/open.h"
#include "bind/lua/tables.h"

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
  nsl_set_string(L, "blas", ns_blas_description());
#ifdef NS_KATEX
  nsl_set_string(L, "katex", NS_KATEX);
#endif
  return 1;
}

void nsl_open_versions(lua_State *L) {
  nsl_set_cfunction(L, "versions", versions);
}

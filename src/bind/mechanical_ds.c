/*
** mechanical_ds.c
** LagrangianDS, LagrangianLinearTIDS, LagrangianLinearDiagonalDS and NewtonEulerDS.
*/
#include "bind/ds.h"
#include "model/mechanical_ds.h"

bool nsl_is_mechanical(const NslType *type) {
  (void)type;
  return false;
}

void nsl_clone_mechanical_ds(lua_State *L, int idx) {
  (void)L;
  (void)idx;
}

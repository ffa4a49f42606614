/*
** solid.h
** The userdata of solids and meshes.
*/
#pragma once

#include "bind/lua/object.h"
#include "contact/mesh.h"

typedef struct NslSolid {
  NslHead head;
  NsSolid solid;
} NslSolid;

typedef struct NslMesh {
  NslHead head;
  NsMesh *mesh;
} NslMesh;

/* The solid or mesh at idx; NULL: it is something else. */
NslSolid *nsl_test_solid(lua_State *L, int idx);
NslMesh *nsl_test_mesh(lua_State *L, int idx);

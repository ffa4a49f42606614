/*
** contacts.c
** ns.numerics.fc2d, fc3d ... (one for each cone) and generic_mechanical: contacts with friction, alone or with bounded rows. Each takes one table and
** returns one; bad data raise an error, an unsolved problem is a result.
*/
#include <math.h>
#include <string.h>

#include "bind/lua/open.h"
#include "bind/array/matrix.h"
#include "bind/array/sparse.h"
#include "bind/array/vector.h"
#include "base/text.h"
#include "bind/lua/options.h"
#include "bind/numerics/answer.h"
#include "solvers/contact/friction_chain.h"
#include "solvers/contact/friction_residual.h"
#include "solvers/contact/mixed.h"

/* A problem as stated by the caller; the call owns what it points at, except a sparse W, which the table at 1 owns. */
typedef struct ContactsCall {
  NslCall *call;
  NsMixed *solver;
  NsMixedProblem p;
  NsMixedGroup *groups;
  double *q, *guess, *z, *w;
  bool guessed;
} ContactsCall;

static void contacts_call_free(void *solver) {
  ns_mixed_free(solver);
}

/* Starts a call: checks that the table has only these keys, and reads its options. */
static ContactsCall contacts_begin(lua_State *L, const char *who, const char *const *keys) {
  nsl_numerics_options(L, who, keys);
  ContactsCall c = {.call = nsl_new_call(L, who, 0)};
  if (ns_mixed_new(&c.solver) != NS_OK) luaL_error(L, "not enough memory");
  nsl_call_owns(c.call, c.solver, contacts_call_free);
  ns_mixed_options(c.solver)->tolerance = nsl_numerics_number(L, who, "tolerance", 0, 1, 0); /* 0: the default */
  ns_mixed_options(c.solver)->max_iterations = nsl_numerics_count(L, who, "max_iterations", 1, 0);
  return c;
}

/* ---- data ---- */

/* Reads W, a square matrix whose order is a multiple of `dim` (0: any). */
static void contacts_read_W(lua_State *L, ContactsCall *c, int dim) {
  const char *who = c->call->who;
  if (lua_getfield(L, 1, "W") == LUA_TNIL) nsl_bad(L, who, "W", "a square matrix", -1);
  const NsSparse *S = nsl_test_sparse(L, -1);
  const NslMatrix *A = NULL;
  int rows, cols;
  if (S) rows = S->rows, cols = S->cols;
  else A = nsl_to_finite_matrix(L, -1, -1, -1, who, "W"), rows = A->rows, cols = A->cols;
  if (A && dim == 0 && rows != cols) luaL_error(L, "%s: W: expected a square matrix, got %d x %d matrix", who, rows, cols);
  if (rows != cols || (S && dim == 0 && rows == 0)) nsl_bad(L, who, "W", "a square matrix", -1);
  if (rows == 0) luaL_error(L, "%s: the problem is empty", who);
  if (dim > 0 && rows % dim != 0) luaL_error(L, "%s: W: expected an order that is a multiple of %d, got %d", who, dim, rows);
  if (dim > 0 && S && !ns_sparse_finite(S)) nsl_raise_status(L, NS_ENAN, who);
  c->p.sparse = S;
  c->p.n = rows;
  if (A) {
    double *W = nsl_call_take(L, c->call, (size_t)rows, (size_t)rows * sizeof *W);
    nsl_matrix_read(A, W);
    c->p.W = W;
  }
  lua_pop(L, 1);
}

static void contacts_take_groups(lua_State *L, ContactsCall *c, int count) {
  c->groups = nsl_call_take(L, c->call, (size_t)count, sizeof *c->groups);
  c->p.groups = c->groups;
  c->p.ngroups = count;
}

/* Reads q and the guess, which is the option called `guess`. */
static void contacts_read_vectors(lua_State *L, ContactsCall *c, const char *guess) {
  double **vectors[] = {&c->q, &c->guess, &c->z, &c->w};
  for (int i = 0; i < 4; i++) *vectors[i] = nsl_call_numbers(L, c->call, c->p.n);
  nsl_numerics_need_vector(L, c->call->who, "q", c->p.n, c->q);
  c->guessed = nsl_numerics_vector(L, c->call->who, guess, c->p.n, c->guess);
  c->p.q = c->q;
}

/* Solves the problem; returns the seconds that it took. */
static double contacts_solve(lua_State *L, const ContactsCall *c, NsSolverInfo *info) {
  nsl_call_begin(L, c->call);
  ns_mixed_solve(c->solver, &c->p, c->guessed ? c->guess : NULL, c->z, c->w, info);
  return nsl_call_end(L, c->call);
}

/* ---- contacts of one cone: fc2d, fc3d ... ---- */

/* Reads the coefficients `name` of all contacts into mu, `stride` apart. */
static void contacts_read_mu(lua_State *L, const ContactsCall *c, const char *name, int stride, double *mu) {
  char text[32];
  const char *who = c->call->who;
  int nc = c->p.ngroups;
  double *given = stride > 1 ? nsl_call_numbers(L, c->call, nc) : mu;
  bool number = lua_getfield(L, 1, name) == LUA_TNUMBER;
  if (number) {
    double all = nsl_finite(L, -1, who, name);
    for (int i = 0; i < nc; i++) given[i] = all;
  } else if (lua_isnil(L, -1)) {
    nsl_bad(L, who, name, "a number or a vector", -1);
  } else {
    nsl_vector_read(nsl_to_finite_vector(L, -1, nc, who, name), given);
  }
  lua_pop(L, 1);
  for (int i = 0; i < nc; i++) {
    mu[(ptrdiff_t)i * stride] = given[i];
    if (given[i] >= 0) continue;
    ns_print_short(text, given[i]);
    if (number) luaL_error(L, "%s: %s = %s is negative", who, name, text);
    luaL_error(L, "%s: %s[%d] = %s is negative", who, name, i + 1, text);
  }
}

/* Sets a vector under two names. */
static void set_both(lua_State *L, const char *name, const char *other, int n, const double *x) {
  nsl_vector_write(nsl_push_vector(L, n, NULL), x);
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, name);
  lua_setfield(L, -2, other);
}

/* Solves contacts of the cone whose index is the upvalue. */
static int contacts_alone(lua_State *L) {
  const NsConeClass *cone = ns_cones[lua_tointeger(L, lua_upvalueindex(1))];
  const char *keys[] = {"W", "q", "mu", "solver", "tolerance", "max_iterations", "r0", NULL, NULL, NULL}, *who = cone->name,
             *asked;
  for (int k = 1; k < cone->discs; k++) keys[6 + k] = cone->coefficient[k];
  NsSolverInfo info = {0};
  ContactsCall c = contacts_begin(L, who, keys);
  ns_mixed_options(c.solver)->contacts = true;
  ns_mixed_options(c.solver)->method = nsl_numerics_method(L, who, ns_friction_methods, cone->takes, &asked);
  contacts_read_W(L, &c, cone->dim);
  contacts_take_groups(L, &c, c.p.n / cone->dim);
  contacts_read_vectors(L, &c, "r0");
  double *mu = nsl_call_numbers(L, c.call, c.p.ngroups * cone->discs);
  for (int k = 0; k < cone->discs; k++) contacts_read_mu(L, &c, cone->coefficient[k], cone->discs, mu + k);
  for (int i = 0; i < c.p.ngroups; i++) c.groups[i] = ns_mixed_contact(cone, mu + (ptrdiff_t)i * cone->discs);
  double seconds = contacts_solve(L, &c, &info);
  const NsFriction p = {.cone = cone, .dim = cone->dim, .nc = c.p.ngroups, .mu = mu, .q = c.q};
  double scale = ns_friction_scale(&p, c.z);
  info.residual = ns_friction_residual(&p, c.z, c.w), info.relative = info.residual / scale;
  nsl_push_account(L, who, &info, seconds);
  set_both(L, "r", "z", c.p.n, c.z);
  set_both(L, "u", "w", c.p.n, c.w);
  nsl_set_number(L, "scale", scale);
  nsl_set_number(L, "scaled", info.backward);
  return 1;
}

/* ---- generic_mechanical ---- */

static const char general[] = "generic_mechanical";

/* The number groups[g].name of the group on top of the stack; `missing` when it is absent. */
static double group_number(lua_State *L, int g, const char *name, double missing) {
  double value = missing;
  if (lua_getfield(L, -1, name) != LUA_TNIL) {
    if (lua_type(L, -1) != LUA_TNUMBER)
      luaL_error(L, "%s: groups[%d].%s: expected a number, got %s", general, g, name, nsl_describe(L, -1));
    value = lua_tonumber(L, -1);
    if (isnan(value)) luaL_error(L, "%s: groups[%d].%s is nan", general, g, name);
  }
  lua_pop(L, 1);
  return value;
}

static void contacts_refuse_field(lua_State *L, int g, const char *name, const char *of) {
  if (lua_getfield(L, -1, name) != LUA_TNIL) luaL_error(L, "%s: groups[%d].%s: %s has none", general, g, name, of);
  lua_pop(L, 1);
}

/* Refuses the coefficients that the group on top of the stack has and its cone (NULL: a row) has not. */
static void contacts_refuse_coefficients(lua_State *L, int g, const NsConeClass *cone) {
  for (int k = 0; k < NS_CONES; k++)
    for (int i = 0; i < ns_cones[k]->discs; i++) {
      const char *name = ns_cones[k]->coefficient[i];
      bool own = false;
      for (int j = 0; cone && j < cone->discs; j++) own = own || strcmp(cone->coefficient[j], name) == 0;
      if (lua_getfield(L, -1, name) != LUA_TNIL && !own)
        luaL_error(L, "%s: groups[%d].%s: a %s (dim = %d) has none", general, g, name, cone ? "contact" : "row",
                   cone ? cone->dim : 1);
      lua_pop(L, 1);
    }
}

static NsMixedGroup read_row(lua_State *L, int g) {
  char low[32], high[32];
  contacts_refuse_coefficients(L, g, NULL);
  NsMixedGroup row = ns_mixed_row(group_number(L, g, "lower", -INFINITY), group_number(L, g, "upper", INFINITY));
  ns_print_short(low, row.lower), ns_print_short(high, row.upper);
  if (row.lower == INFINITY) luaL_error(L, "%s: groups[%d].lower is %s", general, g, low);
  if (row.upper == -INFINITY) luaL_error(L, "%s: groups[%d].upper is %s", general, g, high);
  if (row.lower > row.upper) luaL_error(L, "%s: groups[%d].lower = %s is above upper = %s", general, g, low, high);
  return row;
}

/* The coefficient groups[g].name of the contact on top of the stack. */
static double group_coefficient(lua_State *L, int g, const char *name) {
  char text[32];
  double mu = group_number(L, g, name, -1);
  if (lua_getfield(L, -1, name) == LUA_TNIL) luaL_error(L, "%s: groups[%d].%s: expected a number, got nil", general, g, name);
  lua_pop(L, 1);
  ns_print_short(text, mu);
  if (mu < 0) luaL_error(L, "%s: groups[%d].%s = %s is negative", general, g, name, text);
  if (mu == INFINITY) luaL_error(L, "%s: groups[%d].%s is %s", general, g, name, text);
  return mu;
}

static NsMixedGroup read_contact(lua_State *L, int g, const NsConeClass *cone) {
  NsMixedGroup contact = {.cone = cone, .dim = cone->dim};
  contacts_refuse_field(L, g, "lower", "a contact");
  contacts_refuse_field(L, g, "upper", "a contact");
  contacts_refuse_coefficients(L, g, cone);
  for (int k = 0; k < cone->discs; k++) contact.mu[k] = group_coefficient(L, g, cone->coefficient[k]);
  return contact;
}

/* The cone with `dim` rows whose coefficients the group on top of the stack has; else the first one with these rows, or NULL. */
static const NsConeClass *group_cone(lua_State *L, double dim) {
  const NsConeClass *found = NULL;
  for (int k = 0; k < NS_CONES; k++) {
    const NsConeClass *cone = ns_cones[k];
    if (cone->dim != dim) continue;
    bool last = lua_getfield(L, -1, cone->coefficient[cone->discs - 1]) != LUA_TNIL;
    lua_pop(L, 1);
    if (last || !found) found = cone;
  }
  return found;
}

/* Reads the group on top of the stack: {dim =, mu = ...}, or a row {lower = -inf, upper = inf}. */
static NsMixedGroup read_group(lua_State *L, int g, const char *const *known) {
  if (!lua_istable(L, -1)) luaL_error(L, "%s: groups[%d]: expected a table, got %s", general, g, nsl_describe(L, -1));
  nsl_check_options(L, -1, "generic_mechanical: groups", known);
  double dim = group_number(L, g, "dim", 1);
  if (dim == 1) return read_row(L, g);
  const NsConeClass *cone = group_cone(L, dim);
  if (cone) return read_contact(L, g, cone);
  lua_getfield(L, -1, "dim");
  luaL_error(L, "%s: groups[%d].dim: expected 1 to 6, got %s", general, g, luaL_tolstring(L, -1, NULL));
  return (NsMixedGroup){0};
}

/* Adds the coefficients of a cone that are not there yet to a list of keys, which has room and ends with NULL. */
static void add_coefficients(const char **keys, const NsConeClass *cone) {
  for (int k = 0; k < cone->discs; k++) {
    int n = 0;
    while (keys[n] && strcmp(keys[n], cone->coefficient[k]) != 0) n++;
    keys[n] = cone->coefficient[k];
  }
}

static void contacts_read_groups(lua_State *L, ContactsCall *c) {
  const char *known[NS_CONES * NS_CONE_DISCS + 4] = {"dim", "mu", "lower", "upper"};
  int rows = 0;
  for (int k = 0; k < NS_CONES; k++) add_coefficients(known, ns_cones[k]);
  if (lua_getfield(L, 1, "groups") != LUA_TTABLE) nsl_bad(L, general, "groups", "a list of tables", -1);
  int count = (int)lua_rawlen(L, -1);
  contacts_take_groups(L, c, count);
  for (int g = 0; g < count; g++) {
    lua_rawgeti(L, -1, g + 1);
    c->groups[g] = read_group(L, g + 1, known);
    rows += c->groups[g].dim;
    lua_pop(L, 1);
  }
  if (rows != c->p.n) luaL_error(L, "%s: groups: expected %d rows in all, got %d", general, c->p.n, rows);
}

static int generic_mechanical(lua_State *L) {
  static const char *const keys[] = {"W", "q", "groups", "tolerance", "max_iterations", "z0", NULL};
  NsSolverInfo info = {0};
  ContactsCall c = contacts_begin(L, general, keys);
  contacts_read_W(L, &c, 0);
  contacts_read_groups(L, &c);
  contacts_read_vectors(L, &c, "z0");
  double seconds = contacts_solve(L, &c, &info);
  nsl_push_account(L, general, &info, seconds);
  nsl_set_vector(L, "z", c.p.n, c.z);
  nsl_set_vector(L, "w", c.p.n, c.w);
  nsl_set_number(L, "backward", info.backward);
  return 1;
}

void nsl_open_numerics_contacts(lua_State *L) {
  luaL_getsubtable(L, -1, "numerics");
  for (int k = 0; k < NS_CONES; k++) {
    lua_pushinteger(L, k);
    lua_pushcclosure(L, contacts_alone, 1);
    lua_setfield(L, -2, ns_cones[k]->name);
  }
  nsl_set_cfunction(L, general, generic_mechanical);
  lua_pop(L, 1);
}

/*
** answer.h
** What the files of ns.numerics share: calls, options, results.
*/
#pragma once

#include "base/arena.h"
#include "bind/lua/object.h"
#include "bind/lua/sigint.h"
#include "solvers/box/box_solver.h"

/* ---- a call ---- */

enum { NSL_CALL_OWNS = 4 };

/* One call of a function of ns.numerics: a userdata that frees what the engine allocated for it, also after an error. */
typedef struct NslCall {
  NslHead head;
  const char *who; /* the name of the function */
  NsArena arena;   /* memory for the data of the call, and for `self` */
  void *self;      /* a struct of the function's own, for callbacks; NULL: none */
  int count;
  struct {
    void *object;
    void (*release)(void *object);
  } owned[NSL_CALL_OWNS];
  NslGuard guard; /* in force while the engine works */
  double start;
} NslCall;

/* Pushes a new call with so many user values. */
NslCall *nsl_new_call(lua_State *L, const char *who, int uservalues);

/* Makes the call the owner of an engine object (NULL: nothing), which it frees with `release`. */
void nsl_call_owns(NslCall *call, void *object, void (*release)(void *object));

/* Allocate in the arena: n zeros; `count` zeroed elements of `size` bytes. Raise when there is no memory. */
double *nsl_call_numbers(lua_State *L, NslCall *call, int n);
void *nsl_call_take(lua_State *L, NslCall *call, size_t count, size_t size);

/* Before and after the engine's work. The end returns the seconds between, and raises "WHO: interrupted" after a SIGINT. */
void nsl_call_begin(lua_State *L, NslCall *call);
double nsl_call_end(lua_State *L, NslCall *call);

/* Registers the type of calls. */
void nsl_open_calls(lua_State *L);

/* ---- options ---- */

/* Raises unless index 1 is the only argument and a table whose keys are all in `known` (ends with NULL). */
void nsl_numerics_options(lua_State *L, const char *who, const char *const *known);

/* Option `name` of the table at 1, a number in (low, high); `missing` when absent. "WHO: tolerance: expected ..., got ...". */
double nsl_numerics_number(lua_State *L, const char *who, const char *name, double low, double high, double missing);

/* The integer >= least in an option; `missing` when it is absent. */
int nsl_numerics_count(lua_State *L, const char *who, const char *name, int least, int missing);

/*
** The method that the option `solver` names, among the methods in `list` that handle all of `takes` (solvers/method.h). *asked: its
** name as given (static). When the option is absent: NULL, and *asked = "default".
*/
const NsMethod *nsl_numerics_method(lua_State *L, const char *who, const NsMethod *const *list, unsigned takes,
                                    const char **asked);

/* The method called `name`, which may be an alias; *asked: that name (static). When there is none, *asked is NULL. */
const NsMethod *nsl_method_named(const NsMethod *const *list, unsigned takes, const char *name, const char **asked);

/* Pushes the names of the methods, "default, lemke, ...". */
const char *nsl_push_methods(lua_State *L, const NsMethod *const *list, unsigned takes);

/* Whether option `name` is present; if so, copies its n finite numbers to `to`. */
bool nsl_numerics_vector(lua_State *L, const char *who, const char *name, int n, double *to);

/* The same for an option that is required. */
void nsl_numerics_need_vector(lua_State *L, const char *who, const char *name, int n, double *to);

/* to = a bound: a number for all components or a vector of n, infinities allowed; `missing` everywhere when absent. */
void nsl_numerics_bound(lua_State *L, const char *who, const char *name, int n, double missing, double *to);

/* Raises when lower[i] > upper[i] for some i: "WHO: lower[2] = 1 is above upper[2] = 0". */
void nsl_numerics_check_bounds(lua_State *L, const char *who, int n, const double *lower, const double *upper);

/*
** The finite matrix in option `name` (negative *rows, *cols: any size) as a column-major array in the arena; a sparse matrix
** raises.
*/
double *nsl_numerics_matrix(lua_State *L, const char *who, const char *name, NsArena *arena, int *rows, int *cols);

/* The same for a square matrix of order *n >= 1. Raises "WHO: M: expected a square matrix, got 1 x 2 matrix". */
double *nsl_numerics_square(lua_State *L, const char *who, const char *name, NsArena *arena, int *n);

/* Sets the fields of a solver's account: status (NS_OK ...), message, solver, iterations, residual, relative, backward, warm. */
void nsl_set_solver_info(lua_State *L, const NsSolverInfo *info);

/* Gives the table on top of the stack, a result, the metatable that prints its fields. */
void nsl_set_result(lua_State *L);

/*
** Calls nsl_set_result, and sets success, status ("ok", "ray", "no solution", ...) and message. Raises for a status that no
** solver returns.
*/
void nsl_set_status(lua_State *L, NsStatus status, const char *who);

/* Pushes a new result: nsl_set_status of it, and residual, relative, iterations, solver and time. */
void nsl_push_account(lua_State *L, const char *who, const NsSolverInfo *info, double seconds);

/*
** answer.h
** What the files of ns.numerics share: reading options, wording results.
*/
#ifndef NSL_NUMERICS_ANSWER_H
#define NSL_NUMERICS_ANSWER_H

#include "base/arena.h"
#include "bind/lua/object.h"
#include "bind/lua/sigint.h"
#include "solvers/box/box_solver.h"

/* ---- a call ---- */

enum { NSL_CALL_OWNS = 4 };

/* One call of a function of ns.numerics: a userdata that frees what the engine allocated for it, whatever error comes. */
typedef struct NslCall {
  NslHead head;
  const char *who; /* the name of the function */
  NsArena arena;   /* for the data of the call, also for a struct of its own */
  void *self;      /* that struct, where callbacks need it */
  int count;
  struct {
    void *object;
    void (*release)(void *object);
  } owned[NSL_CALL_OWNS];
  NslGuard guard; /* while the engine works */
  double start;
} NslCall;

/* Pushes a new one, with so many user values. */
NslCall *nsl_new_call(lua_State *L, const char *who, int uservalues);

/* The call owns an object of the engine (NULL: nothing) from now on. */
void nsl_call_owns(NslCall *call, void *object, void (*release)(void *object));

/* n zeros, or count zeroed things of a size, out of the arena; raises when there is no memory. */
double *nsl_call_numbers(lua_State *L, NslCall *call, int n);
void *nsl_call_take(lua_State *L, NslCall *call, size_t count, size_t size);

/* Around the work of the engine. The end gives the seconds that it took, and raises "WHO: interrupted" after a SIGINT. */
void nsl_call_begin(lua_State *L, NslCall *call);
double nsl_call_end(lua_State *L, NslCall *call);

/* Registers the type of calls. */
void nsl_open_calls(lua_State *L);

/* ---- options ---- */

/* Makes sure that index 1 is the only argument and a table with keys among `known` (ends with NULL). */
void nsl_numerics_options(lua_State *L, const char *who, const char *const *known);

/* Option `name` of the table at 1: a number in (low, high), or `missing`. "WHO: tolerance: expected ..., got ...". */
double nsl_numerics_number(lua_State *L, const char *who, const char *name, double low, double high, double missing);

/* An integer from `least` on, or `missing`. */
int nsl_numerics_count(lua_State *L, const char *who, const char *name, int least, int missing);

/*
** The method that the option `solver` names, among those of `list` that take all of `takes` (solvers/method.h), and its name as it
** was given (static); NULL and "default" when it is absent.
*/
const NsMethod *nsl_numerics_method(lua_State *L, const char *who, const NsMethod *const *list, unsigned takes,
                                    const char **asked);

/* The method called `name`; *asked is that name, static, or NULL when there is none. */
const NsMethod *nsl_method_named(const NsMethod *const *list, unsigned takes, const char *name, const char **asked);

/* Pushes the names of the methods, "default, lemke, ...". */
const char *nsl_push_methods(lua_State *L, const NsMethod *const *list, unsigned takes);

/* Whether option `name` is there: then its n finite numbers are in `to`. */
bool nsl_numerics_vector(lua_State *L, const char *who, const char *name, int n, double *to);

/* The same for an option that must be there. */
void nsl_numerics_need_vector(lua_State *L, const char *who, const char *name, int n, double *to);

/* A bound: a number for all components or a vector of n, infinities allowed; absent: `missing` everywhere. */
void nsl_numerics_bound(lua_State *L, const char *who, const char *name, int n, double missing, double *to);

/* Raises when lower and upper are no intervals: "WHO: lower[2] = 1 is above upper[2] = 0". */
void nsl_numerics_check_bounds(lua_State *L, const char *who, int n, const double *lower, const double *upper);

/*
** Option `name`, a finite matrix (rows, cols negative: any), as a column-major array out of the arena; sparse ones
** are refused.
*/
double *nsl_numerics_matrix(lua_State *L, const char *who, const char *name, NsArena *arena, int *rows, int *cols);

/* The same for a square one of order 1 or more, *n. "WHO: M: expected a square matrix, got 1 x 2 matrix". */
double *nsl_numerics_square(lua_State *L, const char *who, const char *name, NsArena *arena, int *n);

/* Fields of the table on top of the stack. */
void nsl_set_number(lua_State *L, const char *name, double x);
void nsl_set_integer(lua_State *L, const char *name, lua_Integer x);
void nsl_set_string(lua_State *L, const char *name, const char *text);
void nsl_set_vector(lua_State *L, const char *name, int n, const double *x);

/* Lets the table on top of the stack, a result, print its fields. */
void nsl_set_result(lua_State *L);

/*
** nsl_set_result, and sets success, status ("ok", "ray", "no solution", ...) and message. Raises a status that no solver
** returns.
*/
void nsl_set_status(lua_State *L, NsStatus status, const char *who);

/* Puts result_fields_meta, the metatable of such results, into the module on top of the stack. */
void nsl_open_answer(lua_State *L);

void nsl_open_numerics_contacts(lua_State *L);
void nsl_open_numerics_mcp(lua_State *L);
void nsl_open_numerics_cone(lua_State *L);
void nsl_open_numerics_study(lua_State *L);

#endif

/*
** answer.h
** What the files of ns.numerics share: reading options, wording results.
*/
#ifndef NSL_NUMERICS_ANSWER_H
#define NSL_NUMERICS_ANSWER_H

#include "base/arena.h"
#include "bind/lua/object.h"
#include "solvers/box/box_solver.h"

/* Makes sure that index 1 is the only argument and a table with keys among `known` (ends with NULL). */
void nsl_numerics_options(lua_State *L, const char *who, const char *const *known);

/* Option `name` of the table at 1: a number in (low, high), or `missing`. "WHO: tolerance: expected ..., got ...". */
double nsl_numerics_number(lua_State *L, const char *who, const char *name, double low, double high, double missing);

/* An integer from `least` on, or `missing`. */
int nsl_numerics_count(lua_State *L, const char *who, const char *name, int least, int missing);

/* The index of the option `solver` in the list `known` (ends with NULL); 0 when it is absent. */
int nsl_numerics_solver(lua_State *L, const char *who, const char *const *known);

#include "solvers/method.h"
const NsMethod *nsl_numerics_method(lua_State *L, const char *who, const NsMethod *const *list, unsigned takes,
                                    const char **asked);
const NsMethod *nsl_method_named(const NsMethod *const *list, unsigned takes, const char *name, const char **asked);
const char *nsl_push_methods(lua_State *L, const NsMethod *const *list, unsigned takes);
/* The names of the methods for box problems (ends with NULL) and what they name. */
extern const char *const nsl_box_solvers[];
extern const NsBoxMethod nsl_box_methods[];

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

/* success, status ("ok", "ray", "no solution", ...) and message; raises a status that is none of a solver. */
void nsl_set_status(lua_State *L, NsStatus status, const char *who);

/* Seconds of a steady clock. */
double nsl_numerics_now(void);

/* Methods of one-step problems: the last problem studied. */
int nsl_osnsp_uniqueness(lua_State *L);
int nsl_osnsp_solutions(lua_State *L);

void nsl_open_numerics_mcp(lua_State *L);
void nsl_open_numerics_cone(lua_State *L);
void nsl_open_numerics_study(lua_State *L);

#endif

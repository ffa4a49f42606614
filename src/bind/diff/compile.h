/*
** compile.h
** ns.compile: traces a callback into a tape, once for each set of argument sizes, and makes native code of it.
*/
#pragma once

#include "bind/diff/tape.h"

/* Whether the value at idx is a compiled function. */
bool nsl_is_compiled(lua_State *L, int idx);

/* Whether the value at idx can be a callback: a function or a compiled function. */
bool nsl_is_callback(lua_State *L, int idx);

/* Pushes the plain function of the compiled function at idx, or the value at idx itself when it is no compiled function. */
void nsl_push_plain_function(lua_State *L, int idx);

/*
** The trace of the compiled function at idx for these arguments, made at the first call, with its inputs set to `in` (NULL: 0) and its path
** known; it lives as long as the compiled function. Raises the callback's errors, an error for code that cannot be traced, and one when
** the trace's values differ from the callback's.
*/
NslTrace *nsl_trace(lua_State *L, int idx, int nargs, const NslTraceArg *args, const double *in);

/* As nsl_trace, with nout values: "LABEL: expected 3 values, got 2". quiet: a callback without any result gives zeros. */
NslTrace *nsl_trace_of(lua_State *L, int idx, int nargs, const NslTraceArg *args, const double *in, int nout, const char *label,
                       bool quiet);

/*
** As nsl_trace, of a function that gives `most` numbers or one, as numbers, a list or a vector, compared at the inputs: "expected a number, got 3
** values".
*/
NslTrace *nsl_trace_numbers(lua_State *L, int idx, int nargs, const NslTraceArg *args, const double *in, int most);

/* Compares the trace's values with the callback's at the present inputs, if that was not done before. */
void nsl_trace_check(lua_State *L, NslTrace *trace);

/* Whether the variables of the script that the trace depends on have the values that they had when it was made. */
bool nsl_trace_is_current(const NslTrace *trace);

/*
** Pushes a trace of the plain function at idx for these arguments, without native code, and returns it. probe: it is compared with the function
** at the inputs `in` and near them; else the caller does that, wherever the trace is used. NULL, and nothing is pushed: the function can not be traced, or its values differ there.
*/
NslTrace *nsl_push_plain_trace(lua_State *L, int idx, int nargs, const NslTraceArg *args, const double *in, bool probe);

/*
** Makes native code for nsl_trace_vjp of a trace, once, if its function has native code. It takes the time of the C compiler, so call it
** where many sweeps follow.
*/
void nsl_trace_prepare_vjp(lua_State *L, NslTrace *trace);

/* What a solver was asked to compile by its option `compile`: nothing; its functions; by `nslua --compile`: these, and to tell. */
typedef enum NslCompileRequest { NSL_COMPILE_NOTHING, NSL_COMPILE_ASKED, NSL_COMPILE_TOLD } NslCompileRequest;

/* The option at idx, a boolean or nil: as the interpreter was told. */
NslCompileRequest nsl_compile_request(lua_State *L, int idx, const char *who);

/*
** Replaces the function at idx by what is to run in its place now: a compiled function, or the function itself where it stays in Lua
** (nslua.compile). A function that nslua.compile made may be at idx, too; its place is taken by another one where what it reads has changed.
*/
void nsl_compile_on_request(lua_State *L, int idx, NslCompileRequest request, const char *title);

/*
** The error of the compiled function at idx is on top of the stack. Where nslua.compile made the function its plain function takes its place
** at idx, with a warning that has the title; else the error is raised.
*/
void nsl_compiled_yield(lua_State *L, int idx, const char *title);

/* As nsl_compiled_yield, where a path of the function's trace could not be made in a run: raises or tells what kept it from being made. */
void nsl_trace_yield(lua_State *L, NslTrace *trace, int idx, const char *title);

/*
** Calls f with all values of the stack, to make *trace, for nslua.compile. Pushes the compiler's name, or "tape"; nil and the error where f
** fails. Returns their number.
*/
int nsl_push_attempt(lua_State *L, lua_CFunction f, NslTrace *const *trace);

/*
** exact(compiled, waits) for nslua.compile: from now on its traces take no sums that a library may take in another order; waits: the first path
** is compiled before it runs, as ns.compile does it, not meanwhile.
*/
int nsl_compiled_exact(lua_State *L);

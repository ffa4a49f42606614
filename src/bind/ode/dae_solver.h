/*
** dae_solver.h
** The userdata behind lua/nslua/dae.lua, for dae.c and dae_events.c.
*/
#pragma once

#include "base/arena.h"
#include "bind/array/vector.h"
#include "bind/diff/compile.h"
#include "bind/ode/ode_shadow.h"
#include "ode/dae_events.h"

/*
** One solver. Its user values hold the residual, the vectors that it gets, and the events. F: the last plain value of the
** residual, with which dual evaluations are compared.
*/
typedef struct NslDae {
  NslHead head;
  lua_State *L; /* the thread of the running call */
  int at;       /* the solver's stack index in that call */
  int n;
  NsArena arena;
  const NsDaeMethod *method;
  void *solver;                  /* of the method */
  NsDae *dae;                    /* the same when the method is Radau IIA; else NULL */
  NsDaeRun *run;                 /* the run with events; NULL: there are none */
  NsDaeSensitivity *sensitivity; /* NULL: none */
  int parameters;                /* number of columns of S */
  NslShadow shadow;              /* the trace of the residual with its arguments, for its Jacobians */
  struct NslDaeTraceRoom *room;  /* arrays for it */
  NsDaeProblem problem;
  NsEvents events;
  double *atol;
  int *index;
  double t, *y, *yd, *F, *Fy, *Fyd;
  NslTrace *trace;           /* the trace of a compiled residual; NULL: not compiled */
  double *inputs;            /* of the trace */
  NslCompileRequest compile; /* of the option */
  NslTrace **event_trace;    /* the traces of compiled events, NULL for one in Lua; NULL: none is compiled */
  bool ran,
      ran_for_events; /* Lua has run since the traces were looked at: it may have changed what the residual, or events, read */
  bool given;         /* Jacobians are given */
  bool known;         /* Fy and Fyd hold the Jacobians at (t, y, yd) */
} NslDae;

enum {
  NSL_DAE_F = 1,
  NSL_DAE_Y,
  NSL_DAE_YD,
  NSL_DAE_OUT,
  NSL_DAE_JACOBIAN,
  NSL_DAE_EVENTS,
  NSL_DAE_BY_PARAMETERS,
  NSL_DAE_SHADOW,
  NSL_DAE_USES = NSL_DAE_SHADOW
};

extern const NslType nsl_dae_type;

static inline void nsl_dae_lua_ran(NslDae *s) {
  s->ran = s->ran_for_events = true;
}

/* The solver at 1, or raises. */
NslDae *nsl_check_dae(lua_State *L);

/*
** Runs a part protected, with the solver at index 1 of its stack. With `call` not NULL, that is at index 2, as a light userdata.
** Returns 0, or -1 with the error kept.
*/
int nsl_dae_protect(NslDae *s, lua_CFunction part, void *call);

/* Pushes a vector of the solver, filled with these values. The solver is at index 1. */
void nsl_dae_push_filled(lua_State *L, int use, const double *value);

/* Pushes a new vector. */
void nsl_dae_push_values(lua_State *L, int n, const double *v);

typedef NsStatus (*NslDaeWork)(NslDae *s, void *what, NsError *err);

/*
** Runs engine work with the callbacks' thread set and Ctrl-C caught. True on success; else the message is on top of the stack.
** Raises what a callback raised.
*/
bool nsl_dae_run(lua_State *L, NslDae *s, NslDaeWork work, void *what);

/* Answers a script with nil and the reason, on top of the stack, why nsl_dae_run failed. */
int nsl_dae_refuse(lua_State *L);

/* nsl_dae_run as an answer to a script: what lies on top of the stack (results values), else nil and the reason; results = 0: true. */
int nsl_dae_answer(lua_State *L, NslDae *s, NslDaeWork work, void *what, int results);

/* nsl_dae_answer of the solver at 1, with the time at 2 as *what. */
int nsl_dae_to_time(lua_State *L, NslDaeWork work);

/* Adds the functions of events, or of sensitivities, to the table on top of the stack. */
void nsl_open_dae_events(lua_State *L);
void nsl_open_dae_sensitivity(lua_State *L);

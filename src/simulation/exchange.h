/*
** exchange.h
** A model as modes for a solver outside of the engine, as other tools have one: states with a rate, guards that are positive in the
** present mode, and events at which the mode and the states change. Impacts, switches and friction are computed as by EventDriven, and
** so is the choice of the mode (integrators/scheme.h, NsSchemeExchange). Events and clocks of the script act at events, too.
**
** The order of calls: begin; then rate, at any point; accept after each step that the solver keeps; event where a guard is 0 or less,
** and at instants of clocks.
*/
#pragma once

#include "simulation/time_stepping.h"

typedef struct NsExchange {
  NsTimeStepping *ts;     /* borrowed: an EventDriven, which makes the workspaces and is never stepped itself */
  NsTimeStepping *owner;  /* borrowed: the simulation of the same graph whose events and clocks of the script act */
  uint64_t graph_version; /* that they are made for; 0: not begun */
  int n, m; /* states, guards: first the guards of the modes, then one for each event of the script that is a root of g */
  int modes, events;  /* guards of the modes; events and clocks of the script */
  double from, h;     /* the time of the last event; a usual length of a step */
  double *x, *g;      /* the states of all systems; the values of all events of the script: workspace */
  double *z, *guards; /* n: the states after begin, and after the last event; m: workspace */
  bool *passed;       /* m: workspace */
  NsArena arena;
  NsEventLog log;
} NsExchange;

/* ns_exchange_free: `exchange` itself is the caller's. */
void ns_exchange_free(NsExchange *exchange);

/* A state: its system (an index in the graph), its letter (q, v, x or s) and its number, from 0 (-1: s). */
typedef struct NsExchangeState {
  int system, number;
  char letter;
} NsExchangeState;
NsExchangeState ns_exchange_state(const NsExchange *exchange, int i);

/*
** Starts at t from the states of the objects: chooses the mode, with the impacts and jumps that the laws ask for. h: a usual length of
** a step. Sets n, m and z. The statuses of a step.
*/
NsStatus ns_exchange_begin(NsExchange *exchange, double t, double h, NsError *err);

/* The rates (n) and the guards (m) at (t, z). NULL: not wanted. NS_ERETRY: not there, a smaller step may help. */
NsStatus ns_exchange_rate(NsExchange *exchange, double t, const double *z, double *rate, double *guards, NsError *err);

/* The solver has accepted a step to (t, z). *event: there is an event. */
NsStatus ns_exchange_accept(NsExchange *exchange, double t, const double *z, bool *event, NsError *err);

/*
** The event at (t, z), if there is one (*happened): the guards that are 0 or less there, what accept has told, and clocks with an instant
** there. renew: a script has changed laws or other coefficients, which are read anew. exchange->z are the states after it. What actions
** make occur is the event of the next call.
*/
NsStatus ns_exchange_event(NsExchange *exchange, double t, const double *z, bool renew, bool *happened, NsError *err);

/* Writes the point (t, z) to the objects of the graph: states, multipliers (in mechanics forces), outputs. */
NsStatus ns_exchange_place(NsExchange *exchange, double t, const double *z, NsError *err);

/* An NsWalk over the mode. ns_exchange_resume: it has been restored. */
void ns_exchange_visit(void *exchange, NsVisitor visitor, void *context);
void ns_exchange_resume(NsExchange *exchange);

/*
** scheme.h
** The integrators behind one face: what a time-stepping simulation asks of its scheme.
*/
#ifndef NS_SIMULATION_SCHEME_H
#define NS_SIMULATION_SCHEME_H

#include "integrators/euler_moreau_sparse.h"
#include "integrators/moreau_jean_sparse.h"
#include "integrators/schatzman_paoli.h"
#include "simulation/event_driven.h"

/*
** X(code, name). The global one keeps the velocities in the one-step problem, which is sparse; the last two are those of
** event_driven.h: with events located within the step, and with one step of fixed length.
*/
#define NS_INTEGRATOR_LIST(X)                                                                                                  \
  X(NS_EULER_MOREAU, "EulerMoreauOSI")                                                                                         \
  X(NS_MOREAU_JEAN, "MoreauJeanOSI")                                                                                           \
  X(NS_MOREAU_JEAN_GLOBAL, "MoreauJeanGOSI")                                                                                   \
  X(NS_SCHATZMAN_PAOLI, "SchatzmanPaoliOSI")                                                                                   \
  X(NS_RUNGE_KUTTA, "RungeKuttaOSI")                                                                                           \
  X(NS_D1_MINUS_LINEAR, "D1MinusLinearOSI")

typedef enum NsIntegratorKind {
#define X(code, name) code,
  NS_INTEGRATOR_LIST(X)
#undef X
      NS_INTEGRATOR_KINDS
} NsIntegratorKind;

/* An integrator as scripts make it: the options of its scheme. */
typedef struct NsIntegrator {
  NsIntegratorKind kind;
  NsEulerMoreauOptions euler_moreau;
  NsMoreauJeanOptions moreau_jean;
  NsSchatzmanPaoliOptions schatzman_paoli;
  NsEventOptions events;
} NsIntegrator;

/* The workspace of a scheme for one NSDS: one of these is not NULL. */
typedef struct NsScheme {
  NsEulerMoreau *euler_moreau;
  NsEulerMoreauSparse *euler_moreau_sparse;
  NsMoreauJean *moreau_jean;
  NsMoreauJeanSparse *moreau_jean_sparse;
  NsSchatzmanPaoli *schatzman_paoli;
  NsEventDriven *event_driven;
} NsScheme;

const char *ns_integrator_name(NsIntegratorKind kind);

/* Whether an integrator keeps a log of events; whether it locates them, and is one of EventDriven, not TimeStepping. */
bool ns_integrator_has_events(const NsIntegrator *integrator);
bool ns_integrator_locates_events(const NsIntegrator *integrator);

/* Whether its laws of impact act on velocities alone, so that a gap that is below 0 at the start stays so. */
bool ns_integrator_keeps_penetration(const NsIntegrator *integrator);

/* NS_EARG when a system of the graph is not of the integrator's family, naming it and what would do. */
NsStatus ns_integrator_accepts(const NsIntegrator *integrator, const NsNsds *nsds, NsError *err);

/*
** Makes the workspace for the graph as it stands; one that can project the coordinates when that is asked for. `clock`
** is told the time within an event-driven step. NS_ENOMEM. On failure *scheme is all NULL.
*/
NsStatus ns_scheme_new(NsScheme *scheme, const NsIntegrator *integrator, NsNsds *nsds, bool projecting, double *clock);
void ns_scheme_free(NsScheme *scheme);

/* The number of states when the one-step problem is to be solved sparse, else -1. */
int ns_scheme_sparse_states(const NsScheme *scheme);

/* Begins a step of a sparse scheme and forms its problem; accepts its solution. */
NsStatus ns_scheme_sparse_begin(NsScheme *scheme, const NsIntegrator *integrator, double t_k, double t_next, double h,
                                NsError *err);
NsSparseStep ns_scheme_sparse_problem(const NsScheme *scheme);
NsStatus ns_scheme_sparse_commit(NsScheme *scheme, const double *z, NsEnergyAccount *account, NsError *err);

/* Whether one linearised problem is the solution of a step. */
bool ns_scheme_linear(const NsScheme *scheme);

/* The rest is not for a sparse scheme, nor for an event-driven one; see the integrators' own functions of these names. */
NsStatus ns_scheme_begin(NsScheme *scheme, const NsIntegrator *integrator, double t_k, double t_next, double h, NsError *err);
void ns_scheme_restart(NsScheme *scheme);

/* Whether the iterate started elsewhere than at the state of t_k, where a restart puts it. */
bool ns_scheme_predicted(const NsScheme *scheme);
NsStatus ns_scheme_evaluate(NsScheme *scheme, NsError *err);
NsStatus ns_scheme_evaluate_relations(NsScheme *scheme, NsError *err);
NsStatus ns_scheme_linearize(NsScheme *scheme, bool full, NsError *err);

/* Solves the one-step problem of the iterate: problem->lambda, problem->y. The status is problem->info.status. */
NsStatus ns_scheme_solve(NsScheme *scheme, NsOsnsp *problem);

void ns_scheme_advance(NsScheme *scheme, const double *lambda, double fraction);
NsStepResidual ns_scheme_residual(NsScheme *scheme, const double *y, const NsStepTolerance *tolerance);
NsStatus ns_scheme_finite(const NsScheme *scheme, NsError *err);

/*
** Of the scheme of first order: whether the solved step is to be taken in another way, which has begun then; to take the step in
** that way from the beginning; whether it had a switch. See ns_euler_moreau_restarts.
*/
bool ns_scheme_restarts(NsScheme *scheme);
void ns_scheme_make_implicit(NsScheme *scheme);
bool ns_scheme_switched(const NsScheme *scheme);

/* Completes an iterate that passed, before it is accepted. */
NsStatus ns_scheme_complete(NsScheme *scheme, NsError *err);

/* Accepts the iterate; account may be NULL, and is that of mechanics. */
NsStatus ns_scheme_commit(NsScheme *scheme, NsEnergyAccount *account, NsError *err);

long ns_scheme_factorizations(const NsScheme *scheme);

#endif

/*
** one_step_problem.h
** The one-step nonsmooth problem: the laws of all interactions, solved once per Newton iteration.
*/
#pragma once

#include "integrators/scheme.h"
#include "solvers/box/box_solver.h"
#include "solvers/box/polyhedron.h"
#include "solvers/box/sparse_box.h"

/* X(code, name, the needs of laws that it handles) */
#define NS_OSNSP_LIST(X)                                                                                                       \
  X(NS_OSNSP_LCP, "LCP", NS_NEEDS_UNILATERAL | NS_NEEDS_IMPACT)                                                                \
  X(NS_OSNSP_RELAY, "Relay", NS_NEEDS_ROWS & ~(unsigned)NS_NEEDS_SORTS)                                                        \
  X(NS_OSNSP_MLCP, "MLCP", NS_NEEDS_ROWS)                                                                                      \
  X(NS_OSNSP_EQUALITY, "Equality", NS_NEEDS_EQUATION)                                                                          \
  X(NS_OSNSP_AVI, "AVI", NS_NEEDS_ROWS | NS_NEEDS_POLYHEDRON)                                                                  \
  X(NS_OSNSP_FRICTION, "FrictionContact", NS_NEEDS_CONES)                                                                      \
  X(NS_OSNSP_ROLLING, "RollingFrictionContact", NS_NEEDS_CONES | NS_NEEDS_ROLLING)                                             \
  X(NS_OSNSP_MECHANICAL, "GenericMechanical", NS_NEEDS_ROWS | NS_NEEDS_CONES | NS_NEEDS_ROLLING | NS_NEEDS_REACTION)

typedef enum NsOsnspKind {
#define X(code, name, handles) code,
  NS_OSNSP_LIST(X)
#undef X
      NS_OSNSP_KINDS
} NsOsnspKind;

/* The places of the islands' problems in the simulation's problem (merged.h). */
typedef struct NsMerged NsMerged;

/*
** Find y, lambda with y = M lambda + q and -y in the normal cone of [lower, upper] at lambda. ns_osnsp_prepare takes the
** memory. After a solve M, q, lambda, y and info show the last problem and its solution.
*/
typedef struct NsOsnsp {
  NsOsnspKind kind;
  NsBoxOptions options; /* its tolerance is the one in force for rows alone */
  double tolerance;     /* as it was asked for; 0: the default */
  const char *asked;    /* static: the name of options.method that was requested; NULL: none */
  int dim;              /* (Rolling)FrictionContact: dimension of its contacts; 0: any */
  NsBox *solver;
  int m, capacity; /* rows of the last problem (mechanics: of the closed contacts); the most rows */
  NsArena arena;
  const double *M; /* m x m, borrowed from the integrator; NULL before the first solve, without a simulation, or when merged */
  double *q, *lower, *upper, *lambda, *y; /* m each */
  NsPolyhedron *polyhedron;               /* of an AVI with polyhedral laws, else NULL: lambda is also in {H lambda >= K} */
  int states;                             /* number of states, for a problem in states and multipliers; else -1 */
  int rows;
  double *H, *K, *mu;      /* rows x m, column-major; rows; the multipliers of the rows */
  NsSparseBox *sparse;     /* of a large linear model: the problem in states and multipliers; M is NULL then */
  double *z, *w;           /* solution of `sparse` */
  long formed;             /* number of the matrix that `sparse` was made for */
  NsMixed *mixed;          /* mechanics with friction, or with many rows */
  NsMixed *positions;      /* solver of the projection, made at the first use */
  double *shift, *shifted; /* capacity each: solution of the projection, and its output */
  NsMixedGroup *groups;    /* groups of the last problem: ngroups */
  int ngroups;
  const NsStepProblem *wide; /* the last problem, borrowed from the integrator, when it was sparse: M is NULL; else NULL */
  bool slow;                 /* iterations with the answers converge slowly */
  bool again;                /* the next problem belongs to the same step as the last one */
  int *edge;                 /* with several islands: the interaction of each row of the last problem; else NULL */
  NsMerged *merged;          /* with several islands: the simulation's problem, which shows the islands' problems; else NULL */
  NsSolverInfo info;
  const void *owner; /* the simulation that uses it; NULL: none yet */
} NsOsnsp;

/* Its options. */
extern const NsField ns_osnsp_fields[];

const char *ns_osnsp_name(NsOsnspKind kind);

/* Whether this kind takes contacts with friction and no other laws; then scripts may set their dimension. */
bool ns_osnsp_of_contacts(NsOsnspKind kind);

/* Whether contacts with this number of rows are those that such a kind is for: with rolling rows, or without. */
bool ns_osnsp_takes_dimension(NsOsnspKind kind, int dim);

/* The methods that scripts may ask for, NULL at the end, and what one must accept: of a kind of contacts alone those for friction. */
const NsMethod *const *ns_osnsp_methods(const NsOsnsp *problem, unsigned *takes);

NsStatus ns_osnsp_new(NsOsnsp **problem, NsOsnspKind kind);
void ns_osnsp_free(NsOsnsp *problem);

/* NS_EARG when this kind does not take a law of the graph, naming the interaction and advising a kind. */
NsStatus ns_osnsp_accepts(const NsOsnsp *problem, const NsNsds *nsds, NsError *err);

/*
** Takes memory for the graph. states: the number of states of a sparse problem in states and multipliers, else -1. NS_EARG when
** this kind, or a sparse problem, does not take a law, naming the interaction and advising a kind; NS_ENOMEM.
*/
NsStatus ns_osnsp_prepare(NsOsnsp *problem, const NsNsds *nsds, int states, NsError *err);

/* Takes memory for vectors of m rows and for the polyhedra of the graph's laws, but no solver. NS_ENOMEM. */
NsStatus ns_osnsp_take_vectors(NsOsnsp *problem, const NsNsds *nsds, int m);

/* Takes memory for `edge`, for the graph of the last ns_osnsp_prepare. NS_ENOMEM. */
NsStatus ns_osnsp_note_edges(NsOsnsp *problem, const NsNsds *nsds);

/* Sets the tolerance that is asked for, above 0. */
void ns_osnsp_ask_tolerance(NsOsnsp *problem, double tolerance);

/* Copies the options, the name of the method and the dimension of contacts from another problem. */
void ns_osnsp_ask_like(NsOsnsp *problem, const NsOsnsp *other);

/* Whether the last problem had contacts with friction. */
bool ns_osnsp_has_contacts(const NsOsnsp *problem);

/* The accuracy of the last solution: the smaller of the residual and the tolerance, relative to the terms of each row. */
double ns_osnsp_tolerance(const NsOsnsp *problem);

/* Forgets the last problem, before the integrator frees its matrix. */
void ns_osnsp_forget(NsOsnsp *problem);

/* Whether a problem has been solved; whether the last problem was sparse and has no matrix to show. */
bool ns_osnsp_solved(const NsOsnsp *problem);
bool ns_osnsp_is_sparse(const NsOsnsp *problem);

/* The sparse matrix of the last problem of one island that has M NULL; NULL when there is none to show. */
const NsSparse *ns_osnsp_columns(const NsOsnsp *problem);

/* The m x m matrix of the last problem. NULL when there is none, or no memory to join the islands' matrices. */
const double *ns_osnsp_matrix(const NsOsnsp *problem);

/* Reads the laws' bounds; called at the start of a step. */
void ns_osnsp_read_bounds(NsOsnsp *problem, const NsNsds *nsds);

/* Solves a problem of a scheme and verifies the solution: *solution, n unknowns, multipliers last. Returns info.status. */
NsStatus ns_osnsp_solve(NsOsnsp *problem, const NsStepProblem *p, const double **solution);

/* Shows a problem in all multipliers that another solver has solved; lambda and y are set already. */
void ns_osnsp_show(NsOsnsp *problem, const NsStepProblem *p, const NsSolverInfo *info);

/* Solves the problem of the projection: problem->shift. The last one-step problem is unchanged. */
NsStatus ns_osnsp_solve_positions(NsOsnsp *problem, const NsStepProblem *p);

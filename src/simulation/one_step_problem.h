/*
** one_step_problem.h
** The one-step nonsmooth problem: the laws of all interactions in one box problem, solved once per Newton iteration.
*/
#ifndef NS_SIMULATION_ONE_STEP_PROBLEM_H
#define NS_SIMULATION_ONE_STEP_PROBLEM_H

#include "integrators/scheme.h"
#include "solvers/box/box_solver.h"
#include "solvers/box/polyhedron.h"
#include "solvers/box/sparse_box.h"

/* X(code, name, which needs of laws it handles) */
#define NS_OSNSP_LIST(X)                                                                                                       \
  X(NS_OSNSP_LCP, "LCP", NS_NEEDS_UNILATERAL | NS_NEEDS_IMPACT)                                                                \
  X(NS_OSNSP_RELAY, "Relay", NS_NEEDS_ROWS & ~(unsigned)NS_NEEDS_SORTS)                                                        \
  X(NS_OSNSP_MLCP, "MLCP", NS_NEEDS_ROWS)                                                                                      \
  X(NS_OSNSP_EQUALITY, "Equality", NS_NEEDS_EQUATION)                                                                          \
  X(NS_OSNSP_AVI, "AVI", NS_NEEDS_ROWS | NS_NEEDS_POLYHEDRON)                                                                  \
  X(NS_OSNSP_FRICTION, "FrictionContact", NS_NEEDS_CONES)                                                                      \
  X(NS_OSNSP_MECHANICAL, "GenericMechanical", NS_NEEDS_ROWS | NS_NEEDS_CONES)

typedef enum NsOsnspKind {
#define X(code, name, handles) code,
  NS_OSNSP_LIST(X)
#undef X
      NS_OSNSP_KINDS
} NsOsnspKind;

/* Where the problems of several islands stand in that of the simulation (joined.h). */
typedef struct NsJoined NsJoined;

/*
** Find y, lambda with y = M lambda + q and -y in the normal cone of [lower, upper] at lambda. Sized by
** ns_osnsp_prepare; after a solve, M, q, lambda, y and info tell the last problem and its answer.
*/
typedef struct NsOsnsp {
  NsOsnspKind kind;
  NsBoxOptions options;
  const char *asked; /* the name by which options.method was asked for, static; NULL: nobody has */
  int dim;           /* FrictionContact: of its contacts; 0: any */
  NsBox *solver;
  int m, capacity; /* rows of the last problem (in mechanics, of those that took part), and at most */
  NsArena arena;
  const double *M; /* m x m, the integrator's; NULL before the first solve, after the simulation is gone, when joined */
  double *q, *lower, *upper, *lambda, *y; /* m each */
  NsPolyhedron *polyhedron;               /* AVI with polyhedral laws, else NULL: lambda is in {H lambda >= K} too */
  int states;                             /* of a problem in states and multipliers: how many it has; else -1 */
  int rows;
  double *H, *K, *mu;      /* rows x m, column-major; rows; the multipliers of the rows */
  NsSparseBox *sparse;     /* of a large linear model: the problem in state and multipliers; M is NULL then */
  double *z, *w;           /* its solution */
  long formed;             /* the number of the matrix that `sparse` was made for */
  NsMixed *mixed;          /* mechanics: contacts with friction, or many rows */
  NsMixed *positions;      /* the projection's solver, made when it is used; its solution and what belongs to it */
  double *shift, *shifted; /* capacity each */
  NsMixedGroup *groups;    /* of its last problem: ngroups */
  int ngroups;
  bool wide;        /* that problem was sparse: M is NULL */
  bool again;       /* the next problem is that of another iterate of the same step */
  int *edge;        /* of one of several islands: the interaction of each row of the last problem; else NULL */
  NsJoined *joined; /* of several islands, which solve their own: this one tells what they did; else NULL */
  NsSolverInfo info;
  const void *owner; /* the simulation it works for; NULL: none yet */
} NsOsnsp;

/* What scripts ask for. */
extern const NsField ns_osnsp_fields[];

const char *ns_osnsp_name(NsOsnspKind kind);

/* Whether its laws are contacts with friction and no others, whose dimension may be asked for. */
bool ns_osnsp_of_contacts(NsOsnspKind kind);

NsStatus ns_osnsp_new(NsOsnsp **problem, NsOsnspKind kind);
void ns_osnsp_free(NsOsnsp *problem);

/* NS_EARG when a law of the graph does not fit its kind, naming the interaction and what would do. */
NsStatus ns_osnsp_accepts(const NsOsnsp *problem, const NsNsds *nsds, NsError *err);

/*
** Sizes it for the graph; states is -1, or the number of states when the problem is to be solved sparse. NS_EARG when
** a law does not fit its kind, naming the interaction and what would do, or can not be part of a sparse problem;
** NS_ENOMEM.
*/
NsStatus ns_osnsp_prepare(NsOsnsp *problem, const NsNsds *nsds, int states, NsError *err);

/* Sizes the vectors, of m rows, and the polyhedra of the graph's laws: what a problem has that others solve. NS_ENOMEM. */
NsStatus ns_osnsp_take_vectors(NsOsnsp *problem, const NsNsds *nsds, int m);

/* Lets it note in `edge` the interactions of the rows, of the graph that it has been prepared for. NS_ENOMEM. */
NsStatus ns_osnsp_note_edges(NsOsnsp *problem, const NsNsds *nsds);

/* Takes over what was asked of another one: the options, the name of the method, the dimension of contacts. */
void ns_osnsp_ask_like(NsOsnsp *problem, const NsOsnsp *other);

/* Whether the last problem had contacts with friction. */
bool ns_osnsp_has_contacts(const NsOsnsp *problem);

/* What the solver of the last problem left, at most what it was asked for, relative to the terms of each row. */
double ns_osnsp_tolerance(const NsOsnsp *problem);

/* Forgets the last problem, whose matrix was the integrator's: it is about to go. */
void ns_osnsp_forget(NsOsnsp *problem);

/* Whether a problem has been solved; whether the last one was sparse, so that it has no matrix to show. */
bool ns_osnsp_solved(const NsOsnsp *problem);
bool ns_osnsp_is_sparse(const NsOsnsp *problem);

/* The m x m matrix of the last problem; NULL when there is none, or no memory to join those of several islands. */
const double *ns_osnsp_matrix(const NsOsnsp *problem);

/* Reads the laws' bounds; called when a step begins. */
void ns_osnsp_read_bounds(NsOsnsp *problem, const NsNsds *nsds);

/*
** Solves the problem of a scheme, of whatever form it is; the answer is verified. *solution are its n numbers, the multipliers last.
** The status is info.status.
*/
NsStatus ns_osnsp_solve(NsOsnsp *problem, const NsStepProblem *p, const double **solution);

/* Shows a problem in all multipliers, which was solved in another way: lambda and y are there. */
void ns_osnsp_show(NsOsnsp *problem, const NsStepProblem *p, const NsSolverInfo *info);

/* Solves the problem of the projection, into problem->shift; the last one-step problem stays what it is. */
NsStatus ns_osnsp_solve_positions(NsOsnsp *problem, const NsStepProblem *p);

#endif

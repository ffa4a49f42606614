/*
** scheme.h
** One-step integrators. Each scheme is a table, NsSchemeClass, in a file or a folder of integrators/, and a line in
** NS_SCHEME_LIST. A simulation asks for the steps of a scheme in the order that simulation/step.c tells.
*/
#ifndef NS_INTEGRATORS_SCHEME_H
#define NS_INTEGRATORS_SCHEME_H

#include "base/field.h"
#include "integrators/energy.h"
#include "integrators/event_log.h"
#include "integrators/step_residual.h"
#include "model/nsds.h"
#include "solvers/contact/mixed.h"

/*
** X(name): each is `const NsSchemeClass ns_scheme_NAME`, whose name for scripts is `ns_scheme_NAME_text`. The first one of a
** family is the one that messages advise.
*/
#define NS_SCHEME_LIST(X)                                                                                                      \
  X(euler_moreau)                                                                                                              \
  X(moreau_jean)                                                                                                               \
  X(moreau_jean_global)                                                                                                        \
  X(moreau_jean_bilbao)                                                                                                        \
  X(schatzman_paoli)                                                                                                           \
  X(runge_kutta)                                                                                                               \
  X(d1_minus_linear)

typedef struct NsSchemeClass NsSchemeClass;

#define X(name)                                                                                                                \
  extern const NsSchemeClass ns_scheme_##name;                                                                                 \
  extern const char ns_scheme_##name##_text[];
NS_SCHEME_LIST(X)
#undef X

/* The place of each in ns_scheme_classes, and how many there are. */
enum {
#define X(name) NS_SCHEME_AT_##name,
  NS_SCHEME_LIST(X)
#undef X
      NS_SCHEME_CLASSES
};

/* All classes, NS_SCHEME_CLASSES of them, in the order of the list. */
extern const NsSchemeClass *const ns_scheme_classes[];

/* An integrator as scripts make it. Each scheme has a struct of its own that begins with this one and holds its options. */
typedef struct NsIntegrator {
  const NsSchemeClass *class;
} NsIntegrator;

/* The step from t_k to t, which is t_k + h but for rounding. implicit: whatever the options say, theta = gamma = 1. */
typedef struct NsStep {
  double t_k, t, h;
  bool implicit;
} NsStep;

/*
** The problem of a step, y = W lambda + q with the laws of its rows; n numbers each. It is of one of three forms:
**   dense, in all multipliers of the graph, with the bounds of the laws: lower and groups are NULL;
**   in groups of rows, each with its law (those of contacts that are closed), dense or sparse;
**   sparse, in states and multipliers, the multipliers last, with bounds of its own: lower is not NULL.
*/
typedef struct NsStepProblem {
  int n, ngroups;
  const NsMixedGroup *groups;
  const double *W;        /* n x n, column-major; NULL: sparse */
  const NsSparse *sparse; /* n x n */
  long formed;            /* a number that changes with a matrix of the third form */
  const double *q, *lower, *upper;
  const double *guess;    /* where a solver should start */
  const int *interaction; /* that of each row, a number in the graph; NULL: all rows of the graph, in its order */
} NsStepProblem;

/* Solves a problem for a scheme that goes from event to event: *lambda are its n multipliers. The status is the solver's. */
typedef struct NsStepSolver {
  NsStatus (*solve)(void *context, const NsStepProblem *problem, const double **lambda);
  void *context;
} NsStepSolver;

/* What the workspace of a scheme is made for. */
typedef struct NsSchemePlan {
  bool projecting; /* the coordinates may be projected: `settle` is used */
  bool combined;   /* with the velocities found again */
  double *clock;   /* is told the time at which the equations are evaluated within a step of `drive` */
} NsSchemePlan;

/* The first member of a scheme's workspace for one graph. */
typedef struct NsScheme {
  const NsSchemeClass *class;     /* that of the integrator, or of a form of it for large models */
  const NsIntegrator *integrator; /* its options, borrowed: a script may change them between two steps */
  NsNsds *nsds;
  NsArena arena;
  int states;          /* of a problem in states and multipliers: how many states it has; else -1 */
  bool linear;         /* one linearised problem is the solution of a step */
  bool predicted;      /* the iterate started elsewhere than at the state of t_k, where a restart puts it */
  long factorizations; /* of W, so far */
} NsScheme;

/*
** The projection of the coordinates on the constraints, at the end of a step: with the velocities as they are, the shift
** dq = W^-1 H' nu of least W-norm for which equations have y + H dq = 0 and contacts (their normals; those that took part, and
** others that have come too near) 0 <= y + H dq _|_ nu >= 0, repeated until y itself holds. In a combined one the shift stays in
** q while the velocities are found again. Acary, Projected event-capturing time-stepping schemes, CMAME 256, 2013.
*/
typedef struct NsSchemeSettle {
  /*
  ** The largest |y| of an equation or -y of a contact at the iterate, each over the size of its row, the terms of C q and the
  ** ways that the velocities make in it; `absolute`: each as it is.
  */
  double (*violation)(const NsScheme *scheme, bool absolute);

  /* The problem in nu at the iterate. NS_ECALLBACK, NS_ENOMEM. */
  NsStatus (*positions)(NsScheme *scheme, const NsStepProblem **problem, NsError *err);

  /* Moves by its solution, and evaluates the relations there. */
  NsStatus (*shift)(NsScheme *scheme, const double *nu, NsError *err);

  /*
  ** Contacts that penetrate by more than the tolerance, or that have a nu, take part in the law of the velocities from now on, to
  ** the end of the step; true when one of them did not.
  */
  bool (*enlarge)(NsScheme *scheme, double tolerance, bool absolute);
} NsSchemeSettle;

/* The start of a run with multipliers, from a step so short that what it changes does not count. */
typedef struct NsSchemeStart {
  /* dx (n = order of the scheme): what the iterate is from x_k, 0 for algebraic states; the name of the system of element i. */
  int (*order)(const NsScheme *scheme);
  void (*moved)(const NsScheme *scheme, double *dx);
  const char *(*name_of)(const NsScheme *scheme, int i);

  /* Accepts lambda, y and r of every object; of x only the algebraic states, those whose derivative is in no equation. */
  void (*accept)(NsScheme *scheme);
} NsSchemeStart;

/* What `rescue` is asked for, and what it tells. */
typedef struct NsRescue {
  int max_iterations;          /* of Newton's method for the multipliers, and for the state at given ones */
  NsStepTolerance tolerance;   /* of the step */
  const double *lower, *upper; /* bounds of the multipliers */
  double *lambda, *y;          /* written: the multipliers, and the output that the law allows them */
  NsStepResidual *residual;    /* written: what is left, within the tolerance */
  int iterations;              /* written: Newton's, for the multipliers */
} NsRescue;

/* What `drive` needs beside its step. */
typedef struct NsDrive {
  NsStepSolver solver;
  NsEventLog *log;          /* events are appended */
  NsEnergyAccount *account; /* NULL: none is kept */
} NsDrive;

/* Options that scripts get and set together: NAME() returns them all, setNAME(...) takes them. */
typedef struct NsFieldGroup {
  const char *name;
  const char *const *fields; /* as the arguments of a constructor */
} NsFieldGroup;

/*
** A scheme. What stands as NULL, or false, has the meaning that its comment tells. A step is begin, then evaluate, linearize,
** problem (solved) and advance, as often as it takes, then complete and commit. Each function with err names in it what it
** failed at; NS_ECALLBACK, NS_ENAN, NS_ECLOSED, NS_EARG, NS_ESINGULAR, NS_ENOMEM.
*/
struct NsSchemeClass {
  const char *name;           /* of the constructor */
  const char *const *aliases; /* other names of it, up to NULL; NULL: none */

  /* ---- options ---- */
  size_t bytes;                 /* of the struct of the integrator */
  const NsIntegrator *defaults; /* such a struct, with the options that a script does not give */
  const NsField *fields;
  const char *const *arguments; /* of the constructor, in order: fields, up to NULL; "gamma?" may be left out */
  const NsFieldGroup *group;    /* NULL: none */
  void (*given)(void *object, const NsField *field); /* is told what a script has given of an integrator; NULL: need not be */

  /* What tostring() says after the name; {field} stands for its value. NULL: ", field = value" for each SHOWN field. */
  const char *(*words)(const NsIntegrator *integrator);

  /* ---- what it is for ---- */
  NsFamily family;
  bool keeps_gaps; /* laws of impact act on velocities alone: a gap that is below 0 at the start stays so */
  bool locates;    /* events are located in time: it goes with EventDriven */
  bool whole;      /* a step can not be taken in parts */
  bool polishes; /* multipliers have an error of that of the state over h: an iterate that passes is worth one more iteration */

  /* NS_EARG when a law, a relation or a system of the graph is not one for it, naming it and what would do. NULL: it takes all. */
  NsStatus (*accepts)(const NsNsds *nsds, NsError *err);

  /* ---- the workspace ---- */

  /* Makes the workspace for the graph as it stands, which it accepts. NS_ENOMEM; *scheme is NULL then. */
  NsStatus (*create)(NsScheme **scheme, const NsIntegrator *integrator, NsNsds *nsds, const NsSchemePlan *plan);

  /* Frees what is not in the arena; NULL: there is nothing else. */
  void (*destroy)(NsScheme *scheme);

  /* ---- a step ---- */

  /* Begins a step at the memories of every object, evaluates what is explicit, and starts the iterate. */
  NsStatus (*begin)(NsScheme *scheme, const NsStep *step, NsError *err);

  /* Starts the iterate of the present step again, at the state of t_k. */
  void (*restart)(NsScheme *scheme);

  /* Forces, outputs, inputs and the residual at the iterate. NULL: the problem needs none. */
  NsStatus (*evaluate)(NsScheme *scheme, NsError *err);

  /* Jacobians at the iterate, W and its factors, and the problem. `full`: also of terms that matter little. What did not change stays. */
  NsStatus (*linearize)(NsScheme *scheme, bool full, NsError *err);
  const NsStepProblem *(*problem)(const NsScheme *scheme);

  /* Moves the iterate by s of the way (0 < s <= 1) to a solution of the problem (n numbers), from where the problem was formed. */
  void (*advance)(NsScheme *scheme, const double *solution, double s);

  /* How far the iterate (evaluated) is from the equations, y (n) being what the problem's solution gave. Not asked of linear ones. */
  NsStepResidual (*residual)(NsScheme *scheme, const double *y, const NsStepTolerance *tolerance);

  /* Whether every number of the iterate is finite; NS_ENAN names the first system with one that is not. */
  NsStatus (*finite)(const NsScheme *scheme, NsError *err);

  /* What is left to evaluate of an iterate that passed, before it can be accepted. NULL: nothing. */
  NsStatus (*complete)(NsScheme *scheme, NsError *err);

  /* Accepts the iterate: writes the state of every object; adds what the step did to the account (NULL: none). */
  NsStatus (*commit)(NsScheme *scheme, NsEnergyAccount *account, NsError *err);

  /* ---- what not every scheme has ---- */

  /* Whether the (solved) step is to be solved once more, in another way, which has begun then. NULL: never. */
  bool (*again)(NsScheme *scheme);

  /*
  ** In place of all from begin to complete: goes from event to event to the end of the step. NULL: the step is solved by iteration.
  ** NS_ENOCONV, NS_EMAXITER, NS_ENOSOL and what the solver says.
  */
  NsStatus (*drive)(NsScheme *scheme, const NsStep *step, const NsDrive *drive, NsError *err);

  /* The projection; NULL: it has none. */
  const NsSchemeSettle *settle;

  /* Solves a nonlinear step that has begun where Newton's method failed. NS_ENOCONV when it does not. NULL: it can't. */
  NsStatus (*rescue)(NsScheme *scheme, NsRescue *rescue, NsError *err);

  /* A consistent start; NULL: it has none. */
  const NsSchemeStart *start;

  /* The energies of a mechanical system that a step has left. NULL: those of its state. */
  NsStatus (*energy)(NsMechanicalDs *ds, double t, double *kinetic, double *potential, NsError *err);
};

const char *ns_integrator_name(const NsIntegrator *integrator);

/* NS_EARG when a system of the graph is not of its family, or something is not one for the scheme, naming it and what would do. */
NsStatus ns_integrator_accepts(const NsIntegrator *integrator, const NsNsds *nsds, NsError *err);

/* Makes the workspace of its scheme: see `create`. ns_scheme_free takes NULL. */
NsStatus ns_scheme_new(NsScheme **scheme, const NsIntegrator *integrator, NsNsds *nsds, const NsSchemePlan *plan);
void ns_scheme_free(NsScheme *scheme);

/* For `create`: a zeroed workspace of that many bytes, which begins with an NsScheme. NULL: no memory. */
void *ns_scheme_take(size_t bytes, const NsSchemeClass *class, const NsIntegrator *integrator, NsNsds *nsds);

/* For `create`: hands the workspace over when its arena has what it needs, else frees it. NS_ENOMEM. */
NsStatus ns_scheme_hand_over(NsScheme **to, NsScheme *scheme);

/* The entry of a weight, a number in [0, 1], for the tables of options. */
#define NS_FIELD_A_WEIGHT(name, of, member)                                                                                    \
  NS_FIELD_A_NUMBER(name, of, member, 0, 1, NS_FIELD_SETTER | NS_FIELD_CONSTANT | NS_FIELD_SHOWN)

#endif

/*
** scheme.h
** One-step integrators. Each scheme is one table, an NsSchemeClass, in a file or a folder of integrators/, and one line of
** NS_SCHEME_LIST. simulation/step.c calls the functions of the table and shows their order.
*/
#pragma once

#include "base/field.h"
#include "integrators/energy.h"
#include "integrators/event_log.h"
#include "integrators/step_residual.h"
#include "model/nsds.h"
#include "solvers/contact/mixed.h"

/* X(name): the table ns_scheme_NAME, and its name for scripts, ns_scheme_NAME_text. Messages advise the first of a family. */
#define NS_SCHEME_LIST(X)                                                                                                      \
  X(euler_moreau)                                                                                                              \
  X(moreau_jean)                                                                                                               \
  X(moreau_jean_global)                                                                                                        \
  X(moreau_jean_bilbao)                                                                                                        \
  X(schatzman_paoli)                                                                                                           \
  X(runge_kutta)                                                                                                               \
  X(radau)                                                                                                                     \
  X(d1_minus_linear)                                                                                                           \
  X(fesd)

typedef struct NsSchemeClass NsSchemeClass;

#define X(name)                                                                                                                \
  extern const NsSchemeClass ns_scheme_##name;                                                                                 \
  extern const char ns_scheme_##name##_text[];
NS_SCHEME_LIST(X)
#undef X

/* The index of each scheme in ns_scheme_classes, and the number of schemes. */
enum {
#define X(name) NS_SCHEME_AT_##name,
  NS_SCHEME_LIST(X)
#undef X
      NS_SCHEME_CLASSES
};

/* NS_SCHEME_CLASSES tables, in the order of the list. */
extern const NsSchemeClass *const ns_scheme_classes[];

/* The options of an integrator, as a script makes it. Each scheme has its own struct of options, which begins with this one. */
typedef struct NsIntegrator {
  const NsSchemeClass *class;
} NsIntegrator;

/*
** The step from t_k to t = t_k + h (up to rounding). implicit: theta = gamma = 1, whatever the options say. whole: the length of the
** step of the grid that this step is a part of; 0: it is no part. jumps: data that the script owns may jump at t, so that nothing is
** evaluated beyond t.
*/
typedef struct NsStep {
  double t_k, t, h;
  bool implicit;
  double whole;
  bool jumps;
} NsStep;

/* The part of a step of the grid that the step is: 1, or less. */
double ns_step_part(const NsStep *step);

/* Tells the interactions the length of the step of the grid, for laws whose bounds are forces. */
void ns_step_tell_length(const NsNsds *graph, const NsStep *step);

/* The part of a step from t_k to t = t_k + h; of an implicit step the first part is implicit. */
NsStep ns_step_divide_at(const NsStep *step, double t_k, double t, double h);

/*
** The problem of a step: y = W lambda + q, with n rows, and the law of each row between y and lambda. There are three forms:
**   dense    the unknowns are all multipliers of the graph, bounded by lower and upper, or, where these are NULL, by their laws
**            (groups is NULL);
**   groups   groups of rows, each with its law, for the contacts that are closed; W is dense or sparse;
**   sparse   the unknowns are the states, then the multipliers; lower and upper are set.
*/
typedef struct NsStepProblem {
  int n, ngroups;
  NsMixedGroup *groups;   /* the solver writes coefficients of friction that depend on the slip */
  const double *W;        /* n x n, column-major; NULL: the matrix is `sparse` */
  const NsSparse *sparse; /* n x n */
  long formed;            /* sparse form: the number of this matrix; another matrix has another number */
  const double *q, *lower, *upper;
  const double *guess;    /* n: the iterate that the solver starts from */
  const int *interaction; /* n: each row's interaction, a number in the graph; NULL: all rows, in the graph's order */
} NsStepProblem;

/* Solves a problem for a scheme with `drive`. *lambda points at the n multipliers. Returns the solver's status. */
typedef struct NsStepSolver {
  NsStatus (*solve)(void *context, const NsStepProblem *problem, const double **lambda);
  void *context;
} NsStepSolver;

/* What the workspace of a scheme must provide. */
typedef struct NsSchemePlan {
  bool projecting; /* the coordinates may be projected (`settle` is used) */
  bool combined;   /* the projection computes the velocities again, too */
  double *clock;   /* `drive` writes here the time at which it evaluates the equations */
  bool lin; /* for derivatives (tangent): the scheme's own form; what only the search for a solution needs may be left out */
} NsSchemePlan;

/* The first member of a scheme's workspace for one graph. */
typedef struct NsScheme {
  const NsSchemeClass *class;     /* the scheme of the integrator, or its form for large models */
  const NsIntegrator *integrator; /* the options, borrowed: a script may change them between two steps */
  NsNsds *nsds;
  NsArena arena;
  int states;            /* number of states, when the problem is in states and multipliers; else -1 */
  bool linear;           /* a step is one linearised problem, without iteration */
  bool sure;             /* `commit` of the solved step, without an account, can not fail */
  bool predicted;        /* the iterate did not start at the state of t_k; `restart` moves it there */
  long factorizations;   /* number of factorizations of W so far */
  NsStepProblem problem; /* of the last `linearize`; with `drive` not used */
} NsScheme;

/*
** The projection of the coordinates on the constraints, at the end of a step. The velocities stay as they are. The coordinates
** are shifted by dq = W^-1 H' nu, the shift of least W-norm with y + H dq = 0 for equations and 0 <= y + H dq _|_ nu >= 0 for
** the normals of contacts. These are the contacts that took part in the step and those that penetrate. Shifts are repeated
** until y itself is within the tolerance. In a combined projection the shift stays in q, and the velocities are computed again.
** Acary, Projected event-capturing time-stepping schemes, CMAME 256, 2013.
*/
typedef struct NsSchemeSettle {
  /*
  ** The largest violation at the iterate: |y| of an equation, -y of a contact. It is divided by the size of the row (the
  ** largest term of C q, or the largest way h |H v|); with `absolute` it is not divided. equations: the contacts do not count.
  ** *where: its interaction; NULL: nobody asks.
  */
  double (*violation)(const NsScheme *scheme, bool absolute, bool equations, int *where);

  /* Forms the problem of the shift, in nu, at the iterate. NS_ECALLBACK, NS_ENOMEM. */
  NsStatus (*positions)(NsScheme *scheme, const NsStepProblem **problem, NsError *err);

  /* Softens the contacts of that problem: each may stay violated in proportion to its nu, by `part` of its own compliance. */
  void (*soften)(NsScheme *scheme, double part);

  /*
  ** Shifts the coordinates by the solution nu, and evaluates the relations there. A combined projection takes W^-1 H' (sum of nu) with the
  ** present H; with `adds` it adds W^-1 H' nu to its shift, which converges where H turns fast.
  */
  NsStatus (*shift)(NsScheme *scheme, const double *nu, bool adds, NsError *err);

  /* Keeps the coordinates and their shift; returns to the last that were kept, and evaluates the relations there. */
  void (*keep)(NsScheme *scheme);
  NsStatus (*go_back)(NsScheme *scheme, NsError *err);

  /*
  ** Contacts that penetrate by more than the tolerance, or have nu > 0, take part in the velocity problem until the end of the
  ** step. Returns true when one of them did not take part before.
  */
  bool (*enlarge)(NsScheme *scheme, double tolerance, bool absolute);
} NsSchemeSettle;

/* Other ways of a step than to begin it and to solve it once; each NULL: never. */
typedef struct NsSchemeWays {
  /*
  ** Whether the step that has begun has the data of the last one, to the bit, and the workspace still has its solution, which is the iterate then:
  ** there is nothing to solve.
  */
  bool (*repeats)(NsScheme *scheme);

  /* Whether the solved step must be solved a second time, in another way; then that solve has already begun. */
  bool (*again)(NsScheme *scheme);

  /*
  ** Whether the laws of the step are others at the solution that has been found: then it is solved on from there, a linear step
  ** from `restart`. True a finite number of times in a step.
  */
  bool (*revise)(NsScheme *scheme);

  /* Makes a step that has begun a simpler one, where Newton's method may have no limit, as normals of contacts change. False: it stays as it is. */
  bool (*simplify)(NsScheme *scheme);

  /* NS_ENOCONV when bodies turn so far in the solved step, also after `simplify`, that its touching points have no meaning. */
  NsStatus (*plausible)(const NsScheme *scheme, NsError *err);
} NsSchemeWays;

/* The start of a run with multipliers: a step that is so short that the change of the states is negligible. */
typedef struct NsSchemeStart {
  /* order: the number n of states. moved: dx (n) = iterate - x_k, 0 for algebraic states. name_of: the system of state i. */
  int (*order)(const NsScheme *scheme);
  void (*moved)(const NsScheme *scheme, double *dx);
  const char *(*name_of)(const NsScheme *scheme, int i);

  /* Accepts lambda, y, r of every object, and its algebraic states: states whose derivative is in no equation. */
  void (*accept)(NsScheme *scheme);
} NsSchemeStart;

/* Input and output of `rescue`. */
typedef struct NsRescue {
  int max_iterations;          /* of Newton's method for the multipliers, and of that for the state at given multipliers */
  NsStepTolerance tolerance;   /* tolerance of the step */
  const double *lower, *upper; /* bounds of the multipliers */
  double *lambda, *y;          /* output: multipliers, and y projected on the values that the law allows at lambda */
  NsStepResidual *residual;    /* output: the residual, within the tolerance */
  int iterations;              /* output: Newton iterations for the multipliers */
} NsRescue;

/*
** Receives the dense output of a step from `drive`. Values are x of each system, then lambda, then y of each interaction, in the
** graph's order. A failure ends the step.
*/
typedef struct NsDenseSink {
  void *context;

  /* Is called twice at each event (or several events of the same t): with the values before it, then with those after it. */
  NsStatus (*side)(void *context, double t, const double *values, NsError *err);

  /*
  ** Is called for each smooth piece [t_old, t] of the step, in order, with the values at its NS_BERNSTEIN_SIZE nodes
  ** (ns_bernstein_node), one node after the other. NULL: nobody asks. defects: NS_DEFECTS x the size of x, how fast the errors
  ** of the dense output move x at the nodes ns_defect_node; NULL where they are not wanted, or not known.
  */
  NsStatus (*piece)(void *context, double t_old, double t, const double *values, const double *defects, NsError *err);
  bool wants_defects;
} NsDenseSink;

/* What `drive` needs besides the step. */
typedef struct NsDrive {
  NsStepSolver solver;
  NsEventLog *log;                   /* receives the events */
  NsEnergyAccount *account;          /* NULL: no account is kept */
  const NsDenseSink *sink;           /* NULL: nobody records the dense output of the step */
  struct NsSensitivity *sensitivity; /* carries derivatives by parameters along; NULL: nobody asks */
  const NsLinker *linker;            /* NULL: links do not change within the step */
} NsDrive;

/* What NsSchemeTangent.vjp differentiates: eta . rho + psi . y + weights . r, at the iterate; vectors in the order of the layout. */
typedef struct NsStepVjp {
  const double *eta, *psi, *r; /* N, M, N: weights; r: of the inputs after the step */
  double *x, *r_k;             /* N: += the derivatives by x_k and r_k; NULL: they are not wanted */
  const struct NsParameter *parameters;
  int p;
  double *g;   /* p: the derivatives by the parameters with `known` */
  bool *known; /* p */
} NsStepVjp;

/*
** The derivatives of a step by its start and by numbers of the model (step_tangent.h). The equations of a step,
**   rho(memories, w, lambda) = 0 and the laws between y(memories, w, lambda) and lambda,
** are evaluated near its solution on a workspace of their own, the linearisation. The unknowns w (N) and the multipliers lambda (M) of the
** linearisation follow its layout. Every function but `read` and `refuses` is called on a linearisation, after its `begin`.
*/
typedef struct NsSchemeTangent {
  const NsSchemeClass *lin; /* makes the linearisation; its table has the functions below that are NULL here */
  bool before_states;       /* a step reads x_before of the systems, besides x_k */
  bool states;              /* w are the states themselves */
  bool coordinates;         /* w are the coordinates of mechanical systems; without both, w are their velocities */
  bool curved;              /* of a linear model: rho is not a polynomial of degree 2 in the numbers of the model */

  /* Whether a step with these options reads r_k of the systems, too. NULL: it does not. */
  bool (*input)(const NsIntegrator *integrator);

  /* Why steps with these options have no derivative; NULL: they have one. The member may be NULL: they have one. */
  const char *(*refuses)(const NsIntegrator *integrator);

  /* The solution of the step: the unknowns in the order of the systems; open: the rows (M) that took no part. */
  void (*read)(const NsScheme *scheme, double *w, double *lambda, bool *open);

  const struct NsLayout *(*layout)(const NsScheme *lin);

  /* Sets the iterate; the same rows take no part. */
  void (*place)(NsScheme *lin, const double *w, const double *lambda, const bool *open);

  /* rho (N) and y (M), the outputs in the laws, at the iterate. */
  NsStatus (*equations)(NsScheme *lin, double *rho, double *y, NsError *err);

  /* y (M) where the step begins; impact laws: the velocities there. */
  NsStatus (*before)(NsScheme *lin, double *y, NsError *err);

  /* w = W^-1 w. dy (M) = the change of y with dw. After `linearize`. */
  void (*divide)(const NsScheme *lin, double *w);
  void (*respond)(const NsScheme *lin, const double *dw, double *dy);

  /* The states x and, when `input` says so, the inputs r after the step, from the systems' memories and the iterate. NULL: see `states`. */
  NsStatus (*state)(NsScheme *lin, double *x, double *r, NsError *err);

  /*
  ** With NsSchemeSettle: evaluates the relations where `state` has left the linearisation, before the first shift; the states x after the shifts. NULL:
  ** the scheme can not project.
  */
  NsStatus (*unsettled)(NsScheme *lin, NsError *err);
  void (*settled)(const NsScheme *lin, double *x);

  /*
  ** Transposed derivatives in closed form, at the iterate, which has been evaluated; see NsStepVjp. NULL: there are none. NS_ENOSOL: not
  ** of this model.
  */
  NsStatus (*vjp)(NsScheme *lin, const NsStepVjp *vjp, NsError *err);
} NsSchemeTangent;

/*
** The modes of a scheme that goes from event to event, for a solver outside of the engine (simulation/exchange.h). Between two events
** the states z (n) have the rate of the present mode; an event is where a guard, which is positive in its mode, comes to 0 or below.
** The workspace keeps the mode; z is the solver's. The members return the statuses of `drive`.
*/
typedef struct NsSchemeExchange {
  /* *states: n; *guards: their number m. They come from the last `begin`. */
  void (*sizes)(const NsScheme *scheme, int *states, int *guards);

  /*
  ** State i: its system (an index in the graph), its letter (q, v, x; s: a combination of the states x of a singular M), and its
  ** number in the system, from 0.
  */
  void (*name)(const NsScheme *scheme, int i, int *system, char *letter, int *number);

  /*
  ** Starts at t from the memories of the objects, which it reads anew: chooses the mode, with impacts and jumps; then z are the
  ** states. step->h: a usual length of a step. drive: its log and its solver are used, also later.
  */
  NsStatus (*begin)(NsScheme *scheme, const NsStep *step, const NsDrive *drive, double *z, NsError *err);

  /* The rates (n) and the guards (m) in the present mode. NULL: not wanted. */
  NsStatus (*rate)(NsScheme *scheme, double t, const double *z, double *rate, double *guards, NsError *err);

  /* The solver has accepted a step to (t, z). *event: there is an event; also one that no guard tells. */
  NsStatus (*accept)(NsScheme *scheme, double t, const double *z, bool *event, NsError *err);

  /*
  ** The event at (t, z) of the guards k with passed[k] (m), and of what `accept` has told; z becomes the state after it. renew: the
  ** laws are read anew, a script may have changed them; then (t, z) is also in the memories of the objects.
  */
  NsStatus (*event)(NsScheme *scheme, double t, double *z, const bool *passed, bool renew, NsError *err);

  /* Evaluates (t, z), so that `commit` writes this point to the objects. */
  NsStatus (*place)(NsScheme *scheme, double t, const double *z, NsError *err);

  /* Walks the mode and what else these functions keep between two calls. resume: a visitor has changed it; NULL: nothing to do. */
  void (*visit)(NsScheme *scheme, NsVisitor visitor, void *context);
  void (*resume)(NsScheme *scheme);
} NsSchemeExchange;

/* Options that a script gets and sets together: NAME() returns all, setNAME(...) sets all. */
typedef struct NsFieldGroup {
  const char *name;
  const char *const *fields; /* names of fields up to NULL, as in `arguments` below */
} NsFieldGroup;

/*
** The table of a scheme. A member that is NULL or false has the meaning that its comment tells. A step calls begin; then
** evaluate, linearize and advance, once per iteration; then complete and commit. A function with an argument err may
** return NS_ECALLBACK, NS_ENAN, NS_ECLOSED, NS_EARG, NS_ESINGULAR or NS_ENOMEM, and names the failing object in err.
*/
struct NsSchemeClass {
  const char *name;           /* of the constructor in Lua */
  const char *const *aliases; /* other names of the constructor, up to NULL; NULL: none */

  /* ---- options ---- */
  size_t bytes;                 /* size of the struct of options */
  const NsIntegrator *defaults; /* a struct of options with the default values */
  const NsField *fields;
  const char *const *arguments; /* of the constructor, in order: names of fields, up to NULL; "gamma?" is optional */
  const NsFieldGroup *group;    /* NULL: none */
  void (*given)(void *object, const NsField *field); /* is called with each field that a script sets; NULL: is not called */

  /* Checks options that must fit each other, when they are made and when a script sets one. NULL: all fit. NS_EARG. */
  NsStatus (*check)(const NsIntegrator *integrator, NsError *err);

  /* What tostring() prints after the name; {field} stands for its value. NULL: ", field = value" for each SHOWN field. */
  const char *(*words)(const NsIntegrator *integrator);

  /* ---- what it is for ---- */
  NsFamily family;                   /* of the systems that it takes; with `forms`: not used */
  const NsSchemeClass *const *forms; /* its form for the islands of each family (NS_FAMILIES; NULL: does not take it). The form
                                        has the functions of workspace and step. NULL: there is one form, this table */
  bool keeps_gaps;                   /* impact laws act on velocities alone: a gap below 0 at the start stays below 0 */
  bool locates;                      /* locates events in time: EventDriven needs it */
  bool senses;                       /* `drive` carries derivatives by parameters */
  bool whole;                        /* a step can not be divided into parts */
  bool accelerates; /* `commit` writes accelerations of mechanical systems; else they are the change of v over the step */
  bool polishes;    /* the error of multipliers is the error of the state over h: a converged iterate gets one more iteration */

  /*
  ** NS_EARG when the scheme can not take a law, a relation or a system of the graph; err names it and advises. A form skips
  ** objects of other families. NULL: takes all.
  */
  NsStatus (*accepts)(const NsNsds *nsds, NsError *err);

  /* ---- the workspace ---- */

  /* Makes the workspace for the present graph, which `accepts` has accepted. On NS_ENOMEM *scheme is NULL. */
  NsStatus (*create)(NsScheme **scheme, const NsIntegrator *integrator, NsNsds *nsds, const NsSchemePlan *plan);

  /* Frees what is not in the arena; NULL: everything is in the arena. */
  void (*destroy)(NsScheme *scheme);

  /* ---- a step ---- */

  /* Begins a step: reads the memories of every object, evaluates the explicit terms, and starts the iterate. */
  NsStatus (*begin)(NsScheme *scheme, const NsStep *step, NsError *err);

  /* Moves the iterate of this step back to the state of t_k. */
  void (*restart)(NsScheme *scheme);

  /* Evaluates forces, outputs, inputs and the residual at the iterate. NULL: the problem does not need them. */
  NsStatus (*evaluate)(NsScheme *scheme, NsError *err);

  /* Computes Jacobians, W, its factors, and the problem, if they changed. `full`: with the terms of little influence. */
  NsStatus (*linearize)(NsScheme *scheme, bool full, NsError *err);

  /* Moves the iterate by the fraction s in (0, 1] from the point of linearisation to the solution (n) of the problem. */
  void (*advance)(NsScheme *scheme, const double *solution, double s);

  /* The residual of the evaluated iterate; y (n) is the output in the problem's solution. Not called when `linear` is true. */
  NsStepResidual (*residual)(NsScheme *scheme, const double *y, const NsStepTolerance *tolerance);

  /* NS_ENAN when a number of the iterate is not finite; err names the first such system. */
  NsStatus (*finite)(const NsScheme *scheme, NsError *err);

  /* Evaluates what a converged iterate still lacks before it can be accepted. NULL: nothing. */
  NsStatus (*complete)(NsScheme *scheme, NsError *err);

  /* Accepts the iterate: writes the state of every object, and adds the works of the step to the account (NULL: no account). */
  NsStatus (*commit)(NsScheme *scheme, NsEnergyAccount *account, NsError *err);

  /* ---- optional functions ---- */

  /* How often a step is solved. */
  NsSchemeWays ways;

  /*
  ** Replaces all functions from begin to complete: goes from event to event to the end of the step. NULL: the step is solved by
  ** iteration. NS_ENOCONV, NS_EMAXITER, NS_ENOSOL and the solver's statuses.
  */
  NsStatus (*drive)(NsScheme *scheme, const NsStep *step, const NsDrive *drive, NsError *err);

  /* The projection; NULL: the scheme has none. */
  const NsSchemeSettle *settle;

  /* Solves a nonlinear step, which has begun, after Newton's method failed. NS_ENOCONV when this fails, too. NULL: none. */
  NsStatus (*rescue)(NsScheme *scheme, NsRescue *rescue, NsError *err);

  /* The consistent start; NULL: the scheme has none. */
  const NsSchemeStart *start;

  /*
  ** The order of the scheme, 1 or 2, where the motion is smooth: a step of length h adds an error of O(h^(order + 1)). steady:
  ** the multipliers are constant. NULL: the scheme needs steps of one length, or has a control of its own.
  */
  int (*order)(const NsScheme *scheme, bool steady);

  /* The derivatives of a step; NULL: there are none, or `drive` carries them (senses). */
  const NsSchemeTangent *tangent;

  /* The modes for a solver outside of the engine; NULL: there are none. */
  const NsSchemeExchange *exchange;

  /* The energies of a mechanical system after a step. NULL: they are the energies of its state. */
  NsStatus (*energy)(NsMechanicalDs *ds, double t, double *kinetic, double *potential, NsError *err);
};

const char *ns_integrator_name(const NsIntegrator *integrator);

/* The scheme's form for a family; NULL: it does not take the family. */
const NsSchemeClass *ns_scheme_form(const NsSchemeClass *class, NsFamily family);

/* The name of the first scheme of a family that takes steps of any length (`order`), for advice in messages. */
const char *ns_scheme_of_any_length(NsFamily family);

/* Whether its steps go from event to event (`drive`), and so log events. */
bool ns_integrator_drives(const NsIntegrator *integrator);

/*
** NS_EARG when the scheme does not take the family of a system, or `accepts` refuses an object; err names the object and advises.
*/
NsStatus ns_integrator_accepts(const NsIntegrator *integrator, const NsNsds *nsds, NsError *err);

/* Makes the workspace of the integrator's scheme, see `create`. ns_scheme_free takes NULL. */
NsStatus ns_scheme_new(NsScheme **scheme, const NsIntegrator *integrator, NsNsds *nsds, const NsSchemePlan *plan);
void ns_scheme_free(NsScheme *scheme);

/* For `create`: returns a zeroed workspace of `bytes` bytes that begins with an NsScheme; NULL when there is no memory. */
void *ns_scheme_take(size_t bytes, const NsSchemeClass *class, const NsIntegrator *integrator, NsNsds *nsds);

/* For `create`: sets *to when no allocation of the arena has failed; else frees the workspace and returns NS_ENOMEM. */
NsStatus ns_scheme_hand_over(NsScheme **to, NsScheme *scheme);

/* The field of an option that is a weight, a number in [0, 1]. */
#define NS_FIELD_A_WEIGHT(name, of, member)                                                                                    \
  NS_FIELD_A_NUMBER(name, of, member, 0, 1, NS_FIELD_SETTER | NS_FIELD_CONSTANT | NS_FIELD_SHOWN)

/*
** hybrid.h
** A smooth motion in a mode, with events at which the mode changes: what the integrators that go from event to event share.
*/
#pragma once

#include "integrators/event_schemes.h"
#include "integrators/sensitivity.h"
#include "ode/stepper.h"

typedef struct NsHybrid NsHybrid;

/*
** The motion in a given mode, apart from any run: at every state, whatever the signs of its guards (simulation/mode.h). lin:
** the context of an NsLinearisation by p parameters, with slope, which `make` makes and `drop` frees. States are the unknowns u
** of the run.
*/
typedef struct NsGivenMode {
  /* NS_EARG: the states are no free numbers (quaternions, algebraic states); NS_ENOMEM. */
  NsStatus (*make)(NsHybrid *run, const NsParameter *parameters, int p, NsLinearisation **lin, NsError *err);
  void (*drop)(void *lin);

  /*
  ** The present mode of the run: its block, *bytes long, for `take`; a word for each row, NULL for one that scripts can't
  ** follow.
  */
  const void *(*block)(const NsHybrid *run, size_t *bytes);
  const char *(*word)(const NsHybrid *run, int row);

  /* The mode becomes the one of the block; (t, u) is a point of it. The numbers of the model are read anew. */
  NsStatus (*take)(void *lin, const void *block, double t, const double *u, NsError *err);

  /* Guard k >= 0 of the mode: the kind of its event and *row; NULL: it has none. *row < 0: there are no more guards. */
  const char *(*watched)(const void *lin, int k, int *row);

  /*
  ** An impact. NULL: there are none. impact: how the rows take part when `hit` closes and u before becomes u after, two numbers
  ** for each row; not *known: these do not tell. reset: u after such an impact; A (n x n; NULL: not wanted) = its derivative,
  ** where *exact; with A, B (n x p) = those by the parameters with known[j].
  */
  NsStatus (*impact)(void *lin, int hit, double t, const double *before, const double *after, double *ways, bool *known,
                     NsError *err);
  NsStatus (*reset)(void *lin, const double *ways, double t, const double *u, double *after, double *A, bool *exact, double *B,
                    bool *known, NsError *err);
} NsGivenMode;

/* A family of such motions. A function with an argument err returns the statuses of NsSchemeClass.drive. */
typedef struct NsHybridClass {
  /* ---- a step of the grid, see drive.c ---- */

  /* It begins: from the memories of the objects to the state and the mode that go on, also what happens at once. finish: after its end. */
  NsStatus (*start)(NsHybrid *run, const NsStep *step, const NsDrive *drive, NsError *err);
  NsStatus (*finish)(NsHybrid *run, NsError *err);

  /* Goes on to the next event, and handles it, or to the end. Usually ns_hybrid_go_on, with the functions that follow; else they are NULL. */
  NsStatus (*go_on)(NsHybrid *run, NsError *err);

  /* Smooth motion begins at the present state: guards, accepted errors, the first length; starts the stepper. */
  NsStatus (*begin)(NsHybrid *run, NsError *err);

  /* One step of the stepper, which ends at the first event in it: *event, the number of a guard; it was -1. */
  NsStatus (*advance)(NsHybrid *run, int *event, NsError *err);

  /* The end of the step, projected on the constraints of the mode, becomes the present state. */
  NsStatus (*take)(NsHybrid *run, NsError *err);

  /* After a step without an event, for the next one. *event: there is one that no guard tells. *ends: begin anew. */
  NsStatus (*renew)(NsHybrid *run, int *event, bool *ends, NsError *err);

  /* Handles an event at the present state. */
  NsStatus (*handle)(NsHybrid *run, int event, NsError *err);

  /* Whether the motion begins anew after a step that failed with this status. NULL: never. */
  bool (*resumes)(NsHybrid *run, NsStatus status, NsError *err);

  /* ---- values, for the dense output ---- */

  /* Evaluates what is told at (t, u). row (`columns`) = x of each system, lambda, y at u, which was evaluated last. */
  NsStatus (*evaluate)(NsHybrid *run, double t, const double *u, NsError *err);
  void (*row)(const NsHybrid *run, const double *u, double *row);

  /* ---- derivatives: s->lin, which begins with an NsLinearisation ---- */

  /* The linearisation takes the mode of the last step of the stepper. after: S has gone along the step. */
  NsStatus (*linearise)(NsHybrid *run, NsError *err);
  void (*after)(NsHybrid *run);

  /* Makes u a state, where the stepper's unknowns may be off. NULL: they are not. */
  void (*fit)(const NsHybrid *run, double *u);

  /* s->xdot = the rates of the states of the systems, in the linearisation. */
  NsStatus (*rates)(NsHybrid *run, double t, const double *u, NsError *err);

  const NsGivenMode *given; /* NULL: the modes can't be asked apart from a run */
} NsHybridClass;

/* The first member of a family's workspace. */
struct NsHybrid {
  NsScheme base;
  const NsHybridClass *class;
  double *clock;
  NsEventOptions options; /* the options when the step began */

  /* the step of the grid */
  double t_k, t_next, t; /* its start and end; the present time */
  double t_data;         /* the model is not evaluated beyond: data jump there, or the run ends */
  double *u;             /* unknowns: the present state (n), then integrals along the motion */
  int handled;           /* number of events */
  double longest;        /* limit of the length of the next step of the stepper */
  NsEventLog *log;
  const NsDenseSink *sink;    /* NULL: nobody asks */
  NsSensitivity *sensitivity; /* NULL: nobody asks */
  const NsLinker *linker;     /* NULL: links do not change within the step */

  /* the stepper between events */
  const NsStepperClass *method;
  NsStepper *stepper;
  int n, unknowns;
  double *unit;                  /* unknowns: the stepper has u / unit; NULL: u */
  double *atol;                  /* unknowns: accepted errors of the next step */
  NsDenseRows dense;             /* the dense output of the last step, of u: see ns_hybrid_interpolate */
  double *from, *rows;           /* unknowns, of that step: u at its start; method->rows rows */
  double *sample, *slope, *rate; /* unknowns: workspace */
  int columns;                   /* of a row of values */
  double *side, *values;         /* columns: one side of an event; NS_BERNSTEIN_SIZE rows */
  double *moved, *defects;       /* columns: a row of values; NS_DEFECTS x the size of x, see NsDenseSink */
};

/* NsSchemeClass.drive. */
NsStatus ns_hybrid_drive(NsScheme *scheme, const NsStep *step, const NsDrive *drive, NsError *err);
NsStatus ns_hybrid_go_on(NsHybrid *run, NsError *err);

/* Takes the memory of the stepper and of the dense output, for at most `most` unknowns, from the arena of the scheme. */
void ns_hybrid_take(NsHybrid *run, int most, int columns);

/* For `start`: what `drive` is given. */
void ns_hybrid_start(NsHybrid *run, const NsStep *step, const NsDrive *drive);

/*
** Makes the stepper of the problem, without rtol and atol, for the integrator's options; the last stepper is kept when it fits. *anew: it
** was not. NS_ENOMEM.
*/
NsStatus ns_hybrid_take_stepper(NsHybrid *run, NsOdeProblem problem, bool *anew, NsError *err);

/* u (unknowns) = the stepper's unknowns v in the units of the model. */
void ns_hybrid_state(const NsHybrid *run, const double *v, double *u);

/* Makes the dense output of the last step, run->dense, with the rate in `context` (of the stepper's problem, or of a linearisation). */
NsStatus ns_hybrid_interpolate(NsHybrid *run, void *context, NsError *err);

/* u (unknowns) = the dense output at t. */
void ns_hybrid_at(const NsHybrid *run, double t, double *u);

/* Keeps the values of the last evaluation, one side of an event; tells the kept side, which was at t; tells the values last evaluated. */
void ns_hybrid_keep_side(NsHybrid *run);
NsStatus ns_hybrid_tell_kept(NsHybrid *run, double t, NsError *err);
NsStatus ns_hybrid_tell_side(NsHybrid *run, NsError *err);

/* Tells the smooth piece of the last step; S goes along it. Nothing happens where nobody asks. */
NsStatus ns_hybrid_tell_piece(NsHybrid *run, NsError *err);
NsStatus ns_hybrid_sense_piece(NsHybrid *run, NsError *err);

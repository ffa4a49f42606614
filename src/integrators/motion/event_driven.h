/*
** event_driven.h
** The workspace of mechanics that goes from event to event. Private to motion/.
*/
#pragma once

#include "integrators/motion/event_handle.h"
#include "integrators/motion/event_problem.h"
#include "integrators/motion/event_search.h"
#include "integrators/hybrid/hybrid.h"
#include "ode/dop853.h"

/* Works that are integrated along with the motion: of all forces, of -C v, of the multipliers, of friction and relays. */
enum { WORK_FORCES, WORK_DAMPING, WORK_MULTIPLIERS, WORK_FRICTION, WORKS };

typedef struct NsEventDriven NsEventDriven;

/* How a scheme puts contacts at rest: where events are located in time, or (d1_minus_linear.c) at the end of a step of fixed length. */
typedef struct NsMotionSteps {
  /* The velocity of a closed contact below which it rests; press: the acceleration that presses it; rise: the height that counts as 0. */
  double (*slow)(const NsEventDriven *ed, double press, double rise);

  /* Puts n rows at rest, u = 0; y = 0 of the first `places`. */
  NsStatus (*stop)(NsEventDriven *ed, int places, int n, const int *rows, NsError *err);
} NsMotionSteps;

/* What is accepted of errors: the pace of the stepper's unknowns; and scales by ns_motion_even (Nv), see measure_motion. */
typedef struct NsMotionScales {
  double *pace;
  double *even, *even_free, *even_all, *even_noise, *even_rate;
} NsMotionScales;

/* Of a step: the sum of H' P (Nv), the works of normal and of tangential impulses; kinetic and potential energy before it. */
typedef struct NsMotionAccount {
  double *impulse, impacts, friction, before[2];
  NsEnergyAccount *of; /* that receives the works; NULL: none */
} NsMotionAccount;

/* Of a drive: the last event's time, the number of events without progress of it, and the last rows that had one (-1: none). */
typedef struct NsMotionProgress {
  double t;
  int stuck, row, other;
} NsMotionProgress;

struct NsEventDriven {
  NsHybrid run; /* its unknowns are Nq + Nv + WORKS + m: coordinates, velocities, works, the impulses of active contacts */
  const NsMotionSteps *steps;
  NsMotion *motion;
  const NsMotionView *now; /* borrowed vectors of `motion` */
  NsMotionMode *mode;
  int Nq, Nv, m;
  double t_first, t_last; /* of the run */
  bool has_friction;      /* some row has friction or is a relay */
  bool has_reactions;     /* the friction of some joint follows its reaction */
  double *q, *v, *works;  /* of run.u */
  NsMotionScales scales;
  NsMotionAccount account;
  NsMotionProgress progress;
  int smooth; /* number of steps of the stepper since the last event */

  /* the last accelerations */
  double *acceleration; /* Nv */
  double *W;            /* m x m: of the active rows */
  int *pulling;         /* m: the active rows, and the rows of friction at the onset of slip */
  double *pull;         /* m: the forces that make all of these rows stick */
  double *turning;      /* m: workspace of event_joint.c */

  NsMotionEvent event;
  NsMotionProblem problem;
  struct NsModes *modes; /* workspace of event_modes.c */
  double *pole_matrix;   /* m x m: workspace of event_pole.c */
  NsMotionSearch search;
  double *slope, *p; /* unknowns, Nv: workspace */
  double *aside;     /* Nq: workspace of event_links.c */
};

/* The scheme's functions that do not depend on its steps. start, finish: of the NsHybridClass. */
NsStatus ns_ed_create(NsScheme **out, const NsHybridClass *class, const NsMotionSteps *steps, const NsIntegrator *integrator,
                      NsNsds *nsds, const NsSchemePlan *plan);
void ns_ed_destroy(NsScheme *scheme);
NsStatus ns_ed_start(NsHybrid *run, const NsStep *step, const NsDrive *drive, NsError *err);
NsStatus ns_ed_finish(NsHybrid *run, NsError *err);
NsStatus ns_ed_commit(NsScheme *scheme, NsEnergyAccount *account, NsError *err);

/* Laws that a scheme takes, as bits, and their names. NS_EARG for another one, and for what is not mechanics between velocities. */
typedef struct NsMotionLaws {
  unsigned needs;
  const char *names;
} NsMotionLaws;
NsStatus ns_ed_accepts(const NsNsds *nsds, NsMotionLaws laws, bool locates, const char *who, NsError *err);

/* The rate of the smooth motion: qdot, accelerations, powers, and forces of the active constraints. context: the workspace. */
NsStatus ns_ed_rate(void *context, double t, const double *x, double *xdot, NsError *err);

/* A drive begins; h: the usual length of a step. Reads options and memories of the objects. */
NsStatus ns_ed_begin(NsEventDriven *ed, const NsStep *step, double h, const NsDrive *drive, NsError *err);

/* The mode where a step begins: laws, states and sizes of the rows from the objects. */
void ns_ed_start_rows(NsEventDriven *ed);

/* Row i at the start, from its law and the memories. A contact that carried a force is active until an event shows otherwise. */
Row ns_ed_start_row(const NsEventDriven *ed, int i);

/* Whether the rows obey the laws where a step begins. A contact that a script has opened is not active. */
NsStatus ns_ed_check_rows(NsEventDriven *ed, NsError *err);

/* After a step without an event: updates the levels at which open contacts close, and the directions of sliding. */
NsStatus ns_ed_renew_levels(NsEventDriven *ed, NsError *err);

/*
** The row of friction in space that has come to slide slowly in the last step without an event, or -1: its direction may turn while the
** velocity vanishes, and then no guard comes to 0. Slow: at most this part of of[i], by rows.
*/
int ns_ed_slowed_down(NsEventDriven *ed, double part, const double *of);

/* The modes for a solver outside of the engine (event_exchange.c). */
extern const NsSchemeExchange ns_ed_exchange;

/* Fails: a step of the grid has more than max_events. */
NsStatus ns_ed_too_many_events(const NsEventDriven *ed, NsError *err);

/*
** variational_adaptive.c
** Linear equations along a trajectory: DOP853 where they are not stiff, Radau IIA where they are.
*/
#include "ode/variational_method.h"

/*
** DOP853 gives way to Radau IIA when h |lambda| was above STIFF in STIFF_STEPS steps, between which fewer than CALM_STEPS in a row were
** below it. Stability limits the steps of DOP853 to h |lambda| < 6.1 (Hairer and Wanner II, section IV.2), and with tight tolerances it
** does so from 3 on (measured on Robertson's problem), while steps that accuracy limits have 0.5 to 2.
*/
static const double STIFF = 2.5;
enum { STIFF_STEPS = 8, CALM_STEPS = 6 };

/*
** Radau IIA gives way when h |A| was below LOOSE in CALM_STEPS steps in a row: DOP853 can then take steps that are six times longer.
*/
static const double LOOSE = 1;

enum { EXPLICIT, IMPLICIT, METHODS };

typedef struct Adaptive {
  void *work[METHODS];
  int present;
  int stiff, calm; /* numbers of steps that were stiff, and that were not since the last stiff one */
  bool due;        /* the other method shall do the next step */
} Adaptive;

static const NsVariationalMethod *const methods[METHODS] = {&ns_variational_explicit, &ns_variational_implicit};

/* Gives v the present method's workspace; adaptive_leave undoes it. */
static const NsVariationalMethod *adaptive_enter(NsVariational *v) {
  const Adaptive *a = v->work;
  v->work = a->work[a->present];
  return methods[a->present];
}

static void adaptive_leave(NsVariational *v, Adaptive *a) {
  a->work[a->present] = v->work;
  v->work = a;
}

static NsStatus adaptive_create(NsVariational *v) {
  Adaptive *a = v->work = ns_arena_take(&v->arena, 1, sizeof *a);
  if (!a) return NS_ENOMEM;
  NsStatus status = NS_OK;
  for (int m = METHODS - 1; m >= 0 && status == NS_OK; m--) { /* the state belongs to Radau IIA until the start */
    a->present = m;
    status = adaptive_enter(v)->create(v);
    adaptive_leave(v, a);
  }
  a->present = EXPLICIT;
  return status;
}

static void adaptive_destroy(NsVariational *v) {
  Adaptive *a = v->work;
  if (!a) return;
  for (a->present = 0; a->present < METHODS; a->present++) {
    adaptive_enter(v)->destroy(v);
    adaptive_leave(v, a);
  }
}

static void adaptive_start(NsVariational *v, const double *y) {
  Adaptive *a = v->work;
  a->stiff = a->calm = 0;
  a->due = false;
  adaptive_enter(v)->start(v, y);
  adaptive_leave(v, a);
}

static void adaptive_jump(NsVariational *v, const double *y) {
  Adaptive *a = v->work;
  adaptive_enter(v)->jump(v, y);
  adaptive_leave(v, a);
}

/* Counts the last step, and says whether the other method shall do the next one. */
static bool adaptive_change(Adaptive *a, double stiffness) {
  bool stiff = stiffness > (a->present == EXPLICIT ? STIFF : LOOSE);
  a->calm = stiff ? 0 : a->calm + 1;
  if (a->present == IMPLICIT) return a->calm >= CALM_STEPS;
  if (stiff) a->stiff++;
  else if (a->calm >= CALM_STEPS) a->stiff = 0;
  return a->stiff >= STIFF_STEPS;
}

/* Goes on with the other method. */
static void adaptive_exchange(NsVariational *v, Adaptive *a) {
  a->present = a->present == EXPLICIT ? IMPLICIT : EXPLICIT;
  adaptive_start(v, v->state.y);
}

static NsStatus adaptive_step(NsVariational *v, double t_end, NsError *err) {
  Adaptive *a = v->work;
  if (a->due) adaptive_exchange(v, a);
  const NsVariationalMethod *method = adaptive_enter(v);
  NsStatus status = method->step(v, t_end, err);
  double stiffness = status == NS_OK ? method->stiffness(v) : 0;
  adaptive_leave(v, a);
  a->due = status == NS_OK && adaptive_change(a, stiffness);
  return status;
}

static NsStatus adaptive_at(NsVariational *v, double t, double *y, NsError *err) {
  Adaptive *a = v->work;
  NsStatus status = adaptive_enter(v)->at(v, t, y, err);
  adaptive_leave(v, a);
  return status;
}

const NsVariationalMethod ns_variational_adaptive = {
    adaptive_create, adaptive_destroy, adaptive_start, adaptive_jump, adaptive_step, adaptive_at, NULL};

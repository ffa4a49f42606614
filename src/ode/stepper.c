/*
** stepper.c
** The list of methods, and the face of the one of order 8.
*/
#include "ode/stepper.h"

#include <string.h>

#include "ode/bdf.h"
#include "ode/dop853.h"
#include "ode/radau.h"
#include "ode/rk45.h"

static NsStatus dop853_create(void **self, const NsOdeProblem *problem) {
  NsDop853 *rk;
  NsStatus status = ns_dop853_new(&rk, problem);
  *self = rk;
  return status;
}

static void dop853_destroy(void *self) {
  ns_dop853_free(self);
}

static void dop853_start(void *self, double t, const double *y, double t_end, double h_first) {
  ns_dop853_start(self, t, y, t_end, h_first);
}

static void dop853_limit(void *self, double h_most) {
  ns_dop853_limit(self, h_most);
}

static NsStatus dop853_step(void *self, NsError *err) {
  return ns_dop853_step(self, err);
}

static NsStatus dop853_interpolate(void *self, NsError *err) {
  return ns_dop853_interpolate(self, err);
}

static const double *dop853_row(const void *self, int row) {
  return ns_dop853_row(self, row);
}

static void dop853_look(const void *self, NsStepperState *state) {
  const NsDop853State *s = ns_dop853_state(self);
  *state = (NsStepperState){s->t_old, s->t, s->h_next, s->y_old, s->y, s->evaluations, 0, 0, s->steps, s->rejected};
}

static const NsStepperClass dop853 = {
    "DOP853",           7,          false,      dop853_create, dop853_destroy, dop853_start, dop853_limit, dop853_step,
    dop853_interpolate, dop853_row, dop853_look};

const NsStepperClass *ns_stepper_class(const char *name) {
  const NsStepperClass *const all[] = {&ns_rk45_class, &dop853, &ns_radau_class, &ns_bdf_class};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (strcmp(all[i]->name, name) == 0) return all[i];
  return NULL;
}

const char *ns_stepper_names(void) {
  return "RK45, DOP853, Radau, BDF";
}

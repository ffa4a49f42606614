/*
** stepper.c
** The list of methods.
*/
#include "ode/stepper.h"

#include <string.h>

#include "ode/bdf.h"
#include "ode/dop853.h"
#include "ode/radau.h"
#include "ode/rk45.h"

const NsStepperClass *ns_stepper_class(const char *name) {
  const NsStepperClass *const all[] = {&ns_rk45_class, &ns_dop853_class, &ns_radau_class, &ns_bdf_class};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (strcmp(all[i]->name, name) == 0) return all[i];
  return NULL;
}

const char *ns_stepper_names(void) {
  return "RK45, DOP853, Radau, BDF";
}

/*
** dae_radau.c
** The Radau IIA solver of ode/dae.h as a method of dae_method.h.
*/
#include "ode/dae_method.h"

static NsStatus radau_make(void **solver, const NsDaeProblem *problem) {
  NsDae *dae;
  NsStatus status = ns_dae_new(&dae, problem);
  *solver = dae;
  return status;
}

static void radau_release(void *solver) {
  ns_dae_free(solver);
}

static const NsDaeState *radau_state(const void *solver) {
  return ns_dae_state(solver);
}

static NsStatus radau_begin(void *solver, double t, const double *y, const double *yd, double h, double t_last, NsError *err) {
  (void)t_last, (void)err;
  ns_dae_start(solver, t, y, yd, h);
  return NS_OK;
}

static NsStatus radau_go_to(void *solver, double t_stop, NsError *err) {
  return ns_dae_go_to(solver, t_stop, err);
}

static NsStatus radau_one_step(void *solver, double t_stop, NsError *err) {
  return ns_dae_step(solver, t_stop, err);
}

static NsStatus radau_at(void *solver, double t, double *y, double *yd, NsError *err) {
  (void)err;
  return ns_dae_at(solver, t, y, yd), NS_OK;
}

static NsStatus radau_cut(void *solver, double t, NsError *err) {
  return ns_dae_cut(solver, t, err);
}

static NsStatus radau_restart(void *solver, double t, const double *y, const double *yd, double h, NsError *err) {
  (void)err;
  return ns_dae_restart(solver, t, y, yd, h), NS_OK;
}

const NsDaeMethod ns_dae_radau = {.name = "radau",
                                  .one_step = true,
                                  .make = radau_make,
                                  .release = radau_release,
                                  .state = radau_state,
                                  .start = radau_begin,
                                  .go_to = radau_go_to,
                                  .step = radau_one_step,
                                  .at = radau_at,
                                  .cut = radau_cut,
                                  .restart = radau_restart};

/*
** event_start.c
** Derivatives by parameters at the start of a run: contacts that are closed there, friction at rest, forces at their limits.
*/
#include <math.h>

#include "integrators/motion/event_reset.h"

/*
** A closed contact must not open or close with a parameter at the start, up to this part of the terms of its derivative. 1e-9: the
** differences that give the terms have errors of 1e-11.
*/
static const double START_OPENS = 1e-9;

/* A force counts as at its limit below this part of it. 1e-9: data may have 10 digits. */
static const double AT_LIMIT = 1e-9;

/* y and u of a row. */
static NsStatus start_row(void *context, int row, double t, const double *u, double *out, NsError *err) {
  NsEventDriven *ed = ((NsMotionLinearisation *)context)->ed;
  NsStatus status = ns_motion_outputs(ed->motion, 1, &row, t, u, u + ed->Nq, err);
  out[0] = ed->now->y[row];
  out[1] = ed->now->u[row];
  return status;
}

/* By how much parameter j changes y (change[0]) and u (change[1]) of a row at the start. */
static NsStatus start_change(NsEventDriven *ed, int row, int j, double change[2], NsError *err) {
  NsSensitivity *s = ed->run.sensitivity;
  return ns_sensitivity_change(s, s->lin, start_row, row, 2, ed->run.t, ed->run.u, j, START_OPENS, change, err);
}

/* NS_EARG when a contact is closed at the start, and a parameter moves its y, or, where it is at rest, its u. */
NsStatus ns_ed_check_start(NsEventDriven *ed, NsError *err) {
  const NsMotionMode *mode = ed->mode;
  NsSensitivity *s = ed->run.sensitivity;
  NsMotionLinearisation *w = s->lin;
  NsStatus status = NS_OK;
  for (int k = 0; k < ed->event.nclosed && status == NS_OK; k++) {
    int i = ed->event.closed[k];
    double row[2], change[2];
    status = start_row(w, i, ed->run.t, ed->run.u, row, err);
    bool hits = row[1]<-mode->slow[i], departs = row[1]> mode->slow[i];
    if (departs || (s->options->one_sided && !hits)) continue; /* one that departs has no part in the motion */
    for (int j = 0; j < s->p && mode->rows[i].unilateral && status == NS_OK; j++) {
      status = start_change(ed, i, j, change, err);
      if (status == NS_OK && hits && change[0] != 0)
        return ns_fail(
            err, NS_EARG,
            "sensitivities: the contact '%s' is hit where the run starts at t=%.10g, and a parameter moves it: start "
            "the run before the impact, or after it",
            ns_motion_row_name(ed->motion, i), ed->run.t);
      if (status == NS_OK && !hits && (change[0] != 0 || change[1] != 0))
        return ns_fail(err, NS_EARG,
                       "sensitivities: the contact '%s' is closed where the run starts at t=%.10g, and a parameter opens it; "
                       "on_grazing = \"one-sided\" takes the side that the run goes: closed, or open where it opens at once",
                       ns_motion_row_name(ed->motion, i), ed->run.t);
    }
  }
  return status;
}

/*
** NS_EARG when friction, or a relay, that starts with u = 0 slips at once, and a parameter moves its u: along the slip the derivative
** is another one than against it. In space there is none across the slip, to no side.
*/
static NsStatus check_start_slip(NsEventDriven *ed, int row, NsError *err) {
  NsSensitivity *s = ed->run.sensitivity;
  const Friction *friction = &ed->mode->rows[row].friction;
  NsStatus status = NS_OK;
  for (int j = 0; j < s->p && status == NS_OK; j++) {
    double u[2] = {0, 0}, change[2];
    for (int i = 0; i < friction->width && status == NS_OK; i++) {
      status = start_change(ed, row + i, j, change, err);
      u[i] = change[1];
    }
    if (status != NS_OK || (u[0] == 0 && u[1] == 0)) continue;
    double across = friction->width == 2 ? fabs(friction->d[0] * u[1] - friction->d[1] * u[0]) : 0;
    if (across > START_OPENS * ns_motion_length(u[0], u[1]))
      return ns_fail(err, NS_EARG,
                     "sensitivities: '%s' begins to slip where the run starts at t=%.10g, and a parameter moves its velocity "
                     "across the slip: there is no derivative, to no side; start the run with a velocity",
                     ns_motion_row_name(ed->motion, row), ed->run.t);
    if (!s->options->one_sided)
      return ns_fail(err, NS_EARG,
                     "sensitivities: '%s' begins to slip where the run starts at t=%.10g, and a parameter moves its velocity; "
                     "on_grazing = \"one-sided\" takes the side that the run goes",
                     ns_motion_row_name(ed->motion, row), ed->run.t);
  }
  return status;
}

/*
** The rest of rows at the start, when it is known which of them are active: the others leave at once, and S of their velocities goes on
** as it is.
*/
NsStatus ns_ed_sense_start_rest(NsEventDriven *ed, NsError *err) {
  const NsMotionMode *mode = ed->mode;
  NsMotionLinearisation *w = ed->run.sensitivity->lin;
  NsStatus status = NS_OK;
  int n = 0, places = 0;
  for (int i = 0; i < ed->m && status == NS_OK; i++)
    if (ed->event.resting[i] && ns_motion_friction_is(ed->mode, i, FRICTION_SLIP) && !mode->rows[i].friction.tied)
      status = check_start_slip(ed, i, err);
  for (int k = 0; k < w->n; k++) {
    bool active = false;
    for (int i = 0; i < mode->nactive; i++) active = active || mode->active[i] == w->rows[k];
    if (!active) continue;
    places += k < w->places;
    w->rows[n++] = w->rows[k];
  }
  w->n = n, w->places = places;
  return status == NS_OK && n > 0 ? ns_ed_sense_rest_of(ed, err) : status;
}

/*
** NS_EARG when friction, or a relay, sticks at the limit of its force at the start and stays at it, and a parameter moves it: it slips on
** one side of the parameter. Where the force moves with time, the motion that follows gives the derivative.
*/
static NsStatus check_start_limit(NsEventDriven *ed, int row, NsError *err) {
  NsSensitivity *s = ed->run.sensitivity;
  NsMotionLinearisation *w = s->lin;
  NsGuardSlope slope = {0};
  double value, scale, *by_p = s->least;
  NsStatus status = ns_ed_lin_guard(w, row, ed->run.t, ed->run.u, &value, err);
  if (status != NS_OK) return status;
  (void)ns_motion_stick_guard(w->ed->mode, row, &scale);
  if (!(value <= AT_LIMIT * scale)) return NS_OK;
  status = w->lin.rate(w, ed->run.t, ed->run.u, s->f, err);
  if (status == NS_OK) status = ns_sensitivity_slope(s, &w->lin, row, ed->run.t, ed->run.u, &slope, err);
  if (status != NS_OK || !slope.grazes) return status;
  status = ns_sensitivity_guard(s, &w->lin, row, ed->run.t, ed->run.u, &slope, by_p, err);
  for (int j = 0; j < s->p && status == NS_OK; j++) {
    double change = s->acts[j] ? by_p[j] : 0, most = fabs(change);
    for (int i = 0; i < s->n; i++) {
      double term = s->value[i] * s->S[i + (ptrdiff_t)j * s->n];
      change += term, most += fabs(term);
    }
    if (status == NS_OK && fabs(change) > START_OPENS * most)
      return ns_fail(
          err, NS_EARG,
          "sensitivities: the force of '%s' is at its limit where the run starts at t=%.10g, and stays there; a parameter "
          "moves it beyond; on_grazing = \"one-sided\" takes the side that the run goes: no slip",
          ns_motion_row_name(ed->motion, row), ed->run.t);
  }
  return status;
}

NsStatus ns_ed_check_start_forces(NsEventDriven *ed, NsError *err) {
  NsStatus status = NS_OK;
  if (ed->run.sensitivity->options->one_sided) return NS_OK;
  for (int i = 0; i < ed->m && status == NS_OK; i++)
    if (ns_motion_friction_is(ed->mode, i, FRICTION_STICK)) status = check_start_limit(ed, i, err);
  return status;
}

/*
** motion_given.c
** The motion of mechanics in a given mode, apart from a run, for ns.dynamics.
*/
#include <math.h>

#include "integrators/motion/event_reset.h"
#include "integrators/motion/motion_guard.h"

static NsStatus motion_given_make(NsHybrid *run, const NsParameter *parameters, int p, NsLinearisation **lin, NsError *err) {
  NsEventDriven *ed = (NsEventDriven *)run;
  NsMotionLinearisation *w = NULL;
  if (ed->Nq != ed->Nv) return ns_fail(err, NS_EARG, "a body with a quaternion");
  NsStatus status = ns_ed_lin_new(&w, ed, parameters, p, err);
  for (int i = 0; i < ed->Nq + ed->Nv && status == NS_OK; i++) w->size[i] = INFINITY; /* no derivative is rounding */
  if (status != NS_OK) ns_ed_lin_free(w);
  else *lin = &w->lin;
  return status;
}

static const void *motion_given_block(const NsHybrid *run, size_t *bytes) {
  const NsMotionMode *mode = ((const NsEventDriven *)run)->mode;
  *bytes = mode->bytes;
  return ns_motion_mode_block(mode);
}

static const char *motion_given_word(const NsHybrid *run, int row) {
  const NsMotionMode *mode = ((const NsEventDriven *)run)->mode;
  const Row *r = &mode->rows[row], *from = &mode->rows[ns_motion_friction_row(mode, row)];
  if (r->joint) return "active";
  if (r->unilateral) return r->state == ROW_ACTIVE ? "active" : "open";
  if (from->friction.stick_slip == FRICTION_NONE) return "open";
  if (from->friction.width == 2) return NULL;
  if (from->friction.stick_slip == FRICTION_STICK) return "active";
  return from->friction.d[0] > 0 ? "slip-" : "slip+";
}

static NsStatus motion_given_take(void *lin, const void *block, double t, const double *u, NsError *err) {
  NsMotionLinearisation *w = lin;
  bool same;
  NsStatus status = w->lin.take(w, block, t, u, &same, err);
  if (status == NS_OK) status = w->lin.reread(w, t, err);
  return status == NS_OK ? ns_ed_find_dependent(w, t, u, err) : status;
}

static const char *motion_given_watched(const void *lin, int k, int *row) {
  const NsEventDriven *ed = ((const NsMotionLinearisation *)lin)->ed;
  *row = k < ed->m ? k : -1;
  return k < ed->m ? ns_motion_guards[ns_motion_watched(ed->mode, k)].event : NULL;
}

const NsGivenMode ns_motion_given = {.make = motion_given_make,
                                     .drop = ns_ed_lin_free,
                                     .block = motion_given_block,
                                     .word = motion_given_word,
                                     .take = motion_given_take,
                                     .watched = motion_given_watched,
                                     .impact = ns_ed_given_impact,
                                     .reset = ns_ed_given_reset};

/*
** event_onset.c
** The forces of friction where slip, or rolling, begins in space at several contacts.
*/
#include "integrators/motion/event_onset.h"

#include <float.h>
#include <math.h>

#include "integrators/motion/event_active.h"
#include "integrators/motion/event_modes.h"

bool ns_ed_same_disc(const NsMotionMode *mode, int row, int other) {
  return row - mode->rows[row].friction.normal == other - mode->rows[other].friction.normal;
}

/* ONSET_PASSES: the change of the normal forces falls to a tenth or less with each pass. */
enum { ONSET_PASSES = 40 };

static double onset_bound(const NsMotionMode *mode, int row) {
  const Friction *friction = &mode->rows[row].friction;
  return friction->mu * mode->multiplier[friction->normal];
}

NsStatus ns_ed_share_onset(NsEventDriven *ed, NsError *err) {
  NsMotionMode *mode = ed->mode;
  NsStatus status = NS_OK;
  double change = 1;
  for (int pass = 0; pass < ONSET_PASSES && change > 4 * DBL_EPSILON && status == NS_OK; pass++) {
    change = 0;
    for (int i = 0; i < ed->m; i++) {
      double most = 0;
      int count = 0;
      for (int j = 0; j < ed->m && mode->rows[i].friction.onset; j++)
        if (mode->rows[j].friction.onset && ns_ed_same_disc(mode, i, j)) most = fmax(most, onset_bound(mode, j)), count++;
      if (count < 2 || !(most > 0)) continue;
      double share = ns_ed_friction_share(onset_bound(mode, i), most);
      change = fmax(change, fabs(share - mode->share[i]));
      mode->share[i] = mode->share[i + 1] = share;
    }
    if (change > 0) status = ns_ed_accelerate(ed, ed->run.t, ed->q, ed->v, err);
  }
  return status;
}

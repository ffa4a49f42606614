/*
** event_objects.c
** What a motion with contacts reads from the objects where a step begins, and writes to them at its end.
*/
#include <float.h>
#include <math.h>
#include <string.h>

#include "integrators/motion/event_joint.h"

/* Friction that slips has exactly the force mu lambda_n, up to this part of it; friction that sticks is given less. */
static const double AT_BOUND = 16 * DBL_EPSILON;

/* Whether friction stuck or slipped at the end of the last step, read off its forces; lambda: from its first component on. */
static void recall_stick_slip(const NsEventDriven *ed, Friction *friction, double normal_force, const double *lambda) {
  double size = friction->width == 1 ? fabs(lambda[0]) : ns_motion_length(lambda[0], lambda[1]),
         most = friction->mu * normal_force;
  if (ed->run.t == ed->t_first || (friction->normal >= 0 && !(normal_force > 0))) return;
  friction->unsure = friction->normal >= 0 ? !(most > 0) : friction->varies && friction->lower == friction->upper;
  if (friction->unsure) return;
  bool above = lambda[0] >= friction->upper, below = lambda[0] <= friction->lower;
  bool slips = friction->normal < 0 ? above || below : size >= most * (1 - AT_BOUND / 2);
  friction->stick_slip = slips ? FRICTION_SLIP : FRICTION_STICK;
  friction->since = NAN;
  for (int i = 0; i < friction->width && slips; i++)
    friction->d[i] = friction->normal >= 0 ? -lambda[i] / size : above ? -1 : 1;
}

/* The friction of row `at` of a joint, whose rows begin with `first` and have their multipliers of the end of the last step. */
static void follow_reaction(const NsEventDriven *ed, Friction *friction, const NsLaw *law, int first, int at) {
  NsLawGroup group = ns_law_group(law, at, false);
  friction->reaction = first;
  friction->reactions = group.reactions;
  friction->mu = group.mu[0];
  friction->own = group.upper;
  friction->varies = true;
  ns_ed_joint_recall(ed->mode, friction);
}

/* The friction that begins in row i, the row `at` of an interaction whose first row is `first`. */
static Friction start_friction(const NsEventDriven *ed, const NsInteraction *inter, int i, int at) {
  const NsLaw *law = inter->law;
  Friction friction = {.normal = -1, .stick_slip = FRICTION_NONE, .varies = ns_law_varies(law), .slides = ns_law_slides(law)};
  if (ns_law_needs(law) & NS_NEEDS_BOX && at >= law->equalities) {
    friction.width = 1;
    friction.lower = law->lower[at];
    friction.upper = law->upper[at];
    if (ns_law_needs(law) & NS_NEEDS_REACTION) follow_reaction(ed, &friction, law, i - at, at);
    recall_stick_slip(ed, &friction, 0, inter->lambda_k + at);
  }
  if (at == 0 || !(ns_law_needs(law) & NS_NEEDS_CONES)) return friction;
  NsLawGroup group = ns_law_group(law, 0, false);
  int disc = ns_law_disc_of(&group, at);
  if (at != ns_law_disc_first(&group, disc)) return friction;
  friction.mu = friction.slides ? ns_law_friction_at(law, ns_interaction_slip(inter), NULL).mu : group.mu[disc];
  friction.width = friction.mu > 0 || friction.varies || friction.slides ? ns_law_disc_rows(&group, disc) : 0;
  friction.normal = i - at;
  if (friction.width > 0) recall_stick_slip(ed, &friction, inter->lambda_k[0], inter->lambda_k + at);
  return friction;
}

Row ns_ed_start_row(const NsEventDriven *ed, int i) {
  int e = ns_motion_interaction(ed->motion, i), at = i - ns_motion_first_row(ed->motion, e);
  const NsInteraction *inter = ed->run.base.nsds->interactions[e];
  const NsLaw *law = inter->law;
  bool tangent = law->class->joint && at > 0;
  bool unilateral = ns_law_unilateral(law) && !tangent;
  return (Row){
      .unilateral = unilateral,
      .joint = !unilateral && !tangent && !law->class->viscous && !(ns_law_needs(law) & NS_NEEDS_BOX && at >= law->equalities),
      .friction = start_friction(ed, inter, i, at),
      .restitution = ns_law_restitution(law, at, 1),
      .state = unilateral && inter->lambda_k[at] > 0 ? ROW_ACTIVE : ROW_OPEN,
      .straight = ns_motion_straight(ed->motion, i)};
}

void ns_ed_start_rows(NsEventDriven *ed) {
  NsMotionMode *mode = ed->mode;
  for (int i = 0; i < ed->m; i++) {
    int e = ns_motion_interaction(ed->motion, i), at = i - ns_motion_first_row(ed->motion, e);
    const NsInteraction *inter = ed->run.base.nsds->interactions[e];
    mode->rows[i] = ns_ed_start_row(ed, i);
    mode->reach[i] = inter->reach_k[at];
    mode->drift[i] = 0;
    mode->multiplier[i] = inter->lambda_k[at];
  }
  mode->nactive = mode->nplaces = mode->nacting = 0;
  mode->pole_size = 0;
}

/* ---- the end of a step ---- */

/* The force of a row for the interaction. Friction that sticks is less than its bound, see AT_BOUND. */
static double force_of(const NsMotionMode *mode, int row) {
  int first = mode->rows[row].friction.width > 0 || row == 0 ? row : row - 1;
  const Friction *friction = &mode->rows[first].friction;
  if (!(ns_motion_friction_is(mode, first, FRICTION_STICK) ||
        (ns_motion_friction_is(mode, first, FRICTION_SLIP) && friction->tied)) ||
      friction->normal < 0 || friction->width <= row - first)
    return mode->multiplier[row];
  const double *force = mode->multiplier + first;
  double size = friction->width == 1 ? fabs(force[0]) : ns_motion_length(force[0], force[1]);
  double most = friction->mu * mode->multiplier[friction->normal] * (1 - AT_BOUND);
  return size > most ? mode->multiplier[row] / size * most : mode->multiplier[row];
}

static void write_interactions(NsEventDriven *ed) {
  const NsMotionMode *mode = ed->mode;
  for (int i = 0, e = -1, first = 0; i < ed->m; i++) {
    if (ns_motion_interaction(ed->motion, i) != e) e = ns_motion_interaction(ed->motion, i), first = i;
    NsInteraction *inter = ed->run.base.nsds->interactions[e];
    inter->y[i - first] = ed->now->y[i];
    inter->ydot[i - first] = ed->now->u[i];
    inter->lambda[i - first] = 0;
    inter->reach[i - first] = mode->reach[i];
    if (ed->has_friction) inter->lambda[i - first] = force_of(mode, i);
    for (int k = 0; k < mode->nactive && !ed->has_friction; k++)
      if (mode->active[k] == i) inter->lambda[i - first] = mode->lambda[k];
    if (inter->law->class->viscous) inter->lambda[i - first] = -ns_law_viscous(inter->law) * ed->now->u[i];
  }
}

/* Impulses of the step, and accelerations at its end. */
static void write_motion(NsEventDriven *ed) {
  for (int d = 0, at = 0; d < ed->run.base.nsds->nds; d++) {
    NsMechanicalDs *ds = (NsMechanicalDs *)ed->run.base.nsds->ds[d];
    size_t bytes = (size_t)ds->nv * sizeof(double);
    memcpy(ds->base.r, ed->account.impulse + at, bytes);
    memcpy(ds->acceleration, ed->acceleration + at, bytes);
    at += ds->nv;
  }
}

NsStatus ns_ed_commit(NsScheme *scheme, NsEnergyAccount *account, NsError *err) {
  NsEventDriven *ed = (NsEventDriven *)scheme;
  (void)account, (void)err; /* the works were added by the step */
  ns_motion_scatter(ed->motion, ed->q, ed->v);
  write_motion(ed);
  write_interactions(ed);
  return NS_OK;
}

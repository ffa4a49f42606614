/*
** event_collide.c
** Impacts whose impulses a law shares among all contacts.
*/
#include "integrators/motion/event_collide.h"

#include <string.h>

#include "integrators/motion/collision.h"
#include "integrators/motion/event_active.h"
#include "model/impact.h"

const NsLaw *ns_ed_exchanging(const NsEventDriven *ed) {
  for (int k = 0; k < ed->event.nclosed; k++) {
    const NsLaw *law = ns_ed_law(ed, ed->event.closed[k]);
    if (law->class->exchange) return law;
  }
  return NULL;
}

/* The impulses for q: the groups belong to the impact. */
static NsStatus collide_solve(void *context, const double *q, double *z, NsError *err) {
  NsEventDriven *ed = context;
  size_t bytes = (size_t)ed->event.nclosed * sizeof *q;
  memcpy(ed->problem.q, q, bytes);
  NsStatus status = ns_motion_problem_solve(&ed->problem, ed->motion, ed->event.nclosed, ed->event.closed, "impulses", err);
  memcpy(z, ed->problem.z, bytes);
  return status;
}

/* NS_EARG when a row takes part that is neither an equation nor a contact of the law's class. */
static NsStatus check_partners(const NsEventDriven *ed, const NsLaw *law, NsError *err) {
  for (int k = 0; k < ed->event.nclosed; k++) {
    int row = ed->event.closed[k];
    const NsLaw *other = ns_ed_law(ed, row);
    if (ed->mode->rows[row].joint || other->class == law->class) continue;
    return ns_fail(err, NS_EARG,
                   "%s: interaction '%s' has a %s; in an impact with contacts of a %s only these and equations may take part",
                   ed->problem.who, ns_motion_row_name(ed->motion, row), ns_law_name(other), ns_law_name(law));
  }
  if (!ed->run.sensitivity) return NS_OK;
  return ns_fail(err, NS_EARG, "%s: impacts of a %s have no derivatives", ed->problem.who, ns_law_name(law));
}

static void describe_rows(const NsEventDriven *ed, double *u, double *e, bool *contact, const NsLaw **laws) {
  for (int k = 0; k < ed->event.nclosed; k++) {
    int row = ed->event.closed[k];
    u[k] = ed->event.before[row];
    contact[k] = ed->mode->rows[row].unilateral;
    laws[k] = ns_ed_law(ed, row);
    e[k] = contact[k] && !ed->event.resting[row] ? ed->mode->rows[row].restitution : 0;
  }
}

NsStatus ns_ed_exchange_impulses(NsEventDriven *ed, const NsLaw *law, NsError *err) {
  NsStatus status = check_partners(ed, law, err);
  if (status != NS_OK) return status;
  int n = ed->event.nclosed;
  NsArena arena = {0};
  double *u = ns_arena_doubles(&arena, n), *e = ns_arena_doubles(&arena, n), *z = ns_arena_doubles(&arena, n);
  bool *contact = ns_arena_take(&arena, (size_t)n, sizeof *contact);
  const NsLaw **laws = ns_arena_take(&arena, (size_t)n, sizeof *laws);
  if (arena.failed) {
    status = ns_fail(err, NS_ENOMEM, "not enough memory");
  } else {
    describe_rows(ed, u, e, contact, laws);
    NsImpact impact = {n, ed->problem.W, u, e, contact, laws, collide_solve, ed, ns_collision_share};
    status = law->class->exchange(&impact, z, err);
    memcpy(ed->problem.z, z, (size_t)n * sizeof *z);
  }
  ns_arena_release(&arena);
  return status;
}

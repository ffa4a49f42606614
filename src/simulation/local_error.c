/*
** local_error.c
** The error of an inner step: moments, switches, sizes, and the comparison.
*/
#include "simulation/local_error.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "model/first_order_ds.h"
#include "model/mechanical_ds.h"

/* Whether an interaction has contacts whose gaps its law does not see. */
static bool has_gaps(const NsInteraction *inter) {
  return ns_interaction_has_impulses(inter) && ns_law_gaps(inter->law) > 0;
}

/* ---- the workspace ---- */

static void take_moment(NsLocalError *e, NsMoment *moment) {
  moment->x = ns_arena_doubles(&e->arena, e->n);
  moment->lambda = ns_arena_doubles(&e->arena, e->m);
  moment->groups = ns_arena_take(&e->arena, (size_t)e->m, sizeof *moment->groups);
  moment->y = ns_arena_doubles(&e->arena, e->m);
  moment->r = ns_arena_doubles(&e->arena, e->nr);
  moment->reaction = ns_arena_doubles(&e->arena, e->nreaction);
}

NsStatus ns_local_error_new(NsLocalError **out, NsNsds *graph) {
  NsLocalError *e = *out = ns_alloc(1, sizeof *e);
  if (!e) return NS_ENOMEM;
  e->graph = graph;
  for (int d = 0; d < graph->nds; d++) {
    e->n += graph->ds[d]->n;
    e->nr += graph->ds[d]->nr;
    e->nreaction += graph->ds[d]->nreaction;
  }
  ptrdiff_t widest = 0, largest = 0;
  for (int i = 0; i < graph->ninteractions; i++) {
    const NsInteraction *inter = graph->interactions[i];
    ptrdiff_t size = (ptrdiff_t)inter->m * inter->nx;
    e->m += inter->m;
    if (has_gaps(inter) && inter->nx > widest) widest = inter->nx;
    if (has_gaps(inter) && size > largest) largest = size;
  }
  e->C = ns_arena_doubles(&e->arena, largest);
  e->coordinates = ns_arena_doubles(&e->arena, widest);
  e->control = (NsStepControl){0};
  NsMoment *const moments[] = {&e->start, &e->whole, &e->middle, &e->end, &e->probe};
  for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) take_moment(e, moments[i]);
  NS_ARENA_VECTORS(&e->arena, e->n, &e->reach, &e->reach_k, &e->ahead, &e->assumed, &e->size, &e->difference, &e->bound,
                   &e->rows, &e->row_bound);
  NsStatus status = e->arena.failed ? NS_ENOMEM : ns_snapshot_reserve(&e->before, ns_nsds_visit, graph);
  if (status == NS_OK) return NS_OK;
  ns_local_error_free(e);
  *out = NULL;
  return NS_ENOMEM;
}

void ns_local_error_free(NsLocalError *e) {
  if (!e) return;
  ns_snapshot_free(&e->before);
  ns_arena_release(&e->arena);
  ns_free(e);
}

/* Appends n numbers; returns the place behind them. */
static double *moment_put(double *to, const double *from, int n) {
  if (n > 0) memcpy(to, from, (size_t)n * sizeof *to);
  return to + n;
}

static void moment_put_bounds(const NsLocalError *e, const NsMoment *moment) {
  int first = 0;
  for (int i = 0; i < e->graph->ninteractions; first += e->graph->interactions[i++]->m) {
    const NsInteraction *inter = e->graph->interactions[i];
    const NsLaw *law = inter->law;
    for (int row = 0; row < law->size; row++) moment->groups[first + row] = ns_law_group(law, row, false);
    for (int row = 0; row < law->size; row++) {
      NsLawGroup *group = &moment->groups[first + row];
      double length = 0;
      for (int k = 0; k < group->reactions; k++) length = hypot(length, inter->lambda[k]);
      if (group->reactions == 0) continue;
      group->upper += group->mu[0] * length / ns_interaction_share(inter, 1);
      group->lower = -group->upper;
    }
    if (ns_law_slides(law)) moment->groups[first].mu[0] = ns_law_friction_at(law, ns_interaction_slip(inter), NULL).mu;
  }
}

void ns_moment_take(const NsLocalError *e, const NsMoment *moment) {
  double *x = moment->x, *r = moment->r, *reaction = moment->reaction, *lambda = moment->lambda, *y = moment->y;
  for (int d = 0; d < e->graph->nds; d++) {
    const NsDs *ds = e->graph->ds[d];
    x = moment_put(x, ds->x, ds->n);
    r = moment_put(r, ds->r, ds->nr);
    reaction = moment_put(reaction, ds->reaction, ds->nreaction);
  }
  for (int i = 0; i < e->graph->ninteractions; i++) {
    const NsInteraction *inter = e->graph->interactions[i];
    lambda = moment_put(lambda, inter->lambda, inter->m);
    y = moment_put(y, inter->y, inter->m);
  }
  moment_put_bounds(e, moment);
}

void ns_moment_recall(const NsLocalError *e, const NsMoment *moment) {
  double *x = moment->x, *r = moment->r, *lambda = moment->lambda, *y = moment->y;
  for (int d = 0; d < e->graph->nds; d++) {
    x = moment_put(x, e->graph->ds[d]->x_k, e->graph->ds[d]->n);
    r = moment_put(r, e->graph->ds[d]->r_k, e->graph->ds[d]->nr);
  }
  for (int i = 0; i < e->graph->ninteractions; i++) {
    const NsInteraction *inter = e->graph->interactions[i];
    lambda = moment_put(lambda, inter->lambda_k, inter->m);
    y = moment_put(y, inter->y_k, inter->m);
  }
  moment_put_bounds(e, moment);
}

/* ---- switches ---- */

/* The bound that a multiplier is at: -1 lower, 0 none, 1 upper. near: the part of lambda that does not count. */
static int bound_of(double lambda, double lower, double upper, double near) {
  return lambda - lower <= near * fabs(lambda) ? -1 : upper - lambda <= near * fabs(lambda) ? 1 : 0;
}

/* Part of the friction bound within which a contact counts as sliding: above the accuracy of the solvers, and of sums of impulses. */
static const double sliding = 1e-6;

/* The multipliers of an interaction and their bounds at one moment, and the part of a step of the grid over which impulses were added. */
typedef struct Impulses {
  const double *lambda;
  const NsLawGroup *groups;
  double part;
} Impulses;

static Impulses impulses_at(const NsMoment *moment, int first, double part) {
  return (Impulses){moment->lambda + first, moment->groups + first, part};
}

/*
** The mode of a group of rows in a step of this part: the bound of a single row; of a contact 0 if it is open, else a digit for each
** disc, sticking (1), or sliding (2; of one row: 2 or 3).
*/
static int group_mode(const NsInteraction *inter, int row, Impulses at) {
  NsLawGroup group = at.groups[row];
  double share = ns_interaction_share(inter, at.part);
  const double *lambda = at.lambda;
  group.lower *= share, group.upper *= share;
  double near = ns_interaction_has_impulses(inter) ? sliding : 0;
  lambda += row;
  if (group.discs == 0) return bound_of(lambda[0], group.lower, group.upper, near);
  if (lambda[0] <= 0) return 0;
  int mode = 0;
  for (int disc = 0; disc < group.discs; disc++) {
    const double *part = lambda + ns_law_disc_first(&group, disc);
    int width = ns_law_disc_rows(&group, disc);
    double length = width > 1 ? hypot(part[0], part[1]) : fabs(part[0]);
    bool sticks = length < (1 - sliding) * group.mu[disc] * lambda[0];
    mode = 4 * mode + (sticks ? 1 : width > 1 || part[0] <= 0 ? 2 : 3);
  }
  return mode;
}

/* Whether lambda is on the face r of the law's polyhedron. */
static bool on_face(const NsLaw *law, int r, const double *lambda) {
  double sum = -law->K[r], size = fabs(law->K[r]);
  for (int j = 0; j < law->size; j++) {
    double term = law->H[r + (size_t)j * (size_t)law->rows] * lambda[j];
    sum += term;
    size += fabs(term);
  }
  return sum <= sliding * size;
}

static bool faces_differ(const NsLaw *law, const double *a, const double *b) {
  for (int r = 0; r < law->rows; r++)
    if (on_face(law, r, a) != on_face(law, r, b)) return true;
  return false;
}

/* Adds the switches of an interaction. A contact that opens and stays open has no jump: its force goes to 0. */
static void add_switches(const NsInteraction *inter, Impulses at_start, Impulses at_middle, Impulses at_end, Impulses at_once,
                         NsSwitches *switches) {
  const NsLaw *law = inter->law;
  const double *start = at_start.lambda, *middle = at_middle.lambda, *end = at_end.lambda;
  bool contact = law->class->unilateral && ns_law_gaps(law) > 0;
  if (faces_differ(law, start, middle)) switches->in[0] = true;
  if (faces_differ(law, middle, end)) switches->in[1] = true;
  if (faces_differ(law, end, at_once.lambda)) switches->any = true;
  for (int row = 0; row < law->size;) {
    int before = group_mode(inter, row, at_start), half = group_mode(inter, row, at_middle);
    int after = group_mode(inter, row, at_end), once = group_mode(inter, row, at_once);
    if (before != half && !(contact && middle[row] <= 0)) switches->in[0] = true;
    if (half != after && !(contact && end[row] <= 0)) switches->in[1] = true;
    if (after != once) switches->any = true;
    row += ns_law_group(law, row, false).dim;
  }
}

NsSwitches ns_local_error_switches(const NsLocalError *e, double part, double start) {
  NsSwitches switches = {false, {false, false}};
  for (int i = 0, row = 0; i < e->graph->ninteractions; row += e->graph->interactions[i++]->m)
    add_switches(e->graph->interactions[i], impulses_at(&e->start, row, start), impulses_at(&e->middle, row, 0.5 * part),
                 impulses_at(&e->end, row, 0.5 * part), impulses_at(&e->whole, row, part), &switches);
  switches.any = switches.any || switches.in[0] || switches.in[1];
  return switches;
}

bool ns_local_error_steady(const NsLocalError *e) {
  for (int i = 0, row = 0; i < e->graph->ninteractions; row += e->graph->interactions[i++]->m) {
    const NsInteraction *inter = e->graph->interactions[i];
    bool impulses = ns_interaction_has_impulses(inter);
    for (int k = row; k < row + inter->m; k++) {
      double lambda = impulses ? 0 : e->start.lambda[k];
      if (e->middle.lambda[k] != lambda || e->end.lambda[k] != lambda) return false;
    }
  }
  return true;
}

/* ---- sizes ---- */

static double local_larger(double a, double b) {
  return a >= b ? a : b;
}

/* Fills `size` for the unknowns from `from` to `to`; `jumps`: they may jump in this step, and are not extrapolated. */
static void find_sizes(NsLocalError *e, const NsErrorTest *test, int from, int to, bool jumps) {
  for (int j = from; j < to; j++) {
    double end = e->end.x[j], size = local_larger(e->reach[j], fabs(end));
    bool grows = !jumps && fabs(end) >= 2 * e->reach_k[j];
    if (grows && test->known) size = local_larger(size, e->ahead[j]);
    if (grows && !test->known) size = local_larger(size, fabs(end + (end - e->start.x[j]) * test->left));
    e->size[j] = size > 0 ? size : fabs(e->whole.x[j]);
  }
}

/* w of an unknown. */
static double local_error_bound(const NsLocalError *e, const NsErrorTest *test, int j) {
  return local_larger(test->rtol, test->floor) * e->size[j] + test->atol;
}

/* The error that unknown j may have in a smooth step, in the difference of the two solutions. */
static double smooth_bound(const NsLocalError *e, const NsErrorTest *test, int j) {
  double w = test->rtol * e->size[j] + test->atol, part = w < e->size[j] ? w / e->size[j] : 1;
  double bound = local_larger(w * (test->order == 2 ? sqrt(part) : part), test->floor * e->size[j]);
  return test->order == 2 ? 3 * bound : bound;
}

static double ratio_of(double error, double bound) {
  return error == 0 ? 0 : error / bound;
}

/* ---- the comparison ---- */

static double smooth_error(NsLocalError *e, const NsErrorTest *test) {
  double most = 0;
  find_sizes(e, test, 0, e->n, false);
  for (int j = 0; j < e->n; j++)
    most = local_larger(most, ratio_of(fabs(e->end.x[j] - e->whole.x[j]), smooth_bound(e, test, j)));
  return most;
}

/* The rows of M x of a first-order system, whose unknowns begin at o, as do its inputs. */
static double jump_of_rows(NsLocalError *e, const NsErrorTest *test, const NsSwitches *switches, const NsDs *base, int o) {
  const NsFirstOrderDs *ds = (const NsFirstOrderDs *)base;
  bool identity = !ns_coef_given(&ds->M);
  const double *r[] = {e->start.r + o, e->middle.r + o, e->end.r + o};
  double most = 0;
  int n = base->n;
  find_sizes(e, test, o, o + n, false);
  for (int j = 0; j < n; j++) {
    e->difference[j] = e->end.x[o + j] - e->whole.x[o + j];
    e->bound[j] = local_error_bound(e, test, o + j);
    e->rows[j] = identity ? e->difference[j] : 0;
    e->row_bound[j] = identity ? e->bound[j] : 0;
  }
  if (!identity) ns_coef_multiply_add(&ds->M, 1, e->difference, e->rows);
  if (!identity) ns_coef_add_sizes(&ds->M, e->bound, e->row_bound);
  for (int i = 0; i < n; i++) {
    double error = fabs(e->rows[i]);
    for (int half = test->first ? 1 : 0; half < 2; half++)
      if (switches->in[half]) error = local_larger(error, 0.5 * test->h * fabs(r[half + 1][i] - r[half][i]));
    if (e->row_bound[i] > 0) most = local_larger(most, ratio_of(error, e->row_bound[i]));
  }
  return most;
}

/* The coordinates of a mechanical system, from unknown o on. */
static double jump_of_coordinates(NsLocalError *e, const NsErrorTest *test, const NsSwitches *switches, const NsDs *base,
                                  int o) {
  const NsMechanicalDs *ds = (const NsMechanicalDs *)base;
  double most = 0, *slip = e->difference, *moved = e->rows, *error = e->bound;
  const double *q = e->end.x + o, *q_whole = e->whole.x + o, *v = e->end.x + o + ds->nq;
  const double *others[] = {e->whole.x + o + ds->nq, e->start.x + o + ds->nq, e->middle.x + o + ds->nq};
  find_sizes(e, test, o, o + ds->nq, false);
  find_sizes(e, test, o + ds->nq, o + base->n, true);
  for (int k = 0; k < 3; k++) { /* the two solutions; the two halves */
    const double *after = k == 1 ? e->middle.x + o + ds->nq : v;
    if (k > 0 && !switches->in[k - 1]) continue;
    for (int i = 0; i < ds->nv; i++) slip[i] = after[i] - others[k][i];
    ns_mechanical_move(ds, q, slip, k == 0 ? test->h : 0.5 * test->h, moved);
    for (int j = 0; j < ds->nq; j++) {
      double way = fabs(moved[j] - q[j]);
      error[j] = k == 0 ? fabs(q_whole[j] - q[j]) + way : local_larger(error[j], way);
    }
  }
  for (int j = 0; j < ds->nq; j++) most = local_larger(most, ratio_of(error[j], local_error_bound(e, test, o + j)));
  return most;
}

double ns_local_error(NsLocalError *e, const NsErrorTest *test, const NsSwitches *switches) {
  double most = 0;
  if (!switches->any) return smooth_error(e, test);
  for (int d = 0, o = 0; d < e->graph->nds; o += e->graph->ds[d++]->n) {
    const NsDs *ds = e->graph->ds[d];
    bool mechanics = ns_ds_family(ds) == NS_MECHANICS;
    double error = mechanics ? jump_of_coordinates(e, test, switches, ds, o) : jump_of_rows(e, test, switches, ds, o);
    most = local_larger(most, error);
  }
  return most;
}

/* ---- gaps ---- */

/* The depth of a gap below 0. */
static double depth_of(double y) {
  return y < 0 ? -y : 0;
}

/* sum_j |C_ij| w_j. `C` (m x nx) and the coordinates are those at the end of the step. */
static double gap_bound(const NsLocalError *e, const NsErrorTest *test, const NsInteraction *inter, int i) {
  double sum = 0;
  const double *C = e->C + i;
  for (int p = 0; p < inter->nds; p++) {
    int from = 0;
    for (int d = 0; e->graph->ds[d] != inter->ds[p]; d++) from += e->graph->ds[d]->n;
    for (int j = 0; j < inter->ds[p]->nx; j++, C += inter->m) sum += fabs(*C) * local_error_bound(e, test, from + j);
  }
  return sum;
}

static NsStatus evaluate_C(const NsLocalError *e, const NsInteraction *inter, double t, const double *lambda, NsError *err) {
  double *x = e->coordinates;
  for (int p = 0; p < inter->nds; p++) x = moment_put(x, inter->ds[p]->x, inter->ds[p]->nx);
  NsRelationPoint at = {t, e->coordinates, lambda, inter->z, false};
  return ns_relation_C(inter->relation, &at, e->C, err);
}

NsStatus ns_local_error_depth(const NsLocalError *e, const NsErrorTest *test, double t, double *depth, NsError *err) {
  *depth = 0;
  for (int i = 0, row = 0; i < e->graph->ninteractions; row += e->graph->interactions[i++]->m) {
    const NsInteraction *inter = e->graph->interactions[i];
    bool known = false;
    for (int k = 0; has_gaps(inter) && k < ns_law_gaps(inter->law); k++) {
      double before = depth_of(e->start.y[row + k]);
      double added = local_larger(depth_of(e->middle.y[row + k]), depth_of(e->end.y[row + k])) - before;
      if (added <= 0) continue;
      NsStatus status = known ? NS_OK : evaluate_C(e, inter, t, e->end.lambda + row, err);
      if (status != NS_OK) return status;
      known = true;
      *depth = local_larger(*depth, ratio_of(added, gap_bound(e, test, inter, k)));
    }
  }
  return NS_OK;
}

/* ---- rounding ---- */

void ns_local_error_disturb(const NsLocalError *e) {
  bool up = true;
  for (int d = 0; d < e->graph->nds; d++)
    for (int i = 0; i < e->graph->ds[d]->n; i++, up = !up)
      e->graph->ds[d]->x_k[i] *= up ? 1 + 4 * DBL_EPSILON : 1 - 4 * DBL_EPSILON;
}

bool ns_local_error_raise(NsLocalError *e, const NsErrorTest *test) {
  bool any = false;
  for (int j = 0; j < e->n && test->rtol > 0; j++) {
    double error = fabs(e->end.x[j] - e->whole.x[j]), bound = smooth_bound(e, test, j);
    if (error <= bound || error > 10 * fabs(e->probe.x[j] - e->whole.x[j])) continue;
    double size = 4 * error / (test->rtol * (test->order == 2 ? sqrt(test->rtol) : test->rtol));
    if (size > e->reach[j]) e->reach[j] = size, any = true;
  }
  return any;
}

/*
** heap.c
** The race of sweeps, gradient steps and Newton's method for heaps.
*/
/*
** A sweep solves one group after another with the others fixed, forwards and then backwards in the order of heap_order.h; then the point
** moves on along the conjugate direction of the earlier sweeps (beta of Fletcher and Reeves) and back into the bounds and cones; this is
** skipped if the sweep changed more than the last one. Jourdan, Alart and Jean, Comput. Methods Appl. Mech. Engrg. 155, 1998; Silcowitz,
** Niebe and Erleben, Visual Computer 26, 2010.
** Friction is not the gradient of a potential: sweeps, conjugate ones most of all, may wander about a solution for thousands of rounds. A
** proximal term holds them: they solve the problem with the term weight / rho (z - centre) in w, until the change of a sweep has fallen to a
** fifth; then the centre moves to z. The weight is such that this takes some SOON to HELD sweeps. Rockafellar, SIAM J. Control Optim. 14,
** 1976. A coarse tolerance is reached so from the start; for a fine one free sweeps come first, since near a solution they are faster. When
** one kind stalls the other one goes on. Before that, held sweeps that have begun at a guess begin again at 0: guesses of another step may
** lead to states about which they wander much longer.
** The unit of work is one such sweep. The rate of the last half of the sweeps, by their least measure, predicts how many are missing; the
** symbolic factorisation tells what a step of Newton's method costs. Newton goes a way of its own from the guess, which solves most small
** assemblies in 10 to 40 steps where sweeps take thousands; its first turn comes early, when sweeps need much more. With a fine tolerance it tries
** before each of these turns a few steps from a point at which all contacts are pressed: towers, arches and chains, in which most contacts stick, take
** 1 to 8 from there, and hundreds from elsewhere. Between these turns it
** takes some steps from the point of the sweeps, which becomes better by them. Later turns are due when the others have taken as much work as
** all its steps but those from pressed points, so that a method that does not help costs about as much as the other one. With a coarse tolerance most of its steps are of
** another kind: they hold forces about the point of the sweeps as much as the tolerance allows (heap_held.h), and take 5 to 20 where sweeps
** wander for thousands. With a fine one the path of heap_path.h has turns where sweeps are stuck, and three times their work: its steps count as those
** that hold forces.
** Accelerated gradient steps (heap_gradient.h) run beside the sweeps, on a point of their own that begins where the race does, when sweeps are
** far from the end: they are far ahead where many contacts hold a body, as in walls and arches, and far behind in heaps of spheres. They take half
** as much work as the sweeps while they are as near, or nearly and by their rate before them; they go on while they are both nearer and faster;
** else they take a small part. Decisions count operations, not seconds: the same problem gives the same bits.
** Assumptions: none on the groups. Sweeps converge in practice for a symmetric positive semidefinite W and small mu.
** Termination: the measure, tested every MEASURE_EVERY sweeps, is within tolerance; or it is NaN; or the limit is reached.
*/
#include "solvers/contact/heap.h"

#include <math.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "solvers/contact/heap_blocks.h"
#include "solvers/contact/heap_gradient.h"
#include "solvers/contact/heap_held.h"
#include "solvers/contact/heap_path.h"
#include "solvers/contact/mixed_newton.h"
#include "solvers/residual.h"

/*
** MEASURE_EVERY: sweeps between two measures; a measure costs about a sweep. EARLY_LEAST: with a tolerance chosen by the caller, the first
** sweeps, up to this number, aim at a tenth of it, since they cost little. TURN: Newton's steps of a turn from the point of the sweeps; twice
** as many near a solution are rare. MARKS: measures that are kept to find the rate. ANALYSIS: sweeps before the pattern is analysed, which
** costs about as many.
*/
enum { MEASURE_EVERY = 5, EARLY_LEAST = 10, TURN = 8, MARKS = 64, ANALYSIS = 40 };

/*
** climb_first: sweeps before the first turn of the gradient steps, and hopeless: they have it when sweeps will take so many times as long again.
** climb_step: what such a step counts, in sweeps: a product and projections in place of two products and local problems (0.3 to 0.7, measured).
** climb_share: their work while they are even, over that of the sweeps; small: while they are not. longer: the work of steps that are ahead, from
** turn to turn. close: the measure, over that of the sweeps, below which their rate is believed: that of the first steps is always large. Of 300
** spheres that are poured no step gains by them; with a first turn after 60 sweeps, whatever their rate, they made it 1.4 times as long.
*/
static const double climb_first = 100, hopeless = 6, climb_step = 0.5, climb_share = 0.5, small = 0.15, longer = 1.5,
                    close = 10;

/*
** Newton's ways; pressed points use FROM_SWEEPS. FIRST_PRESS, PRESS_TURN: steps from the first pressed point and from each later one: of 80
** assemblies of 40 to 300 contacts 26 take at most 8 from the first one, few take 9 to 30. LONG_TURN: the steps of a turn from the guess; two thirds
** of about 80 assemblies of up to 500 contacts take fewer in all.
** newton_from: the work of the others, in steps of Newton, before its first turn; LATE: likewise with a coarse tolerance; newton_least: what
** sweeps must miss for a turn. Its steps count spaced_flops for each operation of a factorisation and spaced_entries for each number of W, in
** operations of a sweep: as much as with KLU. They have become several times faster where there are many contacts, but turns that come sooner
** for this lose time on walls and packings (up to 3.5 times). front_cost, entry_cost: likewise what they take, for 1,000 spheres.
*/
enum { FROM_SWEEPS, FROM_GUESS };
enum { FIRST_PRESS = 8, PRESS_TURN = 12, LONG_TURN = 40, LATE = 20 };
static const double newton_from = 5, newton_least = 15, spaced_flops = 0.75, spaced_entries = 45, front_cost = 0.07,
                    entry_cost = 12;

/*
** HOLD_TURN, hold_again, good, waits: see heap_hold. HOLD_LEAST: the steps without progress that a turn of it may take at least. hold_step:
** what a step of it costs in space, over one of Newton, by the time that 1,000 spheres take. Turns need 5 to 15 steps from a measure of ten times
** the tolerance, up to 40 from one of fifty times: turns that did not wait for a good point made slow steps of such pours nearly twice as long. 18
** steps of a pour of 1,000 spheres took 7 s with HOLD_TURN = 30, 9.5 with 20, 12 with 6 and with 45. In 7 slow ones (hold_again, HOLD_LEAST) =
** (0.4, 8), (0.4, 14), (0.2, 8) and (0.1, 10) take 1.12, 1.18, 1.09 and 0.99 times the work. PLANE_TURN: likewise, in the plane, where a step
** counts as one of Newton's turns: a pour of 2,000 disks takes 0.7 of the time of turns after half as much.
*/
enum { HOLD_TURN = 30, PLANE_TURN = 6, HOLD_LEAST = 11 };
static const double hold_step = 0.55, hold_again = 0.2, good = 1.2, waits = 1.5;

/*
** follow_from, follow_share, stuck, LONG_PATH: see heap_follow. In 15 heaps of 150 leaning spheres with mu = 0.6 paths need 200 to 2,500 steps, a few
** more than 4,000.
*/
enum { LONG_PATH = 2500 };
static const double follow_from = 200, follow_share = 3, stuck = 2;

/*
** HELD: most sweeps about one centre; SOON: fewer mean that the weight of the proximal term may fall. FREE_IDLE, GUESS_IDLE, HELD_IDLE: sweeps, free
** ones, held ones from a guess, held ones from 0, and half of all, that may pass until the least measure has halved; then they stall. Held sweeps go
** through many poor points before they end, also without progress: free ones would lose what they have found. settled: the squared change that
** moves the centre, over the first one. beyond: how far the centre then moves, over the way to the point; below 2 (Eckstein and Bertsekas, Math.
** Programming 55, 1992). It moves to the point itself when the least measure has not halved in NEAR_IDLE sweeps: with friction the centre may go round
** a solution, and the longer way leads outwards. weight_first, weight_least, weight_most: the weights; heavier ones let loads spread slowly. lighter, heavier: their
** changes. coarse: the least tolerance that is one. From 16 slow steps of pours of 150 to 1,000 spheres: half and twice of HELD and settled cost up
** to a tenth more, 1 in place of `beyond` a quarter.
*/
enum { HELD = 40, SOON = 20, NEAR_IDLE = 300, FREE_IDLE = 100, GUESS_IDLE = 400, HELD_IDLE = 2000 };
static const double settled = 0.04, beyond = 1.7, coarse = 1e-6;
static const double weight_first = 1e-3, weight_least = 1e-7, weight_most = 0.1, lighter = 0.7, heavier = 1.5;

/* near: the measure above which Newton takes no steps from the sweeps' point (its modes would be wrong). */
static const double near = 1e-2;

/* Logarithms of the measure by the work, of points on the way of a method; every `stride`-th one is kept. */
typedef struct HeapRate {
  double work[MARKS], mark[MARKS];
  int marks, stride, passed;
} HeapRate;

/* The gradient steps of a race. */
typedef struct HeapClimb {
  NsHeapGradient steps;
  HeapRate rate;
  bool stands;       /* they have a point of their own */
  double work, turn; /* their work; the sweeps at which they have the next turn */
  bool even, ahead;  /* they are as near as the sweeps, or nearly and faster; nearer and faster */
} HeapClimb;

/* The path of a race: the work of a step, and in all; the work of the others at which it has the next turn; steps since it began. */
typedef struct HeapFollow {
  NsHeapPath *path;
  double step, work, due;
  int steps;
} HeapFollow;

struct NsHeapRace {
  NsHeapBlocks blocks;
  NsArena arena;
  int capacity;
  double *before, *direction, *start; /* the point before a sweep; the conjugate direction; the point of Newton */
  double *guess;                      /* the point at which the race begins */
  double *centre;                     /* of the proximal term */
  double change, first; /* of the last sweep; 0: none, or the direction was dropped. Of the first one about this centre */
  int about;            /* sweeps about this centre */
  double nearest;       /* the least measure of the sweeps */
  double least;         /* the measure when it last halved, */
  int halved;           /* and the sweeps until then */
  bool guessed;         /* the sweeps have begun at a guess */
  bool held;            /* there is a proximal term, */
  double weight;        /* of this weight */
  void *newton;
  NsHeapHeld *holding;
  double hold_cost;  /* work of a step of Newton by the time that it takes */
  double hold_due;   /* the work of the others at which forces are held next */
  int swept;         /* sweeps of this search */
  double cost, due;  /* what a step of Newton counts (0: not known yet); work of the others at which its turn is due */
  double tried;      /* the work of Newton's steps */
  bool begun, ended; /* Newton's way from the guess */
  int presses;       /* pressed points that have been tried */
  bool near_next;    /* the next turn is from the point of the sweeps */
  HeapRate rate;     /* of the sweeps */
  HeapClimb climb;
  HeapFollow follow;
};

/* Forgets what the race for the last problem has shown. */
static void heap_begin(NsHeapRace *race, bool held) {
  race->swept = 0;
  race->rate = race->climb.rate = (HeapRate){.stride = 1};
  race->climb.stands = race->climb.even = race->climb.ahead = false;
  race->climb.work = 0;
  race->climb.turn = climb_first;
  race->nearest = INFINITY;
  race->cost = race->due = race->tried = race->hold_cost = race->hold_due = 0;
  race->begun = race->ended = race->near_next = false;
  race->presses = 0;
  race->follow.work = race->follow.due = 0;
  race->follow.steps = 0;
  race->halved = 0;
  race->least = INFINITY;
  race->held = held;
  race->guessed = false;
  race->weight = weight_first;
}

static NsStatus heap_reserve(void **work, NsSearch *search) {
  NsHeapRace *race = *work = ns_alloc(1, sizeof *race);
  if (race) heap_begin(race, false);
  NsStatus status = race ? ns_mixed_newton.reserve(&race->newton, search) : NS_ENOMEM;
  if (!status) status = ns_heap_path_new(&race->follow.path);
  return status ? status : ns_heap_held_new(&race->holding);
}

static void heap_release(void *work) {
  NsHeapRace *race = work;
  if (!race) return;
  ns_mixed_newton.release(race->newton);
  ns_heap_held_free(race->holding);
  ns_heap_path_free(race->follow.path);
  ns_heap_blocks_release(&race->blocks);
  ns_heap_gradient_release(&race->climb.steps);
  ns_arena_release(&race->arena);
  ns_free(race);
}

static NsStatus heap_room(NsHeapRace *race, int n) {
  if (n <= race->capacity) return NS_OK;
  ns_arena_release(&race->arena);
  race->capacity = 0;
  ptrdiff_t wanted = n + n / 2;
  NS_ARENA_VECTORS(&race->arena, wanted, &race->before, &race->direction, &race->start, &race->guess, &race->centre);
  if (race->arena.failed) return ns_arena_release(&race->arena), NS_ENOMEM;
  race->capacity = (int)wanted;
  return NS_OK;
}

/* ---- sweeps ---- */

/* Moves z into the bounds and cones. */
static void heap_admit(const NsMixedView *v, double *z) {
  for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim) {
    const NsMixedGroup *group = &v->p.groups[g];
    if (group->cone) ns_cone_admit(group->cone, group->mu, z + row);
    else z[row] = ns_box_clamp(z[row], group->lower, group->upper);
  }
}

static void drop_direction(NsHeapRace *race, int n) {
  memset(race->direction, 0, (size_t)n * sizeof *race->direction);
  race->change = 0;
}

/* Puts the centre of the proximal term at z, or so many times the way to z from where it is, or takes the term away. */
static void heap_centre(NsHeapRace *race, int n, double way, const double *z) {
  for (int i = 0; i < n; i++) race->centre[i] = way > 1 ? z[i] + (way - 1) * (z[i] - race->centre[i]) : z[i];
  ns_heap_blocks_hold(&race->blocks, race->held ? race->weight : 0, race->centre);
  drop_direction(race, n);
  race->about = 0;
}

/* Moves the centre to z when the sweeps about it have done their work; the last one changed z by `now`. */
static bool heap_settle(NsHeapRace *race, int n, double now, const double *z) {
  if (!race->held) return false;
  if (race->about++ == 0) race->first = now;
  bool done = now <= settled * race->first && race->about > 1;
  if (!done && race->about <= HELD) return false;
  double factor = !done ? heavier : race->about < SOON ? lighter : 1;
  race->weight = ns_larger(weight_least, ns_smaller(factor * race->weight, weight_most));
  heap_centre(race, n, done && race->swept - race->halved <= NEAR_IDLE ? beyond : 1, z);
  return true;
}

/* One sweep there and back, and a step along the conjugate direction. */
static void heap_sweep(NsHeapRace *race, const NsMixedView *v, double *z) {
  double now = ns_heap_sweep(&race->blocks, race->before, z), beta = race->change > 0 ? now / race->change : 0;
  if (heap_settle(race, v->p.n, now, z)) return;
  if (!(beta <= 1)) {
    drop_direction(race, v->p.n);
    return;
  }
  for (int i = 0; i < v->p.n; i++) {
    double d = z[i] - race->before[i];
    z[i] += beta * race->direction[i];
    race->direction[i] = beta * race->direction[i] + d;
  }
  heap_admit(v, z);
  race->change = now;
}

/* ---- what is to be expected ---- */

/* When the measure has not halved for long: held sweeps begin anew at 0, once; else the other kind of sweeps has the turn. */
static void heap_change_kind(NsHeapRace *race, int n, double measure, double *z) {
  int idle = !race->held ? FREE_IDLE : race->guessed ? GUESS_IDLE : HELD_IDLE;
  bool stalled = race->swept - race->halved > ns_larger(idle, race->swept / 2.0);
  if (measure >= 0.5 * race->least && !stalled) return;
  race->least = measure;
  race->halved = race->swept;
  if (!stalled) return;
  if (race->held && race->guessed) {
    memset(z, 0, (size_t)n * sizeof *z);
    race->weight = weight_first;
    race->least = INFINITY;
    race->guessed = false;
  } else {
    race->held = !race->held;
  }
  heap_centre(race, n, 1, z);
}

static void heap_mark(HeapRate *rate, double work, double measure) {
  if (++rate->passed < rate->stride) return;
  rate->passed = 0;
  if (rate->marks == MARKS) {
    rate->marks /= 2, rate->stride *= 2;
    for (int k = 0; k < rate->marks; k++) rate->mark[k] = rate->mark[2 * k + 1], rate->work[k] = rate->work[2 * k + 1];
  }
  rate->work[rate->marks] = work;
  rate->mark[rate->marks++] = log(measure);
}

/* The work that is missing at the rate of the last half of the marks; INFINITY: there is no progress. */
static double work_missing(const HeapRate *rate, double tolerance) {
  int from = rate->marks / 2, count = rate->marks - from;
  double xx = 0, xy = 0, mean = 0, middle = 0;
  for (int k = from; k < rate->marks; k++) mean += rate->mark[k] / count, middle += rate->work[k] / count;
  for (int k = from; k < rate->marks; k++) {
    double x = rate->work[k] - middle;
    xx += x * x, xy += x * (rate->mark[k] - mean);
  }
  if (!(xy < 0)) return INFINITY;
  double last = mean + xy / xx * (rate->work[rate->marks - 1] - middle);
  return ns_larger(0, last - log(tolerance)) / (-xy / xx);
}

/* The operations of a sweep. */
static double heap_unit(const NsHeapRace *race, const NsMixedView *v) {
  return 2 * ((double)race->blocks.numbers + 30.0 * v->p.ngroups);
}

/* The work of the sweeps and gradient steps. */
static double heap_spent(const NsHeapRace *race) {
  return race->swept + race->climb.work;
}

/* Whether Newton has the next turn. */
static bool newton_due(NsHeapRace *race, const NsMixedView *v) {
  if (race->swept < ANALYSIS || heap_spent(race) < race->due) return false;
  double missing = work_missing(&race->rate, v->tolerance);
  if (race->cost == 0) {
    if (missing < ANALYSIS) return false;
    double entries = (double)race->blocks.numbers, flops = ns_mixed_newton_flops(race->newton, v);
    race->cost = (spaced_flops * flops + spaced_entries * entries) / heap_unit(race, v);
    race->hold_cost = (front_cost * flops + entry_cost * entries) / heap_unit(race, v);
    race->follow.step = ns_mixed_newton_fronts(race->newton) ? hold_step * race->hold_cost : race->cost;
    race->near_next = v->tolerance >= coarse;
    race->due = (race->near_next ? LATE : newton_from) * race->cost;
  }
  return heap_spent(race) >= race->due && missing > newton_least * race->cost;
}

/* Whether Newton has another pressed point to try. */
static bool press_left(const NsHeapRace *race, const NsMixedView *v) {
  return v->tolerance < coarse && race->presses < NS_PRESSES;
}

/* Steps of Newton from `from` (NULL: where this way has ended), to race->start. */
static NsStatus heap_steps(NsHeapRace *race, const NsMixedView *v, int way, const double *from, int steps, NsSolverInfo *own) {
  NsStatus status = from ? ns_mixed_newton_begin(race->newton, way, v, from) : NS_OK;
  own->iterations = 0;
  return status ? status : ns_mixed_newton_continue(race->newton, way, v, steps, race->start, race->before, own);
}

/* Steps from the next pressed point. They are few and do not count, so that no other turn comes later by them. */
static NsStatus heap_press(NsHeapRace *race, const NsMixedView *v, NsSolverInfo *own) {
  memcpy(race->start, race->guess, (size_t)v->p.n * sizeof *race->start);
  ns_mixed_press(v, ns_pressed[race->presses], race->start);
  return heap_steps(race, v, FROM_SWEEPS, race->start, race->presses++ > 0 ? PRESS_TURN : FIRST_PRESS, own);
}

/*
** Newton's turn: steps from a pressed point, then of its way from the guess; or some from z, whose measure is *measure. Keeps the better point
** in z.
*/
static NsStatus heap_newton(NsHeapRace *race, const NsMixedView *v, double *z, double *w, double *measure, NsSolverInfo *info) {
  NsSolverInfo own = {0};
  bool from_z = race->near_next && *measure <= near, presses = !from_z && press_left(race, v);
  if (race->ended && !from_z && !presses) return NS_OK;
  NsStatus status = presses ? heap_press(race, v, &own) : NS_ENOCONV;
  info->iterations += own.iterations;
  if (status == NS_EINTR || status == NS_ENOMEM) return status;
  if (status != NS_OK && (from_z || !race->ended)) {
    const double *from = from_z ? z : race->begun ? NULL : race->guess;
    status = heap_steps(race, v, from_z ? FROM_SWEEPS : FROM_GUESS, from, from_z ? TURN : LONG_TURN, &own);
    info->iterations += own.iterations;
    if (status == NS_EINTR || status == NS_ENOMEM) return status;
    race->tried += own.iterations * race->cost;
    race->begun = race->begun || !from_z;
    race->ended = race->ended || (!from_z && status != NS_EMAXITER);
  }
  double reached = ns_mixed_measure(v, race->start, race->before);
  race->near_next = !from_z || (race->ended && !press_left(race, v));
  race->due = race->tried + (v->tolerance >= coarse ? (race->near_next ? LATE : LONG_TURN) * race->cost : 0);
  if (from_z && reached < 0.1 * *measure) race->near_next = true, race->due = heap_spent(race); /* it is on its way */
  if (reached > v->tolerance && !(from_z && reached < *measure)) return NS_OK;
  memcpy(z, race->start, (size_t)v->p.n * sizeof *z);
  *measure = ns_mixed_measure(v, z, w);
  if (reached <= v->tolerance) info->solver = own.solver;
  heap_centre(race, v->p.n, 1, z);
  return NS_OK;
}

/* Whether the gradient steps have the next turn: the first one when sweeps are far from the end, by their rate. */
static bool climb_due(const NsHeapRace *race, double tolerance) {
  const HeapClimb *c = &race->climb;
  if (race->swept < c->turn) return false;
  return c->work > 0 || work_missing(&race->rate, tolerance) > hopeless * race->swept;
}

/* race->start becomes z, with its measure, if it is an answer; `reached`: its measure. */
static void heap_take(const NsHeapRace *race, const NsMixedView *v, double reached, const NsSolverInfo *own, double *z,
                      double *w, double *measure, NsSolverInfo *info) {
  if (reached > v->tolerance) return;
  heap_admit(v, race->start); /* contacts that stick may be outside of their cones, within the tolerance */
  reached = ns_mixed_measure(v, race->start, w);
  if (reached > v->tolerance) return;
  memcpy(z, race->start, (size_t)v->p.n * sizeof *z);
  *measure = reached;
  info->solver = own->solver;
}

/*
** With a coarse tolerance: Newton from z with held forces. z stays as it is unless it gets within tolerance, so that sweeps go on as if
** nothing had been. Its first turn is due when the others have cost HOLD_TURN of its steps, in the plane PLANE_TURN, later ones when they have
** cost `hold_again` times its last one again. It then waits for a point whose measure is at most `good` times the least one of the sweeps, until
** they have cost `waits` times as much.
*/
static NsStatus heap_hold(NsHeapRace *race, const NsMixedView *v, double *z, double *w, double *measure, NsSolverInfo *info) {
  if (v->tolerance < coarse || race->cost == 0 || !(*measure <= near)) return NS_OK;
  bool plane = (v->kinds.takes & NS_TAKES_PLANE) != 0;
  double spent = heap_spent(race), step = plane ? race->cost : hold_step * race->hold_cost;
  double turn = (plane ? PLANE_TURN : HOLD_TURN) * step;
  double due = ns_larger(race->hold_due, turn);
  if (spent < due || (*measure > good * race->nearest && spent < waits * due)) return NS_OK;
  if (work_missing(&race->rate, v->tolerance) < 0.5 * turn) return NS_OK;
  NsSolverInfo own = {0};
  double reached = *measure;
  memcpy(race->start, z, (size_t)v->p.n * sizeof *z);
  NsStatus status = ns_heap_held_solve(race->holding, race->newton, v, (int)ns_larger(spent / step, HOLD_LEAST), race->start, w,
                                       &reached, &own);
  if (status == NS_EINTR || status == NS_ENOMEM) return status;
  info->iterations += own.iterations;
  race->hold_due = spent + hold_again * own.iterations * step;
  return heap_take(race, v, reached, &own, z, w, measure, info), NS_OK;
}

/*
** With a fine tolerance: goes on along the path of heap_path.h, and begins it at z, or anew when it has ended or taken LONG_PATH steps. z stays as it
** is unless the path gets within tolerance. Its turns are due when the others have cost `follow_from` steps, and then half as much again each time, if
** sweeps and gradient steps need `stuck` times as much again as the sweeps have taken; the path then gets `follow_share` times their work in all.
*/
static NsStatus heap_follow(NsHeapRace *race, const NsMixedView *v, double *z, double *w, double *measure, NsSolverInfo *info) {
  HeapFollow *f = &race->follow;
  if (v->tolerance >= coarse || race->cost == 0) return NS_OK;
  double spent = heap_spent(race), step = f->step;
  if (spent < ns_larger(f->due, follow_from * step)) return NS_OK;
  double missing = work_missing(&race->rate, v->tolerance);
  if (race->climb.even) missing = ns_smaller(missing, work_missing(&race->climb.rate, v->tolerance));
  if (missing < stuck * race->swept) return NS_OK;
  NsSolverInfo own = {0};
  double reached = INFINITY;
  NsStatus status = f->steps == 0 ? ns_heap_path_begin(f->path, v, z) : NS_OK;
  int most = (int)((follow_share * spent - f->work) / step);
  if (!status) status = ns_heap_path_continue(f->path, v, most, race->start, w, &reached, &own);
  if (status == NS_EINTR || status == NS_ENOMEM) return status;
  info->iterations += own.iterations;
  f->work += own.iterations * step;
  f->steps += own.iterations;
  if (status != NS_EMAXITER || f->steps > LONG_PATH) f->steps = 0;
  f->due = 1.5 * spent;
  return heap_take(race, v, reached, &own, z, w, measure, info), NS_OK;
}

/* When the gradient steps have their next turn, by what this one has shown. */
static void heap_weigh(NsHeapRace *race, double tolerance) {
  HeapClimb *c = &race->climb;
  if (ns_heap_gradient_stalled(&c->steps)) {
    c->stands = c->even = c->ahead = false;
    c->rate = (HeapRate){.stride = 1};
  } else {
    bool near_enough = c->steps.least <= race->nearest;
    bool faster = work_missing(&c->rate, tolerance) < work_missing(&race->rate, tolerance);
    c->even = near_enough || (faster && c->steps.least <= close * race->nearest);
    c->ahead = near_enough && faster;
  }
  c->turn = c->ahead ? race->swept : ns_larger(1.5 * race->swept, c->work / (c->even ? climb_share : small));
}

/* The turn of the gradient steps, from their last point or from z. Their best point becomes z, and *measure its own, if it is within tolerance. */
static NsStatus heap_climb(NsHeapRace *race, const NsMixedView *v, double *z, double *w, double *measure, NsSolverInfo *info) {
  HeapClimb *c = &race->climb;
  NsStatus status = c->stands ? NS_OK : ns_heap_gradient_begin(&c->steps, v, c->work > 0 ? z : race->guess);
  if (status) return status;
  c->stands = true;
  double share = c->even || c->work == 0 ? climb_share * race->swept : small * race->swept, now;
  if (c->ahead) share = ns_larger(share, longer * c->work);
  while (c->work < share && !ns_heap_gradient_stalled(&c->steps)) {
    if (ns_interrupted()) return NS_EINTR;
    int steps = ns_heap_gradient_run(&c->steps, &race->blocks, 1 + (int)((share - c->work) / climb_step), &now);
    info->iterations += (int)ceil(steps * climb_step);
    c->work += steps * climb_step;
    heap_mark(&c->rate, c->work, c->steps.least);
    if (c->steps.least > v->tolerance) continue;
    memcpy(z, c->steps.best, (size_t)v->p.n * sizeof *z);
    *measure = ns_mixed_measure(v, z, w);
    info->solver = "first order";
    return NS_OK;
  }
  heap_weigh(race, v->tolerance);
  return NS_OK;
}

NsStatus ns_heap_race_solve(NsHeapRace *race, const NsMixedView *v, int count, double *z, double *w, NsSolverInfo *info) {
  NsStatus status = ns_heap_blocks_make(&race->blocks, v);
  if (!status) status = heap_room(race, v->p.n);
  if (status) return status;
  info->solver = "conjugate_gauss_seidel";
  heap_admit(v, z);
  if (race->swept == 0) memcpy(race->guess, z, (size_t)v->p.n * sizeof *z);
  heap_centre(race, v->p.n, 1, z);
  for (int k = 1; k <= count; k++) {
    if (ns_interrupted()) return NS_EINTR;
    heap_sweep(race, v, z);
    race->swept++;
    info->iterations++;
    if (race->swept % MEASURE_EVERY && k < count) continue;
    double measure = ns_mixed_measure(v, z, w), aim = (v->early && race->swept < EARLY_LEAST ? 0.1 : 1) * v->tolerance;
    if (measure <= aim) return NS_OK;
    if (!(measure < INFINITY)) return NS_ENOCONV;
    race->nearest = ns_smaller(race->nearest, measure);
    heap_mark(&race->rate, race->swept, race->nearest);
    heap_change_kind(race, v->p.n, measure, z);
    if (climb_due(race, v->tolerance)) {
      status = heap_climb(race, v, z, w, &measure, info);
      if (status || measure <= v->tolerance) return status;
    }
    bool due = newton_due(race, v);
    double swept = measure;
    status = v->tolerance < coarse ? heap_follow(race, v, z, w, &measure, info) : heap_hold(race, v, z, w, &measure, info);
    if (status || (measure < swept && measure <= v->tolerance)) return status;
    if (!due) continue;
    status = heap_newton(race, v, z, w, &measure, info);
    if (status || measure <= v->tolerance) return status;
  }
  return NS_EMAXITER;
}

/* ---- the method ---- */

static NsOutcome heap_run(void *work, NsSearch *search, int mode) {
  NsMixedSearch *s = (NsMixedSearch *)search;
  NsHeapRace *race = work;
  int limit = s->v.max_iterations > 0 && s->v.max_iterations < mode ? s->v.max_iterations : mode;
  if (s->rounds == 0) heap_begin(race, s->v.tolerance >= coarse);
  bool begins = s->rounds++ == 0;
  ns_mixed_copy(s, s->z, begins ? s->best : s->standing);
  for (int i = 0; begins && i < s->v.p.n; i++) race->guessed |= s->z[i] != 0;
  NsSolverInfo info = {.iterations = race->swept};
  NsStatus status = ns_heap_race_solve(race, &s->v, limit, s->z, s->w, &info);
  ns_mixed_copy(s, s->standing, s->z);
  return ns_mixed_candidate(s, status, &info);
}

const NsMethod ns_heap_race = {.takes = NS_TAKES_SPARSE | NS_TAKES_PLANE | NS_TAKES_SPACE,
                               .reserve = heap_reserve,
                               .release = heap_release,
                               .run = heap_run};

/*
** mixed.c
** Solves each connected component of a problem of rows and contacts in balanced units.
*/
#include "solvers/contact/mixed.h"

#include <float.h>
#include <math.h>

#include "base/memory.h"
#include "base/pool.h"
#include "linalg/dense.h"
#include "solvers/balance.h"
#include "solvers/components.h"
#include "solvers/contact/friction_residual.h"
#include "solvers/contact/heap_order.h"
#include "solvers/contact/mixed_chain.h"
#include "solvers/contact/mixed_direct.h"
#include "solvers/contact/mixed_measure.h"
#include "solvers/contact/mixed_scale.h"
#include "solvers/residual.h"

/*
** LARGE_CHAINS: number of chains for components of more than NS_MIXED_DENSE_ROWS rows. Each such component has its own chain:
** the sparse factors of a chain depend on its earlier pivots, which must not come from another component. From the 16th on
** components share the last chain.
*/
enum { LARGE_CHAINS = 16 };

/*
** Several threads (pool.h) solve components side by side: SHARED: number of rows from which they do. ALONE: number of groups from which a component that
** has most of the work comes first, so that its sweeps have all threads.
*/
enum { SHARED = 60, ALONE = 1500 };

/* What a thread needs to solve components, one after another. */
typedef struct MixedRoom {
  NsArena arena;
  int capacity; /* of order */
  int *order;   /* workspace of ns_heap_order */
  NsMixedScaled scaled;
  NsMixedChain *small;
} MixedRoom;

struct NsMixed {
  NsMixedOptions options;
  NsArena arena;
  int capacity; /* allocated number of groups */
  NsComponents parts;
  int *first; /* first row of each group */
  int *group; /* group of each row */
  MixedRoom room;
  NsMixedChain *large[LARGE_CHAINS];
  NsArena shared; /* what follows is for several threads */
  int members, parts_capacity;
  MixedRoom *rooms;    /* members */
  NsSolverInfo *infos; /* of each component, */
  int *chain;          /* and the number of its chain; -1: it has none of its own */
  int *task;           /* the (first) component of each task */
};

NsStatus ns_mixed_new(NsMixed **out) {
  *out = ns_alloc(1, sizeof **out);
  return *out ? NS_OK : NS_ENOMEM;
}

static void mixed_room_release(MixedRoom *room) {
  ns_mixed_chain_free(room->small);
  ns_mixed_scaled_release(&room->scaled);
  ns_arena_release(&room->arena);
  *room = (MixedRoom){0};
}

static void forget_members(NsMixed *s) {
  for (int k = 0; k < s->members; k++) mixed_room_release(&s->rooms[k]);
  ns_arena_release(&s->shared);
  s->members = s->parts_capacity = 0;
}

void ns_mixed_free(NsMixed *s) {
  if (!s) return;
  mixed_room_release(&s->room);
  for (int k = 0; k < LARGE_CHAINS; k++) ns_mixed_chain_free(s->large[k]);
  forget_members(s);
  ns_arena_release(&s->arena);
  ns_free(s);
}

NsMixedOptions *ns_mixed_options(NsMixed *s) {
  return &s->options;
}

/* ---- data ---- */

static bool finite_data(const NsMixedProblem *p) {
  return ns_is_finite(p->n, 1, p->q, p->n) && (p->W ? ns_is_finite(p->n, p->n, p->W, p->n) : ns_sparse_finite(p->sparse));
}

static NsStatus refuse_data(const NsMixedProblem *p, NsStatus status, double *z, double *w, NsSolverInfo *info) {
  for (int i = 0; i < p->n; i++) z[i] = w[i] = NAN;
  return info->status = status;
}

/* ---- components ---- */

static NsStatus reserve_groups(NsMixed *s, int n) {
  if (n <= s->capacity) return NS_OK;
  ptrdiff_t wanted = n < 8 ? 8 : (ptrdiff_t)n + n / 2;
  ns_arena_release(&s->arena);
  s->capacity = 0;
  NS_ARENA_INTS(&s->arena, wanted, &s->first, &s->group);
  ns_components_take(&s->parts, &s->arena, wanted);
  if (s->arena.failed) return ns_arena_release(&s->arena), NS_ENOMEM;
  s->capacity = (int)wanted;
  return NS_OK;
}

/* Finds the components of the groups. Stops once all groups are in one component. */
static void find_groups(NsMixed *s, const NsMixedProblem *p) {
  int apart = p->ngroups - 1;
  for (int g = 0, row = 0; g < p->ngroups; g++) {
    s->first[g] = row;
    for (int i = 0; i < p->groups[g].dim; i++) s->group[row++] = g;
  }
  if (apart == 0) {
    ns_components_single(&s->parts, 1);
    return;
  }
  ns_components_begin(&s->parts, p->ngroups);
  for (int j = 0; j < p->n && apart > 0; j++) {
    int from = p->W ? 0 : p->sparse->colptr[j], to = p->W ? p->n : p->sparse->colptr[j + 1];
    const double *value = p->W ? p->W + (size_t)j * (size_t)p->n : p->sparse->value;
    for (int k = from; k < to && apart > 0; k++) {
      int i = p->W ? k : p->sparse->row[k];
      if (value[k] != 0 && s->group[i] != s->group[j]) apart -= ns_components_join(&s->parts, s->group[i], s->group[j]);
    }
  }
  ns_components_finish(&s->parts);
}

static NsStatus run_chain(const NsMixed *s, NsMixedChain **chain, const NsMixedProblem *p, const NsMixedKinds *kinds,
                          const double *guess, double *z, double *w, NsSolverInfo *info) {
  *info = (NsSolverInfo){.residual = INFINITY, .relative = INFINITY, .backward = INFINITY, .solver = "none"};
  if (!*chain && ns_mixed_chain_new(chain) != NS_OK) return refuse_data(p, NS_ENOMEM, z, w, info);
  *ns_mixed_chain_options(*chain) = s->options;
  return ns_mixed_chain_solve(*chain, p, kinds, guess, z, w, info);
}

/* The largest error of a group, in the given units. */
static double given_residual(const NsMixedScaled *s, const double *rho) {
  double worst = 0;
  for (int g = 0, row = 0; g < s->p.ngroups; row += s->p.groups[g++].dim) {
    const NsMixedGroup *group = &s->p.groups[g];
    double z = s->z[row], error = group->cone ? ns_friction_error(group->cone, group->mu, rho[g], s->z + row, s->w + row)
                                              : fabs(z - ns_box_clamp(z - rho[g] * s->w[row], group->lower, group->upper));
    error = ns_times_power(error, -s->unit_z[row]);
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

/* Copies the answer of a component to its rows. False: a force overflows. *lost: some forces underflow and lose digits. */
static bool scatter_answer(const NsMixedScaled *s, const NsMixedProblem *p, const int *group, double *z, double *w,
                           bool *lost) {
  double sum = 0;
  *lost = false;
  for (int i = 0; i < s->p.n; i++) {
    z[s->row[i]] = ns_times_power(s->z[i], -s->unit_z[i]);
    w[s->row[i]] = ns_times_power(s->w[i], -s->unit_w[i]);
    sum += z[s->row[i]] * 0;
    *lost |= fabs(z[s->row[i]]) < DBL_MIN && s->z[i] != 0;
  }
  for (int g = 0, row = 0; g < s->p.ngroups;
       row += s->p.groups[g++].dim) { /* a value at a scaled bound becomes exactly the bound */
    const NsMixedGroup *own = &s->p.groups[g], *given = &p->groups[group[g]];
    if (!own->cone && s->z[row] == own->lower) z[s->row[row]] = given->lower;
    else if (!own->cone && s->z[row] == own->upper) z[s->row[row]] = given->upper;
  }
  return sum == 0;
}

/* A direct attempt at a scaled component; false also where a force underflows in the given units. */
static bool direct_in_units(NsMixedScaled *s, NsSolverInfo *info) {
  double rho[NS_MIXED_DIRECT];
  if (!ns_mixed_direct(&s->p, NULL, NULL, s->p.ngroups, s->z, s->w, info)) return false;
  for (int i = 0; i < s->p.n; i++)
    if (s->z[i] != 0 && !(fabs(ns_times_power(s->z[i], -s->unit_z[i])) >= DBL_MIN)) return false;
  for (int g = 0, row = 0; g < s->p.ngroups; row += s->p.groups[g++].dim)
    rho[g] = 1 / ns_mixed_block_size(&s->p, row, s->p.groups[g].dim);
  info->residual = given_residual(s, rho);
  return true;
}

/* A problem while its components are solved. `direct`: direct attempts come first; in the given units, if these are `ordinary` and not `tried`. */
typedef struct MixedCall {
  NsMixed *s;
  const NsMixedProblem *p;
  const double *guess;
  double *z, *w;
  bool direct, ordinary, tried;
} MixedCall;

static NsStatus order_groups(MixedRoom *room, const NsMixed *s, const NsMixedProblem *p, int count, int *group) {
  if (p->ngroups > room->capacity) {
    ns_arena_release(&room->arena);
    room->capacity = 0;
    room->order = ns_arena_ints(&room->arena, 4 * (ptrdiff_t)p->ngroups);
    if (room->arena.failed) return ns_arena_release(&room->arena), NS_ENOMEM;
    room->capacity = p->ngroups;
  }
  ns_heap_order(p, s->first, s->group, count, group, room->order);
  return NS_OK;
}

/* Solves component c in balanced units. large: the chain for a component of more than NS_MIXED_DENSE_ROWS rows. */
static NsSolverInfo solve_component(const MixedCall *call, int c, MixedRoom *room, NsMixedChain **large) {
  NsMixed *s = call->s;
  const NsMixedProblem *p = call->p;
  const double *guess = call->guess;
  double *z = call->z, *w = call->w;
  int *group = s->parts.member + s->parts.start[c];
  int count = ns_components_size(&s->parts, c), rows = 0;
  bool contacts = false, lost;
  NsMixedKinds kinds;
  NsSolverInfo info = {.residual = INFINITY, .relative = INFINITY, .backward = INFINITY, .solver = "none"};
  for (int g = 0; g < count; g++) contacts |= p->groups[group[g]].cone != NULL, rows += p->groups[group[g]].dim;
  if (contacts && p->sparse && rows > NS_MIXED_DENSE_ROWS) info.status = order_groups(room, s, p, count, group);
  NsMixedScaled *scaled = &room->scaled;
  if (!info.status) info.status = ns_mixed_scale(scaled, p, s->first, group, count, contacts, guess);
  if (!info.status) info.status = ns_mixed_look(&scaled->p, &kinds);
  if (info.status) {
    for (int g = 0; g < count; g++)
      for (int i = 0; i < p->groups[group[g]].dim; i++) z[s->first[group[g]] + i] = w[s->first[group[g]] + i] = NAN;
    return info;
  }
  NsMixedChain **chain = rows <= NS_MIXED_DENSE_ROWS ? &room->small : large;
  bool found = call->direct && !call->ordinary && direct_in_units(scaled, &info);
  if (!found) run_chain(s, chain, &scaled->p, &kinds, guess ? scaled->guess : NULL, scaled->z, scaled->w, &info);
  if (!found && contacts && info.status != NS_ENOMEM) info.residual = given_residual(scaled, ns_mixed_chain_steps(*chain));
  bool good = scatter_answer(scaled, p, group, z, w, &lost);
  if (good && lost && contacts && info.status == NS_OK) {
    for (int i = 0; i < rows; i++) scaled->z[i] = ns_times_power(z[scaled->row[i]], scaled->unit_z[i]);
    good = ns_mixed_chain_holds(*chain, &scaled->p, &kinds, scaled->z, scaled->w);
  }
  if (!good && info.status == NS_OK) info.status = NS_ENOCONV;
  return info;
}

/* Solves component c, by a direct attempt if that comes first. */
static NsSolverInfo solve_one_part(const MixedCall *call, int c, MixedRoom *room, NsMixedChain **large) {
  const NsComponents *parts = &call->s->parts;
  NsSolverInfo info;
  bool attempt = call->direct && call->ordinary && !call->tried;
  if (attempt && ns_mixed_direct(call->p, call->s->first, parts->member + parts->start[c], ns_components_size(parts, c),
                                 call->z, call->w, &info))
    return info;
  return solve_component(call, c, room, large);
}

/* The number of the chain of component c, of which *large had one before; -1: it has few rows, and no chain of its own. */
static int large_chain(const MixedCall *call, int c, int *large) {
  const NsComponents *parts = &call->s->parts;
  int rows = 0;
  if (ns_components_size(parts, c) * NS_CONE_MOST <= NS_MIXED_DENSE_ROWS) return -1;
  for (int k = parts->start[c]; k < parts->start[c + 1]; k++) rows += call->p->groups[parts->member[k]].dim;
  if (rows <= NS_MIXED_DENSE_ROWS) return -1;
  return *large < LARGE_CHAINS - 1 ? (*large)++ : LARGE_CHAINS - 1;
}

static NsSolverTotal solve_in_turn(const MixedCall *call) {
  NsMixed *s = call->s;
  NsSolverTotal total = ns_solver_total("none");
  for (int c = 0, large = 0; c < s->parts.count; c++) {
    int chain = large_chain(call, c, &large);
    NsSolverInfo own = solve_one_part(call, c, &s->room, chain < 0 ? NULL : &s->large[chain]);
    ns_solver_add(&total, &own);
  }
  return total;
}

/* ---- several threads ---- */

static NsStatus reserve_members(NsMixed *s, int members) {
  if (members <= s->members && s->parts.count <= s->parts_capacity) return NS_OK;
  int parts = s->parts.count + s->parts.count / 2;
  forget_members(s);
  s->rooms = ns_arena_take(&s->shared, (size_t)members, sizeof *s->rooms);
  s->infos = ns_arena_take(&s->shared, (size_t)parts, sizeof *s->infos);
  NS_ARENA_INTS(&s->shared, parts, &s->task, &s->chain);
  if (s->shared.failed) return ns_arena_release(&s->shared), NS_ENOMEM;
  s->members = members;
  s->parts_capacity = parts;
  return NS_OK;
}

static void solve_for(const MixedCall *call, int c, MixedRoom *room) {
  NsMixed *s = call->s;
  s->infos[c] = solve_one_part(call, c, room, s->chain[c] < 0 ? NULL : &s->large[s->chain[c]]);
}

/* Solves the component of the task, and after the first one with the last chain those that share it. */
static NsStatus part_task(void *context, int index, int member) {
  const MixedCall *call = context;
  const NsMixed *s = call->s;
  int first = s->task[index];
  solve_for(call, first, &s->rooms[member]);
  for (int c = first + 1; s->chain[first] == LARGE_CHAINS - 1 && c < s->parts.count; c++)
    if (s->chain[c] == s->chain[first]) solve_for(call, c, &s->rooms[member]);
  return NS_OK;
}

/* Lists the tasks: first the large components. Returns their number; *alone: the component that comes before them, -1: none. */
static int list_tasks(const MixedCall *call, int *alone) {
  NsMixed *s = call->s;
  int tasks = 0, large = 0, sharing = 0;
  *alone = -1;
  for (int c = 0; c < s->parts.count; c++) {
    int size = ns_components_size(&s->parts, c);
    s->chain[c] = large_chain(call, c, &large);
    bool shares = s->chain[c] == LARGE_CHAINS - 1;
    if (!shares && size >= ALONE && 2 * size > call->p->ngroups) *alone = c;
    else if (s->chain[c] >= 0 && !(shares && sharing++ > 0)) s->task[tasks++] = c;
  }
  for (int c = 0; c < s->parts.count; c++)
    if (s->chain[c] < 0) s->task[tasks++] = c;
  return tasks;
}

static NsSolverTotal solve_side_by_side(MixedCall *call) {
  NsMixed *s = call->s;
  NsSolverTotal total = ns_solver_total("none");
  int alone, members = ns_pool_threads();
  if (reserve_members(s, members) != NS_OK) return solve_in_turn(call);
  int tasks = list_tasks(call, &alone);
  if (alone >= 0) solve_for(call, alone, &s->rooms[0]);
  (void)ns_pool_run(members, tasks, part_task, call);
  for (int c = 0; c < s->parts.count; c++) ns_solver_add(&total, &s->infos[c]);
  return total;
}

/* Whether all contacts stay open without forces. */
static bool separates(const NsMixedProblem *p) {
  for (int g = 0, row = 0; g < p->ngroups; row += p->groups[g++].dim)
    if (p->q[row] < 0) return false;
  return true;
}

/* Whether a direct attempt comes first: the chain for contacts of one cone, from zero, without a limit of its work. */
static bool may_be_direct(const NsMixed *s, const NsMixedKinds *kinds, const double *guess) {
  return s->options.contacts && !s->options.method && s->options.max_iterations == 0 && kinds->uniform && !guess;
}

/* Whether the first column joins all groups, without a search for components. */
static bool joined_by_first(const NsMixedProblem *p) {
  int g = 0;
  for (int row = 0; p->W && g < p->ngroups; row += p->groups[g++].dim) {
    bool any = false;
    for (int i = 0; i < p->groups[g].dim; i++) any |= p->W[row + i] != 0;
    if (!any) return false;
  }
  return g == p->ngroups;
}

/*
** Whether the problem is one contact with tangents, which needs no components and no balance: its answer has the same bits in all units,
** unless numbers are extreme.
*/
static bool is_alone(const NsMixed *s, const NsMixedProblem *p) {
  return !s->options.contacts && p->ngroups == 1 && p->W && p->groups->cone && p->groups->cone->discs == 1;
}

NsStatus ns_mixed_solve(NsMixed *s, const NsMixedProblem *p, const double *guess, double *z, double *w, NsSolverInfo *info) {
  NsMixedKinds kinds;
  *info = (NsSolverInfo){.residual = INFINITY, .relative = INFINITY, .backward = INFINITY, .solver = "none"};
  NsStatus status = ns_mixed_look(p, &kinds);
  if (status) return refuse_data(p, status, z, w, info);
  if (kinds.contacts == 0) return run_chain(s, &s->room.small, p, &kinds, guess, z, w, info);
  bool alone = is_alone(s, p), direct = may_be_direct(s, &kinds, guess), tried = false;
  bool ordinary = (direct || alone) && ns_mixed_direct_ordinary(p);
  if (!ordinary && !finite_data(p)) return refuse_data(p, NS_ENAN, z, w, info);
  if (direct && separates(p)) {
    for (int i = 0; i < p->n; i++) z[i] = 0, w[i] = p->q[i];
    *info = (NsSolverInfo){.status = NS_OK, .warm = true, .solver = "guess"};
    return NS_OK;
  }
  if (direct && ordinary && p->n <= NS_MIXED_DIRECT && joined_by_first(p)) {
    if (ns_mixed_direct(p, NULL, NULL, p->ngroups, z, w, info)) return NS_OK;
    tried = true;
  }
  if (alone && ordinary && run_chain(s, &s->room.small, p, &kinds, guess, z, w, info) == NS_OK) {
    info->residual = ns_friction_error(p->groups->cone, p->groups->mu, *ns_mixed_chain_steps(s->room.small), z, w);
    return NS_OK;
  }
  if (reserve_groups(s, p->n)) return refuse_data(p, NS_ENOMEM, z, w, info);
  find_groups(s, p);
  direct = direct && (p->n <= NS_MIXED_DIRECT || s->parts.count > 1);
  MixedCall call = {s, p, guess, z, w, direct, ordinary, tried};
  bool shared = s->parts.count > 1 && p->n >= SHARED && ns_pool_threads() > 1;
  *info = (shared ? solve_side_by_side(&call) : solve_in_turn(&call)).info;
  return info->status;
}

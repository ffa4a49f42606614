/*
** friction_solver.c
** A friction problem by its connected components, each in balanced units.
*/
#include "solvers/contact/friction_solver.h"

#include <float.h>
#include <math.h>

#include "base/memory.h"
#include "solvers/components.h"
#include "solvers/contact/friction_residual.h"
#include "solvers/contact/friction_scale.h"
#include "solvers/residual.h"

typedef struct FrictionPiece {
  NsFrictionScaled scaled;
  NsFrictionChain *chain;
} FrictionPiece;

struct NsFrictionSolver {
  NsArena arena;
  int dim, nc, pieces;
  NsFrictionOptions options;
  NsComponents parts;
  FrictionPiece *piece;
  double *guess, *r, *u, *rho; /* of a component */
};

static void find_islands(NsComponents *parts, const NsBlock *W) {
  ns_components_begin(parts, W->nb);
  for (int i = 0; i < W->nb; i++)
    for (int b = W->rowptr[i]; b < W->rowptr[i + 1]; b++)
      if (W->col[b] != i) ns_components_join(parts, i, W->col[b]);
  ns_components_finish(parts);
}

static NsStatus make_islands(NsFrictionSolver *s, const NsFriction *p, NsFrictionMethod method) {
  NsArena room = {0};
  int *place = ns_arena_ints(&room, s->nc);
  NsStatus status = room.failed ? NS_ENOMEM : NS_OK;
  for (int k = 0; k < s->nc && !status; k++) place[s->parts.member[k]] = k - s->parts.start[s->parts.of[s->parts.member[k]]];
  for (; s->pieces < s->parts.count && !status; s->pieces++) {
    FrictionPiece *piece = &s->piece[s->pieces];
    ns_friction_scaled_take(&piece->scaled, &s->arena, p, ns_components_size(&s->parts, s->pieces),
                            s->parts.member + s->parts.start[s->pieces], place);
    if (s->arena.failed) status = NS_ENOMEM;
    piece->scaled.problem = (NsFriction){p->dim, piece->scaled.W.nb, piece->scaled.mu, &piece->scaled.W, piece->scaled.q};
    if (!status) status = ns_friction_chain_new(&piece->chain, &piece->scaled.problem, method);
  }
  ns_arena_release(&room);
  return status;
}

NsStatus ns_friction_new(NsFrictionSolver **out, const NsFriction *p, NsFrictionMethod method) {
  *out = NULL;
  NsFrictionSolver *s = ns_alloc(1, sizeof *s);
  if (!s) return NS_ENOMEM;
  ptrdiff_t n = (ptrdiff_t)p->dim * p->nc;
  s->dim = p->dim;
  s->nc = p->nc;
  s->options.tolerance = 1e-8;
  double **arrays[] = {&s->guess, &s->r, &s->u, &s->rho};
  for (int k = 0; k < 4; k++) *arrays[k] = ns_arena_doubles(&s->arena, n);
  ns_components_take(&s->parts, &s->arena, s->nc);
  NsStatus status = s->arena.failed ? NS_ENOMEM : NS_OK;
  if (!status) {
    find_islands(&s->parts, p->W);
    s->piece = ns_arena_take(&s->arena, (size_t)s->parts.count, sizeof *s->piece);
    status = s->arena.failed ? NS_ENOMEM : make_islands(s, p, method);
  }
  if (status) ns_friction_free(s);
  else *out = s;
  return status;
}

void ns_friction_free(NsFrictionSolver *s) {
  if (!s) return;
  for (int k = 0; s->piece && k < s->parts.count; k++) ns_friction_chain_free(s->piece[k].chain);
  ns_arena_release(&s->arena);
  ns_free(s);
}

NsFrictionOptions *ns_friction_options(NsFrictionSolver *s) {
  return &s->options;
}

/* Whether the forces of a component are numbers, and still good where they lost digits below the range of numbers. */
static bool representable(NsFrictionSolver *s, const FrictionPiece *piece, const double *r) {
  const NsFrictionScaled *scaled = &piece->scaled;
  NsSolverInfo info = {0};
  bool lost = false;
  for (int i = 0; i < scaled->W.nb; i++)
    for (int k = 0; k < s->dim; k++) {
      double x = fabs(r[scaled->contact[i] * s->dim + k]);
      if (!(x <= DBL_MAX)) return false;
      lost |= x < DBL_MIN && s->r[i * s->dim + k] != 0;
    }
  if (!lost) return true;
  ns_friction_gather_force(scaled, r, s->r);
  ns_friction_steps(&scaled->problem, s->rho);
  return ns_friction_measure(&scaled->problem, s->rho, s->r, s->u, &info) <= s->options.tolerance;
}

static NsSolverInfo solve_island(NsFrictionSolver *s, FrictionPiece *piece, const NsFriction *p, const double *guess, double *r,
                                 double *u) {
  NsSolverInfo info;
  ns_friction_scale_values(&piece->scaled, p);
  if (guess) ns_friction_gather_force(&piece->scaled, guess, s->guess);
  *ns_friction_chain_options(piece->chain) = s->options;
  ns_friction_chain_solve(piece->chain, &piece->scaled.problem, guess ? s->guess : NULL, s->r, s->u, &info);
  ns_friction_scatter(&piece->scaled, s->r, s->u, r, u);
  if (info.status == NS_OK && !representable(s, piece, r)) info.status = NS_ENOCONV;
  return info;
}

NsStatus ns_friction_solve(NsFrictionSolver *s, const NsFriction *p, const double *guess, double *r, double *u,
                           NsSolverInfo *info) {
  if (p->dim != s->dim || p->nc != s->nc) return NS_ESIZE;
  NsSolverTotal total = ns_solver_total("none");
  for (int k = 0; k < s->pieces; k++) {
    NsSolverInfo own = solve_island(s, &s->piece[k], p, guess, r, u);
    ns_solver_add(&total, &own);
  }
  *info = total.info;
  info->residual = ns_friction_residual(p, r, u);
  info->relative = info->residual / ns_friction_scale(p, r);
  return info->status;
}

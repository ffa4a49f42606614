/*
** josephy.c
** Directions to the solution of the linearised problem: dense by the chain of box problems, sparse by pivoting paths.
*/

#include <string.h>

#include "solvers/box/box_solver.h"
#include "solvers/box/sparse_path.h"
#include "solvers/chain.h"
#include "solvers/mcp/mcp_search.h"

/*
** Paths for sparse problems: from the iterate; from the bounds; from the lower and from the upper bounds with infinite ones
** made finite, so that the path can not end on a ray. PATH_PIVOTS + PATH_PIVOTS_EACH n: limit of pivots; successful paths take
** about as many pivots as there are bounded variables.
*/
static const struct PathKind {
  double compact;
  bool upper;
} path_kinds[] = {{0, false}, {0, false}, {10, false}, {10, true}};
enum { PATHS = sizeof path_kinds / sizeof *path_kinds, PATH_PIVOTS = 200, PATH_PIVOTS_EACH = 3 };

/* BOX_PIVOTS + BOX_PIVOTS_EACH n: limit of pivots of a dense box problem; less than the default of the chain, 1000 + 20 n. */
enum { BOX_PIVOTS = 200, BOX_PIVOTS_EACH = 10 };
static const double path_inside =
    1e-3; /* initial distance from its bounds of a variable that the iterate does not hold at one */

typedef struct Josephy {
  NsBox *box;         /* NULL: sparse, and not needed yet */
  NsSparsePath *path; /* NULL: dense, or not needed yet */
  int path_of;        /* jac.analyses when the path was made */
  double *M;          /* matrix of the perturbed box problem, dense */
  double *box_w;
  double *q, *shift; /* q of the box problem; the addition to its diagonal */
  bool by_dense_box; /* use the dense box solver, also for a sparse J */
} Josephy;

static NsStatus josephy_take_dense(Josephy *m, NsMcpSearch *s) {
  NsStatus status = m->box ? NS_OK : ns_box_new(&m->box, s->n);
  if (status) return status;
  if (!m->M) m->M = ns_arena_matrix(&s->arena, s->n, s->n);
  if (s->arena.failed) return NS_ENOMEM;
  ns_box_options(m->box)->max_iterations = BOX_PIVOTS + BOX_PIVOTS_EACH * s->n;
  return NS_OK;
}

static NsStatus josephy_reserve(void **work, NsSearch *search) {
  NsMcpSearch *s = (NsMcpSearch *)search;
  Josephy *m = *work = ns_arena_take(&s->arena, 1, sizeof *m);
  if (!m) return NS_ENOMEM;
  NS_ARENA_VECTORS(&s->arena, s->n, &m->box_w, &m->q, &m->shift);
  return s->sparse ? NS_OK : josephy_take_dense(m, s);
}

static void josephy_release(void *work) {
  Josephy *m = work;
  if (!m) return;
  ns_box_free(m->box);
  ns_sparse_path_free(m->path);
}

/* Computes q of the box problem linearised at the iterate, and the addition mu / rho to its diagonal. */
static void linearise_box(const NsMcpSearch *s, double mu, double *q, double *shift) {
  ns_mcp_jacobian_rows(&s->jac, s->z, q, NULL, NULL);
  for (int i = 0; i < s->n; i++) {
    shift[i] = mu / s->rho[i];
    q[i] = s->F[i] - q[i] - shift[i] * s->z[i];
  }
}

static NsStatus solve_dense_box(Josephy *m, NsMcpSearch *s) {
  int n = s->n;
  NsSolverInfo info;
  if (s->sparse) ns_sparse_to_dense(s->jac.J, m->M, n);
  else memcpy(m->M, s->jac.dense, (size_t)n * (size_t)n * sizeof *m->M);
  for (int i = 0; i < n; i++) m->M[i + (size_t)i * (size_t)n] += m->shift[i];
  NsBoxProblem p = {n, m->M, n, m->q, s->lower, s->upper, 0};
  NsStatus status = ns_box_solve(m->box, &p, s->z, s->direction, m->box_w, &info);
  s->info->pivots += info.iterations;
  return status;
}

/* Makes the path solver for the pattern of M. */
static NsStatus renew_path(Josephy *m, const NsMcpSearch *s, const NsSparse *M) {
  if (m->path_of == s->jac.analyses) return NS_OK;
  ns_sparse_path_free(m->path);
  m->path_of = s->jac.analyses;
  return ns_sparse_path_new(&m->path, M);
}

static NsStatus solve_sparse_box(Josephy *m, NsMcpSearch *s) {
  const NsSparse *M = ns_mcp_jacobian_shifted(&s->jac, m->shift);
  NsStatus status = renew_path(m, s, M);
  if (!m->path) return status;
  for (int k = 0; k < PATHS; k++) {
    int pivots = 0;
    NsPathStart start = {k == 0 ? s->z : NULL,
                         s->F,
                         s->rho,
                         path_inside,
                         path_kinds[k].upper,
                         path_kinds[k].compact,
                         PATH_PIVOTS + PATH_PIVOTS_EACH * s->n};
    status = ns_sparse_path_solve(m->path, M, m->q, s->lower, s->upper, &start, s->direction, &pivots);
    s->info->pivots += pivots;
    if (status == NS_OK || status == NS_ENOMEM || status == NS_EINTR) break;
    if (ns_search_late(&s->search)) return NS_EMAXITER;
  }
  for (int i = 0; i < s->n && status == NS_OK; i++) s->direction[i] = ns_mcp_clamp(s, i, s->direction[i]);
  return status;
}

/* The direction to the solution of the linearised box problem with mu / rho added to the diagonal. */
static NsStatus josephy_step(Josephy *m, NsMcpSearch *s, double mu) {
  linearise_box(s, mu, m->q, m->shift);
  NsStatus status = s->sparse && !m->by_dense_box ? solve_sparse_box(m, s) : solve_dense_box(m, s);
  if (status) return status;
  for (int i = 0; i < s->n; i++) s->direction[i] -= s->z[i];
  return NS_OK;
}

static NsStatus josephy_direction(NsMcpSearch *s, void *work, int k) {
  static const double mu[] = {0, 0, 1e-2, 1};
  return k == 1 ? ns_mcp_fischer_direction(s, 0) : josephy_step(work, s, mu[k]);
}

static NsOutcome josephy_run(void *work, NsSearch *search, int mode) {
  NsMcpSearch *s = (NsMcpSearch *)search;
  Josephy *m = work;
  NsOutcome out = {NS_OK, false, 0, ns_mcp_josephy.name};
  m->by_dense_box = mode == NS_MCP_DENSE;
  if (m->by_dense_box) out.status = josephy_take_dense(m, s);
  if (!out.status) out.status = ns_mcp_attempt(s, mode, josephy_direction, m);
  return out;
}

/*
** Each direction leads to the solution of the box problem with F linearised at the iterate. The box solver starts at the
** iterate, so an unchanged active set takes no pivot. If this fails or the line search rejects the direction: the direction of
** the Fischer-Burmeister map, then box problems with J + mu I. The mode says where the attempt starts (mcp_search.h).
** Converges quadratically near a strongly regular solution. Josephy, Newton's method for generalized equations, MRC report
** 1965, 1979; Ferris, Kanzow and Munson, Feasible descent algorithms for mixed complementarity problems, Math. Prog. 86, 1999.
*/
const NsMethod ns_mcp_josephy = {.name = "josephy-newton",
                                 .takes = NS_TAKES_DENSE | NS_TAKES_SPARSE,
                                 .reserve = josephy_reserve,
                                 .release = josephy_release,
                                 .run = josephy_run};

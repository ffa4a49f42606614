/*
** layout.c
** Layout, W and its factors, the matrix of the one-step problem, iterates and their residuals.
*/
#include "integrators/layout.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

/* ---- layout ---- */

static void *layout_member(void *array, size_t bytes, int i) {
  return (char *)array + (size_t)i * bytes;
}

/* Links the systems of each block, in the order of the graph. */
static void chain_nodes(NsLayout *s, const int *number) {
  for (int b = 0; b < s->nblocks; b++) s->blocks[b]->first = -1;
  for (int i = s->nnodes - 1; i >= 0; i--) {
    NsNode *node = s->nodes[i];
    node->ds = s->nsds->ds[i];
    node->number = number ? number[i] : i;
    node->block = s->blocks[node->number];
    node->next = node->block->first;
    node->block->first = i;
  }
}

static void lay_out_nodes(NsLayout *s, NsArena *arena, bool bare) {
  for (int b = 0; b < s->nblocks; b++) {
    NsBlock *block = s->blocks[b];
    block->offset = s->N;
    for (int i = block->first; i >= 0; i = s->nodes[i]->next) {
      NsNode *node = s->nodes[i];
      node->x = s->Nx;
      node->v = s->N;
      s->Nx += node->nx = node->ds->nx;
      s->N += node->n = node->ds->nr;
    }
    block->n = s->N - block->offset;
    if (bare) continue;
    block->W = ns_arena_matrix(arena, block->n, block->n);
    if (ns_lu_new(&block->lu, block->n) != NS_OK) arena->failed = true;
  }
}

static void layout_touch(NsEdge *edge, NsArena *arena, NsBlock *block) {
  for (int i = 0; i < edge->ntouched; i++)
    if (edge->touched[i] == block) return;
  edge->X[edge->ntouched] = ns_arena_matrix(arena, block->n, edge->m);
  edge->touched[edge->ntouched++] = block;
}

static void lay_out_edge(NsLayout *s, NsArena *arena, NsEdge *edge, NsInteraction *inter) {
  edge->inter = inter;
  edge->m = edge->rows = inter->m;
  edge->row = edge->active = s->M;
  edge->weight = edge->weight_out = edge->weight_in = 1;
  edge->nparts = inter->nds;
  s->M += inter->m;
  if (inter->nds > 1) edge->x = ns_arena_doubles(arena, inter->nx);
  for (int p = 0, at = 0; p < inter->nds; at += inter->ds[p++]->nx) {
    edge->parts[p] = (NsPart){.node = inter->ds[p]->node, .at = at};
    layout_touch(edge, arena, s->nodes[inter->ds[p]->node]->block);
  }
}

void ns_layout_make(NsLayout *s, NsArena *arena, NsNsds *nsds, const NsLayoutRoom *room, const int *number, int nblocks) {
  s->nsds = nsds;
  s->nodes = ns_arena_take(arena, (size_t)nsds->nds, sizeof *s->nodes);
  s->edges = ns_arena_take(arena, (size_t)nsds->ninteractions, sizeof *s->edges);
  s->blocks = ns_arena_take(arena, (size_t)nblocks, sizeof *s->blocks);
  const NsEdges *edges = ns_edges_of(arena, nsds, number, nblocks);
  if (arena->failed) return;
  s->nnodes = nsds->nds;
  s->nedges = nsds->ninteractions;
  s->nblocks = nblocks;
  for (int i = 0; i < s->nnodes; i++) s->nodes[i] = layout_member(room->nodes, room->of_node, i);
  for (int e = 0; e < s->nedges; e++) s->edges[e] = layout_member(room->edges, room->of_edge, e);
  for (int b = 0; b < nblocks; b++) s->blocks[b] = layout_member(room->blocks, room->of_block, b);
  for (int b = 0; b < nblocks; b++) s->blocks[b]->edges = edges[b];
  chain_nodes(s, number);
  lay_out_nodes(s, arena, room->bare);
  for (int e = 0; e < s->nedges; e++) lay_out_edge(s, arena, s->edges[e], nsds->interactions[e]);
}

void ns_layout_free(NsLayout *s) {
  for (int b = 0; b < s->nblocks; b++) ns_lu_free(s->blocks[b]->lu);
}

const double *ns_layout_gather_parts(const NsLayout *s, const NsEdge *edge, const double *stacked) {
  for (int p = 0; p < edge->nparts; p++) {
    const NsNode *node = s->nodes[edge->parts[p].node];
    memcpy(edge->x + edge->parts[p].at, stacked + node->x, (size_t)node->nx * sizeof *stacked);
  }
  return edge->x;
}

/* One row of H times v. */
static double layout_row(const NsLayout *s, const NsEdge *edge, bool linearised, const double *v) {
  double sum = 0;
  for (int p = 0; p < edge->nparts; p++) {
    const NsNode *node = s->nodes[edge->parts[p].node];
    const double *H = linearised ? edge->parts[p].L : edge->parts[p].H, *vn = v + node->v;
    for (int j = 0; j < node->n; j++) sum += H[j] * vn[j];
  }
  return sum;
}

void ns_layout_times(const NsLayout *s, const NsEdge *edge, bool linearised, const double *v, double *out) {
  int m = edge->m;
  if (m == 1) {
    *out = layout_row(s, edge, linearised, v);
    return;
  }
  memset(out, 0, (size_t)m * sizeof *out);
  for (int p = 0; p < edge->nparts; p++) {
    const NsNode *node = s->nodes[edge->parts[p].node];
    const double *H = linearised ? edge->parts[p].L : edge->parts[p].H, *vn = v + node->v;
    for (int j = 0; j < node->n; j++, H += m)
      for (int i = 0; i < m; i++) out[i] += H[i] * vn[j];
  }
}

const NsPart *ns_layout_part(const NsEdge *edge, int node) {
  int p = 0;
  while (edge->parts[p].node != node) p++;
  return &edge->parts[p];
}

NsStatus ns_layout_update(const NsLayout *s, double t, NsError *err) {
  NsStatus status = NS_OK;
  for (int i = 0; i < s->nnodes && status == NS_OK; i++) status = ns_ds_update(s->nodes[i]->ds, t, err);
  return status;
}

/* ---- W ---- */

/* The system of a block that an unknown belongs to. */
static int system_of(const NsLayout *s, const NsBlock *block, int unknown) {
  int found = block->first;
  for (int i = block->first; i >= 0; i = s->nodes[i]->next)
    if (s->nodes[i]->v <= block->offset + unknown) found = i;
  return found;
}

NsStatus ns_layout_factor(NsLayout *s, NsScheme *scheme, NsBlock *block, const double *W, const char *what, double h,
                          NsError *err) {
  scheme->factorizations++;
  NsStatus status = ns_lu_factor_fair(block->lu, W, block->n);
  block->factored = status == NS_OK;
  block->fresh = true;
  if (status == NS_OK) return NS_OK;
  int row = ns_lu_singular_row(block->lu);
  const NsNode *node = s->nodes[system_of(s, block, row)];
  if (status == NS_ENAN) return ns_fail(err, status, "dynamical system '%s': W = %s is not finite", ns_ds_name(node->ds), what);
  return ns_fail(err, status, "dynamical system '%s': W = %s is singular (row %d, h=%g)", ns_ds_name(node->ds), what,
                 row + block->offset - node->v + 1, h);
}

void ns_layout_solve(const NsLayout *s, double *x) {
  for (int b = 0; b < s->nblocks; b++) ns_lu_solve(s->blocks[b]->lu, 1, x + s->blocks[b]->offset, s->blocks[b]->n);
}

void ns_layout_solve_part(const NsLayout *s, NsEdge *edge, int p) {
  const NsNode *node = s->nodes[edge->parts[p].node];
  const double *G = edge->parts[p].G;
  int n = node->n;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < edge->m; i++) edge->X[p][j + (size_t)i * (size_t)n] = G[i + (size_t)j * (size_t)edge->m];
  for (int i = 0; i < edge->m; i++)
    ns_boundary_hold(((const NsMechanicalDs *)node->ds)->boundary, edge->X[p] + (size_t)i * (size_t)n);
  ns_lu_solve(node->block->lu, edge->m, edge->X[p], n);
}

/* ---- the one-step problem ---- */

static bool is_shut(const NsEdge *edge, const bool *shut, int i) {
  return !edge->unilateral || !shut || shut[edge->row + i];
}

static bool takes_part(const NsEdge *edge, const bool *shut) {
  int rows = edge->inter->law->class->joint ? 1 : edge->m;
  bool any = false;
  for (int i = 0; i < rows && !any; i++) any = is_shut(edge, shut, i);
  return any;
}

static double coefficient_at(const void *law, double speed, double *slope) {
  NsLawFriction at = ns_law_friction_at(law, speed, NULL);
  *slope = at.slope;
  return at.mu;
}

NsMixedGroup ns_layout_contact(const NsLaw *law, const NsLawGroup *group, double unit) {
  NsMixedGroup contact = ns_mixed_contact(ns_cone_find(group->dim, group->discs), group->mu);
  if (ns_law_slides(law)) contact.slip = (NsMixedSlip){.mu = coefficient_at, .law = law, .unit = unit};
  return contact;
}

bool ns_layout_take_part(NsLayout *s, const bool *shut, NsStepProblem *p, NsMixedGroup *groups, int *interaction,
                         double *guess) {
  bool changed = false;
  p->n = p->ngroups = 0;
  for (int e = 0; e < s->nedges; e++) {
    NsEdge *edge = s->edges[e];
    bool joint = edge->inter->law->class->joint;
    int before = edge->active;
    edge->active = takes_part(edge, shut) ? p->n : -1;
    edge->rows = edge->m;
    changed = changed || edge->active != before;
    for (int i = 0; edge->active >= 0 && i < edge->m;) {
      NsLawGroup group = ns_interaction_group(edge->inter, i, !joint && !is_shut(edge, shut, i), s->part);
      NsMixedGroup *to = &groups[p->ngroups++];
      *to = group.discs ? ns_layout_contact(edge->inter->law, &group, 1) : ns_mixed_row(group.lower, group.upper);
      if (group.reactions > 0)
        to->reaction = (NsMixedReaction){.mu = group.mu[0], .own = group.upper, .first = edge->active, .rows = group.reactions};
      for (int k = i; k < i + group.dim; k++, p->n++) interaction[p->n] = e, guess[p->n] = edge->inter->lambda_k[k];
      i += group.dim;
    }
  }
  return changed;
}

/* The walk over the interactions that take part and share a system with another one, in their order. */
typedef struct Walk {
  const NsLayout *s;
  /* the systems of that one, in their order; where the walk stands among the interactions of each */
  int nodes, node[NS_INTERACTION_SYSTEMS], at[NS_INTERACTION_SYSTEMS];
} Walk;

static Walk walk_from(const NsLayout *s, const NsEdge *edge) {
  Walk w = {.s = s, .nodes = edge->nparts};
  for (int p = 0, k; p < w.nodes; w.node[k] = edge->parts[p++].node)
    for (k = p; k > 0 && w.node[k - 1] > edge->parts[p].node; k--) w.node[k] = w.node[k - 1];
  return w;
}

/* The next one, NULL at the end; shared: which of the systems it has. */
static const NsEdge *walk_on(Walk *w, bool *shared) {
  for (;;) {
    int e = INT_MAX;
    const NsEdges *edges[NS_INTERACTION_SYSTEMS];
    for (int k = 0; k < w->nodes; k++) {
      edges[k] = &w->s->nodes[w->node[k]]->block->edges;
      if (w->at[k] < edges[k]->count && edges[k]->of[w->at[k]] < e) e = edges[k]->of[w->at[k]];
    }
    if (e == INT_MAX) return NULL;
    for (int k = 0; k < w->nodes; k++) {
      shared[k] = w->at[k] < edges[k]->count && edges[k]->of[w->at[k]] == e;
      if (shared[k]) w->at[k]++;
    }
    if (w->s->edges[e]->active >= 0) return w->s->edges[e];
  }
}

/* Writes L_a X_b over one system, for the rows that take part, or adds it to what is there; columns are `stride` apart. */
static void layout_couple(const NsEdge *a, const NsEdge *b, int node, int n, bool adds, double *to, ptrdiff_t stride) {
  const double *L = ns_layout_part(a, node)->L, *X = b->X[ns_layout_part(b, node) - b->parts]; /* a block is one system */
  double weight = a->weight_out * b->weight_in;
  for (int j = 0; j < b->rows; j++, X += n, to += stride)
    for (int i = 0; i < a->rows; i++) {
      double sum = 0;
      for (int k = 0; k < n; k++) sum += L[i + (size_t)k * (size_t)a->m] * X[k];
      to[i] = (adds ? to[i] : 0) + weight * sum;
    }
}

/* Writes the rows of `a` in the columns of b, which begin at `to`. */
static void write_block(const Walk *w, const NsEdge *a, const NsEdge *b, const bool *shared, double *to, ptrdiff_t stride) {
  bool adds = false;
  for (int k = 0; k < w->nodes; k++) {
    if (!shared[k]) continue;
    layout_couple(a, b, w->node[k], w->s->nodes[w->node[k]]->n, adds, to, stride);
    adds = true;
  }
  for (int j = 0; a == b && b->D && j < b->m; j++)
    for (int i = 0; i < b->m; i++) to[i + j * stride] += b->D[i + (size_t)j * (size_t)b->m];
}

static void form_dense(const NsLayout *s, double *dense, int n) {
  bool shared[NS_INTERACTION_SYSTEMS];
  memset(dense, 0, (size_t)n * (size_t)n * sizeof *dense);
  for (int e = 0; e < s->nedges; e++) {
    const NsEdge *b = s->edges[e], *a;
    if (b->active < 0) continue;
    for (Walk w = walk_from(s, b); (a = walk_on(&w, shared));)
      write_block(&w, a, b, shared, dense + a->active + (ptrdiff_t)b->active * n, n);
  }
}

/* The columns of an interaction; they begin at the entry `from`. */
static void form_columns(const NsLayout *s, const NsEdge *b, NsSparse *A, int from) {
  const NsEdge *a;
  bool shared[NS_INTERACTION_SYSTEMS];
  for (int j = 0; j < b->rows; j++) A->colptr[b->active + j + 1] = from + (j + 1) * b->height;
  for (Walk w = walk_from(s, b); (a = walk_on(&w, shared)); from += a->rows) {
    write_block(&w, a, b, shared, A->value + from, b->height);
    for (int j = 0; j < b->rows; j++)
      for (int i = 0; i < a->rows; i++) A->row[from + j * b->height + i] = a->active + i;
  }
}

static NsStatus form_sparse(const NsLayout *s, NsSparse **sparse, int n) {
  ptrdiff_t count = 0;
  for (int e = 0; e < s->nedges; e++) {
    NsEdge *b = s->edges[e];
    bool shared[NS_INTERACTION_SYSTEMS];
    if (b->active < 0) continue;
    b->height = 0;
    const NsEdge *a;
    for (Walk w = walk_from(s, b); (a = walk_on(&w, shared));) b->height += a->rows;
    count += (ptrdiff_t)b->height * b->rows;
  }
  NsStatus status = ns_sparse_renew(sparse, n, n, count);
  for (int e = 0; status == NS_OK && e < s->nedges; e++)
    if (s->edges[e]->active >= 0) form_columns(s, s->edges[e], *sparse, (*sparse)->colptr[s->edges[e]->active]);
  return status == NS_OK && !ns_sparse_finite(*sparse) ? NS_ENAN : status;
}

NsStatus ns_layout_form_matrix(const NsLayout *s, double *dense, NsSparse **sparse, NsStepProblem *p, const char *what,
                               NsError *err) {
  bool small = p->n <= NS_MIXED_DENSE_ROWS;
  p->W = small ? dense : NULL;
  p->sparse = NULL;
  if (small) return form_dense(s, dense, p->n), NS_OK;
  NsStatus status = form_sparse(s, sparse, p->n);
  p->sparse = *sparse;
  return status == NS_OK ? NS_OK : ns_fail(err, status, "%s: %s", what, ns_status_message(status));
}

void ns_layout_problem_terms(const NsStepProblem *p, double *terms) {
  for (int i = 0; i < p->n; i++) terms[i] = fabs(p->q[i]);
  if (p->W) ns_step_add_sizes(1, p->n, p->n, p->W, p->n, p->guess, terms);
  for (int j = 0; p->sparse && j < p->n; j++)
    for (int k = p->sparse->colptr[j]; k < p->sparse->colptr[j + 1]; k++)
      terms[p->sparse->row[k]] += fabs(p->sparse->value[k] * p->guess[j]);
}

/* ---- an iterate ---- */

double ns_layout_flushed(double x) {
  return fabs(x) < DBL_MIN ? 0 : x;
}

void ns_layout_advance(const NsLayout *s, const double *solution, double fraction, const double *free_step,
                       const NsIterate *from, const NsIterate *to, double *guess, double *dx) {
  memcpy(dx, free_step, (size_t)s->N * sizeof *dx);
  for (int e = 0; e < s->nedges; e++) {
    const NsEdge *edge = s->edges[e];
    const double *le = solution + edge->active;
    if (edge->active < 0) continue;
    for (int t = 0; t < edge->ntouched; t++) {
      int n = edge->touched[t]->n, o = edge->touched[t]->offset;
      for (int j = 0; j < edge->m; j++) {
        double f = edge->weight * le[j];
        const double *X = edge->X[t] + (size_t)j * (size_t)n;
        for (int i = 0; f != 0 && i < n; i++) dx[o + i] += f * X[i];
      }
    }
    for (int i = 0; i < edge->m; i++) {
      double start = from->lambda[edge->row + i], way = fraction * (le[i] - start);
      to->lambda[edge->row + i] = guess[edge->active + i] = ns_layout_flushed(fraction == 1 ? le[i] : start + way);
    }
  }
  for (int i = 0; i < s->N; i++) to->x[i] = ns_layout_flushed(from->x[i] + fraction * dx[i]);
}

NsStatus ns_layout_finite(const NsLayout *s, const char *letter, const double *x, NsError *err) {
  double nothing = 0; /* NaN when a number is not finite */
  for (int i = 0; i < s->N; i++) nothing += x[i] * 0;
  if (nothing == 0) return NS_OK;
  for (int d = 0; d < s->nnodes; d++)
    for (int i = 0; i < s->nodes[d]->n; i++)
      if (!isfinite(x[s->nodes[d]->v + i]))
        return ns_fail(err, NS_ENAN, "dynamical system '%s': %s[%d] became %g", ns_ds_name(s->nodes[d]->ds), letter, i + 1,
                       x[s->nodes[d]->v + i]);
  return NS_OK;
}

/* ---- the test of an iterate ---- */

void ns_layout_add_moved(const NsLayout *s, const double *lambda, double *moved) {
  for (int e = 0; e < s->nedges; e++) {
    const NsEdge *edge = s->edges[e];
    for (int t = 0; edge->active >= 0 && t < edge->ntouched; t++) {
      int n = edge->touched[t]->n;
      ns_step_add_sizes(edge->weight, n, edge->m, edge->X[t], n, lambda + edge->row, moved + edge->touched[t]->offset);
    }
  }
}

void ns_layout_add_impulses(const NsLayout *s, const double *lambda, double *terms) {
  for (int e = 0; e < s->nedges; e++) {
    const NsEdge *edge = s->edges[e];
    const double *le = lambda + edge->row;
    for (int p = 0; edge->active >= 0 && p < edge->nparts; p++) {
      const NsNode *node = s->nodes[edge->parts[p].node];
      const double *G = edge->parts[p].G;
      for (int j = 0; j < node->n; j++, G += edge->m)
        for (int i = 0; i < edge->m; i++) terms[node->v + j] += edge->weight * fabs(G[i] * le[i]);
    }
  }
}

void ns_layout_state_residual(const NsLayout *s, const NsLayoutTerms *t, double atol, NsStepResidual *residual) {
  for (int b = 0; b < s->nblocks; b++) {
    const NsBlock *block = s->blocks[b];
    int o = block->offset, worst = 0;
    NsStepBlock at = {block->n, block->lu, t->rho + o, t->terms + o, t->noise + o, t->scale + o, t->delta + o, t->work + o};
    double value = ns_step_unknowns(&at, atol, &worst);
    ns_step_add_state(residual, value, system_of(s, block, worst));
  }
}

void ns_layout_row_residual(const NsLayout *s, const NsLayoutTerms *t, NsStepResidual *residual) {
  for (int d = 0; d < s->nnodes; d++) {
    int n = s->nodes[d]->n, o = s->nodes[d]->v;
    for (int i = o; i < o + n; i++) {
      residual->rho = fmax(residual->rho, fabs(t->rho[i]));
      ns_step_add_equation(residual, ns_step_row(t->rho[i], t->terms[i], t->noise[i], t->terms[i] + t->noise[i], n), d);
    }
  }
}

/* ---- acceptance ---- */

void ns_layout_write(const NsLayout *s, const double *y, const double *u, const double *lambda) {
  for (int e = 0; e < s->nedges; e++) {
    const NsEdge *edge = s->edges[e];
    size_t bytes = (size_t)edge->m * sizeof *y;
    memcpy(edge->inter->y, y + edge->row, bytes);
    if (u) memcpy(edge->inter->ydot, u + edge->row, bytes);
    memcpy(edge->inter->lambda, lambda + edge->row, bytes);
  }
}

void ns_layout_read_rows(const NsLayout *s, const bool *shut, const double *lambda, double *to, bool *open) {
  for (int e = 0; e < s->nedges; e++) {
    const NsEdge *edge = s->edges[e];
    bool joint = edge->inter->law->class->joint;
    for (int i = edge->row; i < edge->row + edge->m; i++) {
      open[i] = edge->unilateral && !shut[joint ? edge->row : i];
      to[i] = open[i] ? 0 : lambda[i];
    }
  }
}

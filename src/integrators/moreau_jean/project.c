/*
** project.c
** The projection of the coordinates on the constraints: see NsSchemeSettle.
** Combined: q = q_k (+) h (theta v + (1 - theta) v_k) (+) W^-1 H' nu, with the multipliers nu of the constraints;
** 0 <= y _|_ nu >= 0 for contacts. The shift W^-1 H' nu stays when v is computed again. The violation is |y|; for contacts it
** is |min(y, change of y by nu)|.
*/
#include <float.h>
#include <math.h>
#include <string.h>

#include "integrators/moreau_jean/moreau_jean.h"

/* The number of rows that the coordinates must satisfy: all rows of an equation, the normal row of a contact. */
static int constrained_rows(const NsMjEdge *edge) {
  return edge->at_position ? 0 : ns_law_constrained(edge->base.inter->law);
}

/* The change of y in row i per unit of its multiplier. */
static double compliance(const NsMoreauJean *mj, const NsMjEdge *edge, int i) {
  double sum = 0;
  for (int p = 0; p < edge->base.nparts; p++) {
    int n = mj->nodes[edge->base.parts[p].node].ds->nv;
    for (int k = 0; k < n; k++)
      sum += edge->base.parts[p].H[i + (size_t)k * (size_t)edge->base.m] * edge->base.X[p][k + (size_t)i * (size_t)n];
  }
  return sum;
}

/*
** The largest term of row i of factor A x over the n coordinates or velocities of a node; never below `most`. The components of a rigid
** body's position, or turn, count as one vector each: which of them are 0 depends on the axes.
*/
static double largest_of_node(const NsMjNode *node, double factor, int n, const double *A, int lda, int i, const double *x,
                              double most) {
  if (!ns_mechanical_turns(node->ds)) return ns_step_largest(factor, n, A, lda, i, x, most);
  for (int first = 0, end = 3; first < n; first = end, end = n) {
    double entry = 0, size = 0;
    for (int j = first; j < end; j++) {
      entry = fmax(entry, fabs(A[(size_t)i + (size_t)j * (size_t)lda]));
      size = fmax(size, fabs(x[j]));
    }
    most = fmax(most, fabs(factor) * entry * size);
  }
  return most;
}

/*
** The size of row i of a constraint: its largest term of C q, or way h |H v|, or of the ways of single multipliers, which may cancel to
** rounding (the angle of a piston that only slides); not y, which may be 0 in every step.
*/
static double size_of_constraint(const NsMoreauJean *mj, const NsMjEdge *edge, int i) {
  const double *q = ns_layout_gather(&mj->layout, &edge->base, mj->q), *C = edge->C;
  double size = 0;
  for (int p = 0; p < edge->base.nparts; p++) {
    const NsMjNode *node = &mj->nodes[edge->base.parts[p].node];
    const double *speeds[] = {mj->v, mj->start.v, mj->room.free_step}, *ways = mj->settle.ways + node->base.v;
    size = largest_of_node(node, 1, node->ds->nq, C, edge->base.m, i, q, size);
    size = largest_of_node(node, 1, node->ds->nv, edge->base.parts[p].H, edge->base.m, i, ways, size);
    q += node->ds->nq, C += (size_t)node->ds->nq * (size_t)edge->base.m;
    for (int k = 0; k < 3; k++)
      size = largest_of_node(node, mj->h, node->ds->nv, edge->base.parts[p].H, edge->base.m, i, speeds[k] + node->base.v, size);
  }
  return size;
}

/* The violation y of row i of a constraint; divided by its size unless `absolute`. */
static double measured(const NsMoreauJean *mj, const NsMjEdge *edge, int i, double y, bool absolute) {
  return y == 0 || absolute ? y : y / size_of_constraint(mj, edge, i);
}

static double project_violation(const NsScheme *scheme, bool absolute, bool equations, int *where) {
  const NsMoreauJean *mj = (const NsMoreauJean *)scheme;
  double most = 0;
  for (int e = 0; e < mj->layout.nedges; e++) {
    const NsMjEdge *edge = &mj->edges[e];
    for (int i = 0; i < constrained_rows(edge) && !(equations && edge->base.unilateral); i++) {
      double y = mj->y[edge->base.row + i], nu = mj->settle.nu[edge->base.row + i];
      if (edge->base.unilateral && y > 0) y = nu > 0 ? fmin(y, nu * compliance(mj, edge, i)) : 0;
      y = fabs(measured(mj, edge, i, y, absolute));
      if (!(y > most)) continue;
      most = y;
      if (where) *where = e;
    }
  }
  return most;
}

/* Numbers the rows that take part: equations, and contacts that took part, penetrate, or have been shifted. */
static void number_positions(NsMoreauJean *mj) {
  mj->base.problem.n = mj->base.problem.ngroups = 0;
  for (int e = 0; e < mj->layout.nedges; e++) {
    NsMjEdge *edge = &mj->edges[e];
    int rows = constrained_rows(edge);
    const double *y = mj->y + edge->base.row, *nu = mj->settle.nu + edge->base.row;
    bool takes_part = edge->base.active >= 0;
    for (int i = 0; i < rows && !takes_part; i++) takes_part = y[i] < 0 || nu[i] > 0;
    edge->base.active = rows > 0 && takes_part ? mj->base.problem.n : -1;
    edge->base.rows = rows;
    for (int i = 0; edge->base.active >= 0 && i < rows; i++) {
      mj->groups[mj->base.problem.ngroups++] = ns_mixed_row(edge->base.unilateral ? 0 - nu[i] : -INFINITY, INFINITY);
      mj->room.qvec[mj->base.problem.n] = y[i];
      mj->group_edge[mj->base.problem.n++] = e;
    }
  }
}

/*
** The most that a body turns in a shift of a projection of the coordinates alone, in rad. 0.5: the linearised turn is off by an eighth of
** it. A small body that has gone far beyond a surface would rather turn round many times than go back, as its inertia is small.
*/
static const double MOST_TURN = 0.5;

/* W^-1 H' of bodies that turn reluctantly. */
static void turn_less(NsMoreauJean *mj, NsMjEdge *edge) {
  for (int p = 0; p < edge->base.nparts; p++) {
    double part = 1 / mj->settle.reluctance[edge->base.parts[p].node];
    for (int i = 0; part < 1 && i < edge->base.m; i++)
      for (int k = 3; k < 6; k++) edge->base.X[p][k + i * 6] *= part;
  }
}

/* Whether the shift turns bodies too far; these become twice as reluctant as the turn asks for. */
static bool turns_too_far(NsMoreauJean *mj) {
  bool too_far = false;
  for (int d = 0; d < mj->layout.nnodes; d++) {
    if (!ns_mechanical_turns(mj->nodes[d].ds)) continue;
    const double *turn = mj->settle.shift + mj->nodes[d].base.v + 3;
    double angle = hypot(hypot(turn[0], turn[1]), turn[2]);
    if (!(angle > MOST_TURN && angle <= DBL_MAX)) continue;
    mj->settle.reluctance[d] *= 2 * angle / MOST_TURN;
    too_far = true;
  }
  return too_far;
}

static NsStatus project_positions(NsScheme *scheme, const NsStepProblem **problem, NsError *err) {
  NsMoreauJean *mj = (NsMoreauJean *)scheme;
  if (!mj->settle.projected && !mj->settle.combined) memcpy(mj->settle.q_free, mj->q, (size_t)mj->layout.Nx * sizeof *mj->q);
  mj->settle.projected = true;
  if (mj->formed.known) { /* W is that of a linearisation, which depends on the iterates */
    NsStatus status = ns_mj_form_weights(mj, err);
    if (status != NS_OK) return status;
  }
  mj->formed.known = false; /* the projection's matrix overwrites the step's */
  number_positions(mj);
  for (int e = 0; e < mj->layout.nedges; e++) {
    ns_mj_solve_parts(mj, &mj->edges[e], true);
    turn_less(mj, &mj->edges[e]);
  }
  *problem = &mj->base.problem;
  return ns_layout_form_matrix(&mj->layout, mj->matrix, &mj->sparse, &mj->base.problem, "the projection", err);
}

/*
** Softens the contacts' rows: y >= 0 becomes y + part d nu >= 0, with d the compliance of the row. Its problem is that of the least
** squares of y / sqrt(d) beside the shift, which has one solution whatever the normals are; equations stay as they are.
*/
static void project_soften(NsScheme *scheme, double part) {
  NsMoreauJean *mj = (NsMoreauJean *)scheme;
  for (int i = 0; i < mj->base.problem.n; i++) {
    const NsMjEdge *edge = &mj->edges[mj->group_edge[i]];
    double *d = mj->base.problem.W ? mj->matrix + (size_t)i * ((size_t)mj->base.problem.n + 1) : NULL;
    for (int k = d ? 0 : mj->sparse->colptr[i]; !d && k < mj->sparse->colptr[i + 1]; k++)
      if (mj->sparse->row[k] == i) d = &mj->sparse->value[k];
    if (d && edge->base.unilateral) *d *= 1 + part;
  }
}

static void project_keep(NsScheme *scheme) {
  NsMoreauJean *mj = (NsMoreauJean *)scheme;
  memcpy(mj->settle.best.q, mj->q, (size_t)mj->layout.Nx * sizeof *mj->q);
  memcpy(mj->settle.best.shift, mj->settle.shift, (size_t)mj->layout.N * sizeof *mj->settle.shift);
  memcpy(mj->settle.best.nu, mj->settle.nu, (size_t)mj->layout.M * sizeof *mj->settle.nu);
}

static NsStatus project_go_back(NsScheme *scheme, NsError *err) {
  NsMoreauJean *mj = (NsMoreauJean *)scheme;
  memcpy(mj->q, mj->settle.best.q, (size_t)mj->layout.Nx * sizeof *mj->q);
  memcpy(mj->settle.shift, mj->settle.best.shift, (size_t)mj->layout.N * sizeof *mj->settle.shift);
  memcpy(mj->settle.nu, mj->settle.best.nu, (size_t)mj->layout.M * sizeof *mj->settle.nu);
  return ns_mj_evaluate_outputs(mj, true, err);
}

/* shift = W^-1 H' (multipliers of the problem; `summed`: their sums); `adds`: is added to it. Notes the ways of each. */
static void form_shift(NsMoreauJean *mj, const double *nu, bool summed, bool adds) {
  if (!adds) memset(mj->settle.shift, 0, (size_t)mj->layout.N * sizeof *mj->settle.shift);
  for (int e = 0; e < mj->layout.nedges; e++) {
    const NsMjEdge *edge = &mj->edges[e];
    const double *of = summed ? mj->settle.nu + edge->base.row : nu + edge->base.active;
    for (int p = 0; edge->base.active >= 0 && p < edge->base.nparts; p++) {
      const NsMjNode *node = &mj->nodes[edge->base.parts[p].node];
      const double *X = edge->base.X[p];
      double *ways = mj->settle.ways + node->base.v;
      for (int i = 0; i < constrained_rows(edge); i++, X += node->ds->nv) {
        double most = fmax(fabs(of[i]), mj->h * fabs(mj->lambda[edge->base.row + i]));
        for (int j = 0; j < node->ds->nv; j++) {
          mj->settle.shift[node->base.v + j] += of[i] * X[j];
          ways[j] = fmax(ways[j], most * fabs(X[j]));
        }
      }
    }
  }
}

/* Adds to the sums of multipliers; a contact's sum stays >= 0 despite rounding. */
static void add_multipliers(NsMoreauJean *mj, const double *nu) {
  for (int e = 0; e < mj->layout.nedges; e++) {
    const NsMjEdge *edge = &mj->edges[e];
    for (int i = 0; edge->base.active >= 0 && i < constrained_rows(edge); i++) {
      double sum = mj->settle.nu[edge->base.row + i] + nu[edge->base.active + i];
      mj->settle.nu[edge->base.row + i] = edge->base.unilateral && sum < 0 ? 0 : sum;
    }
  }
}

static NsStatus project_shift(NsScheme *scheme, const double *nu, bool adds, NsError *err) {
  NsMoreauJean *mj = (NsMoreauJean *)scheme;
  if (mj->settle.combined) add_multipliers(mj, nu);
  form_shift(mj, nu, mj->settle.combined && !adds, mj->settle.combined && adds);
  if (!mj->settle.combined && turns_too_far(mj)) return NS_OK; /* the next shift goes from here */
  if (mj->settle.combined) ns_mj_move_coordinates(mj);
  for (int d = 0; d < mj->layout.nnodes && !mj->settle.combined; d++) {
    const NsMjNode *node = &mj->nodes[d];
    ns_mechanical_move(node->ds, mj->q + node->base.x, mj->settle.shift + node->base.v, 1, mj->q + node->base.x);
  }
  return ns_mj_evaluate_outputs(mj, true, err);
}

/* ---- together with the velocities ---- */

static bool project_enlarge(NsScheme *scheme, double tolerance, bool absolute) {
  NsMoreauJean *mj = (NsMoreauJean *)scheme;
  bool more = false;
  for (int e = 0; e < mj->layout.nedges; e++) {
    const NsMjEdge *edge = &mj->edges[e];
    for (int i = 0; edge->base.unilateral && i < constrained_rows(edge); i++) {
      int row = edge->base.row + i;
      bool shut = mj->settle.shut[row] || measured(mj, edge, i, mj->y[row], absolute) < -tolerance || mj->settle.nu[row] > 0;
      more = more || shut != mj->settle.shut[row];
      mj->settle.shut[row] = shut;
    }
  }
  mj->again = true;
  mj->decided = false;
  return more;
}

const NsSchemeSettle ns_mj_settle = {project_violation, project_positions, project_soften, project_shift,
                                     project_keep,      project_go_back,   project_enlarge};

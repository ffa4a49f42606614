/*
** mixed_direct.c
** Few contacts of one cone: rounds of sweeps and of Newton's method on the modes, on the stack.
*/
/*
** Open contacts have r = 0, and an interval that slides has r_t = +-mu r_n; both leave the system. The others have equations for their rows: u_i = 0,
** and for a disc that slides the direction of its force. Elimination is along the diagonal, without row exchanges, which would compare rows of
** different units; a proximal term gives singular blocks a step.
** Assumptions: none. Termination: after ROUNDS rounds.
*/
#include "solvers/contact/mixed_direct.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "solvers/contact/friction_residual.h"
#include "solvers/contact/mixed_measure.h"
#include "solvers/residual.h"

/*
** SWEEPS: before the first step; they find most modes. Each of ROUNDS rounds sweeps FACTOR times as often as the one before. STEPS: of Newton's
** method in a round; the error of the worst contact must fall from step LEAST on. Of 1,800 random problems of up to 64 rows with a solution one
** round solves 88 of 100, two 93, three 96, four 98.
*/
enum { ROWS = NS_MIXED_DIRECT, CONTACTS = ROWS / 2, SWEEPS = 2, ROUNDS = 4, FACTOR = 3, LEAST = 2, STEPS = 8 };

/* alpha: the proximal term, in units of a contact's own block. exact: largest error of a contact over its terms. */
static const double alpha = 1e-6, exact = 1e-14;

/* far_out: largest energy of a force, over the largest energy of the data, of an answer. 1e4: forces 100 times the force of one contact alone. */
static const double far_out = 1e4;

/* Terms of contacts within which no square that counts leaves the range of doubles. */
static const double least_terms = 0x1p-400, most_terms = 0x1p400;

typedef struct Direct {
  const NsConeClass *cone;
  int n, nc, dim;
  const NsMixedGroup *group[CONTACTS];
  NsConeContact contact[CONTACTS];
  double block[ROWS * NS_CONE_MOST]; /* the diagonal blocks */
  double W[ROWS * ROWS], q[ROWS], r[ROWS], u[ROWS], size[ROWS], y[ROWS];
  double tie[ROWS];         /* of a row that depends on its normal: r_i = tie r_n */
  signed char place[ROWS];  /* how row i is determined: one of the places below */
  int unknown[ROWS], count; /* rows with an equation */
  double A[ROWS * ROWS], step[ROWS];
} Direct;

/* The places of a row: its force is 0; depends on the normal; its u is 0; it has the direction of its disc. */
enum { PLACE_ZERO, PLACE_TIED, PLACE_STILL, PLACE_TURNS };

/* By the exponents, whose order is the order of the numbers: no branch for each number. */
static bool ordinary(const double *x, ptrdiff_t n) {
  enum { LEAST_EXPONENT = 1023 - 200, MOST_EXPONENT = 1023 + 200 };
  uint64_t odd = 0;
  for (ptrdiff_t i = 0; i < n; i++) {
    uint64_t bits;
    memcpy(&bits, &x[i], sizeof bits);
    uint64_t exponent = bits >> 52 & 2047;
    odd |= (bits << 1 != 0) & (exponent - LEAST_EXPONENT >= MOST_EXPONENT - LEAST_EXPONENT);
  }
  return odd == 0;
}

bool ns_mixed_direct_ordinary(const NsMixedProblem *p) {
  return ordinary(p->q, p->n) &&
         (p->W ? ordinary(p->W, (ptrdiff_t)p->n * p->n) : ordinary(p->sparse->value, ns_sparse_nnz(p->sparse)));
}

/* Copies the rows of W, q; a dense problem whose rows are all asked for has them in order. */
static void direct_load(Direct *d, const NsMixedProblem *p, const int *row) {
  size_t n = (size_t)d->n;
  if (p->W && d->n == p->n && row[0] == 0) {
    memcpy(d->W, p->W, n * n * sizeof *d->W);
    memcpy(d->q, p->q, n * sizeof *d->q);
    return;
  }
  for (int j = 0; j < d->n; j++) {
    for (int i = 0; i < d->n; i++) d->W[i + j * d->n] = ns_mixed_entry(p, row[i], row[j]);
    d->q[j] = p->q[row[j]];
  }
}

/* Takes the blocks of the contacts; false: a contact has none. */
static bool direct_blocks(Direct *d) {
  int dim = d->dim, n = d->n;
  for (int c = 0; c < d->nc; c++) {
    double *block = d->block + c * dim * dim, most = 0;
    for (int j = 0; j < dim; j++)
      for (int i = 0; i < dim; i++) block[i + j * dim] = d->W[c * dim + i + (c * dim + j) * n];
    for (int i = 0; i < dim; i++) {
      double sum = 0;
      for (int j = 0; j < dim; j++) sum += fabs(block[i + j * dim]);
      most = ns_larger(most, sum);
    }
    if (most == 0) return false;
    ns_cone_contact_set(&d->contact[c], d->cone, block, d->group[c]->mu, 1 / most);
  }
  for (int i = 0; i < n; i++) d->r[i] = 0, d->u[i] = d->q[i];
  return true;
}

/* u = W r + q, and size = |W| |r| + |q|. */
static void direct_product(Direct *d) {
  NsBoxProblem p = {.n = d->n, .M = d->W, .ldm = d->n, .q = d->q};
  ns_box_product(&p, d->r, d->u, d->size);
}

/* Solves contact after contact, while the others keep their forces; u follows. False: one has no solution. */
static bool direct_sweep(Direct *d) {
  int n = d->n, dim = d->dim;
  for (int c = 0, row = 0; c < d->nc; c++, row += dim) {
    double b[NS_CONE_MOST], before[NS_CONE_MOST], *r = d->r + row;
    for (int i = 0; i < dim; i++) b[i] = d->u[row + i], before[i] = r[i];
    for (int j = 0; j < dim; j++)
      for (int i = 0; i < dim; i++) b[i] -= d->block[c * dim * dim + i + j * dim] * r[j];
    if (!d->cone->solve(&d->contact[c], b, r)) return false;
    for (int j = 0; j < dim; j++) {
      const double *column = d->W + (row + j) * n;
      double change = r[j] - before[j];
      if (change != 0)
        for (int i = 0; i < n; i++) d->u[i] += column[i] * change;
    }
  }
  return true;
}

/* The places of a closed contact whose first row is `row`. */
static void place_closed(Direct *d, double mu, int row) {
  int width = d->dim - 1;
  const double *y = d->y + row;
  double length = ns_disc_length(y + 1, width), radius = mu * y[0];
  bool sticks = length < radius || (length == radius && mu > 0);
  d->place[row] = PLACE_STILL;
  for (int i = row + 1; i <= row + width; i++) {
    d->place[i] = sticks ? PLACE_STILL : width > 1 && length > 0 ? PLACE_TURNS : PLACE_TIED;
    d->tie[i] = length > 0 && width == 1 ? copysign(mu, d->y[i]) : 0;
  }
}

/* Finds the place of each row at r, u. */
static void find_places(Direct *d) {
  for (int c = 0, row = 0; c < d->nc; c++, row += d->dim) {
    for (int i = row; i < row + d->dim; i++) d->y[i] = d->r[i] - d->contact[c].rho * d->u[i], d->place[i] = PLACE_ZERO;
    if (d->y[row] > 0) place_closed(d, d->contact[c].mu[0], row);
  }
}

/* Moves forces that are 0 or tied to their places; whether one moved. */
static bool direct_snap(Direct *d) {
  bool moved = false;
  for (int i = 0; i < d->n; i++) {
    if (d->place[i] >= PLACE_STILL) continue;
    double to = d->place[i] == PLACE_ZERO ? 0 : d->tie[i] * d->r[i - i % d->dim];
    moved |= to != d->r[i];
    d->r[i] = to;
  }
  return moved;
}

/* The largest error of a contact over its terms; INFINITY when it is above `exact` somewhere, or the forces are far out. */
static double direct_measure(const Direct *d, double *residual) {
  double worst = 0, forces = 0, data = 0;
  *residual = 0;
  for (int c = 0, row = 0; c < d->nc; c++, row += d->dim) {
    double rho = d->contact[c].rho, terms = 0;
    for (int i = row; i < row + d->dim; i++) {
      terms = ns_larger(terms, ns_larger(fabs(d->r[i]), rho * d->size[i]));
      forces = ns_larger(forces, d->r[i] / rho * d->r[i]);
      data = ns_larger(data, rho * d->q[i] * d->q[i]);
    }
    bool near = terms >= least_terms && terms <= most_terms;
    double error = (near ? ns_friction_near_error : ns_friction_error)(d->cone, d->contact[c].mu, rho, d->r + row, d->u + row);
    if (!(error <= DBL_MAX)) return INFINITY;
    if (error > worst * terms) worst = error / terms;
    *residual = ns_larger(*residual, error);
  }
  return forces <= far_out * data ? worst : INFINITY;
}

/* The equation of row i of a disc that slides and turns, over rho: the entry of unknown j, whose column of W is `column`. */
static double turning_entry(const Direct *d, int i, int j, const double *column) {
  const NsConeContact *c = &d->contact[i / d->dim];
  int row = i - i % d->dim, end = row + d->dim;
  double length = ns_disc_length(d->y + row + 1, 2), kappa = c->mu[0] * d->y[row] / length, along = d->y[i] / length;
  double sum = j == row ? -c->mu[0] * along / c->rho : 0;
  for (int l = row + 1; l < end; l++) {
    double across = kappa * ((i == l) - along * d->y[l] / length);
    sum += across * column[l];
    if (l == j) sum += ((i == l) - across * (1 - alpha)) / c->rho;
  }
  return sum;
}

/* The right-hand side of the equation of row i. */
static double direct_rest(const Direct *d, int i) {
  const NsConeContact *c = &d->contact[i / d->dim];
  int row = i - i % d->dim;
  if (d->place[i] == PLACE_STILL) return -d->u[i];
  return -(d->r[i] - c->mu[0] * d->r[row] * d->y[i] / ns_disc_length(d->y + row + 1, 2)) / c->rho;
}

/* Fills A and step for the unknowns. */
static void direct_assemble(Direct *d) {
  int n = d->n, dim = d->dim;
  d->count = 0;
  for (int i = 0; i < n; i++)
    if (d->place[i] >= PLACE_STILL) d->unknown[d->count++] = i;
  for (int b = 0; b < d->count; b++) {
    int j = d->unknown[b];
    double sum[ROWS], *to = d->A + b * d->count;
    const double *column = d->W + j * n;
    if (dim < 3 && j + 1 < n && d->place[j + 1] == PLACE_TIED) { /* a normal is never tied */
      for (int i = 0; i < n; i++) sum[i] = column[i] + d->tie[j + 1] * column[n + i];
      column = sum;
    }
    for (int a = 0; a < d->count; a++) {
      int i = d->unknown[a];
      to[a] = d->place[i] == PLACE_TURNS ? turning_entry(d, i, j, column) : column[i];
    }
    if (d->place[j] == PLACE_STILL) to[b] += alpha / d->contact[j / dim].rho;
    d->step[b] = direct_rest(d, j);
  }
}

/* Solves A step = step along the diagonal. False: a pivot is 0. */
static bool direct_eliminate(Direct *d) {
  int m = d->count;
  for (int k = 0; k < m; k++) {
    double *own = d->A + k * m;
    if (!(fabs(own[k]) > 0)) return false;
    for (int i = k + 1; i < m; i++) own[i] /= own[k], d->step[i] -= own[i] * d->step[k];
    for (int j = k + 1; j < m; j++) {
      double *to = d->A + j * m, f = to[k];
      for (int i = k + 1; f != 0 && i < m; i++) to[i] -= own[i] * f;
    }
  }
  for (int k = m - 1; k >= 0; k--) {
    const double *own = d->A + k * m;
    d->step[k] /= own[k];
    for (int i = 0; i < k; i++) d->step[i] -= own[i] * d->step[k];
  }
  return true;
}

static bool direct_step(Direct *d) {
  direct_assemble(d);
  if (!direct_eliminate(d)) return false;
  double sum = 0;
  for (int b = 0; b < d->count; b++) d->r[d->unknown[b]] += d->step[b], sum += d->step[b] * 0;
  direct_snap(d);
  return sum == 0;
}

/* Newton's steps while the worst error falls. The number of steps; -1: no answer. */
static int direct_newton(Direct *d, NsSolverInfo *info) {
  double before = INFINITY;
  for (int k = 0;; k++) {
    direct_product(d);
    find_places(d);
    if (direct_snap(d)) direct_product(d);
    info->backward = direct_measure(d, &info->residual);
    if (info->backward <= exact) return k;
    if ((k >= LEAST && !(info->backward < before)) || k == STEPS || !direct_step(d)) return -1;
    before = info->backward;
  }
}

/* Rounds of sweeps, and of Newton's steps from where they end; the next round sweeps on from there. The number of steps; -1: no answer. */
static int direct_solve(Direct *d, NsSolverInfo *info) {
  double r[ROWS], u[ROWS];
  size_t bytes = (size_t)d->n * sizeof *r;
  for (int round = 0, sweeps = d->nc > 1 ? SWEEPS : 1; round < ROUNDS; round++, sweeps *= FACTOR) {
    for (int k = 0; k < sweeps; k++)
      if (!direct_sweep(d)) return -1;
    memcpy(r, d->r, bytes), memcpy(u, d->u, bytes);
    int steps = direct_newton(d, info);
    if (steps >= 0 || d->nc == 1) return steps;
    memcpy(d->r, r, bytes), memcpy(d->u, u, bytes);
  }
  return -1;
}

/* Takes the contacts and their rows; false: others than this form solves. */
static bool direct_begin(Direct *d, const NsMixedProblem *p, const int *first, const int *group, int count, int *row) {
  d->cone = p->groups[0].cone;
  d->dim = d->cone->dim;
  d->nc = count;
  d->n = count * d->dim;
  if (d->cone->discs > 1 || d->n > ROWS) return false;
  for (int c = 0; c < count; c++) {
    d->group[c] = &p->groups[group ? group[c] : c];
    for (int i = 0; i < d->dim; i++) row[c * d->dim + i] = (group ? first[group[c]] : c * d->dim) + i;
  }
  direct_load(d, p, row);
  return direct_blocks(d);
}

bool ns_mixed_direct(const NsMixedProblem *p, const int *first, const int *group, int count, double *z, double *w,
                     NsSolverInfo *info) {
  Direct d;
  int row[ROWS];
  if (!direct_begin(&d, p, first, group, count, row)) return false;
  int steps = direct_solve(&d, info);
  if (steps < 0) return false;
  for (int i = 0; i < d.n; i++) z[row[i]] = d.r[i], w[row[i]] = d.u[i];
  *info = (NsSolverInfo){NS_OK, steps, info->residual, info->backward, info->backward, false, "direct"};
  return true;
}

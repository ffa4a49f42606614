/*
** branch.c
** A tableau of z and w, basic = T nonbasic + constant, is kept from node to node; only the ranges of the variables change.
*/
#include "solvers/box/methods.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/interrupt.h"
#include "solvers/box/dense_search.h"
#include "solvers/components.h"
#include "solvers/residual.h"

/*
** REFRESH n: pivots after which the tableau is made anew, since rounding adds up. MOST n: pivots of a node after which it is given up.
** PLACES: of a variable. POLL: pivots between two tests for a stop.
*/
enum { REFRESH = 4, MOST = 40, PLACES = 3, POLL = 64 };

/*
** work_limit: multiplications of a search, some 0.1 s; long_work: of a long one, some 0.7 s. hopeless: effort (in the units of the scaled problem)
** that stands for one that no variable can make; tiny: added to each, so that an effort of 0 does not hide the others. Both only order nodes.
*/
static const double work_limit = 2e8, long_work = 1.5e9, hopeless = 1e6, tiny = 1e-6;

/*
** outside: part of its size by which a variable is out of its range. small: least pivot, over the largest entry of its row. rounding: largest
** part of the terms of a sum that counts as 0. sure: least part of the largest term of a proof by which it holds; 1e-8: half of the digits.
*/
static const double outside = 1e-10, small = 1e-9, rounding = 1e-12, sure = 1e-8;

/* golden: multiples of it have fractions that lie evenly. slip: of a cost, for which a larger pivot is taken (Harris, Math. Prog. 5, 1973). */
static const double golden = 0.6180339887498949, slip = 1e-9;

typedef struct Branch {
  double *T;                 /* n x n */
  double *constant, *terms;  /* n; the largest of the terms that were added up to it */
  double *x, *size;          /* 2 n: the value of each variable, z_i is i and w_i is n + i; the largest of its terms */
  double *low, *high;        /* 2 n: the ranges */
  double *y, *rows;          /* n: the weights of the equations in a proof; workspace */
  double *cost;              /* n: of the nonbasic variables, see price_nonbasic */
  int *basic, *nonbasic;     /* n */
  bool *inside;              /* 2 n: the variable is basic */
  int *row;                  /* 2 n: the row of a basic variable; -1: it is not basic */
  int *chosen;               /* n: the variable of each level, */
  signed char *order, *next; /* its places in the order of the search (PLACES n), and how many were tried (n) */
  signed char *set;
  bool *is_chosen;
  NsBlocks blocks;
  const NsBoxProblem *p;
  int n, fresh; /* fresh: pivots since the tableau was made */
  double work, most_work;
  bool doubtful; /* a proof was within rounding, or a node was given up */
} Branch;

static NsStatus branch_reserve(void **work, NsSearch *search) {
  NsBoxSearch *s = (NsBoxSearch *)search;
  Branch *b = *work = ns_arena_take(s->arena, 1, sizeof *b);
  int n = s->nmax < NS_BRANCH_MOST ? s->nmax : NS_BRANCH_MOST;
  if (!b) return NS_ENOMEM;
  NS_ARENA_VECTORS(s->arena, 2 * n, &b->x, &b->size, &b->low, &b->high);
  b->T = ns_arena_matrix(s->arena, n, n);
  NS_ARENA_VECTORS(s->arena, n, &b->constant, &b->terms, &b->y, &b->rows, &b->cost);
  NS_ARENA_INTS(s->arena, n, &b->basic, &b->nonbasic, &b->chosen);
  b->row = ns_arena_ints(s->arena, 2 * (ptrdiff_t)n);
  b->inside = ns_arena_take(s->arena, 2 * (size_t)n, sizeof *b->inside);
  b->is_chosen = ns_arena_take(s->arena, (size_t)n, sizeof *b->is_chosen);
  b->order = ns_arena_take(s->arena, (size_t)n, PLACES);
  b->next = ns_arena_take(s->arena, (size_t)n, 1);
  b->set = ns_arena_take(s->arena, (size_t)n, 1);
  ns_blocks_take(&b->blocks, s->arena, n);
  return NS_OK;
}

/* ---- the tableau ---- */

static double *branch_column(const Branch *b, int c) {
  return b->T + (size_t)c * (size_t)b->n;
}

/* Exchanges the variables of row r and column c. */
static void branch_exchange(Branch *b, int r, int c) {
  int n = b->n, leaving = b->basic[r];
  double *own = branch_column(b, c), inverse = 1 / own[r], f = -b->constant[r] * inverse;
  for (int i = 0; i < n; i++) {
    b->constant[i] += f * own[i];
    if (i != r) b->terms[i] = ns_larger(b->terms[i], fabs(own[i] * inverse) * b->terms[r]);
  }
  b->constant[r] = f;
  b->terms[r] *= fabs(inverse);
  for (int j = 0; j < n; j++) {
    double *to = branch_column(b, j);
    f = -to[r] * inverse;
    if (j == c || f == 0) continue;
    for (int i = 0; i < n; i++) to[i] += f * own[i];
    to[r] = f;
  }
  for (int i = 0; i < n; i++) own[i] *= inverse;
  own[r] = inverse;
  b->inside[leaving] = false, b->inside[b->nonbasic[c]] = true;
  b->basic[r] = b->nonbasic[c], b->nonbasic[c] = leaving;
  b->fresh++;
  b->work += (double)n * n;
}

/* Computes the basic variables from the others. */
static void branch_values(Branch *b) {
  int n = b->n;
  for (int r = 0; r < n; r++) b->x[b->basic[r]] = b->constant[r], b->size[b->basic[r]] = b->terms[r];
  for (int c = 0; c < n; c++) {
    const double *column = branch_column(b, c), x = b->x[b->nonbasic[c]];
    b->size[b->nonbasic[c]] = fabs(x);
    for (int r = 0; r < n && x != 0; r++) {
      b->x[b->basic[r]] += column[r] * x;
      b->size[b->basic[r]] += fabs(column[r] * x);
    }
  }
}

/* Makes the tableau of the basis b->inside from the data. False: it is singular. */
static bool branch_make(Branch *b) {
  const NsBoxProblem *p = b->p;
  int n = b->n;
  bool whole = true;
  for (int j = 0; j < n; j++) {
    memcpy(branch_column(b, j), p->M + (size_t)j * (size_t)p->ldm, (size_t)n * sizeof *b->T);
    b->constant[j] = p->q[j], b->terms[j] = fabs(p->q[j]);
    b->basic[j] = n + j, b->nonbasic[j] = j;
    b->set[j] = b->inside[j]; /* set: z_j shall be basic */
  }
  for (int c = 0; c < n; c++) {
    int best = -1;
    double most = 0;
    for (int r = 0; r < n && b->set[c]; r++)
      if (b->basic[r] >= n && !b->inside[b->basic[r]] && fabs(branch_column(b, c)[r]) > most)
        most = fabs(branch_column(b, c)[r]), best = r;
    if (best >= 0) branch_exchange(b, best, c);
    else whole &= !b->set[c];
  }
  b->fresh = 0;
  branch_values(b);
  return whole;
}

/* How far variable v is out of its range: positive when it must grow. */
static double branch_lack(const Branch *b, int v) {
  double x = b->x[v], lack = x < b->low[v] ? b->low[v] - x : x > b->high[v] ? b->high[v] - x : 0;
  return fabs(lack) > outside * b->size[v] ? lack : 0;
}

/* Moves the nonbasic variable of column c to the value `to`. */
static void branch_move(Branch *b, int c, double to) {
  const double *column = branch_column(b, c);
  double step = to - b->x[b->nonbasic[c]];
  b->x[b->nonbasic[c]] = to;
  for (int r = 0; r < b->n && step != 0; r++) {
    b->x[b->basic[r]] += column[r] * step;
    b->size[b->basic[r]] = ns_larger(b->size[b->basic[r]], fabs(column[r] * step));
  }
  b->work += 8.0 * b->n;
}

/* The row to repair: the one furthest out; -1: none. */
static int branch_row(const Branch *b) {
  int best = -1;
  double most = 0;
  for (int r = 0; r < b->n; r++) {
    double lack = fabs(branch_lack(b, b->basic[r]));
    if (lack > most) best = r, most = lack;
  }
  return best;
}

/*
** Costs at which the point is the cheapest: positive for nonbasic variables that can only grow, negative for those that can only shrink.
** Pivots that keep these signs make the cheapest point dearer each time, so that they do not come back to a basis. Unlike fractions avoid ties.
*/
static void price_nonbasic(Branch *b) {
  for (int c = 0; c < b->n; c++) {
    int v = b->nonbasic[c];
    double price = 1 + fmod(v * golden, 1);
    bool grows = b->x[v] < b->high[v];
    bool shrinks = b->x[v] > b->low[v];
    b->cost[c] = grows && shrinks ? 0 : grows ? price : -price;
  }
}

/* The column that brings row r towards its range at the least cost, of nearly equal ones the one with the largest pivot; -1: none. */
static int branch_entering(const Branch *b, int r, double lack) {
  int best = -1;
  double most = 0, largest = 0, cheapest = INFINITY;
  for (int c = 0; c < b->n; c++) largest = ns_larger(largest, fabs(branch_column(b, c)[r]));
  for (int pass = 0; pass < 2; pass++)
    for (int c = 0; c < b->n; c++) {
      double entry = branch_column(b, c)[r], price = fabs(b->cost[c]);
      int v = b->nonbasic[c];
      if (fabs(entry) <= small * largest) continue;
      if ((entry > 0) == (lack > 0) ? b->x[v] >= b->high[v] : b->x[v] <= b->low[v]) continue;
      if (pass == 0) cheapest = ns_smaller(cheapest, (price + slip) / fabs(entry));
      else if (price <= cheapest * fabs(entry) && fabs(entry) > most) best = c, most = fabs(entry);
    }
  return best;
}

/* Brings row r to the end of its range by column c, and exchanges the two. */
static void branch_pivot(Branch *b, int r, int c, double lack) {
  double entry = branch_column(b, c)[r], rate = b->cost[c] / entry;
  for (int j = 0; j < b->n; j++)
    if (j != c) b->cost[j] -= rate * branch_column(b, j)[r];
  b->cost[c] = rate;
  branch_move(b, c, b->x[b->nonbasic[c]] + lack / entry);
  b->x[b->basic[r]] = lack > 0 ? b->low[b->basic[r]] : b->high[b->basic[r]];
  branch_exchange(b, r, c);
}

/* The range of a sum, and the size of its finite terms. */
typedef struct Sum {
  double low, high, size;
} Sum;

static void sum_add(Sum *s, double factor, double low, double high) {
  double a = factor > 0 ? factor * low : factor * high, b = factor > 0 ? factor * high : factor * low;
  s->low += a, s->high += b;
  if (fabs(a) <= DBL_MAX) s->size = ns_larger(s->size, fabs(a));
  if (fabs(b) <= DBL_MAX) s->size = ns_larger(s->size, fabs(b));
}

/*
** Whether row r proves that the ranges exclude every point. The row gives weights y of the equations w - M z = q; y'w - (M'y)'z = y'q is taken
** from the data, so that rounding in the tableau does not count.
*/
static bool branch_proves(Branch *b, int r) {
  int n = b->n;
  double most = 1, right = 0;
  Sum sum = {0, 0, 0};
  for (int i = 0; i < n; i++) b->y[i] = b->basic[r] == n + i ? -1 : 0;
  for (int c = 0; c < n; c++)
    if (b->nonbasic[c] >= n) b->y[b->nonbasic[c] - n] = branch_column(b, c)[r];
  for (int i = 0; i < n; i++) most = ns_larger(most, fabs(b->y[i]));
  for (int i = 0; i < n; i++) {
    if (fabs(b->y[i]) <= rounding * most) b->y[i] = 0;
    if (b->y[i] != 0) sum_add(&sum, b->y[i], b->low[n + i], b->high[n + i]);
    right += b->y[i] * b->p->q[i];
    sum.size = ns_larger(sum.size, fabs(b->y[i] * b->p->q[i]));
  }
  for (int j = 0; j < n; j++) {
    const double *column = b->p->M + (size_t)j * (size_t)b->p->ldm;
    double factor = 0, terms = 0;
    for (int i = 0; i < n; i++) factor -= column[i] * b->y[i], terms = ns_larger(terms, fabs(column[i] * b->y[i]));
    if (fabs(factor) > rounding * terms) sum_add(&sum, factor, b->low[j], b->high[j]);
  }
  b->work += (double)n * n;
  return sum.low - right > sure * sum.size || right - sum.high > sure * sum.size;
}

/*
** Dual simplex with bounds: NS_OK: all variables are in their ranges; NS_ENOSOL: a row proves that they can not be, on a new tableau where
** rounding hides it; NS_ENOCONV, NS_ESINGULAR: rounding hides it there, too; NS_EMAXITER, NS_EINTR: the search ends.
*/
static NsStatus branch_repair(Branch *b) {
  price_nonbasic(b);
  for (int pivots = 0;;) {
    int r = branch_row(b);
    if (r < 0) return NS_OK;
    if (b->work > b->most_work) return NS_EMAXITER;
    if (pivots > MOST * b->n) return NS_ENOCONV;
    double lack = branch_lack(b, b->basic[r]);
    int c = branch_entering(b, r, lack);
    if (c < 0 && branch_proves(b, r)) return NS_ENOSOL;
    if (c < 0 && b->fresh == 0) return b->doubtful = true, NS_ENOSOL;
    if (c >= 0) branch_pivot(b, r, c, lack);
    if (++pivots % POLL == 0 && ns_interrupted()) return NS_EINTR;
    if (c >= 0 && b->fresh <= REFRESH * b->n) continue;
    if (!branch_make(b)) return NS_ESINGULAR;
    price_nonbasic(b);
  }
}

/* ---- the tree ---- */

/* The ranges of z_i, w_i that all places have. */
static void open_ranges(Branch *b, int i) {
  double l = b->p->lower[i], u = b->p->upper[i];
  b->low[i] = l, b->high[i] = u;
  b->low[b->n + i] = l == u || u < INFINITY ? -INFINITY : 0;
  b->high[b->n + i] = l == u || l > -INFINITY ? INFINITY : 0;
}

static void close_ranges(Branch *b, int i, signed char place) {
  open_ranges(b, i);
  if (place == NS_AT_LOWER) b->high[i] = b->low[i], b->low[b->n + i] = 0, b->high[b->n + i] = INFINITY;
  else if (place == NS_AT_UPPER) b->low[i] = b->high[i], b->low[b->n + i] = -INFINITY, b->high[b->n + i] = 0;
  else b->low[b->n + i] = b->high[b->n + i] = 0;
}

/* Moves nonbasic variables into their ranges, the variables of z_i and w_i alone (i < 0: all). */
static void admit_nonbasic(Branch *b, int i) {
  for (int c = 0; c < b->n; c++) {
    int v = b->nonbasic[c];
    double to = ns_box_clamp(b->x[v], b->low[v], b->high[v]);
    if ((i < 0 || v % b->n == i) && to != b->x[v]) branch_move(b, c, to);
  }
}

/* The natural residual of variable i at the point; 0: its law holds, or it has its place. Notes the place that the point suggests. */
static double branch_violation(Branch *b, int i) {
  double l = b->p->lower[i], u = b->p->upper[i], z = ns_box_clamp(b->x[i], l, u), w = b->x[b->n + i];
  double residual = fabs(z - ns_box_clamp(z - w, l, u)), allowed = outside * (b->size[i] + b->size[b->n + i]);
  b->set[i] = z - w <= l ? NS_AT_LOWER : z - w >= u ? NS_AT_UPPER : NS_BETWEEN;
  return b->is_chosen[i] || l == u || residual <= allowed ? 0 : residual;
}

/* The least change of a nonbasic variable that moves basic variable v by `step` alone. */
static double branch_effort(const Branch *b, int v, double step) {
  double most = 0, largest = 0;
  int r = b->row[v];
  if (r < 0 || step == 0) return tiny;
  for (int c = 0; c < b->n; c++) {
    double entry = branch_column(b, c)[r], x = b->x[b->nonbasic[c]];
    largest = ns_larger(largest, fabs(entry));
    if ((entry > 0) == (step > 0) ? x < b->high[b->nonbasic[c]] : x > b->low[b->nonbasic[c]])
      most = ns_larger(most, fabs(entry));
  }
  return most <= small * largest ? hopeless : ns_smaller(fabs(step) / most, hopeless) + tiny;
}

/* The product of the efforts to bring variable i to each of its places: choosing it excludes the more points the larger it is. */
static double branch_score(const Branch *b, int i) {
  double l = b->p->lower[i], u = b->p->upper[i], z = b->x[i], w = b->x[b->n + i];
  double score = branch_effort(b, b->n + i, -w);
  bool two_sided = l > -INFINITY && u < INFINITY;
  if (l > -INFINITY) score *= ns_larger(branch_effort(b, i, l - z), two_sided && w < 0 ? branch_effort(b, b->n + i, -w) : 0);
  if (u < INFINITY) score *= ns_larger(branch_effort(b, i, u - z), two_sided && w > 0 ? branch_effort(b, b->n + i, -w) : 0);
  return score;
}

/*
** The open variable whose law is violated with the largest score, in the first block with such a one: what is chosen there settles what
** later ones get. -1: none. b->set becomes the places that the point suggests.
*/
static int branch_choose(Branch *b) {
  int best = -1;
  for (int v = 0; v < 2 * b->n; v++) b->row[v] = -1;
  for (int r = 0; r < b->n; r++) b->row[b->basic[r]] = r;
  for (int k = b->blocks.count - 1; k >= 0; k--) {
    double most = 0;
    bool found = best >= 0;
    for (int m = b->blocks.start[k]; m < b->blocks.start[k + 1]; m++) {
      int i = b->blocks.member[m];
      double score = branch_violation(b, i) == 0 || found ? 0 : branch_score(b, i);
      if (score > most) best = i, most = score;
    }
  }
  return best;
}

/* Lists the places of variable i, the one that the point suggests first, for level `level`. */
static void branch_order(Branch *b, int level, int i) {
  signed char first = b->set[i], *order = b->order + PLACES * level;
  int count = 0;
  order[count++] = first;
  for (signed char place = NS_AT_LOWER; place <= NS_AT_UPPER; place++) {
    double bound = place == NS_AT_LOWER ? b->p->lower[i] : place == NS_AT_UPPER ? b->p->upper[i] : 0;
    if (place != first && fabs(bound) <= DBL_MAX) order[count++] = place;
  }
  while (count < PLACES) order[count++] = NS_AT_UPPER + 1;
  b->chosen[level] = i, b->is_chosen[i] = true, b->next[level] = 0;
}

/* Goes to the next place of the deepest level that has one. Returns the number of levels; 0: none is left. */
static int branch_advance(Branch *b, int levels) {
  for (; levels > 0; levels--) {
    int i = b->chosen[levels - 1], k = b->next[levels - 1]++;
    if (k < PLACES && b->order[PLACES * (levels - 1) + k] <= NS_AT_UPPER) {
      close_ranges(b, i, b->order[PLACES * (levels - 1) + k]);
      admit_nonbasic(b, i);
      return levels;
    }
    open_ranges(b, i);
    b->is_chosen[i] = false;
  }
  return 0;
}

static void branch_begin(Branch *b, const NsBoxProblem *p, int mode) {
  int n = p->n;
  b->p = p, b->n = n, b->work = 0, b->doubtful = false, b->most_work = mode == NS_BRANCH_LONG ? long_work : work_limit;
  for (int i = 0; i < n; i++) {
    open_ranges(b, i);
    b->x[i] = ns_box_clamp(0, p->lower[i], p->upper[i]);
    b->inside[i] = b->is_chosen[i] = false;
    b->inside[n + i] = true;
  }
  ns_blocks_find(&b->blocks, p);
  branch_make(b);
}

/* Leaves a node on which rounding has misled the pivots: the tableau becomes the one of all w. */
static void branch_give_up(Branch *b) {
  b->doubtful = true;
  for (int v = 0; v < 2 * b->n; v++) b->inside[v] = v >= b->n;
  for (int v = 0; v < 2 * b->n; v++) b->x[v] = ns_box_clamp(0, b->low[v], b->high[v]);
  branch_make(b);
}

/* Corrects the basic variables by what the equations of the nonbasic w lack at the point; a tableau is needed that is new. */
static void branch_refine(Branch *b) {
  int n = b->n;
  ns_box_product(b->p, b->x, b->y, b->rows);
  for (int c = 0; c < n; c++) {
    int k = b->nonbasic[c] - n;
    double lack = k < 0 ? 0 : b->x[n + k] - b->y[k];
    for (int r = 0; r < n && lack != 0; r++) b->x[b->basic[r]] += branch_column(b, c)[r] * lack;
  }
}

/* Takes the places of the point, polished, as a candidate; what is 0 but for rounding becomes 0. */
static bool branch_polish(Branch *b, NsDenseSearch *s) {
  double vertex[NS_BRANCH_MOST];
  for (int i = 0; i < b->n; i++) {
    double l = b->p->lower[i], u = b->p->upper[i], x = b->x[i], near = rounding * b->size[i];
    vertex[i] = x <= l + near ? l : x >= u - near ? u : x;
  }
  return ns_dense_polish(s, vertex, b->set);
}

/* Takes the point as a candidate, as it is or refined on a new tableau, which loses digits where entries of the matrix differ much in size. */
static bool branch_leaf(Branch *b, NsDenseSearch *s) {
  if (branch_polish(b, s)) return true;
  if (b->fresh == 0 || !branch_make(b)) return false;
  branch_refine(b);
  branch_choose(b);
  return branch_polish(b, s);
}

static NsOutcome branch_run(void *work, NsSearch *search, int mode) {
  Branch *b = work;
  NsDenseSearch *s = (NsDenseSearch *)search;
  NsOutcome out = {NS_ENOCONV, false, 0, "branch"};
  int levels = 0;
  if (s->p->n > NS_BRANCH_MOST) return out.status = NS_ETOOLARGE, out;
  branch_begin(b, ns_dense_fair(s), mode);
  for (bool more = true; more; more = (levels = branch_advance(b, levels)) > 0) {
    NsStatus status = branch_repair(b);
    out.iterations++;
    if (status == NS_ENOSOL) continue;
    if (status == NS_EMAXITER || status == NS_EINTR) return out.status = status, out;
    if (status != NS_OK) {
      branch_give_up(b);
      continue;
    }
    int i = branch_choose(b);
    if (i >= 0) branch_order(b, levels++, i);
    else if (branch_leaf(b, s)) return out.status = NS_OK, out;
    else b->doubtful = true;
  }
  out.status = b->doubtful ? NS_ENOCONV : NS_ENOSOL;
  return out;
}

/*
** Depth first: a node has chosen places (at the lower bound with w >= 0, between with w = 0, at the upper bound with w <= 0) for some variables;
** for the others only the linear conditions hold that all their places share. The dual simplex method finds a point of the node, or a row that
** proves that there is none. Of the variables whose law is violated at the point, in the first block with such ones, the one is chosen next
** whose places are furthest for the pivots (the product of both: Benichou et al., Experiments in mixed-integer linear programming, Math. Program.
** 1, 1971). NS_OK: a verified answer; NS_ENOSOL: no node is left, and every proof is beyond rounding; NS_EMAXITER: the limit of work, which
** counts operations, so that the same input gives the same bits; NS_ENOCONV: no node is left, but a proof was within rounding. For up to
** NS_BRANCH_MOST variables. Lemke, The dual method of solving the linear programming problem, Naval Res. Logistics Quart. 1,
** 1954; Dantzig, Linear Programming and Extensions, 1963, for the bounds; Bard, An efficient point algorithm for a linear two-stage optimization
** problem, Oper. Res. 31, 1983, section 4.
*/
const NsMethod ns_box_branch = {.name = "branch", .takes = NS_TAKES_DENSE, .reserve = branch_reserve, .run = branch_run};

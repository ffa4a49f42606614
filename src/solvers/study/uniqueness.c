/*
** uniqueness.c
** Tests for the matrix classes that decide how many solutions there are.
*/
#include "solvers/study/uniqueness.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "linalg/eig.h"
#include "linalg/lu.h"
#include "solvers/study/bounded.h"

_Static_assert((int)NS_P0_EXACT <= (int)NS_EXACT_MINOR, "room for minors");

static const char too_large[] = "too large to look at every principal minor, and no simple test decides";

#define COPOSITIVE_MARGIN 1e-11

typedef struct Study {
  int n;
  const double *M;
  NsArena arena;
  NsBounded level[NS_P_EXACT + 1]; /* of the recursion: level[k] has order k */
  NsBounded a, b;                  /* of order n, if n <= NS_DEFINITE_EXACT */
  double *S;                       /* M + M' */
  double *room;                    /* n x n */
  NsUniqueness *out;
  unsigned minor; /* indices of a principal minor that is not positive */
} Study;

static NsBounded uniqueness_take(NsArena *arena, int n) {
  return (NsBounded){n, ns_arena_matrix(arena, n, n), ns_arena_matrix(arena, n, n)};
}

static double m(const Study *s, int i, int j) {
  return s->M[i + (size_t)j * (size_t)s->n];
}

static NsAnswer both(NsAnswer a, NsAnswer b) {
  return a == NS_NO || b == NS_NO ? NS_NO : a == NS_YES && b == NS_YES ? NS_YES : NS_UNKNOWN;
}

/* Signs of all principal minors of A (n <= NS_P0_EXACT). The indices of the first that is not positive go to s->minor. */
static void all_minors(Study *s, const double *A, NsAnswer *positive, NsAnswer *nonnegative) {
  *positive = *nonnegative = NS_YES;
  for (unsigned set = 1; set < 1u << s->n; set++) {
    int index[NS_P0_EXACT], count = 0;
    for (int i = 0; i < s->n; i++)
      if (set & 1u << i) index[count++] = i;
    NsSign sign = ns_minor_sign(s->n, A, count, index, &s->a, &s->b);
    if (sign == NS_POSITIVE) continue;
    if (sign != NS_UNSURE && *positive != NS_NO) s->minor = set;
    *positive = sign == NS_UNSURE ? both(*positive, NS_UNKNOWN) : NS_NO;
    if (sign == NS_NEGATIVE) *nonnegative = NS_NO;
    if (sign == NS_UNSURE) *nonnegative = both(*nonnegative, NS_UNKNOWN);
  }
}

/* ---- P ---- */

/*
** Whether level[k] is a P-matrix. Its first row has index `first` in the whole matrix; `rows` are the indices that
** were eliminated before, all with positive pivots.
*/
static NsAnswer is_p(Study *s, int k, unsigned first, unsigned rows) {
  NsBounded *A = &s->level[k];
  if (k == 0) return NS_YES;
  unsigned here = rows | 1u << first;
  NsSign sign = ns_bounded_sign(A, 0, 0);
  if (sign == NS_NEGATIVE || sign == NS_ZERO) return s->minor = here, NS_NO;
  NsAnswer answer = sign == NS_POSITIVE ? NS_YES : NS_UNKNOWN;
  if (k == 1) return answer;
  ns_bounded_rest(A, &s->level[k - 1]);
  answer = both(answer, is_p(s, k - 1, first + 1, rows));
  if (answer == NS_NO || sign != NS_POSITIVE) return answer;
  ns_bounded_schur(A, &s->level[k - 1]);
  return both(answer, is_p(s, k - 1, first + 1, here));
}

/* H-matrix test: finds x > 0 with (comparison matrix) x > 0 by a clear margin. With a positive diagonal it is a P-matrix. */
static NsAnswer is_h(Study *s) {
  int n = s->n;
  NsLu *lu;
  NsArena arena = {0};
  double *x = ns_arena_doubles(&arena, n);
  NsAnswer answer = NS_UNKNOWN;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) s->room[i + (size_t)j * (size_t)n] = i == j ? fabs(m(s, i, j)) : -fabs(m(s, i, j));
  if (!arena.failed && ns_lu_new(&lu, n) == NS_OK) {
    for (int i = 0; i < n; i++) x[i] = fabs(m(s, i, i));
    if (ns_lu_factor(lu, s->room, n) == NS_OK) {
      ns_lu_solve(lu, 1, x, n);
      answer = NS_YES;
    }
    ns_lu_free(lu);
    for (int i = 0; i < n && answer == NS_YES; i++) {
      double sum = fabs(m(s, i, i)) * x[i], size = sum;
      for (int j = 0; j < n; j++)
        if (j != i) sum -= fabs(m(s, i, j)) * x[j], size += fabs(m(s, i, j)) * x[j];
      if (!(x[i] > 0 && sum > 4 * n * DBL_EPSILON * size)) answer = NS_UNKNOWN;
    }
  }
  ns_arena_release(&arena);
  return answer;
}

static NsSign det_sign(Study *s) {
  if (s->n > NS_DEFINITE_EXACT) return NS_UNSURE;
  memcpy(s->a.v, s->M, (size_t)s->n * (size_t)s->n * sizeof *s->M);
  memset(s->a.e, 0, (size_t)s->n * (size_t)s->n * sizeof *s->M);
  s->a.n = s->n;
  return ns_bounded_det_sign(&s->a, &s->b);
}

static void say_minor(Study *s, unsigned rows) {
  char *to = s->out->reason;
  const char *separator = rows & (rows - 1) ? "s " : " ";
  size_t used = (size_t)snprintf(to, NS_REASON, "not a P-matrix: the principal minor of row");
  for (int i = 0; i < 32; i++) {
    if (!(rows & 1u << i)) continue;
    used += (size_t)snprintf(to + used, NS_REASON - used, "%s%d", separator, i + 1);
    separator = ", ";
  }
  snprintf(to + used, NS_REASON - used, " is not positive");
}

static void say(Study *s, const char *text) {
  snprintf(s->out->reason, NS_REASON, "%s", text);
}

static bool triangular(const Study *s) {
  bool lower = true, upper = true;
  for (int j = 0; j < s->n; j++)
    for (int i = 0; i < s->n; i++) {
      if (i < j && m(s, i, j) != 0) lower = false;
      if (i > j && m(s, i, j) != 0) upper = false;
    }
  return lower || upper;
}

static NsAnswer study_p(Study *s) {
  int n = s->n;
  for (int i = 0; i < n; i++)
    if (!(m(s, i, i) > 0)) {
      snprintf(s->out->reason, NS_REASON, "not a P-matrix: the diagonal entry %d is not positive", i + 1);
      return NS_NO;
    }
  if (s->out->positive_definite == NS_YES) return say(s, "the symmetric part is positive definite"), NS_YES;
  if (triangular(s)) return say(s, "triangular with a positive diagonal"), NS_YES;
  if (n <= NS_P_EXACT) {
    memcpy(s->level[n].v, s->M, (size_t)n * (size_t)n * sizeof *s->M);
    memset(s->level[n].e, 0, (size_t)n * (size_t)n * sizeof *s->M);
    NsAnswer answer = is_p(s, n, 0, 0), ignored;
    if (answer == NS_UNKNOWN && n <= NS_P0_EXACT) all_minors(s, s->M, &answer, &ignored);
    if (answer == NS_NO) say_minor(s, s->minor);
    if (answer == NS_YES) say(s, "every principal minor is positive");
    if (answer == NS_UNKNOWN) say(s, "a principal minor can not be told from zero");
    if (answer != NS_UNKNOWN) return answer;
  } else {
    say(s, too_large);
  }
  if (is_h(s) == NS_YES) return say(s, "an H-matrix with a positive diagonal"), NS_YES;
  NsSign sign = det_sign(s);
  if (sign == NS_POSITIVE || sign == NS_UNSURE) return NS_UNKNOWN;
  return say(s, "not a P-matrix: the determinant is not positive"), NS_NO;
}

/* ---- P0 ---- */

static NsAnswer study_p0(Study *s) {
  for (int i = 0; i < s->n; i++)
    if (m(s, i, i) < 0) return NS_NO;
  if (s->out->P == NS_YES || s->out->positive_semidefinite == NS_YES) return NS_YES;
  NsAnswer positive, answer;
  if (s->n <= NS_P0_EXACT) return all_minors(s, s->M, &positive, &answer), answer;
  return det_sign(s) == NS_NEGATIVE ? NS_NO : NS_UNKNOWN;
}

/* ---- definite ---- */

/* Elimination on S; false if a sign is not certain. */
static bool eliminate(Study *s) {
  NsUniqueness *out = s->out;
  NsBounded now = s->a, next = s->b;
  now.n = s->n;
  out->positive_definite = out->positive_semidefinite = NS_YES;
  for (; now.n > 0;) {
    NsSign sign = ns_bounded_sign(&now, 0, 0);
    if (sign == NS_UNSURE) return false;
    if (sign == NS_NEGATIVE) return out->positive_definite = out->positive_semidefinite = NS_NO, true;
    if (sign == NS_ZERO) {
      out->positive_definite = NS_NO;
      for (int i = 1; i < now.n; i++) {
        sign = ns_bounded_sign(&now, i, 0);
        if (sign == NS_UNSURE) return false;
        if (sign != NS_ZERO) return out->positive_semidefinite = NS_NO, true;
      }
      ns_bounded_rest(&now, &next);
    } else {
      ns_bounded_schur(&now, &next);
    }
    NsBounded swap = now;
    now = next;
    next = swap;
  }
  return true;
}

/* Decides by the eigenvalues of S, with an allowance for rounding. */
static NsStatus eigenvalues(Study *s) {
  NsArena arena = {0};
  double *w = ns_arena_doubles(&arena, s->n), largest = 0;
  NsStatus status = arena.failed ? NS_ENOMEM : ns_eigh(s->n, s->S, s->n, w, NULL);
  if (!status) {
    largest = fmax(fabs(w[0]), fabs(w[s->n - 1]));
    double room = 8 * s->n * DBL_EPSILON * largest;
    NsAnswer answer = w[0] > room ? NS_YES : w[0] < -room ? NS_NO : NS_UNKNOWN;
    if (s->out->positive_definite != NS_NO) s->out->positive_definite = answer;
    s->out->positive_semidefinite = answer;
  }
  ns_arena_release(&arena);
  return status == NS_ENOCONV ? NS_OK : status;
}

static NsStatus study_definite(Study *s) {
  int n = s->n;
  bool exact = n <= NS_DEFINITE_EXACT;
  double rounded = 0;
  s->out->positive_definite = s->out->positive_semidefinite = NS_UNKNOWN;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) {
      double x = m(s, i, j), y = m(s, j, i), sum = x + y, back = sum - x;
      s->S[i + (size_t)j * (size_t)n] = sum;
      if (!exact) continue;
      s->a.v[i + (size_t)j * (size_t)n] = sum;
      s->a.e[i + (size_t)j * (size_t)n] = fabs((x - (sum - back)) + (y - back));
      rounded = fmax(rounded, s->a.e[i + (size_t)j * (size_t)n]);
    }
  for (int i = 0; i < n; i++)
    if (!(m(s, i, i) > 0)) s->out->positive_definite = NS_NO;
  if (exact && eliminate(s)) return NS_OK;
  if (rounded == 0 && n <= NS_P0_EXACT) {
    all_minors(s, s->S, &s->out->positive_definite, &s->out->positive_semidefinite);
    if (s->out->positive_semidefinite != NS_UNKNOWN) return NS_OK;
  }
  if (s->out->positive_definite == NS_YES) s->out->positive_definite = NS_UNKNOWN;
  s->out->positive_semidefinite = NS_UNKNOWN;
  return eigenvalues(s);
}

/* ---- copositive ---- */

/* Solves A x = 1, A being the rows and columns `set` of S - margin; false if A is singular. x (n) is 0 elsewhere. */
static bool solve_face(const Study *s, unsigned set, double margin, double *x) {
  int index[NS_COPOSITIVE_EXACT], count = 0;
  double A[NS_COPOSITIVE_EXACT][NS_COPOSITIVE_EXACT + 1];
  for (int i = 0; i < s->n; i++) {
    x[i] = 0;
    if (set & 1u << i) index[count++] = i;
  }
  for (int i = 0; i < count; i++) {
    for (int j = 0; j < count; j++) A[i][j] = s->S[index[i] + (size_t)index[j] * (size_t)s->n] - margin;
    A[i][count] = 1;
  }
  for (int k = 0; k < count; k++) {
    int best = k;
    for (int i = k + 1; i < count; i++)
      if (fabs(A[i][k]) > fabs(A[best][k])) best = i;
    if (!(fabs(A[best][k]) > 1e-14)) return false;
    for (int j = k; j <= count; j++) {
      double swap = A[k][j];
      A[k][j] = A[best][j];
      A[best][j] = swap;
    }
    for (int i = 0; i < count; i++) {
      double factor = i == k ? 0 : A[i][k] / A[k][k];
      for (int j = k; j <= count && factor != 0; j++) A[i][j] -= factor * A[k][j];
    }
  }
  for (int k = 0; k < count; k++) x[index[k]] = A[k][count] / A[k][k];
  return true;
}

/* Finds a face of the simplex on which x' (S - COPOSITIVE_MARGIN 11') x has a negative minimum; x >= 0 with largest element 1. */
static bool find_negative(const Study *s, double *x) {
  for (unsigned set = 1; set < 1u << s->n; set++) {
    double largest = 0;
    bool negative = solve_face(s, set, COPOSITIVE_MARGIN, x);
    for (int i = 0; i < s->n && negative; i++) {
      if (set & 1u << i && !(x[i] < 0)) negative = false;
      largest = fmax(largest, -x[i]);
    }
    if (!negative) continue;
    for (int i = 0; i < s->n; i++) x[i] = rint(-x[i] / largest * 0x1p20) * 0x1p-20;
    return true;
  }
  return false;
}

/* The sign of x' S x for the scaled S. */
static NsSign form_sign(const Study *s, const double *x) {
  double sum = 0, off = 0;
  for (int j = 0; j < s->n; j++)
    for (int i = 0; i < s->n; i++) {
      double c = x[i] * x[j], a = s->S[i + (size_t)j * (size_t)s->n], p = a * c, next = sum + p, back = next - sum;
      off += fabs(fma(a, c, -p)) + fabs((sum - (next - back)) + (p - back));
      sum = next;
    }
  if (sum > off) return NS_POSITIVE;
  if (sum < -off) return NS_NEGATIVE;
  return sum == 0 && off == 0 ? NS_ZERO : NS_UNSURE;
}

/* Decides copositivity by the signs of principal minors; used if find_negative is at the limit of rounding. */
static NsAnswer copositive_by_minors(Study *s, double *x) {
  for (unsigned set = 1; set < 1u << s->n; set++) {
    int index[NS_COPOSITIVE_EXACT], count = 0;
    double low = 0, high = 0;
    for (int i = 0; i < s->n; i++)
      if (set & 1u << i) index[count++] = i;
    NsSign sign = ns_minor_sign(s->n, s->S, count, index, &s->a, &s->b);
    if (sign == NS_UNSURE) return NS_UNKNOWN;
    if (sign != NS_NEGATIVE) continue;
    if (!solve_face(s, set, 0, x)) return NS_UNKNOWN;
    for (int i = 0; i < s->n; i++) {
      low = fmin(low, x[i]);
      high = fmax(high, x[i]);
    }
    if (high > -1e-9 * low) continue;
    for (int i = 0; i < s->n; i++) x[i] = rint(fmax(-x[i], 0) / -low * 0x1p20) * 0x1p-20;
    return form_sign(s, x) == NS_NEGATIVE ? NS_NO : NS_UNKNOWN;
  }
  return NS_YES;
}

/* Entries of S that decide at once: a negative diagonal entry, a negative one beside a zero diagonal entry, no negative one. */
static bool copositive_at_sight(Study *s) {
  NsUniqueness *out = s->out;
  bool nonnegative = true, strict = true;
  for (int j = 0; j < s->n; j++) {
    double d = m(s, j, j);
    if (d <= 0) strict = false;
    for (int i = 0; i < s->n; i++) {
      double x = s->S[i + (size_t)j * (size_t)s->n];
      if (d < 0 || (d == 0 && x < 0)) return out->copositive = out->strictly_copositive = NS_NO, true;
      if (x < 0) nonnegative = false;
    }
  }
  if (!strict) out->strictly_copositive = NS_NO;
  if (nonnegative) {
    out->copositive = NS_YES;
    if (strict) out->strictly_copositive = NS_YES;
  }
  return nonnegative;
}

/* Scales S so that its diagonal is about 1 where it is not 0; exact. */
static void uniqueness_balance(Study *s) {
  int n = s->n;
  for (int i = 0; i < n; i++) {
    double d = s->S[i + (size_t)i * (size_t)n];
    int half = d > 0 ? -ilogb(d) / 2 : 0;
    for (int j = 0; j < n; j++) {
      s->S[i + (size_t)j * (size_t)n] = ldexp(s->S[i + (size_t)j * (size_t)n], half);
      s->S[j + (size_t)i * (size_t)n] = ldexp(s->S[j + (size_t)i * (size_t)n], half);
    }
  }
}

static void study_copositive(Study *s) {
  NsUniqueness *out = s->out;
  double x[NS_COPOSITIVE_EXACT];
  out->copositive = out->positive_semidefinite == NS_YES ? NS_YES : NS_UNKNOWN;
  out->strictly_copositive = out->positive_definite == NS_YES ? NS_YES : NS_UNKNOWN;
  if (out->strictly_copositive == NS_YES || copositive_at_sight(s) || s->n > NS_COPOSITIVE_EXACT) return;
  uniqueness_balance(s);
  if (!find_negative(s, x)) {
    out->copositive = NS_YES;
    if (out->strictly_copositive == NS_UNKNOWN) out->strictly_copositive = NS_YES;
    return;
  }
  NsSign sign = form_sign(s, x);
  if (sign == NS_NEGATIVE || sign == NS_ZERO) out->strictly_copositive = NS_NO;
  if (sign != NS_NEGATIVE && out->copositive == NS_UNKNOWN) out->copositive = copositive_by_minors(s, x);
  if (sign == NS_NEGATIVE || out->copositive == NS_NO) out->copositive = out->strictly_copositive = NS_NO;
}

/* ---- the law ---- */

/* Sorts into `index` the free components, then those that are neither free nor fixed; returns their numbers. */
static int sort_components(int n, const double *lower, const double *upper, int *index, int *free_ones) {
  int count = 0;
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < n; i++) {
      bool is_free = lower[i] == -INFINITY && upper[i] == INFINITY;
      if (lower[i] != upper[i] && is_free == (pass == 0)) index[count++] = i;
    }
    if (pass == 0) *free_ones = count;
  }
  return count;
}

/* Eliminates the free components into *rest. NS_YES if this was possible. */
static NsAnswer eliminate_free(Study *s, const int *index, int count, int free_ones, NsBounded *rest) {
  NsBounded now = s->a, next = s->b;
  ns_bounded_take(s->n, s->M, count, index, &now);
  for (int k = 0; k < free_ones; k++) {
    bool zero = true;
    for (int i = 0; i < free_ones - k; i++) zero = zero && ns_bounded_sign(&now, i, 0) == NS_ZERO;
    if (zero) return NS_NO;
    ns_bounded_pivot(&now, free_ones - k);
    NsSign sign = ns_bounded_sign(&now, 0, 0);
    if (sign != NS_POSITIVE && sign != NS_NEGATIVE) return NS_UNKNOWN;
    ns_bounded_schur(&now, &next);
    NsBounded swap = now;
    now = next;
    next = swap;
  }
  *rest = now;
  return NS_YES;
}

static NsAnswer study_rest(Study *s, const NsBounded *rest) {
  size_t bytes = (size_t)rest->n * (size_t)rest->n * sizeof *rest->v;
  if (rest->n == 0) return say(s, "the equations are nonsingular"), NS_YES;
  if (rest->n > NS_P_EXACT) return say(s, too_large), NS_UNKNOWN;
  memcpy(s->level[rest->n].v, rest->v, bytes);
  memcpy(s->level[rest->n].e, rest->e, bytes);
  NsAnswer answer = is_p(s, rest->n, 0, 0);
  say(s, answer == NS_YES  ? "what remains without the free and fixed components is a P-matrix"
         : answer == NS_NO ? "what remains without the free and fixed components is not a P-matrix"
                           : "a minor can not be told from zero");
  return answer;
}

static NsStatus study_law(Study *s, const double *lower, const double *upper) {
  int free_ones = 0, count = s->n, *index = ns_arena_ints(&s->arena, s->n);
  if (s->arena.failed) return NS_ENOMEM;
  if (lower) count = sort_components(s->n, lower, upper, index, &free_ones);
  if (count == 0) return say(s, "every component is fixed"), s->out->unique = NS_YES, NS_OK;
  if (s->out->positive_definite == NS_YES || (count == s->n && free_ones == 0)) {
    s->out->unique = s->out->P;
    return NS_OK;
  }
  NsBounded rest = {0, NULL, NULL};
  s->out->unique = NS_UNKNOWN;
  if (s->n > NS_DEFINITE_EXACT) return say(s, too_large), NS_OK;
  s->out->unique = eliminate_free(s, index, count, free_ones, &rest);
  if (s->out->unique == NS_NO) say(s, "the block of the free components is singular");
  else if (s->out->unique == NS_UNKNOWN) say(s, "a minor can not be told from zero");
  else s->out->unique = study_rest(s, &rest);
  return NS_OK;
}

static NsStatus uniqueness_prepare(Study *s) {
  int n = s->n, most = n < NS_P_EXACT ? n : NS_P_EXACT;
  s->S = ns_arena_matrix(&s->arena, n, n);
  s->room = ns_arena_matrix(&s->arena, n, n);
  for (int k = 0; k <= most; k++) s->level[k] = uniqueness_take(&s->arena, k);
  if (n <= NS_DEFINITE_EXACT) {
    s->a = uniqueness_take(&s->arena, n);
    s->b = uniqueness_take(&s->arena, n);
  }
  return s->arena.failed ? NS_ENOMEM : NS_OK;
}

NsStatus ns_uniqueness(int n, const double *M, const double *lower, const double *upper, NsUniqueness *out) {
  Study s = {.n = n, .M = M, .out = out};
  memset(out, 0, sizeof *out);
  for (size_t i = 0; i < (size_t)n * (size_t)n; i++)
    if (!isfinite(M[i])) return NS_ENAN;
  if (n == 0) {
    *out = (NsUniqueness){NS_YES, NS_YES, NS_YES, NS_YES, NS_YES, NS_YES, NS_YES, "there is nothing to solve"};
    return NS_OK;
  }
  NsStatus status = uniqueness_prepare(&s);
  if (!status) status = study_definite(&s);
  if (!status) {
    out->P = study_p(&s);
    out->P0 = study_p0(&s);
    study_copositive(&s);
    status = study_law(&s, lower, upper);
  }
  ns_arena_release(&s.arena);
  return status;
}

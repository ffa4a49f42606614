/*
** mode.c
** The next mode: every mode of the undecided rows is tried on its smooth motion; the possible ones are compared.
*/
#include "integrators/flow/mode.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/interrupt.h"
#include "integrators/flow/flow_workspace.h"
#include "integrators/flow/mode_leading.h"
#include "integrators/flow/mode_signs.h"

const char *const ns_ambiguity_words[] = {"error", "stay", "up", "down", "leave", NULL};

/* Modes with different motions that are kept. */
enum { MODES = 16 };

/* Motions whose rates differ by less than this part of their terms are the same. */
#define SAME_MOTION 1e-7

/* A change of lambda above this part of its size is a jump: at an event lambda is known to about 1e-9. */
#define JUMP 1e-6

/* A mode that is possible. */
typedef struct Found {
  bool certain;         /* every row has a derivative that is not 0 */
  bool doubtful;        /* not certain, and a derivative is against it for the terms at the point alone */
  bool bends;           /* not certain, and a second derivative is against it */
  bool impulse;         /* the state must jump */
  double change;        /* of lambda, over its sizes */
  int changed;          /* number of rows whose mode is another than before */
  NsRowMode *mode;      /* m */
  double *lambda, *a;   /* m, na */
  double *sdot, *terms; /* nd */
} Found;

typedef struct Search {
  NsFlow *flow;
  double t;
  const double *s;
  NsArena arena;
  const bool *open;
  NsRowMode *before;  /* m: the mode so far */
  double *lambda, *a; /* of the point before */
  NsRowMode *mode;    /* m: the mode that is tried */
  int nrows, *row;    /* rows that are varied */
  Found found[MODES];
  int count, tried;
  bool more;            /* more than MODES were found */
  double *sdot, *terms; /* nd */
  NsError last;         /* why the last mode is not possible */
} Search;

/* ---- one mode ---- */

static void search_restore(Search *z) {
  NsFlow *flow = z->flow;
  memcpy(flow->mode->lambda, z->lambda, (size_t)flow->view.m * sizeof(double));
  memcpy(flow->mode->a, z->a, (size_t)flow->eq.na * sizeof(double));
}

/* Failures that only say that a mode is not possible here. */
static bool mode_fails(NsStatus status) {
  return status == NS_ERETRY || status == NS_ESINGULAR || status == NS_ENOSOL || status == NS_ENAN || status == NS_ENOCONV;
}

static double change_of_lambda(const Search *z) {
  const NsFlow *flow = z->flow;
  double sum = 0;
  for (int i = 0; i < flow->view.m; i++) {
    double size = fmax(fabs(flow->mode->lambda[i]), fabs(z->lambda[i])), d = flow->mode->lambda[i] - z->lambda[i];
    if (size > 0) sum += d / size * (d / size);
  }
  return sum;
}

static int changed_rows(const Search *z) {
  int count = 0;
  for (int i = 0; i < z->flow->view.m; i++) count += z->mode[i] != z->before[i];
  return count;
}

/* Whether a possible mode has the motion of the evaluated one. */
static bool is_same_motion(const Search *z, const Found *found) {
  for (int i = 0; i < z->flow->eq.nd; i++)
    if (fabs(found->sdot[i] - z->sdot[i]) > SAME_MOTION * fmax(z->terms[i], found->terms[i])) return false;
  return true;
}

/* Whether a mode describes a motion better than the mode found before. */
static bool search_prefers(const Found *found, const Found *other) {
  if (other->impulse != found->impulse) return found->impulse;
  if (other->certain != found->certain) return other->certain;
  if (other->bends != found->bends) return found->bends;
  if (other->doubtful != found->doubtful) return found->doubtful;
  if (other->changed != found->changed) return other->changed < found->changed;
  return other->change < found->change;
}

/* Adds the evaluated mode to those that are possible. */
static void search_keep(Search *z, bool certain, bool bends) {
  const NsFlow *flow = z->flow;
  Found mode = {.certain = certain,
                .doubtful = !certain && flow->signs.doubtful,
                .bends = bends,
                .impulse = flow->signs.impulse,
                .change = change_of_lambda(z),
                .changed = changed_rows(z)};
  int k = 0;
  while (k < z->count && !is_same_motion(z, &z->found[k])) k++;
  z->more = z->more || k == MODES;
  if (k == MODES || (k < z->count && !search_prefers(&z->found[k], &mode))) return;
  Found *found = &z->found[k];
  if (k == z->count) {
    z->count++;
    found->mode = ns_arena_take(&z->arena, (size_t)flow->view.m, sizeof *found->mode);
    found->lambda = ns_arena_doubles(&z->arena, flow->view.m);
    found->a = ns_arena_doubles(&z->arena, flow->eq.na);
    NS_ARENA_VECTORS(&z->arena, flow->eq.nd, &found->sdot, &found->terms);
  }
  if (z->arena.failed) return;
  mode.mode = found->mode;
  mode.lambda = found->lambda;
  mode.a = found->a;
  mode.sdot = found->sdot;
  mode.terms = found->terms;
  *found = mode;
  memcpy(found->mode, z->mode, (size_t)flow->view.m * sizeof *found->mode);
  memcpy(found->lambda, flow->mode->lambda, (size_t)flow->view.m * sizeof(double));
  memcpy(found->a, flow->mode->a, (size_t)flow->eq.na * sizeof(double));
  memcpy(found->sdot, z->sdot, (size_t)flow->eq.nd * sizeof(double));
  memcpy(found->terms, z->terms, (size_t)flow->eq.nd * sizeof(double));
}

NsStatus ns_mode_judge(NsFlow *flow, double t, const double *s, const bool *open, bool *possible, NsError *err) {
  NsSignPoint at = {t, s, open};
  NsVerdict verdict = NS_VERDICT_NONE;
  NsStatus status = ns_flow_evaluate(flow, t, s, NULL, err);
  if (status == NS_OK) status = ns_signs_of_mode(flow, &at, &verdict, err);
  *possible = verdict != NS_VERDICT_AGAINST;
  return status;
}

/* Tries z->mode. */
static NsStatus search_try(Search *z, NsError *err) {
  NsFlow *flow = z->flow;
  NsSignPoint at = {z->t, z->s, z->open};
  NsVerdict verdict = NS_VERDICT_NONE;
  search_restore(z);
  z->tried++;
  ns_flow_set_mode(flow, z->mode);
  NsStatus status = ns_flow_evaluate(flow, z->t, z->s, z->sdot, &z->last);
  bool moved = false, bends = false;
  if (status == NS_OK) status = ns_flow_spread(flow, &moved, &z->last);
  if (status == NS_OK && moved) status = ns_flow_evaluate(flow, z->t, z->s, z->sdot, &z->last);
  if (status == NS_OK) {
    memcpy(z->terms, ns_flow_rate_terms(flow), (size_t)flow->eq.nd * sizeof(double));
    ns_flow_equation_terms(flow);
    status = ns_signs_of_mode(flow, &at, &verdict, &z->last);
    if (status == NS_OK && verdict == NS_VERDICT_NONE) status = ns_signs_bend(flow, &at, &bends, &z->last);
  }
  if (status != NS_OK && !mode_fails(status)) {
    if (err) *err = z->last;
    return status;
  }
  if (status == NS_OK && verdict != NS_VERDICT_AGAINST) search_keep(z, verdict == NS_VERDICT_FOR, bends);
  return NS_OK;
}

/* ---- all modes of the rows ---- */

static int choices_of(const NsFlow *flow, int row, NsRowMode *choice) {
  int count = 0;
  double lower = flow->lower[row], upper = flow->upper[row];
  if (ns_flow_is_fixed(flow, row)) return choice[0] = NS_ROW_LOWER, 1;
  if (isfinite(lower)) choice[count++] = NS_ROW_LOWER;
  if (isfinite(upper)) choice[count++] = NS_ROW_UPPER;
  choice[count++] = NS_ROW_ACTIVE;
  return count;
}

static NsStatus search_all(Search *z, NsError *err) {
  int digit[NS_MODE_OPEN] = {0};
  z->count = z->tried = 0;
  for (;;) {
    if (ns_interrupted()) return ns_fail(err, NS_EINTR, "interrupted");
    memcpy(z->mode, z->before, (size_t)z->flow->view.m * sizeof *z->mode);
    for (int k = 0; k < z->nrows; k++) {
      NsRowMode choice[3];
      choices_of(z->flow, z->row[k], choice);
      z->mode[z->row[k]] = choice[digit[k]];
    }
    NsStatus status = search_try(z, err);
    if (status == NS_OK && z->arena.failed) status = ns_fail(err, NS_ENOMEM, "not enough memory");
    if (status != NS_OK) return status;
    int k = 0;
    for (; k < z->nrows; k++) {
      NsRowMode choice[3];
      if (++digit[k] < choices_of(z->flow, z->row[k], choice)) break;
      digit[k] = 0;
    }
    if (k == z->nrows) return NS_OK;
  }
}

/* ---- messages ---- */

static size_t mode_append(char *to, size_t at, const char *text) {
  size_t length = strlen(text);
  if (at + length + 1 > NS_MODE_TEXT) return at;
  memcpy(to + at, text, length + 1);
  return at + length;
}

/* "'relay' y > 0" */
static size_t append_mode_row(const NsFlow *flow, int row, NsRowMode mode, char *to, size_t at) {
  const NsInteraction *inter = flow->eq.edges[ns_flow_interaction(flow, row)].inter;
  char text[NS_NAME_SIZE + 48];
  bool box = isfinite(flow->lower[row]) && isfinite(flow->upper[row]);
  const char *what = mode == NS_ROW_LOWER ? "y > 0" : mode == NS_ROW_UPPER ? "y < 0" : box ? "slides (y = 0)" : "y = 0";
  if (inter->m == 1) (void)snprintf(text, sizeof text, "'%s' %s", inter->name, what);
  else (void)snprintf(text, sizeof text, "'%s'[%d] %s", inter->name, ns_flow_component(flow, row) + 1, what);
  return mode_append(to, at, text);
}

/* The modes found, by the rows in which they differ. */
static void write_modes(const Search *z, char *to) {
  size_t at = 0;
  to[0] = '\0';
  for (int k = 0; k < z->count; k++) {
    bool first = true;
    if (k > 0) at = mode_append(to, at, "; ");
    for (int i = 0; i < z->nrows; i++) {
      bool differs = false;
      for (int j = 0; j < z->count; j++) differs = differs || z->found[j].mode[z->row[i]] != z->found[k].mode[z->row[i]];
      if (!differs) continue;
      if (!first) at = mode_append(to, at, " and ");
      at = append_mode_row(z->flow, z->row[i], z->found[k].mode[z->row[i]], to, at);
      first = false;
    }
  }
  if (z->more) (void)mode_append(to, at, "; and more");
}

static NsStatus fail_without_mode(const Search *z, NsError *err) {
  char rows[NS_MODE_TEXT] = "";
  size_t at = 0;
  if (z->tried == 1) return ns_fail(err, NS_ENOSOL, "no mode is possible after t=%g: %.300s", z->t, z->last.text);
  for (int i = 0; i < z->nrows; i++) {
    const NsInteraction *inter = z->flow->eq.edges[ns_flow_interaction(z->flow, z->row[i])].inter;
    char text[NS_NAME_SIZE + 32];
    if (inter->m == 1) (void)snprintf(text, sizeof text, "%s'%s'", i > 0 ? ", " : "", inter->name);
    else
      (void)snprintf(text, sizeof text, "%s'%s'[%d]", i > 0 ? ", " : "", inter->name,
                     ns_flow_component(z->flow, z->row[i]) + 1);
    at = mode_append(rows, at, text);
  }
  return ns_fail(err, NS_ENOSOL, "no mode of the interactions %s is possible after t=%g", rows, z->t);
}

/* ---- the choice ---- */

static int count_of(const Search *z, const Found *found, NsRowMode mode) {
  int count = 0;
  for (int i = 0; i < z->nrows; i++) count += found->mode[z->row[i]] == mode;
  return count;
}

/*
** Of the modes that are certain, or else not doubtful, if there are any: the one with most rows in the state that the rule asks for
** (leave: with fewest at y = 0); of several, the one with least change of lambda.
*/
static const Found *search_select(const Search *z, NsAmbiguity rule) {
  NsRowMode wanted = rule == NS_AMBIGUITY_UP ? NS_ROW_LOWER : rule == NS_AMBIGUITY_DOWN ? NS_ROW_UPPER : NS_ROW_ACTIVE;
  const Found *best = &z->found[0];
  for (const Found *other = best + 1; other < z->found + z->count; other++) {
    int more = count_of(z, other, wanted) - count_of(z, best, wanted);
    if (rule == NS_AMBIGUITY_LEAVE) more = -more;
    if (other->doubtful != best->doubtful) more = best->doubtful ? 1 : -1;
    if (other->certain != best->certain) more = other->certain ? 1 : -1;
    if (more > 0 || (more == 0 && other->change < best->change)) best = other;
  }
  return best;
}

static NsStatus search_take(Search *z, const Found *found, NsError *err) {
  NsFlow *flow = z->flow;
  ns_flow_set_mode(flow, found->mode);
  memcpy(flow->mode->lambda, found->lambda, (size_t)flow->view.m * sizeof(double));
  memcpy(flow->mode->a, found->a, (size_t)flow->eq.na * sizeof(double));
  return ns_flow_evaluate(flow, z->t, z->s, NULL, err);
}

static NsStatus search_new(Search *z, NsFlow *flow, double t, const double *s, const bool *open, NsError *err) {
  int m = flow->view.m, nd = flow->eq.nd, na = flow->eq.na;
  *z = (Search){.flow = flow, .t = t};
  z->before = ns_arena_take(&z->arena, (size_t)m, sizeof *z->before);
  z->mode = ns_arena_take(&z->arena, (size_t)m, sizeof *z->mode);
  z->row = ns_arena_ints(&z->arena, m);
  z->lambda = ns_arena_doubles(&z->arena, m);
  z->a = ns_arena_doubles(&z->arena, na);
  NS_ARENA_VECTORS(&z->arena, nd, &z->sdot, &z->terms);
  double *kept = ns_arena_doubles(&z->arena, nd);
  if (z->arena.failed) return ns_fail(err, NS_ENOMEM, "not enough memory");
  memcpy(kept, s, (size_t)nd * sizeof *s);
  memcpy(z->before, flow->mode->rows, (size_t)m * sizeof *z->before);
  memcpy(z->lambda, flow->mode->lambda, (size_t)m * sizeof(double));
  memcpy(z->a, flow->mode->a, (size_t)na * sizeof(double));
  z->s = kept;
  z->open = open;
  return NS_OK;
}

/* The rows that are varied; false when there are too many. */
static bool search_vary(Search *z, const bool *open) {
  z->nrows = 0;
  for (int i = 0; i < z->flow->view.m; i++)
    if (open[i]) z->row[z->nrows++] = i;
  return z->nrows <= NS_MODE_OPEN;
}

/* Opens also the rows that slide so far; with `coupled`, also those whose y depends on w. Whether there are any. */
static bool search_widen(const Search *z, bool coupled, bool *wide) {
  const NsFlow *flow = z->flow;
  bool more = false;
  for (int i = 0; i < flow->view.m; i++) {
    bool equation = !isfinite(flow->lower[i]) && !isfinite(flow->upper[i]), of_state = ns_row_is_of_state(flow, i);
    bool slides = z->before[i] == NS_ROW_ACTIVE && of_state && !equation;
    wide[i] = z->open[i] || slides || (coupled && !equation && (!of_state || z->before[i] == NS_ROW_ACTIVE));
    more = more || wide[i] != z->open[i];
  }
  return more;
}

/* Where the motion can go on without an impulse, the modes that need one go. */
static void search_drop_impulses(Search *z) {
  int count = 0;
  for (int k = 0; k < z->count; k++)
    if (!z->found[k].impulse) {
      Found kept = z->found[k];
      z->found[k] = z->found[count]; /* its arrays are used again */
      z->found[count++] = kept;
    }
  if (count > 0) z->count = count;
}

/* Whether some lambda jumps in a mode that was found: then rows that slide may leave in the same moment. */
static bool found_jumps(const Search *z) {
  const NsFlow *flow = z->flow;
  for (int k = 0; k < z->count; k++)
    for (int i = 0; i < flow->view.m; i++) {
      double size = fmax(fabs(z->found[k].lambda[i]), fabs(z->lambda[i]));
      if (isfinite(flow->lower[i])) size = fmax(size, fabs(flow->lower[i]));
      if (isfinite(flow->upper[i])) size = fmax(size, fabs(flow->upper[i]));
      if (fabs(z->found[k].lambda[i] - z->lambda[i]) > JUMP * size) return true;
    }
  return false;
}

/* More rows than can be tried in all modes: the problem of the leading terms decides most of them. */
static NsStatus search_many(Search *z, bool *open, NsError *err) {
  size_t m = (size_t)z->flow->view.m;
  NsRowMode *mode = ns_arena_take(&z->arena, m, sizeof *mode);
  if (!mode) return ns_fail(err, NS_ENOMEM, "not enough memory");
  memcpy(mode, z->before, m * sizeof *mode);
  search_restore(z);
  NsStatus status = ns_mode_leading(z->flow, z->t, z->s, open, mode, err);
  if (status != NS_OK) return status;
  memcpy(z->before, mode, m * sizeof *mode);
  memcpy(z->lambda, z->flow->mode->lambda, m * sizeof(double));
  memcpy(z->a, z->flow->mode->a, (size_t)z->flow->eq.na * sizeof(double));
  if (search_vary(z, open)) return search_all(z, err);
  z->nrows = 0;
  return search_all(z, err);
}

/* Tries the modes of the open rows; `open` may be changed. */
static NsStatus search_over(Search *z, bool *open, NsError *err) {
  return search_vary(z, open) ? search_all(z, err) : search_many(z, open, err);
}

/* Tries the modes of more rows; those found so far stay when none of them is possible. */
static NsStatus search_wider(Search *z, const bool *wide, bool *open, NsError *err) {
  Found found[MODES];
  int count = z->count;
  bool more = z->more;
  memcpy(found, z->found, sizeof found);
  memcpy(open, wide, (size_t)z->flow->view.m * sizeof *open);
  z->open = wide; /* these rows are judged, also those that the leading terms decide */
  NsStatus status = search_over(z, open, err);
  if (status != NS_OK || z->count > 0 || count == 0) return status;
  memcpy(z->found, found, sizeof found);
  z->count = count;
  z->more = more;
  return NS_OK;
}

/*
** Whether rows that slide may leave, too, in the moment of the event: lambda jumps in a mode that was found, or the mode of the open
** rows and of those that slide (`slide`) is not unique for all forces. Then other motions may follow where one row leaves and
** lambda of the others does not jump.
*/
static NsStatus may_leave_too(Search *z, const bool *slide, bool *may, NsError *err) {
  bool unique;
  *may = found_jumps(z);
  if (*may || !search_vary(z, slide)) return NS_OK;
  search_restore(z);
  NsStatus status = ns_mode_leading_is_unique(z->flow, z->t, z->s, slide, z->before, &unique, err);
  if (mode_fails(status)) return NS_OK;
  *may = status == NS_OK && !unique;
  return status;
}

/*
** First the open rows are tried. Where rows that slide may leave, too, they are tried with them, unless they are too many. Where
** no mode is possible, all rows at their limit and those whose y depends on lambda are tried.
*/
static NsStatus search_run(Search *z, NsError *err) {
  size_t m = (size_t)z->flow->view.m;
  bool *open = ns_arena_take(&z->arena, m, sizeof *open), *slide = ns_arena_take(&z->arena, m, sizeof *slide);
  bool *wide = ns_arena_take(&z->arena, m, sizeof *wide);
  if (z->arena.failed) return ns_fail(err, NS_ENOMEM, "not enough memory");
  memcpy(open, z->open, m * sizeof *open);
  bool more = search_widen(z, true, wide), sliding = search_widen(z, false, slide);
  NsStatus status = search_over(z, open, err);
  bool leave = false;
  if (status == NS_OK && sliding && z->count > 0) status = may_leave_too(z, slide, &leave, err);
  if (status == NS_OK && leave && search_vary(z, slide)) return search_wider(z, slide, open, err);
  if (status != NS_OK || z->count > 0 || !more) return status;
  return search_wider(z, wide, open, err);
}

NsStatus ns_mode_choose(NsFlow *flow, double t, const double *s, const bool *open, NsAmbiguity rule, NsModeChoice *choice,
                        NsError *err) {
  Search z;
  *choice = (NsModeChoice){0};
  NsStatus status = search_new(&z, flow, t, s, open, err);
  if (status == NS_OK) status = search_run(&z, err);
  if (status == NS_OK && z.count == 0) status = fail_without_mode(&z, err);
  if (status == NS_OK) {
    search_drop_impulses(&z);
    choice->count = z.count;
    if (z.count > 1) write_modes(&z, choice->text);
    if (z.count > 1 && rule == NS_AMBIGUITY_ERROR)
      status = ns_fail(err, NS_ENOSOL, "the next mode is not unique at t=%g: %s", t, choice->text);
  }
  if (status == NS_OK) status = search_take(&z, search_select(&z, rule), err);
  ns_arena_release(&z.arena);
  return status;
}

/*
** tape_source.c
** Writes a tape as C source.
*/
#include "ad/tape_source.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

/* ---- text ---- */

typedef struct Text {
  char *text;
  size_t length, room;
  bool failed;
} Text;

static void tape_source_put(Text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends at most 1000 characters, formatted as printf does. */
static void tape_source_put(Text *t, const char *format, ...) {
  enum { MOST = 1001 };
  va_list args;
  if (t->failed) return;
  if (t->room - t->length < MOST) {
    size_t room = 2 * t->room + MOST;
    char *text = ns_resize(t->text, room, 1);
    t->failed = !text;
    if (!text) return;
    t->text = text;
    t->room = room;
  }
  va_start(args, format);
  t->length += (size_t)ns_vprint(t->text + t->length, MOST, format, args);
  va_end(args);
}

/* ---- operations ---- */

typedef struct Pattern {
  const char *name, *value, *by_a, *by_b;
} Pattern;

#define ENTRY(op, operands, value, slope, bend, by_a, by_b) {#op, #value, by_a, by_b},
static const Pattern patterns[] = {NS_TAPE_OPERATIONS(ENTRY)};
#undef ENTRY

/* Declarations and functions that the operations use; the compiler runs with -fno-builtin. */
static const char *const prelude[] = {
    "double sin(double), cos(double), tan(double), asin(double), acos(double), atan2(double, double), exp(double);\n",
    "double log(double), log2(double), log10(double), sinh(double), cosh(double), tanh(double), pow(double, double);\n",
    "double hypot(double, double), fmod(double, double), nearbyint(double);\n",
    "#if defined(__GNUC__) && !defined(__TINYC__)\n#define sqrt __builtin_sqrt\n#define fabs __builtin_fabs\n"
    "#define floor __builtin_floor\n#define ceil __builtin_ceil\n#else\n"
    "double sqrt(double), fabs(double), floor(double), ceil(double);\n#endif\n",
    "static const double LN2 = 0.693147180559945309417232121458176568, LN10 = "
    "2.302585092994045684017991454684364208;\n",
    "#ifdef __linux__\nvoid sincos(double, double *, double *);\n#define sine_cosine sincos\n#else\n"
    "static void sine_cosine(double a, double *s, double *c) {\n  *s = sin(a);\n  *c = cos(a);\n}\n#endif\n",
    "static double lua_pow(double a, double b) { return b == 2 ? a * a : pow(a, b); }\n",
    "static double lua_mod(double a, double b) {\n  double m = fmod(a, b);\n"
    "  if (m > 0 ? b < 0 : m < 0 && b > 0) m += b;\n  return m;\n}\n",
    "static double whole(double a) { return a < 0 ? ceil(a) : floor(a); }\n",
    "static double tape_part(double a) { return a == whole(a) ? 0 : a - whole(a); }\n",
    "static double reciprocal(double a) { return a >= 0 ? 1 / a : 0 / (a - a); }\n",
    "static double sign(double a) { return a > 0 ? 1 : a < 0 ? -1 : 0 * a; }\n",
    "static double pow_by_base(double a, double b) {\n"
    "  return b == 2 ? 2 * a : b == 0 ? 0 : b * pow(a, b - 1);\n}\n",
    "static double pow_by_exponent(double a, double b, double v) {\n"
    "  return a == 0 && b > 0 ? 0 : v * log(a);\n}\n",
    "typedef struct Curve Curve;\nstruct Curve { double (*value)(Curve *, double), (*slope)(Curve *, double); };\n"
    "static Curve *curve(double b) { return (Curve *)(__SIZE_TYPE__)b; }\n"
    "static double tape_piece(double a, double b) { return b != b ? b : curve(b)->value(curve(b), a); }\n"
    "static double piece_slope(double a, double b) { return b != b ? b : curve(b)->slope(curve(b), a); }\n",
};

static void put_prelude(Text *t) {
  for (size_t i = 0; i < sizeof prelude / sizeof *prelude; i++) tape_source_put(t, "%s", prelude[i]);
  for (int op = 0; op < NS_TAPE_OPS; op++) {
    const Pattern *p = &patterns[op];
    tape_source_put(t, "#define %s(a, b) (%s)\n#define %s_A(a, b, v) (%s)\n#define %s_B(a, b, v) (%s)\n", p->name, p->value,
                    p->name, p->by_a, p->name, p->by_b);
  }
}

/* ---- values ---- */

static void put_constant(Text *t, int node, double c) {
  tape_source_put(t, "  const double v%d = ", node);
  if (isnan(c)) tape_source_put(t, "0.0 / 0.0;\n");
  else if (isinf(c)) tape_source_put(t, "%s1.0 / 0.0;\n", c < 0 ? "-" : "");
  else tape_source_put(t, "%a;\n", c);
}

/*
** Flags of a node: its sine is used, its cosine is used, both are already written. One call that computes both costs little
** more than one of them, and each is the slope of the other.
*/
enum { SINE = 1, COSINE = 2, BOTH = SINE | COSINE, WRITTEN = 4 };

static unsigned char turn_of(NsTapeOp op) {
  return op == NS_TAPE_SIN ? SINE : op == NS_TAPE_COS ? COSINE : 0;
}

/* Writes the call for the sine and the cosine of node a, once. */
static void put_both(Text *t, int a, unsigned char *turns) {
  if (*turns & WRITTEN) return;
  tape_source_put(t, "  double sine%d, cosine%d;\n  sine_cosine(v%d, &sine%d, &cosine%d);\n", a, a, a, a, a);
  *turns |= WRITTEN;
}

static void tape_source_put_step(Text *t, const NsTapeStep *s, int node, unsigned char *turns) {
  unsigned char turn = turn_of(s->op);
  if (turn && (turns[s->a] & BOTH) == BOTH) {
    put_both(t, s->a, &turns[s->a]);
    tape_source_put(t, "  const double v%d = %s%d;\n", node, turn == SINE ? "sine" : "cosine", s->a);
  } else {
    tape_source_put(t, "  const double v%d = %s(v%d, v%d);\n", node, patterns[s->op].name, s->a, s->b);
  }
}

/* turns (one for each node): 0, or the flags that the derivatives need. */
static void put_values(Text *t, const NsTapeView *tape, unsigned char *turns) {
  for (int i = 0; i < tape->inputs; i++) tape_source_put(t, "  const double v%d = in[%d];\n", i, i);
  for (int i = 0; i < tape->constants; i++) put_constant(t, tape->inputs + i, tape->constant[i]);
  int node = tape->inputs + tape->constants;
  for (int k = 0; k < tape->steps; k++) turns[tape->step[k].a] |= turn_of(tape->step[k].op);
  for (int k = 0; k < tape->steps; k++) tape_source_put_step(t, &tape->step[k], node + k, turns);
}

/* ---- derivatives ---- */

/* A slope that is always 0, 1 or -1; else 2. */
static int known_slope(const char *slope) {
  return strcmp(slope, "0") == 0 ? 0 : strcmp(slope, "1") == 0 ? 1 : strcmp(slope, "-1") == 0 ? -1 : 2;
}

/* A term of the derivative of a node by an input: the operand, the suffix of the slope's name, the slope as C text. */
typedef struct Partial {
  int node, operand, input, inputs;
  char side;
  const char *slope;
} Partial;

/* Writes one term of a partial derivative: slope times the operand's partial. */
static void put_term(Text *t, const Partial *p) {
  int known = known_slope(p->slope);
  bool seed = p->operand < p->inputs;
  tape_source_put(t, known == -1 ? " - " : " + ");
  if (known == 2) tape_source_put(t, "s%d%c", p->node, p->side);
  if (known == 2 && !seed) tape_source_put(t, " * ");
  if (!seed) tape_source_put(t, "d%d_%d", p->operand, p->input);
  if (known != 2 && seed) tape_source_put(t, "1");
}

/* depends[node * inputs + j]: whether the node's derivative by input j may be other than 0. */
typedef struct Sparsity {
  unsigned char *depends;
  int inputs;
} Sparsity;

static bool depends(const Sparsity *s, int node, int j) {
  return node < s->inputs ? node == j : s->depends[(size_t)node * (size_t)s->inputs + (size_t)j] != 0;
}

/* Whether an operand has a nonzero partial; only then its slope is needed. */
static bool moves(const Sparsity *s, int node) {
  for (int j = 0; j < s->inputs; j++)
    if (depends(s, node, j)) return true;
  return false;
}

/* Computes the sparsity; returns the number of partials. */
static long find_sparsity(const NsTapeView *tape, Sparsity *sparsity) {
  int node = tape->inputs + tape->constants;
  long count = 0;
  for (int k = 0; k < tape->steps; k++, node++) {
    const NsTapeStep *s = &tape->step[k];
    const Pattern *p = &patterns[s->op];
    bool by_a = known_slope(p->by_a) != 0, by_b = known_slope(p->by_b) != 0;
    unsigned char *row = sparsity->depends + (size_t)node * (size_t)tape->inputs;
    for (int j = 0; j < tape->inputs; j++) {
      row[j] = (by_a && depends(sparsity, s->a, j)) || (by_b && depends(sparsity, s->b, j));
      count += row[j];
    }
  }
  return count;
}

static void put_slopes(Text *t, const NsTapeStep *s, int node, const Sparsity *sparsity) {
  const Pattern *p = &patterns[s->op];
  if (turn_of(s->op)) {
    bool sine = s->op == NS_TAPE_SIN;
    if (moves(sparsity, s->a)) tape_source_put(t, "  const double s%da = %s%d;\n", node, sine ? "cosine" : "-sine", s->a);
    return;
  }
  if (known_slope(p->by_a) == 2 && moves(sparsity, s->a))
    tape_source_put(t, "  const double s%da = %s_A(v%d, v%d, v%d);\n", node, p->name, s->a, s->b, node);
  if (known_slope(p->by_b) == 2 && moves(sparsity, s->b))
    tape_source_put(t, "  const double s%db = %s_B(v%d, v%d, v%d);\n", node, p->name, s->a, s->b, node);
}

static void put_partials(Text *t, const NsTapeView *tape, const Sparsity *sparsity) {
  int node = tape->inputs + tape->constants;
  for (int k = 0; k < tape->steps; k++, node++) {
    const NsTapeStep *s = &tape->step[k];
    const Pattern *p = &patterns[s->op];
    put_slopes(t, s, node, sparsity);
    for (int j = 0; j < tape->inputs; j++) {
      if (!depends(sparsity, node, j)) continue;
      Partial a = {node, s->a, j, tape->inputs, 'a', p->by_a}, b = {node, s->b, j, tape->inputs, 'b', p->by_b};
      tape_source_put(t, "  const double d%d_%d =", node, j);
      if (known_slope(p->by_a) != 0 && depends(sparsity, s->a, j)) put_term(t, &a);
      if (known_slope(p->by_b) != 0 && depends(sparsity, s->b, j)) put_term(t, &b);
      tape_source_put(t, ";\n");
    }
  }
}

static void put_entries(Text *t, const NsTapeView *tape, const Sparsity *sparsity) {
  for (int j = 0; j < tape->inputs; j++)
    for (int i = 0; i < tape->outputs; i++) {
      int node = tape->output[i];
      tape_source_put(t, "  jac[%ld] = ", (long)i + (long)j * tape->outputs);
      if (!depends(sparsity, node, j)) tape_source_put(t, "0;\n");
      else if (node < tape->inputs) tape_source_put(t, "1;\n");
      else tape_source_put(t, "d%d_%d;\n", node, j);
    }
}

/* Sets the flags for the slopes: the slope of a sine needs the cosine, and vice versa. */
static void want_turns(const NsTapeView *tape, const Sparsity *sparsity, unsigned char *turns) {
  for (int k = 0; k < tape->steps; k++) {
    const NsTapeStep *s = &tape->step[k];
    if (turn_of(s->op) && moves(sparsity, s->a)) turns[s->a] = BOTH;
  }
}

/* Appends tape_jacobian; false: it is too long. turns (one for each node): all 0. */
static bool put_jacobian(Text *t, const NsTapeView *tape, unsigned char *turns) {
  size_t nodes = (size_t)(tape->inputs + tape->constants + tape->steps);
  Sparsity sparsity = {NULL, tape->inputs};
  if ((long)tape->inputs * tape->outputs > NS_TAPE_SOURCE_PARTIALS) return false;
  sparsity.depends = ns_alloc(nodes * (size_t)tape->inputs, 1);
  if (!sparsity.depends) return t->failed = true, false;
  bool good = find_sparsity(tape, &sparsity) <= NS_TAPE_SOURCE_PARTIALS;
  if (good) {
    tape_source_put(t, "void tape_jacobian(const double *in, double *jac) {\n  (void)in, (void)jac;\n");
    want_turns(tape, &sparsity, turns);
    put_values(t, tape, turns);
    put_partials(t, tape, &sparsity);
    put_entries(t, tape, &sparsity);
    tape_source_put(t, "}\n");
  }
  ns_free(sparsity.depends);
  return good;
}

NsStatus ns_tape_source(const NsTape *tape, char **source, bool *jacobian) {
  NsTapeView view = ns_tape_view(tape);
  Text text = {NULL, 0, 0, false};
  *source = NULL;
  *jacobian = false;
  if (view.steps > NS_TAPE_SOURCE_STEPS || view.inputs + view.constants > NS_TAPE_SOURCE_STEPS ||
      view.outputs > NS_TAPE_SOURCE_PARTIALS)
    return NS_ESIZE;
  size_t nodes = (size_t)(view.inputs + view.constants + view.steps);
  unsigned char *turns = ns_alloc(2 * nodes, 1);
  if (!turns) return NS_ENOMEM;
  put_prelude(&text);
  tape_source_put(&text, "void tape_value(const double *in, double *out) {\n  (void)in, (void)out;\n");
  put_values(&text, &view, turns);
  for (int i = 0; i < view.outputs; i++) tape_source_put(&text, "  out[%d] = v%d;\n", i, view.output[i]);
  for (int i = 0; i < view.guards; i++) tape_source_put(&text, "  out[%d] = v%d;\n", view.outputs + i, view.guard[i].node);
  tape_source_put(&text, "}\n");
  *jacobian = put_jacobian(&text, &view, turns + nodes);
  ns_free(turns);
  if (text.failed) {
    ns_free(text.text);
    return NS_ENOMEM;
  }
  *source = text.text;
  return NS_OK;
}

/* ---- reverse mode ---- */

/* Writes the share of an operand in the adjoint of step `node`. */
static void put_share(Text *t, int operand, int node, const char *slope, char side) {
  int known = known_slope(slope);
  tape_source_put(t, "  b%d %s b%d", operand, known == -1 ? "-=" : "+=", node);
  if (known == 2) tape_source_put(t, " * s%d%c", node, side);
  tape_source_put(t, ";\n");
}

/* The adjoints of all nodes, from the outputs back to the inputs. */
static void put_sweep(Text *t, const NsTapeView *tape, const Sparsity *sparsity) {
  int first = tape->inputs + tape->constants;
  for (int k = 0; k < tape->steps; k++) put_slopes(t, &tape->step[k], first + k, sparsity);
  for (int node = 0; node < first + tape->steps; node++)
    if (moves(sparsity, node)) tape_source_put(t, "  double b%d = 0;\n", node);
  for (int i = 0; i < tape->outputs; i++)
    if (moves(sparsity, tape->output[i])) tape_source_put(t, "  b%d += weight[%d];\n", tape->output[i], i);
  for (int k = tape->steps - 1; k >= 0; k--) {
    const NsTapeStep *s = &tape->step[k];
    const Pattern *p = &patterns[s->op];
    if (!moves(sparsity, first + k)) continue;
    if (known_slope(p->by_a) != 0 && moves(sparsity, s->a)) put_share(t, s->a, first + k, p->by_a, 'a');
    if (known_slope(p->by_b) != 0 && moves(sparsity, s->b)) put_share(t, s->b, first + k, p->by_b, 'b');
  }
  for (int i = 0; i < tape->inputs; i++) tape_source_put(t, "  bar[%d] = b%d;\n", i, i);
}

NsStatus ns_tape_vjp_source(const NsTape *tape, char **source) {
  NsTapeView view = ns_tape_view(tape);
  Text text = {NULL, 0, 0, false};
  size_t nodes = (size_t)(view.inputs + view.constants + view.steps);
  *source = NULL;
  if (view.steps > NS_TAPE_SOURCE_STEPS || view.inputs + view.constants > NS_TAPE_SOURCE_STEPS) return NS_ESIZE;
  Sparsity sparsity = {ns_alloc(nodes * (size_t)view.inputs, 1), view.inputs};
  unsigned char *turns = ns_alloc(nodes, 1);
  if (sparsity.depends && turns) {
    put_prelude(&text);
    tape_source_put(&text, "void tape_vjp(const double *in, const double *weight, double *bar) {\n  (void)in, (void)weight;\n");
    (void)find_sparsity(&view, &sparsity);
    want_turns(&view, &sparsity, turns);
    put_values(&text, &view, turns);
    put_sweep(&text, &view, &sparsity);
    tape_source_put(&text, "}\n");
  }
  bool failed = !sparsity.depends || !turns || text.failed;
  ns_free(sparsity.depends);
  ns_free(turns);
  if (failed) ns_free(text.text);
  else *source = text.text;
  return failed ? NS_ENOMEM : NS_OK;
}

/*
** tape.c
** Recording, closing and evaluating a tape.
*/
#include "ad/tape.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"

/* Number of inputs by which one forward pass differentiates: 8 doubles, a cache line. */
enum { CHUNK = 8 };

struct NsTape {
  int inputs, constants, steps, outputs, guards;
  double *constant;
  NsTapeStep *step;
  int *output;
  NsTapeGuard *guard;
  NsTapeNode *followed; /* for each node; NULL: the tape does not follow */
  int nodes, room;      /* used while recording: kind[node - inputs] says what a node is */
  int *kind;            /* k >= 0: step k; else constant -1 - k */
  int *table;           /* hash table of `slots` elements: node + 1; 0: empty */
  int slots;
  int room_steps, room_constants, room_outputs, room_guards, room_followed;
  NsArena arena; /* workspace */
  double *value, *dx, *dy, *partial;
};

/* ---- the operations ---- */

static double lua_pow(double a, double b) {
  return b == 2 ? a * a : pow(a, b);
}

static double lua_mod(double a, double b) {
  return ns_dual_mod(a, b).value;
}

static double whole(double a) {
  return a < 0 ? ceil(a) : floor(a);
}

static double tape_part(double a) {
  return a == whole(a) ? 0 : a - whole(a);
}

static double tape_piece(double x, double address) {
  return ns_piecewise_value(x, address);
}

static NsSlope ns_dual_cpow(double x, double y) {
  NsSlope slope = ns_dual_pow(x, y);
  slope.value = pow(x, y);
  return slope;
}

/* log2 has no derivative by the base, which is no operand. */
static NsSlope ns_dual_log2(double x) {
  NsSlope slope = ns_dual_logbase(x, 2);
  slope.dy = 0;
  return slope;
}

static NsSlope ns_dual_floor(double x) {
  return (NsSlope){floor(x) + 0, 0, 0};
}

static NsSlope ns_dual_ceil(double x) {
  return (NsSlope){ceil(x) + 0, 0, 0};
}

static NsSlope ns_dual_whole(double x) {
  return (NsSlope){whole(x) + 0, 0, 0};
}

static NsSlope ns_dual_part(double x) {
  return (NsSlope){tape_part(x), 1, 0};
}

static NsSlope ns_dual_max(double x, double y) {
  return x < y ? (NsSlope){y, 0, 1} : (NsSlope){x, 1, 0};
}

static NsSlope ns_dual_min(double x, double y) {
  return y < x ? (NsSlope){y, 0, 1} : (NsSlope){x, 1, 0};
}

static NsSlope ns_dual_mirror(double x, double y) {
  return (NsSlope){x != 0 ? -y : x, 0, -1};
}

#define TEST(name, op)                                                                                                         \
  static NsSlope ns_dual_##name(double x, double y) {                                                                          \
    return (NsSlope){x op y, 0, 0};                                                                                            \
  }
TEST(less, <)
TEST(at_most, <=)
TEST(equal, ==)
#undef TEST

#define SLOPES_1(slope) .unary = slope
#define SLOPES_2(slope) .binary = slope
#define ENTRY(op, operands, value, slope, bent, by_a, by_b)                                                                    \
  {.name = #op, .arity = operands, SLOPES_##operands(slope), .bend = bent},
const NsTapeOperation ns_tape_operations[] = {NS_TAPE_OPERATIONS(ENTRY)};
#undef ENTRY

static inline double operate(NsTapeOp op, double a, double b) {
  switch (op) {
#define CASE(name, operands, result, slope, bend, by_a, by_b)                                                                  \
  case NS_TAPE_##name: return result;
    NS_TAPE_OPERATIONS(CASE)
#undef CASE
    case NS_TAPE_OPS: break;
  }
  return NAN;
}

/* Whether the operation is a step function or chooses an operand; slope 0 then means that the operand does not matter. */
static bool chooses(NsTapeOp op) {
  return op == NS_TAPE_FLOOR || op == NS_TAPE_CEIL || op == NS_TAPE_WHOLE || op == NS_TAPE_IDIV || op == NS_TAPE_MAX ||
         op == NS_TAPE_MIN || op == NS_TAPE_MIRROR || op >= NS_TAPE_LESS;
}

/* ---- recording ---- */

NsStatus ns_tape_new(NsTape **out, int inputs) {
  NsTape *tape = *out = ns_alloc(1, sizeof *tape);
  if (!tape) return NS_ENOMEM;
  tape->inputs = tape->nodes = inputs;
  return NS_OK;
}

void ns_tape_free(NsTape *tape) {
  if (!tape) return;
  ns_free(tape->constant);
  ns_free(tape->step);
  ns_free(tape->output);
  ns_free(tape->guard);
  ns_free(tape->followed);
  ns_free(tape->kind);
  ns_free(tape->table);
  ns_arena_release(&tape->arena);
  ns_free(tape);
}

/* Grows an array so that one more element fits; false: out of memory. */
static bool tape_grow(void **array, int *room, int used, size_t size) {
  if (used < *room) return true;
  if (*room > INT_MAX / 4) return false;
  int more = *room ? 2 * *room : 64;
  void *block = ns_resize(*array, (size_t)more, size);
  if (!block) return false;
  *array = block;
  *room = more;
  return true;
}

static uint64_t tape_mix(uint64_t h) {
  h ^= h >> 31;
  h *= UINT64_C(0x9e3779b97f4a7c15);
  return h ^ (h >> 29);
}

static uint64_t hash_constant(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return tape_mix(bits + 1);
}

static uint64_t hash_step(const NsTapeStep *s) {
  return tape_mix(tape_mix(tape_mix((uint64_t)s->op + 2) + (uint64_t)s->a) + (uint64_t)s->b);
}

static uint64_t hash_node(const NsTape *tape, int node) {
  int kind = tape->kind[node - tape->inputs];
  return kind < 0 ? hash_constant(tape->constant[-1 - kind]) : hash_step(&tape->step[kind]);
}

static void put_in_table(NsTape *tape, int node) {
  size_t mask = (size_t)tape->slots - 1, at = hash_node(tape, node) & mask;
  while (tape->table[at]) at = (at + 1) & mask;
  tape->table[at] = node + 1;
}

/* Grows the hash table so that it stays at most half full. */
static bool grow_table(NsTape *tape) {
  int used = tape->nodes - tape->inputs;
  if (2 * (used + 1) <= tape->slots) return true;
  int slots = tape->slots ? 2 * tape->slots : 128;
  int *table = ns_alloc((size_t)slots, sizeof *table);
  if (!table) return false;
  ns_free(tape->table);
  tape->table = table;
  tape->slots = slots;
  for (int node = tape->inputs; node < tape->nodes; node++) put_in_table(tape, node);
  return true;
}

/* The existing node with this step or constant, or -1. Constants are compared by their bits: -0 is not 0. */
static int tape_find(const NsTape *tape, uint64_t hash, const NsTapeStep *step, double constant) {
  if (!tape->slots) return -1;
  size_t mask = (size_t)tape->slots - 1;
  for (size_t at = hash & mask; tape->table[at]; at = (at + 1) & mask) {
    int node = tape->table[at] - 1, kind = tape->kind[node - tape->inputs];
    if (step && kind >= 0) {
      const NsTapeStep *s = &tape->step[kind];
      if (s->op == step->op && s->a == step->a && s->b == step->b) return node;
    } else if (!step && kind < 0 && memcmp(&tape->constant[-1 - kind], &constant, sizeof constant) == 0) {
      return node;
    }
  }
  return -1;
}

/* What is known of a new node. */
static void follow_node(NsTape *tape, int node, int kind) {
  NsTapeNode *f = tape->followed;
  if (kind < 0) {
    f[node] = (NsTapeNode){tape->constant[-1 - kind], true};
    return;
  }
  const NsTapeStep *s = &tape->step[kind];
  bool step = chooses(s->op) && s->op != NS_TAPE_MAX && s->op != NS_TAPE_MIN && s->op != NS_TAPE_MIRROR;
  f[node] = (NsTapeNode){operate(s->op, f[s->a].value, f[s->b].value), step || (f[s->a].flat && f[s->b].flat)};
}

/* Adds a node of this kind; returns its number. */
static int add_node(NsTape *tape, int kind) {
  int node = tape->nodes;
  tape->kind[node - tape->inputs] = kind;
  put_in_table(tape, node);
  tape->nodes++;
  if (tape->followed) follow_node(tape, node, kind);
  return node;
}

/* Makes room for one more node. */
static bool grow_nodes(NsTape *tape) {
  if (tape->followed && !tape_grow((void **)&tape->followed, &tape->room_followed, tape->nodes, sizeof *tape->followed))
    return false;
  return tape_grow((void **)&tape->kind, &tape->room, tape->nodes - tape->inputs, sizeof *tape->kind) && grow_table(tape);
}

int ns_tape_constant(NsTape *tape, double value) {
  int found = tape_find(tape, hash_constant(value), NULL, value);
  if (found >= 0) return found;
  if (!tape_grow((void **)&tape->constant, &tape->room_constants, tape->constants, sizeof *tape->constant) || !grow_nodes(tape))
    return -1;
  tape->constant[tape->constants] = value;
  return add_node(tape, -1 - tape->constants++);
}

/* ---- simplification ---- */

static int find_step(const NsTape *tape, NsTapeOp op, int a, int b) {
  NsTapeStep step = {op, a, b, false};
  return tape_find(tape, hash_step(&step), &step, 0);
}

/* The step of a node; NULL for an input or a constant. */
static const NsTapeStep *step_of(const NsTape *tape, int node) {
  int kind = node < tape->inputs ? -1 : tape->kind[node - tape->inputs];
  return kind < 0 ? NULL : &tape->step[kind];
}

/* The value of a constant; nan for other nodes. */
static double constant_of(const NsTape *tape, int node) {
  int kind = node < tape->inputs ? 0 : tape->kind[node - tape->inputs];
  return kind < 0 ? tape->constant[-1 - kind] : NAN;
}

/* The node m if `node` is -m; else -1. */
static int negated(const NsTape *tape, int node) {
  const NsTapeStep *s = step_of(tape, node);
  return s && s->op == NS_TAPE_NEG ? s->a : -1;
}

/* A recorded node with the value -v, where v is the value of `node` (a zero may have another sign); -1: none is known. */
static int opposite(const NsTape *tape, int node) {
  const NsTapeStep *s = step_of(tape, node);
  if (s && s->op == NS_TAPE_NEG) return s->a;
  int found = find_step(tape, NS_TAPE_NEG, node, node);
  return found < 0 && s && s->op == NS_TAPE_SUB ? find_step(tape, NS_TAPE_SUB, s->b, s->a) : found;
}

/* Sorts the operands of a sum or product, which does not depend on their order. */
static void order(NsTapeStep *s) {
  int a = s->a < s->b ? s->a : s->b;
  s->b = s->a < s->b ? s->b : s->a;
  s->a = a;
}

/*
** x * 1 and x / 1 are x; x * -1 and x / -1 become NEG; x / 2^k becomes a product. Returns the existing node, or -1; the step
** may have changed.
*/
static int simplify_scaling(NsTape *tape, NsTapeStep *s) {
  double a = s->op == NS_TAPE_MUL ? constant_of(tape, s->a) : NAN, b = constant_of(tape, s->b);
  int exponent;
  if (a == 1) return s->b;
  if (b == 1) return s->a;
  if (a == -1) {
    *s = (NsTapeStep){NS_TAPE_NEG, s->b, s->b, false};
  } else if (b == -1) {
    *s = (NsTapeStep){NS_TAPE_NEG, s->a, s->a, false};
  } else if (s->op == NS_TAPE_DIV && fabs(frexp(b, &exponent)) == 0.5 && abs(exponent) < 1000) {
    int c = ns_tape_constant(tape, 1 / b);
    if (c >= 0) *s = (NsTapeStep){NS_TAPE_MUL, s->a, c, false};
  }
  return -1;
}

/* x + -y and -y + x become x - y; x - -y becomes x + y. */
static void simplify_sum(const NsTape *tape, NsTapeStep *s) {
  int a = negated(tape, s->a), b = negated(tape, s->b);
  if (b >= 0) *s = (NsTapeStep){s->op == NS_TAPE_ADD ? NS_TAPE_SUB : NS_TAPE_ADD, s->a, b, false};
  else if (a >= 0 && s->op == NS_TAPE_ADD) *s = (NsTapeStep){NS_TAPE_SUB, s->b, a, false};
}

/* If cos(-x) is recorded, returns it for cos(x); if sin(-x) is recorded, sin(x) becomes a MIRROR of it. */
static int simplify_turn(const NsTape *tape, NsTapeStep *s) {
  int minus = opposite(tape, s->a), there = minus < 0 ? -1 : find_step(tape, s->op, minus, minus);
  if (there < 0 || s->op == NS_TAPE_COS) return there;
  *s = (NsTapeStep){NS_TAPE_MIRROR, s->a, there, false};
  return -1;
}

/* An existing node with the value of the step, equal bit by bit; or -1, and the step may have become a simpler one. */
static int simplify(NsTape *tape, NsTapeStep *s) {
  int found = -1;
  if (s->op == NS_TAPE_NEG) found = negated(tape, s->a);
  if (s->op == NS_TAPE_MUL || s->op == NS_TAPE_DIV) found = simplify_scaling(tape, s);
  if (s->op == NS_TAPE_ADD || s->op == NS_TAPE_SUB) simplify_sum(tape, s);
  if (s->op == NS_TAPE_SIN || s->op == NS_TAPE_COS) found = simplify_turn(tape, s);
  if (s->op == NS_TAPE_ADD || s->op == NS_TAPE_MUL) order(s);
  return found >= 0 ? found : find_step(tape, s->op, s->a, s->b);
}

int ns_tape_record(NsTape *tape, NsTapeOp op, int a, int b) {
  NsTapeStep step = {op, a, ns_tape_operations[op].arity == 2 ? b : a, false};
  int found = simplify(tape, &step);
  if (found >= 0) return found;
  if (!tape_grow((void **)&tape->step, &tape->room_steps, tape->steps, sizeof *tape->step) || !grow_nodes(tape)) return -1;
  tape->step[tape->steps] = step;
  return add_node(tape, tape->steps++);
}

void ns_tape_loosen(NsTape *tape, int node) {
  int kind = node < tape->inputs ? -1 : tape->kind[node - tape->inputs];
  if (kind >= 0) tape->step[kind].loose = true;
}

NsStatus ns_tape_follow(NsTape *tape, const double *in) {
  tape->room_followed = tape->inputs + 64;
  tape->followed = ns_alloc((size_t)tape->room_followed, sizeof *tape->followed);
  for (int i = 0; tape->followed && i < tape->inputs; i++) tape->followed[i] = (NsTapeNode){in[i], false};
  return tape->followed ? NS_OK : NS_ENOMEM;
}

NsTapeNode ns_tape_node(const NsTape *tape, int node) {
  return tape->followed[node];
}

NsStatus ns_tape_guard(NsTape *tape, int node) {
  for (int i = 0; i < tape->guards; i++)
    if (tape->guard[i].node == node) return NS_OK;
  if (!tape_grow((void **)&tape->guard, &tape->room_guards, tape->guards, sizeof *tape->guard)) return NS_ENOMEM;
  tape->guard[tape->guards++] = (NsTapeGuard){node, tape->followed[node].value};
  return NS_OK;
}

NsStatus ns_tape_output(NsTape *tape, int node) {
  if (!tape_grow((void **)&tape->output, &tape->room_outputs, tape->outputs, sizeof *tape->output)) return NS_ENOMEM;
  tape->output[tape->outputs++] = node;
  return NS_OK;
}

/* ---- closing ---- */

/* Sets number[node] = 1 for every node that an output or a guard needs. */
static void mark(const NsTape *tape, int *number) {
  for (int i = 0; i < tape->guards; i++) number[tape->guard[i].node] = 1;
  for (int i = 0; i < tape->outputs; i++) number[tape->output[i]] = 1;
  for (int node = tape->nodes - 1; node >= tape->inputs; node--) {
    int kind = tape->kind[node - tape->inputs];
    if (!number[node] || kind < 0) continue;
    number[tape->step[kind].a] = number[tape->step[kind].b] = 1;
  }
}

/* Replaces the marks by new node numbers; moves the kept constants and steps to the front of their arrays. */
static void renumber(NsTape *tape, int *number) {
  int constants = 0, steps = 0;
  for (int node = tape->inputs; node < tape->nodes; node++) {
    int kind = tape->kind[node - tape->inputs];
    if (number[node] && kind < 0) {
      tape->constant[constants] = tape->constant[-1 - kind];
      number[node] = tape->inputs + constants++;
    }
  }
  for (int node = 0; node < tape->inputs; node++) number[node] = node;
  for (int node = tape->inputs; node < tape->nodes; node++) {
    int kind = tape->kind[node - tape->inputs];
    if (!number[node] || kind < 0) continue;
    const NsTapeStep *s = &tape->step[kind];
    tape->step[steps] = (NsTapeStep){s->op, number[s->a], number[s->b], s->loose};
    number[node] = tape->inputs + constants + steps++;
  }
  for (int i = 0; i < tape->outputs; i++) tape->output[i] = number[tape->output[i]];
  for (int i = 0; i < tape->guards; i++) tape->guard[i].node = number[tape->guard[i].node];
  tape->constants = constants;
  tape->steps = steps;
  tape->nodes = tape->inputs + constants + steps;
}

NsStatus ns_tape_close(NsTape *tape) {
  int *number = ns_alloc((size_t)tape->nodes, sizeof *number);
  if (!number) return NS_ENOMEM;
  mark(tape, number);
  renumber(tape, number);
  ns_free(number);
  ns_free(tape->followed);
  ns_free(tape->kind);
  ns_free(tape->table);
  tape->followed = NULL;
  tape->kind = tape->table = NULL;
  tape->value = ns_arena_doubles(&tape->arena, tape->nodes);
  NS_ARENA_VECTORS(&tape->arena, tape->steps, &tape->dx, &tape->dy);
  tape->partial = ns_arena_matrix(&tape->arena, CHUNK, tape->nodes);
  if (tape->arena.failed) return NS_ENOMEM;
  if (tape->constants > 0) memcpy(tape->value + tape->inputs, tape->constant, (size_t)tape->constants * sizeof *tape->value);
  return NS_OK;
}

NsTapeView ns_tape_view(const NsTape *tape) {
  return (NsTapeView){tape->inputs,   tape->constants, tape->steps,  tape->outputs, tape->guards,
                      tape->constant, tape->step,      tape->output, tape->guard};
}

/* ---- values ---- */

static void tape_take_inputs(NsTape *tape, const double *in) {
  if (tape->inputs > 0) memcpy(tape->value, in, (size_t)tape->inputs * sizeof *in);
}

void ns_tape_value(NsTape *tape, const double *in, double *out) {
  const double *v = tape->value;
  double *to = tape->value + tape->inputs + tape->constants;
  tape_take_inputs(tape, in);
  for (const NsTapeStep *s = tape->step, *end = s + tape->steps; s < end; s++, to++) *to = operate(s->op, v[s->a], v[s->b]);
  for (int i = 0; i < tape->outputs; i++) out[i] = v[tape->output[i]];
}

void ns_tape_guards(const NsTape *tape, double *value) {
  for (int i = 0; i < tape->guards; i++) value[i] = tape->value[tape->guard[i].node];
}

/* A bound of the change of an operation's value v when its operands change by at most ea and eb, plus twice its rounding; an address is exact. */
static double moved_by(NsTapeOp op, double v, double a, double b, double ea, double eb) {
  if (op == NS_TAPE_PIECE) eb = 0;
  if (ea == 0 && eb == 0) return 0;
  double most = 0;
  for (int corner = 0; corner < 4; corner++) {
    double at = operate(op, corner & 1 ? a + ea : a - ea, corner & 2 ? b + eb : b - eb);
    most = fmax(most, fabs(at - v));
  }
  return most + 2 * DBL_EPSILON * fabs(v);
}

void ns_tape_slack(NsTape *tape, const double *in, double *slack) {
  const double *v = tape->value;
  double *apart = tape->partial,
         *size = apart + tape->nodes; /* for each node: the bound; |v|, or the sum of |terms| of a loose sum */
  int node = tape->inputs + tape->constants;
  ns_tape_value(tape, in, slack);
  for (int k = 0; k < node; k++) apart[k] = 0, size[k] = fabs(v[k]);
  for (int k = 0; k < tape->steps; k++, node++) {
    const NsTapeStep *s = &tape->step[k];
    bool sum = s->loose && (s->op == NS_TAPE_ADD || s->op == NS_TAPE_SUB);
    size[node] = sum ? size[s->a] + size[s->b] : fabs(v[node]);
    apart[node] = moved_by(s->op, v[node], v[s->a], v[s->b], apart[s->a], apart[s->b]);
    if (s->loose) apart[node] += 2 * DBL_EPSILON * size[node];
  }
  for (int i = 0; i < tape->outputs; i++) slack[i] = apart[tape->output[i]];
}

/* Computes the values and slopes of every step; returns whether all slopes are finite. */
static bool linearise(NsTape *tape, const double *in) {
  const double *v = tape->value;
  double *to = tape->value + tape->inputs + tape->constants;
  bool finite = true;
  tape_take_inputs(tape, in);
  for (int k = 0; k < tape->steps; k++) {
    const NsTapeStep *s = &tape->step[k];
    const NsTapeOperation *o = &ns_tape_operations[s->op];
    NsSlope slope = o->unary ? o->unary(v[s->a]) : o->binary(v[s->a], v[s->b]);
    to[k] = slope.value;
    tape->dx[k] = slope.dx;
    tape->dy[k] = slope.dy;
    finite = finite && isfinite(slope.dx) && isfinite(slope.dy);
  }
  return finite;
}

/* ---- derivatives ---- */

/* out = dx x + dy y; a term with a partial of 0 is 0. */
static void tape_combine(double *restrict out, double dx, const double *x, double dy, const double *y) {
  for (int k = 0; k < CHUNK; k++) {
    double a = x[k] != 0 ? dx * x[k] : 0, b = y[k] != 0 ? dy * y[k] : 0;
    out[k] = a + b;
  }
}

/* The partials (n) of an operand of a step, or NULL when they do not count (see ns_dual_partials). */
static const double *partials_of(NsTapeOp op, double slope, double value, int n, const double *partials) {
  return slope == 0 && chooses(op) ? NULL : ns_dual_partials(slope, value, n, partials);
}

/* One forward pass: the partials by count <= CHUNK inputs from `first`. tape->partial must be 0 for inputs and constants. */
static void forward_pass(NsTape *tape, int first, int count) {
  static const double none[CHUNK];
  const double *v = tape->value;
  double *p = tape->partial, *to = p + (ptrdiff_t)CHUNK * (tape->inputs + tape->constants);
  for (int k = 0; k < count; k++) p[(ptrdiff_t)CHUNK * (first + k) + k] = 1;
  for (int k = 0; k < tape->steps; k++, to += CHUNK) {
    const NsTapeStep *s = &tape->step[k];
    const double *x = partials_of(s->op, tape->dx[k], v[s->a], CHUNK, p + (ptrdiff_t)CHUNK * s->a);
    const double *y = partials_of(s->op, tape->dy[k], v[s->b], CHUNK, p + (ptrdiff_t)CHUNK * s->b);
    tape_combine(to, tape->dx[k], x ? x : none, tape->dy[k], y ? y : none);
  }
}

static void unseed(NsTape *tape, int first, int count) {
  for (int k = 0; k < count; k++) tape->partial[(ptrdiff_t)CHUNK * (first + k) + k] = 0;
}

static void forward(NsTape *tape, int first, int count, double *jac) {
  memset(tape->partial, 0, (size_t)CHUNK * (size_t)(tape->inputs + tape->constants) * sizeof(double));
  for (int from = 0; from < count; from += CHUNK) {
    int some = count - from < CHUNK ? count - from : CHUNK;
    forward_pass(tape, first + from, some);
    for (int i = 0; i < tape->outputs; i++)
      for (int k = 0; k < some; k++)
        jac[i + (ptrdiff_t)(from + k) * tape->outputs] = tape->partial[(ptrdiff_t)CHUNK * tape->output[i] + k];
    unseed(tape, first + from, some);
  }
}

/* A sweep back from the adjoints of the outputs to the adjoints of all nodes. */
static void sweep_back(const NsTape *tape, double *adjoint) {
  int base = tape->inputs + tape->constants;
  for (int k = tape->steps - 1; k >= 0; k--) {
    double bar = adjoint[base + k];
    const NsTapeStep *s = &tape->step[k];
    if (bar == 0) continue;
    adjoint[s->a] += bar * tape->dx[k];
    if (ns_tape_operations[s->op].arity == 2) adjoint[s->b] += bar * tape->dy[k];
  }
}

/* Reverse mode: one sweep for each output computes the adjoints of all nodes, in tape->partial. */
static void reverse(NsTape *tape, int first, int count, double *jac) {
  double *adjoint = tape->partial;
  for (int i = 0; i < tape->outputs; i++) {
    memset(adjoint, 0, (size_t)tape->nodes * sizeof *adjoint);
    adjoint[tape->output[i]] = 1;
    sweep_back(tape, adjoint);
    for (int k = 0; k < count; k++) jac[i + (ptrdiff_t)k * tape->outputs] = adjoint[first + k];
  }
}

bool ns_tape_vjp(NsTape *tape, const double *in, const double *weight, double *bar) {
  double *adjoint = tape->partial;
  if (!linearise(tape, in)) return false;
  memset(adjoint, 0, (size_t)tape->nodes * sizeof *adjoint);
  for (int i = 0; i < tape->outputs; i++) adjoint[tape->output[i]] += weight[i];
  sweep_back(tape, adjoint);
  memcpy(bar, adjoint, (size_t)tape->inputs * sizeof *bar);
  return true;
}

void ns_tape_forward(NsTape *tape, const double *in, int first, int count, double *jac) {
  (void)linearise(tape, in);
  forward(tape, first, count, jac);
}

bool ns_tape_reverse(NsTape *tape, const double *in, int first, int count, double *jac) {
  bool finite = linearise(tape, in);
  if (finite) reverse(tape, first, count, jac);
  return finite;
}

void ns_tape_jacobian(NsTape *tape, const double *in, int first, int count, double *jac) {
  bool finite = linearise(tape, in);
  if (finite && 2 * tape->outputs < count / CHUNK) reverse(tape, first, count, jac);
  else forward(tape, first, count, jac);
}

bool ns_tape_depends(NsTape *tape, int first, int count) {
  double *marked = tape->partial;
  bool any = false;
  memset(marked, 0, (size_t)tape->nodes * sizeof *marked);
  for (int i = first; i < first + count; i++) marked[i] = 1;
  double *to = marked + tape->inputs + tape->constants;
  for (int k = 0; k < tape->steps; k++) to[k] = fmax(marked[tape->step[k].a], marked[tape->step[k].b]);
  for (int i = 0; i < tape->outputs; i++) any = any || marked[tape->output[i]] != 0;
  return any;
}

/* Of a node: 0, it is constant; 1: it depends on this input alone; 2: on another one. A node of an open tape has its kind. */
static int reach_of_node(const NsTape *tape, const char *reach, int input, int node) {
  if (node < tape->inputs) return node == input ? 1 : 2;
  int kind = tape->kind[node - tape->inputs];
  return kind >= 0 ? reach[kind] : 0;
}

bool ns_tape_jumps(const NsTape *tape, int input) {
  char *reach = ns_alloc((size_t)tape->steps + 1, 1);
  bool jumps = false;
  for (int k = 0; reach && k < tape->steps; k++) {
    const NsTapeStep *step = &tape->step[k];
    int a = reach_of_node(tape, reach, input, step->a), b = reach_of_node(tape, reach, input, step->b);
    reach[k] = (char)(a > b ? a : b);
    bool rounds = step->op == NS_TAPE_IDIV || step->op == NS_TAPE_MOD || step->op == NS_TAPE_FMOD ||
                  step->op == NS_TAPE_FLOOR || step->op == NS_TAPE_CEIL || step->op == NS_TAPE_PART;
    jumps = jumps || (rounds && reach[k] == 1);
  }
  ns_free(reach);
  return jumps;
}

/* The dependence of a node on the given inputs: constant; on other inputs only; linear with constant factors; nonlinear. */
enum { FIXED, FREE, LINEAR, CURVED };

static double dependence(NsTapeOp op, double a, double b) {
  double most = fmax(a, b);
  bool sum = op == NS_TAPE_ADD || op == NS_TAPE_SUB || op == NS_TAPE_NEG;
  bool scaled = (op == NS_TAPE_MUL && fmin(a, b) == FIXED) || (op == NS_TAPE_DIV && b == FIXED);
  return most <= FREE || sum || scaled ? most : CURVED;
}

bool ns_tape_constant_slopes(NsTape *tape, int first, int count) {
  double *how = tape->partial, *to = how + tape->inputs + tape->constants;
  bool constant = true;
  for (int i = 0; i < tape->inputs; i++) how[i] = i >= first && i < first + count ? LINEAR : FREE;
  for (int i = 0; i < tape->constants; i++) how[tape->inputs + i] = FIXED;
  for (int k = 0; k < tape->steps; k++) {
    const NsTapeStep *s = &tape->step[k];
    to[k] = dependence(s->op, how[s->a], how[s->b]);
  }
  for (int i = 0; i < tape->outputs; i++) constant = constant && how[tape->output[i]] != CURVED;
  return constant;
}

void ns_tape_along(NsTape *tape, const double *in, const double *direction, double *first, double *second) {
  const double *v = tape->value;
  double *d = tape->partial, *to;
  (void)linearise(tape, in);
  memset(d, 0, 2 * (size_t)(tape->inputs + tape->constants) * sizeof *d);
  for (int i = 0; i < tape->inputs; i++) d[2 * i] = direction[i];
  to = d + 2 * (ptrdiff_t)(tape->inputs + tape->constants);
  for (int k = 0; k < tape->steps; k++, to += 2) {
    const NsTapeStep *s = &tape->step[k];
    const double *x = d + 2 * (ptrdiff_t)s->a, *y = ns_tape_operations[s->op].arity == 2 ? d + 2 * (ptrdiff_t)s->b : NULL;
    ns_dual_combine(2, to, tape->dx[k], partials_of(s->op, tape->dx[k], v[s->a], 2, x), tape->dy[k],
                    partials_of(s->op, tape->dy[k], v[s->b], 2, y));
    ns_jet_bend(to, ns_tape_operations[s->op].bend, v[s->a], v[s->b], x, y);
  }
  for (int i = 0; i < tape->outputs; i++) {
    first[i] = d[2 * (ptrdiff_t)tape->output[i]];
    if (second) second[i] = d[2 * (ptrdiff_t)tape->output[i] + 1];
  }
}

void ns_tape_jet(NsTape *tape, NsJet jet, const double *in, double *room) {
  const double *v = tape->value;
  ptrdiff_t np = ns_jet_size(jet);
  double *to = room + np * (tape->inputs + tape->constants);
  (void)linearise(tape, in);
  if (tape->constants > 0) memset(room + np * tape->inputs, 0, (size_t)np * (size_t)tape->constants * sizeof *room);
  for (int k = 0; k < tape->steps; k++, to += np) {
    const NsTapeStep *s = &tape->step[k];
    const double *x = room + np * s->a, *y = ns_tape_operations[s->op].arity == 2 ? room + np * s->b : NULL;
    ns_dual_combine((int)np, to, tape->dx[k], partials_of(s->op, tape->dx[k], v[s->a], (int)np, x), tape->dy[k],
                    partials_of(s->op, tape->dy[k], v[s->b], (int)np, y));
    ns_jet_add(jet, to, ns_tape_operations[s->op].bend, v[s->a], v[s->b], x, y);
  }
}

/*
** tape.h
** The tape of a traced callback: the list of its operations, evaluated in C with exact derivatives.
*/
#pragma once

#include <stdbool.h>

#include "ad/jet.h"
#include "ad/piecewise.h"
#include "base/status.h"

/*
** The operations. X(name, number of operands, value, slopes, second derivatives, C text of the derivative by a, by b); operands
** a, b, value v. Each value is the expression that Lua 5.4 evaluates (see ad/dual.h). FLOOR, CEIL and WHOLE are integers in
** Lua, so they are never -0. FLOOR, CEIL, WHOLE and IDIV are steps; MAX, MIN and MIRROR choose an operand: an operand with
** slope 0 adds nothing to their partials, even if its own partials are nan. MIRROR: the value at a of an odd function whose
** value at -a is b; if a is a zero, the value is a. PIECE: the curve of data with the address b (ad/piecewise.h) at a. LESS, AT_MOST and
** EQUAL are 1 or 0: guards are made of them.
*/
#define NS_TAPE_OPERATIONS(X)                                                                                                  \
  X(ADD, 2, a + b, ns_dual_add, NULL, "1", "1")                                                                                \
  X(SUB, 2, a - b, ns_dual_sub, NULL, "1", "-1")                                                                               \
  X(MUL, 2, a *b, ns_dual_mul, ns_curve_mul, "b", "a")                                                                         \
  X(DIV, 2, a / b, ns_dual_div, ns_curve_div, "1 / b", "-v / b")                                                               \
  X(NEG, 1, -a, ns_dual_neg, NULL, "-1", "0")                                                                                  \
  X(POW, 2, lua_pow(a, b), ns_dual_pow, ns_curve_pow, "pow_by_base(a, b)", "pow_by_exponent(a, b, v)")                         \
  X(CPOW, 2, pow(a, b), ns_dual_cpow, ns_curve_pow, "pow_by_base(a, b)", "pow_by_exponent(a, b, v)")                           \
  X(IDIV, 2, floor(a / b), ns_dual_idiv, NULL, "0", "0")                                                                       \
  X(MOD, 2, lua_mod(a, b), ns_dual_mod, NULL, "1", "nearbyint((v - a) / b)")                                                   \
  X(FMOD, 2, fmod(a, b), ns_dual_fmod, NULL, "1", "nearbyint((v - a) / b)")                                                    \
  X(SIN, 1, sin(a), ns_dual_sin, ns_curve_sin, "cos(a)", "0")                                                                  \
  X(COS, 1, cos(a), ns_dual_cos, ns_curve_cos, "-sin(a)", "0")                                                                 \
  X(TAN, 1, tan(a), ns_dual_tan, ns_curve_tan, "1 + v * v", "0")                                                               \
  X(ASIN, 1, asin(a), ns_dual_asin, ns_curve_asin, "1 / sqrt((1 - a) * (1 + a))", "0")                                         \
  X(ACOS, 1, acos(a), ns_dual_acos, ns_curve_acos, "-1 / sqrt((1 - a) * (1 + a))", "0")                                        \
  X(ATAN, 2, atan2(a, b), ns_dual_atan, ns_curve_atan, "b / hypot(b, a) / hypot(b, a)", "-(a / hypot(b, a)) / hypot(b, a)")    \
  X(EXP, 1, exp(a), ns_dual_exp, ns_curve_exp, "v", "0")                                                                       \
  X(LOG, 1, log(a), ns_dual_log, ns_curve_log, "reciprocal(a)", "0")                                                           \
  X(LOG2, 1, log2(a), ns_dual_log2, ns_curve_log2, "reciprocal(a) / LN2", "0")                                                 \
  X(LOG10, 1, log10(a), ns_dual_log10, ns_curve_log10, "reciprocal(a) / LN10", "0")                                            \
  X(SQRT, 1, sqrt(a), ns_dual_sqrt, ns_curve_sqrt, "0.5 / v", "0")                                                             \
  X(ABS, 1, fabs(a), ns_dual_abs, NULL, "sign(a)", "0")                                                                        \
  X(SINH, 1, sinh(a), ns_dual_sinh, ns_curve_sinh, "cosh(a)", "0")                                                             \
  X(COSH, 1, cosh(a), ns_dual_cosh, ns_curve_cosh, "sinh(a)", "0")                                                             \
  X(TANH, 1, tanh(a), ns_dual_tanh, ns_curve_tanh, "1 / cosh(a) / cosh(a)", "0")                                               \
  X(FLOOR, 1, floor(a) + 0, ns_dual_floor, NULL, "0", "0")                                                                     \
  X(CEIL, 1, ceil(a) + 0, ns_dual_ceil, NULL, "0", "0")                                                                        \
  X(WHOLE, 1, whole(a) + 0, ns_dual_whole, NULL, "0", "0")                                                                     \
  X(PART, 1, tape_part(a), ns_dual_part, NULL, "1", "0")                                                                       \
  X(MAX, 2, a < b ? b : a, ns_dual_max, NULL, "!(a < b)", "a < b")                                                             \
  X(MIN, 2, b < a ? b : a, ns_dual_min, NULL, "!(b < a)", "b < a")                                                             \
  X(MIRROR, 2, a != 0 ? -b : a, ns_dual_mirror, NULL, "0", "-1")                                                               \
  X(PIECE, 2, tape_piece(a, b), ns_piecewise_slope, ns_curve_piece, "piece_slope(a, b)", "0")                                  \
  X(LESS, 2, a < b, ns_dual_less, NULL, "0", "0")                                                                              \
  X(AT_MOST, 2, a <= b, ns_dual_at_most, NULL, "0", "0")                                                                       \
  X(EQUAL, 2, a == b, ns_dual_equal, NULL, "0", "0")

typedef enum NsTapeOp {
#define NS_TAPE_NAME(name, arity, value, slope, bend, by_a, by_b) NS_TAPE_##name,
  NS_TAPE_OPERATIONS(NS_TAPE_NAME)
#undef NS_TAPE_NAME
      NS_TAPE_OPS
} NsTapeOp;

/* An operation. `unary` or `binary`, depending on arity, gives its slopes (the other is NULL); bend: second derivatives. */
typedef struct NsTapeOperation {
  const char *name;
  int arity;
  NsUnary unary;
  NsBinary binary;
  NsBend bend;
} NsTapeOperation;

extern const NsTapeOperation ns_tape_operations[NS_TAPE_OPS];

/* Step i of a tape: an operation, and the nodes of its operands (one operand: b = a). Its node is inputs + constants + i. */
typedef struct NsTapeStep {
  NsTapeOp op;
  int a, b;
  bool loose; /* see ns_tape_loosen */
} NsTapeStep;

/*
** A tape is recorded, then closed, then evaluated. While it is recorded, a node is an input (0 .. inputs - 1), a constant or an
** operation. Equal operations on equal nodes share one node. An operation is also replaced by another with the same value bit
** by bit: x * 1; a sum or product with swapped operands; x / 2^k; x + -y; cos(b - a) after cos(a - b); sin(b - a) after sin(a
** - b), which becomes MIRROR. A closed tape holds only what its outputs need: nodes are the inputs, then the constants, then
** the operations in order. The tape owns its workspace, so it can do only one evaluation at a time.
*/
typedef struct NsTape NsTape;

/* A guard: a node and the value that it had where the tape was recorded. Where it has another one, the tape is not the function's. */
typedef struct NsTapeGuard {
  int node;
  double value;
} NsTapeGuard;

/* The contents of a closed tape; borrowed. */
typedef struct NsTapeView {
  int inputs, constants, steps, outputs, guards;
  const double *constant; /* `constants` numbers */
  const NsTapeStep *step; /* `steps` operations */
  const int *output;      /* the node of each output */
  const NsTapeGuard *guard;
} NsTapeView;

/* Makes an empty tape; free with ns_tape_free. NS_ENOMEM. */
NsStatus ns_tape_new(NsTape **tape, int inputs);

/* Record a constant or an operation (one operand: b is ignored) and return its node; -1: out of memory. */
int ns_tape_constant(NsTape *tape, double value);
int ns_tape_record(NsTape *tape, NsTapeOp op, int a, int b);

/*
** Marks a node as loose: in the callback a library computes this operation or sum (the dot product of two vectors), with other
** rounding: other partial sums, fused multiply-add.
*/
void ns_tape_loosen(NsTape *tape, int node);

/* Evaluates at `in` what will be recorded: call it first. NS_ENOMEM. The next two are for such a tape. */
NsStatus ns_tape_follow(NsTape *tape, const double *in);

/* The value of a node; flat: its derivatives are 0 by the operations alone, as floor(x) + 1 has them. */
typedef struct NsTapeNode {
  double value;
  bool flat;
} NsTapeNode;
NsTapeNode ns_tape_node(const NsTape *tape, int node);

/* Adds a guard with the present value of the node, unless it has one. NS_ENOMEM. */
NsStatus ns_tape_guard(NsTape *tape, int node);

/* Adds a node to the outputs. NS_ENOMEM. */
NsStatus ns_tape_output(NsTape *tape, int node);

/* Removes the nodes that no output needs and allocates the workspace; recording ends. NS_ENOMEM. */
NsStatus ns_tape_close(NsTape *tape);

NsTapeView ns_tape_view(const NsTape *tape);

/* out = the outputs at `in`, equal bit by bit to the recorded operations (see ns_tape_loosen for the exception). */
void ns_tape_value(NsTape *tape, const double *in, double *out);

/* value = the values of the guards' nodes at the last evaluation. Two values of a guard are the same when they are equal or both nan. */
void ns_tape_guards(const NsTape *tape, double *value);
static inline bool ns_tape_guard_holds(const NsTapeGuard *guard, double value) {
  return value == guard->value || (value != value && guard->value != guard->value);
}

/*
** slack = for each output at `in`, a bound of its change when the loose nodes are rounded in another way; 0 if it depends on no
** loose node. A loose sum may differ by 2 eps times the sum of its |terms| for each addition (Higham, Accuracy and Stability of
** Numerical Algorithms, 2nd ed., 2002, chapter 4). The bound of a later operation comes from its values at the ends of its
** operands' intervals.
*/
void ns_tape_slack(NsTape *tape, const double *in, double *slack);

/*
** jac = the derivatives of the outputs by the inputs first .. first + count - 1: column-major, one row for each output. Forward
** mode, several inputs at a time; or reverse mode if there are far fewer outputs than inputs and all slopes are finite.
** Partials of exactly 0 stay 0 as in ns_dual_combine. ns_tape_forward always uses forward mode. Griewank and Walther,
** Evaluating Derivatives, 2nd ed., 2008, chapter 3.
*/
void ns_tape_jacobian(NsTape *tape, const double *in, int first, int count, double *jac);
void ns_tape_forward(NsTape *tape, const double *in, int first, int count, double *jac);

/* As ns_tape_jacobian, in reverse mode. False: a slope is not finite, and nothing was computed. */
bool ns_tape_reverse(NsTape *tape, const double *in, int first, int count, double *jac);

/*
** bar (inputs) = the derivatives by all inputs of the sum of weight[i] times output i, by one sweep in reverse mode. False: a slope is
** not finite, and nothing was computed.
*/
bool ns_tape_vjp(NsTape *tape, const double *in, const double *weight, double *bar);

/*
** Whether any output depends on any of the inputs first .. first + count - 1. If not, all derivatives by these inputs are 0.
*/
bool ns_tape_depends(NsTape *tape, int first, int count);

/*
** Whether a recorded operation jumps by this input alone: a remainder, or a number rounded to an integer, of what depends on no other input. The
** tape may be open, after a callback that has failed.
*/
bool ns_tape_jumps(const NsTape *tape, int input);

/* Whether the derivatives by these inputs are constant: the outputs are linear in them, with constant factors. */
bool ns_tape_constant_slopes(NsTape *tape, int first, int count);

/*
** The first and second (NULL: not wanted) derivatives in s, at s = 0, of the outputs at in + s direction. Griewank and Walther,
** chapter 13.
*/
void ns_tape_along(NsTape *tape, const double *in, const double *direction, double *first, double *second);

/*
** Evaluates the tape with jets of any kind (ad/jet.h). room holds ns_jet_size(jet) derivatives for each node, node by node: the
** caller sets the values of the inputs, the function computes the others.
*/
void ns_tape_jet(NsTape *tape, NsJet jet, const double *in, double *room);

/* NULL is ignored. */
void ns_tape_free(NsTape *tape);

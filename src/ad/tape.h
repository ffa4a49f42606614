/*
** tape.h
** The tape of a traced callback: its operations in order, evaluated in C with exact derivatives.
*/
#ifndef NS_AD_TAPE_H
#define NS_AD_TAPE_H

#include <stdbool.h>

#include "ad/jet.h"
#include "base/status.h"

/*
** The operations: name, number of operands, value, slopes, second derivatives, and in C the value and the derivatives by a
** and by b out of the operands a, b and the value v. Each value is the expression that Lua 5.4 evaluates (see
** ad/dual.h). floor, ceil and the whole part are numbers that Lua has as integers: there is no -0 among them. They and
** the whole quotient are steps, max, min and mirror choose: an operand that a slope of 0 goes with adds nothing to their
** partials, also where its own do not exist. mirror is an odd function at a, b its value at -a: a zero keeps the sign of a.
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
  X(MIRROR, 2, a != 0 ? -b : a, ns_dual_mirror, NULL, "0", "-1")

typedef enum NsTapeOp {
#define NS_TAPE_NAME(name, arity, value, slope, bend, by_a, by_b) NS_TAPE_##name,
  NS_TAPE_OPERATIONS(NS_TAPE_NAME)
#undef NS_TAPE_NAME
      NS_TAPE_OPS
} NsTapeOp;

/* An operation: its name, its number of operands, its slopes by the function for so many (the other is NULL), its second derivatives. */
typedef struct NsTapeOperation {
  const char *name;
  int arity;
  NsUnary unary;
  NsBinary binary;
  NsBend bend;
} NsTapeOperation;

extern const NsTapeOperation ns_tape_operations[NS_TAPE_OPS];

/* One operation: node numbers of its operands (b is a's where there is one alone). Its own node is inputs + constants + i. */
typedef struct NsTapeStep {
  NsTapeOp op;
  int a, b;
  bool loose; /* see ns_tape_loosen */
} NsTapeStep;

/*
** A tape is recorded, then closed, then evaluated. While it is recorded, a node is an input (0 .. inputs - 1), a constant
** or an operation; equal operations on equal nodes are one node, and an operation that another gives to the last bit is not
** recorded again: x * 1, a product or sum the other way round, x / 2^k, x + -y, cos(b - a) after cos(a - b), and sin(b - a),
** which is a mirror then. Closed, it holds what its outputs need: nodes are the inputs, then the constants, then the
** operations in order. It carries its own workspace: one evaluation at a time.
*/
typedef struct NsTape NsTape;

/* What a closed tape is made of; borrowed. */
typedef struct NsTapeView {
  int inputs, constants, steps, outputs;
  const double *constant; /* constants */
  const NsTapeStep *step; /* steps */
  const int *output;      /* the node of each output */
} NsTapeView;

/* An empty tape. NS_ENOMEM. */
NsStatus ns_tape_new(NsTape **tape, int inputs);

/* The node of a constant, of an operation; -1 when there is no memory. b is not looked at where there is one operand. */
int ns_tape_constant(NsTape *tape, double value);
int ns_tape_record(NsTape *tape, NsTapeOp op, int a, int b);

/*
** The callback gets this node, an operation or a sum of terms, from a library (the dot of two vectors), which may round in
** another way: with other partial sums, with products that are not rounded.
*/
void ns_tape_loosen(NsTape *tape, int node);

/* The next output is this node. NS_ENOMEM. */
NsStatus ns_tape_output(NsTape *tape, int node);

/* Drops what no output needs and takes the workspace. NS_ENOMEM. Nothing is recorded after it. */
NsStatus ns_tape_close(NsTape *tape);

NsTapeView ns_tape_view(const NsTape *tape);

/* out = the outputs at `in`, to the last bit those of the operations one by one. */
void ns_tape_value(NsTape *tape, const double *in, double *out);

/*
** slack = for each output the most that it may be apart, at `in`, from the same operations of which those that are loose were
** rounded in another way: 0 where none of them takes part. A loose sum may be off by 2 eps times the sum of its terms' sizes
** for each addition (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., 2002, chapter 4); what comes after it
** is bounded by its values at the ends of its operands' intervals.
*/
void ns_tape_slack(NsTape *tape, const double *in, double *slack);

/*
** jac = the derivatives of the outputs by the inputs first .. first + count - 1: column-major, one row for each output.
** Forward mode, several inputs at a time, or reverse mode where there are far fewer outputs than inputs. A partial
** that is exactly 0 stays 0, whatever the factor, as in ns_dual_combine; where a factor is not finite the mode is
** forward. Griewank and Walther, Evaluating Derivatives, 2nd ed., 2008, chapter 3.
*/
void ns_tape_jacobian(NsTape *tape, const double *in, int first, int count, double *jac);
void ns_tape_forward(NsTape *tape, const double *in, int first, int count, double *jac);

/* False: a factor is not finite, and nothing was computed. */
bool ns_tape_reverse(NsTape *tape, const double *in, int first, int count, double *jac);

/*
** Whether an output depends on one of the inputs first .. first + count - 1 at all; where none does, derivatives by them
** are 0 everywhere.
*/
bool ns_tape_depends(NsTape *tape, int first, int count);

/* Whether the derivatives by those inputs are the same at every point: the outputs are linear in them, with constant factors. */
bool ns_tape_constant_slopes(NsTape *tape, int first, int count);

/*
** The first and (NULL: not wanted) second derivatives in s, at s = 0, of the outputs at in + s direction. Griewank and
** Walther, chapter 13.
*/
void ns_tape_along(NsTape *tape, const double *in, const double *direction, double *first, double *second);

/*
** The same with numbers of any kind of ad/jet.h: room holds ns_jet_size(jet) derivatives of each node, one node after
** the other; those of the inputs are given, the rest is computed.
*/
void ns_tape_jet(NsTape *tape, NsJet jet, const double *in, double *room);

/* NULL is ignored. */
void ns_tape_free(NsTape *tape);

#endif

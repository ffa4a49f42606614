/*
** elementary.c
** Functions of numbers: Lua's math functions and a few more, maximum and minimum, comparisons.
*/
#include "ad/elementary.h"

#include <math.h>

/* ---- functions of one number ---- */

static double sign_of(double x) {
  return isnan(x) ? x : (double)((x > 0) - (x < 0));
}

static double not_negative_zero(double x) {
  return x + 0;
}

static double floor_of(double x) {
  return not_negative_zero(floor(x));
}

static double ceil_of(double x) {
  return not_negative_zero(ceil(x));
}

const NsElementary ns_elementary[NS_ELEMENTARY_COUNT] = {
    {"abs", fabs, NS_TAPE_ABS},      {"acos", acos, NS_TAPE_ACOS},       {"asin", asin, NS_TAPE_ASIN},
    {"ceil", ceil_of, NS_TAPE_CEIL}, {"cos", cos, NS_TAPE_COS},          {"cosh", cosh, NS_TAPE_COSH},
    {"exp", exp, NS_TAPE_EXP},       {"floor", floor_of, NS_TAPE_FLOOR}, {"log", log, NS_TAPE_LOG},
    {"log10", log10, NS_TAPE_LOG10}, {"log2", log2, NS_TAPE_LOG2},       {"sign", sign_of, NS_TAPE_OPS},
    {"sin", sin, NS_TAPE_SIN},       {"sinh", sinh, NS_TAPE_SINH},       {"sqrt", sqrt, NS_TAPE_SQRT},
    {"tan", tan, NS_TAPE_TAN},       {"tanh", tanh, NS_TAPE_TANH},
};

/* ---- functions of two numbers, and comparisons ---- */

static double larger_of(double a, double b) {
  return isnan(a) || a > b ? a : b;
}

static double smaller_of(double a, double b) {
  return isnan(a) || a < b ? a : b;
}

static double above(double a, double b) {
  return a > b;
}

static double below(double a, double b) {
  return a < b;
}

static double at_least(double a, double b) {
  return a >= b;
}

static double at_most(double a, double b) {
  return a <= b;
}

static double equal(double a, double b) {
  return a == b;
}

static double different(double a, double b) {
  return a != b;
}

const NsElementaryPair ns_elementary_pairs[NS_ELEMENTARY_PAIRS] = {
    {"atan", atan2, NS_TAPE_ATAN}, {"maximum", larger_of, NS_TAPE_MAX}, {"minimum", smaller_of, NS_TAPE_MIN},
    {"gt", above, NS_TAPE_OPS},    {"lt", below, NS_TAPE_OPS},          {"ge", at_least, NS_TAPE_OPS},
    {"le", at_most, NS_TAPE_OPS},  {"eq", equal, NS_TAPE_OPS},          {"ne", different, NS_TAPE_OPS},
};

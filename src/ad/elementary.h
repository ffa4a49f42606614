/*
** elementary.h
** The elementary functions of numbers that are applied element by element, and the operations of tapes that record them.
*/
#pragma once

#include "ad/tape.h"

/* A function of one number; op: NS_TAPE_OPS: no operation records it. */
typedef struct NsElementary {
  const char *name;
  double (*of)(double x);
  NsTapeOp op;
} NsElementary;

/* A function of two numbers. Comparisons are 1 or 0. */
typedef struct NsElementaryPair {
  const char *name;
  double (*of)(double a, double b);
  NsTapeOp op;
} NsElementaryPair;

/* The lists; the first NS_ELEMENTARY_MIXED pairs are functions, the others comparisons. */
enum { NS_ELEMENTARY_COUNT = 17, NS_ELEMENTARY_MIXED = 3, NS_ELEMENTARY_PAIRS = 9 };
extern const NsElementary ns_elementary[NS_ELEMENTARY_COUNT];
extern const NsElementaryPair ns_elementary_pairs[NS_ELEMENTARY_PAIRS];

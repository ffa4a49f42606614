/*
** monolithic.h
** Large linear models: one sparse problem per step in states and multipliers, without elimination. For the sparse forms of
** several schemes.
*/
#pragma once

#include "integrators/scheme.h"
#include "integrators/triplets.h"

/* The first member of such a workspace. The unknowns are the changes of states (mechanics: velocities) in the step. */
typedef struct NsMonolithic {
  NsScheme base;
  int N, m;           /* unknowns, multipliers */
  int *offset;        /* nds: offset of each system's unknowns */
  const char *letter; /* name of the states in messages */
  NsSparse *matrix;
  uint64_t key; /* hash of the data of the matrix: versions and weights */
  double formed[4];
  double *q, *lower, *upper, *guess, *z; /* N + m; z: the solution */
  double *now;                           /* N: the states of the iterate */
  double *pair;                          /* the largest nx of an interaction */
} NsMonolithic;

/*
** Makes a workspace of `bytes` bytes, with the vectors of NsMonolithic; the unknowns have no bounds. NULL when there is no memory.
** Memory that the caller takes from its arena may fail later: see ns_scheme_hand_over.
*/
void *ns_monolithic_take(size_t bytes, const NsSchemeClass *class, const NsIntegrator *integrator, NsNsds *nsds,
                         const char *letter);

/* Forms the matrix (*fresh: true) when the versions of its coefficients, or the weights, have changed. NS_ENOMEM, NS_ENAN. */
NsStatus ns_monolithic_update(NsMonolithic *w, uint64_t versions, const double weights[4],
                              void (*put)(const void *context, NsTriplets *t), bool *fresh, NsError *err);

/* An interaction's coordinates, from the state of its systems or from their memories. */
const double *ns_monolithic_gather(const NsMonolithic *w, const NsInteraction *inter, bool memory);

/* Functions for the table of the scheme. */
void ns_monolithic_destroy(NsScheme *scheme);
void ns_monolithic_advance(NsScheme *scheme, const double *solution, double s);
NsStatus ns_monolithic_finite(const NsScheme *scheme, NsError *err);

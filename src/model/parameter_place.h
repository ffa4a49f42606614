/*
** parameter_place.h
** Parameters of derivatives, and which number of a model a parameter is.
*/
#pragma once

#include <stdint.h>

#include "model/nsds.h"

/* A parameter: a number of the model, or (number NULL) the initial value of a state. */
typedef struct NsParameter {
  double *number;    /* borrowed */
  uint64_t *version; /* of the coefficient that the number belongs to; NULL: it has none */
  double unit;       /* > 0: the size of the number, for the lengths of differences */
  const void *owner; /* its system, relation or law; NULL: it is an element of vectors z */
  int state;         /* initial value: the index of the state in x of the system `owner` */
  const bool
      *read_aside; /* whether functions of the script have read the number by themselves; NULL: it is not known to happen */
  struct NsParameterMove
      *moves; /* nmoves numbers that change with it, whose owner has the first; `number` is then a 0 of its own */
  int nmoves;
  struct NsParameterCopy *copies; /* ncopies other places of the number */
  int ncopies;
  struct NsParameterCopy *own; /* of the parameter of an island: nown of these, those that its equations read; NULL: all */
  int nown;
} NsParameter;

/*
** Another place of a number: a coefficient of `owner` that takes it from the same array of the script, or (owner NULL) that array.
** away: what a displacement has added to the version; 0: there is none.
*/
typedef struct NsParameterCopy {
  double *number;
  uint64_t *version, away; /* version: NULL: it has none */
  const void *owner;
} NsParameterCopy;

/* A number that changes by weight e with a parameter that increases from 0 to e. */
typedef struct NsParameterMove {
  NsParameter of;
  double weight;
  double at; /* where it is while the parameter is 0, and the version then */
  uint64_t seen;
} NsParameterMove;

/* Whether a function of the script has read it by itself. */
static inline bool ns_parameter_aside(const NsParameter *parameter) {
  return parameter->number && parameter->read_aside && *parameter->read_aside;
}

/* Copies a parameter, with memory from the arena where it has numbers that move, or copies. NS_ENOMEM. */
NsStatus ns_parameter_copy(NsArena *arena, NsParameter *to, const NsParameter *from);

/*
** Finds the copies of the number that belong to a graph, with memory from the arena; others are displaced only where a function of the script has
** read the number by itself. So a number that N islands have costs as much as N numbers. NS_ENOMEM.
*/
NsStatus ns_parameter_own(NsArena *arena, NsParameter *parameter, const NsNsds *graph);

/* What a number is: an entry of a coefficient that is in use (not of the Jacobian of a callback), of a law, or of vectors z. */
typedef enum NsNumber {
  NS_NUMBER_UNKNOWN,
  NS_NUMBER_A, /* of a system of first order */
  NS_NUMBER_b,
  NS_NUMBER_MASS, /* M of a system of first order; the constant mass of a Lagrangian system */
  NS_NUMBER_STIFFNESS,
  NS_NUMBER_DAMPING,
  NS_NUMBER_FEXT,
  NS_NUMBER_C, /* of a relation */
  NS_NUMBER_D,
  NS_NUMBER_e,
  NS_NUMBER_B,
  NS_NUMBER_K,
  NS_NUMBER_LOWER, /* of a law */
  NS_NUMBER_UPPER,
  NS_NUMBER_LAW, /* another number of it */
  NS_NUMBER_Z
} NsNumber;

/* Where a number is. Coefficients that are functions of time, and coefficients of rigid bodies, are unknown. */
typedef struct NsParameterPlace {
  NsNumber kind;
  const double *number;
  int system;  /* index of its system; z: of the first one whose z it is in. -1: none */
  int systems; /* z: the number of systems whose z it is in */
  bool copied; /* z: an interaction computes with a copy of it, as those between two systems do */
  int first;   /* its relation or law: index of the first interaction that has it; ns_parameter_next has the others. -1: none */
  int i, j;    /* the entry (i, j) of the coefficient; bounds: row i; z of a system: element j */
} NsParameterPlace;

/* Finds a parameter in a linked graph; kind is NS_NUMBER_UNKNOWN for an initial value, and for a number that is not in it. */
NsParameterPlace ns_parameter_place(const NsNsds *nsds, const NsParameter *parameter);

/* The next interaction after number e with the relation or the law of interaction place->first; -1: none. */
int ns_parameter_next(const NsNsds *nsds, const NsParameterPlace *place, int e);

/* Whether a place is in a system, in a relation, in a law. */
static inline bool ns_number_of_system(NsNumber kind) {
  return kind >= NS_NUMBER_A && kind <= NS_NUMBER_FEXT;
}
static inline bool ns_number_of_relation(NsNumber kind) {
  return kind >= NS_NUMBER_C && kind <= NS_NUMBER_K;
}
static inline bool ns_number_of_law(NsNumber kind) {
  return kind >= NS_NUMBER_LOWER && kind <= NS_NUMBER_LAW;
}

/* Whether a parameter is a number of the graph's model or an initial state of it. */
bool ns_parameter_of(const NsParameter *parameter, const NsNsds *graph);

/* Whether a number of a model (NULL: none) is one of a vector z (NULL: there is none) of nz numbers. */
bool ns_number_in(const double *number, const double *z, int nz);

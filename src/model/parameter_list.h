/*
** parameter_list.h
** Lists the parameters by which a run is differentiated, with their names: initial values, vectors z, numbers of objects.
*/
#pragma once

#include "base/arena.h"
#include "model/parameter_place.h"

enum { NS_PARAMETER_NAME = 2 * NS_NAME_SIZE };

/* A list in the making; its memory is the arena's. */
typedef struct NsParameterList {
  NsArena *arena;
  const NsNsds *nsds;
  const char *who; /* begins messages */
  NsParameter *of;
  char (*name)[NS_PARAMETER_NAME];
  int count, room;
  bool *first; /* of each interaction: none before it has its relation; NULL: not known yet */
} NsParameterList;

/* An object of the model as its field table sees it. */
typedef struct NsParameterOwner {
  const NsField *fields;
  void *object;
  const char *name;
  const NsDs *ds; /* the object, if it is a system; else NULL */
  bool law;       /* it is a law */
} NsParameterOwner;

/* A system, a relation or a law, with the name that messages and parameters give it. */
NsParameterOwner ns_parameter_system(NsDs *ds);
NsParameterOwner ns_parameter_relation(const NsNsds *nsds, NsRelation *relation);
NsParameterOwner ns_parameter_law(const NsNsds *nsds, NsLaw *law);

/* Adds a parameter, whose unit is set, under a name. NS_EARG: its number is not finite. NS_ENOMEM. */
NsStatus ns_parameters_add(NsParameterList *list, NsParameter parameter, NsError *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The unit of a number: the power of two above its size, the size of the largest of `all`, or 1. */
double ns_parameter_unit(const double *number, const double *all, int count);

/* Add all initial values, "x0[1]"; all elements of the vectors z, "z[1]" or "ds 1.z[1]". NS_EARG: there is no z. NS_ENOMEM. */
NsStatus ns_parameters_add_x0(NsParameterList *list, NsError *err);
NsStatus ns_parameters_add_z(NsParameterList *list, NsError *err);

/*
** Adds the numbers of a field of an object, "clutch.C[1][2]": all, or the numbers of a row or an element (index[0], from 1) and of a column
** (index[1]); NULL: all. Of a system also x0, q0 and velocity0. NS_EARG, with the reason. NS_ENOMEM.
*/
NsStatus ns_parameters_add_field(NsParameterList *list, const NsParameterOwner *owner, const char *field,
                                 const long long *const index[2], NsError *err);

/*
** Adds one parameter, under a name: the numbers that `numbers` has, each of which changes by its weight. NS_EARG: a number is an
** initial value or of a law. NS_ENOMEM.
*/
NsStatus ns_parameters_add_together(NsParameterList *list, const NsParameterList *numbers, const double *weights,
                                    const char *name, NsError *err);

/*
** paths.h
** A function that is known by its tapes: one path for each way through its branches, each with arrays and native code.
*/
#pragma once

#include <stdbool.h>

#include "ad/jet.h"
#include "ad/tape.h"
#include "ad/tape_source.h"

/* Arguments and paths of one function at most. */
enum { NS_PATHS_ARGS = 40, NS_PATHS_MOST = 64 };

/*
** One way through a function: its tape, whose guards tell where it holds, and native code. `out` has the outputs and the values of
** the guards at the last evaluation. The owner allocates the arrays.
*/
typedef struct NsPath {
  NsTape *tape;
  int inputs, outputs, guards;
  const NsTapeGuard *guard;
  long count; /* number of evaluations for values */
  double *out;
  double *jac;    /* outputs x inputs: the native Jacobian; NULL: none */
  double *jac_in; /* inputs: the point of jac */
  bool jac_known;
  NsTapeValue *native;
  NsTapeJacobian *native_jacobian;
  NsTapeVjp *native_vjp;
  bool pending;     /* native code is in the making; the tape stands in */
  const bool *open; /* native code may be called */
} NsPath;

/*
** A function of arguments that are blocks of inputs, one after the other, and its paths. A path is added where the values leave all
** others. All users share the arrays: they fill, evaluate and read them without interruption.
*/
typedef struct NsPaths {
  int nargs, inputs, outputs, paths;
  int offset[NS_PATHS_ARGS];    /* index of each argument's first input */
  int size[NS_PATHS_ARGS];      /* number of each argument's inputs */
  bool moves[NS_PATHS_ARGS];    /* whether some output may depend on the argument */
  bool constant[NS_PATHS_ARGS]; /* whether the derivatives with respect to the argument are constant */
  bool touched;                 /* the inputs of the last argument may differ from 0 */
  NsPath *path;                 /* the last one taken; NULL: there is none yet */
  NsPath *alone;                /* the only one, without guards; NULL: there may be others */
  NsPath *list[NS_PATHS_MOST];  /* all */
  double *in;                   /* inputs */
  const double *out;            /* outputs of the last evaluation */
  double *direction;            /* inputs: all 0 */
  double *known_in;             /* inputs: the point for which `path` was found, if it has guards and known is set */
  bool known;
  bool closed, failed; /* closed: no path is added any more; failed: the owner keeps an error of the last growth */
  bool (*grow)(struct NsPaths *fn, const double *in); /* adds the path at `in`; false: that failed */
  void (*adopt)(struct NsPaths *fn, NsPath *path,
                const double *in); /* takes native code that was made meanwhile, if it is ready */
} NsPaths;

/* Appends an argument of `size` inputs, before there is a path. */
void ns_paths_argument(NsPaths *fn, int size);

/* Sets the arrays for inputs: `room` has ns_paths_room(fn) numbers, all 0. */
size_t ns_paths_room(const NsPaths *fn);
void ns_paths_arrays(NsPaths *fn, double *room);

/* Sets the sizes of a path from its closed tape; `out`, with a number for each output and guard, is allocated afterwards. */
void ns_path_measure(NsPath *path);

/*
** Whether native code has the bits of the tape at `in`: values and guards, and the Jacobian where it is finite. `room` has
** ns_path_compare_room numbers.
*/
size_t ns_path_compare_room(const NsPath *path);
bool ns_path_native_agrees(const NsPath *path, const double *in, double *room);

/* Adds a measured path, with the same outputs as the others, and takes it. */
void ns_paths_add(NsPaths *fn, NsPath *path);

/* Removes all paths from `count` on. */
void ns_paths_cut(NsPaths *fn, int count);

/* Sets the inputs of the last argument to 0; call it when `touched`. */
void ns_paths_clear_last(NsPaths *fn);

/* The address in fn->in of the first input of an argument (from 0). */
double *ns_paths_input(NsPaths *fn, int arg);

/* The path at `in`, which is made where it is unknown; NULL: that failed. */
NsPath *ns_paths_at(NsPaths *fn, const double *in);

/* Whether the path at `in` is known. */
bool ns_paths_knows(NsPaths *fn, const double *in);

/*
** out (NULL: fn->out) = the values at fn->in; ns_paths_value_at: at `in`, without changing fn->in. `grow` is called where a new path
** begins. False: that failed. The values are nan then, and when the function is closed.
*/
bool ns_paths_value(NsPaths *fn, double *out);
bool ns_paths_value_at(NsPaths *fn, const double *in, double *out);

/* Whether the values at fn->in are the function's, `plain`, up to the rounding of what the tape computes in another order. */
bool ns_paths_agrees(NsPaths *fn, const double *plain);

/* jac = the Jacobian by an argument at fn->in: column-major, a row for each value. Returns whether it is finite. */
bool ns_paths_jacobian(NsPaths *fn, int arg, double *jac);

/* The same by the inputs first .. first + count - 1, of whatever arguments. */
bool ns_paths_jacobian_of(NsPaths *fn, int first, int count, double *jac);

/* Evaluates the whole native Jacobian at `in`, unless path->jac has it: callers ask for one argument after the other. */
void ns_path_find_jacobian(NsPath *path, const double *in);

/* Whether this Jacobian is known without an evaluation, wherever fn->in is. */
bool ns_paths_jacobian_known(const NsPaths *fn, int arg);

/* bar (inputs) = the derivatives of the sum of weight[i] times value i by all inputs, at `in`. Returns whether it is finite. */
bool ns_paths_vjp(NsPaths *fn, const double *in, const double *weight, double *bar);

/*
** first, second = the derivatives along a line, as NsFunction's: the number `time` (an argument; -1: none) moves by tdot, the
** vector `arg` by w (NULL: not at all). False when one is not finite.
*/
bool ns_paths_along(NsPaths *fn, int time, double tdot, int arg, const double *w, double *first, double *second);

/*
** all (outputs x jet) = the jets of the values at the last inputs of `path`, which are `in`: input `time` (-1: none) moves by tdot, n
** inputs from `first` on have the jets `seed`. `room` has ns_path_jet_room numbers. Returns the first entry that is not finite; -1.
*/
size_t ns_path_jet_room(const NsPath *path, NsJet jet);
ptrdiff_t ns_path_jets(const NsPath *path, const double *in, int time, double tdot, int first, int n, NsJet jet,
                       const double *seed, double *room, double *all);

/* Whether the path that was taken last takes sums that a library takes in another order in the plain function. */
bool ns_paths_is_loose(const NsPaths *fn);

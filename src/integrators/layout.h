/*
** layout.h
** All systems and interactions of a graph, with stacked vectors. For schemes that eliminate the unknowns of the systems. A
** system has n unknowns (states, or velocities), N in all; an interaction has m multipliers, M in all.
*/
#pragma once

#include "integrators/edges.h"
#include "integrators/scheme.h"
#include "model/mechanical_ds.h"

/* Systems that share one matrix W. Their unknowns are contiguous. */
typedef struct NsBlock {
  int offset, n, first; /* offset of its unknowns; number of unknowns; its first system */
  double *W;            /* n x n */
  NsLu *lu;
  uint64_t key;         /* of the data that W was formed from; 0: W must be formed */
  bool factored, fresh; /* fresh: factored in this linearisation */
  NsEdges edges;        /* interactions with a system of the block */
} NsBlock;

/* A system. */
typedef struct NsNode {
  NsDs *ds;
  int x, nx;        /* offset and number of its coordinates (the argument of relations), in vectors of length Nx */
  int v, n;         /* offset and number of its unknowns, in vectors of length N */
  int number, next; /* number of its block; next system of that block, or -1 */
  NsBlock *block;
} NsNode;

/* One system of an interaction. */
typedef struct NsPart {
  int node, at;    /* at: offset of its coordinates in the interaction's x */
  double *H;       /* m x n: velocities of the outputs = sum of H (unknowns) over the parts */
  const double *L; /* m x n: H in the one-step problem; H itself, or H plus terms of second derivatives (curve.c) */
  const double *G; /* m x n: G' maps multipliers to forces on the system */
} NsPart;

/* An interaction. */
typedef struct NsEdge {
  NsInteraction *inter;
  int m, row;        /* row: index of its first multiplier among all M */
  int active, rows;  /* active: its first row in the one-step problem, -1: none; rows: how many it has there */
  int height;        /* entries in each of its columns of a sparse matrix of the problem */
  double weight;     /* impulse = weight * multiplier */
  double weight_out; /* factor of its rows of the problem's matrix */
  double weight_in;  /* factor of its columns of the problem's matrix */
  double *x;         /* nx: its argument, gathered; NULL: the argument is contiguous in the stacked vector */
  bool unilateral;   /* its contacts take part only while they are closed */
  int nparts, ntouched;
  NsPart parts[NS_INTERACTION_SYSTEMS];
  NsBlock *touched[NS_INTERACTION_SYSTEMS];
  double *X[NS_INTERACTION_SYSTEMS]; /* (n of the block) x m: W^-1 G', one per block */
  double *D;                         /* m x m; NULL: zero */
} NsEdge;

typedef struct NsLayout {
  NsNsds *nsds;
  int nnodes, nedges, nblocks; /* numbers when the layout was made: the graph may grow later */
  int Nx, N, M;
  double part; /* mechanics: the part of a step of the grid that the present step is (ns_step_part) */
  NsNode **nodes;
  NsEdge **edges;
  NsBlock **blocks;
} NsLayout;

/*
** Arrays for nodes, edges and blocks. Each scheme has structs of its own that begin with NsNode, NsEdge and NsBlock; of_* is
** the size of such a struct in bytes.
*/
typedef struct NsLayoutRoom {
  void *nodes, *edges, *blocks;
  size_t of_node, of_edge, of_block;
  bool bare; /* W and lu of the blocks are not used and stay NULL */
} NsLayoutRoom;

/*
** Lays out the graph. number[i] is the block of system i; blocks are numbered from 0 in the order of their first systems. NULL:
** one block per system. Within a block systems keep the order of the graph. Takes memory for W and X, not for parts and D. When
** memory runs out the arena has failed. ns_layout_free frees what is not in the arena, also after a failure.
*/
void ns_layout_make(NsLayout *s, NsArena *arena, NsNsds *nsds, const NsLayoutRoom *room, const int *number, int nblocks);
void ns_layout_free(NsLayout *s);

/* ns_layout_gather for an interaction of several systems. */
const double *ns_layout_gather_parts(const NsLayout *s, const NsEdge *edge, const double *stacked);

/* The interaction's coordinates, gathered from a vector of length Nx. */
static inline const double *ns_layout_gather(const NsLayout *s, const NsEdge *edge, const double *stacked) {
  return edge->nparts == 1 ? stacked + s->nodes[edge->parts[0].node]->x : ns_layout_gather_parts(s, edge, stacked);
}

/* out (m) = H v, or L v when `linearised`, summed over the systems of the interaction; v has length N. */
void ns_layout_times(const NsLayout *s, const NsEdge *edge, bool linearised, const double *v, double *out);

/* The part of the interaction that belongs to a system. */
const NsPart *ns_layout_part(const NsEdge *edge, int node);

/* Updates the coefficients of all systems to time t. */
NsStatus ns_layout_update(const NsLayout *s, double t, NsError *err);

/* ---- W ---- */

/* Factors W of a block; `what` is its formula in messages. NS_ESINGULAR naming system and row, NS_ENAN naming the system. */
NsStatus ns_layout_factor(NsLayout *s, NsScheme *scheme, NsBlock *block, const double *W, const char *what, double h,
                          NsError *err);

/* x (N) becomes W^-1 x, block by block. */
void ns_layout_solve(const NsLayout *s, double *x);

/* Mechanics: X = W^-1 G' of part p, with zero rows for prescribed velocities. */
void ns_layout_solve_part(const NsLayout *s, NsEdge *edge, int p);

/* A contact of the one-step problem; unit: the speed of its slip for 1 of a tangent's w. */
NsMixedGroup ns_layout_contact(const NsLaw *law, const NsLawGroup *group, double unit);

/* ---- the one-step problem of a mechanical scheme: L W^-1 G' + D of the active interactions ---- */

/*
** Decides which interactions take part: all that are not unilateral, and unilateral ones with a contact that is `shut` (M
** flags; a joint law reads the flag of its first row; NULL: all are shut). Fills groups, interaction and guess (the last
** multipliers), n and ngroups of p, and `active` and `rows` of the edges. Returns true when the choice changed.
*/
bool ns_layout_take_part(NsLayout *s, const bool *shut, NsStepProblem *p, NsMixedGroup *groups, int *interaction,
                         double *guess);

/* Forms the matrix of p in `dense` (up to NS_MIXED_DENSE_ROWS rows) or in *sparse. `what` names the problem in messages. */
NsStatus ns_layout_form_matrix(const NsLayout *s, double *dense, NsSparse **sparse, NsStepProblem *p, const char *what,
                               NsError *err);

/* terms (n) = |q| + |W| |guess|: the sizes of the terms of the outputs, as the solver measures them. */
void ns_layout_problem_terms(const NsStepProblem *p, double *terms);

/* ---- an iterate ---- */

/* The unknowns (N) and the multipliers (M) of an iterate. */
typedef struct NsIterate {
  double *x, *lambda;
} NsIterate;

/*
** to = from + fraction * (solution of the one-step problem - from), with dx = free_step + sum of weight X solution. dx (N) is
** workspace. Writes the multipliers to guess, too. Subnormal numbers become 0.
*/
void ns_layout_advance(const NsLayout *s, const double *solution, double fraction, const double *free_step,
                       const NsIterate *from, const NsIterate *to, double *guess, double *dx);

/* x, or 0 when x is subnormal: arithmetic with subnormal numbers takes about a hundred times as long. */
double ns_layout_flushed(double x);

/* NS_ENAN when an unknown is not finite; err names the first. Messages call the unknowns `letter`. */
NsStatus ns_layout_finite(const NsLayout *s, const char *letter, const double *x, NsError *err);

/* ---- the test of an iterate: see step_residual.h ---- */

/* The terms of the test, N numbers each. */
typedef struct NsLayoutTerms {
  const double *rho, *terms, *noise, *scale;
  double *delta, *work; /* output: W^-1 rho; workspace */
} NsLayoutTerms;

/* moved (N) += sum over the multipliers of |weight W^-1 G' lambda|. */
void ns_layout_add_moved(const NsLayout *s, const double *lambda, double *moved);

/* Mechanics: terms (N) += sum over the multipliers of |weight G' lambda|. */
void ns_layout_add_impulses(const NsLayout *s, const double *lambda, double *terms);

void ns_layout_state_residual(const NsLayout *s, const NsLayoutTerms *terms, double atol, NsStepResidual *residual);

/* The residual of the rows; for schemes in which every row has a derivative. */
void ns_layout_row_residual(const NsLayout *s, const NsLayoutTerms *terms, NsStepResidual *residual);

/* ---- acceptance ---- */

/* Writes y, lambda and (u not NULL) the velocities of y of every interaction; M numbers each. */
void ns_layout_write(const NsLayout *s, const double *y, const double *u, const double *lambda);

/*
** open (M) = the rows that took no part in a step: the rows of contacts that are not shut (M), all rows of a joint law with the first one.
** to (M) = lambda, and 0 for those rows.
*/
void ns_layout_read_rows(const NsLayout *s, const bool *shut, const double *lambda, double *to, bool *open);

/*
** stack.h
** The systems and interactions of a graph in one stack: what schemes that eliminate the unknowns share. Every system has its unknowns
** (the states, or the velocities), n of all N; every interaction its multipliers, m of all M.
*/
#ifndef NS_INTEGRATORS_STACK_H
#define NS_INTEGRATORS_STACK_H

#include "integrators/edges.h"
#include "integrators/scheme.h"
#include "model/mechanical_ds.h"

/* Systems that share a matrix W. Their unknowns are contiguous. */
typedef struct NsBlock {
  int offset, n, first; /* first: its first system */
  double *W;            /* n x n */
  NsLu *lu;
  uint64_t key;         /* what W was formed from; 0: nothing that holds */
  bool factored, fresh; /* fresh: in this linearisation */
  NsEdges edges;        /* the interactions that touch it */
} NsBlock;

/* A system. */
typedef struct NsNode {
  NsDs *ds;
  int x, nx;        /* offset and number of its coordinates, what relations see, in vectors of all Nx */
  int v, n;         /* those of its unknowns */
  int number, next; /* of its block; the next system of that, or -1 */
  NsBlock *block;
} NsNode;

/* One system within an interaction. */
typedef struct NsPart {
  int node, at;    /* at: offset of its coordinates in the interaction's x */
  double *H;       /* m x n: what the unknowns do to the velocities of the outputs */
  const double *L; /* the same as it is in the one-step problem: H, or H with what its own change adds */
  const double *G; /* m x n: its transpose is what the multipliers act by */
} NsPart;

/* An interaction. */
typedef struct NsEdge {
  NsInteraction *inter;
  int m, row;       /* row: of its first multiplier among all M */
  int active, rows; /* active: its first row in the one-step problem, -1: it does not take part; how many rows do */
  double weight;    /* what a multiplier is multiplied with to be an impulse */
  double
      weight_out; /* of its rows of the problem's matrix: what a change of the unknowns is multiplied with in the law's output */
  double weight_in; /* of its columns: what a multiplier is multiplied with */
  double *x;        /* nx: its argument, gathered; NULL when the stack serves as it is */
  bool unilateral;  /* contacts, which take part only while they are closed */
  int nparts, ntouched;
  NsPart parts[2];
  NsBlock *touched[2];
  double *X[2]; /* n of the block x m: W^-1 G', per block that it touches */
  double *D;    /* m x m, NULL: none */
} NsEdge;

typedef struct NsStack {
  NsNsds *nsds;
  int nnodes, nedges, nblocks; /* as many as were made: the graph may grow after that */
  int Nx, N, M;
  NsNode **nodes;
  NsEdge **edges;
  NsBlock **blocks;
} NsStack;

/* Where the schemes keep nodes, edges and blocks: the first members of their own structs, in arrays with that many bytes for each. */
typedef struct NsStackRoom {
  void *nodes, *edges, *blocks;
  size_t of_node, of_edge, of_block;
  bool bare; /* the scheme needs no W and no factors: W and lu of blocks are NULL */
} NsStackRoom;

/*
** Lays out the graph: systems in its order within blocks. number[i] is the block of system i, numbers from 0 in the order of
** first members; NULL: each has its own. W, X and its factors are taken, parts and D are not. When there is no memory the arena
** has failed. ns_stack_free frees what is not in the arena, of a stack that was begun, too.
*/
void ns_stack_lay_out(NsStack *s, NsArena *arena, NsNsds *nsds, const NsStackRoom *room, const int *number, int nblocks);
void ns_stack_free(NsStack *s);

/* Takes n doubles for each of the vectors. */
void ns_stack_vectors(NsArena *arena, ptrdiff_t n, double **const *vectors, size_t count);
#define NS_STACK_VECTORS(arena, n, ...)                                                                                        \
  ns_stack_vectors(arena, n, (double **[]){__VA_ARGS__}, sizeof((double **[]){__VA_ARGS__}) / sizeof(double **))

/* The interaction's coordinates, out of a vector of Nx. */
const double *ns_stack_gather(const NsStack *s, const NsEdge *edge, const double *stacked);

/* out (m) = H v, or, linearised, L v, over the interaction's systems; v of N. */
void ns_stack_times(const NsStack *s, const NsEdge *edge, bool linearised, const double *v, double *out);

/* The part of an interaction that is of a system. */
const NsPart *ns_stack_part(const NsEdge *edge, int node);

/* Brings the coefficients of all systems to a time. */
NsStatus ns_stack_update(const NsStack *s, double t, NsError *err);

/* ---- W ---- */

/*
** Factors W of a block, whose formula is `what` in messages. NS_ESINGULAR names the system and its row, NS_ENAN the system.
** The scheme counts it.
*/
NsStatus ns_stack_factor(NsStack *s, NsScheme *scheme, NsBlock *block, const double *W, const char *what, double h,
                         NsError *err);

/* Solves for each block: x (N) becomes W^-1 x. */
void ns_stack_solve(const NsStack *s, double *x);

/* X = W^-1 G' of part p, in mechanics, where prescribed velocities do not move. */
void ns_stack_solve_part(const NsStack *s, NsEdge *edge, int p);

/* ---- the one-step problem of a mechanical scheme: L W^-1 G' of the edges that take part, and D ---- */

/*
** Which interactions take part, and their groups of rows: those that are not unilateral, and contacts that are `shut` (M flags; of
** a joint law, that of its first row; NULL: all are). Fills groups, interaction (that of each row) and guess (the last
** multipliers), which are those of the problem, its n and ngroups, and `active` and `rows` of the edges. True when others take
** part than before.
*/
bool ns_stack_take_part(NsStack *s, const bool *shut, NsStepProblem *p, NsMixedGroup *groups, int *interaction, double *guess);

/* Its matrix, into `dense` (of at most NS_MIXED_DENSE_ROWS rows), or *sparse; p->n rows. `what`: which problem it is. */
NsStatus ns_stack_form_matrix(const NsStack *s, double *dense, NsSparse **sparse, NsStepProblem *p, const char *what,
                              NsError *err);

/* The sizes of the terms of its outputs, |q| + |W| |guess|, as its solver measures them. */
void ns_stack_problem_terms(const NsStepProblem *p, double *terms);

/* ---- an iterate ---- */

/* The unknowns (N) and the multipliers (M) of an iterate. */
typedef struct NsIterate {
  double *x, *lambda;
} NsIterate;

/*
** to = from + fraction of the way to the solution of the one-step problem: dx = free_step + sum of weight X solution. dx (N) is
** room; the multipliers go into the guess, too. Numbers so small that arithmetic is slow with them (subnormal) become 0.
*/
void ns_stack_advance(const NsStack *s, const double *solution, double fraction, const double *free_step, const NsIterate *from,
                      const NsIterate *to, double *guess, double *dx);

/* x, or 0 when it is subnormal: such numbers carry no information here and cost a hundred times the time of others. */
double ns_stack_flushed(double x);

/* NS_ENAN with the first of the unknowns that is not finite, which are called by that letter. */
NsStatus ns_stack_finite(const NsStack *s, const char *letter, const double *x, NsError *err);

/* ---- the test of an iterate: see step_residual.h ---- */

/* What it is made of, N numbers each. */
typedef struct NsStackTerms {
  const double *rho, *terms, *noise, *scale;
  double *delta, *work; /* written: W^-1 rho; room */
} NsStackTerms;

/* moved (N) += the sizes of what each multiplier makes of the unknowns. */
void ns_stack_add_moved(const NsStack *s, const double *lambda, double *moved);

/* terms (N) += the sizes of what each multiplier adds to the rows of mechanical equations. */
void ns_stack_add_impulses(const NsStack *s, const double *lambda, double *terms);

void ns_stack_state_residual(const NsStack *s, const NsStackTerms *terms, double atol, NsStepResidual *residual);

/* The rows of the equations, which all have derivatives in them. */
void ns_stack_row_residual(const NsStack *s, const NsStackTerms *terms, NsStepResidual *residual);

/* ---- acceptance ---- */

/* Writes y, lambda and, unless u is NULL, the velocities of y of every interaction (M each). */
void ns_stack_write(const NsStack *s, const double *y, const double *u, const double *lambda);

#endif

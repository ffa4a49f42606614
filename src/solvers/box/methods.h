/*
** methods.h
** The methods for box problems, and their chains. What a method does, and what its modes are, stands at its definition.
*/
#pragma once

#include "solvers/chain.h"

/* X(name): the methods for dense problems, ns_box_NAME, in the order of their names in messages. */
#define NS_BOX_METHOD_LIST(X)                                                                                                  \
  X(active_set)   /* principal pivots from the guess, all wrong components at once */                                          \
  X(guess)        /* the guess */                                                                                              \
  X(lemke)        /* paths of Lemke */                                                                                         \
  X(pgs)          /* Gauss-Seidel */                                                                                           \
  X(enumerate)    /* all active sets */                                                                                        \
  X(principal)    /* principal pivots one by one */                                                                            \
  X(newton_min)   /* semismooth Newton on the natural map */                                                                   \
  X(newton_fb)    /* and on the Fischer-Burmeister function */                                                                 \
  X(interior)     /* interior points */                                                                                        \
  X(predict)      /* the active set after a few sweeps */                                                                      \
  X(lemke_howson) /* games */                                                                                                  \
  X(proximal)     /* the proximal point method */                                                                              \
  X(banded)       /* block principal pivots on a band */                                                                       \
  X(branch)       /* branch and bound */                                                                                       \
  X(cascade)      /* strong components, one after the other */

#define X(name) extern const NsMethod ns_box_##name;
NS_BOX_METHOD_LIST(X)
#undef X

/* Methods for sparse problems; Newton's method and interior points take these too. */
extern const NsMethod ns_sparse_sets, ns_sparse_sweeps, ns_sparse_gradients, ns_sparse_proximal;

/*
** Modes other than 0. NS_LEMKE_FIRST: only the first path; NS_LEMKE_OTHERS: all others; NS_LEMKE_COVERS: short ones with many covering
** vectors. NS_BRANCH_LONG: with more work than a first attempt.
*/
enum {
  NS_SWEEPS_FEW = 1,
  NS_BANDED_SHORT = 1,
  NS_LEMKE_FIRST = 1,
  NS_LEMKE_OTHERS = 2,
  NS_LEMKE_COVERS = 3,
  NS_BRANCH_LONG = 1
};

/*
** NS_BRANCH_MOST: largest number of variables for branch and bound. NS_SPARSE_LARGE: number from which interior points follow after few sets;
** they take as many steps for any size.
*/
enum { NS_BRANCH_MOST = 300, NS_SPARSE_LARGE = 500 };

/* The chain for dense data as given (it commutes with scaling by powers of two); the chain for balanced data. */
extern const NsChainStep ns_box_chain_given[], ns_box_chain_balanced[];

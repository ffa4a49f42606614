/*
** dense_chain.h
** The methods for dense box problems, and the order in which they are tried.
*/
#pragma once

#include "solvers/chain.h"

/* The chain for the data as given (it commutes with scaling by powers of two); the chain for balanced data. */
extern const NsChainStep ns_box_chain_given[], ns_box_chain_balanced[];

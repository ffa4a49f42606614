/*
** components.h
** The connected components of the graph of systems and interactions.
*/
#pragma once

#include "model/nsds.h"

/*
** Writes to of[d] the number of the component that contains system d (nds elements). Two systems are in one component when a
** chain of interactions joins them. Components are numbered from 0, in the order of their first systems. Returns their count.
*/
int ns_nsds_components(const NsNsds *nsds, int *of);

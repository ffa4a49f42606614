/*
** components.h
** The connected components of the graph of systems and interactions.
*/
#ifndef NS_MODEL_COMPONENTS_H
#define NS_MODEL_COMPONENTS_H

#include "model/nsds.h"

/*
** Two systems are in one component when a chain of interactions joins them. of[d] (nds elements) becomes the number of
** the component of system d; components are numbered from 0 in the order of their first systems. Returns their number.
*/
int ns_nsds_components(const NsNsds *nsds, int *of);

#endif

/*
** components.c
** Connected components by union-find.
*/
#include "model/components.h"

#include "base/forest.h"

int ns_nsds_components(const NsNsds *nsds, int *of) {
  for (int d = 0; d < nsds->nds; d++) of[d] = d;
  for (int e = 0; e < nsds->ninteractions; e++) {
    const NsInteraction *inter = nsds->interactions[e];
    for (int p = 1; p < inter->nds; p++) ns_forest_join(of, inter->ds[0]->index, inter->ds[p]->index);
  }
  return ns_forest_number(of, nsds->nds, of);
}

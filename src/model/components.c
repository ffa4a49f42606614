/*
** components.c
** Connected components by union and find (Tarjan, Efficiency of a good but not linear set union algorithm, JACM 22, 1975).
*/
#include "model/components.h"

/* The first system of d's component; halves the path that it walks. */
static int component_root(int *parent, int d) {
  while (parent[d] != d) d = parent[d] = parent[parent[d]];
  return d;
}

/* The smaller number becomes the root, so that the root of a component is its first system. */
static void component_join(int *parent, int a, int b) {
  a = component_root(parent, a);
  b = component_root(parent, b);
  if (a < b) parent[b] = a;
  else parent[a] = b;
}

int ns_nsds_components(const NsNsds *nsds, int *of) {
  int count = 0;
  for (int d = 0; d < nsds->nds; d++) of[d] = d;
  for (int e = 0; e < nsds->ninteractions; e++) {
    const NsInteraction *inter = nsds->interactions[e];
    if (inter->nds == 2) component_join(of, inter->ds[0]->index, inter->ds[1]->index);
  }
  for (int d = 0; d < nsds->nds; d++) of[d] = component_root(of, d);
  for (int d = 0; d < nsds->nds; d++) of[d] = of[d] == d ? count++ : of[of[d]];
  return count;
}

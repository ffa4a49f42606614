/*
** forest.c
** Union-find with path halving.
*/
#include "base/forest.h"

int ns_forest_root(int *parent, int i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

bool ns_forest_join(int *parent, int i, int j) {
  int a = ns_forest_root(parent, i), b = ns_forest_root(parent, j);
  if (a < b) parent[b] = a;
  else parent[a] = b;
  return a != b;
}

int ns_forest_number(int *parent, int n, int *of) {
  int count = 0;
  for (int i = 0; i < n; i++) parent[i] = ns_forest_root(parent, i);
  for (int i = 0; i < n; i++) of[i] = parent[i] == i ? count++ : of[parent[i]];
  return count;
}

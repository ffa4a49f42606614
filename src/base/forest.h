/*
** forest.h
** Union-find: disjoint sets of n things.
*/
#pragma once

#include <stdbool.h>

/*
** A set is a tree: parent[i] is the parent of i, and a root is its own parent. The root of a set is its smallest member.
** The caller starts with parent[i] = i. Tarjan, J. ACM 22, 1975.
*/

/* The root of i's set; shortens the path to it (path halving). */
int ns_forest_root(int *parent, int i);

/* Joins the sets of i and j; true when they were different sets. */
bool ns_forest_join(int *parent, int i, int j);

/* Numbers the sets from 0 in the order of their roots; of[i] = number of i's set. `of` may be `parent`. Returns their count. */
int ns_forest_number(int *parent, int n, int *of);

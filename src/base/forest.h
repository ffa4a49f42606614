/*
** forest.h
** Union and find: which of n things belong together.
*/
#ifndef NS_BASE_FOREST_H
#define NS_BASE_FOREST_H

#include <stdbool.h>

/*
** parent[i] is the thing that i hangs on; a thing that hangs on itself is a root, and a tree is a set. It begins with every
** thing a root. The root of a set is its smallest member. Tarjan, J. ACM 22, 1975.
*/

/* The root of i's set; every thing on the way is hung one level higher. */
int ns_forest_root(int *parent, int i);

/* Makes the sets of i and j one; true when they were two. */
bool ns_forest_join(int *parent, int i, int j);

/* Numbers the sets from 0 in the order of their roots: of[i] is that of i; `of` may be `parent`. Returns how many there are. */
int ns_forest_number(int *parent, int n, int *of);

#endif

/*
** arena.h
** Many arrays, one owner: taken one by one while an object is built, released at once.
*/
#ifndef NS_BASE_ARENA_H
#define NS_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

typedef struct NsArenaChunk NsArenaChunk;

/*
** An arena of zeroed blocks, aligned for any type. `failed` is sticky: a constructor takes all that it
** needs and looks at it once. A zero-initialised arena is empty and valid; blocks never move.
*/
typedef struct NsArena {
  NsArenaChunk *chunks;
  bool failed;
} NsArena;

/* count * size zeroed bytes; NULL, and failed set, when there is no memory. An empty block is not NULL. */
void *ns_arena_take(NsArena *arena, size_t count, size_t size);

/* n doubles, all zero. n < 0 counts as a failure. */
double *ns_arena_doubles(NsArena *arena, ptrdiff_t n);

/* rows * cols doubles, all zero, the product checked. */
double *ns_arena_matrix(NsArena *arena, ptrdiff_t rows, ptrdiff_t cols);

/* n ints, all zero. */
int *ns_arena_ints(NsArena *arena, ptrdiff_t n);

/* Frees every block; the arena is empty and usable again. */
void ns_arena_release(NsArena *arena);

#endif

/*
** arena.h
** Many arrays with one owner: they are allocated one by one while an object is built, and freed all at once.
*/
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct NsArenaChunk NsArenaChunk;

/*
** An arena of zeroed blocks, aligned for any type. `failed` stays set after a failure, so a constructor makes all its arrays
** and tests it once. A zero-initialised arena is empty and valid; blocks never move.
*/
typedef struct NsArena {
  NsArenaChunk *chunks;
  bool failed;
} NsArena;

/* count * size zeroed bytes; an empty block is not NULL. NULL, and `failed` set, when there is no memory. */
void *ns_arena_take(NsArena *arena, size_t count, size_t size);

/* n doubles, all zero. n < 0 is a failure. */
double *ns_arena_doubles(NsArena *arena, ptrdiff_t n);

/* rows * cols doubles, all zero; an overflow of the product is a failure. */
double *ns_arena_matrix(NsArena *arena, ptrdiff_t rows, ptrdiff_t cols);

/* n ints, all zero. */
int *ns_arena_ints(NsArena *arena, ptrdiff_t n);

/* NS_ARENA_VECTORS(arena, n, &a, &b, ...): n doubles, all zero, for each of these pointers; NS_ARENA_INTS: n ints. */
void ns_arena_vectors(NsArena *arena, ptrdiff_t n, double **const *places, size_t count);
void ns_arena_int_vectors(NsArena *arena, ptrdiff_t n, int **const *places, size_t count);
#define NS_ARENA_VECTORS(arena, n, ...)                                                                                        \
  ns_arena_vectors(arena, n, (double **[]){__VA_ARGS__}, sizeof((double **[]){__VA_ARGS__}) / sizeof(double **))
#define NS_ARENA_INTS(arena, n, ...)                                                                                           \
  ns_arena_int_vectors(arena, n, (int **[]){__VA_ARGS__}, sizeof((int **[]){__VA_ARGS__}) / sizeof(int **))

/* Frees every block; the arena is empty and usable again. */
void ns_arena_release(NsArena *arena);

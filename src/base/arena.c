/*
** arena.c
** A list of chunks. A new chunk is at least as large as the block for which it is made.
*/
#include "base/arena.h"

#include <stdint.h>

#include "base/memory.h"

/*
** Bytes. ALIGNMENT of a block: a cache line. FIRST_BYTES: the smallest first chunk, since many arenas hold a few short vectors;
** CHUNK_BYTES: the smallest later chunk. Both sizes are chosen by experience.
*/
enum { ALIGNMENT = 64, FIRST_BYTES = 768, CHUNK_BYTES = 4096 };

/* Blocks begin at multiples of ALIGNMENT: at `begin`, and wherever the last one ends, rounded up. */
struct NsArenaChunk {
  NsArenaChunk *next;
  char *begin;
  size_t size, used; /* bytes from `begin` on */
  char data[];
};

static size_t aligned(size_t bytes) {
  return (bytes + (ALIGNMENT - 1)) & ~(size_t)(ALIGNMENT - 1);
}

static NsArenaChunk *add_chunk(NsArena *arena, size_t bytes) {
  size_t least = arena->chunks ? CHUNK_BYTES : FIRST_BYTES, size = bytes < least ? least : bytes;
  if (size > PTRDIFF_MAX - sizeof(NsArenaChunk) - ALIGNMENT) return NULL;
  NsArenaChunk *chunk = ns_alloc(1, sizeof *chunk + size + ALIGNMENT);
  if (!chunk) return NULL;
  size_t before = (size_t)(-(uintptr_t)chunk->data % ALIGNMENT);
  chunk->begin = chunk->data + before;
  chunk->size = size + ALIGNMENT - before;
  chunk->next = arena->chunks;
  arena->chunks = chunk;
  return chunk;
}

static void *arena_fail(NsArena *arena) {
  arena->failed = true;
  return NULL;
}

static inline void *arena_block(NsArena *arena, size_t bytes) {
  NsArenaChunk *chunk = arena->chunks;
  if (!chunk || chunk->used > chunk->size || bytes > chunk->size - chunk->used) chunk = add_chunk(arena, bytes);
  if (!chunk) return arena_fail(arena);
  void *block = chunk->begin + chunk->used;
  chunk->used = aligned(chunk->used + bytes);
  return block;
}

/* Whether count blocks of `size` bytes fit into memory; divides only where one of the numbers is large. */
static inline bool product_fits(size_t count, size_t size) {
  const size_t half = SIZE_MAX >> (4 * sizeof(size_t) + 1);
  return (count | size) <= half || size == 0 || count <= PTRDIFF_MAX / size;
}

void *ns_arena_take(NsArena *arena, size_t count, size_t size) {
  return product_fits(count, size) ? arena_block(arena, count * size) : arena_fail(arena);
}

/* n blocks of `size` bytes for arrays of lengths that may be negative. */
static inline void *arena_array(NsArena *arena, ptrdiff_t n, size_t size) {
  return n < 0 ? arena_fail(arena) : ns_arena_take(arena, (size_t)n, size);
}

double *ns_arena_doubles(NsArena *arena, ptrdiff_t n) {
  return arena_array(arena, n, sizeof(double));
}

double *ns_arena_matrix(NsArena *arena, ptrdiff_t rows, ptrdiff_t cols) {
  if (rows < 0 || cols < 0 || !product_fits((size_t)cols, (size_t)rows)) return arena_fail(arena);
  return ns_arena_take(arena, (size_t)(rows * cols), sizeof(double));
}

int *ns_arena_ints(NsArena *arena, ptrdiff_t n) {
  return arena_array(arena, n, sizeof(int));
}

void ns_arena_vectors(NsArena *arena, ptrdiff_t n, double **const *places, size_t count) {
  for (size_t i = 0; i < count; i++) *places[i] = arena_array(arena, n, sizeof(double));
}

void ns_arena_int_vectors(NsArena *arena, ptrdiff_t n, int **const *places, size_t count) {
  for (size_t i = 0; i < count; i++) *places[i] = arena_array(arena, n, sizeof(int));
}

void ns_arena_release(NsArena *arena) {
  NsArenaChunk *chunk = arena->chunks;
  while (chunk) {
    NsArenaChunk *next = chunk->next;
    ns_free(chunk);
    chunk = next;
  }
  *arena = (NsArena){0};
}

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

struct NsArenaChunk {
  NsArenaChunk *next;
  size_t size, used; /* bytes after the header */
  _Alignas(16) char data[];
};

static size_t padding(const NsArenaChunk *chunk) {
  uintptr_t at = (uintptr_t)(chunk->data + chunk->used);
  return (size_t)(-at % ALIGNMENT);
}

static bool arena_fits(const NsArenaChunk *chunk, size_t bytes) {
  size_t left = chunk->size - chunk->used, pad = padding(chunk);
  return pad <= left && bytes <= left - pad;
}

static NsArenaChunk *add_chunk(NsArena *arena, size_t bytes) {
  size_t least = arena->chunks ? CHUNK_BYTES : FIRST_BYTES, size = bytes < least ? least : bytes;
  if (size > PTRDIFF_MAX - sizeof(NsArenaChunk) - ALIGNMENT) return NULL;
  NsArenaChunk *chunk = ns_alloc(1, sizeof *chunk + size + ALIGNMENT);
  if (!chunk) return NULL;
  chunk->size = size + ALIGNMENT;
  chunk->next = arena->chunks;
  arena->chunks = chunk;
  return chunk;
}

void *ns_arena_take(NsArena *arena, size_t count, size_t size) {
  if (size != 0 && count > PTRDIFF_MAX / size) {
    arena->failed = true;
    return NULL;
  }
  size_t bytes = count * size;
  NsArenaChunk *chunk = arena->chunks;
  if (!chunk || !arena_fits(chunk, bytes)) chunk = add_chunk(arena, bytes);
  if (!chunk) {
    arena->failed = true;
    return NULL;
  }
  chunk->used += padding(chunk);
  void *block = chunk->data + chunk->used;
  chunk->used += bytes;
  return block;
}

double *ns_arena_doubles(NsArena *arena, ptrdiff_t n) {
  return ns_arena_matrix(arena, n, 1);
}

double *ns_arena_matrix(NsArena *arena, ptrdiff_t rows, ptrdiff_t cols) {
  if (rows < 0 || cols < 0 || (cols != 0 && rows > PTRDIFF_MAX / cols)) {
    arena->failed = true;
    return NULL;
  }
  return ns_arena_take(arena, (size_t)(rows * cols), sizeof(double));
}

int *ns_arena_ints(NsArena *arena, ptrdiff_t n) {
  if (n < 0) {
    arena->failed = true;
    return NULL;
  }
  return ns_arena_take(arena, (size_t)n, sizeof(int));
}

void ns_arena_vectors(NsArena *arena, ptrdiff_t n, double **const *places, size_t count) {
  for (size_t i = 0; i < count; i++) *places[i] = ns_arena_doubles(arena, n);
}

void ns_arena_int_vectors(NsArena *arena, ptrdiff_t n, int **const *places, size_t count) {
  for (size_t i = 0; i < count; i++) *places[i] = ns_arena_ints(arena, n);
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

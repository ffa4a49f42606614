/*
** memory.h
** All heap memory of the engine: sizes are checked for overflow, tests can replace the allocator, calls are counted. Plain loops over numbers
** that several rooms need.
*/
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <stdint.h>

/*
** An allocator like lua_Alloc. Size 0 frees `block` and returns NULL. Another size resizes the block (NULL: allocates) and
** returns the new one; on failure it returns NULL and leaves the old block as it was.
*/
typedef void *(*NsAllocator)(void *context, void *block, size_t size);

/* Installs an allocator (NULL: the C library's). Call it only while the engine holds no memory. */
void ns_set_allocator(NsAllocator allocator, void *context);

/* count * size zeroed bytes, at least 1; NULL when out of memory or when the product overflows. */
void *ns_alloc(size_t count, size_t size);

/* Resizes to count * size bytes; new bytes are not zeroed. NULL on failure: `block` stays valid. */
void *ns_resize(void *block, size_t count, size_t size);

/* Frees a block of ns_alloc or ns_resize; NULL is ignored. */
void ns_free(void *block);

/* Number of allocations made so far in this process (ns_alloc and ns_resize). */
uint64_t ns_alloc_count(void);

/* Copies n numbers; one number, as of most interactions, without a call. */
static inline void ns_copy_numbers(double *to, const double *from, int n) {
  if (n == 1) *to = *from;
  else memcpy(to, from, (size_t)n * sizeof *to);
}

/* The sum of the products, one after the other: its bits do not depend on a library. */
static inline double ns_dot_numbers(const double *a, const double *b, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

static inline bool ns_zero_numbers(const double *v, int n) {
  for (int i = 0; i < n; i++)
    if (v[i] != 0) return false;
  return true;
}

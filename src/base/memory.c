/*
** memory.c
** Overflow-checked allocation behind a replaceable allocator.
*/
#include "base/memory.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static void *libc_allocator(void *context, void *block, size_t size) {
  (void)context;
  if (size == 0) {
    free(block);
    return NULL;
  }
  return realloc(block, size);
}

/* must be set before other threads start */
static NsAllocator allocate = libc_allocator;
static void *allocator_context;
static _Atomic uint64_t allocations;

void ns_set_allocator(NsAllocator allocator, void *context) {
  allocate = allocator ? allocator : libc_allocator;
  allocator_context = context;
}

/* count * size, 1 for an empty block, 0 when the product does not fit. */
static size_t block_size(size_t count, size_t size) {
  if (count == 0 || size == 0) return 1;
  if (count > PTRDIFF_MAX / size) return 0;
  return count * size;
}

void *ns_resize(void *block, size_t count, size_t size) {
  size_t bytes = block_size(count, size);
  if (bytes == 0) return NULL;
  atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
  return allocate(allocator_context, block, bytes);
}

void *ns_alloc(size_t count, size_t size) {
  void *block = ns_resize(NULL, count, size);
  if (block) memset(block, 0, block_size(count, size));
  return block;
}

void ns_free(void *block) {
  if (block) (void)allocate(allocator_context, block, 0);
}

uint64_t ns_alloc_count(void) {
  return allocations;
}

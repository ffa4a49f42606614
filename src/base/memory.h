/*
** memory.h
** The engine's one door to the heap: overflow-checked sizes, a hook for tests, a count of calls.
*/
#ifndef NS_BASE_MEMORY_H
#define NS_BASE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/*
** An allocator in the manner of lua_Alloc: size 0 frees `block` and returns NULL; otherwise resizes it
** (NULL: allocates) and returns the new block, or NULL with the old one untouched.
*/
typedef void *(*NsAllocator)(void *context, void *block, size_t size);

/* Installs an allocator (NULL: the C library's). To be called while the engine holds no memory. */
void ns_set_allocator(NsAllocator allocator, void *context);

/* count * size zeroed bytes, at least 1; NULL when out of memory or when the product overflows. */
void *ns_alloc(size_t count, size_t size);

/* Resizes to count * size bytes, the new part not zeroed; NULL on failure, `block` then still valid. */
void *ns_resize(void *block, size_t count, size_t size);

/* Frees a block of ns_alloc or ns_resize; NULL is ignored. */
void ns_free(void *block);

/* Number of allocations made so far in this process (ns_alloc and ns_resize). */
uint64_t ns_alloc_count(void);

#endif

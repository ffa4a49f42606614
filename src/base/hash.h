/*
** hash.h
** FNV-1a of 64 bits; Fowler, Noll and Vo.
*/
#pragma once

#include <stddef.h>
#include <stdint.h>

#define NS_HASH_START UINT64_C(14695981039346656037)

static inline void ns_hash_bytes(uint64_t *hash, const void *bytes, size_t size) {
  for (size_t i = 0; i < size; i++) *hash = (*hash ^ ((const unsigned char *)bytes)[i]) * UINT64_C(1099511628211);
}

/*
** inflate.h
** Decompression of deflate data (RFC 1951).
*/
#ifndef NS_IO_INFLATE_H
#define NS_IO_INFLATE_H

#include <stdbool.h>
#include <stddef.h>

/*
** Unpacks `size` bytes of a deflate stream into exactly `room` bytes. False when the stream is damaged or truncated, or
** unpacks to another number of bytes. Never reads or writes outside of the two buffers.
*/
bool ns_inflate(const char *from, size_t size, char *to, size_t room);

#endif

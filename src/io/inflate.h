/*
** inflate.h
** Deflated data (RFC 1951) unpacked.
*/
#ifndef NS_IO_INFLATE_H
#define NS_IO_INFLATE_H

#include <stdbool.h>
#include <stddef.h>

/*
** Unpacks `size` bytes of a deflate stream into exactly `room` bytes; false when the stream is damaged, is cut off or
** holds another number of bytes. Nothing is written or read outside of the two.
*/
bool ns_inflate(const char *from, size_t size, char *to, size_t room);

#endif

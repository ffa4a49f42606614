/*
** counterpart.c
** Finds the array of an object that holds an address, and the same place in the array of its clone.
*/
#include "model/counterpart.h"

#include <stdbool.h>

/* The position of an address among the arrays of an object: the number of the array (-1: in none), the offset in bytes. */
typedef struct Position {
  const char *at;
  int seen, array;
  size_t offset;
  char *found;
} Position;

static void find_position(void *context, const char *name, void *data, size_t bytes) {
  (void)name;
  Position *position = context;
  const char *first = data;
  if (first && position->array < 0 && position->at >= first && position->at < first + bytes) {
    position->array = position->seen;
    position->offset = (size_t)(position->at - first);
  }
  position->seen++;
}

static void take_position(void *context, const char *name, void *data, size_t bytes) {
  (void)name;
  Position *position = context;
  bool here = position->seen++ == position->array;
  if (here && data && position->offset < bytes) position->found = (char *)data + position->offset;
}

double *ns_counterpart(NsArraysWalk walk, const void *from, const void *to, const double *at) {
  Position position = {.at = (const char *)at, .array = -1};
  walk(from, find_position, &position);
  position.seen = 0;
  if (position.array >= 0) walk(to, take_position, &position);
  return (double *)(void *)position.found;
}
